"""What a hammer leaves in a string, against the same differential equations solved by a library."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from engine.physics.network.thrown import BAND, LASTING, MOST, left
from engine.physics.problem import Contact
from engine.physics.string import String

C4 = String(0.62, 6.3e-3, 670.0, 0.01)
WIRE = String(0.52, 1.1e-3, 110.0, 3e-4)


def solved(string: String, at: float, mass: float, speed: float, felt: Contact, count: int) -> np.ndarray:
    """m_i y'' = -m_i w_i^2 y + sin(i pi x) F, m x'' = -F, F = K (x - u)^a: how far each partial swings, times w."""
    numbers = np.arange(1, MOST + 1)
    w = string.undamped_frequency(string.wavenumbers(MOST))
    numbers, w = numbers[w <= 2 * pi * BAND], w[w <= 2 * pi * BAND]
    there, modal = np.sin(numbers * pi * at), 0.5 * string.density * string.length

    def rate(_: float, s: np.ndarray) -> np.ndarray:
        y, v = s[: w.size], s[w.size : 2 * w.size]
        deep = max(s[-2] - there @ y, 0.0)
        force = felt.stiffness * deep**felt.exponent
        return np.concatenate([v, force * there / modal - w * w * y, [s[-1], -force / mass]])

    begun = np.concatenate([np.zeros(2 * w.size), [0.0, speed]])
    end = solve_ivp(rate, (0.0, LASTING), begun, "DOP853", rtol=1e-8, atol=1e-12, max_step=1e-5).y[:, -1]
    return np.hypot(end[: w.size] * w, end[w.size : 2 * w.size])[:count]


@pytest.mark.parametrize(
    ("string", "at", "mass", "speed", "felt"),
    [
        (C4, 0.12, 2.97e-3, 1.7, Contact(4.5e9, 2.5)),
        (WIRE, 0.15, 2.5e-3, 2.0, Contact(1e6, 1.5)),  # stays for more than a period
    ],
)
def test_a_hammer_leaves_what_it_should(string: String, at: float, mass: float, speed: float, felt: Contact) -> None:
    found, oracle = np.array(left(string, at, mass, speed, felt, 6)), solved(string, at, mass, speed, felt, 6)
    assert found == pytest.approx(oracle, rel=0.1, abs=0.08 * oracle.max())  # weights need no more


def test_nothing_is_left_of_partials_that_are_not_there() -> None:
    """However hard the felt: above the band, and at a node."""
    found = left(String(0.05, 4e-4, 800.0), 0.5, 1e-3, 3.0, Contact(1e14, 3.0), 8)
    assert all(np.isfinite(found))
    assert found[1] < 1e-12 * found[0]
    assert found[-1] == 0.0 or String(0.05, 4e-4, 800.0).pitch * 8 < BAND
