"""Elastic contact of many points solved to the last digit by Newton's method: papers 002 eq. (41) and 004 eq. (28).

    r = free - W F(r),   F_k(r) = [phi_k(start_k + r_k) - phi_k(start_k)] / r_k

r is the change of penetration over the step, `free` what it would be without contact force, and W >= 0 how much a
force at one point takes off the penetration at another. F is the discrete gradient that conserves energy.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from engine.errors import PhysicsWarning
from engine.physics.string import Array

MOST = 200  # Newton steps; a convex problem this small has never needed a third of them
ROUNDING, TINY = float(np.finfo(np.float64).eps), float(np.finfo(np.float64).tiny)


class Springs(NamedTuple):
    """One-sided power-law springs: K_k [eta_k]^exponent."""

    stiffness: Array
    exponent: float

    def force(self, eta: Array) -> Array:
        """phi'(eta), N."""
        return self.stiffness * np.clip(eta, 0.0, None) ** self.exponent

    def potential(self, eta: Array) -> Array:
        """phi(eta), J."""
        return self.force(eta) * np.clip(eta, 0.0, None) / (self.exponent + 1.0)

    def gradient(self, start: Array, r: Array) -> tuple[Array, Array]:
        """The discrete gradient F and its slope dF/dr >= 0."""
        end = start + r
        deepest = np.maximum(start, end)
        # Below this the quotient cancels; the midpoint is then the better value, wrong by (r / end)^2 / 24.
        short = np.abs(r) <= 1e-5 * np.abs(deepest)
        span = np.where(short, 1.0, r)
        middle = start + 0.5 * r
        quotient = (self.potential(end) - self.potential(start)) / span
        force = np.where(short, self.force(middle), quotient)
        bend = 0.5 * self.exponent * self.force(middle) / np.where(middle > 0.0, middle, 1.0)
        slope = np.where(short, bend, (self.force(end) - quotient) / span)
        apart = deepest <= 0.0
        return np.where(apart, 0.0, force), np.where(apart, 0.0, np.clip(slope, 0.0, None))


class Solution(NamedTuple):
    """Point forces (N), how many Newton steps they took, and whether the last one changed nothing any more."""

    force: Array
    iterations: int
    converged: bool


@dataclass
class Tally:
    """What the solver went through in a run: steps, most Newton iterations in one, steps that did not converge."""

    steps: int = 0
    most: int = 0
    failed: int = 0

    def add(self, solution: Solution) -> Array:
        """Count a solution; returns its forces."""
        self.steps += 1
        self.most = max(self.most, solution.iterations)
        self.failed += not solution.converged
        return solution.force

    def report(self) -> None:
        """Say so if any step did not converge: such a run is not energy-conserving."""
        if self.failed:
            warnings.warn(
                f"Newton's method did not converge in {self.failed} of {self.steps} steps: "
                "lower contact.stiffness or raise the sample rate",
                PhysicsWarning,
                stacklevel=3,
            )


def apart(springs: Springs, start: Array, free: Array, response: float, iterations: int | None = None) -> Solution:
    """Points that do not feel each other (nodes of a grid): one equation each, W = response times unity.

    The residual rises and is convex in r and is not negative at r = free, so Newton descends from there to the only
    root and never passes it: when no point descends any more, rounding is all that is left. `iterations` takes that
    many steps instead, and no look at the residual, as paper 002 does.
    """
    r = free.copy()
    low = free - response * springs.gradient(start, free)[0]  # rounding could carry a step past the root, not past this
    taken, descending = 0, True
    while descending and taken < (MOST if iterations is None else iterations):
        force, slope = springs.gradient(start, r)
        following = np.maximum(low, r - (r - free + response * force) / (1.0 + response * slope))
        taken += 1
        if iterations is None:
            descending = bool((following < r).any())
            following = np.minimum(following, r)
        r = following
    return Solution((free - r) / response, taken, iterations is not None or not descending)


def together(
    springs: Springs, start: Array, free: Array, response: Array, guess: Array, *, damped: bool = True
) -> Solution:
    """Coupled points. The unknown is the force f, with r = free - W f, so a singular W does no harm.

    The iterates are those of Newton's method on paper 004 eq. (28), but each linear system is I + sqrt(F') W sqrt(F'),
    whose eigenvalues are at least 1. W (f - F) is the gradient of a convex energy of f: `damped` halves a step for as
    long as the energy still rises along it at its end, which costs nothing where plain Newton converges and makes it
    converge everywhere. The energy itself has no closed form, its slope along the step has.
    """
    f, smallest = guess, np.inf
    for taken in range(1, MOST + 1):
        r = free - response @ f
        force, slope = springs.gradient(start, r)
        step = -_resolvent(response, slope, f - force)
        # Each point by its own measure: a barely touching one may sit beside one far from its obstacle.
        change = float((np.abs(response @ step) / (np.abs(start) + np.abs(free) + np.abs(r) + TINY)).max())
        if change <= 4.0 * ROUNDING or (change <= 1e-12 and change >= smallest):
            return Solution(f, taken, True)
        smallest = change
        if damped:
            step = _shortened(springs, start, free, response, f, step)
        f = f + step
    return Solution(f, MOST, False)


def _resolvent(response: Array, slope: Array, residual: Array) -> Array:
    """(I + F' W)^-1 residual, by Woodbury's identity on the points that touch."""
    on = slope > 0.0
    if not on.any():
        return residual
    root = np.sqrt(slope[on])
    system = np.eye(root.size) + root[:, None] * response[np.ix_(on, on)] * root
    out = residual.copy()
    out[on] -= root * np.linalg.solve(system, root * (response[on] @ residual))
    return out


def _shortened(springs: Springs, start: Array, free: Array, response: Array, f: Array, step: Array) -> Array:
    """The step, halved while the energy rises at its end by more than a tenth of how it falls at its beginning."""
    lever = response @ step

    def rise(part: float) -> float:
        force, _ = springs.gradient(start, free - response @ (f + part * step))
        return float(lever @ (f + part * step - force))

    part, limit = 1.0, -0.9 * rise(0.0)
    while rise(part) > limit and part > 1e-9:
        part *= 0.5
    return part * step
