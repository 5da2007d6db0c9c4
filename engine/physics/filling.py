"""From a bench on which a string was designed (designing.py) into the arrays that kernels read, and what follows."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from engine.compiled import native
from engine.elementary import exp, power, sin
from engine.pairs import accumulate, combine
from engine.physics.designing import BODY_FORCE, Bench
from engine.physics.responses import answer_forces
from engine.physics.retune import HIGHEST
from engine.vectors import project


@native
def fill(b: Bench, c: Any, t: Any, shape: Any, wave: Any) -> None:
    """A string's coefficients, what they are made of again (retune.modal_tuning), and its shape where it is struck."""
    k = 1.0 / b.rate
    for i in range(b.room):
        there = i < b.modes
        n, decay = b.wave[i], b.decay[i]
        c.forward[i], c.backward[i], c.spread[i] = b.forward[i], b.backward[i], b.spread[i]
        c.spring[i], c.rest[i], wave[i] = b.stiff[i] / 8.0, b.rest[i], n
        t.bend[i] = b.stiffness * (n * n * (n * n)) / b.density if there else 4.0 * HIGHEST / (k * k)
        t.pull[i], t.decay[i] = n * n / b.density, decay
        t.shrink[i] = exp(-decay * k) if there else 0.0
        shape[i] = sin(b.strike * b.length * n) if there else 0.0
    for j in range(b.rank + b.pickups):
        for i in range(b.room):
            c.rows[j, i] = b.rows[j * b.room + i]
    c.inertia[0] = 0.5 * (0.5 * b.density * b.length) / (k * k)
    fill_points(b, c, t)
    answer_forces(c, b.scratch)


@native
def fill_points(b: Bench, c: Any, t: Any) -> None:
    """Of them what is known of contact."""
    count, ears, wide = b.points, b.pickups, b.points + b.pickups
    for k in range(c.height.size):
        c.height[k] = b.level[k] if k < count else -inf
    for k in range(count):
        for a in range(b.rank):
            c.mix[a, k] = c.shares[k, a] = b.mix[k * b.rank + a]
        for j in range(count):
            c.remainder[k, j] = t.remainder[k, j] = b.left[k * wide + j]
        for p in range(ears):
            c.direct[k, p] = t.direct[k, p] = b.left[k * wide + count + p]
        moved = 0.0
        for j in range(count):
            moved += b.pressed[j] * b.given[j * count + k]
        deep = max(b.level[k] - moved, 0.0)
        c.law.slope[k] = 0.5 * np.sqrt(b.firm[k] * (b.exponent + 1.0) / 2.0)
        c.rest_psi[k] = np.sqrt(2.0 * b.firm[k] / (b.exponent + 1.0)) * power(deep, (b.exponent + 1.0) / 2.0)
        c.rest_force[k] = b.pressed[k]
    body = 0
    for p in range(ears):
        if b.kinds[p] == BODY_FORCE:
            for k in range(count):
                c.share[body, k] = abs(b.ears[p] - b.place[k] / b.length)
            body += 1


@native
def give_at_rest(b: Bench, c: Any, out: Any) -> None:
    """What the kernel gives of it at rest (modal_string.resting)."""
    for p in range(b.pickups):
        rows = pressed = 0.0
        for i in range(b.room):
            rows += c.rows[b.rank + p, i] * c.rest[i]
        for k in range(b.points):
            pressed += c.rest_force[k] * c.direct[k, p]
        out[p] = rows + pressed
    for body in range(b.bodies):
        carried = 0.0
        for k in range(b.points):
            carried += c.share[body, k] * c.rest_force[k]
        out[b.pickups + body] = carried


@native
def gap(b: Bench, c: Any) -> Any:
    """How far its barrier may be raised before it presses on the string at rest, m (keys.gap)."""
    least, both, now = inf, b.along, b.square
    if b.points == 0:
        return least
    project(c.rows, c.rest, both[: b.rank + b.pickups])
    combine(c.mix, both, b.rank, now[: c.height.size])
    for k in range(b.points):
        b.which[k] = k
    accumulate(c.remainder, c.rest_force, b.which, b.points, now[: c.height.size])
    for k in range(b.points):
        least = min(least, now[k] - c.height[k])
    return max(0.0, least)
