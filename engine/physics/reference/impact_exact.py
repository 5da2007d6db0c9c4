"""Closed forms of the impact of a mass on a wall after Hunt and Crossley (paper 003 section 2, §5.3)."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log1p, pow

import numpy as np
from numpy.typing import ArrayLike

from engine.physics.reference.power_law import PowerLaw
from engine.physics.string import Array, require


@dataclass(frozen=True)
class HuntCrossley:
    """Mass (kg) on a wall of stiffness k (N/m^alpha), exponent alpha, damping mu = lambda / k (s/m): 003 eq. (1)."""

    mass: float = 0.01
    stiffness: float = 1e7
    exponent: float = 1.1
    damping: float = 0.1

    def __post_init__(self) -> None:
        require("impact.mass", self.mass, above=0.0)
        require("impact.stiffness", self.stiffness, above=0.0)
        require("impact.exponent", self.exponent, minimum=1.0)
        require("impact.damping", self.damping, minimum=0.0)

    def force(self, x: float, v: float) -> float:
        """(1), N."""
        return self.stiffness * pow(x, self.exponent) * (1.0 + self.damping * v) if x > 0.0 else 0.0

    def force_slopes(self, x: float, v: float) -> tuple[float, float]:
        """Derivatives of the force by x and by v."""
        if x <= 0.0:
            return 0.0, 0.0
        power = self.stiffness * pow(x, self.exponent)
        return self.exponent * power / x * (1.0 + self.damping * v), self.damping * power

    def compression(self, speed: float) -> float:
        """Largest compression after an impact at `speed` (4), m."""
        if self.damping == 0.0:
            return PowerLaw(self.stiffness, self.exponent).compression(self.mass, speed)
        factor = self.mass * (self.exponent + 1.0) / (self.stiffness * self.damping**2)
        return pow(factor * float(above_log(self.damping * speed)), 1.0 / (self.exponent + 1.0))

    def phase_compression(self, velocity: Array, speed: float) -> Array:
        """Compression at which `velocity` is passed (3): the orbit in the phase plane, m."""
        power, scale = self.exponent + 1.0, self.mass * (self.exponent + 1.0) / self.stiffness
        if self.damping == 0.0:
            free: Array = (0.5 * scale * np.maximum(speed**2 - velocity**2, 0.0)) ** (1.0 / power)
            return free
        z = self.damping * (velocity - speed) / (1.0 + self.damping * speed)
        orbit = np.maximum(_depth(z, self.damping * speed), 0.0)
        path: Array = (scale / self.damping**2 * orbit) ** (1.0 / power)
        return path

    def rebound(self, speed: float) -> float:
        """Velocity after the impact (<= 0): the root of (6) in closed form (§5.3), m/s."""
        return -speed if self.damping == 0.0 else rebound_number(self.damping * speed) / self.damping

    def rebound_approximation(self, speed: float) -> float:
        """The paper's fit (7) with the coefficients (8)."""
        if self.damping == 0.0:
            return -speed
        w = self.damping * speed
        series = 1.0 + w * (1.0 + w * (2.0 / 3.0 + w * (2.0 / 9.0 + w * 14.0 / 135.0)))
        return -(1.0 - series * exp(-2.0 * w)) / self.damping

    def restitution(self, speed: float) -> float:
        """E = |v_out / v_in| (5)."""
        return -self.rebound(speed) / speed

    def contact_time(self, speed: float, nodes: int = 200) -> float:
        """Duration of the contact (9), s, by Gauss quadrature over each half of the motion.

        The integrand grows as |v - v_end|^(-alpha/(alpha + 1)) at both ends; v = v_end (1 - s^(alpha + 1)) removes it.
        """
        if self.damping == 0.0:
            return PowerLaw(self.stiffness, self.exponent).duration(self.mass, speed)
        power = self.exponent + 1.0
        node, weight = np.polynomial.legendre.leggauss(nodes)
        s, weight = 0.5 * (1.0 + node), 0.5 * weight
        total = 0.0
        for end in (speed, self.rebound(speed)):
            w = self.damping * end
            fall = s**power
            slope = abs(end) * power * s**self.exponent / (1.0 + w * (1.0 - fall))
            depth = _depth(-w * fall / (1.0 + w), w)
            total += float((slope * depth ** (-self.exponent / power)) @ weight)
        scale = pow(self.mass / self.stiffness, 1.0 / power)
        return scale * pow(self.damping**2 / power, self.exponent / power) * total


def above_log(w: ArrayLike) -> Array:
    """w - log(1 + w), by its series where the difference would cancel."""
    w = np.asarray(w, float)
    series = w**2 * (1 / 2 - w * (1 / 3 - w * (1 / 4 - w * (1 / 5 - w * (1 / 6 - w * (1 / 7 - w / 8))))))
    result: Array = np.where(np.abs(w) < 5e-3, series, w - np.log1p(w))
    return result


def _depth(z: Array, w: float) -> Array:
    """The bracket of (9), -mu (v - v_end) + log[(1 + mu v) / (1 + mu v_end)], with z = mu (v - v_end) / (1 + w),
    w = mu v_end: proportional to x^(alpha + 1). Written so that nothing cancels as v nears v_end.
    """
    bracket: Array = -(z * w + above_log(z))
    return bracket


def rebound_number(w: float) -> float:
    """mu v_out for w = mu v_in: -1 - W0(-(1 + w) e^-(1 + w)) (§5.3)."""
    if w > 1.0:
        return -1.0 - lambert_w0(-(1.0 + w) * exp(-(1.0 + w)))
    # Close to its branch point W0 loses up to half of the digits: start from the Taylor series of the restitution or
    # from W0, then take one Newton step on (6) itself, p = -mu v_out: -p - log(1 - p) = w - log(1 + w).
    p = 1.0 + lambert_w0(-(1.0 + w) * exp(-(1.0 + w)))
    if w < 1e-2:
        p = w * (1.0 - w * (2 / 3 - w * (4 / 9 - w * (44 / 135 - w * 104 / 405))))
    return -(p - float(above_log(-p) - above_log(w)) * (1.0 - p) / p)


def lambert_w0(z: float) -> float:
    """The principal branch of w e^w = z for z >= -1/e, by Halley's iteration."""
    p = (2.0 * (exp(1.0) * z + 1.0)) ** 0.5
    w = -1.0 + p - p**2 / 3.0 + 11.0 / 72.0 * p**3 if z < 0.0 else log1p(z)
    for _ in range(50):
        e = exp(w)
        residual = w * e - z
        if w == -1.0:
            break
        step = residual / (e * (w + 1.0) - 0.5 * (w + 2.0) * residual / (w + 1.0))
        w -= step
        if abs(step) <= 1e-16 * abs(w):
            break
    return w
