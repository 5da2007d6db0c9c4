"""The files of presets: the shipped ones, the user's own, and a table beside a preset."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from pathlib import Path

from engine.errors import PresetError
from engine.reading import read_text

MAX_BYTES = 1_000_000  # of a preset, a table or a tuning
OWN_FOLDER = "JAWARI_PRESETS_DIR"  # names another folder for the user's own presets

_NAME = re.compile(r"\w(?:[\w .-]{0,62}[\w-])?")
_DEVICES = {"con", "prn", "aux", "nul"} | {f"{device}{n}" for device in ("com", "lpt") for n in range(10)}  # of Windows


def shipped() -> dict[str, Path]:
    """The presets that come with the engine, by name: inside the package in a wheel, beside it in the repository."""
    package = Path(__file__).resolve().parents[1]
    folder = next((f for f in (package / "presets", package.parent / "presets") if f.is_dir()), None)
    return {path.stem: path for path in sorted(folder.glob("*.yaml"), key=lambda path: path.stem)} if folder else {}


def own_folder() -> Path:
    """Where the user's own presets lie: the place that this system has for a program's data."""
    if named := os.environ.get(OWN_FOLDER):
        return Path(named).expanduser().absolute()
    if sys.platform == "win32":
        home = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    elif sys.platform == "darwin":
        home = Path.home() / "Library" / "Application Support"
    else:
        there = Path(os.environ.get("XDG_DATA_HOME", ""))
        home = there if there.is_absolute() else Path.home() / ".local" / "share"
    return home / "jawari" / "presets"


def own() -> dict[str, Path]:
    """The user's own presets, by name. A shipped name stays the shipped preset's."""
    found: list[Path] = []
    with suppress(OSError, RuntimeError):  # there may be no home
        found = sorted(path for path in own_folder().iterdir() if path.suffix in (".yaml", ".yml"))
    return {path.stem: path for path in found if path.stem not in shipped() and is_name(path.stem)}


def known() -> dict[str, Path]:
    """All presets that have a name."""
    return shipped() | own()


def is_name(name: str) -> bool:
    """Whether a preset can be called so on every system: nothing that leads out of a folder, no device's name."""
    return bool(_NAME.fullmatch(name)) and name.partition(".")[0].strip().lower() not in _DEVICES


def own_file(name: str) -> Path:
    """The file of a preset of the user's own."""
    if not is_name(name):
        raise PresetError("is no name; take letters, digits, blanks, - and _, at most 64")
    if name in shipped():
        raise PresetError("is a shipped preset's name; choose another")
    return beside(own_folder(), f"{name}.yaml")


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
