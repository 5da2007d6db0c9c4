"""Keys whose strings touch something are brought to their pitch by ear: each plays a note first, and is listened to.

Contact holds a string down, or takes a piece off its length, for a part of each period: a tanpura's low string sounds
some cents higher over its bridge than without it. What counts is what physics/pitch.py says, in a note at velocity 100.
Each partial's pitch is a mean, weighted by power: a string that buzzes glides as it dies, and a phase at two moments
would tell what they happen to be. It is seen through whole periods under Hann's window, so that other partials lie on
zeros of its spectrum. Then the string is tuned by what is missing; where that was much, its contact is another, and it
is heard again.

A string is rehearsed by itself, so a key is the same whoever designs it, and whatever other keys there are.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, pi, sqrt

from engine.physics import modal
from engine.physics.hearing import AS_GIVEN, DIFFERENCE, ways
from engine.physics.pitch import FROM, PARTIALS, UNTIL, angle, departure, mean, places
from engine.synth.budget import TUNING, Design, step_time, within_reach
from engine.synth.listening import follow
from engine.synth.memory import KEYS
from engine.synth.rehearsal import make_podium
from engine.units import key_to_hz

SHORTEST = 0.5  # s: who hears less of a note does not tune by it
LEAST = 5e-3  # s from one look to the next
MIDDLE = 261.6  # Hz
LOWEST, HIGHEST = 25.0, 5_000.0  # Hz: what is lower has too few periods by then, nobody hears what is higher bent
MOST, MUCH = 0.06, 3e-4  # a semitone, beyond which it is no bend; half a cent, beyond which it is heard again
TIMES = 3  # that it is heard at most
LIVELIEST = 30.0  # times as far as it was struck that a partial swings
SHARES = sum(sqrt(MIDDLE / hz) for hz in map(key_to_hz, range(KEYS)) if LOWEST <= hz <= HIGHEST)


def own_pitch(pitch: float, design: Callable[[float], Design], heard: tuple[float, ...] = ()) -> float:
    """By itself, of the string that sounds at a pitch (Hz), of those that have any pitch by themselves.

    `heard`: the power that is heard of each partial's motion, where that is not by its pickup.
    """
    own, before, least, spent = pitch, pitch, inf, 0.0
    for _ in range(TIMES):
        found = design(own)
        until = affordable(found, pitch, spent)
        off, spent = bent(found, pitch, heard or raised(found), until) if until else 0.0, spent + until
        if off == 0.0:
            break
        if abs(off) >= least:  # it touches what it touches by chance
            return before
        before, least, own = own, abs(off), own / (1.0 + off)
        if least <= MUCH:
            break
    return own


def raised(design: Design) -> tuple[float, ...]:
    """The power that the first pickup hears of each partial's motion: velocity is louder by the frequency, what air has
    and what a body feels (of momentum, hearing.py) by that squared.
    """
    pickups = design.problem.pickups[:1]
    way = ways(pickups, isinstance(design, modal.Design))[0] if pickups else AS_GIVEN
    squares = [float(n * n) for n in range(1, PARTIALS + 1)]
    if way == AS_GIVEN:
        return ()
    return tuple(squares if way == DIFFERENCE else [n * n for n in squares])


def affordable(design: Design, pitch: float, spent: float = 0.0) -> float:
    """For how many s a string is listened to, after so many: if it touches something, is of a pitch that is heard, and
    does not take long.

    All keys together take no more than TUNING, and low ones, whose strings have more modes, may take more of it.
    """
    if not (design.points.height.size and within_reach(design)) or not LOWEST <= pitch <= HIGHEST:
        return 0.0
    left = TUNING / SHARES * sqrt(MIDDLE / pitch) / (1e-9 * step_time(design) * design.rate) - spent
    return min(left, UNTIL) if left >= SHORTEST else 0.0


def periods(pitch: float) -> int:
    """From one look to the next; each takes twice as many."""
    return max(2, round(LEAST * pitch))


def bent(design: Design, pitch: float, heard: tuple[float, ...] = (), until: float = UNTIL) -> float:
    """By how much of it the string sounds above a pitch; 0 where there is no such partial."""
    off, power = partials(design, pitch, until)
    weights = (*heard, *(heard[-1:] or (1.0,)) * len(power))  # beside the highest that counts there may be one more
    return mean(off, [strong * by for strong, by in zip(power, weights)])


def livened(touching: Design, bare: Design, pitch: float) -> tuple[float, ...]:
    """How many times as far each partial swings for what the string touches; nothing where that is not heard."""
    until = next((time for time in (UNTIL, SHORTEST) if affordable(touching, pitch, time) >= time), 0.0)
    if not until:  # the bare one takes as long
        return ()
    (_, now), (_, before) = (partials(own, pitch, until) for own in (touching, bare))
    return tuple(min(sqrt(a / b), LIVELIEST) if b > 0.0 else 1.0 for a, b in zip(now, before))


def partials(design: Design, pitch: float, until: float) -> tuple[list[float], list[float]]:
    """By how much each is above its place, and its power; none of one that is nowhere near."""
    made = make_podium(round(until * design.rate), design.width)
    podium = made.podium
    podium.first = int(FROM * design.rate)
    podium.apart = round(periods(pitch) * design.rate / pitch)
    made.perform(design)
    off, power = list[float](), list[float]()
    for n, place in enumerate(places(pitch, design.problem.string.inharmonicity)):
        podium.near = 2.0 * pi * place / design.rate
        follow(made.address)
        along, across, strong = podium.turned.tolist()
        found = place * (1.0 + angle(along, across) / (podium.near * podium.apart))
        by = departure(found, n + 1, place, pitch, design.points.height.size > 0)
        off.append(by if abs(by) <= MOST else 0.0)
        power.append(strong if abs(by) <= MOST else 0.0)
    return off, power
