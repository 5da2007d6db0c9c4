"""Strings that always sound, sympathetic ones above all, side by side in lanes: a step is one pass over all of them."""

from __future__ import annotations

from typing import Any

from engine.compiled import inlined, native
from engine.lanes import LANES, advance_lanes
from engine.physics import contact
from engine.physics.network.memory import Bridge, Flock
from engine.physics.network.settling import GRAIN, SLACK


@native
def predict(h: Flock, b: Bridge, odd: Any, square: Any) -> None:
    """All strings' steps without obstacles, over a bridge that goes on as it does."""
    last = h.rows.shape[0] - 1
    now, after = h.even, h.odd
    if odd:
        now, after = after, now
    advance_lanes(h.forward, h.backward, h.spread, h.rows, h.pend, now, after, h.free, 0 if h.touched[0] else last)
    end, newest, before, tension = h.free[last], h.end_now, h.end_before, h.tension
    for d in range(b.now.size):
        total, weight = 0.0, h.weight[d]
        for s in range(LANES):
            total += weight[s] * ((end[s] - 2.0 * newest[s] + before[s]) * square)
        b.pull[d] -= total
        for c in range(b.now.size):
            other, z, total = h.weight[c], b.now[c], 0.0
            for s in range(LANES):
                total += weight[s] * tension[s] * other[s]
            b.pull[d] -= total * z
            b.load[d, c] += h.load[d, c]


@native
def settle(h: Flock, b: Bridge, forward: Any) -> None:
    """Forces of all points of all strings, each after the other."""
    points, near = h.level.shape[0], False
    for k in range(points):
        free, open_ = h.free[k], h.open[k]
        for s in range(LANES):
            open_[s] = free[s]
        for d in range(b.now.size):
            carried, lean, ahead, surge = h.carried[d, k], h.lean[d, k], b.ahead[d], b.surge[d]
            for s in range(LANES):
                open_[s] += carried[s] * ahead - lean[s] * surge
        level, now, psi = h.level[k], h.now[k], h.psi[k]
        for s in range(LANES):
            near |= (level[s] > now[s]) | (level[s] > open_[s]) | (psi[s] > 0.0)
    if h.touched[0]:
        for k in range(points):
            for s in range(LANES):
                h.pend[k, s] = 0.0
    h.touched[0] = 0
    if near:
        for n in range(h.strings):
            s = n if forward else h.strings - 1 - n
            for j in range(points):
                press(h, b, j if forward else points - 1 - j, s)


@inlined
def press(h: Flock, b: Bridge, k: Any, s: Any) -> None:
    """One point, as settling.press has it: nothing is folded here, and nothing moves but strings and bridge."""
    level, now, psi = h.level[k, s], h.now[k, s], h.psi[k, s]
    if not (level > now or level > h.open[k, s] or psi > 0.0):
        return
    moved, answer = 0.0, h.response[k, k, s]
    for q in range(h.level.shape[0]):
        if h.pend[q, s] != 0.0:
            moved += h.response[q, k, s] * h.pend[q, s]
    for d in range(b.swept.size):
        moved += h.lean[d, k, s] * b.swept[d]
        for c in range(b.swept.size):
            answer += h.lean[d, k, s] * b.answer[d, c] * h.lean[c, k, s]
    push = h.before[k, s] - h.open[k, s] - (moved + moved)
    law = contact.Law(h.slope[k], h.power, h.form, h.secant, h.drag, 0.0, 0.5, 1.0, 4.0, GRAIN, SLACK, contact.SHIPPED)
    force, psi, lost = contact.respond(law, h.slope[k, s], level - now, level - h.before[k, s], push, psi, answer)
    h.psi[k, s], h.pend[k, s] = psi, force
    h.lost[0] += lost
    if force != 0.0:
        h.touched[0] = 1
        for d in range(b.swept.size):
            b.pull[d] -= h.lean[d, k, s] * force
            for c in range(b.swept.size):
                b.swept[d] += b.answer[d, c] * h.lean[c, k, s] * force


@native
def finish(h: Flock, b: Bridge, square: Any) -> None:
    """Where all points and ends are now; the modes follow when they are next loaded."""
    points = h.level.shape[0]
    end, free, pushed = h.pend[points], h.free[points], h.response[points, points]
    for s in range(LANES):
        end[s] = 0.0
    for d in range(b.now.size):
        weight, surge = h.weight[d], b.surge[d] * square
        for s in range(LANES):
            end[s] -= weight[s] * surge
    newest, before = h.end_now, h.end_before
    for s in range(LANES):
        before[s] = newest[s]
        newest[s] = free[s] + pushed[s] * end[s]
    for q in range(points if h.touched[0] else 0):
        force, response = h.pend[q], h.response[q, points]
        for s in range(LANES):
            newest[s] += response[s] * force[s]
    for k in range(points):
        place(h, b, k, end)


@inlined
def place(h: Flock, b: Bridge, k: Any, end: Any) -> None:
    """One point of all strings."""
    points = h.level.shape[0]
    now, before, free, response = h.now[k], h.before[k], h.free[k], h.response[points, k]
    for s in range(LANES):
        before[s] = now[s]
        now[s] = free[s] + response[s] * end[s]
    for q in range(points if h.touched[0] else 0):
        force, answer = h.pend[q], h.response[q, k]
        for s in range(LANES):
            now[s] += answer[s] * force[s]
    for d in range(b.now.size):
        carried, z = h.carried[d, k], b.now[d]
        for s in range(LANES):
            now[s] += carried[s] * z
