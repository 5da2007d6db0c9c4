"""Linear ports folded into a string's answers: exactly, in any order, one scalar each.

A port of stiffness q that holds F = g - q u+ on a row l leaves a string whose points answer with less of everything:

    W' = W - q/(1 + q W_ll) W_l W_l',   e' = e - q/(1 + q W_ll) W_l e_l,   G' = G + q/(1 + q W_ll) e_l e_l'

with W the points' response, e their lean (how much less they move per second difference of the bridge's motion) and G
the string's load on the bridge. Left in the sweep instead, such a port would let psi drift and lasting contacts die.
A string's stretching is such a port on the row b^2 y, which is another in every step.
"""

from __future__ import annotations

from typing import Any

from engine.compiled import inlined, native
from engine.physics.network.memory import THERE, Strand
from engine.vectors import project


@native
def refold(s: Strand) -> None:
    """Fold all links, and the stretching as it is now, into the string's own answers."""
    f, count, directions = s.fold, s.points.psi.size, s.ends.load.shape[0]
    for k in range(count):
        for j in range(count):
            f.answer[k, j] = s.bank.response[k, j]
        for d in range(directions):
            f.lean[d, k] = s.ends.lean[d, k]
    for d in range(directions):
        for c in range(directions):
            f.load[d, c] = s.ends.load[d, c]
    if s.stretch.square.size:
        gain = s.stretch.sums[2]
        for k in range(count):
            share = gain * s.stretch.sway[k]
            for j in range(count):
                f.answer[k, j] -= share * s.stretch.sway[j]
            for d in range(directions):
                f.lean[d, k] -= share * s.stretch.lean[d]
        for d in range(directions):
            for c in range(directions):
                f.load[d, c] += gain * s.stretch.lean[d] * s.stretch.lean[c]
    for link in range(s.points.links):
        fold_link(s, count - s.points.links + link)
    f.stale[0] = 0


@inlined
def fold_link(s: Strand, at: Any) -> None:
    """Fold one link into what the ones before it have left."""
    f, count, directions = s.fold, s.points.psi.size, s.ends.load.shape[0]
    q = grasp(s, at)
    f.ease[at] = 1.0 / (1.0 + q * f.answer[at, at])
    for k in range(count):
        f.column[at, k] = f.answer[at, k]
    for d in range(directions):
        f.slant[at, d] = f.lean[d, at]
    if q > 0.0:
        gain = q * f.ease[at]
        for k in range(count):
            share = gain * f.column[at, k]
            for j in range(count):
                f.answer[k, j] -= share * f.column[at, j]
            for d in range(directions):
                f.lean[d, k] -= share * f.slant[at, d]
        for d in range(directions):
            for c in range(directions):
                f.load[d, c] += gain * f.slant[at, d] * f.slant[at, c]


@inlined
def grasp(s: Strand, at: Any) -> Any:
    """q of a link: the newtons that it takes to move it by a metre within the step."""
    p = s.points
    if p.state[at] != THERE:
        return 0.0
    return p.root[at] * p.root[at] + p.grip[at] * p.resist[at] + p.heft[at]


@inlined
def bound(s: Strand, at: Any, moved: Any) -> Any:
    """A link's force where its point has moved so far in two steps.

    F = 2 a psi + (a^2 + r) D - (m/k^2) (u+ - 2 u + u-), where D is how far its counterpart has gone beyond the point; a
    mass has none.
    """
    p = s.points
    if p.state[at] != THERE:
        return 0.0
    way = p.next[at] - p.last[at] - moved
    pulled = 2.0 * p.root[at] * p.psi[at] + (p.root[at] * p.root[at] + p.grip[at] * p.resist[at]) * way
    return pulled + p.heft[at] * (2.0 * (p.now[at] - p.before[at]) - moved)


@native
def hold(s: Strand, pull: Any) -> None:
    """The points as the links alone would hold them, and what that pulls at the bridge."""
    f, p, count, directions = s.fold, s.points, s.points.psi.size, pull.size
    for link in range(p.links):
        at = count - p.links + link
        if p.state[at] != THERE:
            continue
        f.base[at] = f.held[at]
        force = bound(s, at, f.held[at] - p.before[at]) * f.ease[at]
        for k in range(count):
            f.held[k] += f.column[at, k] * force
        for d in range(directions):
            pull[d] -= f.slant[at, d] * force


@native
def settle_links(s: Strand, surge: Any) -> None:
    """The links' own forces, and their springs' and dashpots' accounts: the last one first.

    Each follows from where its point would be without it, as when it was folded, and from what has pushed there since.
    From where its point is, a stiff link's force would be a difference of large numbers.
    """
    f, p, count = s.fold, s.points, s.points.psi.size
    for link in range(p.links):
        at = count - 1 - link
        p.force[at] = 0.0
        if p.state[at] != THERE:
            continue
        u = f.base[at]
        for d in range(surge.size):
            u -= f.slant[at, d] * surge[d]
        for k in range(count):
            if k < count - p.links or k > at:
                u += f.column[at, k] * p.force[k]
        force = bound(s, at, u - p.before[at]) * f.ease[at]
        moved = u + f.column[at, at] * force - p.before[at]
        led = p.next[at] - p.last[at]
        inertia = p.heft[at] * (2.0 * (p.now[at] - p.before[at]) - moved)
        p.force[at] = force
        p.psi[at] += p.root[at] * (led - moved)
        p.lost[0] += 0.5 * p.grip[at] * p.resist[at] * (led - moved) * (led - moved)
        p.lost[1] += 0.5 * (force - inertia) * led


@native
def stretch(s: Strand, now: Any, after: Any, pull: Any, square: Any) -> None:
    """Fold what the string's own length does to it: F = -kc (s+ + s-) on the row w = b^2 y, with s = w.y.

    That is Kirchhoff and Carrier's tension with an energy of kc s+^2 / 2; `after` is y+ as yet without any force.
    """
    t, bank, f, count = s.stretch, s.bank, s.fold, s.points.psi.size
    for i in range(now.size):
        t.shape[0, i] = t.square[i] * now[i]
        t.moved[0, i] = bank.spread[i] * t.shape[0, i]
    project(t.shape, after, t.sums[0:1])
    project(t.shape, t.moved[0], t.sums[1:2])
    project(bank.rows, t.moved[0], t.sway)
    gain = t.gain / (1.0 + t.gain * t.sums[1])
    t.sums[2] = gain
    t.sums[3] = -gain * (t.sums[0] + t.length[0])
    for d in range(pull.size):
        t.lean[d] = 0.0
        for j in range(s.now.size):
            t.lean[d] += s.ends.weight[j, d] * t.sway[count + j] * square
    for k in range(count):
        f.held[k] += t.sway[k] * t.sums[3]
    for d in range(pull.size):
        pull[d] -= t.lean[d] * t.sums[3]
    f.stale[0] = 1


@native
def tighten(s: Strand, after: Any) -> None:
    """What the stretching does once all other forces are known."""
    t, p = s.stretch, s.points
    others = 0.0
    for k in range(p.force.size):
        others += t.sway[k] * p.force[k]
    force = t.sums[3] - t.sums[2] * others
    t.length[0] = t.sums[0] + t.sums[1] * force + others
    for row in range(t.sway.size):
        s.bank.free[row] += t.sway[row] * force
    for i in range(after.size):
        after[i] += t.moved[0, i] * force
