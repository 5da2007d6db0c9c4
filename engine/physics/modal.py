"""The exact-pole modal string over contact points (papers 004 and 002 section 3.2; README.md §1, §2.8).

Every mode has its exact frequency and decay at any sample rate. The two-point scheme of paper 004 is used in its
one-state-pair form, where contact sits at whole steps and the quadratised force needs no iteration:

    (L) y* = 2 R cos(w k) y - R^2 y- + (k^2/m) C f          (P) free = V y*
    (S) forces of all points at once, block.py              (U) y+ = y* + (k^2/m) C V'F,  u+ = V y+ + N F
V = Q B is of low rank (rank.py): B is projected and pushed, Q gives the points. N is what the modes leave out of the
string's answer to a force that rests (statics.py): it comes at once and is forgotten, as of a mode that is all loss.

Steps go in pairs, of which each odd one is the first: one pass over the modes takes both (steps.py), and what the first
one's contact does to the modes waits until the second is over. A step by itself takes the same operations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.aligned import zeros
from engine.compiled import VECTOR, called_by_python, called_with, copy, inlined, plain
from engine.increments import by_increments
from engine.layout import Integers, Matrix, Vector
from engine.opened import group_type
from engine.pairs import accumulate, combine, look_ahead, whole
from engine.physics import block, contact
from engine.physics.barrier import ContactPoints
from engine.physics.contact import Law, Touch
from engine.physics.linear import product
from engine.physics.meeting import come_after, listen, meet, meet_alone, pass_by, settle
from engine.physics.modes import Modes, modes, pickup_row, poles, refuse_excess, released, shape, shares
from engine.physics.problem import Problem
from engine.physics.rank import few_rows
from engine.physics.record import MOST_AT_ONCE, Listener, Log, Run, in_pieces, keep_shapes, log
from engine.physics.responses import answer_forces, deep, in_vectors, point_response
from engine.physics.statics import resting
from engine.physics.steps import (
    both_steps,
    factors,
    last,
    newest,
    one_step,
    push_first,
    twice_middle,
    two_steps,
    two_ways,
    way,
)
from engine.physics.string import Array
from engine.vectors import PADDING, project


class Coefficients(NamedTuple):
    """What the kernel reads. K contact points are sums of r rows, of which there are P more, one for each pickup.

    Tables that vector code reads row by row are as wide as whole vectors: "K" or "r + P" then means at least so many.
    """

    forward: Vector  # 2 R cos(w k); by increments 1 - 2 R cos(w k) + R^2
    backward: Vector  # R^2; by increments 1 - R^2
    inject: Vector  # modal displacement per newton of excitation
    spread: Vector  # (k^2/m) C
    rows: Matrix  # [r + P, M]
    mix: Matrix  # [r, K]: how much of each row is in each point
    shares: Matrix  # [K, r]: the same the other way round
    answer: Matrix  # [r, r + P]: displacement of a row per newton on a row
    ahead: Matrix  # [r, r + P]: the same a step later
    response: Matrix  # [K, K]: displacement of a point per newton on a point, with what the modes leave out
    response_ahead: Matrix  # [K, K]: of the modes alone, a step later
    remainder: Matrix  # [K, K]: N, what the modes leave out
    direct: Matrix  # [K, P]: and of that, what a pickup hears
    heard: Matrix  # [K, P]: what a pickup hears of a newton on a point
    heard_ahead: Matrix  # [K, P]: the same a step later
    share: Matrix  # [B, K]: of a newton at contact k, for each pickup that hears a body (hearing.py)
    grip: Vector  # [B]: of a newton of excitation
    height: Vector  # [K] in whole vectors, of which the rest lies endlessly deep
    law: Law
    inertia: Vector  # m / 2k^2, one entry
    spring: Vector  # k* / 8
    resistance: Vector  # r* / 4k
    rest: Vector  # static equilibrium: modal displacement
    rest_psi: Vector
    rest_force: Vector


class State(NamedTuple):
    """What the kernel changes. `even` and `odd` take turns at holding the newest step; by increments, see steps.py."""

    even: Vector
    odd: Vector
    both: Matrix  # [2, r + P]: rows in both steps of a pair, without contact force
    weights: Matrix  # [2, r]: contact forces on the rows
    free: Matrix  # [2, K]: points without contact force, in both steps
    touch: Touch
    earlier: Vector  # [K]: forces of the step before the last
    push: Vector  # [K]
    none: Vector  # [K] zeros
    work: Matrix  # of block.py
    whole: Vector  # the newest step, where what its contact does still waits; by increments its change as well
    owed: Integers  # whether it does; for how many steps forces are to be forgotten; what pushed in a pair's first step
    clock: Integers  # steps since reset


@dataclass(frozen=True)
class Design:
    """A problem made ready for a sample rate."""

    problem: Problem
    rate: float
    modes: Modes
    points: ContactPoints
    coefficients: Coefficients

    @property
    def width(self) -> int:
        """How many numbers the kernel gives for a step: the pickups', and what is carried."""
        return len(self.problem.pickups) + self.coefficients.grip.size


