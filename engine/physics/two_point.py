"""The two-point modal string of paper 004, its contact solved by Newton's method, compiled: `quality: best`.

Written for the engine's one pair of values a mode: with 004's q eliminated, what a step's contact gives is the mean of
the last two forces, each of which acts from one whole step to the next,

    y+ = 2 R cos(w k) y - R^2 y- + (k^2/m) C (f + V'(F + F-)/2),     u = V y + N F-
    F of all points at once (newton.py) with S = W/2 + N                                004 (15)-(29)

N is what the modes that are kept leave out of the string's answer to a force that rests (statics.py): it follows the
force at once, as of a mode that is all loss, holds F'N F/2 and takes (F - F-)'N(F - F-)/2 at every step. So it stands
for modes that are gone as soon as they sound; where those above the band would ring (FLEETING), they are left out.

A barrier that moves does so within the step: eta+ - eta has its way in it, and the hand's work is F times that way.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.aligned import zeros
from engine.compiled import called_by_python, copy, inlined, native
from engine.increments import by_increments, fall, move
from engine.layout import Integers, Matrix, Vector
from engine.physics import contact, modal, newton, statics
from engine.physics.contact import Law
from engine.physics.linear import product
from engine.physics.modes import pickup_row, poles, released, shape, shares
from engine.physics.newton import Solver
from engine.physics.problem import TWICE
from engine.physics.record import MOST_AT_ONCE, Listener, Log, Run, in_pieces, keep_shapes, log
from engine.physics.responses import answer_rows
from engine.physics.steps import add, factors
from engine.physics.string import Array
from engine.vectors import PADDING, advance, project, spread

FLEETING = 30.0  # 1/s: modes that decay faster than this are gone in a fifth of a second


class Coefficients(NamedTuple):
    """What the kernel reads. Row k < K of `rows` is contact point k, the others are pickups."""

    forward: Vector  # 2 R cos(w k); by increments 1 - 2 R cos(w k) + R^2
    backward: Vector  # R^2; by increments 1 - R^2
    inject: Vector  # modal displacement per newton of excitation
    spread: Vector  # (k^2/m) C
    rows: Matrix  # [K + P, M]
    response: Matrix  # [K, K + P]: displacement of row l per newton at contact k
    remainder: Matrix  # [K, K + P]: N, and the same for the pickups
    share: Matrix  # [B, K]: of a newton at contact k, for each pickup that hears a body (hearing.py)
    grip: Vector  # [B]: of a newton of excitation
    height: Vector  # [K]
    law: Law
    inertia: Vector  # m / 2k^2, one entry
    spring: Vector  # k* / 8
    resistance: Vector  # r* / 4k
    rest: Vector  # static equilibrium: modal displacement
    rest_force: Vector  # and what holds it there


class State(NamedTuple):
    """What the kernel changes. `even` and `odd` take turns at holding the newest step; by increments, see steps.py."""

    even: Vector
    odd: Vector
    free: Vector  # [K + P]: rows without this step's contact force, then with it
    now: Vector  # [K]: where the points are
    force: Vector  # [K]: N, of the last step
    change: Vector  # [K]: of that, since the step before
    mean: Vector  # [K]: of both
    pushed: Integers  # points whose mean is not zero
    lost: Vector  # one entry: energy lost at the contact so far, J
    clock: Integers  # steps since reset
    solver: Solver


def coefficients(d: modal.Design, dtype: Any = np.float64, whole: bool | None = None) -> Coefficients:
    """Of a design, with N or without, as paper 004 is; if it is not said, as the string's losses want it."""
    problem, string, points, b, k = d.problem, d.problem.string, d.points, d.modes.wavenumber, 1.0 / d.rate
    mass = 0.5 * string.density * string.length

    def cast(array: Array) -> NDArray[Any]:
        made = zeros((*array.shape[:-1], b.size + -b.size % PADDING), dtype)
        made[..., : b.size] = array
        return made

    r, o, a_star, b_star, c = poles(d.modes, d.rate)
    gain, stiffness = k * k / mass * c, 4.0 * mass * a_star / (k * k)
    touching = shape(b, points.position)
    heard = np.array([pickup_row(string, b, p) for p in problem.pickups]).reshape(-1, b.size)
    rows = np.concatenate([touching, heard])
    share, held = shares(problem, points)
    static = product(touching / stiffness, rows.T)
    whole = d.modes.decay[-1] >= FLEETING if whole is None else whole
    left, count = left_out(d, static) if whole else np.zeros_like(static), points.height.size
    response = zeros(static.shape, dtype)
    answer_rows(cast(rows), cast(gain), response, zeros(b.size + -b.size % PADDING, dtype))
    force = contact.equilibrium(static[:, :count] + left[:, :count], points, problem.contact.exponent)
    forward, backward = factors(r, o, np.dtype(dtype) == np.float32)

    return Coefficients(
        forward=cast(forward),
        backward=cast(backward),
        inject=cast(gain * shape(b, np.array([problem.excitation.position * string.length]))[0]),
        spread=cast(gain),
        rows=cast(rows),
        response=response,
        remainder=left.astype(dtype),
        share=share.astype(dtype),
        grip=held.astype(dtype),
        height=points.height.astype(dtype),
        law=contact.law(points, problem.contact, d.rate, dtype),
        inertia=np.array([0.5 * mass / (k * k)], dtype),
        spring=cast(stiffness / 8.0),
        resistance=cast(0.5 * mass * b_star / (k * k)),
        rest=cast(product(force, touching) / stiffness),
        rest_force=force.astype(dtype),
    )


