"""The explicit, non-iterative finite-difference string over a barrier (paper 002 section 3.1.2).

    A0 u* = ((2 rho/k^2) u - (rho/k^2 - rho s0/k) u-) - (4 rho/k^2) Q u - 2 rho S(u - u-)/k + I f
    u+ = u* + F/(h A0),   A0 = rho/k^2 + rho s0/k,   F >= 0 from contact.py at every node or obstacle that touches

Q stands for tension and stiffness (the paper's is (k^2/4 rho)(EI d_xxxx - T d_xx); here dispersion.py), S for the
losses that need space differences (losses.py). Node m sits at index m + ORIGIN.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.aligned import zeros
from engine.compiled import called_by_python, called_with, copy, inlined
from engine.layout import Integers, Matrix, Vector
from engine.opened import group_type
from engine.physics import contact
from engine.physics.barrier import Barrier, ContactPoints
from engine.physics.contact import Law, Touch
from engine.physics.dispersion import REACH, taps
from engine.physics.far_neighbours import image, reach_far
from engine.physics.grid import MARGIN, ORIGIN, Grid, grid, interpolation
from engine.physics.grid_contact import Touchable, meet_nodes, meet_obstacles, read_points
from engine.physics.linear import product, total
from engine.physics.losses import far_taps, loss_taps
from engine.physics.problem import AT_AN_END, Pickup, Problem
from engine.physics.record import MOST_AT_ONCE, Listener, Log, Run, in_pieces, keep_shapes, log
from engine.physics.responses import deep, in_vectors
from engine.physics.spots import Spots, compliance, contact_spots, shared
from engine.physics.string import Array, String
from engine.vectors import PADDING, stiff_step, wide_step

TAPS = 4  # nodes that excitation and pickups are interpolated over (the same for both: reciprocity is exact)


class Stencil(NamedTuple):
    """The linear update: symmetric taps 0..REACH on u and u-, and losses between nodes farther apart."""

    intervals: int
    wide: bool  # whether u is needed beyond two neighbours, or u- beyond one
    now: Vector
    before: Vector
    offset: Integers  # beyond REACH
    far: Vector  # taps on u- there, and less them on u


class Ports(NamedTuple):
    """Where force goes in and motion comes out."""

    inject_node: int
    inject: Vector  # [TAPS] displacement per newton
    pickup_node: Integers
    pickup: Matrix  # [P, TAPS]
    carries: Vector  # [P]: 1 where a body is heard, which carries the barrier, too; else 0


class EnergyTerms(NamedTuple):
    """Constants of the energy balance."""

    inertia: float  # rho h / 2k^2
    elastic: Vector  # taps of (rho h / 2k^2) 4 Q
    centred: float  # rho h s0 / 2k
    backward: Vector  # taps of rho h S / 2k
    far: Vector  # the same beyond REACH


class Coefficients(NamedTuple):
    """What the kernel reads."""

    stencil: Stencil
    ports: Ports
    surface: Touchable
    meter: EnergyTerms
    rest: Vector  # static equilibrium
    rest_psi: Vector


class State(NamedTuple):
    """What the kernel changes: three time levels that take turns, the contact's memory, steps since reset."""

    level0: Vector
    level1: Vector
    level2: Vector
    free: Vector
    touch: Touch
    clock: Integers


@dataclass(frozen=True)
class Design:
    """A problem made ready for a sample rate."""

    problem: Problem
    rate: float
    grid: Grid
    points: ContactPoints
    coefficients: Coefficients

    @property
    def width(self) -> int:
        """How many numbers the kernel gives for a step: the pickups'."""
        return len(self.problem.pickups)


