"""The kinds of values that keys hold: how each is read from text, numbers and lists.

A reader takes the key, its path and the raw value. It raises a PresetError "limit; remedy" for what it cannot read,
a PhysicsError for what it can read but must refuse.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from typing import Any

from engine import messages as midi
from engine.errors import PhysicsError, PresetError
from engine.physics.string import require
from engine.preset.complaints import shown, written
from engine.preset.drone import LONGEST, MOST_ALIKE, MOST_AT_ONCE, SHORTEST, Stroke, fits
from engine.preset.files import beside, read_rows
from engine.preset.key import AUTO, Key
from engine.preset.playing import RESERVED
from engine.preset.tuning import Tuning, load_strings, load_tuning
from engine.preset.voicing import MOST
from engine.units import is_bare, key_to_note, note_to_key, parse_pitch, parse_quantity

Pairs = tuple[tuple[float, float], ...]

LARGEST = 100.0  # metres: any x or height beyond is a slip of units
LONGEST_WORD = 30  # characters of a tag
STEEPEST = 1e15  # of a polynomial's coefficients: sixteen of them stay finite over any string

_SECONDS = r"[0-9]*\.?[0-9]+"
_NOTE = re.compile(rf"(?:[A-Ga-g][#b♯♭]?-?[0-9]{{1,2}}|[0-9]{{1,3}}):{_SECONDS}:{_SECONDS}(?::[0-9]{{1,3}})?")
_CONTROLLER = re.compile(r"cc([0-9]{1,3})")
_KEY = r"[A-Ga-g][#b♯♭]?-?[0-9]{1,2}"
_RANGE = re.compile(rf"({_KEY})(?:\s*[-–]\s*({_KEY}))?")
_STROKE = re.compile(rf"(-|{_KEY}'*(?:\+{_KEY}'*)*)(?:[ :]([0-9]{{0,4}}\.?[0-9]{{1,6}}))?(?:[ :]([0-9]{{1,3}}))?")
HIGHEST_KEY = 127
_YES, _NO = (True, "yes", "true", "on"), (False, "no", "false", "off")


def text(key: Key, path: str, value: object) -> str:
    """Words on one line."""
    if not isinstance(value, str):
        raise PresetError("must be text; put it into quotes")
    words = " ".join(value.split())
    if not key.low <= len(words) <= key.high or not words.isprintable():
        raise PresetError(f"must be {key.low:g} to {key.high:g} printable characters; shorten or mend it")
    return words


def words(key: Key, path: str, value: object) -> tuple[str, ...]:
    """Words, or a few of them each."""
    found = []
    for item in _items(key, value, "[bright, drone]"):
        said = " ".join(item.split()) if isinstance(item, str) else ""
        if not 1 <= len(said) <= LONGEST_WORD or not said.isprintable():
            raise PresetError(f"{shown(written(item))} must be 1 to {LONGEST_WORD} printable characters; mend it")
        found.append(said)
    return tuple(found)


def choice(key: Key, path: str, value: object) -> object:
    """One of the key's choices."""
    if value in key.choices:
        return value
    words = [str(known) for known in key.choices]
    close = get_close_matches(shown(value), words, n=1, cutoff=0.5)
    remedy = f"did you mean {close[0]}?" if close else "choose one"
    raise PresetError(f"must be one of {', '.join(words)}; {remedy}")


def number(key: Key, path: str, value: object, unit: str | None = None) -> float:
    """A quantity in the key's unit (or in another) and range."""
    unit = key.unit if unit is None else unit
    found = parse_quantity(value, unit)
    try:
        return _within(key, path, found, unit)
    except PhysicsError as error:
        if guess := likelier(key, value, found):
            raise PhysicsError(path, found, error.limit, f"{error.remedy}; did you mean {guess}?") from None
        raise


def likelier(key: Key, value: object, found: float) -> str:
    """What a number without unit, too large to be usual, may have meant: the same with a unit; "" for nothing."""
    low, high = key.usual
    if not is_bare(value) or abs(found) <= high:
        return ""
    number = value.strip() if isinstance(value, str) else f"{value:g}"
    meant = (f"{number} {unit}" for unit in key.units)
    return next((text for text in meant if low <= abs(parse_quantity(text, key.unit)) <= high), "")


