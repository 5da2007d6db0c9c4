"""Leaf: being told to stop where nothing needs to be cleaned up: the process ends at once, in one line.

While modules are imported or code is compiled, a signal may find the main thread deep in somebody else's code, where an
exception becomes a traceback or is lost; and LLVM may keep it from hearing anything for a second. So a block that may
be left as it stands says so (`carefree`), and a thread of its own ends it where the main thread does not answer.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from engine.terminal import last_words

GRACE = 0.1  # s in which the main thread may answer a signal itself

_depth = 0  # carefree blocks within each other that the main thread is in
_silent = False  # a worker: its parent tells


@contextmanager
def carefree() -> Iterator[None]:
    """Nothing in this block would have to be removed, restored or told: a signal may end the process at any point.

    Signals come to the main thread; in any other this says nothing.
    """
    global _depth
    share = int(threading.current_thread() is threading.main_thread())
    _depth += share
    try:
        yield
    finally:
        _depth -= share


def may_end() -> bool:
    """Whether the main thread is in a carefree block."""
    return _depth > 0


def be_silent() -> None:
    """From now on, end without a word."""
    global _silent
    _silent = True


def end(number: int) -> None:
    """End the process as this signal asks, now: no cleanup, no traceback."""
    if not _silent:
        last_words("interrupted")
    os._exit(128 + number)


def watch(*numbers: int) -> None:
    """From now on, have a thread end carefree blocks whose main thread does not answer."""
    if os.name == "nt":
        return  # there, only sockets wake
    heard, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    threading.Thread(target=_listen, args=(heard, numbers), name="signals", daemon=True).start()


def _listen(heard: int, numbers: tuple[int, ...]) -> None:
    while data := os.read(heard, 1):
        if data[0] in numbers:
            time.sleep(GRACE)
            if may_end():
                end(data[0])
