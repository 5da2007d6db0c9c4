"""The grid's restoring force: a polynomial of the second difference that gives chosen partials their exact frequency.

    u+ = 2 u - u- - 4 Q u,   Q = q1 A + q2 A^2 + ...,   A = -h^2 d_xx with the symbol a(b) = 4 sin^2(b h/2)

Without loss sin^2(w k/2) = Q (§5.5). Two powers with the textbook's T and EI leave waves slow by (b h)^2: 11 cents at
a bass string's partial 40. Here Q goes through the exact sin^2(w k/2) of two or four wavenumbers, and at once through
those of any other tension. Where the wavenumbers are small, two powers become EI' = EI + (T h^2/12)(1 - (c k/h)^2).
"""

from __future__ import annotations

from math import comb, pi, sqrt
from typing import Any, NamedTuple

import numpy as np

from engine import elementary, elementwise
from engine.compiled import DOUBLE, VECTOR, called_with, inlined
from engine.elementary import sin
from engine.layout import Vector
from engine.opened import group_type
from engine.physics.string import Array, String

REACH = 4  # neighbours on each side that a difference may use near by: powers of the second difference
FEW, MANY = 2, REACH  # powers of Q: what stiffness takes in any case, and what losses reach too
HIGHEST = 20_000.0  # Hz: partials above are not heard
OF_RATE = 0.25  # and above this part of the sample rate a polynomial follows badly
HEARD = 40  # partials by which a grid is judged
MOST_CENTS = 2.0
FAR = 1e15  # m or N, where no search goes on
PROBES = 64  # waves that a condition is asked at before the number of intervals is known
ANSWERS = 2 + 2 * REACH  # what `extremes` writes, and needs
# The power p of A has taps (-1)^j C(2p, p + j) at j neighbours.
BINOMIALS = np.array([[(-1) ** j * comb(2 * p, p + j) for j in range(REACH + 1)] for p in range(1, REACH + 1)], float)


class Elastic(NamedTuple):
    """What Q is made from at any tension; an entry for each exact wavenumber."""

    pull: Vector  # b^2 / rho: times the tension
    bend: Vector  # EI b^4 / rho, 1/s^2
    share: Vector  # of sin^2(w k / 2), near one: what the losses do to the frequency
    at: Vector  # a(b)
    step: float  # k


def symbol(b: Array, spacing: float) -> Array:
    """B(b), the grid's answer to b^2."""
    return (2.0 / spacing * elementwise.sin(0.5 * b * spacing)) ** 2


class Waves(NamedTuple):
    """Of which string, and which of its waves get their exact frequency: their places from the first to the last."""

    density: float
    stiffness: float
    first: float  # wavenumbers, 1/m
    last: float
    place: Vector  # of b^2, from 0


def chosen(string: String, rate: float, powers: int) -> Waves:
    """The first partial's wavenumber, and others up to the highest that counts.

    Between them the error is level, as between the roots of Chebyshev's polynomial, moved so that its first is zero.
    """
    first, last = pi / string.length, string.wavenumber_at(min(HIGHEST, OF_RATE * rate))
    if powers == FEW:
        last = min(last, HEARD * first)
    roots = elementwise.cos((2.0 * np.arange(1, powers + 1) - 1.0) * (pi / (2 * powers)))
    return Waves(string.density, string.stiffness, first, last, (roots[0] - roots) / (roots[0] + 1.0))


def exact_waves(string: String, spacing: float, rate: float, powers: int) -> Array:
    """The wavenumbers that get their exact frequency on a grid."""
    b = np.zeros(powers)
    spread(chosen(string, rate, powers), spacing, b)
    return b


@called_with(group_type(Waves), DOUBLE, VECTOR)
def spread(w: Waves, spacing: Any, b: Any) -> None:
    """The same, of waves that a grid of this spacing has room for."""
    lowest, last = w.first * w.first, min(w.last, 0.9 * pi / spacing)
    room = max(last * last - lowest, lowest)
    for i in range(b.size):
        b[i] = np.sqrt(lowest + w.place[i] * room)


def elastic(string: String, spacing: float, rate: float, b: Array, losing: Array | None = None) -> Elastic:
    """The recipe for exact wavenumbers b; `losing` is the share that losses take (`loss_shares`)."""
    made = Elastic(np.zeros(b.size), np.zeros(b.size), np.ones(b.size), np.zeros(b.size), 1.0 / rate)
    resist(string.density, string.stiffness, spacing, b, made)
    return made if losing is None else made._replace(share=losing)


@called_with(DOUBLE, DOUBLE, DOUBLE, VECTOR, group_type(Elastic))
def resist(density: Any, stiffness: Any, spacing: Any, b: Any, e: Elastic) -> None:
    """How the waves b of a string resist, and their symbols on a grid."""
    for i in range(b.size):
        square, wave = b[i] * b[i], 2.0 / spacing * sin(0.5 * b[i] * spacing)
        e.pull[i] = square / density
        e.bend[i] = stiffness * square * square / density
        e.at[i] = wave * wave * spacing * spacing


