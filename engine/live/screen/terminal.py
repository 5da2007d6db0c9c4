"""What a terminal can do: whether it obeys escapes, how large it is, how wide a text is on it, whose turn it is."""

from __future__ import annotations

import os
import sys
import unicodedata
from contextlib import suppress
from typing import IO

USUAL = (80, 24)


def descriptor(stream: IO[str] | None) -> int:
    """The stream's number if it is a terminal, else -1."""
    with suppress(OSError, ValueError, AttributeError):  # closed, replaced, or taken away
        if stream is not None and stream.isatty():
            return stream.fileno()
    return -1


def obeys_escapes(stream: IO[str]) -> bool:
    """Whether the cursor can be moved; on Windows the console is asked to listen."""
    if descriptor(stream) < 0 or os.environ.get("TERM") == "dumb":
        return False
    return sys.platform != "win32" or _wake_console(descriptor(stream))


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


def size(stream: IO[str]) -> tuple[int, int]:
    """Columns and rows, as they are now."""
    with suppress(OSError, ValueError):
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
