"""Where a network rests before anything sounds: over barriers that cross a rest line, held by springs."""

from __future__ import annotations

import numpy as np

from engine.errors import PhysicsError
from engine.physics import contact
from engine.physics.barrier import ContactPoints
from engine.physics.linear import product
from engine.physics.network.meetings import LINK, OBSTACLE, Meeting
from engine.physics.network.memory import THERE, Bridge, Contacts, Resonators, Strand
from engine.physics.string import Array


def lay_to_rest(b: Bridge, strands: list[Strand], found: list[list[Meeting]]) -> None:
    """Put all states where nothing moves. Most networks touch nothing at rest, and stay as they are."""
    points = [point for own in found for point in own]
    there = np.array([state == THERE for s in strands for state in s.points.state], bool)
    low = np.array([point.low for point in points])
    pressed = there & (low > 0.0) & np.array([point.kind == OBSTACLE for point in points], bool)
    if not pressed.any():
        return
    compliance = answers(b, strands)
    springs = np.array([point.stiffness for point in points]) * there
    for n in np.flatnonzero(springs):
        column = compliance[n].copy()
        compliance -= springs[n] / (1.0 + springs[n] * column[n]) * column[:, None] * column
    force = np.zeros(low.size)
    elastic = np.concatenate([elasticity(s.points) for s in strands])[pressed]
    obstacles = ContactPoints(low[pressed], low[pressed], elastic)
    exponent = np.array([p.law.exponent for p in points])[pressed]
    force[pressed] = contact.equilibrium(compliance[np.ix_(pressed, pressed)], obstacles, exponent)
    where = product(compliance, force)
    force -= springs * where
    _place(b, strands, force, where)
    psi = np.sqrt(springs) * -where
    psi[pressed] = contact.psi_at(low[pressed] - where[pressed], obstacles, exponent)
    for s, first in zip(strands, np.cumsum([0] + [s.points.psi.size for s in strands])):
        s.points.psi[:] = psi[first : first + s.points.psi.size]
        s.rest_psi[:] = s.points.psi


def elasticity(p: Contacts) -> Array:
    """How stiff the laws of points are, N/m^exponent."""
    return 4.0 * (p.slope * p.slope) / (p.power + 1.0)


def stiffness(bank: Resonators) -> Array:
    """k* of each mode; of padding one, which nothing moves."""
    return np.where(bank.spring > 0.0, 8.0 * bank.spring, 1.0)


def bridge_answer(b: Bridge, strands: list[Strand]) -> Array:
    """What moves the bridge by how much at rest, against the strings' tension."""
    count = b.now.size
    rows = b.bank.rows[:count]
    answer = product(rows / stiffness(b.bank), np.ascontiguousarray(rows.T))
    for s in strands:
        for weight, tension in zip(s.ends.weight, s.ends.tension):
            column = product(answer, weight)
            answer -= tension / (1.0 + tension * float(product(weight, column))) * column[:, None] * column
    return answer


def answers(b: Bridge, strands: list[Strand]) -> Array:
    """How far each point of each string goes at rest per newton at any of them."""
    carried = np.concatenate([s.ends.carried[:, : s.points.psi.size].T for s in strands])
    total = product(carried, product(bridge_answer(b, strands), np.ascontiguousarray(carried.T)))
    first = 0
    for s in strands:
        rows = s.bank.rows[: s.points.psi.size]
        last = first + len(rows)
        total[first:last, first:last] += product(rows / stiffness(s.bank), np.ascontiguousarray(rows.T))
        first = last
    return total


def _place(b: Bridge, strands: list[Strand], force: Array, where: Array) -> None:
    """All modes where these forces hold them."""
    first, pull = 0, np.zeros(b.now.size)
    for s in strands:
        own = force[first : first + s.points.psi.size]
        s.bank.even[:] = product(own, s.bank.rows[: own.size]) / stiffness(s.bank)
        s.points.now[:] = where[first : first + own.size]
        pull += product(s.ends.carried[:, : own.size], own)
        s.rest[:] = s.bank.even
        settle_memory(s)
        first += own.size
    b.now[:] = product(bridge_answer(b, strands), pull)
    held = pull.copy()
    for s in strands:
        held -= product(s.ends.tension * product(s.ends.weight, b.now), s.ends.weight)
    b.bank.even[:] = product(held, b.bank.rows[: b.now.size]) / stiffness(b.bank)
    settle_bridge(b)


def settle_memory(s: Strand) -> None:
    """Let a string rest in the shape of its newest step: all that remembers the step before says the same."""
    s.bank.odd[:] = s.bank.even
    s.points.before[:] = s.points.now
    ends = s.bank.rows[s.points.psi.size : s.points.psi.size + s.now.size]
    s.now[:] = product(ends, s.bank.even)
    s.before[:] = s.now
    if s.stretch.square.size:
        s.stretch.length[0] = product(s.stretch.square * s.bank.even, s.bank.even)


def settle_bridge(b: Bridge) -> None:
    """The same for the bridge."""
    b.bank.odd[:] = b.bank.even
    b.before[:] = b.now
    heard = product(b.bank.rows[b.now.size :], b.bank.even)
    b.heard[0], b.heard[1] = heard, heard


def release(b: Bridge, s: Strand, found: tuple[Meeting, ...], shape: Array) -> None:
    """Hold a string in a shape, given mode by mode (m), and let go: every mode leaves at rest."""
    if b.now.any():
        raise PhysicsError(
            "release", "a bridge that is aside", "what is released rests on a bridge at rest", "reset it"
        )
    p = s.points
    s.bank.even[: shape.size] = shape
    p.now[:] = product(s.bank.rows[: p.psi.size], s.bank.even)
    settle_memory(s)
    for k, point in enumerate(found):
        if point.kind == OBSTACLE and p.state[k] == THERE:
            eta = np.array([max(p.level[k] - p.now[k], 0.0)])
            law = ContactPoints(eta, eta, elasticity(p)[k : k + 1])
            p.psi[k] = contact.psi_at(eta, law, point.law.exponent)[0]
        elif point.kind == LINK and p.state[k] == THERE:
            p.psi[k] = 2.0 * p.root[k] * (p.level[k] - p.now[k])
