"""The Hunt-Crossley impact of paper 003: closed forms, four integrators, Table 1."""

from __future__ import annotations

from itertools import pairwise
from math import e, inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.special import lambertw

from engine.errors import PhysicsError
from engine.physics.reference.impact import METHODS, Impact, State, adams_moulton, leaves_at, simulate
from engine.physics.reference.impact_exact import HuntCrossley, above_log, lambert_w0

RATE = 44_100.0
FIGURE_5 = HuntCrossley(mass=0.01, stiffness=1e7, exponent=1.1, damping=0.1), 0.3
FIGURE_6 = HuntCrossley(mass=0.01, stiffness=1e9, exponent=1.5, damping=0.5), 1.0
SOFT = HuntCrossley(mass=0.01, stiffness=1e5, exponent=1.6, damping=0.5), 0.3


def integrated(law: HuntCrossley, speed: float) -> tuple[float, float, float]:
    """Rebound velocity, contact time and deepest compression by DOP853."""

    def release(t: float, y: np.ndarray) -> float:
        return float(y[0]) if t > 0.0 else 1.0

    release.terminal, release.direction = True, -1.0  # type: ignore[attr-defined]
    run = solve_ivp(
        lambda t, y: [y[1], -law.force(y[0], y[1]) / law.mass],
        (0.0, 1.0),
        [0.0, speed],
        method="DOP853",
        rtol=3e-14,
        atol=1e-20,
        first_step=1e-12,
        events=[release, lambda t, y: y[1]],
    )
    return float(run.y[1, -1]), float(run.t[-1]), float(run.y_events[1][0][0])


# --- closed forms -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("speed", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("damping", [0.0, 1e-3, 0.1, 0.5, 2.0])
@pytest.mark.parametrize("exponent", [1.1, 1.5, 2.3])
def test_closed_forms_against_the_equation_of_motion(exponent: float, damping: float, speed: float) -> None:
    law = HuntCrossley(exponent=exponent, damping=damping)
    rebound, duration, depth = integrated(law, speed)
    assert law.rebound(speed) == pytest.approx(rebound, rel=1e-9)
    assert law.contact_time(speed) == pytest.approx(duration, rel=1e-7)
    assert law.compression(speed) == pytest.approx(depth, rel=1e-8)
    assert law.restitution(speed) == pytest.approx(-rebound / speed, rel=1e-9)


def test_orbit_in_the_phase_plane() -> None:
    """(3): the closed orbit starts and ends at the surface, is deepest at rest, and DOP853 runs on it."""
    law, speed = FIGURE_6
    ends = law.phase_compression(np.array([speed, 0.0, law.rebound(speed)]), speed)
    assert ends == pytest.approx([0.0, law.compression(speed), 0.0], abs=1e-9 * ends[1])
    run = solve_ivp(
        lambda t, y: [y[1], -law.force(y[0], y[1]) / law.mass],
        (0.0, 0.9 * law.contact_time(speed)),
        [0.0, speed],
        method="DOP853",
        rtol=1e-13,
        atol=1e-18,
    )
    # x^(alpha + 1) is what (3) gives; its root would magnify the rounding of v near the surface.
    found, expected = law.phase_compression(run.y[1], speed) ** 2.5, run.y[0] ** 2.5
    assert found == pytest.approx(expected, abs=1e-11 * expected.max())


@settings(max_examples=200, deadline=None)
@given(st.floats(-6.0, 2.0))
def test_rebound_solves_its_equation(log_w: float) -> None:
    """(6) with p = -mu v_out in (0, 1): -p - log(1 - p) = w - log(1 + w), for every mu v_in."""
    w = 10.0**log_w
    law = HuntCrossley(damping=1.0)
    p = -law.rebound(w)
    assert 0.0 < p <= min(w, 1.0)
    # Beyond, 1 - p is below rounding's reach.
    if w < 10.0:
        assert float(above_log(-p)) == pytest.approx(float(above_log(w)), rel=1e-10)


def test_restitution_of_gentle_impacts() -> None:
    """E = 1 - 2w/3 + 4w^2/9 - 44w^3/135 + 104w^4/405 (§5.3): the remainder is of fifth order."""
    law = HuntCrossley(damping=1.0)
    remainder = []
    for w in (0.02, 0.04, 0.08):
        series = 1 - 2 * w / 3 + 4 * w**2 / 9 - 44 * w**3 / 135 + 104 * w**4 / 405
        remainder.append(abs(law.restitution(w) - series))
    assert [np.log2(b / a) for a, b in pairwise(remainder)] == pytest.approx([5.0, 5.0], abs=0.15)


