"""Mass and wall (papers 000, 001): what each scheme does to the duration of a contact."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from engine.errors import PhysicsError
from engine.physics.reference import contact_duration as wall
from engine.physics.reference.contact_duration import MassWall
from engine.physics.reference.lumped import LumpedCase, iterative
from engine.physics.reference.lumped_exact import exact_displacement
from engine.physics.reference.power_law import PowerLaw, implicit_increment

RATE = 50_000.0
PHASES = (np.arange(32) + 0.5) / 32


def durations(samples: float, points: int, corrected: bool) -> np.ndarray:
    """Relative duration error for 32 moments of entry; the contact lasts `samples` samples."""
    angular = pi * RATE / samples
    run, star = (wall.two_point, wall.two_point_beta) if points == 2 else (wall.three_point, wall.three_point_beta)
    beta = star(angular, RATE) if corrected else None
    errors = []
    for phase in PHASES:
        case = MassWall(stiffness=angular**2, start=-(2.0 + phase) / RATE)
        errors.append(wall.contact_duration(case, run(case, RATE, 60, beta)) / case.duration - 1.0)
    return np.array(errors)


# --- closed forms -----------------------------------------------------------------------------------------------------


def test_t1_exact_motion() -> None:
    """y = (v0 / w) sin w (t - t1), tau = pi / w, depth v0 / w, rebound -v0; continuous with its slope."""
    case = MassWall(stiffness=1e10)
    angular = sqrt(1e10)
    assert case.duration == pytest.approx(pi / angular, rel=1e-14)
    t = np.linspace(0.0, 3e-4, 300_001)
    y = wall.exact(case, t)
    assert y.max() == pytest.approx(1.0 / angular, rel=1e-8)
    slope = np.gradient(y, t)
    assert np.max(np.abs(np.diff(slope))) < 2e-4
    assert slope[-1] == pytest.approx(-1.0, rel=1e-9)


def test_exact_motions_of_both_papers_agree() -> None:
    """The quadrature of the oscillator with no spring is the sine of 001 eq. (14)."""
    case = MassWall(stiffness=3e9)
    same = LumpedCase(case.mass, 0.0, 0.0, case.start, case.speed, case.stiffness, 1.0)
    t = np.linspace(0.0, 4e-4, 4001)
    assert np.max(np.abs(wall.exact(case, t) - exact_displacement(same, t))) < 1e-15


@pytest.mark.parametrize(("exponent", "factor"), [(1.0, pi / 2), (1.1, 1.547694), (1.5, 1.471638), (2.3, 1.369625)])
def test_t2_power_law(exponent: float, factor: float) -> None:
    """Depth and duration against DOP853 to eight digits; the factor I against its printed value."""
    law, mass, speed = PowerLaw(3e5, exponent), 0.02, 1.7
    depth, duration = law.compression(mass, speed), law.duration(mass, speed)
    assert duration * speed / (2.0 * depth) == pytest.approx(factor, abs=6e-7)

    def release(t: float, y: np.ndarray) -> float:
        return float(y[0])

    release.terminal, release.direction = True, -1.0  # type: ignore[attr-defined]
    run = solve_ivp(
        lambda t, y: [y[1], -law.force(y[0]) / mass],
        (0.0, 1.0),
        [0.0, speed],
        method="DOP853",
        rtol=1e-13,
        atol=1e-18,
        events=[release, lambda t, y: y[1]],
    )
    assert run.t[-1] == pytest.approx(duration, rel=1e-8)
    assert run.y_events[1][0][0] == pytest.approx(depth, rel=1e-8)


# --- the schemes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stiffness", [1e13, 1e15, 1e18])
def test_minimum_contact_is_one_step_against_two(stiffness: float) -> None:
    """A wall as hard as one likes: one sample inside for the two-point scheme, two for the three-point one."""
    for phase in PHASES:
        case = MassWall(stiffness=stiffness, start=-(2.0 + phase) / RATE)
        assert wall.samples_inside(wall.two_point(case, RATE, 20)) == 1
        assert wall.samples_inside(wall.three_point(case, RATE, 20)) == 2


@settings(max_examples=80, deadline=None)
@given(st.floats(4.0, 14.0), st.floats(1.0, 3.0), st.floats(1e-6, 1e-3), st.floats(0.1, 10.0))
def test_no_contact_is_shorter_than_that(log_stiffness: float, exponent: float, start: float, speed: float) -> None:
    """For every exponent, stiffness, speed and moment of entry (001 section 2.1); and the energy is conserved."""
    case = MassWall(stiffness=10.0**log_stiffness, exponent=exponent, start=-start, speed=speed)
    steps = int(2.0 * RATE * (start / speed + case.duration)) + 12
    for run, fewest in ((wall.two_point, 1), (wall.three_point, 2)):
        trajectory = run(case, RATE, min(steps, 3000))
        if trajectory.displacement[-1] < 0.0:
            assert wall.samples_inside(trajectory) >= fewest
        assert np.max(np.abs(trajectory.energy / trajectory.energy[0] - 1.0)) < 1e-11


def test_corrected_duration_is_exact_at_five_samples() -> None:
    """beta2*, beta3* to 0.1 % (measured 1e-15 and 0.015 %); without them +3.2 % and +7.9 %."""
    assert np.max(np.abs(durations(5, 2, corrected=True))) < 1e-3
    assert np.max(np.abs(durations(5, 3, corrected=True))) < 1e-3
    assert durations(5, 2, corrected=False) == pytest.approx(0.032, abs=1e-3)
    assert durations(5, 3, corrected=False) == pytest.approx(0.079, abs=2e-3)


@pytest.mark.parametrize(
    ("samples", "points", "corrected", "plain"),
    [(3.5, 2, 0.004, 0.063), (3.5, 3, 0.006, 0.154), (1.6, 2, 0.045, 0.265)],
)
def test_duration_of_shorter_contacts(samples: float, points: int, corrected: float, plain: float) -> None:
    assert np.max(np.abs(durations(samples, points, corrected=True))) < corrected
    assert np.mean(durations(samples, points, corrected=False)) == pytest.approx(plain, abs=0.003)


@settings(max_examples=60, deadline=None)
@given(st.floats(2.05, 60.0), st.floats(0.0, 1.0))
def test_corrected_schemes_swing_with_the_contact_frequency(samples: float, phase: float) -> None:
    """Inside the wall both are linear recursions y+ + y- = 2 cos(w k) y: exactly the frequency asked for."""
    angular = pi * RATE / samples
    case = MassWall(stiffness=angular**2, start=-(2.0 + phase) / RATE)
    for run, beta in (
        (wall.two_point, wall.two_point_beta(angular, RATE)),
        (wall.three_point, wall.three_point_beta(angular, RATE)),
    ):
        y = run(case, RATE, int(samples) + 12, beta).displacement
        inside = (y[:-2] > 0.0) & (y[1:-1] > 0.0) & (y[2:] > 0.0)
        residual = y[2:] + y[:-2] - 2.0 * np.cos(angular / RATE) * y[1:-1]
        assert np.all(np.abs(residual[inside]) < 1e-10 * y.max())


def test_three_point_scheme_is_the_iterative_one_of_paper_002() -> None:
    case = MassWall(stiffness=2e10, exponent=1.7)
    same = LumpedCase(case.mass, 0.0, 0.0, case.start, case.speed, case.stiffness, case.exponent)
    difference = wall.three_point(case, RATE, 60).displacement - iterative(same, RATE, 60).displacement
    assert np.max(np.abs(difference)) < 1e-16


@settings(max_examples=200, deadline=None)
@given(st.floats(-1e-3, 1e-3), st.floats(-1e-3, 1e-3), st.floats(3.0, 9.0), st.floats(1.0, 3.0))
def test_implicit_step_finds_the_root(start: float, free: float, log_stiffness: float, exponent: float) -> None:
    """Against bracketing, for every branch: outside, entering, inside, leaving."""
    law, compliance = PowerLaw(10.0**log_stiffness, exponent), 1e-7
    found = implicit_increment(law, start, free, compliance)

    def residual(r: float) -> float:
        return r - free + compliance * law.mean_force(start, r)

    low = free - compliance * law.mean_force(start, free) - 1e-9
    assert found == pytest.approx(brentq(residual, low, free + 1e-9, xtol=1e-18, rtol=1e-14), rel=1e-9, abs=1e-14)


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_contacts_too_short_for_a_scheme_are_refused() -> None:
    """(15) holds above one step, (16) above two; the message names the limit and the rate that would do."""
    with pytest.raises(PhysicsError, match=r"shorter than 1 samples .*raise it above 50000 Hz"):
        wall.two_point_beta(pi * RATE, RATE)
    with pytest.raises(PhysicsError, match=r"shorter than 2 samples .*raise it above 50000 Hz"):
        wall.three_point_beta(0.5 * pi * RATE, RATE)
    with pytest.raises(PhysicsError, match=r"wall\.start"):
        MassWall(start=1e-3)
    with pytest.raises(PhysicsError, match="closed form"):
        wall.exact(MassWall(exponent=1.5), np.zeros(1))