@inlined
def target(e: Elastic, tension: Any, step: Any, i: Any) -> Any:
    """sin^2(w k / 2) of an exact wavenumber."""
    half = 0.5 * step * np.sqrt(tension * e.pull[i] + e.bend[i])
    root = sin(half)
    return e.share[i] * root * root


@inlined
def expand(e: Elastic, tension: Any, step: Any, value: Any, q: Any) -> None:
    """q[p - 1] of Q = sum q_p a^p, through the exact wavenumbers' values (Newton's divided differences)."""
    count, at = e.at.size, e.at
    for i in range(count):
        value[i] = target(e, tension, step, i) / at[i]
    for level in range(1, count):
        for i in range(count - 1, level - 1, -1):
            value[i] = (value[i] - value[i - 1]) / (at[i] - at[i - level])
    for p in range(REACH):
        q[p] = 0.0
    q[0] = value[count - 1]
    for level in range(count - 2, -1, -1):
        for p in range(count - 1, 0, -1):
            q[p] = q[p - 1] - at[level] * q[p]
        q[0] = value[level] - at[level] * q[0]


@inlined
def difference(q: Any, taps: Any) -> None:
    """Symmetric taps 0..REACH of 4 Q; they sum to nothing."""
    taps[0] = 0.0
    for j in range(1, REACH + 1):
        taps[j] = 0.0
        for p in range(REACH):
            taps[j] += 4.0 * q[p] * BINOMIALS[p, j]
        taps[0] -= 2.0 * taps[j]


@called_with(group_type(Elastic), DOUBLE, VECTOR, VECTOR, VECTOR)
def taps_of(e: Elastic, tension: Any, value: Any, q: Any, taps: Any) -> None:
    """The taps of 4 Q at a tension; `value` and `q` hold REACH numbers meanwhile."""
    expand(e, tension, e.step, value, q)
    difference(q, taps)


@called_with(group_type(Elastic), DOUBLE, DOUBLE, VECTOR, VECTOR, VECTOR)
def extremes(e: Elastic, tension: Any, slower: Any, a: Any, loss: Any, found: Any) -> None:
    """The least Q and the largest Q + k S over the waves with symbols a, if the clock were `slower` so many times.

    Both lie between 0 and 1 where the scheme is passive.
    """
    value, q = found[2 : 2 + REACH], found[2 + REACH :]
    expand(e, tension, slower * e.step, value, q)
    found[0], found[1] = 1e300, -1e300
    for n in range(a.size):
        total = q[REACH - 1]
        for p in range(REACH - 2, -1, -1):
            total = total * a[n] + q[p]
        total *= a[n]
        found[0] = min(found[0], total)
        found[1] = max(found[1], total + loss[n])


def taps(e: Elastic, tension: float) -> Array:
    """Symmetric taps 0..REACH of 4 Q at a tension."""
    found = np.zeros(REACH + 1)
    taps_of(e, tension, np.zeros(REACH), np.zeros(REACH), found)
    return found


def courant(e: Elastic, tension: float, a: Array, slower: float = 1.0) -> Array:
    """Q of the waves with symbols a, if the clock were `slower` so many times."""
    q, found = np.zeros(REACH), np.zeros(a.size)
    taps_of(e._replace(step=slower * e.step), tension, np.zeros(REACH), q, np.zeros(REACH + 1))
    for power in q[::-1]:
        found = (found + power) * a
    return found


@inlined
def passive(e: Elastic, tension: Any, slower: Any, a: Any, loss: Any, found: Any) -> Any:
    """Whether no wave costs less than nothing: 0 <= Q and Q + k S <= 1, `loss` being k S."""
    extremes(e, tension, slower, a, loss, found)
    return found[0] >= 0.0 and found[1] <= 1.0


@called_with(group_type(Elastic), DOUBLE, DOUBLE, VECTOR, VECTOR, VECTOR, VECTOR)
def stands(e: Elastic, tension: Any, margin: Any, a: Any, none: Any, loss: Any, found: Any) -> Any:
    """Whether a clock slower by the margin leaves a string passive; with losses, which may take half, half as much."""
    return passive(e, tension, margin, a, none, found) and passive(e, tension, np.sqrt(margin), a, loss, found)


@called_with(group_type(Elastic), DOUBLE, DOUBLE, VECTOR, VECTOR, VECTOR, VECTOR)
def pull_most(e: Elastic, tension: Any, margin: Any, a: Any, none: Any, loss: Any, found: Any) -> None:
    """The highest tension at which it stands that, from none upwards, as found[0]."""
    low, high = 0.0, tension
    while high < FAR and stands(e, high, margin, a, none, loss, found):
        low, high = high, 1.1 * high
    while high - low > 1e-9 * high:
        middle = 0.5 * (low + high)
        if stands(e, middle, margin, a, none, loss, found):
            low = middle
        else:
            high = middle
    found[0] = low