def design(
    problem: Problem,
    rate: float,
    *,
    margin: float = MARGIN,
    bent: float = 1.0,
    dtype: Any = np.float64,
    rule: int = contact.SHIPPED,
    on: Grid | None = None,
) -> Design:
    """Coefficients of the kernel at a sample rate, on a grid of its own or on a given one.

    A grid of its own leaves room for `bent` times the tension.
    """
    g = grid(problem.string, rate, margin, bent) if on is None else on
    points = problem.grid_points(g.intervals)
    pressed = bool(contact.pressing(points).any())
    # Nodes over a barrier that the resting string clears are never asked where they are.
    lone = isinstance(problem.barrier, Barrier) and not pressed
    spots = Spots(np.zeros(0, np.int64), np.zeros((0, 2))) if lone else contact_spots(points, g)
    rest, psi = equilibrium(problem, points, g, spots, rate)
    law = contact.law(points, problem.contact, rate, dtype, rule)
    if isinstance(problem.barrier, Barrier):
        law = law._replace(slope=in_vectors(law.slope, dtype))
    coefficients = Coefficients(
        _stencil(problem.string, g, rate, dtype),
        _ports(problem, g, rate, dtype),
        _surface(problem, points, g, spots, rate, law),
        _meter(problem.string, g, rate, dtype),
        np.pad(rest, (ORIGIN + 1, REACH + 1 + PADDING)).astype(dtype),
        psi.astype(dtype),
    )
    return Design(problem, rate, g, points, coefficients)


def equilibrium(problem: Problem, points: ContactPoints, g: Grid, spots: Spots, rate: float) -> tuple[Array, Array]:
    """Where the string rests, at the moving nodes, and psi at the points."""
    up = contact.pressing(points)
    if not up.any():
        return np.zeros(g.intervals - 1), np.zeros(points.height.size)
    nodes, at_points = compliance(restoring(problem.string, g, rate), g, Spots(spots.node[up], spots.two[up]))
    above = ContactPoints(points.position[up], points.height[up], points.stiffness[up])
    rest = product(nodes, contact.equilibrium(at_points, above, problem.contact.exponent))
    return rest, contact.psi_at(points.height - spots.read(rest), points, problem.contact.exponent)


def restoring(string: String, g: Grid, rate: float) -> Array:
    """Taps of the force that pulls a node back, N/m per displacement."""
    return taps(g.elastic, string.tension) * (string.density * rate * rate)


def node_answer(string: String, g: Grid, rate: float) -> float:
    """Displacement of a moving node, one step on, per newton: k^2 / (rho h (1 + s0 k))."""
    return 1.0 / (rate * rate * string.density * g.spacing * (1.0 + g.loss.s0 / rate))


def pickup_taps(string: String, g: Grid, pickup: Pickup) -> tuple[int, Array]:
    """First node and weights of a pickup; a velocity is the difference of its displacement."""
    if pickup.kind not in AT_AN_END:
        return interpolation(pickup.at * string.length, g.spacing, g.intervals, min(TAPS, g.intervals - 1))
    # T u_x - EI u_xxx at the support: what the grid's differences leave, summed over the nodes with any weights that go
    # straight from one end to the other. With T and EI as they stand, u_1/h and (u_2 - 2 u_1)/h^3.
    pull = taps(g.elastic, string.tension) * (string.density * g.spacing / (g.elastic.step * g.elastic.step))
    weights = np.zeros(min(REACH, g.intervals - 1))
    for p in range(1, REACH + 1):
        weight = -pull[p] - 2.0 * float(pull[p + 1 :].sum())
        if p < g.intervals:
            weights[p - 1] += weight
        elif p > g.intervals:  # of a grid so short that the taps reach across it
            weights[2 * g.intervals - p - 1] -= weight
    return (1, weights) if pickup.at == 0.0 else (g.intervals - weights.size, weights[::-1])


def _stencil(string: String, g: Grid, rate: float, dtype: Any) -> Stencil:
    k, s0 = 1.0 / rate, g.loss.s0
    before = loss_taps(g.loss) * (2.0 * k)
    offset, far = far_taps(g.loss)
    now = -taps(g.elastic, string.tension) - before
    wide = bool((now[3:] != 0.0).any() or (before[2:] != 0.0).any())
    now[0] += 2.0
    before[0] -= 1.0 - s0 * k
    scale = 1.0 + s0 * k
    far *= 2.0 * k / scale
    now, before = now / scale, before / scale
    # A long wave feels only what the taps come to together, which is little: rounding may not take of that.
    # What it takes goes to the largest tap, and what that cannot hold to the smallest, which has the finest digits.
    rounded, earlier = now.astype(dtype), before.astype(dtype)
    fine, tap = min(
        ((taps, j) for taps in (rounded, earlier) for j in range(1, REACH + 1) if taps[j] != 0.0),
        key=lambda place: abs(place[0][place[1]]),
    )
    for held, j, sides in ((rounded, 0, 1.0), (fine, tap, 2.0)):
        lacking = (now - rounded) + (before - earlier)
        held[j] += dtype((lacking[0] + 2.0 * total(lacking[1:])) / sides)
    return Stencil(g.intervals, wide, rounded, earlier, offset, far.astype(dtype))


