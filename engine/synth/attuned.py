"""The pitch that each of a key's strings is tuned to by itself, for what is heard of it to be at the key's.

Strings that touch nothing are bent by the body alone, which is known in closed form (physics/network/unison.py). What
touches a string and the body act on each other: a bray's pin that gives way with the board takes off another piece. So
such strings play their note, on the body and with their like, as the renderer plays it, and are listened to; at the
rate at which the preset runs where sound has 48 kHz, so that they are the same strings at all rates.
"""

from __future__ import annotations

from functools import lru_cache
from math import isfinite

from engine.elementary import exp2
from engine.physics.network.bodies import playable
from engine.physics.network.parts import Against, Body
from engine.physics.network.unison import Sounding, by_ear
from engine.physics.problem import Problem
from engine.preset.assembly import Assembly, Course, Played
from engine.preset.loader import Preset
from engine.preset.playing import HEARD
from engine.synth.budget import TOGETHER
from engine.synth.in_place import Footing, bent
from engine.synth.intonation import brought, share
from engine.synth.keys import of_key
from engine.synth.rehearsal import REHEARSAL_RATE
from engine.synth.sounded import as_pulse, described, pitch_of
from engine.synth.striking import stroke
from engine.units import key_to_hz

UNISON = exp2(10.0 / 1200.0)  # strings that a body moves as one


def own_pitch(preset: Preset, part: Played, course: Course, asked: Problem, hz: float) -> float:
    """Hz, of one of the strings that a key sounds at a pitch; those of a course are tuned as one."""
    a, pitch = preset.assembly, pitch_of(course, hz)
    if preset.intonation != HEARD or a is None:
        return pitch
    rate = REHEARSAL_RATE * preset.oversample
    body = playable(a.body, rate)
    on = Footing(preset.tracking, rate, body, a.coupling, a.crystal, preset.problem.pickups, TOGETHER / shares(a))
    near = tuple(alike(part, course))
    try:
        return pitch * _kept(on, part, near, asked, hz)
    except TypeError:  # a barrier of somebody's own that cannot be compared
        return pitch * _retuned(on, part, near, asked, hz)


def alike(part: Played, course: Course) -> list[Course]:
    """Those of a part's strings that a key sounds at the pitch of one of them."""
    own = course.ratio * exp2(course.detuned / 1200.0)
    near = [(other, other.ratio * exp2(other.detuned / 1200.0) / own) for other in part.courses]
    return [other for other, ratio in near if 1.0 / UNISON < ratio < UNISON]


def shares(a: Assembly) -> float:
    """Of all keys of all strings that touch something."""
    parts = [part for part in a.played if any(isinstance(port, Against) for port in part.strung.ports)]
    return sum(share(key_to_hz(key)) for part in parts for key in range(part.lowest, part.highest + 1)) or 1.0


def _retuned(on: Footing, part: Played, near: tuple[Course, ...], asked: Problem, hz: float) -> float:
    """How many times their pitch strings in unison are tuned to."""
    first = pitch_of(near[0], hz)
    if any(isinstance(port, Against) for port in part.strung.ports):
        middle = first * exp2(sum(own.detuned - near[0].detuned for own in near) / len(near) / 1200.0)
        times = _heard_in_place(on, part, near, asked, hz, middle)
        if times:
            return times
    lead = of_key(asked, part.keys, first, on.tracking)
    struck, ends = stroke(part.exciter, lead.excitation, lead.string, len(near), on.rate)
    group = tuple(Sounding(part.strung, lead.string, o.detuned, o.onset, o.force, struck, ends) for o in near)
    return by_ear(group, Body() if on.coupling == "none" else on.body, first, on.coupling == "two-way")


_kept = lru_cache(maxsize=8192)(_retuned)  # a key is heard once for all rates


def _heard_in_place(
    on: Footing, part: Played, near: tuple[Course, ...], asked: Problem, hz: float, middle: float
) -> float:
    """How many times their pitch strings are tuned to for their mean to be heard at one; 0 if nobody can listen."""
    harder = asked.excitation.force / (as_pulse(part.exciter).force or 1.0)
    spent = 0.0

    def hear(own: float, seconds: float) -> float:
        nonlocal spent
        strings = [
            described(on.tracking, part, o, asked, pitch_of(o, hz), pitch_of(o, hz) * own / middle, harder)
            for o in near
        ]
        off, taken = bent(on, strings, middle, seconds, spent)
        spent += taken
        return off if isfinite(off) else 0.0

    times = brought(middle, hear) / middle
    return times if spent else 0.0