def whole(key: Key, path: str, value: object) -> int:
    """A number without a fraction."""
    found = parse_quantity(value, "")
    if not found.is_integer():
        raise PresetError("must be a whole number; round it")
    if key.choices:
        choice(key, path, int(found))
        return int(found)
    return int(_within(key, path, found, ""))


def count(key: Key, path: str, value: object) -> int | str:
    """A number without a fraction, or `auto`."""
    if value == AUTO:
        return AUTO
    try:
        return whole(key, path, value)
    except PhysicsError:
        raise
    except PresetError:
        raise PresetError(f"must be a whole number or {AUTO}; write it like 12") from None


def pitch(key: Key, path: str, value: object) -> float:
    """A note or a frequency, as Hz."""
    return _within(key, path, parse_pitch(value), "Hz")


def level(key: Key, path: str, value: object) -> float:
    """A level in dB, with or without its unit."""
    return _within(key, path, _called(value, r"(?i:dB)", "a level in dB", "-6 dB"), "dB")


def angle(key: Key, path: str, value: object) -> float:
    """An angle in degrees, with or without its unit."""
    return _within(key, path, _called(value, r"°|deg", "an angle in degrees", "30°"), "°")


def cents(key: Key, path: str, value: object) -> float:
    """An interval in cents, with or without its unit."""
    return _within(key, path, _called(value, r"cents?|ct", "an interval in cents", "3 cents"), "cents")


def _called(value: object, unit: str, what: str, example: str) -> float:
    """A number behind which a unit may stand that has no dimension."""
    bare = re.sub(rf"\s*(?:{unit})\s*$", "", value) if isinstance(value, str) else value
    try:
        return parse_quantity(bare, "")
    except PresetError:
        raise PresetError(f"must be {what}; write it like {example}") from None


def ratio(key: Key, path: str, value: object) -> float:
    """A ratio of pitches: 2, 1.5 or 3/2."""
    words = value.split("/") if isinstance(value, str) else [value]
    try:
        above, below = (parse_quantity(word, "") for word in (*words, 1.0)[:2])
        found = above / below if len(words) < 3 else 0.0
    except (PresetError, ZeroDivisionError):
        raise PresetError("must be a ratio of pitches; write it like 2 or 3/2") from None
    return _within(key, path, found, "")


def switch(key: Key, path: str, value: object) -> bool:
    """Yes or no, in any of YAML's words for them."""
    word = value.strip().lower() if isinstance(value, str) else value
    if isinstance(word, bool | str) and word in (*_YES, *_NO):
        return word in _YES
    raise PresetError("must be yes or no; write one of them")


def keys(key: Key, path: str, value: object) -> tuple[int, int]:
    """The lowest and the highest of a range of keys: C2-C5, or one key."""
    match = _RANGE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise PresetError("must be keys; write them like E2-G#2, or E2")
    low = note_to_key(match[1])
    high = note_to_key(match[2]) if match[2] else low
    if not 0 <= low <= high <= HIGHEST_KEY:
        raise PresetError("must be keys that go up, from C-1 to G9 at most; write them like E2-G#2")
    return low, high


def voices(key: Key, path: str, value: object) -> tuple[tuple[int, float], ...]:
    """[[key, dB], ...] from the lowest key up."""
    example = "[[C2, -3 dB], [C4, 0 dB]]"
    found = list[tuple[int, float]]()
    for where, row in _numbered(_items(key, value, example)).items():
        if not isinstance(row, list) or len(row) != 2:
            raise PresetError(f"{where} must be [key, dB]; write it like {example}")
        if not isinstance(row[0], str) or not re.fullmatch(_KEY, row[0].strip()):
            raise PresetError(f"{where}: {shown(written(row[0]))} must be a key; write it like C4")
        number = note_to_key(row[0].strip())
        if not 0 <= number <= HIGHEST_KEY:
            raise PresetError(f"{where} must have a key from C-1 to G9; move it")
        if found and number <= found[-1][0]:
            last = key_to_note(found[-1][0])
            raise PresetError(f"keys must be in their order, but {row[0]} follows {last}; sort them")
        level = _called(row[1], r"(?i:dB)", f"{where}: a level in dB", "-6 dB")
        require(path, level, minimum=-MOST, maximum=MOST, unit=f" dB in {where}")
        found.append((number, level))
    return tuple(found)