def bears(e: Elastic, tension: float, margin: float, a: Array, loss: Array) -> bool:
    """Whether the string stands a clock that is slower by the margin."""
    return bool(stands(e, tension, margin, a, np.zeros(a.size), loss, np.zeros(ANSWERS)))


def highest_tension(e: Elastic, tension: float, margin: float, a: Array, loss: Array) -> float:
    """The highest tension at which it does, looked for from one (N)."""
    found = np.zeros(ANSWERS)
    pull_most(e, tension, margin, a, np.zeros(a.size), loss, found)
    return float(found[0])


def loss_shares(string: String, b: Array, rate: float, s0: float, backward: Array) -> Array:
    """Q over sin^2(w k / 2) that gives wavenumbers b their damped frequency, losses s0 and `backward` being taken.

    §5.5 solved for Q at a known frequency: a loss that is taken backward in time makes its waves a little lighter.
    """
    k, decay, undamped = 1.0 / rate, string.loss.rate(b), string.undamped_frequency(b)
    squared, x, z = undamped * undamped - decay * decay, s0 * k, 2.0 * k * backward
    sounding = (squared > 0.0) & (1.0 - x - z > 0.0)
    swing = 2.0 * elementwise.sin(0.5 * k * np.sqrt(np.where(sounding, squared, 0.0)))
    kept = np.sqrt((1.0 + x) * np.where(sounding, 1.0 - x - z, 0.0))
    # 4 Q = 2 - z - 2 cos(w k) kept, written so that nothing cancels.
    four = swing * swing * kept + 2.0 * (z + x * x + x * z) / (1.0 + kept) - z
    root = 2.0 * elementwise.sin(0.5 * undamped * k)
    return np.where(sounding, four / (root * root), 1.0)


def cents(string: String, e: Elastic, spacing: float) -> float:
    """The worst error of the pitch of a partial that a grid is judged by, losses aside."""
    count = min(HEARD, int(string.length / spacing) - 1)
    b = string.wavenumbers(max(count, 1))
    w = string.undamped_frequency(b)
    b, w = b[w <= 2.0 * pi * HIGHEST], w[w <= 2.0 * pi * HIGHEST]
    half = 0.5 * w * e.step
    sine, cosine = elementwise.sin(half), elementwise.cos(half)
    lossless = e._replace(share=np.ones(e.at.size))
    off = courant(lossless, string.tension, symbol(b, spacing) * spacing * spacing) / (sine * sine) - 1.0
    return float(np.abs(600.0 / elementary.NATURAL * off * sine / (cosine * half)).max(initial=0.0))


class Pulled(NamedTuple):
    """What a spacing is judged by: no wave costs less than nothing at a tension; s2 counts, which is taken as it is."""

    tension: float
    lost: float  # k s2
    a: Vector


def least_spacing(string: String, rate: float, powers: int, tension: float) -> float:
    """The spacing from which on a grid at so many powers is passive at a tension."""
    k = 1.0 / rate
    speed, bend = tension / string.density, string.stiffness / string.density
    # Two powers alone would ask for this much; the others only add to it.
    plain = speed * k * k + 4.0 * string.loss.s2 * k
    low = sqrt(0.5 * (plain + sqrt(plain * plain + 16.0 * bend * k * k)))
    pulled = Pulled(tension, k * string.loss.s2, 4.0 * np.arange(1, PROBES + 1) / PROBES)
    e = Elastic(np.zeros(powers), np.zeros(powers), np.ones(powers), np.zeros(powers), k)
    found = np.zeros(ANSWERS)
    space(chosen(string, rate, powers), pulled, e, low, np.zeros(powers), np.zeros(PROBES), found)
    return float(found[0])


@called_with(group_type(Waves), group_type(Pulled), group_type(Elastic), DOUBLE, VECTOR, VECTOR, VECTOR)
def space(w: Waves, pulled: Pulled, e: Elastic, least: Any, b: Any, loss: Any, found: Any) -> None:
    """The least spacing of all, or the next one that will do, as found[0]."""
    low, high = least, 1.25 * least
    if holds(w, pulled, e, low, b, loss, found):
        high = low
    while high > low and high < FAR and not holds(w, pulled, e, high, b, loss, found):
        low, high = high, 1.25 * high
    while high - low > 1e-9 * high:
        middle = 0.5 * (low + high)
        if holds(w, pulled, e, middle, b, loss, found):
            high = middle
        else:
            low = middle
    found[0] = high


@inlined
def holds(w: Waves, pulled: Pulled, e: Elastic, spacing: Any, b: Any, loss: Any, found: Any) -> Any:
    spread(w, spacing, b)
    resist(w.density, w.stiffness, spacing, b, e)
    for n in range(loss.size):
        loss[n] = pulled.a[n] * (pulled.lost / (spacing * spacing))
    return passive(e, pulled.tension, 1.0, pulled.a, loss, found)
