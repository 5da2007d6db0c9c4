"""Leaf: files from outside. Only regular files are read, and no more of one than its reader can make use of."""

from __future__ import annotations

import stat
from pathlib import Path

from engine.errors import EngineError

MIDI_SUFFIXES = (".mid", ".midi", ".kar", ".rmi")


def read_bytes(path: Path, limit: int, refuse: type[EngineError], remedy: str = "shorten it") -> bytes:
    """The content of a file of at most `limit` bytes; a `refuse` says what it is instead, but not its name."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise refuse("is a folder; name a file in it")
        if not stat.S_ISREG(mode):  # a pipe or a device could block or never end
            raise refuse("is not a regular file; copy it into one")
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except FileNotFoundError:
        raise refuse("there is no such file; check the name") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise refuse(f"cannot be read ({reason}); check the name and the permissions") from None
    if len(content) > limit:
        raise refuse(f"is larger than {limit / 1e6:g} MB; {remedy}")
    return content


def read_text(path: Path, limit: int, refuse: type[EngineError], *, errors: str = "strict") -> str:
    """The same for text in UTF-8; `errors` is what to do with bytes that are none, as in `bytes.decode`."""
    content = read_bytes(path, limit, refuse)
    try:
        return content.decode("utf-8-sig", errors)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise refuse(f"is not UTF-8 in line {line}; save it as UTF-8") from None
