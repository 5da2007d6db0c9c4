"""The exact motion of the mass of `lumped.py`: harmonic flight in closed form, contact by converged quadrature.

Energy is conserved, so every contact is the same, symmetric in time about its deepest point, and every flight between
two contacts is the same: the motion is known from one half contact. With P the sum of both potentials, the time from
penetration eta to the deepest point x is the integral of d eta / sqrt(2 (P(x) - P(eta)) / M); eta = x (1 - s^2) takes
its singularity away.
"""

from __future__ import annotations

from math import acos, atan2, hypot, inf, pi, sqrt

import numpy as np

from engine.physics.reference.lumped import Bounce, LumpedCase
from engine.physics.string import Array

CELLS = 4000


def exact_bounce(case: LumpedCase) -> Bounce:
    """The first contact: time, speed, duration and depth; all infinite or zero if the barrier is never reached."""
    time, speed = _arrival(case)
    if time == inf:
        return Bounce(inf, 0.0, 0.0, 0.0, 0.0)
    half_time, _, _ = _half_contact(case, speed)
    return Bounce(time, speed, speed, 2.0 * float(half_time[-1]), _depth(case, speed))


def exact_displacement(case: LumpedCase, time: Array) -> Array:
    """Displacement at any times >= 0, m."""
    flight = np.vectorize(case.flight, otypes=[float])
    arrival, speed = _arrival(case)
    u: Array = np.empty_like(time)
    u[time < arrival] = flight(time[time < arrival])
    if arrival == inf:
        return u
    half_time, depth, sink = _half_contact(case, speed)
    duration, w = 2.0 * half_time[-1], case.angular
    radius = hypot(case.height, speed / w) if w > 0.0 else inf
    away = 2.0 * (pi - acos(case.height / radius)) / w if w > 0.0 else inf
    later = time >= arrival
    phase = time[later] - arrival
    if away < inf:
        phase = np.mod(phase, duration + away)
    from_deepest = np.abs(phase - 0.5 * duration)
    touching = case.height + _hermite(from_deepest, half_time, depth, sink)
    gone = phase - duration
    # Flight again, from the barrier's height and with the speed reversed.
    flying = case.height * np.cos(w * gone) - speed * gone * np.sinc(w * gone / pi)
    u[later] = np.where(phase <= duration, touching, flying)
    return u


def _arrival(case: LumpedCase) -> tuple[float, float]:
    """Time of the first impact and the speed then (inf, 0 if there is none)."""
    w = case.angular
    if w == 0.0:
        return ((case.height - case.start) / case.speed, case.speed) if case.speed > 0.0 else (inf, 0.0)
    radius = hypot(case.start, case.speed / w)
    if radius <= abs(case.height):
        return inf, 0.0
    # u = radius cos(w t - phase) rises through the height at the angle -acos(height / radius).
    phase = atan2(case.speed / w, case.start)
    angle = (phase - acos(case.height / radius)) % (2.0 * pi)
    return angle / w, w * sqrt(radius**2 - case.height**2)


def _depth(case: LumpedCase, speed: float) -> float:
    """Deepest penetration: the root of P(x) = P(0) + M speed^2 / 2, by Newton from above on a convex function."""
    law, spring = case.law, case.mass * case.angular**2
    x = law.compression(case.mass, speed) if case.stiffness > 0.0 and case.height >= 0.0 else inf
    if case.frequency > 0.0:
        x = min(x, hypot(case.height, speed / case.angular) - case.height)
    for _ in range(500):
        excess = law.potential(x) + spring * (case.height + 0.5 * x) * x - 0.5 * case.mass * speed**2
        following = x - excess / (law.force(x) + spring * (case.height + x))
        if abs(following - x) <= 1e-16 * x:
            break
        x = following
    return x


def _half_contact(case: LumpedCase, speed: float) -> tuple[Array, Array, Array]:
    """From the deepest point outwards: time since then, penetration, d penetration / dt (<= 0)."""
    x, power = _depth(case, speed), case.exponent + 1.0
    spring = case.mass * case.angular**2

    def rate_factor(s: Array) -> Array:
        """(2 / M)(P(x) - P(eta)) / s^2 at eta = x (1 - s^2), without cancellation; s > 0."""
        with np.errstate(divide="ignore"):  # log1p(-1) = -inf at the surface: the whole potential is gone there
            elastic = -case.law.potential(x) * np.expm1(power * np.log1p(-(s**2))) / s**2
        harmonic = 0.5 * spring * x * (2.0 * case.height + x * (2.0 - s**2))
        return 2.0 / case.mass * (elastic + harmonic)

    edge = np.linspace(0.0, 1.0, CELLS + 1)
    node, weight = np.polynomial.legendre.leggauss(8)
    s = edge[:-1, None] + 0.5 / CELLS * (1.0 + node)
    cell_time = (2.0 * x / np.sqrt(rate_factor(s))) @ weight * (0.5 / CELLS)
    sink = np.zeros(CELLS + 1)
    sink[1:] = -edge[1:] * np.sqrt(rate_factor(edge[1:]))
    return np.concatenate([[0.0], np.cumsum(cell_time)]), x * (1.0 - edge**2), sink


def _hermite(t: Array, knots: Array, value: Array, slope: Array) -> Array:
    """Cubic through values and slopes at the knots; times beyond the last knot give its cell's continuation."""
    i = np.clip(np.searchsorted(knots, t, side="right") - 1, 0, knots.size - 2)
    h = knots[i + 1] - knots[i]
    p = (t - knots[i]) / h
    q = 1.0 - p
    cubic: Array = (
        q**2 * (1.0 + 2.0 * p) * value[i]
        + p**2 * (1.0 + 2.0 * q) * value[i + 1]
        + p * q * h * (q * slope[i] - p * slope[i + 1])
    )
    return cubic
