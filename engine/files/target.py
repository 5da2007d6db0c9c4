"""Where output goes: into a file that appears whole under its name or not at all, or down a sink.

Sinks are standard output, pipes, and devices such as /dev/null: what is written there cannot be taken back.
"""

from __future__ import annotations

import os
import stat
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.files.errors import FileError
from engine.interrupts import held, let_in
from engine.printable import printable

# A file that was not there: whatever has its name, a link above all, is not written through.
NEW = os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
_STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def is_stdout(path: Path) -> bool:
    """Whether a path means this program's standard output."""
    return str(path) in _STDOUT


def is_sink(path: Path) -> bool:
    """Whether a path means standard output, a pipe or a device."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        mode = 0
    return is_stdout(path) or stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def named(path: Path) -> str:
    """A path for a message: on one line, and nothing in it that a terminal would obey."""
    if is_stdout(path):
        return "standard output"
    return printable(str(path))


# --- before any work is done ------------------------------------------------------------------------------------------


def check_output(path: Path, force: bool) -> Path:
    """The file or sink that a path really names; refused where nothing can or should be written."""
    if not is_sink(path):
        return check_target(path, force)
    check_sink(path)
    return Path(_STDOUT[0]) if is_stdout(path) else path


def check_target(path: Path, force: bool) -> Path:
    """The same where it must be a file; a link leads to what it points to."""
    shown = named(path)
    if is_stdout(path):
        raise FileError(f"{shown}: takes sound only; name a file")
    try:
        path = path.resolve()
        if not path.parent.is_dir():
            raise FileError(f"{shown}: its folder does not exist; make it first")
        mode = path.stat().st_mode  # of a link only where links go in a circle: an error
    except FileNotFoundError:
        mode = 0
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(f"{shown}: cannot be written ({reason}); choose another name") from None
    if stat.S_ISDIR(mode):
        raise FileError(f"{shown}: is a folder; name a file in it")
    if mode and not stat.S_ISREG(mode):
        raise FileError(f"{shown}: is not a regular file; choose another name")
    if mode and not force:
        raise FileError(f"{shown}: exists already; choose another name, or --force to replace it")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise FileError(f"{shown}: no permission to write into its folder; choose another")
    return path


def check_sink(path: Path) -> None:
    """Refuse a sink that is closed or may not be written."""
    if sys.stdout is None if is_stdout(path) else not os.access(path, os.W_OK):
        raise FileError(f"{named(path)}: is closed or may not be written; name a file")


def is_terminal(path: Path) -> bool:
    """Whether what goes down a sink would be read by a person."""
    if is_stdout(path) or not path.is_char_device():
        return is_stdout(path) and sys.stdout.isatty()
    with _told(path):
        number = os.open(path, os.O_WRONLY | getattr(os, "O_NOCTTY", 0))
        try:
            return os.isatty(number)
        finally:
            os.close(number)


# --- files ------------------------------------------------------------------------------------------------------------


@contextmanager
def whole_file(path: Path, force: bool) -> Iterator[Path]:
    """An empty file to fill in a `with` block: at its end it gets its name; after an error nothing is left of it."""
    target = check_target(path, force)
    part = part_of(target)
    with _told(path), passing_file(part):
        yield part
        with part.open("rb+") as whole:
            os.fsync(whole.fileno())  # a name must not point at what is still on its way
        publish(part, target, force)


@contextmanager
def passing_file(part: Path) -> Iterator[None]:
    """A file, empty at first, that is there for the length of a `with` block; no interrupt can leave it behind."""
    with held() as already:
        try:
            os.close(os.open(part, NEW | os.O_WRONLY, 0o666))  # the permissions of any new file
            with let_in(already):
                yield
        finally:
            part.unlink(missing_ok=True)


def publish(part: Path, path: Path, force: bool) -> None:
    """Give a finished file its name, in one step; without `force` never in place of another, with it of a file only."""
    if force:
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(path.lstat().st_mode):
                raise FileError(f"{named(path)}: is not a regular file by now; choose another name")
        part.replace(path)
        return
    try:
        os.link(part, path)  # fails if the name was taken meanwhile, which a rename does not tell
    except FileExistsError:
        raise FileError(f"{named(path)}: exists by now; choose another name, or --force to replace it") from None
    except OSError:  # a file system without links
        check_target(path, force)
        part.rename(path)


def part_of(path: Path) -> Path:
    """A name beside `path`, for what is not whole yet; short, whatever the length of the final one."""
    return path.with_name(f".jawari-{uuid.uuid4().hex[:16]}.part")


# --- sinks ------------------------------------------------------------------------------------------------------------


class Sink:
    """Hands on at once all that it is given: nothing is kept that a program about to end would have to wait for."""

    def __init__(self, number: int) -> None:
        self._number = number

    def write(self, data: bytes) -> None:
        """Wait until everything is taken."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._number, rest) :]


@contextmanager
def open_sink(path: Path) -> Iterator[Sink]:
    """A sink to write to in a `with` block; a pipe waits here for whoever reads it."""
    check_sink(path)
    with _told(path):
        if is_stdout(path):
            number = os.dup(sys.stdout.fileno())
        else:
            number = os.open(path, os.O_WRONLY | getattr(os, "O_BINARY", 0))
        try:
            yield Sink(number)
        finally:
            os.close(number)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """What the system refuses, as the error of this output."""
    try:
        yield
    except BrokenPipeError:
        raise FileError(f"{named(path)}: whoever read it has gone; what was still to come is lost") from None
    except OSError as error:
        reason = error.strerror or error
        raise FileError(f"{named(path)}: cannot be written ({reason}); make room or choose another place") from None
