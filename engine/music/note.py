"""A note, and the text in which a person writes some of them."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

from engine.errors import PresetError
from engine.music.errors import ScoreError
from engine.preset.arguments import Quantity, si
from engine.preset.complaints import shown
from engine.units import note_to_key, parse_quantity

# Played when nothing else is asked for: a slow figure around C3, then its chord, low enough for every kind of string.
PHRASE = (
    "C3:0:.9:90 D3:.5:.9:80 E3:1:.9:85 G3:1.5:1.4:95 E3:2.5:.9:75 D3:3:.9:80 "
    "C3:3.5:3:100 G3:3.53:3:85 C4:3.56:3:90"
)  # fmt: skip

_FORM = "write note:start:duration[:velocity], like C4:0:2 or 60:.5:1:80"
_LONGEST = 1_000_000  # characters of a text of notes; keeps a hostile one cheap


@dataclass(frozen=True, init=False)
class Note:
    """One key, held from `start` for `duration` seconds. C4 is key 60; channels count from 0."""

    key: int
    velocity: int
    start: float
    duration: float
    channel: int

    def __init__(
        self, key: int, velocity: int = 100, start: Quantity = 0.0, duration: Quantity = 1.0, channel: int = 0
    ) -> None:
        """Times may also be text, such as "500 ms"."""
        _demand_whole("key", key, 0, 127)
        _demand_whole("velocity", velocity, 1, 127)
        _demand_whole("channel", channel, 0, 15)
        times = {"start": _demand_seconds("start", start), "duration": _demand_seconds("duration", duration)}
        for name, value in {"key": key, "velocity": velocity, **times, "channel": channel}.items():
            object.__setattr__(self, name, value)  # frozen
        if self.duration == 0.0:
            raise ScoreError("duration = 0: must be above 0 s; give the time for which the key is held")


def parse_notes(text: str) -> list[Note]:
    """The notes of "C4:0:2 E4:.5:2 60:1:1:80": note or key, start and duration in seconds, perhaps a velocity."""
    if len(text) > _LONGEST:
        raise ScoreError(f"notes are longer than {_LONGEST} characters; put them into a MIDI file")
    notes = [_parse_note(item) for item in text.split()]
    if not notes:
        raise ScoreError(f"there are no notes in it; {_FORM}")
    return notes


def _parse_note(item: str) -> Note:
    words = item.split(":")
    if not 3 <= len(words) <= 4 or len(item) > 100:
        raise ScoreError(f"{shown(item)} is not a note; {_FORM}")
    name, start, duration, velocity = words if len(words) == 4 else [*words, "100"]
    try:
        key = int(name) if name.isdecimal() and len(name) <= 4 else note_to_key(name)
        if not velocity.isdecimal() or len(velocity) > 4:
            raise ScoreError(f"velocity {shown(velocity)} is no whole number; {_FORM}")
        return Note(key, int(velocity), _seconds("start", start), _seconds("duration", duration))
    except (PresetError, ScoreError) as error:
        raise ScoreError(f"{shown(item)}: {error}") from None


def _seconds(name: str, text: str) -> float:
    try:
        return parse_quantity(text, "s")
    except PresetError as error:
        raise ScoreError(f"{name} {error}") from None


def _demand_whole(name: str, value: object, low: int, high: int) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or not low <= int(value) <= high:
        raise ScoreError(f"{name} = {shown(value)}: must be a whole number, {low} to {high}")


def _demand_seconds(name: str, value: object) -> float:
    seconds = si(value, "s")
    if not seconds >= 0.0:
        raise ScoreError(f"{name} = {shown(value)}: must be seconds, 0 or more")
    return seconds
