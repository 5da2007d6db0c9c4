"""Where the `jawari` command begins: from here on Ctrl-C is one line and code 130, whenever it comes.

Nothing large is imported before signals are listened to; half a second of imports follows.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable

from engine.ending import carefree, watch
from engine.interrupts import ENDINGS, listen
from engine.terminal import tell

INTERRUPTED = 130


def main(*arguments: str) -> int:
    """Run the command with this process's arguments, or these; returns the exit code."""
    return run(lambda: command(*arguments))


def command(*arguments: str) -> int:
    """The same within `run`."""
    with carefree():
        from engine import cli
    return cli.main(arguments or None)


def run(work: Callable[[], int]) -> int:
    """Do all the work of this process, and end it in one line when it is interrupted."""
    try:
        listen(signal.SIGINT)
        watch(*ENDINGS)
        return work()
    except KeyboardInterrupt:  # before or after the command's own time
        tell("interrupted")
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done and said; Python takes a while to end


if __name__ == "__main__":
    sys.exit(main())
