"""Ctrl-Z and back: whoever uses the terminal leaves it in order, and finds it again.

Signals belong to the whole process, so the list of those who want to know does too.
"""

from __future__ import annotations

import os
import signal
import threading
from typing import Any, Protocol


class Resident(Protocol):
    """Somebody who has changed the terminal."""

    def leave(self) -> None:
        """The process is about to be stopped."""

    def come_back(self) -> None:
        """It goes on; the terminal may have been used by others. May be called without `leave`, or twice."""


_residents: list[Resident] = []
_before: dict[int, Any] = {}


def move_in(resident: Resident) -> None:
    """Have a resident told. Only the main thread can; elsewhere, and where no job is ever stopped, nobody is."""
    _residents.append(resident)
    if _before or not hasattr(signal, "SIGTSTP") or threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGTSTP) == signal.SIG_DFL:  # ignored or not, somebody else has decided
        _before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, _stop)
        _before[signal.SIGCONT] = signal.signal(signal.SIGCONT, _go_on)


def move_out(resident: Resident) -> None:
    """Forget a resident."""
    if resident in _residents:
        _residents.remove(resident)
    if not _residents and threading.current_thread() is threading.main_thread():
        for number, handler in _before.items():
            signal.signal(number, handler)
        _before.clear()


def _stop(number: int, _: object) -> None:
    for resident in list(_residents):
        resident.leave()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)  # here the process stands still until it is continued
    signal.signal(number, _stop)
    _go_on(number, None)  # a job that nobody could continue was not stopped, and gets no SIGCONT


def _go_on(_: int, __: object) -> None:
    for resident in list(_residents):
        resident.come_back()