def left_out(d: modal.Design, static: Array) -> Array:
    """What the modes lack of the answer to a force that rests, at the points and for the pickups: [K, K + P]."""
    string, at, count = d.problem.string, d.points.position, d.points.position.size
    left = np.zeros_like(static)
    own = statics.compliance(string, at, at) - static[:, :count]
    left[:, :count] = 0.5 * (own + own.T)
    for j, pickup in enumerate(d.problem.pickups):
        if pickup.kind in TWICE:  # of whose momentum what follows a force at once has none
            continue
        left[:, count + j] = statics.heard(string, at, pickup) - static[:, count + j]
    return left


def state(c: Coefficients) -> State:
    """Memory of one string at rest."""
    size, rows, count, dtype = c.forward.size, len(c.rows), c.height.size, c.forward.dtype
    s = State(
        even=zeros(size, dtype),
        odd=zeros(size, dtype),
        free=zeros(rows, dtype),
        now=zeros(count, dtype),
        force=zeros(count, dtype),
        change=zeros(count, dtype),
        mean=zeros(count, dtype),
        pushed=np.zeros(count, np.int64),
        lost=np.zeros(1, dtype),
        clock=np.zeros(1, np.int64),
        solver=newton.solver(count, dtype),
    )
    reset(c, s)
    return s


@called_by_python
def reset(c: Coefficients, s: State) -> None:
    """Back to static equilibrium, silent; the force that holds it there has acted before."""
    copy(c.rest, s.even)
    for i in range(c.rest.size):
        s.odd[i] = c.law.zero if by_increments(c.rest) else c.rest[i]
    copy(c.rest_force, s.force)
    project(c.rows, s.even, s.free)
    for k in range(c.height.size):
        s.now[k], s.change[k] = s.free[k], c.law.zero
        for j in range(c.height.size):
            s.now[k] += c.remainder[j, k] * s.force[j]
    s.lost[0] = c.law.zero
    s.clock[0] = 0


def release(d: modal.Design, c: Coefficients, s: State, initial: Callable[[Array], Array]) -> None:
    """Hold the string in the shape `initial`(x) and let go at t = 0; conventions of modal.release."""
    reset(c, s)
    y, earlier = released(d.problem.string, d.modes, d.rate, initial)
    s.even[: y.size], s.odd[: y.size] = y, y - earlier if by_increments(s.odd) else earlier
    s.force[:] = 0.0
    s.now[:] = product(shape(d.modes.wavenumber, d.points.position), y)


@inlined
def without(c: Coefficients, s: State, after: Any) -> None:
    """Into s.free where all rows get to without this step's contact force: half of the last one's still acts."""
    project(c.rows, after, s.free)
    for k in range(c.height.size):
        if s.force[k] != c.law.zero:
            half = c.law.half * s.force[k]
            for row in range(s.free.size):
                s.free[row] += c.response[k, row] * half


@inlined
def gather(c: Coefficients, s: State, by: Any, everywhere: Any) -> Any:
    """The points that may touch in this step, or all, with last step's force for a guess; how many."""
    solver, n = s.solver, 0
    for k in range(c.height.size):
        if everywhere or c.height[k] > s.now[k] or c.height[k] + by > s.free[k]:
            solver.near[n], solver.force[n] = k, s.force[k]
            solver.start[n], solver.way[n] = c.height[k] - s.now[k], s.now[k] - s.free[k] + by
            for j in range(n + 1):
                other = solver.near[j]
                both = c.law.half * c.response[k, other] + c.remainder[k, other]
                solver.coupling[n, j] = solver.coupling[j, n] = both
            n += 1
    return n


