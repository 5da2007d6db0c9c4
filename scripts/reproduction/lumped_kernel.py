"""The lumped mass and barrier of reference/lumped.py, compiled: for what a scheme costs, and for many runs."""

from __future__ import annotations

from collections.abc import Callable
from math import tan
from typing import Any, NamedTuple

import numpy as np

from engine.compiled import called_by_python
from engine.physics import contact
from engine.physics.barrier import ContactPoints
from engine.physics.contact import respond
from engine.physics.problem import Contact
from engine.physics.reference.iterative_kernel import newton
from engine.physics.reference.lumped import LumpedCase, Trajectory
from engine.physics.string import Array

EXPLICIT = -1  # in place of a number of iterations: the quadratised contact, by its law's rule


class Path(NamedTuple):
    """What a mass leaves behind, one entry a step as in `Trajectory`."""

    displacement: Array
    force: Array
    psi: Array


@called_by_python
def march(law: Any, height: float, spring: float, compliance: float, iterations: int, step: float, path: Path) -> None:
    """Leapfrog from displacement[0] with a first step; `spring` is (w0 k)^2, `compliance` k^2 / M."""
    now, psi, force = path.displacement[0], 0.0, 0.0
    for n in range(path.displacement.size):
        path.displacement[n], path.force[n], path.psi[n] = now, force, psi
        before, now = now, now + step
        change = 2.0 * step - spring * now
        if iterations == EXPLICIT:
            force, psi, _ = respond(law, law.slope[0], now - height, before - height, change, psi, compliance)
            change -= compliance * force
        elif before > height or before + change > height:
            change = newton(law, law.slope[0], before - height, change, compliance, iterations)
        step = change - step


@called_by_python
def march_halfway(law: Any, height: float, spring: float, compliance: float, iterations: int, q: float, u: Any) -> None:
    """Two-point from u[0] with q = k v / 2, 001 (8); `spring` is a* of 004 (21), `compliance` k^2 / 2M."""
    now, c = u[0], 1.0 / (1.0 + spring)
    for n in range(u.size):
        u[n] = now
        step = 2.0 * c * (q - spring * now)
        if now > height or now + step > height:
            step = newton(law, law.slope[0], now - height, step, c * compliance, iterations)
        now, q = now + step, step - q


def law_of(case: LumpedCase, rate: float, rule: int) -> Any:
    """The engine's own contact law of this mass."""
    one = np.array([case.stiffness])
    return contact.law(ContactPoints(one, one, one), Contact(case.stiffness, case.exponent), rate, rule=rule)


def mass(
    case: LumpedCase, rate: float, steps: int, iterations: int, rule: int = contact.SHIPPED
) -> Callable[[], Array]:
    """A run made ready: calling it gives the mass's displacement at every step."""
    moved = _moved(case, rate, steps, iterations, rule)
    return lambda: moved().displacement


def _moved(case: LumpedCase, rate: float, steps: int, iterations: int, rule: int) -> Callable[[], Path]:
    k, path, law = 1.0 / rate, Path(*(np.zeros(steps) for _ in Path._fields)), law_of(case, rate, rule)
    constants = (case.height, (case.angular * k) ** 2, k**2 / case.mass, iterations, case.flight(k) - case.start)

    def run() -> Path:
        path.displacement[0] = case.start
        march(law, *constants, path)
        return path

    return run


def mass_halfway(case: LumpedCase, rate: float, steps: int, iterations: int) -> Callable[[], Array]:
    """The same by the two-point scheme; its flight is exact, as that of a mode in paper 004."""
    k, u, law = 1.0 / rate, np.zeros(steps), law_of(case, rate, contact.SHIPPED)
    a = tan(0.5 * case.angular * k) ** 2
    q = 0.5 * ((case.flight(k) - case.start) * (1.0 + a) + 2.0 * a * case.start)
    constants = (case.height, a, 0.5 * k**2 / case.mass, iterations, q)

    def run() -> Array:
        u[0] = case.start
        march_halfway(law, *constants, u)
        return u

    return run


def trajectory(case: LumpedCase, rate: float, steps: int, rule: int = contact.SHIPPED) -> Trajectory:
    """A run with the engine's compiled contact, as the references give theirs."""
    path = _moved(case, rate, steps + 1, EXPLICIT, rule)()
    taken, (u, force, psi) = np.diff(path.displacement), (values[:-1] for values in path)
    kinetic = 0.5 * case.mass * (taken * rate) ** 2
    potential = 0.5 * case.mass * case.angular**2 * u * (u + taken)
    stored = 0.5 * psi**2
    return Trajectory(np.arange(steps) / rate, u, force, psi, kinetic, potential, stored, kinetic + potential + stored)
