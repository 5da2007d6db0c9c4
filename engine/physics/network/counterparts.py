"""What the points of a string meet: where it is at each step, when it comes, when it goes, and hammers in flight."""

from __future__ import annotations

from typing import Any

from engine.compiled import inlined, native
from engine.physics.network.memory import GONE, NOBODY, THERE, WAITING, Bridge, Contacts, Strand


@native
def lead(s: Strand, b: Bridge, t: Any) -> None:
    """Have the counterparts of all points where they are in step t."""
    p = s.points
    for k in range(p.psi.size):
        if p.hammer[k] != NOBODY:
            h = p.hammer[k]
            p.state[k] = b.flying[h]
            p.last[k], p.level[k], p.next[k] = b.last[h], b.level[h], b.next[h]
            continue
        if p.state[k] == WAITING and t >= p.begin[k]:
            come(s, k, t)
        if p.state[k] == THERE and t >= p.end[k]:
            leave(s, k)
        p.last[k], p.level[k] = p.level[k], p.next[k]
        p.next[k] = course(p, k, t + 1.0)
        if p.resist[k] > 0.0 and p.state[k] == THERE:
            grip = way(p, k, t)
            if grip != p.grip[k]:
                p.grip[k], s.fold.stale[0] = grip, 1


@inlined
def way(p: Contacts, k: Any, t: Any) -> Any:
    """Share of its way that a counterpart has gone."""
    if t <= p.begin[k]:
        return 0.0 if p.span[k] > 0.0 or t < p.begin[k] else 1.0
    if t >= p.begin[k] + p.span[k]:
        return 1.0
    share = (t - p.begin[k]) / p.span[k]
    return share * share * (3.0 - 2.0 * share)


@inlined
def course(p: Contacts, k: Any, t: Any) -> Any:
    """Where it is then."""
    return p.low[k] + p.by[k] * way(p, k, t)


@native
def come(s: Strand, k: Any, t: Any) -> None:
    """A counterpart is there from now on, at rest; a mass comes with the speed of its point."""
    p = s.points
    step = p.now[k] - p.before[k]
    p.lost[1] += 0.5 * p.heft[k] * step * step
    p.state[k], p.level[k], p.next[k] = THERE, course(p, k, t), course(p, k, t)
    s.fold.stale[0] = 1


@native
def leave(s: Strand, k: Any) -> None:
    """A counterpart goes for good, and what it held with it."""
    p = s.points
    if p.state[k] == THERE:
        step = p.now[k] - p.before[k]
        p.lost[0] += 0.5 * p.psi[k] * p.psi[k] + 0.5 * p.heft[k] * step * step
    p.psi[k], p.state[k] = 0.0, GONE
    s.fold.stale[0] = 1


@native
def slip(s: Strand) -> None:
    """Fingers that hold no more let go, and take along what damped the string with them."""
    p = s.points
    for k in range(p.obstacles):
        if p.force[k] > p.slip[k]:
            leave(s, k)
            if p.partner[k] != NOBODY:
                leave(s, p.partner[k])


@native
def throw(b: Bridge, t: Any) -> None:
    """Let hammers fly whose time has come, and have all of them where they go if nothing hits them."""
    for h in range(b.flying.size):
        if b.flying[h] == WAITING and t >= b.begin[h]:
            b.flying[h], b.level[h], b.pace[h] = THERE, b.height[h], b.speed[h]
            b.work[0] += 0.5 * b.pace[h] * b.pace[h] / b.mobility[h]
        if b.flying[h] == THERE:
            b.last[h] = b.level[h] - b.pace[h]
            b.next[h] = b.level[h] + b.pace[h] + b.mobility[h] * b.weight[h]
            b.hit[h] = 0.0


@native
def fly(b: Bridge) -> None:
    """One step of all hammers, with what hit them."""
    for h in range(b.flying.size):
        if b.flying[h] == THERE:
            pace = b.pace[h] + b.mobility[h] * (b.weight[h] - b.hit[h])
            b.work[0] += 0.5 * b.weight[h] * (b.pace[h] + pace)
            b.level[h], b.pace[h] = b.level[h] + pace, pace
