"""How hard a barrier presses a string at rest, in compiled code: contact.equilibrium, operation by operation.

It takes no memory: all of it is a `Press`, which whoever calls has laid out for as many points as there may be.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from engine.compiled import float_rows, native
from engine.elementary import power
from engine.layout import Integers, Vector, record
from engine.opened import address
from engine.physics.contact import MOST_PRESSED, PATIENCE
from engine.physics.linear import solve

PARTIALS = 64  # doubles that any sum of doubles is exactly: forty would do


@record
class Press:
    """Points that are pressed, a number each, and what the search for their forces needs."""

    height: Vector  # m
    hard: Vector  # N/m^exponent
    give: Vector  # [n, n] m/N
    force: Vector  # N: what is found
    step: Vector
    tried: Vector
    eta: Vector
    moved: Vector
    slope: Vector
    root: Vector
    slack: Vector
    matrix: Vector  # [n, n]
    right: Vector
    on: Integers
    terms: Vector
    partials: Vector


def sizes(points: int) -> dict[str, tuple[int]]:
    """Of its arrays, for so many points."""
    square = ("give", "matrix")
    one = ("height", "hard", "force", "step", "tried", "eta", "moved", "slope", "root", "slack", "right", "on", "terms")
    rows = {name: (max(points, 1),) for name in one}
    return rows | {name: (max(points, 1) ** 2,) for name in square} | {"partials": (PARTIALS,)}


@native
def total(terms: Any, count: Any, partials: Any) -> Any:
    """The sum of the first so many, exact but for one rounding: what math.fsum gives (Shewchuk 1997)."""
    kept = 0
    for n in range(count):
        x, at = terms[n], 0
        for p in range(kept):
            y = partials[p]
            if abs(x) < abs(y):
                x, y = y, x
            high = x + y
            low = y - (high - x)
            if low != 0.0:
                partials[at] = low
                at += 1
            x = high
        partials[at] = x
        kept = at + 1
    high = low = 0.0
    while kept > 0 and low == 0.0:
        kept -= 1
        x = high
        high = x + partials[kept]
        low = partials[kept] - (high - x)
    # Half of a unit in the last place is rounded by what comes after it.
    after = partials[kept - 1] if kept > 0 else 0.0
    if (low < 0.0 and after < 0.0) or (low > 0.0 and after > 0.0):
        y = low + low
        x = high + y
        if x - high == y:
            high = x
    return high


@native
def moved_by(p: Press, force: Any, count: Any) -> None:
    """p.moved: how far the points give way to forces."""
    for j in range(count):
        p.moved[j] = 0.0
    for k in range(count):
        for j in range(count):
            p.moved[j] += force[k] * p.give[k * count + j]


@native
def stored(p: Press, force: Any, count: Any, exponent: Any) -> Any:
    """The energy whose gradient the residual is, J."""
    moved_by(p, force, count)
    for k in range(count):
        eta = max(p.height[k] - p.moved[k], 0.0)
        p.terms[k] = 0.5 * force[k] * p.moved[k] + p.hard[k] * power(eta, exponent + 1.0) / (exponent + 1.0)
    return total(p.terms, count, p.partials)


@native
def newton(p: Press, count: Any) -> None:
    """p.step := (1 + G S)^-1 p.step, where springs of the stiffness p.slope move each other."""
    size = 0
    for k in range(count):
        p.slack[k] = p.step[k]
        if p.slope[k] > 0.0:
            p.slack[k] = 0.0
            p.on[size] = k
            size += 1
    moved_by(p, p.slack, count)
    matrix, right = float_rows(address(p.matrix), size, size), p.right[:size]
    for i in range(size):
        k = p.on[i]
        p.root[i] = np.sqrt(p.slope[k])
        right[i] = p.step[k] - p.slope[k] * p.moved[k]
    for i in range(size):
        for j in range(size):
            matrix[i, j] = p.give[p.on[i] * count + p.on[j]] * p.root[j] * p.root[i]
        matrix[i, i] += 1.0
        right[i] /= p.root[i]
    solve(matrix, right)
    for k in range(count):
        p.step[k] = p.slack[k]
    for i in range(size):
        p.step[p.on[i]] = p.root[i] * right[i]


@native
def spring(p: Press, count: Any, exponent: Any) -> Any:
    """p.step: by how much the springs' forces are off p.force; the most of it, and the largest forces of both."""
    moved_by(p, p.force, count)
    residual = given = pushed = 0.0
    for k in range(count):
        p.eta[k] = max(p.height[k] - p.moved[k], 0.0)
        push = p.hard[k] * power(p.eta[k], exponent)
        p.step[k] = push - p.force[k]
        residual = max(residual, abs(p.step[k]))
        given, pushed = max(given, abs(p.force[k])), max(pushed, abs(push))
    return residual, given + pushed


@native
def press(p: Press, count: Any, exponent: Any) -> None:
    """p.force, where all `count` points are above the rest line, by damped Newton."""
    idle, least = 0, inf
    for k in range(count):
        p.force[k] = 0.0
    for _ in range(2 * MOST_PRESSED):
        residual, scale = spring(p, count, exponent)
        if residual <= 1e-14 * scale:
            break
        for k in range(count):
            eta = p.eta[k]
            p.slope[k] = exponent * p.hard[k] * power(eta, exponent - 1.0) * (1.0 if eta > 0.0 else 0.0)
        newton(p, count)
        if not finite(p.step, count):
            break
        before, part = stored(p, p.force, count, exponent), 1.0
        after = tried(p, part, count, exponent)
        while after > before * (1.0 + 1e-12) and part > 1e-6:
            part *= 0.5
            after = tried(p, part, count, exponent)
        for k in range(count):
            p.force[k] = p.tried[k]
        fell = after < before * (1.0 - 1e-12) or residual < 0.5 * least
        idle = 0 if fell else idle + 1
        least = min(least, residual)
        if idle == PATIENCE:
            break


@native
def tried(p: Press, part: Any, count: Any, exponent: Any) -> Any:
    """The energy so much of a step further."""
    for k in range(count):
        p.tried[k] = p.force[k] + part * p.step[k]
    return stored(p, p.tried, count, exponent)


@native
def finite(x: Any, count: Any) -> Any:
    """Whether all of them are numbers, and none endless."""
    most = 0.0
    for k in range(count):
        most = most if abs(x[k]) < inf else inf
    return most < inf
