"""How modes near one frequency go on together, x' = A x, and how what is heard of them turns: the loop of unison.py."""

from __future__ import annotations

from functools import lru_cache
from math import pi, sqrt
from typing import Any

import numpy as np

from engine import elementwise
from engine.compiled import CUBE, DOUBLE, MATRIX, VECTOR, WORD, called_with, native
from engine.physics.string import Array

TERMS, SMALL = 9, 0.25  # of an exponential's series, and at what norm: what is left out is below 1e-12
FIRST, SECOND, THIRD = 0, 2, 4  # places of complex matrices in what there is to work in
ROOM = 6  # matrices
TURNED = 5  # numbers: along and across from hop to hop, the same from look to look, the power of all looks


@lru_cache(maxsize=64)
def hann(span: int) -> Array:
    """Hann's, of one look at so many hops."""
    return 0.5 - 0.5 * elementwise.cos((2.0 * pi / span) * (np.arange(span) + 0.5))


@called_with(CUBE, CUBE, CUBE, CUBE, CUBE, VECTOR, WORD, WORD, DOUBLE, CUBE, CUBE, MATRIX)
def listen(
    real: Any,  # A: [partial, mode, mode], 1/s
    imaginary: Any,
    begun: Any,  # [partial, real and imaginary part, mode]
    ears: Any,  # [partial, channel, mode]: what is heard of each mode
    ears_aside: Any,  # its imaginary part
    window: Any,  # of a look, in hops
    before: Any,  # hops until the first
    apart: Any,  # from one look to the next
    hop: Any,  # s
    work: Any,  # [ROOM, mode, mode]
    heard: Any,  # [real and imaginary part, channel, hop]
    turned: Any,  # out: [partial, TURNED]
) -> None:
    """Of each partial, how it turns."""
    for p in range(real.shape[0]):
        exponential(real, imaginary, p, hop, work)
        for n in range(before + heard.shape[2]):
            if n >= before:
                hear(ears, ears_aside, begun, p, n - before, heard)
            advance(work, begun, p)
        tell(heard, window, apart, turned, p)


@native
def exponential(real: Any, imaginary: Any, p: Any, hop: Any, work: Any) -> None:
    """exp(hop A) by its series, halved until that is short and squared as often; into the FIRST place, transposed."""
    n = real.shape[1]
    norm, scale, halved = 0.0, hop, 0
    for i in range(n):
        row = 0.0
        for j in range(n):
            row += abs(real[p, i, j]) + abs(imaginary[p, i, j])
        norm = max(norm, row * hop)
    while norm > SMALL and halved < 60:
        norm, scale, halved = 0.5 * norm, 0.5 * scale, halved + 1
    for i in range(n):
        for j in range(n):
            one = 1.0 if i == j else 0.0
            work[FIRST, i, j], work[FIRST + 1, i, j] = one, 0.0
            work[SECOND, j, i], work[SECOND + 1, j, i] = real[p, i, j] * scale, imaginary[p, i, j] * scale
    for k in range(TERMS, 0, -1):  # 1 + a (1 + a/2 (1 + a/3 ...))
        times(work, FIRST, SECOND, n)
        for i in range(n):
            for j in range(n):
                one = 1.0 if i == j else 0.0
                work[FIRST, i, j] = work[THIRD, i, j] / k + one
                work[FIRST + 1, i, j] = work[THIRD + 1, i, j] / k
    for _ in range(halved):
        times(work, FIRST, FIRST, n)
        for i in range(n):
            for j in range(n):
                work[FIRST, i, j], work[FIRST + 1, i, j] = work[THIRD, i, j], work[THIRD + 1, i, j]


@native
def times(work: Any, a: Any, b: Any, n: Any) -> None:
    """A product, into the THIRD place."""
    for i in range(n):
        for j in range(n):
            work[THIRD, i, j] = work[THIRD + 1, i, j] = 0.0
        for k in range(n):
            x, y = work[a, i, k], work[a + 1, i, k]
            for j in range(n):
                work[THIRD, i, j] += x * work[b, k, j] - y * work[b + 1, k, j]
                work[THIRD + 1, i, j] += x * work[b + 1, k, j] + y * work[b, k, j]


@native
def advance(work: Any, x: Any, p: Any) -> None:
    """A hop on."""
    n = x.shape[2]
    for i in range(n):
        work[SECOND, 0, i] = work[SECOND + 1, 0, i] = 0.0
    for k in range(n):
        a, b = x[p, 0, k], x[p, 1, k]
        for i in range(n):
            work[SECOND, 0, i] += work[FIRST, k, i] * a - work[FIRST + 1, k, i] * b
            work[SECOND + 1, 0, i] += work[FIRST, k, i] * b + work[FIRST + 1, k, i] * a
    for i in range(n):
        x[p, 0, i], x[p, 1, i] = work[SECOND, 0, i], work[SECOND + 1, 0, i]


@native
def hear(ears: Any, aside: Any, x: Any, p: Any, n: Any, heard: Any) -> None:
    """In each channel, at hop n."""
    for c in range(ears.shape[1]):
        a, b = 0.0, 0.0
        for k in range(ears.shape[2]):
            a += ears[p, c, k] * x[p, 0, k] - aside[p, c, k] * x[p, 1, k]
            b += ears[p, c, k] * x[p, 1, k] + aside[p, c, k] * x[p, 0, k]
        heard[0, c, n], heard[1, c, n] = a, b


@native
def tell(heard: Any, window: Any, apart: Any, turned: Any, p: Any) -> None:
    """How partial p turns; what it has turned from hop to hop is taken off before it is looked at."""
    along, across = turn(heard, 1, heard.shape[2] - 1)
    turned[p, 0], turned[p, 1] = along, across
    size = sqrt(along * along + across * across)
    hold(heard, along / size if size > 0.0 else 1.0, -across / size if size > 0.0 else 0.0)
    turned[p, 4] = look(heard, window, apart)
    turned[p, 2], turned[p, 3] = turn(heard, apart, heard.shape[2] - window.size - apart + 1)


@native
def turn(heard: Any, apart: Any, until: Any) -> Any:
    """sum conj(z_n) z_n+1 of what lies so far apart, in all channels."""
    along, across = 0.0, 0.0
    for c in range(heard.shape[1]):
        for n in range(0, until, apart):
            a, b, x, y = heard[0, c, n], heard[1, c, n], heard[0, c, n + apart], heard[1, c, n + apart]
            along += a * x + b * y
            across += a * y - b * x
    return along, across


@native
def hold(heard: Any, on: Any, aside: Any) -> None:
    """Turn each hop back, by so much more than the one before."""
    c, s = 1.0, 0.0
    for n in range(heard.shape[2]):
        for channel in range(heard.shape[1]):
            a, b = heard[0, channel, n], heard[1, channel, n]
            heard[0, channel, n], heard[1, channel, n] = a * c - b * s, a * s + b * c
        c, s = c * on - s * aside, c * aside + s * on


@native
def look(heard: Any, window: Any, apart: Any) -> Any:
    """The power of all looks; each look lies in the place of the first hop that it sees."""
    power = 0.0
    for c in range(heard.shape[1]):
        for n in range(0, heard.shape[2] - window.size + 1, apart):
            a, b = 0.0, 0.0
            for k in range(window.size):
                a += window[k] * heard[0, c, n + k]
                b += window[k] * heard[1, c, n + k]
            heard[0, c, n], heard[1, c, n] = a, b
            power += a * a + b * b
    return power
