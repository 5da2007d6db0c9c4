"""What a jawari does to a string, by what is heard of its body: how the sound opens and closes, how a formant falls."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import engine
from engine.physics.string import Array
from engine.study.simulate import Simulation

pytestmark = pytest.mark.filterwarnings("ignore::engine.errors.PhysicsWarning")
WINDOW = 0.08  # s
BARE = {"barrier.height": -0.01}


def spectrum(sim: Simulation, at: float) -> tuple[Array, Array]:
    """Frequencies and powers of a body's force from 100 Hz to 16 kHz, from a moment on."""
    first, size = round(at * sim.rate), round(WINDOW * sim.rate)
    x = sim.pickups[first : first + size, 0] * np.hanning(size)
    f = np.fft.rfftfreq(1 << 16, 1.0 / sim.rate)
    heard = (f > 100.0) & (f < 16e3)
    return f[heard], np.abs(np.fft.rfft(x, 1 << 16)[heard]) ** 2


def centroid(sim: Simulation, at: float) -> float:
    f, power = spectrum(sim, at)
    return float((f * power).sum() / power.sum())


def formant(sim: Simulation, at: float) -> float:
    """Where the spectrum, smoothed over 800 Hz, is highest above 800 Hz."""
    f, power = spectrum(sim, at)
    window = np.hanning(int(800.0 / (f[1] - f[0])))
    smooth = np.convolve(power, window, "same")
    above = f > 800.0
    return float(f[above][np.argmax(smooth[above])])


@cache
def sitar(oversample: int = 2, curvature: float = 0.75, bare: bool = False) -> Simulation:
    how: dict[str, Any] = BARE if bare else {"barrier.curvature": curvature}
    return engine.simulate("sitar-string", 1.6, oversample=oversample, overrides=how)


@pytest.mark.parametrize("curvature", [0.75, 2.0])
def test_a_sitar_opens_after_the_stroke_and_closes_slowly(curvature: float) -> None:
    start, later = (centroid(sitar(curvature=curvature), t) for t in (0.03, 0.2))
    assert later >= 1.3 * start


def test_a_sitar_is_three_times_as_bright_as_its_string() -> None:
    bare = [centroid(sitar(bare=True), t) for t in (0.03, 0.1, 0.2, 0.3, 1.5)]
    assert max(bare) < 1.03 * min(bare)
    for i, t in enumerate((0.1, 0.2, 0.3), 1):
        assert centroid(sitar(), t) >= 3.0 * bare[i]
    assert centroid(sitar(), 1.5) >= 1.3 * bare[-1]


@pytest.mark.parametrize(("oversample", "near"), [(1, 0.35), (4, 0.12)])
def test_its_brightness_does_not_hang_on_the_rate(oversample: int, near: float) -> None:
    """At x1, which is not what a sitar comes with, it is brighter by up to 32 % at 0.1 s. That is what a contact of
    exact energy makes of so few steps (the next test) and not the kernel: a sweep over the points came to 11 % there,
    and to 19 % later on.
    """
    for t in (0.03, 0.1, 0.2, 0.3, 0.5, 0.75):
        assert centroid(sitar(oversample), t) == pytest.approx(centroid(sitar(), t), rel=near)


def test_at_few_steps_it_is_as_bright_as_paper_004_s_scheme() -> None:
    """All points at once by Newton's method, with no psi: measured, 6 % at the stroke and 3 % from then on."""
    other = engine.simulate("sitar-string", 0.9, oversample=1, scheme="modal-two-point")
    for t in (0.03, 0.1, 0.2, 0.3, 0.5, 0.75):
        assert centroid(sitar(1), t) == pytest.approx(centroid(other, t), rel=0.08)


def test_the_known_course_of_a_sitar() -> None:
    """Struck upwards at the far end, which is the same half a period later; at x8, where schemes agree.

    Known of another scheme: the sweep over points one after the other that modal strings took before those of a step
    were solved at once, over 28 points at x8, too. With the 7 points that a sitar had then, at x2, that sweep came to
    what a program of its own had found: 1463 at 0.1 s, 1435 at 0.2 s, 605 at 1.5 s. But 7 points are too few.
    """
    how = {"excitation.position": 0.85, "excitation.force": 1.0}
    far = engine.simulate("sitar-string", 1.6, oversample=8, overrides=how)
    known = {0.03: 945, 0.1: 1433, 0.2: 1545, 0.3: 1476, 0.5: 1270, 0.75: 1052, 1.0: 905, 1.5: 726}
    for t, wanted in known.items():
        assert centroid(far, t) == pytest.approx(wanted, rel=0.015)


