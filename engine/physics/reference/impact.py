"""A mass that hits a lossy wall: the law of Hunt and Crossley and four classic integrators (paper 003).

    m x'' = m g - f,   f = k x^alpha (1 + mu v) for x > 0, else 0

x is compression, v its rate; g, gravity, is zero but for the bouncing of Fig. 8. Equations (20)-(23) are printed with
+f where (2) says -f (E18); here the sign is that of (2). The closed forms are in `impact_exact.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from engine.errors import PhysicsError
from engine.physics.reference.impact_exact import HuntCrossley
from engine.physics.string import Array, require


class State(NamedTuple):
    """Compression (m), its rate (m/s), and the force (N) that the next step starts from.

    The force is carried from step to step as the method itself last evaluated it: Verlet and Heun do so at a predicted
    velocity, and only without a second look at the corrected one do they give the paper's Table 1, to every digit.
    """

    x: float
    v: float
    f: float


Step = Callable[[HuntCrossley, float, float, State], State]  # law, gravity, h, state


class ImpactTrajectory(NamedTuple):
    """Time, compression (m), its rate, contact force (N) and Hamiltonian (13), gravity's potential included (J)."""

    time: Array
    compression: Array
    velocity: Array
    force: Array
    energy: Array


def adams_moulton(law: HuntCrossley, gravity: float, h: float, now: State) -> State:
    """AM1, the bilinear transform (20), in K-method form: all hangs on the one unknown force f+.

    x+ = p - (h^2 / 4m) f+ and v+ = q - (h / 2m) f+ with p, q known, so f+ - f(x+, v+) = 0 is one scalar equation.
    """
    change = h * (gravity - 0.5 * now.f / law.mass)
    p, q = now.x + h * (now.v + 0.5 * change), now.v + change
    a, b = 0.25 * h**2 / law.mass, 0.5 * h / law.mass
    f = _force_root(law, p, q, a, b)
    return State(p - a * f, q - b * f, f)


def _force_root(law: HuntCrossley, p: float, q: float, a: float, b: float) -> float:
    """f = law.force(p - a f, q - b f), by Newton kept inside a bracket.

    Where the force is not negative it falls as f grows, so the residual rises through a single root between 0 and
    force(p, q). A predicted rebound faster than 1 / mu makes that force negative; then the bracket grows downwards.
    """

    def residual(f: float) -> float:
        return f - law.force(p - a * f, q - b * f)

    if p <= 0.0 or law.force(p, q) == 0.0:
        return 0.0
    low, high = sorted((0.0, law.force(p, q)))
    while residual(low) > 0.0:
        low *= 2.0
    f = 0.5 * (low + high)
    for _ in range(200):
        r = residual(f)
        low, high = (low, f) if r > 0.0 else (f, high)
        by_x, by_v = law.force_slopes(p - a * f, q - b * f)
        newton = f - r / (1.0 + a * by_x + b * by_v)
        following = newton if low < newton < high else 0.5 * (low + high)
        if abs(following - f) <= 4e-16 * abs(f):
            return following
        f = following
    return f


def velocity_verlet(law: HuntCrossley, gravity: float, h: float, now: State) -> State:
    """(21)."""
    half = now.v + 0.5 * h * (gravity - now.f / law.mass)
    x = now.x + h * half
    f = law.force(x, half)
    return State(x, half + 0.5 * h * (gravity - f / law.mass), f)


def heun(law: HuntCrossley, gravity: float, h: float, now: State) -> State:
    """(22)."""
    predicted = now.v + h * (gravity - now.f / law.mass)
    x = now.x + 0.5 * h * (now.v + predicted)
    f = law.force(x, predicted)
    return State(x, now.v + h * (gravity - 0.5 * (now.f + f) / law.mass), f)


def runge_kutta(law: HuntCrossley, gravity: float, h: float, now: State) -> State:
    """The classic fourth-order method (23)."""

    def acceleration(x: float, v: float) -> float:
        return gravity - law.force(x, v) / law.mass

    x, v = now.x, now.v
    l1, k1 = h * v, h * acceleration(x, v)
    l2, k2 = h * (v + 0.5 * k1), h * acceleration(x + 0.5 * l1, v + 0.5 * k1)
    l3, k3 = h * (v + 0.5 * k2), h * acceleration(x + 0.5 * l2, v + 0.5 * k2)
    l4, k4 = h * (v + k3), h * acceleration(x + l3, v + k3)
    x, v = x + (l1 + 2.0 * (l2 + l3) + l4) / 6.0, v + (k1 + 2.0 * (k2 + k3) + k4) / 6.0
    return State(x, v, law.force(x, v))


METHODS: dict[str, Step] = {"AM1": adams_moulton, "Verlet": velocity_verlet, "Heun": heun, "RK4": runge_kutta}


@dataclass(frozen=True)
class Impact:
    """The experiment: the wall's law, the compression (m, negative before contact) and velocity at t = 0, gravity."""

    law: HuntCrossley
    speed: float
    start: float = 0.0
    gravity: float = 0.0

    def __post_init__(self) -> None:
        require("impact.speed", self.speed)
        require("impact.start", self.start, maximum=0.0, unit=" m")
        require("impact.gravity", self.gravity, minimum=0.0)


def simulate(
    impact: Impact, method: str, rate: float, steps: int, corrected: Callable[[float], float] | None = None
) -> ImpactTrajectory:
    """Run one of METHODS.

    `corrected` applies section 4.2: the compression is held at its known maximum (4), and the mass leaves with the
    velocity that this function gives for the speed of impact: the paper took `law.rebound_approximation`, `law.rebound`
    is exact.
    """
    if method not in METHODS:
        raise PhysicsError("impact.method", method, f"must be one of {', '.join(METHODS)}", "choose one")
    advance, law, h = METHODS[method], impact.law, 1.0 / rate
    now, speed_in = State(impact.start, impact.speed, 0.0), 0.0
    path = np.zeros((steps, 3))
    for n in range(steps):
        path[n] = now
        before, now = now, advance(law, impact.gravity, h, now)
        if corrected and before.x <= 0.0 < now.x:
            speed_in = before.v
        if corrected and now.x > 0.0:
            deepest = law.compression(speed_in)
            now = now if now.x <= deepest else State(deepest, now.v, law.force(deepest, now.v))
        elif corrected and before.x > 0.0:
            now = State(now.x, corrected(speed_in), 0.0)
    x, v, f = path.T.copy()
    return ImpactTrajectory(np.arange(steps, dtype=np.float64) * h, x, v, f, _energy(impact, x, v))


def _energy(impact: Impact, x: Array, v: Array) -> Array:
    law = impact.law
    stored = law.stiffness / (law.exponent + 1.0) * np.maximum(x, 0.0) ** (law.exponent + 1.0)
    total: Array = stored + 0.5 * law.mass * v**2 - law.mass * impact.gravity * x
    return total


def leaves_at(trajectory: ImpactTrajectory) -> int:
    """The first sample out of contact after the first contact."""
    inside = np.flatnonzero(trajectory.compression > 0.0)
    outside = np.flatnonzero(trajectory.compression <= 0.0)
    later = outside[outside > inside[0]] if inside.size else outside[:0]
    if later.size == 0:
        raise PhysicsError("seconds", float(trajectory.time[-1]), "no contact begins and ends by then", "run longer")
    return int(later[0])
