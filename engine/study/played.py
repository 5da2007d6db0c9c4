"""Which string and which pluck a key and a velocity stand for, and how an instrument's own string differs from it."""

from __future__ import annotations

from dataclasses import replace
from math import log2, sqrt
from typing import TypedDict

from engine.elementary import power
from engine.errors import PhysicsError, PresetError, SettingError
from engine.physics.designing import BAND
from engine.physics.grid import grid
from engine.physics.modes import modes
from engine.physics.problem import Problem
from engine.preset.arguments import whole
from engine.preset.loader import Preset
from engine.preset.playing import Velocity
from engine.synth.keys import BEND_RANGE, Design, preset_key, room_to_bend
from engine.units import key_to_note, note_to_key

LOUD = 100  # the velocity at which a preset's own pluck is meant


class WantedNote(TypedDict, total=False):
    """A note, if one is asked for, and whether as an instrument plays it."""

    key: int | str | None
    velocity: int | None
    as_played: bool


def key_of(key: int | str) -> int:
    """A key's number, of itself or of a note's name."""
    if isinstance(key, str) and not key.strip().isdecimal():
        try:
            key = note_to_key(key)
        except PresetError as error:
            raise SettingError("key", key, str(error), "or give a number from 0 to 127") from None
    return whole("key", key, 0, 127, "C4 is 60")


def nearest_key(preset: Preset) -> int:
    """The key that is the preset's own string, or next to it."""
    string = preset.problem.string
    own = string.pitch * sqrt(1.0 + string.inharmonicity)
    known = {key: hz for key, hz in enumerate(preset.tuning.frequencies) if hz}
    return min(known, key=lambda key: abs(log2(known[key] / own)))


def pluck(problem: Problem, law: Velocity, velocity: int, rate: float) -> Problem:
    """The problem with the pluck that a voice gives it at a velocity (synth/voices.py)."""
    loud, e = velocity * 0.01, problem.excitation
    duration = max(e.duration * power(loud, law.duration), 2.0 / rate)
    return replace(problem, excitation=replace(e, force=e.force * power(loud, law.force), duration=duration))


def struck(preset: Preset, key: int | None, velocity: int, rate: float) -> Preset:
    """The preset with the string of a key, all modes or nodes of it, and the pluck of a velocity."""
    problem = preset.problem
    if key is not None:
        found = preset_key(preset, _pitch(preset, key), rate, None, preset.voicing.harder(key))
        if found.design is None:
            raise silent(preset, key, found.silent_because)
        problem = found.design.problem
    return replace(preset, problem=pluck(problem, preset.velocity, velocity, rate))


def played(preset: Preset, key: int, velocity: int, rate: float) -> tuple[Preset, Design]:
    """The string of a key as an instrument designs it, and the pluck of a velocity."""
    pitch = _pitch(preset, key)
    found = preset_key(preset, pitch, rate, None, preset.voicing.harder(key))
    if found.design is None:
        raise silent(preset, key, found.silent_because)
    problem = pluck(found.design.problem, preset.velocity, velocity, rate)
    return replace(preset, problem=problem), found.design


def _pitch(preset: Preset, key: int) -> float:
    pitch = preset.tuning[key]
    if pitch is None:
        raise SettingError("key", key_to_note(key), "the tuning leaves this key out", "choose another")
    return pitch


def silent(preset: Preset, key: int, reason: str) -> PresetError:
    """What there is to say about a key that has no string."""
    error = PresetError(f"{preset.name}, {key_to_note(key)}: {reason}")
    error.exit_code = PhysicsError.exit_code
    return error


def usual(preset: Preset) -> str:
    """The scheme of simulate.py that an instrument plays."""
    return f"{preset.model}-best" if preset.quality == "best" else preset.model


def difference(preset: Preset, scheme: str, rate: float, band: float) -> str:
    """How the string that an instrument plays at this rate is another than a scheme's; "" if it is not."""
    string = preset.problem.string
    if scheme != usual(preset):
        return f"an instrument plays {usual(preset)}, not {scheme}"
    if scheme == "fd":
        here, there = grid(string, rate).intervals, grid(string, rate, bent=room_to_bend(string)).intervals
        room = f"room on its grid for {BEND_RANGE:g} semitones upwards"
        return f"an instrument has {room}: {there} intervals, here {here}"
    heard = min(BAND, 0.45 * rate)
    here, there = (modes(string, rate, limit).frequency.size for limit in (band, heard))
    return "" if here == there else f"an instrument keeps the {there} modes below {heard:g} Hz, here are {here}"
