"""The exact-pole modal string over contact points (papers 004 and 002 section 3.2, NUMERICS section 3).

Every mode has its exact frequency and decay at any sample rate. The two-point scheme of paper 004 is used in its
one-state-pair form, where contact sits at whole steps and the quadratised force needs no iteration:

    (L) y* = 2 R cos(w k) y - R^2 y- + (k^2/m) C f          (P) free = V y*
    (S) forces by the alternating sweep of contact.py        (U) y+ = y* + (k^2/m) C V'F
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import elementwise
from engine.aligned import zeros
from engine.compiled import called_by_python, copy, inlined, native
from engine.errors import PhysicsError
from engine.layout import Integers, Matrix, Vector
from engine.physics import contact
from engine.physics.barrier import ContactPoints
from engine.physics.contact import Law, Touch
from engine.physics.hearing import on_body
from engine.physics.linear import product
from engine.physics.problem import Pickup, Problem
from engine.physics.record import MOST_AT_ONCE, Listener, Log, Run, in_pieces, log
from engine.physics.string import Array, String
from engine.vectors import PADDING, advance, project, spread

MOST_ENTRIES = 2**23  # of tables of modes, contact points and pickups: many times what can be played in real time


class Modes(NamedTuple):
    """Wavenumber (1/m), damped angular frequency (rad/s) and decay rate (1/s) of every mode kept."""

    wavenumber: Array
    frequency: Array
    decay: Array


class Coefficients(NamedTuple):
    """What the kernel reads. Row k < K of `rows` is contact point k, the others are pickups."""

    forward: Vector  # 2 R cos(w k)
    backward: Vector  # R^2
    inject: Vector  # modal displacement per newton of excitation
    spread: Vector  # (k^2/m) C
    rows: Matrix  # [K + P, M]
    share: Matrix  # [B, K]: of a newton at contact k, for each pickup that hears a body (hearing.py)
    grip: Vector  # [B]: of a newton of excitation
    response: Matrix  # [K, K + P]: displacement of row l per newton at contact k
    height: Vector  # [K]
    law: Law
    inertia: Vector  # m / 2k^2, one entry
    spring: Vector  # k* / 8
    resistance: Vector  # r* / 4k
    rest: Vector  # static equilibrium: modal displacement
    rest_psi: Vector


class State(NamedTuple):
    """What the kernel changes. `even` and `odd` take turns at holding the newest step."""

    even: Vector
    odd: Vector
    free: Vector  # [K + P]: rows without contact force, then with it
    touch: Touch
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


def modes(string: String, rate: float, band: float = inf) -> Modes:
    """All oscillating modes below Nyquist and below `band` (Hz), in order (paper 004 eq. 8)."""
    limit = 2.0 * np.pi * min(band, 0.4995 * rate)  # at Nyquist itself the prewarped stiffness (21) is infinite
    count = int(string.wavenumber_at(limit / (2.0 * np.pi)) * string.length / np.pi) + 2
    refuse_excess(string, count)
    b = string.wavenumbers(count)
    decay = string.loss.rate(b)
    squared = string.undamped_frequency(b) ** 2 - decay**2
    kept = np.logical_and.accumulate((squared > 0.0) & (squared < limit * limit))
    if not kept.any():
        f1 = float(string.undamped_frequency(b[:1])[0]) / (2.0 * np.pi)
        raise PhysicsError(
            "string",
            f"first mode {f1:.6g} Hz with a decay rate of {decay[0]:.6g} 1/s",
            f"no mode oscillates below {limit / (2.0 * np.pi):.6g} Hz",
            f"lower the pitch or the loss, or raise the {'band' if band < 0.4995 * rate else 'sample rate'}",
        )
    return Modes(b[kept], np.sqrt(squared[kept]), decay[kept])


def refuse_excess(string: String, entries: int) -> None:
    """Refuse a string before its tables fill the memory."""
    if entries > MOST_ENTRIES:
        limit = (
            f"its modes and contact points make tables of {entries:.3g} numbers, at most {MOST_ENTRIES:.3g} are kept"
        )
        remedy = "raise the pitch, or lower barrier.points or the number of pickups"
        raise PhysicsError("string", f"{string.pitch:.6g} Hz", limit, remedy)


def poles(m: Modes, rate: float) -> tuple[Array, Array, Array, Array, Array]:
    """R, cos(w k), a*, b* and C = 1/(1 + a* + b*) of the prewarped scheme (paper 004 eq. 21)."""
    r, o = elementwise.exp(-m.decay / rate), elementwise.cos(m.frequency / rate)
    low = 1.0 + 2.0 * r * o + r**2
    return r, o, (1.0 - 2.0 * r * o + r**2) / low, 2.0 * (1.0 - r**2) / low, low / 4.0


def shape(b: Array, x: Array) -> Array:
    """Mode shapes sin(b x): a row for each x, a column for each mode."""
    return elementwise.sin(np.outer(x, b))


def pickup_row(string: String, b: Array, pickup: Pickup) -> Array:
    """How each mode sounds at a pickup: displacement (whose difference is the velocity), pull on the support, or what
    the end carries of its momentum (whose second difference is a body's force).
    """
    if pickup.kind == "body_force":
        momentum = string.density / b
        return momentum if pickup.at == 0.0 else -momentum * elementwise.cos(b * string.length)
    if pickup.kind == "bridge_force":
        pull = string.tension * b + string.stiffness * (b * b * b)
        # T u_x - EI u_xxx at x = 0; at the far end the outward slope is -cos(n pi).
        return pull if pickup.at == 0.0 else -pull * elementwise.cos(b * string.length)
    return shape(b, np.array([pickup.at * string.length]))[0]


def shares(problem: Problem, points: ContactPoints) -> tuple[Array, Array]:
    """For each pickup that hears a body, how much of the force of each contact and of the pluck is not in the momentum
    of its end (hearing.py).
    """
    ends = np.array([pickup.at for pickup in on_body(problem.pickups)])
    held = 1.0 - np.abs(ends - problem.excitation.position)
    return np.abs(ends[:, None] - points.position / problem.string.length), held


def design(
    problem: Problem, rate: float, *, band: float = inf, dtype: Any = np.float64, rule: int = contact.SHIPPED
) -> Design:
    """Coefficients of the kernel at a sample rate."""
    string, m = problem.string, modes(problem.string, rate, band)
    b, mass, k = m.wavenumber, 0.5 * string.density * string.length, 1.0 / rate
    points = problem.modal_points(b.size)
    refuse_excess(string, (b.size + points.height.size) * (points.height.size + len(problem.pickups)))
    r, o, a_star, b_star, c = poles(m, rate)
    spread = k * k / mass * c
    touching = shape(b, points.position)
    heard = np.array([pickup_row(string, b, p) for p in problem.pickups]).reshape(-1, b.size)
    rows = np.concatenate([touching, heard])
    share, held = shares(problem, points)
    stiffness = 4.0 * mass * a_star / (k * k)
    rest, penetration = resting(touching, stiffness, points, problem.contact.exponent)

    def cast(array: Array) -> NDArray[Any]:
        made = zeros((*array.shape[:-1], b.size + -b.size % PADDING), dtype)
        made[..., : b.size] = array
        return made

    coefficients = Coefficients(
        forward=cast(2.0 * r * o),
        backward=cast(r**2),
        inject=cast(spread * shape(b, np.array([problem.excitation.position * string.length]))[0]),
        spread=cast(spread),
        rows=cast(rows),
        share=share.astype(dtype),
        grip=held.astype(dtype),
        response=point_response(cast(rows), cast(spread), points.height.size),
        height=points.height.astype(dtype),
        law=contact.law(points, problem.contact, rate, dtype, rule),
        inertia=np.array([0.5 * mass / (k * k)], dtype),
        spring=cast(stiffness / 8.0),
        resistance=cast(0.5 * mass * b_star / (k * k)),
        rest=cast(rest),
        rest_psi=contact.psi_at(penetration, points, problem.contact.exponent).astype(dtype),
    )
    return Design(problem, rate, m, points, coefficients)


def resting(touching: Array, stiffness: Array, points: ContactPoints, exponent: float) -> tuple[Array, Array]:
    """Where the string rests, mode by mode, and how deep each point is in it then."""
    if not contact.pressing(points).any():
        return np.zeros(stiffness.size), points.height
    pressed = contact.equilibrium(product(touching / stiffness, touching.T), points, exponent)
    rest = product(pressed, touching) / stiffness
    return rest, points.height - product(touching, rest)


def point_response(rows: NDArray[Any], spread: NDArray[Any], points: int) -> NDArray[Any]:
    """response[k, l] = sum of spread * rows[k] * rows[l], in an order that no library or process can change."""
    response = zeros((points, len(rows)), rows.dtype)
    answer_points(rows, spread, response, zeros(spread.size, rows.dtype))
    return response


@called_by_python
def answer_points(rows: Any, spread: Any, response: Any, scratch: Any) -> None:
    """The same in place."""
    for k in range(response.shape[0]):
        for i in range(spread.size):
            scratch[i] = spread[i] * rows[k, i]
        project(rows, scratch, response[k])


def state(c: Coefficients) -> State:
    """Memory of one string at rest."""
    size, dtype = c.forward.size, c.forward.dtype
    touch = contact.touch(c.height.size, dtype)
    s = State(zeros(size, dtype), zeros(size, dtype), zeros(len(c.rows), dtype), touch, np.zeros(1, np.int64))
    reset(c, s)
    return s


@called_by_python
def reset(c: Coefficients, s: State) -> None:
    """Back to static equilibrium, silent."""
    copy(c.rest, s.even)
    copy(c.rest, s.odd)
    project(c.rows, s.even, s.free)
    for k in range(c.height.size):
        s.touch.now[k] = s.free[k]
        s.touch.before[k] = s.free[k]
        s.touch.psi[k] = c.rest_psi[k]
        s.touch.force[k] = c.law.zero
    s.touch.lost[0] = c.law.zero
    s.clock[0] = 0


def released(d: Design, initial: Callable[[Array], Array]) -> tuple[Array, Array]:
    """Modal values of a string that is held in the shape `initial`(x) and let go at t = 0, then and the step before.

    Sine coefficients by the trapezoidal rule on a grid fine enough for every mode; the step before t = 0 is the
    free motion run backwards, so that modes leave with exactly zero velocity.
    """
    string, b, k = d.problem.string, d.modes.wavenumber, 1.0 / d.rate
    intervals = 8 * b.size
    x = np.arange(1, intervals) * (string.length / intervals)
    y = product(shape(b, x).T, initial(x)) * (2.0 / intervals)
    w, sigma = d.modes.frequency, d.modes.decay
    return y, y * elementwise.exp(sigma * k) * (elementwise.cos(w * k) - sigma / w * elementwise.sin(w * k))


def release(d: Design, s: State, initial: Callable[[Array], Array]) -> None:
    """Let the string go from that shape."""
    y, earlier = released(d, initial)
    reset(d.coefficients, s)
    s.even[: y.size], s.odd[: y.size] = y, earlier
    s.touch.now[:] = product(shape(d.modes.wavenumber, d.points.position), y)
    s.touch.before[:] = product(shape(d.modes.wavenumber, d.points.position), earlier)
    s.touch.psi[:] = contact.psi_at(d.points.height - s.touch.now, d.points, d.problem.contact.exponent)


@native
def add(force: Any, inject: Any, y: Any) -> None:
    """y += force * inject."""
    for i in range(y.size):
        y[i] += force * inject[i]


@inlined
def step(c: Coefficients, s: State, now: Any, after: Any, force: Any, out: Any) -> None:
    """From `now` to `after`, which lies where the step before was; `out` then has the pickups and what is carried."""
    points = c.height.size
    advance(c.forward, c.backward, now, after)
    if force != c.law.zero:
        add(force, c.inject, after)
    project(c.rows, after, s.free)
    if points:
        pushed = contact.sweep(c.law, c.height, c.response, s.free, s.touch, (s.clock[0] & 1) == 0)
        for j in range(pushed):
            k = s.touch.pushed[j]
            for row in range(s.free.size):
                s.free[row] += c.response[k, row] * s.touch.force[k]
        spread(c.spread, c.rows, s.touch.force, s.touch.pushed, pushed, after)
        for k in range(points):
            s.touch.before[k] = s.touch.now[k]
            s.touch.now[k] = s.free[k]
    hear(c, s, force, out)
    s.clock[0] += 1


@inlined
def hear(c: Coefficients, s: State, force: Any, out: Any) -> None:
    """The pickups of the new step; behind them what contact and pluck carry on the way to it."""
    points, pickups = c.height.size, c.rows.shape[0] - c.height.size
    for p in range(pickups):
        out[p] = s.free[points + p]
    for b in range(c.grip.size):
        carried = -c.grip[b] * force
        for k in range(points):
            carried += c.share[b, k] * s.touch.force[k]
        out[pickups + b] = carried


@called_by_python
def kernel(c: Coefficients, s: State, force: Any, out: Any) -> None:
    """Advance force.size steps; out[t] is what `hear` finds after step t. Allocates nothing."""
    now, after = s.even, s.odd
    if s.clock[0] & 1:
        now, after = after, now
    for t in range(force.size):
        step(c, s, now, after, force[t], out[t])
        now, after = after, now


@called_by_python
def energy(c: Coefficients, s: State) -> Any:
    """Kinetic, potential and contact energy between the last two steps, J (NUMERICS section 3)."""
    k0 = k1 = k2 = k3 = p0 = p1 = p2 = p3 = stored = c.law.zero
    # Four sums side by side, which the processor adds at once; PADDING makes the number of modes a multiple of four.
    for i in range(0, s.even.size, 4):
        k0 += (s.even[i] - s.odd[i]) ** 2
        k1 += (s.even[i + 1] - s.odd[i + 1]) ** 2
        k2 += (s.even[i + 2] - s.odd[i + 2]) ** 2
        k3 += (s.even[i + 3] - s.odd[i + 3]) ** 2
        p0 += c.spring[i] * (s.even[i] + s.odd[i]) ** 2
        p1 += c.spring[i + 1] * (s.even[i + 1] + s.odd[i + 1]) ** 2
        p2 += c.spring[i + 2] * (s.even[i + 2] + s.odd[i + 2]) ** 2
        p3 += c.spring[i + 3] * (s.even[i + 3] + s.odd[i + 3]) ** 2
    for k in range(c.height.size):
        stored += c.law.half * s.touch.psi[k] ** 2
    return c.inertia[0] * ((k0 + k1) + (k2 + k3)), (p0 + p1) + (p2 + p3), stored


@called_by_python
def observe(c: Coefficients, s: State, force: Any, log: Log) -> None:
    """The kernel step by step, with everything metered: energy balance of NUMERICS section 3."""
    first, shot, lost, work = s.clock[0], 0, log.sums[0], log.sums[1]
    while shot < log.at.size and log.at[shot] < first:
        shot += 1
    for n in range(force.size):
        now, after = (s.odd, s.even) if s.clock[0] & 1 else (s.even, s.odd)
        while shot < log.at.size and log.at[shot] == first + n:
            copy(now, log.shapes[shot])
            shot += 1
        before = log.scratch
        copy(after, before)
        kernel(c, s, force[n : n + 1], log.out[n : n + 1])
        dissipated = moved = c.law.zero
        for i in range(now.size):
            span = after[i] - before[i]
            dissipated += c.resistance[i] * span * span
            if c.spread[i] > c.law.zero:
                moved += c.inject[i] / c.spread[i] * span
        lost += dissipated
        work += c.law.half * force[n] * moved
        log.kinetic[n], log.potential[n], log.contact[n] = energy(c, s)
        for k in range(c.height.size):
            log.force[n, k] = s.touch.force[k]
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
    heard = c.rows[c.height.size :]
    start, before = (np.append(product(heard, y), np.zeros(c.grip.size)) for y in (s.even, s.odd))
    steps = force.size if steps is None else steps
    kept = min(most, steps) if listener else steps
    book = log(kept, start.size, c.height.size, c.forward.size, at, c.forward.dtype)
    b = d.modes.wavenumber
    x = np.linspace(0.0, d.problem.string.length, 2 * b.size + 1)
    opened = Run(d.rate, d.points, before, start, book, x, np.zeros((0, x.size)))
    in_pieces(partial(observe, c, s), force, steps, most, opened, listener)
    return opened._replace(snapshots=product(book.shapes[:, : b.size], shape(b, x).T))
