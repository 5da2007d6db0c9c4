"""Paper 002's own modal scheme (57)-(62): leapfrog modes, the plain gradient, all points at once.

    q+ = 2q - q- - (w k)^2 q + (k^2/m)(X'F + X(x_F) f),     m = rho L / 2,     w < 2/k (61)
    F = g (psi+ + psi)/2,     psi+ = psi + (g/2)(eta+ - eta-),     g = psi'(eta)

Signs as in E4; for K points the coupling (60) is of rank K, not one (E5). A mode sounds at w' with sin(w' k/2) = w k/2,
so it is sharp, where the prewarped modes of paper 004 are exact. No losses, as the paper's string (29) has none.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, pi

import numpy as np
from numpy.typing import NDArray

from engine.errors import PhysicsError
from engine.physics import contact
from engine.physics.modes import shape
from engine.physics.problem import Problem
from engine.physics.record import Run, log
from engine.physics.reference.cholesky import Points
from engine.physics.reference.gradient import plain
from engine.physics.reference.modal_string import ModalString, at_rest, hear, modal_string, sines
from engine.physics.reference.power_law import PowerLaw
from engine.physics.string import Array

MARGIN = 0.999  # of the limit (61), where a mode's energy is zero


def sounding(angular: Array, rate: float) -> Array:
    """The angular frequencies at which modes of `angular` sound, rad/s."""
    return np.asarray(2.0 * rate * np.arcsin(0.5 * angular / rate), np.float64)


def run(
    problem: Problem,
    rate: float,
    force: Array,
    *,
    at: NDArray[np.int64],
    initial: Callable[[Array], Array] | None = None,
    band: float = inf,
) -> Run:
    """A metered run from rest, or from the shape `initial`; conventions of record.py."""
    if problem.string.loss.rate(np.array([1.0]))[0] > 0.0:
        raise PhysicsError("string.loss", "some", "the string of paper 002 has none", "use scheme modal-plain")
    s = modal_string(problem, rate, min(band, MARGIN * rate / pi))
    spring = s.mass * s.modes.frequency**2
    spread = 1.0 / (rate**2 * s.mass)
    laws = tuple(PowerLaw(float(stiffness), s.springs.exponent) for stiffness in s.points.stiffness)
    points = Points(s.points.height, laws, spread * s.touching @ s.touching.T, plain)
    y = at_rest(s, spring) if initial is None else sines(s, initial)
    earlier = y if initial is None else y - 0.5 * spread * spring * y
    psi = contact.psi_at(s.points.height - s.touching @ y, s.points, s.springs.exponent)
    before, start = (hear(s, level, np.zeros(psi.size), 0.0) for level in (earlier, y))
    book = log(force.size, start.size, psi.size, y.size, at)
    for n in range(force.size):
        book.shapes[at == n] = y
        after = 2.0 * y - earlier - spread * (spring * y - force[n] * s.striking)
        pushed, psi = _press(s, points, (earlier, y, after), psi)
        after += spread * (pushed @ s.touching)
        book.kinetic[n] = 0.5 * s.mass * rate**2 * ((after - y) @ (after - y))
        book.potential[n] = 0.5 * after @ (spring * y)
        book.contact[n] = 0.5 * (psi @ psi)
        book.work[n] = 0.5 * force[n] * (s.striking @ (after - earlier))
        book.force[n], book.out[n] = pushed, hear(s, after, pushed, force[n])
        earlier, y = y, after
    np.cumsum(book.work, out=book.work)
    x = np.linspace(0.0, problem.string.length, 2 * y.size + 1)
    return Run(rate, s.points, before, start, book, x, book.shapes @ shape(s.modes.wavenumber, x).T)


def _press(s: ModalString, points: Points, levels: tuple[Array, Array, Array], psi: Array) -> tuple[Array, Array]:
    """Contact forces and psi+; nothing is looked at again, so they may pull and psi may stay."""
    earlier, now, free = (s.touching @ level for level in levels)
    g = np.array([law.psi_slope(eta) for law, eta in zip(points.laws, points.height - now, strict=True)])
    return points.solve(g, earlier - free, psi)
