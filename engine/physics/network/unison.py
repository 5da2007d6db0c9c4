"""By how much strings that sound together on a body are tuned off their pitch for it to be heard (physics/pitch.py).

Near a partial a string on a bridge is one mode, x' = s x - g v, with its own pole s, g = a sqrt(T/L) by which it
pulls, and the bridge's velocity v. That is what the body makes of all strings' pull F = sum g x: of modes near the
partial, each a pole p of its own, q' = p q + phi F, and of all others their mobility there, v = sum phi r q + Y F. What
pushes a string pushes the bridge under its end, too, and these modes with it. So
the strings of a course pull together, and what a hammer strikes alike is bent as far as all of them; what is left when
that has died is bent no more, and a string beside one of the body's modes shares it. What is heard beats and glides:
its pitch is a mean, of what the body's modes radiate, or, where no body is heard, of the strings themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import pi, sqrt
from typing import NamedTuple

import numpy as np

from engine.elementary import cos, exp2, sin
from engine.physics import pitch as told
from engine.physics.linear import product, total
from engine.physics.network import beating
from engine.physics.network.parts import Body, Plane, Resonance, Strung, seen_from
from engine.physics.pitch import angle
from engine.physics.string import Array, String

MOST_BENT = 0.03  # half a semitone: beyond, one mode of a string says little
CLOSELY, LEAST = 0.12, 20.0  # of the pitch, and Hz, from a partial: modes of a body are its partners there, and heard
ROUNDS, CLOSE, LEVEL = 8, 1e-5, 0.3  # times that it is tuned, until within a sixtieth of a cent; least slope
HOP = 5e-3  # s
BEFORE, LOOK = round(told.FROM / HOP), round(told.LOOK / HOP)  # hops until the first look, and of one
APART = round(told.APART / HOP)  # from look to look
HOPS = round((told.UNTIL - told.FROM) / HOP)


class Sounding(NamedTuple):
    """One of the strings that sound together: in tune, and how it is struck."""

    strung: Strung
    string: String
    detuned: float = 0.0  # cents
    onset: float = 0.0  # s
    force: float = 1.0
    strokes: tuple[float, ...] = (1.0,) * told.PARTIALS  # how strongly each partial is
    pushes: tuple[float, ...] = (0.0,) * told.PARTIALS  # and how strongly the body is there, by the string's end


class Near(NamedTuple):
    """Modes of strings and body near each of the partials: how they go on, how they begin, what is heard of them."""

    real: Array  # [partials, modes, modes], 1/s, of strings in tune
    imaginary: Array
    begun: Array  # [partials, real and imaginary part, modes]
    ears: Array  # [partials, channels, modes]
    ears_aside: Array
    places: Array  # rad/s
    around: Array  # rad/s, about where each is heard
    apart: Array  # of strings in each of their planes, how many times as high as the pitch they are tuned
    loud: list[float]  # by how much of its power each partial is heard


@lru_cache(maxsize=64)  # all strings of a course ask for the same
def by_ear(strings: tuple[Sounding, ...], body: Body, pitch: float, together: bool = True) -> float:
    """How many times higher strings are tuned for what is heard of them to be, on the mean, what they are tuned to.

    One-way they are not `together`: the body bends each by itself.
    """
    near = _near(strings, body, pitch, together)
    times, off = 1.0, _bent(near)
    slope = 1.0  # of what is heard over what they are tuned to: beside a mode of the body it is steeper
    for _ in range(ROUNDS):
        if abs(off) < CLOSE:
            break
        last, before = times, off
        times = min(max(times - off / slope, 1.0 - MOST_BENT), 1.0 + MOST_BENT)
        off = _bent(near, times)
        slope = max((off - before) / (times - last), LEVEL) if times != last else slope
    return times


def bent(strings: Sequence[Sounding], body: Body, pitch: float, together: bool = True, times: float = 1.0) -> float:
    """By how much of it what is heard lies above the mean of what strings so many times as high are tuned to."""
    return _bent(_near(strings, body, pitch, together), times)


def _bent(near: Near, times: float = 1.0) -> float:
    """The same of strings that are known so far."""
    return told.mean(*_departures(near, times))


def _departures(near: Near, times: float) -> tuple[list[float], list[float]]:
    """Of each partial, how far it is from its place, and the power with which it is heard."""
    partials, channels, size = near.ears.shape
    imaginary, rows = near.imaginary.copy(), np.arange(near.apart.size)
    imaginary[:, rows, rows] += near.places[:, None] * (times * near.apart) - near.around[:, None]
    turned, heard = np.zeros((partials, beating.TURNED)), np.zeros((2, channels, HOPS))
    work, begun = np.zeros((beating.ROOM, size, size)), near.begun.copy()
    beating.listen(
        near.real,
        imaginary,
        begun,
        near.ears,
        near.ears_aside,
        beating.hann(LOOK),
        BEFORE,
        APART,
        HOP,
        work,
        heard,
        turned,
    )
    off = [angle(one[0], one[1]) + angle(one[2], one[3]) / APART for one in turned.tolist()]
    power = [loud * float(one[4]) for loud, one in zip(near.loud, turned)]
    places = zip(off, near.around.tolist(), near.places.tolist())
    return [(by / HOP + (there - w)) / w for by, there, w in places], power


def _radiated(body: Body, frequency: float) -> float:
    """What the body's high-pass leaves of a power: Butterworth's of second order."""
    over = body.radiates / frequency
    return 1.0 / (1.0 + over * over * over * over)


def _near(strings: Sequence[Sounding], body: Body, pitch: float, together: bool) -> Near:
    """Around where partials are once strings are tuned: what is between two of a body's modes moves otherwise there."""
    at = told.places(pitch, strings[0].string.inharmonicity)
    off, power = _departures(_around(at, at, strings, body, together), 1.0)
    mean = told.mean(off, power)
    away = [min(max(by - mean, -MOST_BENT), MOST_BENT) for by in off]
    return _around([hz * (1.0 + by) for hz, by in zip(at, away)], at, strings, body, together)