def _ports(problem: Problem, g: Grid, rate: float, dtype: Any) -> Ports:
    string, inject = problem.string, np.zeros(TAPS)
    taps = min(TAPS, g.intervals - 1)
    node, weights = interpolation(problem.excitation.position * string.length, g.spacing, g.intervals, taps)
    inject[: weights.size] = weights * node_answer(string, g, rate)
    heard = [pickup_taps(string, g, p) for p in problem.pickups]
    pickup = np.zeros((len(heard), TAPS))
    for row, (_, weights) in zip(pickup, heard, strict=True):
        row[: weights.size] = weights
    carries = np.array([p.kind == "body_force" for p in problem.pickups], dtype)
    first = np.array([n for n, _ in heard], np.int64)
    return Ports(node, inject.astype(dtype), first, pickup.astype(dtype), carries)


def _surface(problem: Problem, points: ContactPoints, g: Grid, spots: Spots, rate: float, law: Law) -> Touchable:
    dtype = law.slope.dtype.type
    answer = node_answer(problem.string, g, rate)
    on_nodes = isinstance(problem.barrier, Barrier)
    obstacles = Spots(spots.node[:0], spots.two[:0]) if on_nodes else spots
    first = round(float(points.position[0]) / g.spacing) if on_nodes else 0
    two, response = obstacles.two.astype(dtype), (answer * shared(obstacles)).astype(dtype)
    height = deep(points.height, dtype) if on_nodes else points.height.astype(dtype)
    return Touchable(height, law, dtype(answer), first, obstacles.node, two, response)


def _meter(string: String, g: Grid, rate: float, dtype: Any) -> EnergyTerms:
    mass = string.density * g.spacing
    _, far = far_taps(g.loss)
    return EnergyTerms(
        dtype(0.5 * mass * rate * rate),
        (taps(g.elastic, string.tension) * (0.5 * mass * rate * rate)).astype(dtype),
        dtype(0.5 * mass * g.loss.s0 * rate),
        (loss_taps(g.loss) * (0.5 * mass * rate)).astype(dtype),
        (far * (0.5 * mass * rate)).astype(dtype),
    )


def state(c: Coefficients) -> State:
    """Memory of one string at rest."""
    dtype = c.rest.dtype
    oldest, older, newest = (zeros(c.rest.size, dtype) for _ in range(3))
    points = c.surface.height.size
    s = State(oldest, older, newest, np.zeros(points, dtype), contact.touch(points, dtype), np.zeros(1, np.int64))
    reset(c, s)
    return s


@called_with(group_type(Coefficients), group_type(State))
def reset(c: Coefficients, s: State) -> None:
    """Back to static equilibrium, silent."""
    copy(c.rest, s.level0)
    copy(c.rest, s.level1)
    copy(c.rest, s.level2)
    read_points(c.surface, s.level1, s.touch.now)
    read_points(c.surface, s.level1, s.touch.before)
    copy(c.rest_psi, s.touch.psi)
    for k in range(s.touch.force.size):
        s.touch.force[k] = c.surface.law.zero
    s.touch.lost[0] = c.surface.law.zero
    s.clock[0] = 0
    for level in (s.level0, s.level1, s.level2):
        _reflect(level, c.stencil.intervals)