@inlined
def push_rows(c: Coefficients, s: State, n: Any) -> None:
    """What the forces found do to all rows."""
    for i in range(n):
        if s.solver.given[i] != c.law.zero:
            k = s.solver.near[i]
            half = c.law.half * s.solver.given[i]
            for row in range(s.free.size):
                s.free[row] += c.response[k, row] * half + c.remainder[k, row] * s.solver.given[i]


@inlined
def overlooked(c: Coefficients, s: State, by: Any, n: Any) -> Any:
    """Whether a point got in that is not among the near: what lifts the string here may lower it farther off."""
    i, found = 0, False
    for k in range(c.height.size):
        if i < n and s.solver.near[i] == k:
            i += 1
        else:
            found |= c.height[k] + by > s.free[k]
    return found


@inlined
def meet_points(c: Coefficients, s: State, after: Any, by: Any) -> Any:
    """This step's forces; with them s.free, and how many points pushed in this step or the last."""
    law, solver, pushed = c.law, s.solver, 0
    without(c, s, after)
    n = gather(c, s, by, False)
    if n:
        newton.solve(law, solver, n)
        push_rows(c, s, n)
        if overlooked(c, s, by, n):
            without(c, s, after)
            n = gather(c, s, by, True)
            newton.solve(law, solver, n)
            push_rows(c, s, n)
    for k in range(c.height.size):
        s.change[k], s.mean[k], s.force[k] = -s.force[k], law.half * s.force[k], law.zero
    for i in range(n):
        k = solver.near[i]
        s.force[k] = solver.given[i]
        s.change[k] += solver.given[i]
        s.mean[k] += law.half * solver.given[i]
        s.lost[0] += solver.lost[i]
    for k in range(c.height.size):
        if s.mean[k] != law.zero:
            s.pushed[pushed] = k
            pushed += 1
    return pushed


@inlined
def newest(s: State) -> Any:
    """The newest step's modes, and those of the one before or, by increments, the change from there."""
    if s.clock[0] & 1 and not by_increments(s.even):
        return s.odd, s.even
    return s.even, s.odd


@inlined
def way(now: Any, before: Any, i: Any) -> Any:
    """How far a mode has come in the newest step, from what `newest` gives."""
    return before[i] if by_increments(now) else now[i] - before[i]


@inlined
def go(c: Coefficients, now: Any, after: Any, force: Any) -> None:
    """A step without contact, from `now` to `after`; by increments now + after, which holds the last change."""
    if by_increments(now):
        fall(c.forward, c.backward, now, after)
    else:
        advance(c.forward, c.backward, now, after)
    if force != c.law.zero:
        add(force, c.inject, after)
    if by_increments(now):
        move(now, after)


@inlined
def step(c: Coefficients, s: State, force: Any, by: Any, out: Any) -> None:
    """The next step, the barrier rising `by` so much.

    `out` then has the pickups, and behind them what contact and pluck carry (hearing.py).
    """
    now, after = newest(s)
    go(c, now, after, force)
    there = now if by_increments(now) else after
    if c.height.size:
        pushed = meet_points(c, s, there, by)
        spread(c.spread, c.rows, s.mean, s.pushed, pushed, after)
        if by_increments(now):
            spread(c.spread, c.rows, s.mean, s.pushed, pushed, now)
        for k in range(c.height.size):
            s.now[k] = s.free[k]
            c.height[k] += by
    else:
        project(c.rows, there, s.free)
    hear(c, s, force, out)
    s.clock[0] += 1


@inlined
def hear(c: Coefficients, s: State, force: Any, out: Any) -> None:
    """The same as modal.hear, the force at a step being the mean of those before and after it."""
    points, pickups = c.height.size, c.rows.shape[0] - c.height.size
    for p in range(pickups):
        out[p] = s.free[points + p]
    for b in range(c.grip.size):
        carried = -c.grip[b] * force
        for k in range(points):
            carried += c.share[b, k] * s.mean[k]
        out[pickups + b] = carried


@called_by_python
def kernel(c: Coefficients, s: State, force: Any, by: Any, out: Any) -> None:
    """Advance force.size steps, in each of which the barrier rises `by` so much; out[t] is what `hear` finds after it.

    Allocates nothing.
    """
    for t in range(force.size):
        step(c, s, force[t], by, out[t])


# --- energy -----------------------------------------------------------------------------------------------------------


