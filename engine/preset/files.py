"""The files of presets: the shipped ones, and a table beside a preset."""

from __future__ import annotations

import os
from pathlib import Path

from engine.errors import PresetError
from engine.reading import read_text

MAX_BYTES = 1_000_000  # of a preset, a table or a tuning


def shipped() -> dict[str, Path]:
    """The presets that come with the engine, by name: inside the package in a wheel, beside it in the repository."""
    package = Path(__file__).resolve().parents[1]
    folder = next((f for f in (package / "presets", package.parent / "presets") if f.is_dir()), None)
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))} if folder else {}


def beside(folder: Path, name: str) -> Path:
    """The path of a file that must lie in a preset's own folder."""
    path = folder / as_named_here(name)
    if any(c in name for c in "/\\:\0") or path.resolve().parent != folder.resolve():
        raise PresetError("leads out of the preset's folder; copy the file there")
    return path


def as_named_here(name: str) -> str:
    """A file's name for this system: in a locale that knows ASCII only, what stands for the bytes of its UTF-8."""
    try:
        return os.fsdecode(name.encode("utf-8", "surrogateescape"))
    except UnicodeError:
        return name


def as_written(argument: str) -> str:
    """The text of an argument of the command line that Python could not read in such a locale."""
    try:
        return argument if argument.isprintable() else os.fsencode(argument).decode("utf-8")
    except UnicodeError:
        return argument


def read_rows(folder: Path, name: str, limit: int) -> dict[str, list[str]]:
    """The rows of a CSV file in `folder`, by place: two columns, perhaps a header `x,height`, comments after #."""
    if not name.lower().endswith(".csv") or any(c in name for c in "/\\:\0"):
        raise PresetError("must be [[x, height], ...] or the name of a .csv file beside the preset, without a folder")
    path = beside(folder, name)
    rows: dict[str, list[str]] = {}
    for number, line in enumerate(read_text(path, MAX_BYTES, PresetError).splitlines(), 1):
        cells = [cell.strip() for cell in line.partition("#")[0].split(",", 2)]
        if cells == [""] or (not rows and [cell.lower() for cell in cells] == ["x", "height"]):
            continue
        if len(cells) != 2:
            raise PresetError(f"line {number} of {name} has not two columns; write x,height")
        rows[f"line {number} of {name}"] = cells
        if len(rows) > limit:
            raise PresetError(f"{name} has more than {limit} rows; thin it out")
    return rows
