"""Strings that touch something are brought to their pitch by ear: each plays a note first, and is listened to.

Contact holds a string down, or takes a piece off its length, for a part of each period: a tanpura's low string sounds
some cents higher over its bridge than without it. What counts is what physics/pitch.py says, in a note at velocity 100.
Then the string is tuned by what is missing; where that was much, its contact is another, and it is heard again. What it
is tuned to at last is the best of what was heard.

A string is rehearsed by itself, or on its body with its course alone (attuned.py), so a key is the same whoever designs
it, and whoever else sounds.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

from engine.physics import modal
from engine.physics.hearing import AS_GIVEN, DIFFERENCE, ways
from engine.physics.pitch import PARTIALS, UNTIL, mean
from engine.synth.budget import TUNING, Design, step_time, within_reach
from engine.synth.following import departures
from engine.synth.memory import KEYS
from engine.synth.rehearsal import make_podium
from engine.units import key_to_hz

SHORTEST = 0.5  # s: who hears less of a note does not tune by it
MIDDLE = 261.6  # Hz
LOWEST, HIGHEST = 25.0, 5_000.0  # Hz: what is lower has too few periods by then, nobody hears what is higher bent
MUCH = 3e-4  # half a cent, beyond which it is heard again
TIMES = 3  # that all of it is heard at most
LEVEL, STEEP = 0.5, 2.0  # slopes, of what is heard over what it is tuned to, that are believed


def share(pitch: float) -> float:
    """Of all time, that a key takes: low ones, whose strings have more modes, may take more of it."""
    return sqrt(MIDDLE / pitch) if LOWEST <= pitch <= HIGHEST else 0.0


SHARES = sum(share(key_to_hz(key)) for key in range(KEYS))


def brought(pitch: float, hear: Callable[[float, float], float]) -> float:
    """What a string is tuned to by itself, Hz, for what is heard of it to be at a pitch.

    `hear` tells by how much of it a string tuned to some Hz sounds above the pitch, in so many s; 0 if it cannot.
    Roughly that is known by the first half of a note.
    """
    own, found = pitch * (1.0 - hear(pitch, SHORTEST)), list[tuple[float, float]]()
    for _ in range(TIMES):
        off = hear(own, UNTIL)
        if off == 0.0:
            break
        found.append((own, off))
        if abs(off) <= MUCH:
            break
        own *= 1.0 - off / _slope(found, pitch)
    if len(found) < 2:  # it is in tune, or there was no time to hear it again
        return own
    return min(found, key=lambda one: abs(one[1]))[0]


def _slope(found: list[tuple[float, float]], pitch: float) -> float:
    """Of what is heard over what is tuned to, between the last two hearings; of one, as if all of it moved."""
    if len(found) < 2:
        return 1.0
    (before, last), (own, off) = found[-2:]
    return min(max((off - last) * pitch / (own - before), LEVEL), STEEP) if own != before else 1.0


def own_pitch(pitch: float, design: Callable[[float], Design]) -> float:
    """By itself, of the string that sounds at a pitch (Hz), of those that have any pitch by themselves."""
    spent = 0.0

    def hear(own: float, seconds: float) -> float:
        nonlocal spent
        found = design(own)
        until = min(affordable(found, pitch, spent), seconds)
        spent += until
        return bent(found, pitch, until) if until else 0.0

    return brought(pitch, hear)


def affordable(design: Design, pitch: float, spent: float = 0.0) -> float:
    """For how many s a string is listened to, after so many: if it touches something, is of a pitch that is heard, and
    does not take long.

    All keys together take no more than TUNING.
    """
    if not (design.points.height.size and within_reach(design)):
        return 0.0
    return lasting(TUNING / SHARES * share(pitch), 1e-9 * step_time(design) * design.rate, spent)


def lasting(seconds: float, each: float, spent: float) -> float:
    """For how many s a note may be listened to that takes so many seconds for each, after so many."""
    left = seconds / each - spent
    return min(left, UNTIL) if left >= SHORTEST else 0.0


def bent(design: Design, pitch: float, until: float = UNTIL) -> float:
    """By how much of it the string sounds above a pitch; 0 where there is no such partial."""
    made = make_podium(round(until * design.rate), design.width)
    made.perform(design)
    stiff, touched = design.problem.string.inharmonicity, design.points.height.size > 0
    off, power = departures(made.podium.out, slice(0, 1), design.rate, pitch, stiff, touched)
    pickups = design.problem.pickups[:1]
    way = ways(pickups, isinstance(design, modal.Design))[0] if pickups else AS_GIVEN
    return mean(off, raised(power, way))


def raised(power: list[float], way: int) -> list[float]:
    """As a pickup hears partials that move so strongly: velocity is louder by the frequency, what air has and what a
    body feels (of momentum, hearing.py) by that squared.
    """
    if way == AS_GIVEN:
        return power
    squares = [float(n * n) for n in range(1, PARTIALS + 1)]
    return [own * by * (1.0 if way == DIFFERENCE else by) for own, by in zip(power, squares)]
