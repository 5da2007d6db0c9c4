"""A string's modes: which oscillate below a band, their poles and shapes, and how each sounds at a pickup."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import NamedTuple

import numpy as np

from engine import elementwise
from engine.errors import PhysicsError
from engine.physics.aperture import left_of
from engine.physics.barrier import ContactPoints
from engine.physics.hearing import on_body
from engine.physics.linear import product
from engine.physics.problem import Pickup, Problem
from engine.physics.string import Array, String

MOST_ENTRIES = 2**23  # of tables of modes, contact points and pickups: many times what can be played in real time


class Modes(NamedTuple):
    """Wavenumber (1/m), damped angular frequency (rad/s) and decay rate (1/s) of every mode kept."""

    wavenumber: Array
    frequency: Array
    decay: Array


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
    """How each mode sounds at a pickup: displacement (whose differences are the velocity and what air has of it), pull
    on the support, or what the end carries of its momentum (whose second difference is a body's force).
    """
    if pickup.kind == "body_force":
        momentum = string.density / b
        return momentum if pickup.at == 0.0 else -momentum * elementwise.cos(b * string.length)
    if pickup.kind == "bridge_force":
        pull = string.tension * b + string.stiffness * (b * b * b)
        # T u_x - EI u_xxx at x = 0; at the far end the outward slope is -cos(n pi).
        return pull if pickup.at == 0.0 else -pull * elementwise.cos(b * string.length)
    return shape(b, np.array([pickup.at * string.length]))[0] * left_of(b, pickup)


def shares(problem: Problem, points: ContactPoints) -> tuple[Array, Array]:
    """For each pickup that hears a body, how much of the force of each contact and of the pluck is not in the momentum
    of its end (hearing.py).
    """
    ends = np.array([pickup.at for pickup in on_body(problem.pickups)])
    held = 1.0 - np.abs(ends - problem.excitation.position)
    return np.abs(ends[:, None] - points.position / problem.string.length), held


def released(string: String, m: Modes, rate: float, initial: Callable[[Array], Array]) -> tuple[Array, Array]:
    """Modal values of a string that is held in the shape `initial`(x) and let go at t = 0, then and the step before.

    Sine coefficients by the trapezoidal rule on a grid fine enough for every mode; the step before t = 0 is the
    free motion run backwards, so that modes leave with exactly zero velocity.
    """
    intervals, k = 8 * m.wavenumber.size, 1.0 / rate
    x = np.arange(1, intervals) * (string.length / intervals)
    y = product(shape(m.wavenumber, x).T, initial(x)) * (2.0 / intervals)
    w, sigma = m.frequency, m.decay
    return y, y * elementwise.exp(sigma * k) * (elementwise.cos(w * k) - sigma / w * elementwise.sin(w * k))