@inlined
def momentum(c: Coefficients, s: State, now: Any, before: Any, i: Any) -> Any:
    """q of a mode (004 eq. 15-26): half a step of its velocity, now, from what `newest` gives and the last force."""
    if not c.spread[i] > c.law.zero:  # padding, or driven past Nyquist
        return c.law.zero
    pull, unit = c.law.zero, c.law.half * c.law.half / c.inertia[0]  # xi = k^2 / 2m
    for k in range(s.force.size):
        if s.force[k] != c.law.zero:
            pull += s.force[k] * c.rows[k, i]
    came = way(now, before, i)
    last = now[i] - came if by_increments(now) else before[i]
    return came - came * unit / c.spread[i] - c.spring[i] / c.inertia[0] * last + c.law.half * unit * pull


@inlined
def statically(c: Coefficients, force: Any) -> Any:
    """F'N F/2."""
    held = c.law.zero
    for k in range(force.size):
        if force[k] != c.law.zero:
            for j in range(force.size):
                held += c.law.half * force[k] * c.remainder[k, j] * force[j]
    return held


@called_by_python
def energy(c: Coefficients, s: State) -> Any:
    """Kinetic, potential and contact energy at the newest step, J: 004 eq. (30)-(32), H = (q'q + y'Ay)/xi + phi."""
    now, before = newest(s)
    kinetic = bent = stored = c.law.zero
    for i in range(now.size):
        q = momentum(c, s, now, before, i)
        kinetic += q * q
        bent += c.spring[i] * now[i] * now[i]
    for k in range(c.height.size):
        phi, _ = newton.potential(c.law, c.law.slope[k], c.height[k] - s.now[k])
        stored += phi
    four = (c.law.one + c.law.one) * (c.law.one + c.law.one)
    return four * c.inertia[0] * kinetic, four * bent + statically(c, s.force), stored


@native
def work(c: Coefficients, s: State, now: Any, before: Any, force: Any) -> Any:
    """What the excitation is about to give: at the step itself it adds to q."""
    given, unit = c.law.zero, c.law.half * c.law.half / c.inertia[0]
    for i in range(now.size):
        if c.spread[i] > c.law.zero:
            pushed = force * c.inject[i] / c.spread[i]
            q = momentum(c, s, now, before, i)
            given += pushed * (q + q + unit * pushed)
    return given


@called_by_python
def observe(c: Coefficients, s: State, force: Any, log: Log) -> None:
    """The kernel step by step, with everything metered."""
    four = (c.law.one + c.law.one) * (c.law.one + c.law.one)
    first, shot, lost, given = s.clock[0], 0, log.sums[0], log.sums[1]
    for n in range(force.size):
        now, before = newest(s)
        shot = keep_shapes(log, shot, first + n, now)
        if force[n] != c.law.zero:
            given += work(c, s, now, before, force[n])
        kernel(c, s, force[n : n + 1], c.law.zero, log.out[n : n + 1])
        now, before = newest(s)
        for i in range(now.size):
            came = way(now, before, i)
            lost += four * c.resistance[i] * came * came
        lost += statically(c, s.change)
        log.kinetic[n], log.potential[n], log.contact[n] = energy(c, s)
        for k in range(c.height.size):
            log.force[n, k] = s.force[k]
        log.lost[n] = lost + s.lost[0]
        log.work[n] = given
    log.sums[0], log.sums[1] = lost, given


def run(
    d: modal.Design,
    force: Array,
    *,
    at: NDArray[np.int64],
    initial: Callable[[Array], Array] | None = None,
    steps: int | None = None,
    most: int = MOST_AT_ONCE,
    listener: Listener | None = None,
    whole: bool | None = None,
) -> Run:
    """A metered run from rest, or from the shape `initial`; conventions of `in_pieces`, `whole` as of `coefficients`.

    Against record.py's convention the energies of row n are those at the whole step n + 1, and the contact force of
    row n acts from n to n + 1. Snapshots are the modes' shapes, without what N adds.
    """
    c = coefficients(d, d.coefficients.forward.dtype.type, whole)
    s = state(c)
    if initial is not None:
        release(d, c, s, initial)
    heard = c.rows[c.height.size :]
    x = s.even - s.odd if by_increments(s.odd) else s.odd
    start, before = (np.append(product(heard, y), np.zeros(c.grip.size)) for y in (s.even, x))
    steps = force.size if steps is None else steps
    kept = min(most, steps) if listener else steps
    book = log(kept, start.size, c.height.size, c.forward.size, at, c.forward.dtype)
    b = d.modes.wavenumber
    x = np.linspace(0.0, d.problem.string.length, 2 * b.size + 1)
    opened = Run(d.rate, d.points, before, start, book, x, np.zeros((0, x.size)))
    in_pieces(partial(observe, c, s), force, steps, most, opened, listener)
    return opened._replace(snapshots=product(book.shapes[:, : b.size], shape(b, x).T))
