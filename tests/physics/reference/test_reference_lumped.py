"""The lumped mass and barrier of paper 002 against its exact motion and a table of what each rule leaves (§2.1)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from engine.errors import PhysicsError
from engine.physics.reference.gradient import Outlook, capped, entry_secant, onset_secant, plain
from engine.physics.reference.lumped import LumpedCase, Trajectory, first_bounce, iterative, non_iterative
from engine.physics.reference.lumped_exact import exact_bounce, exact_displacement
from engine.physics.reference.power_law import PowerLaw

RATE = 44_100
SOFT, HARD = LumpedCase(stiffness=5e4), LumpedCase(stiffness=7e7)
SAFE_RULES = [capped, entry_secant, onset_secant]

Scheme = Callable[[LumpedCase, float, int], Trajectory]


def scheme(name: str) -> Scheme:
    if name == "iterative":
        return iterative
    rule = {"plain": plain, "capped": capped, "entry": entry_secant, "onset": onset_secant}[name]
    return lambda case, rate, steps: non_iterative(case, rate, steps, rule)


def rms_error(case: LumpedCase, trajectory: Trajectory, seconds: float) -> float:
    early = trajectory.time < seconds
    error = trajectory.displacement[early] - exact_displacement(case, trajectory.time[early])
    return float(np.sqrt(np.mean(error**2)))


# --- the exact motion -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "duration_us", "depth_um"), [(SOFT, 1726.628, 15977.556), (HARD, 55.340, 514.984)], ids=["soft", "hard"]
)
def test_exact_first_contact(case: LumpedCase, duration_us: float, depth_um: float) -> None:
    bounce = exact_bounce(case)
    assert bounce.time * 1e3 == pytest.approx(31.039543, abs=1e-6)
    assert bounce.speed_in == pytest.approx(28.810532, abs=1e-6)
    assert bounce.duration * 1e6 == pytest.approx(duration_us, abs=5e-4)
    assert bounce.compression * 1e6 == pytest.approx(depth_um, abs=5e-4)


@pytest.mark.parametrize(
    "case",
    [
        SOFT,
        HARD,
        LumpedCase(stiffness=1e6, exponent=2.3, height=-0.1),
        LumpedCase(stiffness=1e5, frequency=0.0, height=0.0, start=-0.02, exponent=1.5),
    ],
    ids=["soft", "hard", "below rest", "free mass"],
)
def test_exact_motion_is_the_solution_of_the_equation(case: LumpedCase) -> None:
    """Against DOP853, restarted at every touch and release, over several contacts."""

    def acceleration(t: float, y: np.ndarray) -> list[float]:
        return [y[1], -(case.angular**2) * y[0] - case.law.force(y[0] - case.height) / case.mass]

    def crosses(t: float, y: np.ndarray) -> float:
        return float(y[0] - case.height)

    crosses.terminal = True  # type: ignore[attr-defined]
    t, y, time, path = 0.0, np.array([case.start, case.speed]), [], []
    while t < 0.2:
        crosses.direction = -np.sign(y[0] - case.height + 1e-9 * y[1])  # type: ignore[attr-defined]
        piece = solve_ivp(
            acceleration, (t, 0.2), y, method="DOP853", rtol=1e-13, atol=1e-16, events=crosses, max_step=1e-3
        )
        time.append(piece.t)
        path.append(piece.y[0])
        t, y = float(piece.t[-1]), piece.y[:, -1]
    error = np.concatenate(path) - exact_displacement(case, np.concatenate(time))
    assert np.max(np.abs(error)) < 1e-10


def test_the_barrier_is_met_eight_times_in_half_a_second() -> None:
    for case in (SOFT, HARD):
        above = exact_displacement(case, np.arange(0.0, 0.5, 1e-6)) > case.height
        assert np.count_nonzero(np.diff(above.astype(int)) == 1) == 8


def test_a_mass_that_swings_too_low_never_arrives() -> None:
    case = LumpedCase(start=-0.1, speed=0.0)
    assert exact_bounce(case).time == np.inf
    t = np.linspace(0.0, 0.3, 50)
    assert exact_displacement(case, t) == pytest.approx(-0.1 * np.cos(case.angular * t), abs=1e-15)


# --- the rules of §2.1 and §2.2, row by row ---------------------------------------------------------------------------

ROWS = [  # case, oversampling, scheme, psi left, its share of the energy, duration, depth, rms over 0.1 s
    (SOFT, 1, "iterative", 0.0, 0.0, +0.0004, +0.0002, 1.37e-5),
    (SOFT, 1, "plain", 2.97e-2, 8.9e-5, -0.0064, -0.0103, 2.69e-4),
    (SOFT, 1, "capped", 0.0, 0.0, -0.0064, -0.0103, 2.43e-4),
    (SOFT, 5, "plain", -8.1e-3, 6.6e-6, +0.0010, +0.0016, 4.96e-5),
    (SOFT, 5, "capped", 0.0, 0.0, +0.0010, +0.0016, 3.95e-5),
    (HARD, 1, "iterative", 0.0, 0.0, +0.299, +0.036, 4.0e-4),
    (HARD, 1, "plain", 2.214, 0.496, -0.136, -0.228, 8.9e-2),
    (HARD, 1, "capped", 0.0, 0.0, -0.136, -0.228, 1.5e-4),
    (HARD, 5, "iterative", 0.0, 0.0, +0.014, +0.003, 1.9e-5),
    (HARD, 5, "plain", 0.1012, 0.00104, +0.042, +0.060, 1.9e-4),
    (HARD, 5, "capped", 0.0, 0.0, +0.042, +0.060, 4.5e-5),
]


@pytest.mark.parametrize(("case", "times", "name", "psi", "share", "duration", "depth", "rms"), ROWS)
def test_table_of_section_two(
    case: LumpedCase, times: int, name: str, psi: float, share: float, duration: float, depth: float, rms: float
) -> None:
    rate = times * RATE
    trajectory = scheme(name)(case, rate, int(0.1 * rate))
    exact, bounce = exact_bounce(case), first_bounce(case, trajectory)
    after = int((exact.time + exact.duration) * rate) + 4
    assert trajectory.psi[after] == pytest.approx(psi, rel=3e-3, abs=1e-15)
    assert trajectory.contact[after] / trajectory.total[0] == pytest.approx(share, rel=6e-3, abs=1e-15)
    assert bounce.duration / exact.duration - 1.0 == pytest.approx(duration, abs=6e-4)
    assert bounce.compression / exact.compression - 1.0 == pytest.approx(depth, abs=6e-4)
    assert rms_error(case, trajectory, 0.1) == pytest.approx(rms, rel=0.04)


@pytest.mark.parametrize(
    ("case", "name", "loss"),
    [
        (SOFT, "plain", 0.0),
        (SOFT, "capped", 0.0),
        (HARD, "plain", 0.36),
        (HARD, "capped", 0.0),
        (HARD, "entry", 0.0),
        (HARD, "onset", 0.0),
        (HARD, "iterative", 0.0),
    ],
)
def test_rebound_speed_at_audio_rate(case: LumpedCase, name: str, loss: float) -> None:
    """The stiff barrier takes 36 % of the speed with the plain rule (002 Fig. 2), nothing with the others."""
    bounce = first_bounce(case, scheme(name)(case, RATE, int(0.04 * RATE)))
    assert bounce.speed_in == pytest.approx(exact_bounce(case).speed_in, rel=1e-6)
    assert 1.0 - bounce.speed_out / bounce.speed_in == pytest.approx(loss, abs=1e-3)


def test_the_plain_rule_pulls_and_the_others_do_not() -> None:
    """Soft barrier at five times audio rate: -1.7 N (§2.1)."""
    steps = RATE * 5 // 2
    assert non_iterative(SOFT, 5 * RATE, steps, plain).force.min() == pytest.approx(-1.7, abs=0.05)
    for rule in SAFE_RULES:
        assert non_iterative(SOFT, 5 * RATE, steps, rule).force.min() == 0.0


def test_iterative_scheme_converges_at_second_order() -> None:
    errors = [rms_error(SOFT, iterative(SOFT, n * RATE, int(0.1 * n * RATE)), 0.1) for n in (1, 2, 4)]
    orders = [np.log2(coarse / fine) for coarse, fine in pairwise(errors)]
    assert orders == pytest.approx([2.0, 2.0], abs=0.05)


def test_twenty_iterations_are_as_good_as_convergence_here() -> None:
    """What the paper ran is what we call converged."""
    for case in (SOFT, HARD):
        twenty, converged = (iterative(case, RATE, 5000, n).displacement for n in (20, None))
        assert np.max(np.abs(twenty - converged)) < 1e-11


# --- over the moment of entry -----------------------------------------------------------------------------------------


def duration_and_rebound(exponent: float, samples: float, name: str) -> tuple[np.ndarray, np.ndarray, float]:
    """Duration error and rebound (both relative) of a free mass over 64 entry phases; lowest force over highest."""
    mass, speed, phases = 0.01, 1.0, 64
    unit = PowerLaw(1.0, exponent).duration(mass, speed) * RATE
    stiffness = (unit / samples) ** (exponent + 1.0)
    error, rebound, force = np.zeros(phases), np.zeros(phases), []
    for i in range(phases):
        start = -(3.0 + (i + 0.5) / phases) * speed / RATE
        case = LumpedCase(mass, 0.0, 0.0, start, speed, stiffness, exponent)
        run = scheme(name)(case, RATE, int(4 * samples) + 20)
        n = int(np.flatnonzero(run.displacement > 0.0)[-1]) + 2
        rebound[i] = (run.displacement[n - 1] - run.displacement[n]) * RATE / speed
        leaves = n + run.displacement[n] / (rebound[i] * speed) * RATE
        error[i] = (leaves / RATE + start / speed) * RATE / samples - 1.0
        force += [run.force.min(), run.force.max()]
    return error, rebound, min(force) / max(force)


@pytest.mark.parametrize(
    ("exponent", "samples", "percent"), [(1.0, 6, 9.9), (1.0, 12, 4.8), (1.0, 24, 2.4), (1.5, 6, 4.1), (1.5, 12, 1.6)]
)
def test_capped_rule_is_first_order_in_duration(exponent: float, samples: float, percent: float) -> None:
    error, rebound, lowest = duration_and_rebound(exponent, samples, "capped")
    assert 100.0 * np.sqrt(np.mean(error**2)) == pytest.approx(percent, rel=0.04)
    assert rebound == pytest.approx(1.0, abs=1e-11)
    assert lowest == 0.0


@pytest.mark.parametrize(("exponent", "samples", "worst"), [(1.1, 2.44, 0.57), (1.0, 6, 0.903), (1.0, 24, 0.992)])
def test_plain_rule_loses_speed(exponent: float, samples: float, worst: float) -> None:
    assert duration_and_rebound(exponent, samples, "plain")[1].min() == pytest.approx(worst, abs=0.015)


@pytest.mark.parametrize("exponent", [1.0, 1.1, 1.5, 2.3])
def test_onset_secant_is_second_order_in_duration(exponent: float) -> None:
    """One percent at most at 12 samples per contact, whatever the phase, and four times less at 24."""
    coarse, fine = (duration_and_rebound(exponent, n, "onset") for n in (12, 24))
    assert np.max(np.abs(coarse[0])) < 0.006
    assert np.sqrt(np.mean(coarse[0] ** 2) / np.mean(fine[0] ** 2)) > 3.5
    for _, rebound, lowest in (coarse, fine):
        assert rebound == pytest.approx(1.0, abs=1e-11)
        assert lowest == 0.0


def test_entry_secant_halves_the_duration_error() -> None:
    """Variant (ii): 1.46 % instead of 4.1 % at six samples, exponent 1.5."""
    error, rebound, lowest = duration_and_rebound(1.5, 6, "entry")
    assert 100.0 * np.sqrt(np.mean(error**2)) == pytest.approx(1.46, abs=0.05)
    assert rebound == pytest.approx(1.0, abs=1e-11)
    assert lowest == 0.0


# --- properties -------------------------------------------------------------------------------------------------------


@st.composite
def cases(draw: st.DrawFn) -> tuple[LumpedCase, float]:
    """A case and a rate; contacts from a small part of a sample to hundreds of samples long."""

    def log_uniform(low: float, high: float) -> float:
        return 10.0 ** draw(st.floats(low, high))

    height = draw(st.floats(-0.05, 0.05))
    case = LumpedCase(
        mass=log_uniform(-3, 0),
        frequency=draw(st.floats(0.0, 500.0)),
        height=height,
        start=height - log_uniform(-2, -0.5),
        speed=log_uniform(-0.5, 1.5),
        stiffness=log_uniform(2, 9),
        exponent=draw(st.floats(1.0, 3.0)),
    )
    rate = log_uniform(4, 5.3)
    assume(case.flight(1.0 / rate) < case.height)
    return case, rate


@settings(max_examples=60, deadline=None)
@given(cases(), st.sampled_from([plain, *SAFE_RULES, None]))
def test_energy_is_conserved(drawn: tuple[LumpedCase, float], rule: object) -> None:
    case, rate = drawn
    run = iterative(case, rate, 800) if rule is None else non_iterative(case, rate, 800, rule)  # type: ignore[arg-type]
    assert np.max(np.abs(run.total / run.total[0] - 1.0)) < 1e-11


@settings(max_examples=60, deadline=None)
@given(cases(), st.lists(st.floats(0.0, 1e3), min_size=5, max_size=5))
def test_energy_is_conserved_for_any_g_at_all(drawn: tuple[LumpedCase, float], values: list[float]) -> None:
    """The key fact of the quadratised schemes: g may be nonsense and the energy holds."""
    case, rate = drawn
    sequence = iter(values * 200)
    run = non_iterative(case, rate, 800, lambda law, at: next(sequence))
    assert np.max(np.abs(run.total / run.total[0] - 1.0)) < 1e-11


@settings(max_examples=100, deadline=None)
@given(cases(), st.sampled_from(SAFE_RULES))
def test_contact_pushes_only_and_keeps_nothing(drawn: tuple[LumpedCase, float], rule: object) -> None:
    case, rate = drawn
    run = non_iterative(case, rate, 800, rule)  # type: ignore[arg-type]
    assert run.psi.min() >= 0.0
    assert run.force.min() >= 0.0
    u = run.displacement
    retreating = 2.0 * np.diff(u) - (case.angular / rate) ** 2 * u[1:] < 0.0
    released = (u[1:] <= case.height) & retreating
    assert np.all(run.psi[1:][released] == 0.0)


@settings(max_examples=300, deadline=None)
@given(
    st.floats(-1e-3, 1e-3),
    st.floats(-1e-3, 1e-3),
    st.floats(-1e-3, 1e-3),
    st.floats(-1.0, 10.0, allow_subnormal=False),
    st.floats(-8.0, -2.0),
    st.sampled_from(SAFE_RULES),
)
def test_no_safe_rule_drives_psi_below_zero(
    before: float, now: float, change: float, psi: float, log_compliance: float, rule: object
) -> None:
    """One step from any state: psi+ >= 0 if psi >= 0; from a negative one no force unless the contact closes."""
    compliance = 10.0**log_compliance
    g = rule(PowerLaw(1e6, 1.3), Outlook(before, now, change, psi, compliance))  # type: ignore[operator]
    increment = (change - compliance * g * psi) / (1.0 + 0.25 * compliance * g**2)
    assert g >= 0.0
    if psi >= 0.0:
        assert psi + 0.5 * g * increment >= -1e-12 * psi
    elif change <= 0.0:
        assert g == 0.0


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_what_cannot_be_run_is_refused() -> None:
    with pytest.raises(PhysicsError, match=r"lumped\.start"):
        LumpedCase(start=0.3)
    with pytest.raises(PhysicsError, match=r"31\.4159 Hz"):
        non_iterative(SOFT, 30.0, 10)
    with pytest.raises(PhysicsError, match="within one step"):
        iterative(LumpedCase(start=0.1999), 1000.0, 10)
    with pytest.raises(PhysicsError, match="run longer"):
        first_bounce(SOFT, iterative(SOFT, RATE, 100))
