"""By how much strings are tuned off the pitch at which they are heard: of a low, a middle and a high key."""

from __future__ import annotations

from math import pi, sqrt
from typing import NamedTuple

from engine.elementary import log2
from engine.errors import EngineError
from engine.physics.string import String
from engine.preset.loader import Preset
from engine.preset.playing import HEARD
from engine.study.buzzing import compass
from engine.synth.choirs import strung_for
from engine.synth.keys import first_mode, preset_key
from engine.units import key_to_note


class Tuned(NamedTuple):
    """A key, and how far its first string is from its pitch by itself."""

    note: str
    cents: float


def tuned_off(preset: Preset, sample_rate: float = 48_000.0) -> tuple[Tuned, ...]:
    """Of three keys, those left out that have no string; none where strings are in tune by themselves."""
    if preset.intonation != HEARD:
        return ()
    low, high = compass(preset)
    found = []
    for key in (low, (low + high) // 2, high):
        try:
            string = _string(preset, key, sample_rate)
        except EngineError:  # a key without a string is told of elsewhere
            continue
        pitch = preset.tuning[key]
        if string is not None and pitch is not None:
            cents = 1200.0 * log2(sqrt(first_mode(string, string.length)) / (2.0 * pi * pitch))
            found.append(Tuned(key_to_note(key), float(cents)))
    return tuple(found) if any(abs(own.cents) > 1e-3 for own in found) else ()


def _string(preset: Preset, key: int, sample_rate: float) -> String | None:
    """What is nearest to the key's own pitch of all that it sounds."""
    hz, a = preset.tuning[key], preset.assembly
    if hz is None:
        return None
    if a is None:
        design = preset_key(preset, hz, sample_rate * preset.oversample).design
        return None if design is None else design.problem.string
    places = a.places(key)
    at_pitch = [(part, c) for part in (places[0] if places else ()) for c in part.courses if c.ratio == 1.0]
    return strung_for(preset, *at_pitch[0], hz).strung.string if at_pitch else None
