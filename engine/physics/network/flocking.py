"""Strings that always sound, sympathetic ones above all, side by side in lanes: one pass over them is two steps."""

from __future__ import annotations

from typing import Any

from engine.compiled import inlined, native
from engine.joined import blended, cleared, kept
from engine.lanes import LANES, advance_lanes, answer_lanes, bent, reached_lanes
from engine.pairs import shift
from engine.physics import contact
from engine.physics.network.memory import Bridge, Flock
from engine.physics.network.settling import GRAIN, SLACK
from engine.vectors import project


@native
def predict(h: Flock, b: Bridge, odd: Any, square: Any) -> None:
    """All strings' steps without obstacles, over a bridge that goes on as it does."""
    last = h.rows.shape[0] - 1
    if odd:
        answer_lanes(h.both[1], h.ahead, h.pend[0], 0 if h.touched[0] else last, h.free)
    else:
        first = 0 if h.touched[0] or h.touched[1] else last
        advance_lanes(h.forward, h.backward, h.rows, h.pend, h.reach, h.even, h.odd, h.both, first)
        kept(h.both[0], h.free)
    ends = last * LANES
    bent(h.free[ends:], h.now[ends:], h.before[ends:], square, h.drawn)
    project(h.weight, h.drawn, h.pulled)
    for d in range(b.now.size):
        b.pull[d] -= h.pulled[d]
        for c in range(b.now.size):
            b.pull[d] -= h.tension[d, c] * b.now[c]


@native
def settle(h: Flock, b: Bridge, odd: Any) -> None:
    """Forces of all points of all strings, each after the other."""
    points = h.rows.shape[0] - 1
    cleared(h.pend[odd])
    h.touched[odd] = 0
    blended(h.free, h.carried, b.ahead, 1.0, h.open)
    blended(h.open, h.lean, b.surge, -1.0, h.open)
    near = reached_lanes(h.level, h.now, h.open, h.psi)
    if near:
        for n in range(h.strings):
            s = h.strings - 1 - n if odd else n
            for j in range(points):
                k = points - 1 - j if odd else j
                if (near >> (k * LANES + s)) & 1:
                    press(h, b, odd, k, s)


@inlined
def press(h: Flock, b: Bridge, odd: Any, k: Any, s: Any) -> None:
    """One point, as settling.press has it: nothing is folded here, and nothing moves but strings and bridge."""
    at = k * LANES + s
    moved, answer = 0.0, h.response[k, k, s]
    for q in range(h.rows.shape[0] - 1):
        moved += h.response[q, k, s] * h.pend[odd, q, s]
    for d in range(b.swept.size):
        moved += h.lean[d, at] * b.swept[d]
        for c in range(b.swept.size):
            answer += h.lean[d, at] * b.answer[d, c] * h.lean[c, at]
    push = h.before[at] - h.open[at] - (moved + moved)
    eta, before = h.level[at] - h.now[at], h.level[at] - h.before[at]
    force, psi, lost = contact.met(shared_law(h), h.slope[at], eta, before, push, h.psi[at], answer)
    h.psi[at], h.pend[odd, k, s] = psi, force
    h.lost[0] += lost
    if force != 0.0:
        h.touched[odd] = 1
        for d in range(b.swept.size):
            b.pull[d] -= h.lean[d, at] * force
            for c in range(b.swept.size):
                b.swept[d] += b.answer[d, c] * h.lean[c, at] * force


@inlined
def shared_law(h: Flock) -> Any:
    """The law of contact of all their points."""
    return contact.Law(h.slope, h.power, h.form, h.secant, h.drag, 0.0, 0.5, 1.0, 4.0, GRAIN, SLACK, contact.SHIPPED)


@native
def finish(h: Flock, b: Bridge, odd: Any, square: Any) -> None:
    """Where all points and ends are now; the modes follow when they are next loaded."""
    last = h.rows.shape[0] - 1
    for d in range(b.now.size):
        h.pulled[d] = b.surge[d] * square
    blended(h.pend[odd, last], h.weight, h.pulled, -1.0, h.pend[odd, last])
    answer_lanes(h.free, h.response, h.pend[odd], 0 if h.touched[odd] else last, h.free)
    blended(h.free, h.carried, b.now, 1.0, h.free)
    shift(h.free, h.now, h.before)
