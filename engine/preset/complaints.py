"""Everything wrong with a preset, gathered so that one attempt shows all of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, NoReturn

from engine.errors import PhysicsError, PresetError
from engine.printable import printable

MAX_COMPLAINTS = 50
_SHOWN = 60  # characters of a value or a key


class Place(NamedTuple):
    """Where a value stands: a file and its line, or only "preset" or "--set"."""

    name: str
    line: int | None = None

    def __str__(self) -> str:
        return self.name if self.line is None else f"{self.name}:{self.line}"


class Complaints:
    """The errors so far, each one line: place: key = value: limit; remedy."""

    def __init__(self) -> None:
        self._lines: list[tuple[Place, str]] = []
        self._all_physical = True

    def __bool__(self) -> bool:
        return bool(self._lines)

    def add(self, place: Place, message: str, *, physical: bool = False) -> None:
        """Note an error, once; past a sensible number of them, give up."""
        if (place, message) in self._lines:
            return
        self._lines.append((place, message))
        self._all_physical &= physical
        if len(self._lines) >= MAX_COMPLAINTS:
            self.fatal(place, f"more than {MAX_COMPLAINTS} errors, the rest is not shown; mend these first")

    def about(self, place: Place, key: str, value: object, message: str, *, physical: bool = False) -> None:
        """Note an error of one key, the value shown as it was written."""
        self.add(place, f"{shown(key)} = {shown(value)}: {message}", physical=physical)

    def fatal(self, place: Place, message: str) -> NoReturn:
        """Note an error after which nothing more can be read."""
        self._lines.append((place, message))
        self._all_physical = False
        self.raise_if_any()
        raise AssertionError("unreachable: there is at least one complaint")

    def raise_if_any(self) -> None:
        """Raise all errors as one, in the order of the file; only impossible physics keeps the exit code of physics."""
        if not self._lines:
            return
        ordered = sorted(self._lines, key=lambda entry: (entry[0].name, entry[0].line or 0))
        error = PresetError("\n".join(f"{printable(str(place))}: {message}" for place, message in ordered))
        if self._all_physical:
            error.exit_code = PhysicsError.exit_code
        raise error from None


def shown(value: object) -> str:
    """A value for a message: on one line, short, nothing that a terminal would obey."""
    if isinstance(value, dict):
        return "{...}" if value else "{}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[...]" if value else "[]"
    if isinstance(value, str):
        text = value if value.strip() else "''"
    else:
        text = f"{value:.6g}" if isinstance(value, float) else written(value)
    text = printable(" ".join(text[: 4 * _SHOWN].split()))
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def written(value: object) -> str:
    """str(value), also of an int with more digits than Python is willing to print, or of a list with one."""
    try:
        return str(value)
    except ValueError:
        return "a huge number" if isinstance(value, int) else "[...]"
