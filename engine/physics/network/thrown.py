"""How strongly a hammer pushes at each of a string's first partials: thrown at it on a frame, before it is played.

It is the note's own beginning, with the steps, the modes and the law of contact that the network has: a short string
under a hammer that stays for some of its periods swings otherwise at 48 kHz than it would in steps without end.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np

from engine import elementwise
from engine.compiled import DOUBLE, MATRIX, VECTOR, WORD, called_with
from engine.physics import contact
from engine.physics.designing import BAND
from engine.physics.linear import total
from engine.physics.network.meetings import FORMS
from engine.physics.network.settling import GRAIN, SLACK
from engine.physics.problem import Contact
from engine.physics.string import String

LASTING = 12e-3  # s: most hammers have left by then
MOST = 64  # modes that the hammer feels
HIGHEST = 0.45  # of the rate


def thrown(string: String, at: float, mass: float, speed: float, felt: Contact, count: int, rate: float) -> list[float]:
    """What the first `count` partials have of the force, N s, in steps of a rate; `at` is a share of the length."""
    w = string.undamped_frequency(string.wavenumbers(MOST)) / rate
    inside = np.maximum(w, w[0]) <= max(2.0 * pi * min(BAND / rate, HIGHEST), float(w[0]))
    w, there = w[inside], elementwise.sin(pi * at * np.arange(1, MOST + 1))[inside]
    half = elementwise.cos(0.5 * w)
    moved = (
        there * half * half / (0.5 * string.density * string.length * rate * rate)
    )  # as the scheme has it (modes.py)
    stopped = 1.0 / (mass * rate * rate)
    power = 0.5 * (felt.exponent - 1.0)
    slope = np.array([0.5 * sqrt(felt.stiffness * (power + 1.0))])
    form, drag = FORMS.get(power, contact.GENERAL), 0.5 * felt.damping * rate
    force = np.zeros(round(LASTING * rate))
    throw(2.0 * elementwise.cos(w), there, moved, stopped, stopped + total(there * moved), abs(speed) / rate,
          slope, power, form, drag, np.zeros((2, w.size)), force)  # fmt: skip
    found = [_share(force, angle) / rate for angle in w[:count].tolist()]
    return [*found, *[0.0] * (count - len(found))]


def _share(force: Any, angle: float) -> float:
    turning = angle * np.arange(force.size)
    a, b = total(force * elementwise.cos(turning)), total(force * elementwise.sin(turning))
    return sqrt(a * a + b * b)


@called_with(VECTOR, VECTOR, VECTOR, DOUBLE, DOUBLE, DOUBLE, VECTOR, DOUBLE, WORD, DOUBLE, MATRIX, VECTOR)
def throw(
    swings: Any, there: Any, moved: Any, stopped: Any, give: Any, way: Any, slope: Any, power: Any, form: Any,
    drag: Any, modes: Any, force: Any,
) -> None:  # fmt: skip
    """A hammer that goes `way` in each step, from touching on: its force in each."""
    law = contact.Law(slope, power, form, 2.0 / (power + 1.0), drag, 0.0, 0.5, 1.0, 4.0, GRAIN, SLACK, contact.SHIPPED)
    now, before = modes[0], modes[1]
    x, last, u, earlier, psi = 0.0, -way, 0.0, 0.0, 0.0
    for t in range(force.size):
        free = 0.0
        for m in range(now.size):
            y = swings[m] * now[m] - before[m]
            before[m], now[m] = now[m], y
            free += there[m] * y
        push = 2.0 * (x - last) - (free - earlier)
        force[t], psi, _ = contact.met(law, slope[0], x - u, last - earlier, push, psi, give)
        x, last = 2.0 * x - last - stopped * force[t], x
        u, earlier = free + (give - stopped) * force[t], u
        if force[t] != 0.0:
            for m in range(now.size):
                now[m] += moved[m] * force[t]
