"""The circuit behind pickups, at the model's rate: of a coil a low-pass that resonates, of a crystal a high-pass.

By the bilinear transform, exact at the circuit's edge: at any frequency f it is the circuit at the frequency
edge tan(pi f k)/tan(pi edge k). Each sample is made of those before it in one order of sums, so blocks decide nothing.
"""

from __future__ import annotations

from math import pi
from typing import Any, NamedTuple

import numpy as np

from engine.compiled import called_by_python
from engine.elementary import tan
from engine.layout import Matrix
from engine.synth.output import sound

EXACT = 0.45  # of the rate: an edge above it is met there


class Wiring(NamedTuple):
    """What the kernel reads: (b0 + b1/z + b2/z^2)/(1 + a1/z + a2/z^2)."""

    there: int  # 0: there is no circuit
    b0: float
    b1: float
    b2: float
    a1: float
    a2: float


class State(NamedTuple):
    """What it keeps of each side."""

    kept: Matrix  # [sides, 2]


def design(asked: Any, rate: float) -> Wiring:
    """Of a preset's circuit, or none, for what runs at `rate`."""
    if asked is None:
        return Wiring(0, 1.0, 0.0, 0.0, 0.0, 0.0)
    exact = min(asked.edge, EXACT * rate)
    t = tan(pi * exact / rate) * (asked.edge / exact)  # the edge, as the transform has it
    if not asked.resonates:
        return Wiring(1, 1.0 / (1.0 + t), -1.0 / (1.0 + t), 0.0, (t - 1.0) / (t + 1.0), 0.0)
    square, bend = t * t, t / asked.quality
    whole = 1.0 + bend + square
    low = square / whole
    return Wiring(1, low, 2.0 * low, low, 2.0 * (square - 1.0) / whole, (1.0 - bend + square) / whole)


def state(sides: int = 2) -> State:
    """Memory of silence."""
    return State(np.zeros((sides, 2)))


@called_by_python
def reset(s: State) -> None:
    """Back to silence."""
    for side in range(s.kept.shape[0]):
        s.kept[side, 0] = s.kept[side, 1] = 0.0


@called_by_python
def run(c: Wiring, s: State, x: Any) -> None:
    """Put x[n, sides] through it, in place."""
    if c.there == 0:
        return
    for side in range(x.shape[1]):
        one, two = s.kept[side, 0], s.kept[side, 1]
        for n in range(x.shape[0]):
            given = sound(x[n, side])
            made = c.b0 * given + one
            one = c.b1 * given - c.a1 * made + two
            two = c.b2 * given - c.a2 * made
            x[n, side] = made
        s.kept[side, 0], s.kept[side, 1] = one, two