def design(
    problem: Problem,
    rate: float,
    *,
    band: float = inf,
    dtype: Any = np.float64,
    rule: int = contact.SHIPPED,
    made_up: bool = True,
) -> Design:
    """Coefficients of the kernel at a sample rate; `made_up`: with N for what a band leaves out."""
    string, m = problem.string, modes(problem.string, rate, band)
    b, mass, k = m.wavenumber, 0.5 * string.density * string.length, 1.0 / rate
    points = problem.modal_points(b.size)
    refuse_excess(string, (b.size + points.height.size) * (points.height.size + len(problem.pickups)))
    r, o, a_star, b_star, c = poles(m, rate)
    gain, stiffness = k * k / mass * c, 4.0 * mass * a_star / (k * k)
    share, held = shares(problem, points)
    heard = np.array([pickup_row(string, b, p) for p in problem.pickups]).reshape(-1, b.size)
    touching, made_up = shape(b, points.position), made_up and band < inf
    rows, mix, given, left = few_rows(problem, points, touching, heard, stiffness, made_up)
    rank = mix.shape[1]
    pressed = resting(problem, points, given)
    rest = product(product(pressed, mix), rows[:rank]) / stiffness
    rest_psi = contact.psi_at(points.height - product(pressed, given), points, problem.contact.exponent)
    forward, backward = factors(r, o, np.dtype(dtype) == np.float32)

    def cast(array: Array) -> NDArray[Any]:
        made = zeros((*array.shape[:-1], b.size + -b.size % PADDING), dtype)
        made[..., : b.size] = array
        return made

    coefficients = Coefficients(
        forward=cast(forward),
        backward=cast(backward),
        inject=cast(gain * shape(b, np.array([problem.excitation.position * string.length]))[0]),
        spread=cast(gain),
        rows=cast(rows),
        mix=in_vectors(mix.T, dtype),
        shares=in_vectors(mix, dtype),
        answer=in_vectors(np.zeros((rank, len(rows))), dtype),
        ahead=in_vectors(np.zeros((rank, len(rows))), dtype),
        response=in_vectors(np.zeros((len(mix), len(mix))), dtype),
        response_ahead=in_vectors(np.zeros((len(mix), len(mix))), dtype),
        remainder=in_vectors(left[:, : len(mix)], dtype),
        direct=np.array(left[:, len(mix) :], dtype, order="C"),
        heard=np.zeros(left[:, len(mix) :].shape, dtype),
        heard_ahead=np.zeros(left[:, len(mix) :].shape, dtype),
        share=share.astype(dtype),
        grip=held.astype(dtype),
        height=deep(points.height, dtype),
        law=contact.law(points, problem.contact, rate, dtype, rule, point_response(rows, gain, mix, left)),
        inertia=np.array([0.5 * mass / (k * k)], dtype),
        spring=cast(stiffness / 8.0),
        resistance=cast(0.5 * mass * b_star / (k * k)),
        rest=cast(rest),
        rest_psi=rest_psi.astype(dtype),
        rest_force=pressed.astype(dtype),
    )
    answer(coefficients, zeros(coefficients.forward.size, dtype))
    return Design(problem, rate, m, points, coefficients)


@called_with(group_type(Coefficients), VECTOR)
def answer(c: Coefficients, scratch: Any) -> None:
    """Its responses, from the other tables."""
    answer_forces(c, scratch)


