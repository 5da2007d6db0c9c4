"""Arguments of the engine's functions: numbers, or quantities as text ("48 kHz", "20 ms"), refused in one line."""

from __future__ import annotations

from math import nan

from engine.errors import PresetError, SettingError
from engine.preset.complaints import shown, written
from engine.preset.tuning import Tuning, load_tuning
from engine.units import parse_quantity

LOWEST_RATE, HIGHEST_RATE = 8_000.0, 384_000.0  # Hz, of an instrument
Quantity = float | str  # a number of the SI unit, or text with any unit of the same kind


def si(value: object, unit: str) -> float:
    """The value in an SI unit; nan for what is none, which no range admits."""
    try:
        return parse_quantity(value, unit)
    except PresetError:
        return nan


def within(name: str, value: object, low: float, high: float, unit: str, remedy: str) -> float:
    """A quantity in its range."""
    number = si(value, unit)
    if not low <= number <= high:
        raise SettingError(name, shown(value), f"must be {low:.10g} to {high:.10g} {unit}".rstrip(), remedy)
    return number


def whole(name: str, value: object, low: int, high: int, remedy: str) -> int:
    """A whole number in its range."""
    number = si(value, "")
    if not (low <= number <= high and number.is_integer()):
        raise SettingError(name, shown(value), f"must be a whole number, {low} to {high}", remedy)
    return int(number)


def rate_of(value: object) -> float:
    """An instrument's sample rate."""
    return within("sample rate", value, LOWEST_RATE, HIGHEST_RATE, "Hz", "try 48000")


def tuning_of(value: object) -> Tuning | None:
    """A tuning, or what a text or a frequency of A4 asks for; None where nothing is asked for."""
    if value is None or isinstance(value, Tuning):
        return value
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return load_tuning(written(value))
    raise SettingError("tuning", shown(value), "must be text", "write it like just on D, A4=432")
