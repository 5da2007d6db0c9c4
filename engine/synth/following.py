"""How partials go on in what is heard of a note: what its pitch is told by (physics/pitch.py).

Hop by hop each is seen through whole periods under Hann's window, so that other partials lie on zeros of its spectrum;
what it turns from hop to hop is taken off. Of these hops the longer looks are made that see it by itself.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from engine.compiled import CUBE, MATRIX, VECTOR, WORD, called_with, native
from engine.elementary import cos, sin
from engine.physics.network import beating
from engine.physics.pitch import APART, FROM, LOOK, angle, departure, places
from engine.physics.string import Array

HOP = 5e-3  # s from one hop to the next
MOST = 0.06  # a semitone, beyond which it is no bend


def periods(pitch: float) -> int:
    """From one hop to the next; a hop sees twice as many."""
    return max(2, round(HOP * pitch))


def departures(
    out: Array, columns: slice, rate: float, pitch: float, inharmonicity: float, touched: bool
) -> tuple[list[float], list[float]]:
    """By how much each partial of a note is above its place, and its power; none of one that is nowhere near.

    All `columns` are heard together, one louder than the other or not.
    """
    at, first = places(pitch, inharmonicity), int(FROM * rate)
    apart = round(periods(pitch) * rate / pitch)
    hops = (len(out) - first) // apart - 1
    span, on = (max(1, round(seconds * rate / apart)) for seconds in (LOOK, APART))
    if hops < span + on:
        return [], []
    near, turned = 2.0 * pi * np.array(at) / rate, np.zeros((len(at), beating.TURNED))
    heard = np.zeros((2, columns.stop - columns.start, hops))
    follow(out, columns.start, first, apart, near, beating.hann(span), on, heard, turned)
    off, power = list[float](), list[float]()
    for n, (place, rad, one) in enumerate(zip(at, near.tolist(), turned.tolist()), 1):
        by = angle(one[0], one[1]) + angle(one[2], one[3]) / on
        above = departure(place * (1.0 + by / (rad * apart)), n, place, pitch, touched)
        there = abs(above) <= MOST
        off.append(above if there else 0.0)
        power.append(one[4] if there else 0.0)
    return off, power


@called_with(MATRIX, WORD, WORD, WORD, VECTOR, VECTOR, WORD, CUBE, MATRIX)
def follow(
    out: Any,  # [step, column]
    column: Any,  # the first that is heard
    first: Any,  # step from which on it is
    apart: Any,  # steps from one hop to the next
    near: Any,  # [partial] about where it is, rad a step
    window: Any,  # of a look, in hops
    on: Any,  # hops from one look to the next
    heard: Any,  # [real and imaginary part, column, hop]
    turned: Any,  # out: [partial, beating.TURNED]
) -> None:
    """Of each partial, how it turns from hop to hop and from look to look, and its power."""
    for p in range(near.size):
        for n in range(heard.shape[2]):
            for k in range(heard.shape[1]):
                heard[0, k, n] = heard[1, k, n] = 0.0
        for n in range(heard.shape[2] + 1):
            see(out, column, first + n * apart, apart, near[p], near[p] * (n * apart), heard, n)
        beating.tell(heard, window, on, turned, p)


@native
def see(out: Any, column: Any, first: Any, steps: Any, by: Any, begun: Any, heard: Any, n: Any) -> None:
    """What lies between two hops, in all columns, turned back `by` so much a step from `begun` on: the last half of one
    hop and the first of the next, under Hann's window, 1 - cos in the first and 1 + cos in the last.
    """
    hop, hann = pi / steps, 0.5 * pi / steps
    on_c, on_s, wide_c, wide_s = cos(by), sin(by), cos(hop), sin(hop)
    for k in range(heard.shape[1]):
        c, s, rises, rest = cos(begun), sin(begun), cos(hann), sin(hann)
        along = across = more = less = 0.0
        still = out[0, column + k]
        for t in range(first, first + steps):
            x = out[t, column + k] - still
            a, b = x * c, x * s
            along, across, more, less = along + a, across - b, more + a * rises, less - b * rises
            c, s = c * on_c - s * on_s, c * on_s + s * on_c
            rises, rest = rises * wide_c - rest * wide_s, rises * wide_s + rest * wide_c
        if n > 0:
            heard[0, k, n - 1] += along + more
            heard[1, k, n - 1] += across + less
        if n < heard.shape[2]:
            heard[0, k, n] += along - more
            heard[1, k, n] += across - less
