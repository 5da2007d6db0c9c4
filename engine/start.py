"""Where the `jawari` command begins: from here on Ctrl-C is one line and code 130, whenever it comes.

Nothing but these lines is imported before signals are listened to, not even what listens to them from then on: half a
second of imports follows.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

INTERRUPTED = 130


def main(*arguments: str) -> int:
    """Run the command with this process's arguments, or these; returns the exit code."""
    return run(lambda: command(*arguments))


def command(*arguments: str) -> int:
    """The same within `run`."""
    from engine.ending import carefree

    with carefree():
        from engine import cli
    return cli.main(arguments or None)


def run(work: Callable[[], int]) -> int:
    """Do all the work of this process, and end it in one line when it is interrupted."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    _fill()
    from engine.ending import watch
    from engine.interrupts import ENDINGS, listen, met
    from engine.terminal import tell

    try:
        listen(signal.SIGINT)
        watch(*ENDINGS)
        return work()
    except KeyboardInterrupt:  # before or after the command's own time
        tell("interrupted")
        met()
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done and said; Python takes a while to end


def _fill() -> None:
    """Put nothing where standard input, output or error is closed: libraries would take what is opened next for it."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def _end(*_: object) -> None:
    """End before anything has begun."""
    try:
        os.write(2, b"jawari: interrupted\n")
    finally:  # whether or not anybody reads it
        os._exit(INTERRUPTED)


if __name__ == "__main__":
    sys.exit(main())
