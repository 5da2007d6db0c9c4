"""Which frequency each MIDI key sounds: equal temperament, scales by name, Scala's .scl and .kbm files.

A tuning is a text of parts between commas: a scale ("just", "yaman on C#", "19edo", "slendro.scl"), a reference
("A4=432", "432 Hz") or a key map ("white-keys.kbm"). What is not said is equal temperament, A4 = 440 Hz (or, of scales
that are built on a drone, 1/1 as in equal temperament) and 1/1 on C. Without a key map one key is one degree, as in
Scala: with 19edo, 19 keys make an octave. Strings that answer are tuned by the same names ("13 of yaman on C#").
Pitches are octaves (the base-2 logarithm of a ratio) until the very end, so that no file can make them overflow.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import get_close_matches
from math import floor
from pathlib import Path

from engine.elementary import exp2, log2
from engine.errors import PresetError
from engine.preset.complaints import shown
from engine.preset.scala import HIGHEST, LOWEST, MAX_DEGREES, KeyMap, read_map, read_scale
from engine.preset.scales import ROOTED, SCALES, TEMPERAMENTS, notes_of
from engine.units import key_to_hz, key_to_note, note_to_key, parse_quantity

MAX_TEXT = 1000  # characters; paths can be long

_ON = re.compile(r"(.+?)\s+on\s+([A-Ga-g][#b♯♭]?)(-?[0-9]{1,2})?")
_EQUAL = re.compile(r"([0-9]{1,6})[ -]*(?:(edo|tet)|(edt)|ed([0-9]{1,6})(?:/([0-9]{1,6}))?)(?=\s|$)", re.IGNORECASE)
_STRINGS = re.compile(
    r"(?:(?P<count>[0-9]{1,4})\s+of\s+)?(?P<scale>.+?)"
    r"(?:\s+from\s+(?P<low>[A-Ga-g][#b♯♭]?-?[0-9]{1,2})(?:\s+to\s+(?P<high>[A-Ga-g][#b♯♭]?-?[0-9]{1,2}))?)?"
)
_NEAR = 0.501  # keys by which a note may be beside the one that is named: a quarter tone is beside two
_REFERENCE = re.compile(r"(?:([A-Ga-g][#b♯♭]?-?[0-9]{1,2})\s*=\s*)?([-+−.]?[0-9].*)")


@dataclass(frozen=True)
class Tuning:
    """The frequency (Hz) of each of the 128 MIDI keys, None for one that is silent; and what it was asked for as."""

    name: str = field(compare=False)
    frequencies: tuple[float | None, ...] = field(repr=False)

    def __getitem__(self, key: int) -> float | None:
        return self.frequencies[key]


def load_tuning(text: str = "equal", locate: Callable[[str], Path] = Path) -> Tuning:
    """The tuning that a text asks for; `locate` turns the name of a file into its path, or refuses it."""
    if len(text) > MAX_TEXT:
        raise PresetError(f"a tuning must have at most {MAX_TEXT} characters; shorten it")
    scale, keys = SCALES["equal"], KeyMap()
    seen: dict[str, str] = {}
    for part in (part.strip() for part in text.split(",")):
        if part.lower().endswith(".kbm"):
            kind = "key map"
            keys = read_map(locate(part))
        elif not part.lower().endswith(".scl") and not _EQUAL.match(part) and (match := _REFERENCE.fullmatch(part)):
            kind = "reference"
            keys = keys._replace(reference=_key(match[1] or "A4"), frequency=_frequency(match[2]))
        else:
            kind = "scale"
            scale, keys = _scale(part, keys, locate)
        if kind in seen:
            raise PresetError(f"{shown(seen[kind])} and {shown(part)} are two {kind}s; keep one of them")
        seen[kind] = part
    _refuse_two_keyboards(seen)
    if _known(_ON.sub(r"\1", seen.get("scale", ""))) in ROOTED and len(seen) == 1:
        keys = keys._replace(reference=keys.middle, frequency=key_to_hz(keys.middle))
    return Tuning(", ".join(part.strip() for part in text.split(",")), _frequencies(scale, keys))


def _refuse_two_keyboards(seen: dict[str, str]) -> None:
    if "key map" not in seen:
        return
    if "reference" in seen:
        raise PresetError(f"{shown(seen['reference'])}: the .kbm file gives the reference; change it there")
    if _ON.fullmatch(seen.get("scale", "")):
        raise PresetError(f"{shown(seen['scale'])}: the .kbm file says where 1/1 is; remove the note")


def _scale(part: str, keys: KeyMap, locate: Callable[[str], Path]) -> tuple[tuple[float, ...], KeyMap]:
    if match := _ON.fullmatch(part):
        part, note, octave = match.groups()
        keys = keys._replace(middle=_key(note + (octave or "4")))
    if part.lower().endswith(".scl"):
        return read_scale(locate(part)), keys
    if _known(part) in SCALES:
        return SCALES[_known(part)], keys
    if match := _EQUAL.fullmatch(part):
        return _equal(match), keys
    known = f"{', '.join(TEMPERAMENTS)}, a raga or a maqam, equal divisions such as 19edo, a .scl or .kbm file"
    raise PresetError(f"{shown(part)} must be {known}, or a reference such as A4=432; {_nearest(part)}")


def _known(part: str) -> str:
    """A scale's name as the table has it, however it is written."""
    return re.sub(r"[\s_]+", "-", part.strip().lower())


