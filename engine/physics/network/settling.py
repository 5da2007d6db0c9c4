"""One-sided points and friction of one string: forces on what its links hold, each after the other.

A bridge is shared: what the strings before have pushed at it is one running sum. The order of strings and points turns
round with every step; all answers being symmetric, energy is exact for any order (physics/README.md, many points).
Here the points of one string are taken one by one. A solver of all of them at once would take the place of `settle`.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from engine.compiled import inlined, native
from engine.joined import blended, cleared, reached
from engine.physics import contact
from engine.physics.network.memory import NOBODY, Bridge, Contacts, Strand

GRAIN = 1e4 * np.finfo(np.float64).eps  # share of psi below which what a release leaves is rounding
SLACK = 16.0 * sqrt(np.finfo(np.float64).eps)  # the same of what a search for gradients leaves


@native
def settle(s: Strand, b: Bridge, forward: Any) -> None:
    """Forces of all obstacles, then of all rubs; `b.swept` and `b.hit` know what they do to others."""
    p, f = s.points, s.fold
    blended(f.held, f.lean, b.surge, -1.0, p.open)  # where all points would be without forces of obstacles and rubs
    cleared(p.force)
    near = reached(p.level, p.now, p.next, p.open, p.psi, p.state, p.obstacles, p.near)
    for j in range(near):
        press(s, b, p.near[j if forward else near - 1 - j])
    for j in range(p.rubs if near else 0):
        k = p.obstacles + (j if forward else p.rubs - 1 - j)
        limit = p.limit[k] * p.force[p.partner[k]]
        if limit > 0.0:
            rub(s, b, k, limit)


@native
def press(s: Strand, b: Bridge, k: Any) -> None:
    """One obstacle: the shipped law of contact, on the folded answer."""
    p, f = s.points, s.fold
    eta = p.level[k] - p.now[k]
    push = (p.next[k] - p.last[k]) - (p.open[k] - p.before[k]) - earlier(s, b, k)
    answer = f.answer[k, k] + shared(s, b, k, k)
    if p.hammer[k] != NOBODY:
        push -= 2.0 * b.mobility[p.hammer[k]] * b.hit[p.hammer[k]]
        answer += b.mobility[p.hammer[k]]
    force, psi, lost = contact.met(law_of(p, k), p.slope[k], eta, p.last[k] - p.before[k], push, p.psi[k], answer)
    p.psi[k] = psi
    p.lost[0] += lost
    p.force[k] = force
    tell(s, b, k, force)
    if p.hammer[k] != NOBODY:
        b.hit[p.hammer[k]] += force
    else:
        p.lost[1] += 0.5 * force * (p.next[k] - p.last[k])


@inlined
def law_of(p: Contacts, k: Any) -> Any:
    """An obstacle's law of contact."""
    return contact.Law(
        p.slope, p.power[k], p.form[k], p.secant[k], p.drag[k], 0.0, 0.5, 1.0, 4.0, GRAIN, SLACK, contact.SHIPPED
    )


@inlined
def rub(s: Strand, b: Bridge, k: Any, limit: Any) -> None:
    """Dry friction: what would hold the point for the step, or as much of it as there can be."""
    p, f = s.points, s.fold
    push = p.before[k] - p.open[k] - earlier(s, b, k)
    answer = f.answer[k, k] + shared(s, b, k, k)
    force = min(max(push / answer, -limit), limit)
    p.lost[0] += 0.5 * force * (push - answer * force)
    p.force[k] = force
    tell(s, b, k, force)


@inlined
def earlier(s: Strand, b: Bridge, k: Any) -> Any:
    """Twice what the points before have done to this one: those of the string, and all others by the bridge."""
    p, f = s.points, s.fold
    moved = 0.0
    for j in range(p.obstacles + p.rubs):
        if p.force[j] != 0.0 and j != k:
            moved += f.answer[j, k] * p.force[j]
    for d in range(b.swept.size):
        moved += f.lean[d, k] * b.swept[d]
    return moved + moved


@inlined
def tell(s: Strand, b: Bridge, k: Any, force: Any) -> None:
    """Let the strings and points to come know of a force."""
    if force != 0.0:
        for d in range(b.swept.size):
            b.pull[d] -= s.fold.lean[d, k] * force
            for c in range(b.swept.size):
                b.swept[d] += b.answer[d, c] * s.fold.lean[c, k] * force


@inlined
def shared(s: Strand, b: Bridge, k: Any, j: Any) -> Any:
    """What the bridge alone adds to a point's answer to another."""
    total = 0.0
    for d in range(b.swept.size):
        for c in range(b.swept.size):
            total += s.fold.lean[d, k] * b.answer[d, c] * s.fold.lean[c, j]
    return total
