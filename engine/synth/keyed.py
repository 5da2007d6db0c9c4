"""The string of every key in compiled code: what keys.py makes of a preset's one string, operation by operation.

A `Blueprint` is what the preset says, of which a player may have changed some. Of a key come in only its pitch and the
one that its string has by itself, which was found by ear (intonation.py) and stays, whatever is changed.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from engine.compiled import inlined, native
from engine.elementary import exp, log, power
from engine.layout import Vector, inside, record
from engine.opened import at
from engine.physics import barrier
from engine.physics.designing import NOTHING, POINTS, Bench, level_at
from engine.physics.excitation import EDGE
from engine.physics.pressed import PARTIALS, total
from engine.preset.materials import AIR, BENDING, FRICTION

SHORTEST, LONGEST = 1e-6, 10.0  # s: of a pluck
STRONGEST = 1e5  # N
SIXTY_DECIBELS = float(log(1000.0))
MOST_EARS = 16
# Of Lanczos' series for the gamma function, g = 7 (P. Godfrey's): from 0.5 to 1.5 it is right to 2e-15.
LANCZOS = (
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
)  # fmt: skip

# What of a preset may be changed, by the keys of its table; after them the places of its pickups. A number is never
# given to another one: hosts keep them.
DESIGNED = (
    "barrier.height",
    "barrier.curvature",
    "contact.stiffness",
    "contact.exponent",
    "contact.damping",
    "string.stiffness",
    "string.loss.s0",
    "string.loss.s1",
    "string.loss.s2",
    "string.loss.s3",
    "excitation.position",
    "excitation.force",
    "excitation.duration",
    "release",
    # And of strings that share a bridge (choral.py), times what the preset says:
    "courses.detuned",
    "body.scale",
    "body.weight",
    "body.quality",
)
(
    HEIGHT, CURVATURE, HARDNESS, EXPONENT, DAMPING, STIFFNESS, S0, S1, S2, S3, POSITION, FORCE, DURATION, RELEASE,
    DETUNED, SCALE, WEIGHT, QUALITY,
) = range(len(DESIGNED))  # fmt: skip
PICKUP = 32  # and on


@record
class Blueprint:
    """A preset's string and what plucks it, in SI units, beside what a bench has of them."""

    by_length: int  # how keys are reached; 0: by tension
    length: float
    tension: float
    tuned: float  # Hz that its tension follows from; 0: that was given
    steel: int  # 1: its losses follow from all this, too
    surface: int  # what is under it
    stop: float  # where that ends
    points: int  # that it has; 0: as many as are asked for
    position: float
    force: float
    duration: float
    release: float
    tracking_duration: float  # powers of a key's pitch / the string's own
    tracking_force: float
    tracking_position: float
    tracking_release: float
    tracking_hearing: float
    harder: float  # than `force`, of the key that it is at (preset/voicing.py)
    ears: Vector = inside(MOST_EARS)
    looks: Vector = inside(barrier.LOOKS)
    partials: Vector = inside(PARTIALS)


plan_at = at(Blueprint)


@native
def change(b: Bench, p: Blueprint, what: Any, value: Any) -> None:
    """Have another value for what the preset says."""
    if what == HEIGHT:
        b.height = value
    elif what == CURVATURE:
        b.numbers[2] = -value
    elif what == HARDNESS:
        b.hard = value
    elif what == EXPONENT:
        b.exponent, b.lasting = value, lasting(value)
    elif what == DAMPING:
        b.damping = value
    elif what == STIFFNESS:
        b.stiffness = value
    else:
        change_more(b, p, what, value)


@native
def change_more(b: Bench, p: Blueprint, what: Any, value: Any) -> None:
    """Of its losses, and of hands and ears."""
    if what == S0:
        b.s0 = value
    elif what == S1:
        b.s1 = value
    elif what == S2:
        b.s2 = value
    elif what == S3:
        b.s3 = value
    elif what == POSITION:
        p.position = value
    elif what == FORCE:
        p.force = value
    elif what == DURATION:
        p.duration = value
    elif what == RELEASE:
        p.release = value
    elif PICKUP <= what < PICKUP + MOST_EARS:
        p.ears[what - PICKUP] = value


@native
def lasting(exponent: Any) -> Any:
    """contact.lasting, to rounding: it is compared with a bound, no more."""
    over = 1.0 / (exponent + 1.0)
    return np.sqrt(pi) * gamma(1.0 + over) / gamma(0.5 + over)


@native
def gamma(x: Any) -> Any:
    """Of what lies between 0.5 and 1.5."""
    found, t = LANCZOS[0], x + 6.5
    for n in range(1, len(LANCZOS)):
        found += LANCZOS[n] / (x - 1.0 + n)
    return np.sqrt(2.0 * pi) * power(t, x - 0.5) * exp(-t) * found


