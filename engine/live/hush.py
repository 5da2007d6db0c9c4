"""Silence for libraries that write to the terminal behind Python's back: ALSA, JACK and RtMidi are talkative."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class _Terminal:
    """Standard error, which several threads may want silent: the first takes it, the last gives it back."""

    def __init__(self) -> None:
        self._lock, self._inside, self._kept = threading.Lock(), 0, -1

    def take(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside > 1:
                return
            with suppress(OSError, ValueError):  # there may be none
                if sys.stderr is not None:
                    sys.stderr.flush()
                self._kept = os.dup(2)
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, 2)
                os.close(nowhere)

    def give_back(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0 and self._kept >= 0:
                os.dup2(self._kept, 2)
                os.close(self._kept)
                self._kept = -1


_terminal = _Terminal()


@contextmanager
def hushed() -> Iterator[None]:
    """Nothing that is written to standard error in here is seen, unless JAWARI_DEBUG is set; so be brief."""
    if "JAWARI_DEBUG" in os.environ:
        yield
        return
    _terminal.take()
    try:
        yield
    finally:
        _terminal.give_back()
