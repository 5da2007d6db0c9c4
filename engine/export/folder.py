"""An export is a folder that appears whole under its name, or not at all."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from engine.files.errors import FileError
from engine.files.target import named, part_of
from engine.interrupts import held, let_in

MARK = "jawari-export.json"  # in every such folder: what it is, by which --force knows what it may replace


def check_folder(path: Path, force: bool) -> Path:
    """The folder that a path names; refused where none can or should be made."""
    shown = named(path)
    try:
        path = path.resolve()
        if not path.parent.is_dir():
            raise FileError(f"{shown}: the folder that it should lie in does not exist; make it first")
        there = path.exists() or path.is_symlink()
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(f"{shown}: cannot be written ({reason}); choose another name") from None
    if there and not path.is_dir():
        raise FileError(f"{shown}: is not a folder; choose another name")
    if there and not force:
        raise FileError(f"{shown}: exists already; choose another name, or --force to replace an earlier export")
    if there and not (path / MARK).is_file():
        raise FileError(f"{shown}: was not made by jawari export, and is not replaced; choose another name")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise FileError(f"{shown}: no permission to write there; choose another place")
    return path


@contextmanager
def whole_folder(path: Path, force: bool, facts: dict[str, Any]) -> Iterator[Path]:
    """An empty folder to fill in a `with` block: at its end it gets its name; after an error nothing is left of it."""
    target = check_folder(path, force)
    part = part_of(target)
    try:
        with held() as already:
            try:
                part.mkdir()
                with let_in(already):
                    yield part
                files = sorted(str(file.relative_to(part)) for file in part.rglob("*") if file.is_file())
                (part / MARK).write_text(json.dumps(facts | {"files": files}, indent=2) + "\n", encoding="utf-8")
                _keep(part)
                _publish(part, target, force)
            finally:
                shutil.rmtree(part, ignore_errors=True)
    except OSError as error:
        raise FileError(
            f"{named(path)}: cannot be written ({error.strerror or error}); make room or choose another place"
        ) from None


def _keep(part: Path) -> None:
    """A name must not point at what is still on its way to the disk."""
    for file in part.rglob("*"):
        if file.is_file():
            with file.open("rb+") as whole:
                os.fsync(whole.fileno())


def _publish(part: Path, target: Path, force: bool) -> None:
    """Give a finished folder its name; with `force` an earlier export goes aside first, and back if it fails."""
    if not (force and target.exists()):
        check_folder(target, force=False)
        part.rename(target)
        return
    check_folder(target, force)
    old = part_of(target)
    target.rename(old)
    try:
        part.rename(target)
    except OSError:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)
