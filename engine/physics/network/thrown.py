"""What a hammer leaves in a string's first partials: thrown at it on a frame, before any of it is played.

Modes swing exactly from step to step; the felt's force is that at the end of a step, d + c K d^a = d*, d* being how
deep the hammer would be without it and c how far a newton drives both apart. So it is stable, however hard the felt.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from engine import elementwise
from engine.compiled import DOUBLE, VECTOR, WORD, called_with
from engine.elementary import power
from engine.physics.linear import total
from engine.physics.problem import Contact
from engine.physics.string import Array, String

STEP, LASTING = 1.0 / 96_000.0, 12e-3  # s: most hammers have left by then
BAND, MOST = 20_000.0, 64  # Hz and count of modes that the hammer feels
ROUNDS = 8  # of Newton's method, which comes from one side


def left(string: String, at: float, mass: float, speed: float, felt: Contact, count: int) -> list[float]:
    """How far the first `count` partials swing, times their frequency, m/s; `at` is a share of the length."""
    b = string.wavenumbers(MOST)
    w = string.undamped_frequency(b)
    inside = np.maximum(w, w[0]) <= max(2.0 * pi * BAND, float(w[0]))
    w, there = w[inside], elementwise.sin(pi * at * np.arange(1, MOST + 1))[inside]
    swings = 2.0 * elementwise.cos(w * STEP)
    modal = 0.5 * string.density * string.length
    give = STEP * STEP * (1.0 / mass + total(there * there) / modal)
    now, before = np.zeros(w.size), np.zeros(w.size)
    throw(swings, there, STEP * STEP / modal, STEP * STEP / mass, give, abs(speed) * STEP,
          felt.stiffness, felt.exponent, round(LASTING / STEP), now, before)  # fmt: skip
    found = _amplitudes(now, before, swings) * w / elementwise.sin(w * STEP)
    return [*found[:count].tolist(), *[0.0] * (count - w.size)]


def _amplitudes(now: Array, before: Array, swings: Array) -> Array:
    """Times sin(w): y_n^2 - 2 cos(w) y_n y_n-1 + y_n-1^2 stays as it is while nothing pushes."""
    return np.sqrt(np.maximum(now * now - swings * now * before + before * before, 0.0))


@called_with(VECTOR, VECTOR, DOUBLE, DOUBLE, DOUBLE, DOUBLE, DOUBLE, DOUBLE, WORD, VECTOR, VECTOR)
def throw(
    swings: Any, there: Any, moved: Any, stopped: Any, give: Any, way: Any, stiffness: Any, exponent: Any, steps: Any,
    now: Any, before: Any,
) -> None:  # fmt: skip
    """So many steps, of a hammer that goes `way` in each, from touching; `now` and `before` become what is left."""
    x, last = 0.0, -way
    for _ in range(steps):
        u = 0.0
        for m in range(now.size):
            y = swings[m] * now[m] - before[m]
            before[m], now[m] = now[m], y
            u += there[m] * y
        x, last = 2.0 * x - last, x
        deep = x - u
        if deep > 0.0:
            d = deep
            for _ in range(ROUNDS):
                pushed = give * stiffness * power(d, exponent)
                d = max(d - (d + pushed - deep) / (1.0 + exponent * pushed / d), 1e-3 * d)
            force = (deep - d) / give
            x -= stopped * force
            for m in range(now.size):
                now[m] += moved * there[m] * force
