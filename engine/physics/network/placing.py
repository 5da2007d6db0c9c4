"""Ports of a string as points, by compiled code: what meetings.py makes of them, operation by operation.

What a barrier is, a bench says (designing.py), one for each port that is one. All else is in its `PortRecipe`.
"""

from __future__ import annotations

from math import inf, pi
from typing import Any

import numpy as np

from engine.compiled import native
from engine.elementary import cos
from engine.layout import record
from engine.opened import at
from engine.physics import barrier, contact
from engine.physics.designing import NOTHING, POINTS, Bench, bench_at, compliance, level_at
from engine.physics.network.meetings import NOTHING as NO_LAW
from engine.physics.network.memory import NOBODY, THERE, WAITING, Contacts, Strand
from engine.physics.network.parts import ACROSS
from engine.physics.pressed import total

BARRIER, FINGER, HAMMER, HUNG = range(4)
HERE, SHARED, STRUCK = range(3)  # where it is: m, a share of the length, or where the string is struck

LAWLESS = NO_LAW.stiffness, NO_LAW.exponent, NO_LAW.damping  # of what is no obstacle


@record
class PortRecipe:
    """Something that touches a string, in SI units (parts.py)."""

    kind: int  # BARRIER | FINGER | HAMMER | HUNG
    where: int  # HERE | SHARED | STRUCK
    place: float
    angle: float
    on_bridge: int
    ground: int  # of a barrier: where its bench is, bytes from the loom
    plan: int  # and what belongs to that (synth/keyed.py)
    shortened: int  # 1: it is left out beyond the string's end
    friction: float
    stiffness: float  # of a law, or a spring
    exponent: float
    damping: float
    resistance: float
    mass: float
    by: float  # its way
    start: float
    duration: float
    end: float
    slip: float
    hammer: int  # of the string's own, THROWN or what lies loose on it, or NOBODY
    staying: int  # 1: it comes, goes and moves not at all


port_at = at(PortRecipe)


@record
class PointCount:
    """How many points of each kind there are, in the order in which they lie."""

    obstacles: int
    rubs: int
    links: int
    obstacle: int  # the next of each
    rub: int
    link: int
    loose: int  # what lies loose so far


@native
def seen_from(angle: Any, other: Any) -> Any:
    """parts.seen_from."""
    cosine = cos(angle - other)
    return 0.0 if abs(cosine) < ACROSS else cosine


@native
def place_of(r: PortRecipe, length: Any, strike: Any) -> Any:
    """Where on the string, m."""
    if r.where == HERE:
        return r.place
    return (r.place if r.where == SHARED else strike) * length


@native
def is_there(r: PortRecipe, length: Any, strike: Any) -> Any:
    """Whether the string reaches so far."""
    return r.shortened == 0 or place_of(r, length, strike) < length


@native
def cells(g: Bench) -> Any:
    """How many points a barrier has (barrier.cell_points), in g.points."""
    if g.surface == NOTHING:
        g.points = 0
    elif g.asked > 0 or g.surface == POINTS:
        g.points = g.asked
    else:
        wanted = g.bulge - barrier.ROUNDING
        count = int(wanted)
        if count < wanted:
            count += 1
        g.points = min(max(1, count), barrier.MOST)
    return g.points


@native
def count(t: PointCount, r: PortRecipe, g: Any, length: Any, strike: Any) -> None:
    """Add a port's points; the bench g is of what is a barrier."""
    if not is_there(r, length, strike):
        return
    if r.kind == BARRIER:
        many = cells(bench_at(g))
        t.obstacles += many
        t.rubs += many if r.friction > 0.0 else 0
    elif r.kind == HUNG:
        t.links += 1
    else:
        t.obstacles += 1
        t.links += 1 if r.kind == FINGER and r.damping > 0.0 else 0


@native
def put(p: Contacts, k: Any, place: Any, r: PortRecipe, by: Any, rate: Any) -> None:
    """A point as all are that go a port's way, or stay."""
    p.at[k], p.partner[k], p.hammer[k] = place, NOBODY, NOBODY
    p.by[k], p.begin[k], p.span[k], p.end[k] = by, r.start * rate, r.duration * rate, r.end * rate
    p.slip[k] = inf
    p.state[k] = WAITING if r.start > 0.0 else THERE
    p.grip[k] = 0.0 if r.duration > 0.0 or r.start > 0.0 else 1.0
    obey(p, k, *LAWLESS, rate)


@native
def obey(p: Contacts, k: Any, stiffness: Any, exponent: Any, damping: Any, rate: Any) -> None:
    """The law of a point; p.slope is its stiffness as yet."""
    power = 0.5 * (exponent - 1.0)
    p.slope[k], p.power[k], p.secant[k], p.drag[k] = stiffness, power, 2.0 / (power + 1.0), 0.5 * damping * rate
    p.form[k] = contact.GENERAL
    if power == 0.0:
        p.form[k] = contact.LINEAR
    elif power == 0.25:
        p.form[k] = contact.QUARTER
    elif power == 0.5:
        p.form[k] = contact.HALF


