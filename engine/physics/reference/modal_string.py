"""What the slow modal schemes share: the modes kept, where they are touched, struck and heard, how they start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np

from engine.errors import PhysicsError
from engine.physics import contact
from engine.physics.barrier import ContactPoints
from engine.physics.modes import Modes, modes, pickup_row, shape, shares
from engine.physics.problem import Problem
from engine.physics.reference.implicit_contact import Springs
from engine.physics.string import Array


@dataclass(frozen=True)
class ModalString:
    """The problem on its modes below Nyquist and a band, with elastic contact."""

    problem: Problem
    rate: float
    modes: Modes
    mass: float  # modal, kg
    points: ContactPoints
    touching: Array  # V: [K, M]
    striking: Array  # [M]
    heard: Array  # [P, M]
    share: Array  # [B, K]; this and the next as in modal.py
    grip: Array  # [B]
    springs: Springs


def modal_string(problem: Problem, rate: float, band: float = inf) -> ModalString:
    """The modes below Nyquist and `band`, and how the problem meets them."""
    if problem.contact.damping > 0.0:
        raise PhysicsError(
            "contact.damping",
            problem.contact.damping,
            "the slow modal references are elastic, they have none",
            "set it to 0 or use scheme modal",
        )
    string, m = problem.string, modes(problem.string, rate, band)
    b = m.wavenumber
    points = problem.modal_points(b.size)
    return ModalString(
        problem,
        rate,
        m,
        0.5 * string.density * string.length,
        points,
        shape(b, points.position),
        shape(b, np.array([problem.excitation.position * string.length]))[0],
        np.array([pickup_row(string, b, p) for p in problem.pickups]).reshape(-1, b.size),
        *shares(problem, points),
        Springs(points.stiffness, problem.contact.exponent),
    )


def freely(s: ModalString, y: Array, steps: float) -> Array:
    """Where modes that are at y with zero velocity are some steps later without force."""
    w, sigma, t = s.modes.frequency, s.modes.decay, steps / s.rate
    return y * np.exp(-sigma * t) * (np.cos(w * t) + sigma / w * np.sin(w * t))


def hear(s: ModalString, y: Array, pushed: Array, force: float) -> Array:
    """The pickups at y, and what contact forces and excitation carry behind them (hearing.py)."""
    return np.concatenate([s.heard @ y, s.share @ pushed - s.grip * force])


def at_rest(s: ModalString, spring: Array) -> Array:
    """Static equilibrium over a barrier that crosses the rest line, an exact fixed point of the scheme."""
    compliance = (s.touching / spring) @ s.touching.T
    pressed = contact.equilibrium(compliance, s.points, s.springs.exponent)
    return np.asarray((pressed @ s.touching) / spring, np.float64)


def sines(s: ModalString, initial: Callable[[Array], Array]) -> Array:
    """Modal values of a shape, by the trapezoidal rule on a grid fine enough for every mode."""
    intervals = 8 * s.modes.wavenumber.size
    x = np.arange(1, intervals) * (s.problem.string.length / intervals)
    return np.asarray(shape(s.modes.wavenumber, x).T @ initial(x) * (2.0 / intervals), np.float64)
