"""A mass on a spring that meets a barrier from below (paper 002, section 2).

    M u'' = -M w0^2 u - F,   F = phi'(eta),   eta = u - height

The iterative scheme (002 eq. 19) and the non-iterative one (eq. 24) with a choice of gradient rule. Both conserve a
discrete energy to rounding. `lumped_exact.py` holds the motion that they approximate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, pi, sin, sqrt
from typing import NamedTuple

import numpy as np

from engine.errors import PhysicsError
from engine.physics.reference.gradient import Outlook, Rule, capped
from engine.physics.reference.power_law import PowerLaw, implicit_increment
from engine.physics.string import Array, require


@dataclass(frozen=True)
class LumpedCase:
    """Mass (kg), natural frequency (Hz, 0 for a free mass), barrier height and start (m), start speed (m/s), contact.

    The defaults are the case of 002 Fig. 1; its Fig. 2 has a stiffness of 7e7.
    """

    mass: float = 0.01
    frequency: float = 10.0
    height: float = 0.2
    start: float = -0.5
    speed: float = 1.0
    stiffness: float = 5e4
    exponent: float = 1.1

    def __post_init__(self) -> None:
        require("lumped.mass", self.mass, above=0.0)
        require("lumped.frequency", self.frequency, minimum=0.0)
        require("lumped.height", self.height)
        require("lumped.start", self.start)
        require("lumped.speed", self.speed)
        require("lumped.stiffness", self.stiffness, minimum=0.0)
        require("lumped.exponent", self.exponent, minimum=1.0)
        if self.start >= self.height:
            raise PhysicsError("lumped.start", self.start, f"must lie below the height {self.height:g} m", "lower it")

    @property
    def angular(self) -> float:
        """w0, rad/s."""
        return 2.0 * pi * self.frequency

    @property
    def law(self) -> PowerLaw:
        return PowerLaw(self.stiffness, self.exponent)

    def flight(self, t: float) -> float:
        """Where the mass would be after t seconds if there were no barrier."""
        w = self.angular
        return self.start * cos(w * t) + self.speed * t * float(np.sinc(w * t / pi))


class Trajectory(NamedTuple):
    """One row per step n: time, displacement, force at t = n k; psi and the energies (J) at t = (n + 1/2) k."""

    time: Array
    displacement: Array
    force: Array
    psi: Array
    kinetic: Array
    potential: Array
    contact: Array
    total: Array


class Bounce(NamedTuple):
    """A contact: when it starts, the speeds with which the barrier's height is passed, how long, how deep (SI)."""

    time: float
    speed_in: float
    speed_out: float
    duration: float
    compression: float


# (eta^{n-1}, eta^n, D = eta^{n+1} - eta^{n-1} without force, psi^{n-1/2}) -> that change with it, force, psi^{n+1/2}
Contact = Callable[[float, float, float, float], tuple[float, float, float]]


def non_iterative(case: LumpedCase, rate: float, steps: int, rule: Rule = capped) -> Trajectory:
    """Scheme (24)-(28): one division per step. `rule` gives g (`gradient.py`); the energy is conserved for any."""
    law = case.law
    compliance = 1.0 / (rate**2 * case.mass)

    def contact(before: float, now: float, change: float, psi: float) -> tuple[float, float, float]:
        g = rule(law, Outlook(before, now, change, psi, compliance))
        increment = (change - compliance * g * psi) / (1.0 + 0.25 * compliance * g**2)
        following = psi + 0.5 * g * increment
        # What rounding leaves of a psi that a release cancels is no energy: it is zero.
        if abs(following) < 1e-12 * abs(psi):
            following = 0.0
        return increment, 0.5 * g * (following + psi), following

    return _march(case, rate, steps, contact)


def iterative(case: LumpedCase, rate: float, steps: int, iterations: int | None = None) -> Trajectory:
    """Scheme (19)-(23), E1 corrected: Newton to convergence, or a fixed number of `iterations` (the paper took 20)."""
    law = case.law
    compliance = 1.0 / (rate**2 * case.mass)

    def contact(before: float, now: float, change: float, _: float) -> tuple[float, float, float]:
        increment = implicit_increment(law, before, change, compliance, iterations)
        stored = 0.5 * (law.potential(before + increment) + law.potential(now))
        return increment, law.mean_force(before, increment), sqrt(2.0 * stored)

    return _march(case, rate, steps, contact)


def _march(case: LumpedCase, rate: float, steps: int, contact: Contact) -> Trajectory:
    """Leapfrog flight (19) with any conservative contact; starts on the exact flight."""
    k, height = 1.0 / rate, case.height
    if case.angular * k >= 2.0:
        raise PhysicsError("rate", rate, f"must be above {0.5 * case.angular:.6g} Hz (002 eq. 21)", "raise it")
    now, psi, force = case.start, 0.0, 0.0
    step = case.flight(k) - now
    if now + step > height:
        raise PhysicsError("lumped.start", now, "the barrier is reached within one step", "lower it or raise the rate")
    spring = (case.angular * k) ** 2
    u, steps_taken, forces, psis = (np.zeros(steps) for _ in range(4))
    for n in range(steps):
        u[n], steps_taken[n], forces[n], psis[n] = now, step, force, psi
        before, now = now, now + step
        # The change over two steps is built from the last step: u^{n+1} - u^{n-1} would cancel, and the energy drift.
        increment, force, psi = contact(before - height, now - height, 2.0 * step - spring * now, psi)
        step = increment - step
    kinetic = 0.5 * case.mass * (steps_taken * rate) ** 2
    potential = 0.5 * case.mass * case.angular**2 * u * (u + steps_taken)
    stored = 0.5 * psis**2
    time = np.arange(steps, dtype=np.float64) * k
    return Trajectory(time, u, forces, psis, kinetic, potential, stored, kinetic + potential + stored)


def first_bounce(case: LumpedCase, trajectory: Trajectory) -> Bounce:
    """The first contact as the samples show it: crossings by linear interpolation, depth as the deepest sample.

    The speeds are those of the free flights through two samples before and two after it, taken at the barrier's height.
    """
    eta = trajectory.displacement - case.height
    inside = np.flatnonzero(eta > 0.0)
    if inside.size == 0:
        raise PhysicsError("seconds", float(trajectory.time[-1]), "the barrier is not reached by then", "run longer")
    first = int(inside[0])
    after = first + int(np.argmax(eta[first:] <= 0.0))
    if after == first or after + 2 >= eta.size:
        raise PhysicsError(
            "seconds", float(trajectory.time[-1]), "the first contact has not ended by then", "run longer"
        )
    k = float(trajectory.time[1])
    enter = (first - 1) + eta[first - 1] / (eta[first - 1] - eta[first])
    leave = (after - 1) + eta[after - 1] / (eta[after - 1] - eta[after])
    u = trajectory.displacement
    speed_in = _speed_at_height(case, u[first - 2], u[first - 1], k)
    # The step that leaves may still feel the force, so the flight is read one sample later.
    speed_out = _speed_at_height(case, u[after + 1], u[after + 2], k)
    return Bounce(enter * k, speed_in, speed_out, (leave - enter) * k, float(eta[first:after].max()))


def _speed_at_height(case: LumpedCase, one: float, two: float, k: float) -> float:
    """Speed at the barrier's height of the free flight through two successive positions."""
    w = case.angular
    if w == 0.0:
        return abs(two - one) / k
    quadrature = (two - one * cos(w * k)) / sin(w * k)
    return w * sqrt(max(0.0, one**2 + quadrature**2 - case.height**2))