def _nearest(part: str) -> str:
    close = get_close_matches(_known(part[:100]), SCALES, n=1)
    return f"did you mean {close[0]}?" if close else "choose one (jawari presets tunings lists them)"


def load_strings(text: str) -> tuple[float, ...]:
    """The pitches (Hz) of strings that are tuned to a scale: "yaman on C#", from C#4 to the next one; "yaman on C# from
    C4 to F5"; "13 of yaman on C# from C4"; each perhaps with a reference behind a comma.
    """
    said, *reference = (part.strip() for part in text[: MAX_TEXT + 1].split(","))
    match = _STRINGS.fullmatch(said)
    if len(text) > MAX_TEXT or match is None:
        raise PresetError(f"{shown(text)} must be a scale's name; write it like 13 of yaman on C# from C4")
    place = _ON.fullmatch(match["scale"])
    name = _known(place[1] if place else match["scale"])
    if name not in SCALES:
        raise PresetError(f"{shown(name)} must be the name of a scale; {_nearest(name)}")
    if match["count"] and match["high"]:
        raise PresetError(f"{shown(said)} tells both how many and up to where; leave one of them out")
    tonic = _key(place[2] + (place[3] or "4")) if place else 60
    root = load_tuning(", ".join([f"{name} on {key_to_note(tonic)}", *reference]))[tonic]
    if root is None:
        raise PresetError(f"{shown(said)}: nobody hears its 1/1; choose another octave or reference")
    return _between(name, root, tonic, match)


def _between(name: str, root: float, tonic: int, asked: re.Match[str]) -> tuple[float, ...]:
    """The notes of a scale, ascending, as many as are asked for, and from where on, by keys, with 1/1 on its own."""
    low = _key(asked["low"]) if asked["low"] else tonic
    high = _key(asked["high"]) if asked["high"] else low + 12
    most = int(asked["count"]) if asked["count"] else 128
    notes, period = notes_of(name), SCALES[name][-1]
    first = floor((low - _NEAR - tonic) / 12.0 / period)
    found: list[float] = []
    for turn in range(first, first + 128):
        for note in notes:
            above = turn * period + note
            key = tonic + 12.0 * above
            if len(found) == most or key > (high if not asked["count"] else 127) + _NEAR:
                return tuple(found)
            if key >= low - _NEAR:
                found.append(root * exp2(above))
    return tuple(found)


def _equal(match: re.Match[str]) -> tuple[float, ...]:
    """Equal parts of the octave (19edo, 19tet), of 3/1 (13edt), or of any ratio (13ed3, 9ed3/2)."""
    steps, octave, tritave, above, below = match.groups()
    period = (2, 1) if octave else (3, 1) if tritave else (int(above), int(below or 1))
    if not 1 <= int(steps) <= MAX_DEGREES:
        raise PresetError(f"{shown(match[0])}: must be 1 to {MAX_DEGREES} parts; write it like 19edo")
    if not period[0] > period[1] > 0:
        raise PresetError(f"{shown(match[0])}: what is divided must be above 1/1; write it like 13ed3")
    return tuple(log2(period[0] / period[1]) * degree / int(steps) for degree in range(1, int(steps) + 1))


def _key(note: str) -> int:
    key = note_to_key(note)
    if not 0 <= key <= 127:
        raise PresetError(f"{note} is key {key}, outside 0 to 127; choose another octave")
    return key


def _frequency(text: str) -> float:
    try:
        frequency = parse_quantity(text, "Hz")
    except PresetError as error:
        raise PresetError(f"{shown(text)}: the reference {error}") from None
    if not LOWEST <= frequency <= HIGHEST:
        limit = f"{shown(text)}: the reference must be {LOWEST:g} to {HIGHEST:g} Hz"
        raise PresetError(f"{limit}; {'lower' if frequency > HIGHEST else 'raise'} it")
    return frequency


def _frequencies(scale: tuple[float, ...], keys: KeyMap) -> tuple[float | None, ...]:
    """Hz of every key; None for what is not mapped, and for what nobody hears."""
    base = _pitch(scale, keys, keys.reference)
    if base is None:
        raise PresetError(f"the reference key {keys.reference} is not mapped; map it, or choose another in the file")
    above, below = log2(HIGHEST / keys.frequency), log2(LOWEST / keys.frequency)
    found: list[float | None] = [None] * 128
    for key in range(keys.first, keys.last + 1):
        pitch = _pitch(scale, keys, key)
        if pitch is not None and below <= pitch - base <= above:
            found[key] = keys.frequency * exp2(pitch - base)
    return tuple(found)


def _pitch(scale: tuple[float, ...], keys: KeyMap, key: int) -> float | None:
    """Octaves of a key above degree 0."""
    if not keys.degrees:
        return _degree(scale, key - keys.middle)
    patterns, place = divmod(key - keys.middle, len(keys.degrees))
    degree = keys.degrees[place]
    return None if degree is None else _degree(scale, degree) + patterns * _degree(scale, keys.octave or len(scale))


def _degree(scale: tuple[float, ...], degree: int) -> float:
    periods, step = divmod(degree, len(scale))
    return periods * scale[-1] + (scale[step - 1] if step else 0.0)