def state(c: Coefficients) -> State:
    """Memory of one string at rest."""
    size, dtype, points, rank = c.forward.size, c.forward.dtype, c.rest_psi.size, c.mix.shape[0]
    at_once, room = min(points, block.MOST_AT_ONCE), whole(points, dtype)
    s = State(
        zeros(size, dtype),
        zeros(size, dtype),
        zeros((2, whole(len(c.rows), dtype)), dtype),
        zeros((2, whole(rank, dtype)), dtype),
        zeros((2, room), dtype),
        contact.touch(room, dtype),
        zeros(room, dtype),
        zeros(room, dtype),
        zeros(room, dtype),
        zeros((block.ROWS + at_once, at_once), dtype),
        zeros(2 * size if by_increments(c.forward) else size, dtype),
        np.zeros(3, np.int64),
        np.zeros(1, np.int64),
    )
    # As `reset` has it, but by the twins of vector code: to compile it would be most of a first design's time.
    s.even[:] = c.rest
    s.odd[:] = 0.0 if by_increments(c.rest) else c.rest
    s.touch.psi[:points], s.touch.force[:points], s.earlier[:points] = c.rest_psi, c.rest_force, c.rest_force
    plain(begin)(c, s)
    return s


@called_by_python
def reset(c: Coefficients, s: State) -> None:
    """Back to static equilibrium, silent."""
    copy(c.rest, s.even)
    for i in range(c.rest.size):
        s.odd[i] = c.law.zero if by_increments(c.rest) else c.rest[i]
    for k in range(c.rest_psi.size):
        s.touch.psi[k] = c.rest_psi[k]
        s.touch.force[k] = c.rest_force[k]
        s.earlier[k] = c.rest_force[k]
    for k in range(c.rest_psi.size, s.touch.psi.size):
        s.touch.psi[k] = c.law.zero
    begin(c, s)


@called_by_python
def begin(c: Coefficients, s: State) -> None:
    """Step 0, from modes, psi and forces as they are: where the points are, and nothing owed."""
    before, now = both_steps(s)
    for y, points in ((before, s.touch.before), (now, s.touch.now)):
        project(c.rows, y[: c.forward.size], s.both[0, : len(c.rows)])
        combine(c.mix, s.both[0], c.mix.shape[0], points)
        for k in range(c.rest_psi.size):
            s.touch.pushed[k] = k
        accumulate(c.remainder, s.touch.force, s.touch.pushed, c.rest_psi.size, points)
    for half in range(2):
        for j in range(s.weights.shape[1]):
            s.weights[half, j] = c.law.zero
    s.touch.lost[0] = c.law.zero
    s.owed[0], s.owed[1], s.owed[2], s.clock[0] = 0, 2, 0, 0


def release(d: Design, s: State, initial: Callable[[Array], Array]) -> None:
    """Let the string go from that shape."""
    y, earlier = released(d.problem.string, d.modes, d.rate, initial)
    reset(d.coefficients, s)
    s.even[: y.size], s.odd[: y.size] = y, y - earlier if by_increments(s.odd) else earlier
    s.touch.force[:], s.earlier[:] = 0.0, 0.0
    begin(d.coefficients, s)
    points = d.points.height.size
    penetration = d.points.height - s.touch.now[:points]
    s.touch.psi[:points] = contact.psi_at(penetration, d.points, d.problem.contact.exponent)


@called_by_python
def catch_up(c: Coefficients, s: State) -> None:
    """Between two steps, before coefficients change: have the newest step's modes as its contact leaves them."""
    if s.owed[0]:
        push_first(c, s.weights[0], s.even, s.odd)
        combine(c.shares, s.push, 0, s.weights[0])
        s.owed[0], s.owed[2] = 0, 0


@called_by_python
def kernel(c: Coefficients, s: State, force: Any, out: Any) -> None:
    """Advance force.size steps; out[t] has the pickups after step t, and what is carried. Allocates nothing."""
    t, points = 0, c.rest_psi.size
    while t < force.size:
        first, end = 1 - (s.clock[0] & 1), 2
        if first == 0 and t + 1 < force.size:
            two_steps(c, s, force[t], force[t + 1])
        else:
            end = first + 1
            one_step(c, s, force[t], first)
        half, near = first, 0
        if points:
            near = look_ahead(c.mix, s.both, points, c.height, s.touch.now, s.touch.psi, s.free)
        if near > 0 and end - first == 2:
            half = meet_alone(c, s, near - 1, force[t:], out[t:])
        elif near == 0 and end - first == 2 and points:
            pass_by(c, s, force[t:], out[t:])
            half = end
        while half < end:
            now = t + half - first
            if points:
                if half == 1 and s.owed[0]:
                    come_after(c, s)
                meet(c, s, half, force[now], out[now])
            else:
                listen(c, s, half, force[now], out[now])
            s.clock[0] += 1
            half += 1
        if end == 2:
            settle(c, s)
        t += end - first


