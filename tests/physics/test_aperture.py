"""What is left of a wave to a pickup that hears more than one place: against integrals over the string."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from physics.problems import sitar

from engine.physics import modal
from engine.physics.aperture import averaged, left_of, near_field, places
from engine.physics.hearing import heard
from engine.physics.modes import pickup_row
from engine.physics.problem import Pickup
from engine.physics.string import Loss, String

WIRE = String(0.9, 1e-3, 60.0, 1e-4)


@given(st.floats(1e-3, 0.2), st.floats(1.0, 2000.0))
def test_a_width_hears_the_mean_of_the_string(width: float, b: float) -> None:
    x = 0.3 + width * ((np.arange(20_000) + 0.5) / 20_000 - 0.5)
    found = np.sin(b * 0.3) * averaged(np.array([b]), width)[0]  # type: ignore[index]
    assert found == pytest.approx(np.sin(b * x).mean(), abs=2e-4)


def test_a_wave_as_long_as_the_width_is_not_heard() -> None:
    b = 2.0 * pi * np.arange(1, 5) / 0.03
    assert averaged(b, 0.03) == pytest.approx(0.0, abs=1e-15)
    assert averaged(b, 0.0) == 1.0


@pytest.mark.parametrize("x", [1e-6, 0.01, 0.3, 1.0, 1.999, 2.001, 3.7, 8.0, 20.0])
def test_air_hears_what_a_row_of_dipoles_does(x: float) -> None:
    """Integral of cos(x t)/(2 (1 + t^2)^(3/2)) over all t; in t = sinh u, by the trapezoidal rule."""
    u = np.linspace(-18.0, 18.0, 4_000_001)
    wanted = np.sum(np.cos(x * np.sinh(u)) / (2.0 * np.cosh(u) ** 2)) * (u[1] - u[0])
    assert near_field(x) == pytest.approx(wanted, abs=2e-7)
    assert near_field(0.0) == 1.0


@given(st.floats(0.0, 1.9))
@example(5e-324)
def test_its_two_halves_are_one_function(x: float) -> None:
    assert near_field(x) >= near_field(x + 0.1) > 0.0


def test_places_stand_for_the_whole() -> None:
    """Of waves that are long against it, and of a straight line exactly."""
    for pickup in (Pickup(0.4, width=0.05), Pickup(0.4, "air", distance=0.02)):
        x = places(pickup, 0.9)
        b = np.array([3.0, 20.0])
        assert x.mean() == pytest.approx(0.36)
        assert np.sin(np.outer(b, x)).mean(axis=1) == pytest.approx(np.sin(b * 0.36) * left_of(b, pickup), rel=0.08)
    assert places(Pickup(0.4), 0.9) == pytest.approx([0.36])


def test_a_row_of_a_place_is_what_it_was() -> None:
    b = WIRE.wavenumbers(40)
    for kind in ("displacement", "velocity"):
        assert (pickup_row(WIRE, b, Pickup(0.3, kind)) == pickup_row(WIRE, b, Pickup(0.3, kind, width=0.0))).all()


def test_air_is_the_acceleration_of_the_place() -> None:
    """Near the string that of the place itself, which is the second difference of its displacement."""
    problem = sitar(Loss(0.5))
    pickups = (Pickup(0.3), Pickup(0.3, "air", distance=1e-6), Pickup(0.3, "air", distance=0.05))
    d = modal.design(type(problem)(problem.string, excitation=problem.excitation, pickups=pickups), 48_000.0)
    force = np.zeros(2000)
    force[0] = 1.0
    run = modal.run(d, force, at=np.array([], np.int64))
    x = heard(pickups, run)
    bend = np.diff(x[:, 0], 2) * 48_000.0**2
    assert x[1:-1, 1] == pytest.approx(bend, abs=1e-3 * np.abs(bend).max())
    high = [np.abs(np.fft.rfft(x[:, n] * np.hanning(len(x))))[400:].max() for n in (1, 2)]
    assert high[1] < 0.1 * high[0]