def release(d: Design, s: State, initial: Callable[[Array], Array]) -> None:
    """Hold the string in the shape `initial`(x) and let go at t = 0.

    The step before t = 0 mirrors the free step after it, the second-order form of zero velocity.
    """
    c, n = d.coefficients, d.grid.intervals
    reset(c, s)
    s.level1[ORIGIN : ORIGIN + n + 1] = initial(np.arange(n + 1) * d.grid.spacing)
    s.level1[[ORIGIN, ORIGIN + n]] = 0.0
    _reflect(s.level1, n)
    elastic = taps(d.grid.elastic, d.problem.string.tension)
    inner = slice(ORIGIN + 1, ORIGIN + n)
    s.level0[:] = s.level1
    for j in range(-REACH, REACH + 1):
        s.level0[inner] -= 0.5 * elastic[abs(j)] * s.level1[ORIGIN + 1 + j : ORIGIN + n + j]
    _reflect(s.level0, n)
    spots = contact_spots(d.points, d.grid)
    points = d.points.height.size
    s.touch.now[:points] = spots.read(s.level1[inner])
    s.touch.before[:points] = spots.read(s.level0[inner])
    penetration = d.points.height - s.touch.now[:points]
    s.touch.psi[:points] = contact.psi_at(penetration, d.points, d.problem.contact.exponent)


@inlined
def _reflect(u: Any, intervals: int) -> None:
    """Odd images beyond the supports: u = u_xx = 0 there, for every even difference."""
    for j in range(1, REACH + 1):
        u[ORIGIN - j] = -u[ORIGIN + j]
        u[ORIGIN + intervals + j] = -u[ORIGIN + intervals - j]


@inlined
def _reflect_end(u: Any, intervals: int) -> None:
    """The same beyond the far support alone, which itself is held."""
    u[ORIGIN + intervals] = 0.0
    for j in range(1, REACH):
        u[ORIGIN + intervals + j] = -u[ORIGIN + intervals - j]


@inlined
def advance(c: Stencil, x: Any, y: Any, w: Any) -> None:
    """w = u*, from x = u and y = u-."""
    a, b, first, count = c.now, c.before, ORIGIN + 1, c.intervals - 1
    if c.wide:
        # y was x a step ago (or is fresh from `reset`): written anew, its images would be waited for.
        _reflect_end(x, c.intervals)
        wide_step((a[0], a[1], a[2], a[3], a[4]), (b[0], b[1], b[2], b[3], b[4]), x, y, w, first, count)
    else:
        stiff_step((a[0], a[1], a[2], b[0], b[1]), x, y, w, first, count)
    for k in range(c.offset.size):
        reach_far(c.offset[k], c.far[k], c.intervals, x, y, w)


@inlined
def levels(s: State) -> Any:
    """The three time levels, oldest first: the oldest is the next to be written."""
    turn = s.clock[0] % 3
    if turn == 0:
        return s.level2, s.level0, s.level1
    if turn == 1:
        return s.level0, s.level1, s.level2
    return s.level1, s.level2, s.level0


@inlined
def strike(ports: Ports, w: Any, force: Any) -> None:
    """The excitation's force on the new level; without one, no store that the next step's loads would wait for."""
    if force == 0.0:
        return
    for j in range(TAPS):
        w[ports.inject_node + ORIGIN + j] += force * ports.inject[j]


@inlined
def hear(ports: Ports, x: Any, w: Any, pressed: Any, out: Any) -> None:
    """The pickups of the new level w; a body's force is that of the step before, when the contacts pressed."""
    for p in range(out.size):
        i = ports.pickup_node[p] + ORIGIN
        if ports.carries[p] > 0.0:
            total = -pressed
            for j in range(TAPS):
                total += ports.pickup[p, j] * x[i + j]
        else:
            total = ports.pickup[p, 0] * w[i]
            for j in range(1, TAPS):
                total += ports.pickup[p, j] * w[i + j]
        out[p] = total


@inlined
def step(c: Coefficients, s: State, x: Any, y: Any, w: Any, force: Any, out: Any) -> None:
    """From x, and y before it, to w; out[p] is what pickup p hears then."""
    advance(c.stencil, x, y, w)
    strike(c.ports, w, force)
    pressed = c.surface.law.zero
    if c.surface.obstacle_node.size:
        pressed = meet_obstacles(c.surface, s.free, s.touch, w, (s.clock[0] & 1) == 0)
    elif c.surface.height.size:
        pressed = meet_nodes(c.surface, s.touch, x, y, w)
    hear(c.ports, x, w, pressed, out)
    s.clock[0] += 1


