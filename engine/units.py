"""Quantities as people write them ("880 mm", "0.555 g/m", "F#3", "-6 dB"), and the few conversions of sound.

Inside the engine everything is SI. A bare number is SI already; a number with a unit is converted, and refused when
the unit measures something else. The SI unit a place expects is all a parser needs to be told.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from math import isfinite
from numbers import Real
from typing import NamedTuple

from engine.elementary import exp2, log, log2, log10, power
from engine.errors import PresetError

# SI unit -> what it measures, and how a person would write one: the words of every refusal.
QUANTITIES = {
    "": ("a plain number", "0.85"),
    "m": ("a length", "880 mm"),
    "kg/m": ("a linear density", "0.555 g/m"),
    "kg/m³": ("a density", "7850 kg/m³"),
    "kg": ("a mass", "3 g"),
    "N": ("a force", "58.8 N"),
    "N·m²": ("a bending stiffness", "7.95e-5 N·m²"),
    "Pa": ("a pressure", "200 GPa"),
    "s": ("a time", "2 ms"),
    "Hz": ("a frequency", "440 Hz"),
    "1/s": ("a decay rate", "0.6 1/s"),
    "m/s": ("a speed, or a decay rate per wavenumber", "6.5e-3 m/s"),
    "m²/s": ("a decay rate per wavenumber squared", "1e-3 m²/s"),
    "m³/s": ("a decay rate per wavenumber cubed", "5e-6 m³/s"),
    "1/m": ("a curvature", "0.75 1/m"),
    "s/m": ("a damping per speed", "0.1 s/m"),
    "N/m": ("a stiffness", "2e4 N/m"),
    "kg/s": ("a resistance", "0.5 kg/s"),
    "1/Hz": ("a density of modes", "0.02 1/Hz"),
    "H": ("an inductance", "4 H"),
    "Ω": ("an electric resistance", "8 kΩ"),
    "F": ("a capacitance", "0.6 nF"),
}


class Measure(NamedTuple):
    """A unit: its size in SI, and its powers of kilogram, metre, second and ampere."""

    size: Decimal
    kilogram: float
    metre: float
    second: float
    ampere: float = 0.0


METRIC = {
    "Hz": Measure(Decimal(1), 0, 0, -1),
    "Pa": Measure(Decimal(1), 1, -1, -2),
    "N": Measure(Decimal(1), 1, 1, -2),
    "g": Measure(Decimal("0.001"), 1, 0, 0),
    "m": Measure(Decimal(1), 0, 1, 0),
    "s": Measure(Decimal(1), 0, 0, 1),
    "H": Measure(Decimal(1), 1, 2, -2, -2),
    "Ω": Measure(Decimal(1), 1, 2, -3, -2),
    "ohm": Measure(Decimal(1), 1, 2, -3, -2),
    "F": Measure(Decimal(1), -1, -2, 4, 2),
}
PREFIXES = {"G": 9, "M": 6, "k": 3, "c": -2, "m": -3, "u": -6, "µ": -6, "μ": -6, "n": -9}
# String gauges are sold in inches, their tensions quoted in pounds or kilograms of force.
OTHER = {
    "in": Measure(Decimal("0.0254"), 0, 1, 0),
    "lbf": Measure(Decimal("4.4482216152605"), 1, 1, -2),
    "kgf": Measure(Decimal("9.80665"), 1, 1, -2),
    "%": Measure(Decimal("0.01"), 0, 0, 0),
}

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_FACTOR = re.compile(
    rf"\s*([*/]?)\s*(?:({'|'.join(OTHER)})|([{''.join(PREFIXES)}]?)({'|'.join(METRIC)}))"
    r"(?:\^?(-?[0-9]{1,2}(?:\.[0-9]{1,6})?))?"
)
_NOTE = re.compile(r"([A-Ga-g])([#b♯♭]?)(-?[0-9]{1,2})")
_PLAIN = str.maketrans({"−": "-", "·": "*", "⋅": "*", "×": "*", "²": "2", "³": "3", "¹": "1", "⁻": "-", "\u2126": "Ω"})
_LONGEST = 60  # characters of a quantity; keeps a hostile one cheap


def parse_quantity(value: object, unit: str) -> float:
    """The value of a number (SI) or of "number unit", in the SI unit that is expected.

    Units are exact decimals, so "0.555 g/m" is the same float as 5.55e-4.
    """
    name, example = QUANTITIES.get(unit, ("a quantity", f"1 {unit}"))
    expected = f"{name} in {unit}" if unit else name
    remedy = f"write it like {example}"
    if isinstance(value, str):
        text = value.strip().replace("−", "-")
        match = _NUMBER.match(text) if len(text) <= _LONGEST else None
        if match is None:
            raise PresetError(f"must be {expected}; {remedy}")
        given = text[match.end() :].strip()
        number = float(match.group()) if not given else _convert(match.group(), given, unit, expected, remedy)
    elif isinstance(value, Real) and not isinstance(value, bool):
        number = _as_float(value)
    else:
        raise PresetError(f"must be {expected}; {remedy}")
    if not isfinite(number):
        raise PresetError(f"must be finite, {expected}; {remedy}")
    return number


def is_bare(value: object) -> bool:
    """Whether a value is a number without a unit."""
    if isinstance(value, str):
        return _NUMBER.fullmatch(value.strip().replace("−", "-")) is not None
    return isinstance(value, Real) and not isinstance(value, bool)


def parse_pitch(value: object) -> float:
    """Hz from a note name ("F#3", "Bb2"; A4 = 440 Hz), "440 Hz" or a number of Hz."""
    if isinstance(value, str) and _NOTE.fullmatch(value.strip()):
        return key_to_hz(note_to_key(value))
    try:
        return parse_quantity(value, "Hz")
    except PresetError:
        raise PresetError("must be a note or a frequency in Hz; write it like F#3 or 185 Hz") from None


def note_to_key(name: str) -> int:
    """MIDI key of a note name: C4 is 60."""
    match = _NOTE.fullmatch(name.strip())
    if match is None:
        raise PresetError(f"{name!r} is not a note; write it like F#3 or Bb2 (C4 is key 60)")
    letter, accidental, octave = match.groups()
    step = {"c": 0, "d": 2, "e": 4, "f": 5, "g": 7, "a": 9, "b": 11}[letter.lower()]
    return 12 * (int(octave) + 1) + step + {"": 0, "#": 1, "♯": 1, "b": -1, "♭": -1}[accidental]


def key_to_note(key: int) -> str:
    """Note name of a MIDI key, with sharps."""
    names = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")
    return f"{names[key % 12]}{key // 12 - 1}"


def key_to_hz(key: float) -> float:
    """Frequency of a MIDI key in equal temperament, A4 = 440 Hz."""
    return float(440.0 * exp2((key - 69.0) / 12.0))


def hz_to_key(hz: float) -> float:
    """MIDI key, with its fraction, of a frequency."""
    return float(69.0 + 12.0 * log2(hz / 440.0))


def db_to_gain(db: float) -> float:
    """Amplitude factor of a level in dB."""
    return float(power(10.0, db / 20.0))


def gain_to_db(gain: float) -> float:
    """Level in dB of an amplitude factor above zero."""
    return float(20.0 * log10(gain))


def t60_to_decay(seconds: float) -> float:
    """Decay rate (1/s) of an amplitude that falls by 60 dB in this time (§5.4)."""
    return float(log(1000.0)) / seconds


def decay_to_t60(rate: float) -> float:
    """Time (s) in which an amplitude of this decay rate falls by 60 dB (§5.4)."""
    return float(log(1000.0)) / rate


def _as_float(value: Real) -> float:
    try:
        return float(value)
    except OverflowError:  # an int beyond the range of floats
        return float("inf")


def _convert(number: str, given: str, unit: str, expected: str, remedy: str) -> float:
    found, wanted = measure(given), measure(unit)
    if found is None or wanted is None:
        raise PresetError(f"must be {expected}, and {given!r} is no unit known here; {remedy}")
    if any(abs(a - b) > 1e-9 for a, b in zip(found[1:], wanted[1:], strict=True)):
        raise PresetError(f"must be {expected}, not in {given}; {remedy}")
    return float(Decimal(number) * found.size / wanted.size)


@lru_cache(maxsize=256)
def measure(unit: str) -> Measure | None:
    """The size and dimension of a unit such as "g/m", "N·m²", "N m2" or "1/s"; None if it cannot be read."""
    text = unit.strip().translate(_PLAIN).replace("**", "^")
    text = text[1:] if text.startswith("1/") else text
    size, powers, at = Decimal(1), [0.0] * 4, 0
    while at < len(text):
        match = _FACTOR.match(text, at)
        if match is None:
            return None
        sign, other, prefix, metric, exponent = match.groups()
        power = Decimal(exponent or 1) * (-1 if sign == "/" else 1)
        base = OTHER[other] if other else METRIC[metric]
        size *= (base.size * Decimal(10) ** PREFIXES.get(prefix, 0)) ** power
        powers = [total + float(power) * p for total, p in zip(powers, base[1:], strict=True)]
        at = match.end()
    return Measure(size, *powers)


def counted(number: int, noun: str) -> str:
    """no blocks, 1 block, 2 blocks"""
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"
