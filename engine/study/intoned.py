"""By how much strings are tuned off the pitch at which they are heard: of a low, a middle and a high key."""

from __future__ import annotations

from math import pi, sqrt
from typing import NamedTuple

from engine.elementary import log2
from engine.physics.string import String
from engine.preset.loader import Preset
from engine.preset.playing import HEARD
from engine.study.buzzing import of_three_keys
from engine.synth.choirs import strung_for
from engine.synth.keys import first_mode, preset_key


class Tuned(NamedTuple):
    """A key, and how far its first string is from its pitch by itself."""

    note: str
    cents: float


def tuned_off(preset: Preset, sample_rate: float = 48_000.0) -> tuple[Tuned, ...]:
    """Of three keys, those left out that have no string; none where strings are in tune by themselves."""
    if preset.intonation != HEARD:
        return ()
    told = of_three_keys(preset, lambda key: _cents(preset, key, sample_rate))
    found = tuple(Tuned(note, cents) for note, cents in told if cents is not None)
    return found if any(abs(own.cents) > 1e-3 for own in found) else ()


def _cents(preset: Preset, key: int, sample_rate: float) -> float | None:
    """How far a key's first string is from its pitch by itself; None if it has neither."""
    string, pitch = _string(preset, key, sample_rate), preset.tuning[key]
    if string is None or pitch is None:
        return None
    return float(1200.0 * log2(sqrt(first_mode(string, string.length)) / (2.0 * pi * pitch)))


def _string(preset: Preset, key: int, sample_rate: float) -> String | None:
    """What is nearest to the key's own pitch of all that it sounds."""
    hz, a, harder = preset.tuning[key], preset.assembly, preset.voicing.harder(key)
    if hz is None:
        return None
    if a is None:
        design = preset_key(preset, hz, sample_rate * preset.oversample, None, harder).design
        return None if design is None else design.problem.string
    places = a.places(key)
    at_pitch = [(part, c) for part in (places[0] if places else ()) for c in part.courses if c.ratio == 1.0]
    return strung_for(preset, *at_pitch[0], hz, None, harder).strung.string if at_pitch else None