@called_by_python
def kernel(c: Coefficients, s: State, force: Any, out: Any) -> None:
    """Advance force.size steps; out[t, p] is pickup p after step t. Allocates nothing."""
    w, y, x = levels(s)
    for t in range(force.size):
        step(c, s, x, y, w, force[t], out[t])
        y, x, w = x, w, y


@inlined
def drained(c: Coefficients, w: Any, x: Any) -> Any:
    """What backward losses make of the change from x to w: (rho h / 2k) |w - x|^2_S."""
    m, n, total = c.meter, c.stencil.intervals, c.surface.law.zero
    for i in range(ORIGIN + 1, ORIGIN + n):
        d = w[i] - x[i]
        for j in range(-REACH, REACH + 1):
            total += m.backward[abs(j)] * d * (w[i + j] - x[i + j])
    for k in range(c.stencil.offset.size):
        offset = c.stencil.offset[k]
        for i in range(1, n):
            beside = image(w, i - offset, n) + image(w, i + offset, n)
            beside -= image(x, i - offset, n) + image(x, i + offset, n)
            total += m.far[k] * (w[ORIGIN + i] - x[ORIGIN + i]) * beside
    return total


@called_by_python
def energy(c: Coefficients, s: State) -> Any:
    """Kinetic, potential and contact energy between the last two steps, J.

    The backward losses are -2 rho S d_t- u; written with the centred difference they dissipate 2 rho |d_t. u|^2_S and
    take rho k/2 |d_t- u|^2_S off the kinetic energy, which the grid's stability condition keeps positive.
    """
    m, half = c.meter, c.surface.law.half
    _, x, w = levels(s)
    _reflect(w, c.stencil.intervals)
    _reflect(x, c.stencil.intervals)
    kinetic = potential = stored = c.surface.law.zero
    for i in range(ORIGIN + 1, ORIGIN + c.stencil.intervals):
        d = w[i] - x[i]
        kinetic += d * d
        pull = c.surface.law.zero
        for j in range(1, REACH + 1):
            pull += m.elastic[j] * ((x[i + j] - x[i]) + (x[i - j] - x[i]))
        potential += w[i] * pull
    for k in range(c.surface.height.size):
        stored += half * s.touch.psi[k] * s.touch.psi[k]
    return m.inertia * kinetic - drained(c, w, x), potential, stored


@called_by_python
def observe(c: Coefficients, s: State, force: Any, log: Log) -> None:
    """The kernel step by step, with everything metered."""
    m, n_nodes, half = c.meter, c.stencil.intervals, c.surface.law.half
    first, shot, lost, work = s.clock[0], 0, log.sums[0], log.sums[1]
    for n in range(force.size):
        w, y, x = levels(s)
        shot = keep_shapes(log, shot, first + n, x)
        kernel(c, s, force[n : n + 1], log.out[n : n + 1])
        _reflect(w, n_nodes)
        _reflect(y, n_nodes)
        centred = c.surface.law.zero
        for i in range(ORIGIN + 1, ORIGIN + n_nodes):
            centred += (w[i] - y[i]) * (w[i] - y[i])
        lost += m.centred * centred + drained(c, w, y)
        for j in range(TAPS):
            i = c.ports.inject_node + ORIGIN + j
            work += half * force[n] * c.ports.inject[j] / c.surface.answer * (w[i] - y[i])
        log.kinetic[n], log.potential[n], log.contact[n] = energy(c, s)
        for k in range(log.force.shape[1]):
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
    c, s, n = d.coefficients, state(d.coefficients), d.grid.intervals
    if initial is not None:
        release(d, s, initial)
    ports = c.ports
    reach = ports.pickup_node[:, None] + ORIGIN + np.arange(TAPS)
    before, start = ((ports.pickup * u[reach]).sum(axis=1) for u in (s.level0, s.level1))
    steps = force.size if steps is None else steps
    kept = min(most, steps) if listener else steps
    book = log(kept, start.size, d.points.height.size, c.rest.size, at, c.rest.dtype)
    x = np.arange(n + 1) * d.grid.spacing
    opened = Run(d.rate, d.points, before, start, book, x, np.zeros((0, n + 1)))
    in_pieces(partial(observe, c, s), force, steps, most, opened, listener)
    return opened._replace(snapshots=book.shapes[:, ORIGIN : ORIGIN + n + 1])
