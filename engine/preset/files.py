"""The files of presets: the shipped ones, a preset's text, and a table beside it. Only small regular files are read."""

from __future__ import annotations

import stat
from pathlib import Path

from engine.errors import PresetError

MAX_BYTES = 1_000_000


def shipped() -> dict[str, Path]:
    """The presets that come with the engine, by name: inside the package in a wheel, beside it in the repository."""
    package = Path(__file__).resolve().parents[1]
    folder = next((f for f in (package / "presets", package.parent / "presets") if f.is_dir()), None)
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))} if folder else {}


def read_text(path: Path, limit: int = MAX_BYTES, *, errors: str = "strict") -> str:
    """The text of a regular UTF-8 file of at most `limit` bytes; an error says what it is instead.

    `errors` is what to do with bytes that are not UTF-8, as in `bytes.decode`.
    """
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise PresetError("is a directory; name a file in it")
        if not stat.S_ISREG(mode):  # a pipe or a device could block or never end
            raise PresetError("is not a regular file; copy it into one")
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except FileNotFoundError:
        raise PresetError("there is no such file; check the name") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise PresetError(f"cannot be read ({reason}); check the name and the permissions") from None
    if len(content) > limit:
        raise PresetError(f"is larger than {limit / 1e6:g} MB; shorten it")
    try:
        return content.decode("utf-8-sig", errors)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PresetError(f"is not UTF-8 in line {line}; save it as UTF-8") from None


def beside(folder: Path, name: str) -> Path:
    """The path of a file that must lie in a preset's own folder."""
    path = folder / name
    if any(c in name for c in "/\\:\0") or path.resolve().parent != folder.resolve():
        raise PresetError("leads out of the preset's folder; copy the file there")
    return path


def read_rows(folder: Path, name: str, limit: int) -> dict[str, list[str]]:
    """The rows of a CSV file in `folder`, by place: two columns, perhaps a header `x,height`, comments after #."""
    if not name.lower().endswith(".csv") or any(c in name for c in "/\\:\0"):
        raise PresetError("must be [[x, height], ...] or the name of a .csv file beside the preset, without a folder")
    path = beside(folder, name)
    rows: dict[str, list[str]] = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        cells = [cell.strip() for cell in line.partition("#")[0].split(",", 2)]
        if cells == [""] or (not rows and [cell.lower() for cell in cells] == ["x", "height"]):
            continue
        if len(cells) != 2:
            raise PresetError(f"line {number} of {name} has not two columns; write x,height")
        rows[f"line {number} of {name}"] = cells
        if len(rows) > limit:
            raise PresetError(f"{name} has more than {limit} rows; thin it out")
    return rows
