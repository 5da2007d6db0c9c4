"""Leaf: the module is compiled in two parts, at once where two cores are: one here, one in a process that helps out.

Functions of numbers and records may be told `apart`: what calls them does so by their names, and they come with the
entries of their files in the second part. A call costs a jump then, once for each block that a string plays, and both
parts play the bits that one would: arithmetic is strict. Nothing but the finished part comes back, by a pipe; where no
helper can be started, or it fails in any way, this process makes that part as well.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from engine.cores import cores

LONGEST = 300.0  # s that a helper may go on after this process's own part, whatever else the machine does
HELP = "from engine.module import help_out; help_out(*__import__('sys').argv[1:])"
FLAGS = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # of Windows


class Apart(NamedTuple):
    """A function that other parts call by its name."""

    function: Any
    arguments: tuple[Any, ...]


APART: dict[str, Apart] = {}  # by name


def apart(function: Any, *arguments: Any) -> None:
    """Let a compiled function of these types, which returns nothing, be in the second part."""
    APART[name_of(function)] = Apart(function, arguments)


def name_of(function: Any) -> str:
    """By which it is called from other parts, from Python or C."""
    return f"{function.py_func.__module__}.{function.py_func.__qualname__}"


def in_second(function: Any) -> bool:
    """Whether an entry lies where those are that are called by name."""
    return any(function.py_func.__module__ == other.function.py_func.__module__ for other in APART.values())


@contextmanager
def helper(*arguments: str) -> Iterator[Callable[[], bytes]]:
    """Have a process make the second part meanwhile; what is yielded waits for it: nothing if that came to nothing."""
    process = _started(arguments) if cores() > 1 else None
    lifeline: Any = None
    if process:  # its input is open as long as this process lives
        lifeline, process.stdin = process.stdin, None
    try:
        yield lambda: _made(process) if process else b""
    finally:
        if process:
            process.kill()
            process.wait()
            lifeline.close()


def _started(arguments: tuple[str, ...]) -> subprocess.Popen[bytes] | None:
    if getattr(sys, "frozen", False) or "python" not in Path(sys.executable or "").name.lower():
        return None  # a program that has Python inside would be started once more
    found = [str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
    try:
        return subprocess.Popen(
            [sys.executable, "-P", "-c", HELP, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, found))},
            creationflags=FLAGS,
        )
    except OSError:
        return None


def _made(process: subprocess.Popen[bytes]) -> bytes:
    try:
        made, _ = process.communicate(timeout=LONGEST)
    except (subprocess.TimeoutExpired, OSError):
        return b""
    return made if process.returncode == 0 else b""


def hand_over(make: Callable[[], bytes]) -> None:
    """In a helper: what it makes goes to standard output, unless whoever holds the other end of its input is gone."""

    def watch() -> None:
        with suppress(OSError):
            os.read(0, 1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    made = make()
    sys.stdout.buffer.write(made)
    sys.stdout.buffer.flush()
    os._exit(0)
