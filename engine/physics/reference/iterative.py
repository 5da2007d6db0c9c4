"""The iterative, conservative finite-difference string over a barrier (paper 002 section 3.1.1, eq. 41).

    rho d_tt u = T d_xx u - EI d_xxxx u + (d_t+ phi^{n-1/2}) / (d_t. eta) + losses + I f

Grid, losses, force and pickups are those of the explicit scheme (grid.py, finite_difference.py), so that the two differ
in their contact alone. Elastic contact only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from engine.errors import PhysicsError
from engine.physics import finite_difference
from engine.physics.barrier import Barrier
from engine.physics.grid import MARGIN, ORIGIN, Grid
from engine.physics.problem import Problem
from engine.physics.record import Log, Run, log
from engine.physics.reference.implicit_contact import Solution, Springs, Tally, apart, together
from engine.physics.string import Array


@dataclass(frozen=True)
class Scheme:
    """The linear string of the explicit scheme with an implicit contact. Arrays over nodes hold all, 0 to N."""

    design: finite_difference.Design
    springs: Springs
    nodes: slice | None  # those over a barrier, which do not feel each other within a step; None for obstacles
    weights: Array  # [K, N + 1] displacement at the obstacles
    inject: Array  # [N + 1] displacement per newton of excitation
    pickups: Array  # [P, N + 1]
    iterations: int | None

    def free(self, u: Array, earlier: Array, force: float) -> Array:
        """u*: all nodes a step on, without contact force."""
        stencil = self.design.coefficients.stencil
        near = self.across(stencil.now, u) + self.across(stencil.before, earlier) + force * self.inject
        return near + self.across(self.far(stencil.far), earlier - u)

    def far(self, taps: Array) -> Array:
        """Taps at far offsets as an array of all."""
        offset = self.design.coefficients.stencil.offset
        every = np.zeros(1 + int(offset.max(initial=0)))
        every[offset] = taps
        return every

    def across(self, taps: Array, u: Array) -> Array:
        """Symmetric taps applied to every node, with odd images beyond the supports; zero on them."""
        n, reach = u.size - 1, taps.size - 1
        node = np.arange(-reach, n + reach + 1) % (2 * n)
        images = np.where(node <= n, u[np.minimum(node, n)], -u[np.minimum(2 * n - node, n)])
        out = np.convolve(images, np.concatenate([taps[:0:-1], taps]), "valid")
        out[[0, n]] = 0.0
        return out

    def backward(self, change: Array) -> Array:
        """What backward losses make of a change."""
        m = self.design.coefficients.meter
        return self.across(m.backward, change) + self.across(self.far(m.far), change)

    def points(self, u: Array) -> Array:
        """Displacement at the contact points."""
        return u[self.nodes] if self.nodes is not None else self.weights @ u

    def contact(self, start: Array, free: Array, guess: Array) -> Solution:
        """Contact forces for a penetration `start` at n - 1 and its change `free` until n + 1 without them."""
        surface = self.design.coefficients.surface
        if start.size == 0:
            return Solution(start, 0, True)
        if self.nodes is not None:
            return apart(self.springs, start, free, surface.answer, self.iterations)
        return together(self.springs, start, free, surface.response, guess)

    def push(self, u: Array, force: Array) -> None:
        """Add to u* what the contact forces do."""
        answer = self.design.coefficients.surface.answer
        if self.nodes is not None:
            u[self.nodes] += answer * force
        else:
            u += answer * (force @ self.weights)

    def meter(self, book: Log, n: int, force: float, levels: tuple[Array, Array, Array]) -> None:
        """The energy balance of the explicit scheme (finite_difference.observe), with phi in place of psi^2 / 2."""
        c, (after, u, earlier) = self.design.coefficients, levels
        m, step, span = c.meter, after - u, after - earlier
        height = self.design.points.height
        stored = [self.springs.potential(height - self.points(level)).sum() for level in (after, u)]
        book.kinetic[n] = m.inertia * (step @ step) - step @ self.backward(step)
        book.potential[n] = after @ self.across(m.elastic, u)
        book.contact[n] = 0.5 * (stored[0] + stored[1])
        book.lost[n] = m.centred * (span @ span) + span @ self.backward(span)
        book.work[n] = 0.5 * force * (self.inject @ span) / c.surface.answer


def scheme(
    problem: Problem, rate: float, margin: float = MARGIN, iterations: int | None = None, on: Grid | None = None
) -> Scheme:
    """The scheme at a sample rate, on the engine's grid or a given one.

    `iterations` fixes the number of Newton steps at nodes (paper 002 took 20).
    """
    if problem.contact.damping > 0.0:
        raise PhysicsError(
            "contact.damping",
            problem.contact.damping,
            "the iterative reference is elastic, it has none",
            "set it to 0 or use scheme fd",
        )
    d = finite_difference.design(problem, rate, margin=margin, on=on)
    ports, surface, n = d.coefficients.ports, d.coefficients.surface, d.grid.intervals
    over = isinstance(problem.barrier, Barrier)
    nodes = slice(surface.first_node, surface.first_node + d.points.height.size) if over else None
    weights = np.zeros((surface.obstacle_node.size, n + 1))
    for row, node, two in zip(weights, surface.obstacle_node, surface.obstacle, strict=True):
        row[node : node + 2] = two

    def spread(first: int, taps: Array) -> Array:
        return np.pad(taps, (first, n + 1))[: n + 1]

    pickups = [spread(int(first), taps) for first, taps in zip(ports.pickup_node, ports.pickup, strict=True)]
    return Scheme(
        d,
        Springs(d.points.stiffness, problem.contact.exponent),
        nodes,
        weights,
        spread(ports.inject_node, ports.inject),
        np.array(pickups).reshape(-1, n + 1),
        iterations,
    )


def run(
    problem: Problem,
    rate: float,
    force: Array,
    *,
    at: NDArray[np.int64],
    initial: Callable[[Array], Array] | None = None,
    band: float = inf,
    margin: float = MARGIN,
    iterations: int | None = None,
    on: Grid | None = None,
) -> Run:
    """A metered run from rest, or from the shape `initial`; conventions of record.py. A grid has no `band` to limit."""
    if band < inf:
        raise PhysicsError("band", band, "finite differences have no modes to leave out", "use a modal scheme")
    s, tally = scheme(problem, rate, margin, iterations, on), Tally()
    earlier, u = _start(s.design, initial)
    height, released, start = s.design.points.height, s.pickups @ earlier, s.pickups @ u
    carries = s.design.coefficients.ports.carries
    book = log(force.size, len(start), height.size, u.size, at)
    pushed = np.zeros(height.size)
    for n in range(force.size):
        book.shapes[at == n] = u
        after = s.free(u, earlier, float(force[n]))
        before, free = s.points(earlier), s.points(after)
        pushed = tally.add(s.contact(height - before, before - free, pushed))
        s.push(after, pushed)
        book.out[n] = np.where(carries > 0.0, s.pickups @ u - pushed.sum(), s.pickups @ after)
        book.force[n] = pushed
        s.meter(book, n, float(force[n]), (after, u, earlier))
        earlier, u = u, after
    tally.report()
    np.cumsum(book.lost, out=book.lost)
    np.cumsum(book.work, out=book.work)
    x = np.linspace(0.0, problem.string.length, u.size)
    return Run(rate, s.design.points, released, start, book, x, book.shapes)


def _start(d: finite_difference.Design, initial: Callable[[Array], Array] | None) -> tuple[Array, Array]:
    """The nodes at n = -1 and 0, as the explicit scheme starts."""
    s = finite_difference.state(d.coefficients)
    if initial is not None:
        finite_difference.release(d, s, initial)
    nodes = slice(ORIGIN, ORIGIN + d.grid.intervals + 1)
    return s.level0[nodes].copy(), s.level1[nodes].copy()