@pytest.mark.parametrize("z", [-1.0 / e + 1e-9, -0.3, -0.1, -1e-8, 0.0, 0.5, 10.0, 1e5])
def test_lambert_w(z: float) -> None:
    assert lambert_w0(z) == pytest.approx(lambertw(z).real, rel=1e-14, abs=1e-11 if z < -0.36 else 0.0)


def test_approximation_of_the_rebound() -> None:
    """(7)-(8): at worst 2.04 %, near mu v = 3 (003 Fig. 3)."""
    law = HuntCrossley(damping=1.0)
    w = np.linspace(0.01, 12.0, 2401)
    error = np.array([law.rebound_approximation(v) / law.rebound(v) - 1.0 for v in w])
    assert 100.0 * np.max(np.abs(error)) == pytest.approx(2.04, abs=0.01)
    assert w[np.argmax(np.abs(error))] == pytest.approx(2.98, abs=0.05)


def test_contact_time_follows_the_power_law_of_mass_over_stiffness() -> None:
    """tau ~ (m / k)^(1 / (alpha + 1)) at a given speed (003 section 2.1.3)."""
    ratio = HuntCrossley(mass=0.08).contact_time(1.0) / HuntCrossley(mass=0.01).contact_time(1.0)
    assert ratio == pytest.approx(8.0 ** (1.0 / 2.1), rel=1e-12)


# --- Table 1 ----------------------------------------------------------------------------------------------------------

TABLE_1A = {"AM1": (None, 1.293, 2.603), "Verlet": (1.122, 1.660, 3.348), "Heun": (1.254, 1.467, 2.955)}
TABLE_1A["RK4"] = (None, -0.125, -0.250)
TABLE_1B = {"AM1": (2.551, 5.166), "Verlet": (0.839, 1.685), "Heun": (-4.692, -9.164), "RK4": (-0.105, -0.211)}


@pytest.mark.parametrize("method", METHODS)
def test_table_1a(method: str) -> None:
    """Overshoot of x_max, error of v_out and of the final energy, in %: every digit the paper prints."""
    law, speed = FIGURE_5
    run = simulate(Impact(law, speed), method, RATE, 20)
    overshoot, rebound, final = TABLE_1A[method]
    depth = 100.0 * (run.compression.max() / law.compression(speed) - 1.0)
    assert depth < 0.0 if overshoot is None else depth == pytest.approx(overshoot, abs=1e-3)
    error = run.velocity[leaves_at(run)] / law.rebound(speed)
    assert 100.0 * (error - 1.0) == pytest.approx(rebound, abs=1e-3)
    assert 100.0 * (error**2 - 1.0) == pytest.approx(final, abs=2e-3)


@pytest.mark.parametrize("method", METHODS)
def test_table_1b(method: str) -> None:
    """Every digit again, with k = 1e9 and errors taken, as the paper did, against (7)-(8), itself 0.013 % off here."""
    law, speed = FIGURE_6
    run = simulate(Impact(law, speed), method, RATE, 20)
    rebound, final = TABLE_1B[method]
    error = run.velocity[leaves_at(run)] / law.rebound_approximation(speed)
    assert run.compression.max() < law.compression(speed)
    assert 100.0 * (error - 1.0) == pytest.approx(rebound, abs=1e-3)
    assert 100.0 * (error**2 - 1.0) == pytest.approx(final, abs=2e-3)


def test_contact_lasts_eight_and_six_samples() -> None:
    for (law, speed), samples in ((FIGURE_5, 8), (FIGURE_6, 6)):
        assert round(law.contact_time(speed) * RATE) == samples


# --- the integrators --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "order"), [("AM1", 2.0), ("Verlet", 1.0), ("Heun", 2.0), ("RK4", 2.6)])
def test_integrators_converge(method: str, order: float) -> None:
    """RK4 is held back by the law's kink at x = 0; Verlet, by a damping that it feels half a step late."""
    law, speed = SOFT
    stop = 0.4 * law.contact_time(speed)
    exact = solve_ivp(
        lambda t, y: [y[1], -law.force(y[0], y[1]) / law.mass], (0.0, stop), [0.0, speed], rtol=1e-13, atol=1e-18
    )
    errors = [
        abs(simulate(Impact(law, speed), method, n / stop, n + 1).compression[-1] - exact.y[0, -1])
        for n in (100, 200, 400)
    ]
    orders = [np.log2(a / b) for a, b in pairwise(errors)]
    assert min(orders) > order - 0.15
    assert orders[-1] < order + 0.5 or method == "RK4"


