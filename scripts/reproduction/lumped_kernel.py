"""The lumped mass and barrier of reference/lumped.py, compiled: for what a scheme costs, and for many runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine.compiled import called_by_python
from engine.physics import contact
from engine.physics.barrier import ContactPoints
from engine.physics.contact import respond
from engine.physics.problem import Contact
from engine.physics.reference.iterative_kernel import newton
from engine.physics.reference.lumped import LumpedCase
from engine.physics.string import Array

EXPLICIT = -1  # in place of a number of iterations: the quadratised contact, by its law's rule


@called_by_python
def march(law: Any, height: float, spring: float, compliance: float, iterations: int, step: float, u: Any) -> None:
    """Leapfrog from u[0] with a first step; `spring` is (w0 k)^2, `compliance` k^2 / M."""
    now, psi = u[0], 0.0
    for n in range(u.size):
        u[n] = now
        before, now = now, now + step
        change = 2.0 * step - spring * now
        if iterations == EXPLICIT:
            force, psi, _ = respond(law, law.slope[0], now - height, before - height, change, psi, compliance)
            change -= compliance * force
        elif before > height or before + change > height:
            change = newton(law, law.slope[0], before - height, change, compliance, iterations)
        step = change - step


def mass(
    case: LumpedCase, rate: float, steps: int, iterations: int, rule: int = contact.SHIPPED
) -> Callable[[], Array]:
    """A run made ready: calling it gives the mass's displacement at every step."""
    one = np.array([case.stiffness])
    law = contact.law(ContactPoints(one, one, one), Contact(case.stiffness, case.exponent), rate, rule=rule)
    k, u = 1.0 / rate, np.zeros(steps)
    constants = (case.height, (case.angular * k) ** 2, k**2 / case.mass, iterations, case.flight(k) - case.start)

    def run() -> Array:
        u[0] = case.start
        march(law, *constants, u)
        return u

    return run
