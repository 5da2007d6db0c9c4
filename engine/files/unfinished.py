"""What is being recorded, on disk from the first moment: a file beside its target that grows and is never rewritten.

It is locked as long as its session lives. One without a lock is what a session left that broke off.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from engine.files.errors import FileError
from engine.files.target import NEW, named, part_of, publish

SUFFIX = ".unfinished"
_BINARY = getattr(os, "O_BINARY", 0)
_OLD = os.O_RDWR | _BINARY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_FAR = 1 << 30  # where Windows locks a byte, so that the others can be read


class Unfinished:
    """One such file, open and locked; `target` is what it will be."""

    def __init__(self, path: Path, number: int) -> None:
        self.path, self.target = path, path.with_name(re.sub(rf"(\.\d+)?{re.escape(SUFFIX)}$", "", path.name))
        self.size, self.trouble = os.fstat(number).st_size, ""  # why the last append failed
        self._number = number

    @staticmethod
    def beside(target: Path) -> Unfinished:
        """A new one. It is locked before it has its name, so nobody can take it for one that was left."""
        part = part_of(target)
        try:
            number = os.open(part, NEW | os.O_RDWR | _BINARY, 0o666)
        except OSError as error:
            raise FileError(f"{named(target)}: cannot be recorded ({error.strerror}); choose another place") from None
        try:
            _lock(number)
            short = target.name if len(os.fsencode(target.name)) < 200 else target.stem[:40] + target.suffix
            for name in _numbered(short, "."):
                path = target.with_name(f"{name}{SUFFIX}")
                if not os.path.lexists(path):
                    publish(part, path, force=False)
                    return Unfinished(path, number)
        except BaseException:
            os.close(number)
            raise
        finally:
            part.unlink(missing_ok=True)
        raise AssertionError

    @staticmethod
    def left(path: Path) -> Unfinished | None:
        """One that is there; None if a session is still writing it, or if it is not what it seems."""
        try:
            number = os.open(path, _OLD)
        except OSError:
            return None
        facts = os.fstat(number)
        ours = sys.platform == "win32" or facts.st_uid == os.geteuid()
        if stat.S_ISREG(facts.st_mode) and ours and _lock(number) and _same(path, facts):
            return Unfinished(path, number)
        os.close(number)
        return None

    def append(self, data: bytes | memoryview) -> bool:
        """Write at the end, everything or, where the disk does not take it, nothing."""
        rest = memoryview(data)
        try:
            os.lseek(self._number, self.size, os.SEEK_SET)
            while rest:
                rest = rest[os.write(self._number, rest) :]
        except OSError as error:
            self.trouble = error.strerror or str(error)
            with suppress(OSError):
                os.ftruncate(self._number, self.size)
            return False
        self.size, self.trouble = self.size + len(data), ""
        return True

    def opened(self) -> BinaryIO:
        """To read it from its beginning, while nothing is appended."""
        file = os.fdopen(os.dup(self._number), "rb")
        file.seek(0)
        return file

    def finish(self, head: bytes, size: int) -> None:
        """Make the first bytes others, and the whole file `size` long, for sure; only its name is not right then."""
        if self._number < 0:
            return
        os.ftruncate(self._number, size)
        os.lseek(self._number, 0, os.SEEK_SET)
        os.write(self._number, head)
        os.fsync(self._number)
        if sys.platform == "win32":  # nothing that is open gets another name there
            self.close()

    def sync(self) -> None:
        """What is written survives a power cut from here on."""
        with suppress(OSError):
            os.fsync(self._number)

    def close(self) -> None:
        """Let go of the file, which stays."""
        if self._number >= 0:
            os.close(self._number)
            self._number = -1

    def remove(self) -> None:
        """It is not needed any more."""
        self.close()
        self.path.unlink(missing_ok=True)


def left_in(folder: Path) -> Iterator[Path]:
    """Files in this folder that sessions write, or have left."""
    with suppress(OSError):
        yield from sorted(folder.glob(f"*{SUFFIX}"))


def free_names(path: Path) -> Iterator[Path]:
    """take.mid, take-2.mid, take-3.mid, ..."""
    for stem in _numbered(path.stem, "-"):
        yield path.with_name(f"{stem}{path.suffix}")


def _numbered(name: str, before: str) -> Iterator[str]:
    yield name
    for n in range(2, 10_000):
        yield f"{name}{before}{n}"


def _same(path: Path, facts: os.stat_result) -> bool:
    """Whether the name still is that of the open file: another process may just have finished with it."""
    try:
        now = path.lstat()
    except OSError:
        return False
    return (now.st_dev, now.st_ino) == (facts.st_dev, facts.st_ino)


def _lock(number: int) -> bool:
    """Lock the file until it is closed, however the process ends; False if another one has."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(number, _FAR, os.SEEK_SET)
            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks; Windows says it like this if it is taken
        return sys.platform != "win32"
    return True