@native
def stand(p: Contacts, k: Any, low: Any) -> None:
    """Where its counterpart begins."""
    p.low[k] = p.next[k] = p.level[k] = p.last[k] = low


@native
def put_barrier(s: Strand, t: PointCount, r: PortRecipe, g: Bench, angles: Any, bases: Any, rate: Any) -> None:
    """The points of a barrier, and of what rubs there."""
    p, base = s.points, 0.0 if r.on_bridge else 1.0
    width = (g.stop - g.begin) / g.points if g.points and g.surface != POINTS else 1.0
    for n in range(g.points):
        k = t.obstacle
        place = g.numbers[n] if g.surface == POINTS else g.begin + (n + 0.5) * width
        put(p, k, place, r, r.by, rate)
        obey(p, k, g.hard if g.surface == POINTS else g.hard * width, g.exponent, g.damping, rate)
        stand(p, k, level_at(g, place, n))
        angles[k], bases[k] = r.angle, base
        t.obstacle += 1
        if r.friction > 0.0:
            rub = t.rub
            p.at[rub], p.partner[rub], p.hammer[rub] = place, k, NOBODY
            p.end[rub] = p.slip[rub] = inf
            p.state[rub], p.grip[rub], p.limit[rub] = THERE, 1.0, r.friction
            obey(p, rub, *LAWLESS, rate)
            angles[rub], bases[rub] = r.angle + 0.5 * pi, base
            t.rub += 1


@native
def put_link(p: Contacts, k: Any, r: PortRecipe, stiffness: Any, resistance: Any, mass: Any, rate: Any) -> None:
    """What hangs there."""
    p.root[k] = 0.5 * np.sqrt(stiffness)
    p.resist[k], p.heft[k] = 0.5 * resistance * rate, mass * rate * rate


@native
def put_port(
    s: Strand, t: PointCount, r: PortRecipe, g: Any, angles: Any, bases: Any, length: Any, strike: Any, rate: Any
) -> None:
    """A port's points where they lie."""
    if not is_there(r, length, strike):
        return
    p, place = s.points, place_of(r, length, strike)
    if r.kind == BARRIER:
        put_barrier(s, t, r, bench_at(g), angles, bases, rate)
        return
    k = t.link if r.kind == HUNG else t.obstacle
    put(p, k, place, r, r.by, rate)
    angles[k], bases[k] = r.angle, 1.0
    if r.kind == HUNG:
        put_link(p, k, r, r.stiffness, r.resistance, r.mass, rate)
        t.link += 1
        return
    obey(p, k, r.stiffness, r.exponent, r.damping if r.kind == HAMMER else r.resistance, rate)
    t.obstacle += 1
    if r.kind == HAMMER:
        p.hammer[k], p.state[k] = r.hammer, WAITING
        if r.hammer > 0:
            t.loose += 1
            p.hammer[k] = t.loose
        return
    p.slip[k] = r.slip
    if r.damping > 0.0:
        link = t.link
        put(p, link, place, r, 0.0, rate)
        p.span[link], p.grip[link] = 0.0, 0.0 if r.start > 0.0 else 1.0
        put_link(p, link, r, 0.0, r.damping, 0.0, rate)
        angles[link], bases[link] = r.angle, 1.0
        p.partner[k] = link
        t.link += 1


# --- what the string itself gives -------------------------------------------------------------------------------------


@native
def give_way(s: Strand, b: Bench, angles: Any, facing: Any, tensions: Any, modes: Any) -> None:
    """Slopes of points' laws, with what the string gives where they are linear (yielding.stiffnesses)."""
    p = s.points
    for k in range(p.psi.size):
        if k < p.obstacles and p.power[k] == 0.0:
            whole, tension = 0.0, b.tension
            for n in range(s.now.size):
                share = seen_from(angles[k], facing[n])
                b.tension = tensions[n]
                whole += share * share * compliance(b, p.at[k], p.at[k])
            b.tension = tension
            for i in range(modes):
                b.scratch[i] = s.bank.rows[k, i] * s.bank.rows[k, i] / (8.0 * s.bank.spring[i])
            lacking = max(whole - total(b.scratch, modes, b.partials), 0.0)
            p.slope[k] /= 1.0 + p.slope[k] * lacking
        p.slope[k] = 0.5 * np.sqrt(p.slope[k] * (p.power[k] + 1.0))


@native
def outside(p: Contacts, length: Any) -> Any:
    """Whether any point is not on the string."""
    for k in range(p.at.size):  # noqa: SIM110  compiled code has no any()
        if not 0.0 < p.at[k] < length:
            return True
    return False


@native
def pressing(p: Contacts) -> Any:
    """Whether an obstacle presses on the string at rest."""
    for k in range(p.obstacles):  # noqa: SIM110
        if p.low[k] > 0.0:
            return True
    return False