@called_by_python
def energy(c: Coefficients, s: State) -> Any:
    """Kinetic, potential and contact energy between the last two steps, J (§2.5).

    What the modes leave out counts as potential: N is a spring at either of both steps.
    """
    y, x = newest(c, s)
    k0 = k1 = k2 = k3 = p0 = p1 = p2 = p3 = stored = left = c.law.zero
    # Four sums side by side, which the processor adds at once; PADDING makes the number of modes a multiple of four.
    for i in range(0, c.spring.size, 4):
        k0 += squared(way(y, x, i))
        k1 += squared(way(y, x, i + 1))
        k2 += squared(way(y, x, i + 2))
        k3 += squared(way(y, x, i + 3))
        p0 += c.spring[i] * squared(twice_middle(y, x, i))
        p1 += c.spring[i + 1] * squared(twice_middle(y, x, i + 1))
        p2 += c.spring[i + 2] * squared(twice_middle(y, x, i + 2))
        p3 += c.spring[i + 3] * squared(twice_middle(y, x, i + 3))
    for k in range(c.rest_psi.size):
        stored += c.law.half * squared(s.touch.psi[k])
    if s.owed[1]:
        left = yielded(c, s.touch.force) + yielded(c, s.earlier)
    return c.inertia[0] * ((k0 + k1) + (k2 + k3)), (p0 + p1) + (p2 + p3) + left, stored


@inlined
def squared(x: Any) -> Any:
    """A product: a power would be taken factor by factor, in a loop."""
    return x * x


@inlined
def yielded(c: Coefficients, force: Any) -> Any:
    """F'N F / 4."""
    sum = c.law.zero
    for k in range(c.rest_psi.size):
        if force[k] != c.law.zero:
            for j in range(c.rest_psi.size):
                sum += c.remainder[k, j] * force[k] * force[j]
    return c.law.half * c.law.half * sum


@called_by_python
def observe(c: Coefficients, s: State, force: Any, log: Log) -> None:
    """The kernel step by step, with everything metered: energy balance of §2.5."""
    first, shot, lost, work = s.clock[0], 0, log.sums[0], log.sums[1]
    before, past = log.scratch, s.push  # s.push is of use within a step only
    for n in range(force.size):
        now, ago = newest(c, s)
        shot = keep_shapes(log, shot, first + n, now[: before.size])
        for i in range(before.size):
            before[i] = last(ago, i)
        for k in range(c.rest_psi.size):
            log.force[n, k] = s.earlier[k]
        kernel(c, s, force[n : n + 1], log.out[n : n + 1])
        after, ago = newest(c, s)
        dissipated = moved = c.law.zero
        for i in range(before.size):
            span = two_ways(after, ago, before, i)
            dissipated += c.resistance[i] * span * span
            if c.spread[i] > c.law.zero:
                moved += c.inject[i] / c.spread[i] * span
        for k in range(c.rest_psi.size):
            past[k] = s.touch.force[k] - log.force[n, k]
            log.force[n, k] = s.touch.force[k]
        lost += dissipated + yielded(c, past)
        work += c.law.half * force[n] * moved
        log.kinetic[n], log.potential[n], log.contact[n] = energy(c, s)
        log.lost[n] = lost + s.touch.lost[0]
        log.work[n] = work
    log.sums[0], log.sums[1] = lost, work


def run(
    d: Design,
    force: Array,
    *,
    at: NDArray[np.int64],
    initial: Callable[[Array], Array] | None = None,
    steps: int | None = None,
    most: int = MOST_AT_ONCE,
    listener: Listener | None = None,
) -> Run:
    """A metered run from rest, or from the shape `initial`; snapshots at the steps `at`; conventions of `in_pieces`."""
    c, s = d.coefficients, state(d.coefficients)
    if initial is not None:
        release(d, s, initial)
    heard, pressed = c.rows[c.mix.shape[0] :], product(s.touch.force[: c.rest_psi.size], c.direct)
    x = s.even - s.odd if by_increments(s.odd) else s.odd
    start, before = (np.append(product(heard, y) + pressed, np.zeros(c.grip.size)) for y in (s.even, x))
    steps = force.size if steps is None else steps
    kept = min(most, steps) if listener else steps
    book = log(kept, start.size, c.rest_psi.size, c.forward.size, at, c.forward.dtype)
    b = d.modes.wavenumber
    x = np.linspace(0.0, d.problem.string.length, 2 * b.size + 1)
    opened = Run(d.rate, d.points, before, start, book, x, np.zeros((0, x.size)))
    in_pieces(partial(observe, c, s), force, steps, most, opened, listener)
    return opened._replace(snapshots=product(book.shapes[:, : b.size], shape(b, x).T))
