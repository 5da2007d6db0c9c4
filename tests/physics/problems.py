"""Random problems for property tests, and a few fixed ones."""

from __future__ import annotations

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from engine.physics.barrier import Barrier, Obstacles, Polynomial, Table
from engine.physics.contact import MOST_PRESSED
from engine.physics.excitation import Excitation
from engine.physics.problem import Contact, Pickup, Problem
from engine.physics.string import Loss, String

RATE = 48_000.0  # Hz, at which most tests make a grid of them
STEEL = Loss(0.6, 6.5e-3, 0.0, 5.0e-6)


def sitar(loss: Loss = STEEL, stiffness: float = 1e8) -> Problem:
    """§6's sitar, with points its modes can tell apart at 48 kHz."""
    return Problem(
        String(0.88, 5.55e-4, 58.8, 7.95e-5, loss),
        Barrier(Polynomial((0.0, 0.0, -0.75)), 0.0, 0.03, 4),
        Contact(stiffness),
        Excitation(0.85, 1.0, 2e-3),
        (Pickup(0.1), Pickup(0.0, "bridge_force")),
    )


def floats(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_nan=False)


def powers(low: float, high: float) -> st.SearchStrategy[float]:
    """Log-uniform."""
    return st.floats(low, high, allow_nan=False).map(lambda e: 10.0**e)


@st.composite
def strings(draw: st.DrawFn, lossless: bool = False) -> String:
    """Strings of 40-500 Hz that a grid can carry at 48 kHz."""
    length, density = draw(floats(0.3, 1.5)), draw(powers(-3.7, -2.0))
    pitch = draw(floats(40.0, 500.0))
    tension = density * (2.0 * length * pitch) ** 2
    stiffness = draw(st.sampled_from([0.0, 1.0])) * tension * length**2 / 9.87 * draw(powers(-6.0, -3.5))
    if lossless:
        return String(length, density, tension, stiffness)
    # Finite differences fit plain steel's law over the audible band within their limit on fast strings.
    laws = [Loss(0.5), Loss(2.0, 0.0, 2e-3), Loss(0.0, 0.0, 1e-2), Loss()]
    loss = draw(st.sampled_from(laws + [STEEL] * 2 * (pitch > 80.0 and length * pitch > 100.0)))
    return String(length, density, tension, stiffness, loss)


@st.composite
def barriers(draw: st.DrawFn, length: float) -> Barrier | Obstacles | None:
    """Every kind, touching the string at rest or not."""
    kind = draw(st.sampled_from(["parabola", "bump", "table", "obstacles", "none"]))
    if kind == "none":
        return None
    if kind == "obstacles":
        count = draw(st.integers(1, 5))
        places = draw(st.lists(floats(0.02, 0.98), min_size=count, max_size=count, unique=True))
        heights = draw(st.lists(floats(-2e-3, 1e-5), min_size=count, max_size=count))
        return Obstacles(tuple(length * p for p in places), tuple(heights), draw(floats(-1e-4, 0.0)))
    start = draw(floats(0.0, 0.5)) * length
    stop = start + draw(floats(0.1, 0.45)) * length
    points = draw(st.integers(1, 8))
    if kind == "parabola":
        profile = Polynomial((0.0, 0.0, -draw(floats(0.0, 2.0))), start)
        return Barrier(profile, start, stop, points, draw(floats(-1e-3, 0.0)))
    if kind == "bump":
        return Barrier(Polynomial((draw(floats(0.0, 5e-5)), draw(floats(-1e-3, 0.0)))), start, stop, points)
    return Barrier(Table((start, stop), (draw(floats(-1e-3, 0.0)), draw(floats(-1e-3, 0.0)))), start, stop, points)


def lifted(string: String, barrier: Barrier | Obstacles | None) -> float:
    """At most so many nodes of the string's grid lie over a barrier that presses it at rest."""
    if not isinstance(barrier, Barrier) or barrier.surface(np.array([barrier.start]))[0] <= 0.0:
        return 0.0
    return (barrier.stop - barrier.start) * RATE / np.sqrt(string.tension / string.density) + 1.0


@st.composite
def problems(draw: st.DrawFn, lossless: bool = False) -> Problem:
    """A string, a barrier, a contact from felt to steel, a pluck."""
    string = draw(strings(lossless))
    exponent = draw(st.sampled_from([1.0, 1.0, 1.3, 1.5, 2.0, 2.5]))
    barrier = draw(barriers(string.length))
    assume(lifted(string, barrier) <= MOST_PRESSED)  # more are refused: test_energy.py
    # Stiffness such that 10 um of compression carries 0.1 mN to 1 kN a point (or a metre).
    stiffness = draw(powers(-4.0, 3.0)) / 1e-5**exponent
    damping = 0.0 if lossless else draw(st.sampled_from([0.0, 0.1, 2.0, 50.0]))
    force = draw(st.sampled_from([0.0, 1.0, -1.0])) * draw(powers(-6.0, 0.7))
    excitation = Excitation(draw(floats(0.05, 0.95)), force, draw(powers(-3.5, -2.0)))
    pickups = (Pickup(draw(floats(0.02, 0.98))), Pickup(draw(st.sampled_from([0.0, 1.0])), "bridge_force"))
    return Problem(string, barrier, Contact(stiffness, exponent, damping), excitation, pickups)
