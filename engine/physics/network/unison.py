"""The pitch of strings that sound together on a body, and by how much they are tuned off it for that, as by ear.

Near its first partial a string on a bridge is one mode, x' = s x - g v, with its own pole s, g = a sqrt(T/L) by which
it pulls, and the bridge's velocity v. That is what the body makes of all strings' pull F = sum g x: of modes near the
pitch, each a pole p of its own, q' = p q + phi F, and of all others their mobility there, v = sum phi r q + Y F. So the
strings of a course pull together, and what a hammer strikes alike is bent as far as all of them; what is left when that
has died is bent no more, and a string beside one of the body's modes shares it. What is heard beats and glides, and its
pitch is a mean: that of the bridge's motion, weighted by its power, from 0.1 to 1 s after the stroke. Miller and
Rochwarger's estimate of it (IEEE Trans. Inf. Theory 18, 1972), the angle of sum conj(z_n) z_n+1, is what rehearsal and
judge measure, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import ldexp, pi, sqrt
from typing import NamedTuple

import numpy as np

from engine.elementary import cos, exp2, sin
from engine.physics.linear import product, total
from engine.physics.network.parts import Body, Plane, Resonance, Strung, seen_from
from engine.physics.string import Array, String

MOST_BENT = 0.03  # half a semitone: beyond, one mode of a string says little
CLOSELY = 0.12  # of a frequency: modes of a body that are a string's partners there
ROUNDS, CLOSE, LEVEL = 8, 3e-6, 0.3  # times that it is tuned, until within five thousandths of a cent; least slope
HOP, FROM, DOUBLINGS = 4e-3, 25, 8  # s; hops after the stroke; 2^DOUBLINGS hops are looked at
TERMS = 14  # of an exponential's series, at a norm below a half


class Sounding(NamedTuple):
    """One of the strings that sound together: near its pitch, and how it is struck."""

    strung: Strung
    string: String
    detuned: float = 0.0  # cents
    onset: float = 0.0  # s
    force: float = 1.0


class Near(NamedTuple):
    """Modes of strings and body near one frequency: how they go on, how they begin, and what moves the bridge."""

    real: Array  # [modes, modes], 1/s
    imaginary: Array
    begun: Array  # [2 * modes], real parts, then imaginary
    moves: tuple[Array, Array]  # [directions, modes], real and imaginary


@lru_cache(maxsize=64)  # all strings of a course ask for the same
def by_ear(strings: tuple[Sounding, ...], body: Body, pitch: float, together: bool = True) -> float:
    """How many times higher strings are tuned for what is heard of them to be, on the mean, what they are tuned to.

    One-way they are not `together`: the body bends each by itself.
    """
    times, off = 1.0, bent(strings, body, pitch, together)
    slope = 1.0  # of what is heard over what they are tuned to: beside a mode of the body it is steeper
    for _ in range(ROUNDS):
        if abs(off) < CLOSE:
            break
        last, before = times, off
        times = min(max(times - off / slope, 1.0 - MOST_BENT), 1.0 + MOST_BENT)
        off = bent(strings, body, pitch, together, times)
        slope = max((off - before) / (times - last), LEVEL) if times != last else slope
    return times


def bent(strings: Sequence[Sounding], body: Body, pitch: float, together: bool = True, times: float = 1.0) -> float:
    """By how much of it what is heard lies above the mean of what strings so many times as high are tuned to."""
    w = 2.0 * pi * pitch
    near = _near(strings, body, w, together, times)
    count = len(near.real)
    whole = np.block([[near.real, -near.imaginary], [near.imaginary, near.real]])
    x, ahead = product(_exponential(FROM * HOP * whole), near.begun[:, None]), _exponential(HOP * whole)
    for _ in range(DOUBLINGS):
        x, ahead = np.concatenate([x, product(ahead, x)], axis=1), product(ahead, ahead)
    a, b = x[:count], x[count:]
    real, imaginary = near.moves
    a, b = product(real, a) - product(imaginary, b), product(real, b) + product(imaginary, a)
    along = total((a[:, 1:] * a[:, :-1] + b[:, 1:] * b[:, :-1]).reshape(-1))
    across = total((a[:, :-1] * b[:, 1:] - b[:, :-1] * a[:, 1:]).reshape(-1))
    return angle(along, across) / (HOP * w)


def angle(along: float, across: float) -> float:
    """Of a direction, rad: atan2, by our own sine, so that every system has the same."""
    length, found = sqrt(along * along + across * across), 0.0
    for _ in range(60):  # each takes most of what is missing, whatever it is but half a turn
        off = (across * cos(found) - along * sin(found)) / length if length > 0.0 else 0.0
        found += off
        if abs(off) < 1e-15:
            break
    return found


def _near(strings: Sequence[Sounding], body: Body, w: float, together: bool, times: float) -> Near:
    rows = [(own, plane) for own in strings for plane in own.strung.planes]
    pull = np.array([_pull(own, plane, body) for own, plane in rows])
    if pull.any():  # what does not move the bridge is not heard
        rows, pull = [row for row, by in zip(rows, pull) if by.any()], pull[pull.any(axis=1)]
    close = [m for m in body.modes if together and abs(2.0 * pi * m.frequency / w - 1.0) < CLOSELY]
    y = _mobility(body, close, w)
    taken = [product(product(pull, part), pull.T) for part in y]
    if not together:
        taken = [np.diag(np.diagonal(part)) for part in taken]
    n, size = len(rows), len(rows) + len(close)
    real, imaginary = np.zeros((size, size)), np.zeros((size, size))
    real[:n, :n], imaginary[:n, :n] = np.diag([-_loss(own.string, plane) for own, plane in rows]) - taken[0], -taken[1]
    mean = total(np.array([own.detuned for own in strings])) / len(strings)
    for i, (own, plane) in enumerate(rows):
        imaginary[i, i] += w * (times * exp2((own.detuned - mean + plane.detuned) / 1200.0) - 1.0)
    moves = [np.concatenate([product(part, pull.T), np.zeros((len(part), len(close)))], axis=1) for part in y]
    for j, mode in enumerate(close, n):
        pole, shape = Pole(mode), np.array(mode.shape)
        real[j, j], imaginary[j, j], real[j, :n] = -pole.lost, pole.swings - w, product(pull, shape)
        for by, moved, part in zip(pole.residue, moves, (real, imaginary)):
            moved[:, j], part[:n, j] = by * shape, -by * product(pull, shape)
    seen = (moves[0], moves[1]) if pull.any() else (np.eye(size), np.zeros((size, size)))
    return Near(real, imaginary, _begun(rows, w, size), seen)


def _begun(rows: list[tuple[Sounding, Plane]], w: float, size: int) -> Array:
    """How strings swing once all are struck: those that are struck later are behind."""
    begun, first = np.zeros(2 * size), min(own.onset for own, _ in rows)
    for i, (own, plane) in enumerate(rows):
        late, string = w * (own.onset - first), own.string
        strong = seen_from(own.strung.struck, plane.angle) * own.force / sqrt(string.density * string.length)
        begun[i], begun[size + i] = strong * cos(late), -strong * sin(late)
    return begun


def _loss(string: String, plane: Plane) -> float:
    return float((string.loss if plane.loss is None else plane.loss).rate(pi / string.length))


def _pull(own: Sounding, plane: Plane, body: Body) -> list[float]:
    by = own.strung.weight * sqrt(own.string.tension / own.string.length)
    return [by * seen_from(d, plane.angle) for d in body.directions]


class Pole:
    """A body's mode as two poles, s/(M (s^2 + s w/Q + w^2)) = r/(s - p) + r*/(s - p*)."""

    def __init__(self, mode: Resonance) -> None:
        own = 2.0 * pi * mode.frequency
        self.lost = 0.5 * own / mode.quality
        self.swings = sqrt(own * own - self.lost * self.lost)
        self.residue = 0.5 / mode.mass, 0.5 * self.lost / self.swings / mode.mass

    def counterpart(self, w: float) -> tuple[float, float]:
        """r*/(s - p*) at s = jw: real and imaginary part."""
        far, (real, imaginary) = w + self.swings, self.residue
        size = far * far + self.lost * self.lost
        return (real * self.lost - imaginary * far) / size, -(real * far + imaginary * self.lost) / size


def _mobility(body: Body, close: Sequence[Resonance], w: float) -> tuple[Array, Array]:
    """Real and imaginary part between each two of a body's directions, s/kg; of modes close by their counterparts."""
    count = len(body.directions)
    real, imaginary = np.zeros((count, count)), np.zeros((count, count))
    for mode in body.modes:
        own, shape = 2.0 * pi * mode.frequency, np.array(mode.shape)
        away, lost = own * own - w * w, w * (own / mode.quality)
        scale = w / (mode.mass * (away * away + lost * lost))
        one, two = Pole(mode).counterpart(w) if mode in close else (scale * lost, scale * away)
        moved = shape[:, None] * shape
        real, imaginary = real + one * moved, imaginary + two * moved
    return real, imaginary


def _exponential(a: Array) -> Array:
    """exp(a) by its series, halved until that is short and squared as often."""
    halved, norm = 0, float(np.abs(a).max()) * len(a)
    while norm > 0.5:
        norm, halved = 0.5 * norm, halved + 1
    a = a * ldexp(1.0, -halved)
    out = term = np.eye(len(a))
    for n in range(1, TERMS + 1):
        term = product(term, a) / n
        out = out + term
    for _ in range(halved):
        out = product(out, out)
    return out
