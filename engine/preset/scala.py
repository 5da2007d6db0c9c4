"""Scala's tuning files: a scale (.scl) as pitches in octaves, a keyboard mapping (.kbm) as degrees on keys.

Both formats are lines of one value each, whatever stands behind a blank being ignored, and comments that begin with "!"
(huygens-fokker.org/scala, "scl_format" and "help, mappings"). What the formats leave open is refused here, since a
wrong count or a comma for a point would sound wrong without a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import NamedTuple, NoReturn

from engine.elementary import log2
from engine.errors import PresetError
from engine.preset.complaints import Place, shown
from engine.preset.files import MAX_BYTES
from engine.printable import printable
from engine.reading import read_text

MAX_LINES = 20_000
MAX_DEGREES = 4096
MAX_KEYS = 1024  # of one pattern of a mapping; a keyboard has 128
LOWEST, HIGHEST = 1.0, 20e3  # Hz of a reference

_LONGEST = 60  # characters of a value
_CENTS = re.compile(r"[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+)")
_RATIO = re.compile(r"\+?([0-9]+)(?:/([0-9]+))?")
_WHOLE = re.compile(r"[+-]?[0-9]{1,6}")
_HERTZ = re.compile(r"\+?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?")


class KeyMap(NamedTuple):
    """Which keys sound which degrees: `degrees` from the key `middle` on, over and over; linear if empty.

    `octave` is the degree by which one pattern lies above the last, 0 for the scale's period.
    """

    first: int = 0
    last: int = 127
    middle: int = 60
    reference: int = 69
    frequency: float = 440.0
    octave: int = 0
    degrees: tuple[int | None, ...] = ()


def read_scale(path: Path) -> tuple[float, ...]:
    """Degrees 1, 2 ... of a .scl file in octaves above degree 0; the last one is the period."""
    lines = _Lines(path)
    lines.next("a description", blank=True)
    count = lines.whole("the number of notes", 1, MAX_DEGREES)
    pitches = tuple(_pitch(lines, f"pitch {degree} of {count}") for degree in range(1, count + 1))
    if pitches[-1] <= 0.0:
        lines.refuse("the last pitch is the period and must be above 1/1", "add the octave, 2/1")
    lines.end(f"the scale has {count} notes already", "mend the number of notes")
    return pitches


def read_map(path: Path) -> KeyMap:
    """The mapping of a .kbm file."""
    lines = _Lines(path)
    size = lines.whole("the size of the map", 0, MAX_KEYS)
    first = lines.whole("the first key", 0, 127)
    last = lines.whole("the last key", first, 127)
    middle = lines.whole("the middle key", 0, 127)
    reference = lines.whole("the reference key", 0, 127)
    frequency = _frequency(lines)
    octave = lines.whole("the degree of the octave")
    degrees = [] if size == 0 else [_degree(lines, value) for value in lines.rest(size)]
    lines.end(f"the map has {size} entries already", "mend the size of the map")
    # "At the end, unmapped keys may be left out."
    unmapped = (None,) * (size - len(degrees))
    return KeyMap(first, last, middle, reference, frequency, octave, (*degrees, *unmapped))


class _Lines:
    """The lines of a file that are no comments, one at a time, remembering the place of the last."""

    def __init__(self, path: Path) -> None:
        try:
            text = read_text(path, MAX_BYTES, PresetError, errors="replace")  # many descriptions are in Latin-1
        except PresetError as error:
            raise PresetError(f"{printable(str(path))}: {error}") from None
        self.place, self.value = Place(str(path)), ""
        if text.count("\n") + text.count("\r") > MAX_LINES:
            raise PresetError(f"{printable(str(path))}: has more than {MAX_LINES} lines; shorten it")
        numbered = enumerate(re.split("\r\n?|\n", text), 1)
        self._lines = ((number, line) for number, line in numbered if not line.startswith("!"))

    def next(self, what: str, *, blank: bool = False) -> str:
        """The value of the next line that has one (or, with `blank`, of the next line)."""
        for number, line in self._lines:
            if blank or line.strip():
                self.place, self.value = Place(self.place.name, number), line.strip()
                return self.value
        raise PresetError(f"{printable(self.place.name)}: ends before {what}; add it")

    def rest(self, most: int) -> Iterator[str]:
        """At most so many values."""
        for number, line in self._lines:
            if line.strip():
                self.place, self.value = Place(self.place.name, number), line.strip()
                yield self.value
                most -= 1
            if most == 0:
                return

    def whole(self, what: str, low: float = -inf, high: float = inf) -> int:
        """The next value, a whole number."""
        word = self.word(what)
        if not _WHOLE.fullmatch(word):
            self.refuse(f"{what} must be a whole number", "write it alone, like 12")
        if not low <= int(word) <= high:
            self.refuse(f"{what} must be {low:g} to {high:g}", "lower it" if int(word) > high else "raise it")
        return int(word)

    def word(self, what: str) -> str:
        """The next value up to a blank, for what stands behind it is a comment."""
        word = self.next(what).split(None, 1)[0]
        if len(word) > _LONGEST:
            self.refuse(f"{what} has more than {_LONGEST} characters", "shorten it")
        return word

    def refuse(self, limit: str, remedy: str) -> NoReturn:
        """Complain about the last value."""
        raise PresetError(f"{printable(str(self.place))}: {shown(self.value)}: {limit}; {remedy}")

    def end(self, limit: str, remedy: str) -> None:
        """Nothing but blank lines may follow."""
        for _ in self.rest(1):
            self.refuse(limit, remedy)


def _octaves(number: int) -> float:
    """Its logarithm to the base 2, however many digits somebody has written."""
    beyond = max(number.bit_length() - 1000, 0)
    return float(log2(number >> beyond)) + beyond


def _pitch(lines: _Lines, what: str) -> float:
    """Cents with a point, or a ratio without one, in octaves."""
    word = lines.word(what)
    if _CENTS.fullmatch(word):
        return float(word) / 1200.0
    ratio = _RATIO.fullmatch(word)
    if ratio is None or lines.value[len(word) :].lstrip().startswith("/"):
        lines.refuse(f"{what} must be a ratio or cents", "write it like 3/2 or 701.955")
    above, below = int(ratio[1]), int(ratio[2] or 1)
    if above == 0 or below == 0:
        lines.refuse(f"{what} must be a ratio above 0", "write it like 3/2")
    return _octaves(above) - _octaves(below)


def _frequency(lines: _Lines) -> float:
    what = "the reference frequency"
    word = lines.word(what)
    if not _HERTZ.fullmatch(word) or not LOWEST <= float(word) <= HIGHEST:
        lines.refuse(f"{what} must be {LOWEST:g} to {HIGHEST:g} Hz", "write it like 440.0")
    return float(word)


def _degree(lines: _Lines, value: str) -> int | None:
    word = value.split(None, 1)[0]
    if word in ("x", "X"):
        return None
    if not _WHOLE.fullmatch(word):
        lines.refuse("an entry must be a degree of the scale, or x for a key that is silent", "write it like 7")
    return int(word)
