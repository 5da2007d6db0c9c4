"""Leaf: the terminal: what it can do, how wide text is on it, whose turn it is, and lines that are rewritten in place.

Nobody else writes a carriage return or an escape. A stream that is closed, or full, or read by nobody any more, ends
nothing: only what it would have said.
"""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from typing import IO

from engine.printable import printable

USUAL = (80, 24)
_WIPE, _TO_THE_END, _BELOW = "\r\x1b[K", "\x1b[K", "\x1b[J"  # what is there: of this line, to its end, from here on
_HIDE, _SHOW = "\x1b[?25l", "\x1b[?25h"  # the cursor
_rewritten: set[Line] = set()  # those that stand on a terminal now
_COLOUR = re.compile(r"\x1b\[[0-9]+m")


# --- what a stream is -------------------------------------------------------------------------------------------------


def descriptor(stream: IO[str] | None) -> int:
    """The stream's number if it is a terminal, else -1."""
    with suppress(OSError, ValueError, AttributeError):  # closed, replaced, or taken away
        if stream is not None and stream.isatty():
            return stream.fileno()
    return -1


def obeys_escapes(stream: IO[str] | None) -> bool:
    """Whether the cursor can be moved; on Windows the console is asked to listen."""
    return _obeys(descriptor(stream))


def _obeys(number: int) -> bool:
    if number < 0 or os.environ.get("TERM") == "dumb":
        return False
    return sys.platform != "win32" or _wake_console(number)


def _wake_console(number: int) -> bool:
    import ctypes
    import msvcrt

    kernel, mode = ctypes.WinDLL("kernel32"), ctypes.c_uint32()  # type: ignore[attr-defined,unused-ignore]
    kernel.GetConsoleMode.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint32)]
    kernel.SetConsoleMode.argtypes = [ctypes.c_void_p, ctypes.c_uint32]
    handle = msvcrt.get_osfhandle(number)  # type: ignore[attr-defined,unused-ignore]
    processed, virtual_terminal = 0x1, 0x4
    if not kernel.GetConsoleMode(handle, ctypes.byref(mode)):
        return False
    return bool(kernel.SetConsoleMode(handle, mode.value | processed | virtual_terminal))


def size(stream: IO[str] | None) -> tuple[int, int]:
    """Columns and rows, as they are now."""
    with suppress(OSError, ValueError, AttributeError):
        if stream is not None:
            columns, rows = os.get_terminal_size(stream.fileno())
            return columns or USUAL[0], rows or USUAL[1]
    return USUAL


def in_foreground(number: int) -> bool:
    """Whether the terminal is ours to read and to draw on; a job in the background is stopped if it tries."""
    if sys.platform == "win32":
        return True
    try:
        return os.tcgetpgrp(number) == os.getpgrp()
    except OSError:  # not the terminal that controls our job
        return True


# --- text -------------------------------------------------------------------------------------------------------------


def can_write(stream: IO[str], text: str) -> bool:
    """Whether the stream's encoding has all of these characters."""
    return encodable(stream, text) == text


def encodable(stream: IO[str], text: str) -> str:
    """The text with ? for what the stream cannot write."""
    encoding = getattr(stream, "encoding", None) or "ascii"
    return text.encode(encoding, "replace").decode(encoding)


def cells(text: str) -> int:
    """Columns that a printable text takes."""
    return len(text) if text.isascii() else sum(_cells(character) for character in text)


def cut(text: str, width: int) -> str:
    """As much of the text as fits."""
    if cells(text) <= width:
        return text
    end, used = 0, 0
    while used + _cells(text[end]) <= width:
        used += _cells(text[end])
        end += 1
    return text[:end]


def _cells(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def coloured(text: str, colour: str) -> str:
    """The text in a colour, which is a number of SGR."""
    return f"\x1b[{colour}m{text}\x1b[0m"


def bare(text: str) -> str:
    """The text without its colours."""
    return _COLOUR.sub("", text)


# --- writing ----------------------------------------------------------------------------------------------------------


def write(stream: IO[str] | None, text: str) -> None:
    """All of it at once, as far as the stream can take it."""
    with suppress(OSError, ValueError):
        if stream is not None:
            stream.write(encodable(stream, text))
            stream.flush()


def tell(text: str) -> None:
    """A line of the command's own on standard error, in place of one that is being rewritten there."""
    if sys.stderr is None:  # closed; print would take standard output
        return
    for line in list(_rewritten):
        line.clear()
    try:
        print(f"jawari: {printable(text)}", file=sys.stderr, flush=True)
    except (OSError, ValueError):
        with suppress(OSError, ValueError):  # what is unwritten would be tried, and fail, once more as Python ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def last_words(text: str) -> None:
    """The same past all buffers, when the process ends at once."""
    with suppress(OSError):
        os.write(2, f"{_WIPE if _obeys(2 if os.isatty(2) else -1) else ''}jawari: {text}\n".encode())


def redrawn(lines: Iterable[str], up: int) -> str:
    """What puts these lines in place of all that stands below the row `up` rows above the cursor, without flicker."""
    drawn = "".join(f"{line}{_TO_THE_END}\n" for line in lines)
    above = f"\x1b[{up}A" if up else ""
    return f"{_HIDE}{above}\r{drawn}{_BELOW}{_SHOW}"


class Line:
    """One line at the foot of the terminal that tells how far something is.

    Where the stream is no terminal nobody watches, and nothing is said; or, if it `goes_on`, one line after the other.
    """

    def __init__(self, stream: IO[str] | None, goes_on: bool = False) -> None:
        self._stream, self._watched, self._goes_on = stream, obeys_escapes(stream), goes_on

    def show(self, text: str) -> None:
        """This instead of what is there, cut to the terminal's width; the cursor stays in the line."""
        text = printable(text)
        if self._watched:  # a full row would have the cursor wrap
            _rewritten.add(self)
            write(self._stream, f"\r{cut(text, size(self._stream)[0] - 1)}{_TO_THE_END}")
        elif self._goes_on:
            write(self._stream, f"{text}\n")

    def clear(self) -> None:
        """Nothing instead, and the cursor at the start: others may write."""
        if self._watched:
            _rewritten.discard(self)
            write(self._stream, _WIPE)

    def end(self) -> None:
        """Leave it as it is; what follows comes below it."""
        if self._watched:
            _rewritten.discard(self)
            write(self._stream, "\n")