@settings(max_examples=300, deadline=None)
@given(
    st.floats(-1e-4, 1e-3),
    st.floats(-3.0, 3.0),
    st.floats(3.0, 10.0),
    st.floats(1.0, 3.0),
    st.floats(0.0, 1.0),
)
def test_am1_solves_its_own_equations(x: float, v: float, log_k: float, exponent: float, damping: float) -> None:
    """(20) holds with f+ = f(x+, v+), from any state, a rebound faster than 1 / mu included."""
    law, h = HuntCrossley(0.01, 10.0**log_k, exponent, damping), 1.0 / RATE
    now = State(x, v, law.force(x, v))
    after = adams_moulton(law, 9.81, h, now)
    mean = 0.5 * (now.f + after.f)
    acceleration = 9.81 - mean / law.mass
    scale = abs(v) + h * (abs(mean) / law.mass + 9.81)
    assert after.v == pytest.approx(v + h * acceleration, abs=1e-12 * scale)
    assert after.x == pytest.approx(x + 0.5 * h * (v + after.v), abs=1e-12 * (abs(x) + h * scale))
    stiff = abs(law.force_slopes(after.x, after.v)[0]) * (abs(x) + h * scale)
    assert after.f == pytest.approx(law.force(after.x, after.v), abs=1e-9 * (1.0 + stiff + abs(after.f)))


@pytest.mark.parametrize("method", METHODS)
def test_free_fall_is_exact(method: str) -> None:
    """A parabola is within reach of every method, and gravity's potential is counted."""
    run = simulate(Impact(FIGURE_5[0], -1.0, start=-0.1, gravity=9.81), method, RATE, 2000)
    assert run.compression == pytest.approx(-0.1 - run.time + 0.5 * 9.81 * run.time**2, abs=1e-12)
    assert run.energy == pytest.approx(run.energy[0], rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("law", "speed"), [FIGURE_5, FIGURE_6], ids=["Fig. 5", "Fig. 6"])
def test_corrections(law: HuntCrossley, speed: float, method: str) -> None:
    """Section 4.2: the known maximum is never passed, and the mass leaves with the known velocity."""
    for known in (law.rebound, law.rebound_approximation):
        run = simulate(Impact(law, speed), method, RATE, 20, corrected=known)
        assert run.compression.max() <= law.compression(speed)
        assert run.velocity[leaves_at(run)] == known(speed)
        assert run.energy[-1] == pytest.approx(0.5 * law.mass * known(speed) ** 2, rel=1e-12)


def test_bouncing_with_corrections_follows_the_restitution() -> None:
    """003 Fig. 8: a corrected ball rises to E^2 of its last height, but for the grain of the samples (0.3 %)."""
    law = FIGURE_5[0]
    run = simulate(Impact(law, 0.3, gravity=9.81), "AM1", RATE, int(0.3 * RATE), corrected=law.rebound)
    height = -run.compression
    peak = [float(height[i]) for i in range(1, height.size - 1) if height[i - 1] < height[i] >= height[i + 1]]
    assert len(peak) >= 4
    for one, two in pairwise(peak[:5]):
        speed = np.sqrt(2.0 * 9.81 * one)
        assert two / one == pytest.approx(law.restitution(speed) ** 2, rel=3e-3)


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_what_cannot_be_run_is_refused() -> None:
    with pytest.raises(PhysicsError, match=r"impact\.damping"):
        HuntCrossley(damping=-0.1)
    with pytest.raises(PhysicsError, match=r"impact\.start"):
        Impact(FIGURE_5[0], 0.3, start=1e-3)
    with pytest.raises(PhysicsError, match=r"impact\.speed"):
        Impact(FIGURE_5[0], inf)
    with pytest.raises(PhysicsError, match="AM1, Verlet, Heun, RK4"):
        simulate(Impact(*FIGURE_5), "Euler", RATE, 10)
    with pytest.raises(PhysicsError, match="run longer"):
        leaves_at(simulate(Impact(*FIGURE_5), "RK4", RATE, 4))