def _around(there: list[float], at: list[float], strings: Sequence[Sounding], body: Body, together: bool) -> Near:
    rows = [(own, plane) for own in strings for plane in own.strung.planes]
    pull = np.array([_pull(own, plane, body) for own, plane in rows])
    if pull.any():  # what does not move the bridge is not heard
        rows, pull = [row for row, by in zip(rows, pull) if by.any()], pull[pull.any(axis=1)]
    w = 2.0 * pi * np.array(there)
    poles = [Pole(mode) for mode in body.modes]
    close = [
        [pole for pole in poles if together and abs(pole.mode.frequency - hz) < max(CLOSELY * at[0], LEAST)]
        for hz in at
    ]
    silent = not pull.any() or any(own.strung.listening for own in strings)
    count, size = len(rows), len(rows) + max(len(own) for own in close)
    channels = count if silent else body.channels
    real, imaginary = np.zeros((len(at), size, size)), np.zeros((len(at), size, size))
    ears, aside = np.zeros((len(at), channels, size)), np.zeros((len(at), channels, size))
    for n, one in enumerate(w.tolist()):
        y = _mobility(body, poles, close[n], one)
        _couple((real[n], imaginary[n]), (ears[n], aside[n]), pull, y, close[n], one, together, silent)
        real[n, range(count), range(count)] -= [_loss(own.string, plane, n + 1) for own, plane in rows]
    mean = total(np.array([own.detuned for own in strings])) / len(strings)
    apart = np.array([exp2((own.detuned - mean + plane.detuned) / 1200.0) for own, plane in rows])
    begun = np.stack([_begun(rows, pull, own, n, one, size) for n, (one, own) in enumerate(zip(w.tolist(), close), 1)])
    loud = [one * one * _radiated(body, hz) for one, hz in zip(w.tolist(), there)]
    return Near(real, imaginary, begun, ears, aside, 2.0 * pi * np.array(at), w, apart, loud)