@pytest.mark.parametrize("key", ["C3", "F#3", "C#4", "C#5", "F#5"])
def test_a_sitar_buzzes_up_and_down_its_frets(key: str) -> None:
    """Frets shorten the string, so that it meets the bridge as steeply everywhere. Pulled up to C#5 instead, at 528 N,
    it would hardly touch it."""
    sim = engine.simulate("sitar-string", 0.5, key=key, as_played=True)
    string = sim.preset.problem.string
    assert string.tension == pytest.approx(58.8, rel=1e-3)
    assert (sim.contact_force.sum(axis=1) > 0.0).mean() > 0.15
    f, power = spectrum(sim, 0.1)
    assert 10.0 * np.log10(power[f > 5.0 * string.pitch].sum() / power.sum()) > -20.0


@cache
def tanpura(edge: float = 5e-3, stiffness: float = 6.03e-5, height: float = 0.0) -> Simulation:
    how = {"barrier.at": [[edge, height]], "string.stiffness": stiffness, "excitation.force": 0.0}
    return engine.simulate(
        "tanpura-string", 1.6, initial=lambda x: 3e-3 * np.sin(np.pi * x), band=40_000.0, overrides=how
    )


def test_a_tanpura_s_formant_falls() -> None:
    """Van Walstijn et al., DAFx-16, heard 2.41, 2.40, 2.18 and 1.74 kHz of theirs."""
    sim = tanpura()
    early, late = [formant(sim, t) for t in (0.3, 0.5)], formant(sim, 1.0)
    assert 2200.0 <= min(early) <= max(early) <= 2500.0
    assert 1450.0 <= late <= 1900.0
    assert -1800.0 <= (late - early[1]) / 0.5 <= -900.0


def test_without_stiffness_or_edge_there_is_no_formant() -> None:
    for sim in (tanpura(stiffness=0.0), tanpura(height=-0.01)):
        assert formant(sim, 0.5) < 900.0


def test_nearer_to_the_edge_it_is_lower_and_lasts_longer() -> None:
    """It goes with the distance to the power 0.4."""
    assert formant(tanpura(2e-3), 0.5) == pytest.approx(formant(tanpura(), 0.5) * 0.4**0.4, rel=0.05)
    assert formant(tanpura(2e-3), 1.5) > 1300.0 > 1100.0 > formant(tanpura(), 1.5)


# --- how loud decides nothing but how loud ----------------------------------------------------------------------------


def force(preset: str, newton: float, overrides: dict[str, Any]) -> Array:
    return engine.simulate(preset, 0.3, overrides={**overrides, "excitation.force": newton}).pickups[:, 0]


@pytest.mark.parametrize("power", [-4, 1, 10])
def test_over_an_edge_at_rest_a_pluck_twice_as_strong_gives_twice_as_much(power: int) -> None:
    """Height zero, exponent one: nothing in the model has a size, so powers of two come back bit for bit."""
    one, other = (force("tanpura-string", 0.4 * 2.0**n, {}) for n in (0, power))
    assert (other == one * 2.0**power).all()


def test_a_round_bridge_takes_its_curve_along() -> None:
    """Points that are given: how many there are by themselves follows from how far the curve rises between two."""
    one = force("sitar-string", -0.5, {"barrier.curvature": 0.5, "barrier.points": 14})
    other = force("sitar-string", -2.0, {"barrier.curvature": 2.0, "barrier.points": 14})
    assert (other == 4.0 * one).all()


CURVED = {"contact.exponent": 1.5, "contact.stiffness": 3e7}


@pytest.mark.parametrize("felt", [{"barrier.at": [[0.005, -1e-6]]}, CURVED, {"contact.damping": 0.1}])
def test_a_height_an_exponent_or_damping_are_felt(felt: dict[str, Any]) -> None:
    one, other = (force("tanpura-string", newton, felt) for newton in (0.4, 0.8))
    assert np.abs(other - 2.0 * one).max() > 1e-3 * np.abs(one).max()
