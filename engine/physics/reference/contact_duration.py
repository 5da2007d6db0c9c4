"""A mass that hits a wall (papers 000 and 001): two-point and three-point schemes, and how long their contact lasts.

    m y'' = -k_c [y]_+^alpha

The wall is at y = 0, the mass comes from below. For alpha = 1 the exact motion is known, and both schemes can be given
its contact duration by a changed coefficient beta.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, inf, pi, sqrt
from typing import NamedTuple

import numpy as np

from engine.errors import PhysicsError
from engine.physics.reference.power_law import PowerLaw, implicit_increment
from engine.physics.string import Array, require


@dataclass(frozen=True)
class MassWall:
    """Mass (kg), stiffness (N/m^alpha), exponent, start below the wall (m) and speed towards it (m/s): 001 Fig. 3."""

    mass: float = 1.0
    stiffness: float = 1e9
    exponent: float = 1.0
    start: float = -1e-4
    speed: float = 1.0

    def __post_init__(self) -> None:
        require("wall.mass", self.mass, above=0.0)
        require("wall.stiffness", self.stiffness, above=0.0)
        require("wall.exponent", self.exponent, minimum=1.0)
        require("wall.start", self.start, maximum=0.0, unit=" m")
        require("wall.speed", self.speed, above=0.0, unit=" m/s")

    @property
    def law(self) -> PowerLaw:
        return PowerLaw(self.stiffness, self.exponent)

    @property
    def angular(self) -> float:
        """omega_c = sqrt(k_c / m): what the mass would swing with, were it stuck to the wall (alpha = 1), rad/s."""
        return sqrt(self.stiffness / self.mass)

    @property
    def duration(self) -> float:
        """The exact contact duration (§5.1, §5.2), s."""
        return self.law.duration(self.mass, self.speed)

    def beta(self, points: int, rate: float) -> float:
        """The coefficient of scheme (7) (three points) or (8) (two)."""
        beta3 = self.stiffness / (self.mass * (self.exponent + 1.0) * rate**2)
        return beta3 if points == 3 else 0.5 * beta3


class WallTrajectory(NamedTuple):
    """Time, displacement, and the energy (J) that the scheme conserves: at n (two-point) or n + 1/2 (three-point)."""

    time: Array
    displacement: Array
    energy: Array


def two_point_beta(angular: float, rate: float) -> float:
    """beta2* (001 eq. 15): the contact of alpha = 1 swings with `angular` exactly."""
    c = cos(_below(angular, rate, pi))
    return (1.0 - c) / (1.0 + c)


def three_point_beta(angular: float, rate: float) -> float:
    """beta3* (001 eq. 16)."""
    c = cos(_below(angular, rate, 0.5 * pi))
    return (1.0 - c) / c


def _below(angular: float, rate: float, limit: float) -> float:
    angle = angular / rate
    if angle >= limit:
        shortest = pi / limit
        raise PhysicsError(
            "rate",
            rate,
            f"cannot hold a contact shorter than {shortest:g} samples ({pi / angular * 1e6:.4g} us)",
            f"raise it above {angular / limit:.6g} Hz",
        )
    return angle


def two_point(case: MassWall, rate: float, steps: int, beta: float | None = None) -> WallTrajectory:
    """Scheme (8); `beta` replaces beta2."""
    y, q = case.start, 0.5 * case.speed / rate
    shape, strength = _shape(case), case.beta(2, rate) if beta is None else beta
    path, half_step = np.zeros(steps), np.zeros(steps)
    for n in range(steps):
        path[n], half_step[n] = y, q
        # y+ - y = q+ + q = 2 q - beta (G(y+) - G(y)) / (y+ - y)
        step = implicit_increment(shape, y, 2.0 * q, strength)
        y, q = y + step, step - q
    stored = strength * np.maximum(path, 0.0) ** (case.exponent + 1.0)
    return WallTrajectory(np.arange(steps) / rate, path, 2.0 * case.mass * rate**2 * (half_step**2 + stored))


def three_point(case: MassWall, rate: float, steps: int, beta: float | None = None) -> WallTrajectory:
    """Scheme (7); `beta` replaces beta3."""
    y, step = case.start, case.speed / rate
    shape, strength = _shape(case), case.beta(3, rate) if beta is None else beta
    path, taken = np.zeros(steps), np.zeros(steps)
    for n in range(steps):
        path[n], taken[n] = y, step
        before, y = y, y + step
        step = implicit_increment(shape, before, 2.0 * step, strength) - step
    powers = np.maximum(path, 0.0) ** (case.exponent + 1.0), np.maximum(path + taken, 0.0) ** (case.exponent + 1.0)
    stored = strength * (powers[0] + powers[1])
    return WallTrajectory(np.arange(steps) / rate, path, 0.5 * case.mass * rate**2 * (taken**2 + stored))


def _shape(case: MassWall) -> PowerLaw:
    """The law whose potential is G(y) = [y]_+^(alpha + 1) (001 eq. 2)."""
    return PowerLaw(case.exponent + 1.0, case.exponent)


def exact(case: MassWall, time: Array) -> Array:
    """Displacement for alpha = 1 (001 eq. 14)."""
    if case.exponent != 1.0:
        raise PhysicsError("wall.exponent", case.exponent, "the closed form holds for 1 only", "use lumped_exact")
    enter = -case.start / case.speed
    leave = enter + case.duration
    inside = case.speed / case.angular * np.sin(case.angular * (time - enter))
    outside = np.where(time < enter, case.start + case.speed * time, -case.speed * (time - leave))
    path: Array = np.where((time >= enter) & (time < leave), inside, outside)
    return path


def contact_duration(case: MassWall, trajectory: WallTrajectory) -> float:
    """Time between the arriving and the leaving line of free flight, where each meets the wall, s.

    Unlike a count of samples this has no grain; inf if the mass has not left by the end.
    """
    y, k = trajectory.displacement, float(trajectory.time[1])
    enter = -case.start / case.speed
    inside = np.flatnonzero(y > 0.0)
    if inside.size == 0 or inside[-1] + 2 >= y.size:
        return inf
    # The step that crosses the wall may still carry force, the one after it cannot.
    n = int(inside[-1]) + 2
    return float(n - y[n] / (y[n] - y[n - 1])) * k - enter


def samples_inside(trajectory: WallTrajectory) -> int:
    """How many samples lie in the wall: at least one for the two-point scheme, two for the three-point one."""
    return int(np.count_nonzero(trajectory.displacement > 0.0))