def source(key: Key, path: str, value: object) -> str:
    """What moves a key: pressure or a controller, the wheel being the first."""
    word = f"cc{midi.MODULATION}" if value == "wheel" else value
    if word == "pressure":
        return "pressure"
    match = _CONTROLLER.fullmatch(word) if isinstance(word, str) else None
    number = int(match[1]) if match else -1
    if not 0 <= number < midi.MODES:
        known = f"pressure, wheel, or a controller from cc1 to cc{midi.MODES - 1}"
        raise PresetError(f"must be {known}; write it like cc74")
    if number in RESERVED:
        raise PresetError(f"must be a free controller, and cc{number} {RESERVED[number]}; write it like cc74")
    return f"cc{number}"


def notes(key: Key, path: str, value: object) -> str:
    """Notes as text, each in its form; what it means is found out where it is played."""
    words = text(key, path, value)
    for note in words.split():
        if not _NOTE.fullmatch(note):
            raise PresetError(f"{shown(note)} must be note:start:duration or note:start:duration:velocity; mend it")
    return words


def numbers(key: Key, path: str, value: object) -> tuple[float, ...]:
    """Coefficients of 1, x, x^2 ... of a height."""
    found = []
    for power, item in enumerate(_items(key, value, "[1 mm, 0.5, ...]")):
        found.append(parse_quantity(item, f"m^{1 - power}"))
        require(path, found[-1], minimum=-STEEPEST, maximum=STEEPEST, unit=f" in item {power + 1}")
    return tuple(found)


def weights(key: Key, path: str, value: object) -> tuple[float, ...]:
    """Plain numbers."""
    found = tuple(parse_quantity(item, "") for item in _items(key, value, "[1, -0.5]"))
    for item in found:
        require(path, item, minimum=-LARGEST, maximum=LARGEST)
    return found


def strokes(key: Key, path: str, value: object) -> tuple[Stroke, ...]:
    """Strokes on strings by their keys: G2, C3+G3 together, C2 2 for two beats, C3 1 60 softer, C3' another one,
    - for a rest."""
    found = []
    for item in _items(key, value, "[G2, C3, C3, C2 2]"):
        match = _STROKE.fullmatch(re.sub(r"\s*([+:\s])\s*", r"\1", item.strip())) if isinstance(item, str) else None
        if match is None:
            form = "keys or - for a rest, then beats, then a velocity; write it like C3, C3+G3 2 or C2 1.5 90"
            raise PresetError(f"{shown(written(item))} must be {form}")
        notes = [] if match[1] == "-" else match[1].split("+")
        keys, strings = tuple(note_to_key(note.rstrip("'")) for note in notes), tuple(note.count("'") for note in notes)
        beats, velocity = float(match[2] or 1.0), int(match[3]) if match[3] else None
        for limit, wrong in (
            (
                f"must have keys from C-1 to G9, at most {MOST_AT_ONCE} at once and {MOST_ALIKE} strings alike",
                not fits(keys, strings),
            ),
            (f"must take {SHORTEST:g} to {LONGEST:g} beats", not SHORTEST <= beats <= LONGEST),
            ("must have a velocity from 1 to 127", velocity is not None and not 1 <= velocity <= 127),
        ):
            if wrong:
                raise PresetError(f"{shown(item)} {limit}; mend it")
        found.append(Stroke(keys, beats, velocity, strings if any(strings) else ()))
    if not any(stroke.keys for stroke in found):
        raise PresetError("must have a stroke that is no rest; write it like [G2, C3, C3, C2 2]")
    return tuple(found)


def angles(key: Key, path: str, value: object) -> tuple[float, ...]:
    """Angles in degrees."""
    found = tuple(_called(item, r"°|deg", "angles in degrees", "[0°, 90°]") for item in _items(key, value, "[0°, 90°]"))
    for item in found:
        require(path, item, minimum=-180.0, maximum=180.0, unit="°")
    return found


def pitches(key: Key, path: str, value: object) -> tuple[float, ...]:
    """Notes or frequencies, or those of a scale, in Hz."""
    example = "[C#4, D4, 330 Hz], or yaman on C#"
    if isinstance(value, str):
        found = load_strings(value)
        if not key.low <= len(found) <= key.high:
            limit = f"must be {key.low:g} to {key.high:g} strings, not {len(found)}"
            raise PresetError(f"{limit}; say how many, like {key.high:g} of yaman on C# from C4")
    else:
        found = tuple(parse_pitch(item) for item in _items(key, value, example))
    for item in found:
        require(path, item, minimum=1.0, maximum=20e3, unit=" Hz")
    return found


