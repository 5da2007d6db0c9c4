"""Leaf: what is kept on disk because it takes long to make, machine code above all; lost or damaged, it is made anew.

What is read here may be run. So nothing is read from where anybody but this user and root could have put it, and every
file carries a checksum of its name and content. Nothing waits for the disk: after a power cut a checksum is wrong.
"""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
import shutil
import stat
import sys
import tempfile
import uuid
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

VARIABLE = "JAWARI_CACHE_DIR"
MAGIC = b"jawari, kept 1\n"
LARGEST = 100_000_000  # bytes of a file
ROOM = 100_000_000  # bytes free on a disk below which nothing is kept there
REMEDY = f"name a folder that only you may write to in {VARIABLE}"
_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_TOLD = "that nothing can be kept"
_said: set[str] = set()


def read(name: str) -> bytes | None:
    """What was kept under a name such as "folder/file"; None if it is not there, or was damaged and so removed."""
    path = folder() / name
    try:
        why = distrust(path.parent)
        if why and path.parent.is_dir():
            say(f"nothing is read from {path.parent}: {why}")
            return None
        with open(os.open(path, os.O_RDONLY | _FLAGS), "rb") as file:
            facts = os.fstat(file.fileno())
            if stat.S_ISREG(facts.st_mode) and facts.st_size <= LARGEST and not _foreign(facts):
                whole = file.read()
                content = whole[len(MAGIC) + 32 :]
                if whole == _sealed(name, content):
                    return content
    except FileNotFoundError:
        return None
    except OSError:
        pass
    discard(name)
    return None


def write(name: str, content: bytes) -> None:
    """Keep it, if that is possible."""
    path = folder() / name
    part = path.with_name(f"{uuid.uuid4().hex[:16]}.part")
    try:
        _make(path.parent)
        if distrust(path.parent):
            return
        try:
            with open(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _FLAGS, 0o600), "wb") as file:
                file.write(_sealed(name, content))
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        # Windows replaces nothing that another process is reading.
        if not path.is_file() and _TOLD not in _said:
            say(f"what was made is made again each time: {_unkept(path.parent, error.strerror or str(error))}")


def thin_out(name: str, most: int) -> None:
    """Of the files in a folder, keep those that were written last."""
    path = folder() / name
    with suppress(OSError):
        files = sorted(path.iterdir(), key=lambda file: file.stat().st_mtime, reverse=True)
        for file in files[most:]:
            file.unlink(missing_ok=True)


def discard(name: str) -> None:
    """Remove what proved to be damaged."""
    path = folder() / name
    with suppress(OSError):
        if path.parent.exists() and not path.parent.is_dir():
            path.parent.unlink()
        elif path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    say(f"damaged files in {path.parent}: what they held is made anew")


class CacheFolder(NamedTuple):
    """A folder, and why what is written there will not be there the next time, if so."""

    path: Path
    trouble: str = ""


def folder() -> Path:
    """Where everything is kept."""
    return _place().path


def trouble() -> str:
    """Why what is written now will not be there the next time, and the remedy; "" if it will."""
    place = _place()
    why = "" if place.trouble else _refusal(place.path)
    if why:
        _said.add(_TOLD)
    return place.trouble or (_unkept(place.path, why) if why else "")


@cache
def _place() -> CacheFolder:
    """Where the environment says, else where the system has such things, else a folder for now.

    One that exists but may not be written is taken as well: somebody may have filled it.
    """
    refused = ""
    for path in _candidates():
        why = distrust(path) or ("" if path.is_dir() else _refusal(path))
        if not why:
            if refused:
                say(f"{refused}; {path} is used instead")
            return CacheFolder(path)
        refused = refused or f"nothing is kept in {path} ({why})"
    return CacheFolder(_private(), f"{refused or 'this user has no home'}; {REMEDY}")


def distrust(path: Path) -> str:
    """Why what lies in this folder could be somebody else's; "" if it can't. What does not exist yet is no danger."""
    if sys.platform == "win32":  # its permissions are of another kind, and a user's folders are that user's
        return ""
    for part in (*reversed(path.parents), path):
        try:
            facts = part.lstat()
        except FileNotFoundError:
            return ""
        except OSError as error:
            return f"{part}: {error.strerror}"
        if not stat.S_ISDIR(facts.st_mode):
            return f"{part} is not a folder"
        # In a sticky folder such as /tmp nobody can replace what is not theirs.
        if _foreign(facts) and not (part != path and facts.st_mode & stat.S_ISVTX and _ours(facts)):
            return f"others may write to {part}" if _ours(facts) else f"{part} belongs to somebody else"
    return ""


def _ours(facts: os.stat_result) -> bool:
    return sys.platform == "win32" or facts.st_uid in (0, os.geteuid())


def _foreign(facts: os.stat_result) -> bool:
    """Whether somebody else owns it or may write to it."""
    return not _ours(facts) or (sys.platform != "win32" and bool(facts.st_mode & 0o022))


def _sealed(name: str, content: bytes) -> bytes:
    return MAGIC + hashlib.sha256(name.encode() + b"\0" + content).digest() + content


def _candidates() -> list[Path]:
    """The environment's folder and the user's, wherever links lead."""
    found = []
    with suppress(OSError, RuntimeError):  # links in a circle
        found += [Path(text).resolve() for text in [os.environ.get(VARIABLE)] if text]
    with suppress(OSError, RuntimeError):  # a user without a home
        found.append(users_cache().resolve())
    return found


def users_cache() -> Path:
    """Where this system keeps such things of a user."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "jawari" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "jawari"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jawari"


def _refusal(path: Path) -> str:
    """Why nothing can be written there; "" if it can."""
    try:
        _make(path)
        with tempfile.TemporaryFile(dir=path):
            pass
        free = shutil.disk_usage(path).free
    except OSError as error:
        return error.strerror or str(error)
    return "" if free > ROOM else f"only {free / 1e6:.0f} MB are free"


def _make(path: Path) -> None:
    """The folder and those above it, for this user alone."""
    for part in (*reversed(path.parents), path):
        if not part.is_dir():
            part.mkdir(mode=0o700, exist_ok=True)


def _private() -> Path:
    """A folder of this process and of those that it starts, which find it in their environment."""
    try:
        made = Path(tempfile.mkdtemp(prefix="jawari-")).resolve()
    except OSError:
        return Path(os.devnull)  # where nothing can be
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    os.environ[VARIABLE] = str(made)
    return made


def _unkept(path: Path, why: str) -> str:
    return f"nothing can be kept in {path} ({why}); {REMEDY}"


def say(text: str) -> None:
    """One line, once."""
    if text not in _said:
        _said.add(text)
        logging.getLogger("jawari").warning(text)