def _couple(
    motion: tuple[Array, Array], ears: tuple[Array, Array], pull: Array, y: tuple[Array, Array],
    close: Sequence[Pole], w: float, together: bool, silent: bool,
) -> None:  # fmt: skip
    """What strings and body's modes near one partial do to each other, and what is heard of each."""
    count, directions = pull.shape
    for part, mobility in zip(motion, y):
        taken = product(product(pull, mobility[:directions]), pull.T)
        part[:count, :count] = -(taken if together else np.diag(np.diagonal(taken)))
    for part, mobility in zip(ears, y):
        part[:, :count] = (
            np.eye(count) if silent and part is ears[0] else 0.0 if silent else product(mobility[directions:], pull.T)
        )
    for j, pole in enumerate(close, count):
        shape = product(pull, np.array(pole.mode.shape))
        motion[0][j, j], motion[1][j, j], motion[0][j, :count] = -pole.lost, pole.swings - w, shape
        for by, part, sounds in zip(pole.residue, motion, ears):
            part[:count, j] = -by * shape
            if not silent:
                sounds[:, j] = by * np.array(pole.mode.heard)


def _begun(
    rows: list[tuple[Sounding, Plane]], pull: Array, close: Sequence[Pole], n: int, w: float, size: int
) -> Array:
    """How strings swing once all are struck, and the body's modes beside them: those that are struck later are behind.

    What pushes a string pushes the bridge as well, by as much as is not in the string's own partial: near partial n
    sin(k (L - x))/sin(k L) is its pole and (1 - x/L) cos(n pi x/L). A push starts a string a quarter of a period later.
    """
    begun, first = np.zeros((2, size)), min(own.onset for own, _ in rows)
    shapes = np.array([pole.mode.shape for pole in close])
    for i, (own, plane) in enumerate(rows):
        late, string = w * (own.onset - first), own.string
        strong = seen_from(own.strung.struck, plane.angle) * own.force
        swings = strong * own.strokes[n - 1] / sqrt(string.density * string.length)
        begun[0, i], begun[1, i] = swings * cos(late), -swings * sin(late)
        if close:
            pushed = product(pull[i], shapes.T) * (strong * own.pushes[n - 1] / sqrt(string.tension / string.length))
            begun[0, len(rows) :][: len(close)] += sin(late) * pushed
            begun[1, len(rows) :][: len(close)] += cos(late) * pushed
    return begun


def _loss(string: String, plane: Plane, n: int) -> float:
    return float(plane.loss_of(string).rate(n * pi / string.length))


def _pull(own: Sounding, plane: Plane, body: Body) -> list[float]:
    by = own.strung.weight * sqrt(own.string.tension / own.string.length)
    return [by * seen_from(d, plane.angle) for d in body.directions]


class Pole:
    """A body's mode as two poles, s/(M (s^2 + s w/Q + w^2)) = r/(s - p) + r*/(s - p*)."""

    def __init__(self, mode: Resonance) -> None:
        self.mode = mode
        own = 2.0 * pi * mode.frequency
        self.lost = 0.5 * own / mode.quality
        self.swings = sqrt(own * own - self.lost * self.lost)
        self.residue = 0.5 / mode.mass, 0.5 * self.lost / self.swings / mode.mass

    def mobility(self, w: float) -> tuple[float, float]:
        """At s = jw, s/kg: real and imaginary part."""
        own = 2.0 * pi * self.mode.frequency
        away, lost = own * own - w * w, w * (own / self.mode.quality)
        scale = w / (self.mode.mass * (away * away + lost * lost))
        return scale * lost, scale * away

    def counterpart(self, w: float) -> tuple[float, float]:
        """r*/(s - p*) at s = jw: real and imaginary part."""
        far, (real, imaginary) = w + self.swings, self.residue
        size = far * far + self.lost * self.lost
        return (real * self.lost - imaginary * far) / size, -(real * far + imaginary * self.lost) / size


def _mobility(body: Body, poles: Sequence[Pole], close: Sequence[Pole], w: float) -> tuple[Array, Array]:
    """Real and imaginary part of how a force in each of a body's directions moves it in each, and of what is then heard
    in each channel, s/kg; of modes close by their counterparts.
    """
    if not poles:
        none = np.zeros((len(body.directions) + body.channels, len(body.directions)))
        return none, none
    there = np.array([pole.counterpart(w) if pole in close else pole.mobility(w) for pole in poles])
    shape = np.array([pole.mode.shape for pole in poles])
    moved = np.array([(*pole.mode.shape, *pole.mode.heard) for pole in poles]).T
    return product(moved, there[:, :1] * shape), product(moved, there[:, 1:] * shape)