def pairs(key: Key, path: str, value: object) -> Pairs:
    """[[x, height], ...]"""
    return _pairs(path, _numbered(_items(key, value, "[[5 mm, 0 mm], ...]")))


def table(key: Key, path: str, value: object, folder: Path | None) -> Pairs:
    """[[x, height], ...] with x increasing, given here or in a CSV file in the preset's folder."""
    rows: Mapping[str, object]
    if not isinstance(value, str):
        rows = _numbered(_items(key, value, "[[0 mm, 0 mm], [30 mm, -0.5 mm]] or bridge.csv"))
    elif folder is None:
        raise PresetError("is a file beside a preset, but this preset is no file; give [[x, height], ...]")
    else:
        rows = read_rows(folder, value, int(key.high))
    found = _pairs(path, rows)
    for (left, _), (right, _) in pairwise(found):
        if right <= left:
            raise PresetError(f"x must increase, but {right:g} m follows {left:g} m; sort the rows")
    if len(found) < key.low:
        raise PresetError(f"must have at least {key.low:g} rows; add the missing ones")
    return found


def tuning(value: object, folder: Path | None) -> Tuning:
    """The keys' frequencies; files must lie beside the preset."""

    def locate(name: str) -> Path:
        if folder is None:
            raise PresetError(f"{shown(name)} is a file beside a preset, but this preset is no file; name a scale")
        return beside(folder, name)

    if isinstance(value, int | float) and not isinstance(value, bool):
        value = written(value)
    if not isinstance(value, str):
        raise PresetError("must be text; write it like just on D, A4=432")
    return load_tuning(value, locate)


def span(key: Key, path: str, value: object, target: Key) -> tuple[float, float]:
    """Two values of another key."""
    if not isinstance(value, list) or len(value) != 2:
        raise PresetError("must be [value at 0, value at full]; write it like [0 mm, 0.2 mm]")
    found = []
    for item, which in zip(value, ("first", "second"), strict=True):
        where = f"the {which}, {shown(written(item))},"
        try:
            found.append(READERS[target.kind](target, path, item))
        except PhysicsError as error:
            raise PhysicsError(path, error.value, f"{where} {error.limit}", error.remedy) from None
        except PresetError as error:
            raise PresetError(f"{where} {error}") from None
    return found[0], found[1]


READERS: dict[str, Callable[[Key, str, object], Any]] = {
    "text": text,
    "words": words,
    "choice": choice,
    "number": number,
    "whole": whole,
    "count": count,
    "pitch": pitch,
    "level": level,
    "angle": angle,
    "cents": cents,
    "ratio": ratio,
    "switch": switch,
    "range": keys,
    "weights": weights,
    "angles": angles,
    "pitches": pitches,
    "strokes": strokes,
    "voices": voices,
    "source": source,
    "notes": notes,
    "numbers": numbers,
    "pairs": pairs,
}


def _within(key: Key, path: str, found: float, unit: str) -> float:
    require(path, found, minimum=key.low, maximum=key.high, unit=f" {unit}" if unit else "")
    return found


def _items(key: Key, value: object, example: str) -> list[object]:
    if not isinstance(value, list):
        raise PresetError(f"must be a list; write it like {example}")
    if not key.low <= len(value) <= key.high:
        raise PresetError(f"must have {key.low:g} to {key.high:g} items, not {len(value)}; write it like {example}")
    return value


def _numbered(rows: list[object]) -> dict[str, object]:
    return {f"item {place}": row for place, row in enumerate(rows, 1)}


def _pairs(path: str, rows: Mapping[str, object]) -> Pairs:
    found = []
    for where, row in rows.items():
        if not isinstance(row, list) or len(row) != 2:
            raise PresetError(f"{where} must be [x, height]; write it like [5 mm, -0.1 mm]")
        try:
            x, height = (parse_quantity(value, "m") for value in row)
        except PresetError as error:
            raise PresetError(f"{where} = {shown(written(row))}: {error}") from None
        for value in (x, height):
            require(path, value, minimum=-LARGEST, maximum=LARGEST, unit=f" m in {where}")
        found.append((x, height))
    return tuple(found)
