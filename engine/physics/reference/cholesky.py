"""The modal string with all quadratised contact points solved at once (§2.3), by Cholesky.

    z = (I + G W G / 4)^-1 (G / 2)(D - W G psi),   psi+ = psi + z,   F = G (psi + z / 2),   G = diag g

The engine's kernel sweeps over the points instead. With one point the two are the same; with several they differ
in how the points share a step. The rule for g knows one point at a time, so where neighbours push a point out faster
than it could know, its g is lowered and the step solved again until nothing pulls. Energy is exact for any g.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from engine.physics import contact
from engine.physics.modes import poles, shape
from engine.physics.problem import Problem
from engine.physics.record import Run, log
from engine.physics.reference.gradient import Outlook, Rule, entry_secant, releasing
from engine.physics.reference.modal_string import ModalString, at_rest, freely, hear, modal_string, sines
from engine.physics.reference.power_law import PowerLaw
from engine.physics.string import Array

PATIENCE = 30  # solves after which a point that still pulls is left out of the step (seen: at most 5)


@dataclass(frozen=True)
class Points:
    """The contact points' law and how they answer each other; g by `rule` for each."""

    height: Array
    laws: tuple[PowerLaw, ...]
    response: Array  # W: [K, K] displacement per newton
    rule: Rule

    def step(self, now: Array, before: Array, free: Array, psi: Array) -> tuple[Array, Array]:
        """Forces (N) and psi+ from the displacements at n, n - 1 and, without contact, n + 1."""
        eta, push, compliance = self.height - now, before - free, np.diag(self.response)
        known = np.stack([self.height - before, eta, push, psi, compliance], axis=1)
        outlook = [Outlook(*point) for point in known.tolist()]
        g = np.array([self.rule(law, at) for law, at in zip(self.laws, outlook, strict=True)])
        for solve in range(PATIENCE + len(g)):
            force, after = self.solve(g, push, psi)
            after[np.abs(after) < 1e-12 * psi.max(initial=0.0)] = 0.0  # what rounding leaves of a release
            pulling = np.flatnonzero(after < 0.0)
            if pulling.size == 0:
                break
            alone = push - self.response @ force + compliance * force
            for k in pulling:
                g[k] = min(g[k], releasing(outlook[k]._replace(change=float(alone[k])))) if solve < PATIENCE else 0.0
        return force, after

    def solve(self, g: Array, push: Array, psi: Array) -> tuple[Array, Array]:
        """One solve with given g, on the points where it is not zero."""
        on = g > 0.0
        force, after = np.zeros_like(psi), psi.copy()
        half, w = 0.5 * g[on], self.response[np.ix_(on, on)]
        lower = np.linalg.cholesky(np.eye(half.size) + half[:, None] * w * half)
        z = np.linalg.solve(lower.T, np.linalg.solve(lower, half * (push[on] - 2.0 * w @ (half * psi[on]))))
        force[on], after[on] = half * (2.0 * psi[on] + z), psi[on] + z
        return force, after


def run(
    problem: Problem,
    rate: float,
    force: Array,
    *,
    at: NDArray[np.int64],
    initial: Callable[[Array], Array] | None = None,
    band: float = inf,
    rule: Rule = entry_secant,
) -> Run:
    """A metered run from rest, or from the shape `initial`; conventions of record.py. `rule` is one of gradient.py."""
    s = modal_string(problem, rate, band)
    r, o, a_star, b_star, c = poles(s.modes, rate)
    spread = c / (rate**2 * s.mass)
    spring, resistance = 4.0 * s.mass * a_star * rate**2, 2.0 * s.mass * b_star * rate
    laws = tuple(PowerLaw(float(stiffness), s.springs.exponent) for stiffness in s.points.stiffness)
    points = Points(s.points.height, laws, (s.touching * spread) @ s.touching.T, rule)
    earlier, y = _start(s, spring, initial)
    psi = contact.psi_at(s.points.height - s.touching @ y, s.points, s.springs.exponent)
    before, start = (hear(s, level, np.zeros(psi.size), 0.0) for level in (earlier, y))
    book = log(force.size, start.size, psi.size, y.size, at)
    for n in range(force.size):
        book.shapes[at == n] = y
        after = 2.0 * r * o * y - r**2 * earlier + spread * force[n] * s.striking
        pushed, psi = points.step(s.touching @ y, s.touching @ earlier, s.touching @ after, psi)
        after += spread * (pushed @ s.touching)
        step, middle, span = after - y, 0.5 * (after + y), after - earlier
        book.kinetic[n] = 0.5 * s.mass * rate**2 * (step @ step)
        book.potential[n] = 0.5 * middle @ (spring * middle)
        book.contact[n] = 0.5 * (psi @ psi)
        book.lost[n] = 0.25 * rate * span @ (resistance * span)
        book.work[n] = 0.5 * force[n] * (s.striking @ span)
        book.force[n], book.out[n] = pushed, hear(s, after, pushed, force[n])
        earlier, y = y, after
    np.cumsum(book.lost, out=book.lost)
    np.cumsum(book.work, out=book.work)
    x = np.linspace(0.0, problem.string.length, 2 * y.size + 1)
    return Run(rate, s.points, before, start, book, x, book.shapes @ shape(s.modes.wavenumber, x).T)


def _start(s: ModalString, spring: Array, initial: Callable[[Array], Array] | None) -> tuple[Array, Array]:
    """Modal values at n = -1 and 0."""
    if initial is None:
        y = at_rest(s, spring)
        return y, y
    y = sines(s, initial)
    return freely(s, y, -1.0), y