@native
def settle_string(b: Bench, p: Blueprint) -> None:
    """What follows of the preset's own string (build._string)."""
    if p.tuned > 0.0:
        speed, wave = 2.0 * p.length * p.tuned, pi / p.length
        p.tension = b.density * speed * speed - b.stiffness * wave * wave
    if p.steel:
        c = np.sqrt(p.tension / b.density)
        b.s0, b.s1, b.s2 = AIR / 2.0, c * FRICTION / 2.0, 0.0
        b.s3 = c * b.stiffness / p.tension * BENDING / 2.0


@native
def bring_to(b: Bench, p: Blueprint, key: Any, pitch: Any, own: Any) -> bool:
    """Bench and row for the string of a key (keys.of_key); not if there is none."""
    ratio = above(b, p, pitch)
    key.force = min(max(p.force * p.harder * power(ratio, p.tracking_force), -STRONGEST), STRONGEST)
    key.duration = min(max(p.duration * power(ratio, p.tracking_duration), SHORTEST), LONGEST)
    key.position = p.position
    if p.tracking_position != 0.0:
        nearest, farthest = min(EDGE, p.position), max(1.0 - EDGE, p.position)
        key.position = min(max(p.position * power(ratio, p.tracking_position), nearest), farthest)
    key.release = SIXTY_DECIBELS / (p.release * power(ratio, p.tracking_release))
    for n in range(b.pickups):
        b.ears[n] = moved(p.ears[n], ratio, p.tracking_hearing)
    b.length, b.tension, b.surface, b.stop, b.asked = p.length, p.tension, p.surface, p.stop, p.points
    there = shortened(b, p, own) if p.by_length else tightened(b, own)
    wave = pi / b.length
    key.length, key.tension, key.stiffening = b.length, b.tension, b.stiffness * (wave * wave)
    b.strike, b.bulge = key.position, bulges(b, p)
    return there  # type: ignore[no-any-return]


@inlined
def above(b: Bench, p: Blueprint, pitch: Any) -> Any:
    """keys.above."""
    speed = np.sqrt(p.tension / b.density)
    stiff = pi * pi * b.stiffness / (p.tension * p.length * p.length)
    return pitch / (speed / (2.0 * p.length) * np.sqrt(1.0 + stiff))


@inlined
def moved(place: Any, ratio: Any, by: Any) -> Any:
    """keys._moved."""
    if by == 0.0 or place == 0.0 or place == 1.0:
        return place
    return min(max(place * power(ratio, by), min(EDGE, place)), max(1.0 - EDGE, place))


@native
def tightened(b: Bench, own: Any) -> bool:
    """keys._tuned by tension."""
    wave = pi / b.length
    angular, decay = 2.0 * pi * own, decay_of(b, wave)
    b.tension = b.density * (angular * angular + decay * decay) / (wave * wave) - b.stiffness * (wave * wave)
    return b.tension > 0.0  # type: ignore[no-any-return]


@native
def shortened(b: Bench, p: Blueprint, own: Any) -> bool:
    """keys._tuned by length, and keys.cut."""
    low, high, length = 1e-3, 1e3, 1.0
    wanted, squared = 2.0 * pi * own * (2.0 * pi * own), first_mode(b, length)
    while low < length < high:
        if squared > wanted:
            low = length
        else:
            high = length
        length = np.sqrt(low * high)
        squared = first_mode(b, length)
    b.length = length
    cut(b, p, 0.99 * length)
    return abs(squared / wanted - 1.0) <= 1e-9  # type: ignore[no-any-return]


@native
def cut(b: Bench, p: Blueprint, end: Any) -> None:
    """What is under a string of which that is the end."""
    if p.surface == POINTS:
        b.asked = 0
        while b.asked < p.points and b.numbers[b.asked] < end:
            b.asked += 1
        if b.asked == 0:
            b.surface = NOTHING
    elif p.surface != NOTHING and b.stop > end:
        b.stop = end
        if not b.begin < 0.9 * end:
            b.surface = NOTHING


@native
def decay_of(b: Bench, wave: Any) -> Any:
    """Loss.rate."""
    return b.s0 + wave * (b.s1 + wave * (b.s2 + wave * b.s3))


@native
def first_mode(b: Bench, length: Any) -> Any:
    """keys.first_mode."""
    wave = pi / length
    decay = decay_of(b, wave)
    frequency = wave * np.sqrt((b.tension + b.stiffness * (wave * wave)) / b.density)
    return frequency * frequency - decay * decay


@native
def bulges(b: Bench, p: Blueprint) -> Any:
    """barrier.bulges."""
    if b.surface == NOTHING or b.surface == POINTS:
        return 0.0
    width = b.stop - b.begin
    spacing = width / barrier.LOOKS
    for n in range(barrier.LOOKS):
        p.looks[n] = level_at(b, b.begin + (n + 0.5) * spacing, 0)
    for n in range(barrier.LOOKS - 2):
        p.looks[n] = max(-((p.looks[n + 2] - p.looks[n + 1]) - (p.looks[n + 1] - p.looks[n])), 0.0)
    bends = total(p.looks, barrier.LOOKS - 2, p.partials)
    return min(np.sqrt(width * (bends / spacing) / (8.0 * barrier.BULGE)), barrier.MOST_FINE * 1.0)
