"""The stiff lossy string between two simple supports: its constants, its modes, its losses.

    rho u_tt = T u_xx - EI u_xxxx - 2 rho sigma(u_t),   u = u_xx = 0 at x = 0 and x = L

A mode of wavenumber b decays as exp(-sigma(b) t).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, isfinite, pi, sqrt
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.errors import PhysicsError

Array = NDArray[Any]  # float64 throughout; numpy's stubs cannot follow arithmetic that far
Number = TypeVar("Number", float, Array)
LIMP = 1e-150  # m²: with less stiffness for its tension, the dispersion cannot be inverted by squares


@dataclass(frozen=True)
class Loss:
    """Decay rate (1/s) as a polynomial of the wavenumber b (1/m): s0 + s1 b + s2 b^2 + s3 b^3.

    s0, s1, s3 are the law of paper 004 eq. (8); s2 is the finite-difference papers' second term.
    """

    s0: float = 0.0
    s1: float = 0.0
    s2: float = 0.0
    s3: float = 0.0

    def __post_init__(self) -> None:
        for name in ("s0", "s1", "s2", "s3"):
            require(f"string.loss.{name}", getattr(self, name), minimum=0.0)

    def times(self, by: float) -> Loss:
        """So many times as much of it."""
        return Loss(by * self.s0, by * self.s1, by * self.s2, by * self.s3)

    def rate(self, b: Number) -> Number:
        """Decay rate of wavenumber b, 1/s."""
        return self.s0 + b * (self.s1 + b * (self.s2 + b * self.s3))


@dataclass(frozen=True)
class String:
    """A uniform string. SI units: m, kg/m, N, N m^2."""

    length: float
    density: float
    tension: float
    stiffness: float = 0.0
    loss: Loss = field(default_factory=Loss)

    def __post_init__(self) -> None:
        require("string.length", self.length, above=0.0)
        require("string.density", self.density, above=0.0)
        require("string.tension", self.tension, above=0.0)
        require("string.stiffness", self.stiffness, minimum=0.0)

    @property
    def wave_speed(self) -> float:
        """Speed of long waves, m/s."""
        return sqrt(self.tension / self.density)

    @property
    def pitch(self) -> float:
        """f0 = c / 2L of the ideal string, Hz (§5.4)."""
        return self.wave_speed / (2.0 * self.length)

    @property
    def inharmonicity(self) -> float:
        """B in f_n = n f0 sqrt(1 + B n^2) (§5.4)."""
        return pi * pi * self.stiffness / (self.tension * self.length * self.length)

    def wavenumbers(self, count: int) -> Array:
        """b_n = n pi / L of the first `count` modes, 1/m."""
        return np.arange(1, count + 1) * (pi / self.length)

    def undamped_frequency(self, b: Array) -> Array:
        """Angular frequency of wavenumber b without loss, rad/s."""
        return b * np.sqrt((self.tension + self.stiffness * (b * b)) / self.density)

    def apart(self, modes: int) -> float:
        """How far from each other places must be for the first `modes` modes to tell them apart, m."""
        return self.length / (modes + 1)

    def wavenumber_at(self, frequency: float) -> float:
        """The wavenumber that oscillates at `frequency` (Hz) without loss: the inverse of `undamped_frequency`."""
        squared = self.density * (2.0 * pi * frequency) * (2.0 * pi * frequency)
        if self.stiffness <= LIMP * self.tension:
            return sqrt(squared / self.tension)
        half = self.tension / (2.0 * self.stiffness)
        return sqrt(squared / self.stiffness / (half + sqrt(half * half + squared / self.stiffness)))


def require(
    key: str,
    value: float,
    *,
    above: float = -inf,
    below: float = inf,
    minimum: float = -inf,
    maximum: float = inf,
    unit: str = "",
) -> None:
    """Refuse a number that is not finite or outside its limits, by name."""
    if not isfinite(value):
        raise PhysicsError(key, value, "must be a finite number", "give a plain number with its unit")
    if value <= above:
        raise PhysicsError(key, float(value), f"must be above {above:g}{unit}", "raise it")
    if value >= below:
        raise PhysicsError(key, float(value), f"must be below {below:g}{unit}", "lower it")
    if value < minimum:
        raise PhysicsError(key, float(value), f"must be at least {minimum:g}{unit}", "raise it")
    if value > maximum:
        raise PhysicsError(key, float(value), f"must be at most {maximum:g}{unit}", "lower it")
