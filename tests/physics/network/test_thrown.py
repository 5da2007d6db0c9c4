"""What a hammer leaves in a string, against the same differential equations solved by a library."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from engine.physics.designing import BAND
from engine.physics.network.metered import run
from engine.physics.network.parts import Blow, Body, Hammer, Network, Strung
from engine.physics.network.thrown import LASTING, MOST, thrown
from engine.physics.network.weaving import weave
from engine.physics.problem import Contact
from engine.physics.string import Loss, String

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
    oracle = solved(string, at, mass, speed, felt, 6)
    push = np.array(thrown(string, at, mass, speed, felt, 6, 192_000.0))
    found = push * np.abs(np.sin(pi * at * np.arange(1, 7))) / (0.5 * string.density * string.length)
    assert found == pytest.approx(oracle, rel=0.1, abs=0.04 * oracle.max())  # weights need no more


def test_a_short_string_has_what_the_network_gives_it() -> None:
    """At 48 kHz a stiff stick strikes a string of 9 cm otherwise than it does in small steps, by more than 10 dB."""
    string, at, rate = String(0.08705, 6.714e-4, 70.615, 1.164e-4, Loss(0.5)), 0.15, 48_000.0
    felt, mass, speed = Contact(1e6, 1.5), 2.5e-3, 2.667
    push, fine = (np.array(thrown(string, at, mass, speed, felt, 6, r)) for r in (rate, 16.0 * rate))
    shared = Strung(string, ports=(Blow(at * string.length, 0, felt),))
    woven = weave(Network((shared,), Body(), (Hammer(mass, speed),)), rate)
    run(woven, LASTING)
    bank = woven.strand(0).bank
    w = np.arccos(bank.forward[:6] / (2.0 * np.sqrt(bank.backward[:6])))
    now, before = bank.odd[:6], bank.even[:6]
    left = np.sqrt(now * now - 2.0 * np.cos(w) * now * before + before * before) * rate / np.sin(w) * w
    wanted = push * np.abs(np.sin(pi * at * np.arange(1, 7))) / (0.5 * string.density * string.length)
    assert wanted * (w / 2.0) / np.tan(w / 2.0) == pytest.approx(left, rel=0.03)
    assert 20.0 * np.log10(fine[0] / push[0]) > 8.0


def test_nothing_is_left_of_partials_that_are_not_there() -> None:
    """However hard the felt: above the band."""
    found = thrown(String(0.05, 4e-4, 800.0), 0.5, 1e-3, 3.0, Contact(1e14, 3.0), 8, 48_000.0)
    assert all(np.isfinite(found))
    assert found[-1] == 0.0 or String(0.05, 4e-4, 800.0).pitch * 8 < BAND
