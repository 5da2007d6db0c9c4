"""The compiled two-point string: as the reference solves it, its energy, what its modes leave out, its barrier."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from physics.problems import STEEL, problems, sitar

from engine.physics import modal, newton, statics, two_point
from engine.physics.barrier import Barrier, ContactPoints, Polynomial
from engine.physics.contact import law
from engine.physics.excitation import pulse
from engine.physics.modes import pickup_row
from engine.physics.problem import Contact, Pickup, Problem
from engine.physics.record import Run
from engine.physics.reference import newton_modal
from engine.physics.reference.implicit_contact import Springs, together
from engine.physics.string import Array, Loss, String

RATE = 48_000.0
NEVER = np.zeros(0, np.int64)
RANDOM = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def halfway(force: Array) -> Array:
    """The reference pushes halfway between two steps, with the mean of both: what that is at the steps themselves."""
    middle = 0.5 * (force + np.append(force[1:], 0.0))
    return 0.5 * (middle + np.append(0.0, middle[:-1]))


def kept(run: Run) -> tuple[float, float]:
    """Worst error of the energy balance, relative to the most energy; and that energy."""
    total = run.log.kinetic + run.log.potential + run.log.contact
    balance = total + run.log.lost - run.log.work
    most = max(float(np.abs(total).max()), 1e-30)
    return float(np.abs(balance - balance[0]).max()) / most, most


# --- against the reference --------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::engine.errors.PhysicsWarning")
@pytest.mark.parametrize(
    ("points", "rate", "contact"),
    [
        (7, RATE, Contact(1e8)),
        (7, 2.0 * RATE, Contact(1e9)),
        (12, RATE, Contact(1e9)),  # closer than the modes can tell apart
        (7, RATE, Contact(1e9, 1.3)),
        (12, RATE, Contact(1e11, 1.5)),
        (7, RATE, Contact(1e13, 2.0)),
    ],
)
def test_the_compiled_scheme_is_the_references(points: int, rate: float, contact: Contact) -> None:
    p = sitar()
    assert isinstance(p.barrier, Barrier)
    p = replace(p, barrier=replace(p.barrier, points=points), contact=contact)
    force = pulse(p.excitation, rate, int(rate * 0.01))
    wanted = newton_modal.run_two_point(p, rate, force, at=NEVER, band=20e3).log
    got = two_point.run(modal.design(p, rate, band=20e3), halfway(force), at=NEVER, whole=False).log
    assert wanted.force.max() > 0.05  # it does touch
    assert np.abs(got.out - wanted.out).max(axis=0) == pytest.approx(0.0, abs=1e-10 * np.abs(wanted.out).max())
    assert np.abs(got.force - wanted.force).max() <= 1e-9 * wanted.force.max()
    late = slice(int(rate * 0.003), None)  # once nothing pushes, energies are the same, too
    for part in ("kinetic", "potential", "contact"):
        difference = getattr(got, part)[late] - getattr(wanted, part)[late]
        assert np.abs(difference).max() <= 1e-10 * wanted.potential.max()


@pytest.mark.interpreted
@RANDOM
@given(
    seed=st.integers(0, 2**32 - 1),
    points=st.integers(1, 9),
    rank=st.integers(1, 9),
    exponent=st.sampled_from([1.0, 1.3, 1.5, 2.0, 2.5]),
    hardness=st.floats(-4.0, 4.0),
)
def test_points_meet_as_the_reference_says(seed: int, points: int, rank: int, exponent: float, hardness: float) -> None:
    """Random springs from soft to rigid, coupled by a matrix that may be singular: the same forces."""
    rng = np.random.default_rng(seed)
    lever = rng.normal(size=(points, rank))
    coupling = lever @ lever.T
    stiffness = 10.0**hardness * rng.uniform(0.1, 1.0, points) / coupling.diagonal().mean()
    start, way = rng.normal(size=points), rng.normal(size=points)
    wanted = together(Springs(stiffness, exponent), start, way, coupling, np.zeros(points)).force
    rules = law(ContactPoints(start, start, stiffness), Contact(1.0, exponent), RATE)
    s = newton.solver(points, np.float64)
    s.near[:], s.start[:], s.way[:], s.coupling[:] = np.arange(points), start, way, coupling
    newton.solve(rules, s, points)
    assert (s.given >= 0.0).all()
    # Forces that a singular matrix does not tell apart may differ; what they do may not.
    assert coupling @ s.given == pytest.approx(coupling @ wanted, abs=1e-8 * (np.abs(way).max() + np.abs(start).max()))
    assert s.change == pytest.approx(way - coupling @ s.given, abs=1e-8)


# --- energy -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("whole", [False, True])
@RANDOM
@given(problem=problems())
def test_energy_is_kept_nothing_pulls_and_every_loss_loses(whole: bool, problem: Problem) -> None:
    d = modal.design(problem, RATE, band=20e3)
    run = two_point.run(d, pulse(problem.excitation, RATE, 1200), at=NEVER, whole=whole)
    error, most = kept(run)
    assert error <= 1e-9
    assert run.log.force.min(initial=0.0) >= 0.0
    assert np.diff(run.log.lost, prepend=0.0).min() >= -1e-13 * most
    assert np.isfinite(run.log.out).all()


def test_float32_stays_near_its_balance() -> None:
    d = modal.design(sitar(), RATE, band=20e3, dtype=np.float32)
    run = two_point.run(d, pulse(sitar().excitation, RATE, 2400), at=NEVER)
    assert run.log.out.dtype == np.float32
    assert kept(run)[0] <= 1e-3
    assert run.log.force.min() >= 0.0


def test_a_pressed_string_stays_at_rest() -> None:
    """The force that holds it has acted before the first step, the modes' part of it and the rest."""
    p = sitar()
    assert isinstance(p.barrier, Barrier)
    p = replace(p, barrier=replace(p.barrier, points=7, height=2e-5))
    for whole in (False, True):
        run = two_point.run(modal.design(p, RATE, band=20e3), np.zeros(500), at=NEVER, whole=whole)
        assert run.log.force[0].max() > 0.01
        assert np.ptp(run.log.force, axis=0).max() <= 1e-7 * run.log.force.max()
        assert np.ptp(run.log.out[:, 0]) <= 1e-12


# --- what the modes leave out -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("stiffness", [0.0, 7.95e-5])
def test_the_closed_form_is_the_sum_of_all_modes(stiffness: float) -> None:
    string, at = String(0.88, 5.55e-4, 58.8, stiffness), np.array([0.004, 0.02, 0.5])
    b = np.arange(1, 200_001) * np.pi / string.length
    spring = 0.5 * string.length * (string.tension * b**2 + string.stiffness * b**4)
    shapes = np.sin(np.outer(at, b))
    assert statics.compliance(string, at, at) == pytest.approx((shapes / spring) @ shapes.T, rel=2e-4)
    for end in (0.0, 1.0):
        pull = pickup_row(string, b, Pickup(end, "bridge_force"))
        pull *= np.clip(2.0 - 2.0 * np.arange(b.size) / b.size, 0.0, 1.0)  # the sum swings about its limit
        heard = statics.heard(string, at, Pickup(end, "bridge_force"))
        assert (shapes / spring) @ pull == pytest.approx(heard, abs=2e-3)


def test_a_resting_push_moves_a_string_of_few_modes_as_far_as_one_of_all() -> None:
    """Pressed by its barrier, 12 modes with N leave it where statics says; without N they leave it elsewhere."""
    p = sitar()
    assert isinstance(p.barrier, Barrier)
    p = replace(p, barrier=replace(p.barrier, points=3, height=2e-5), contact=Contact(1e6))
    d = modal.design(p, RATE, band=2_300.0)
    pressed = {whole: two_point.coefficients(d, whole=whole).rest_force for whole in (False, True)}
    own = statics.compliance(p.string, d.points.position, d.points.position)
    moved = own @ pressed[True]
    assert pressed[True] == pytest.approx(d.points.stiffness * np.clip(d.points.height - moved, 0.0, None), rel=1e-2)
    assert np.abs(pressed[False] - pressed[True]).max() > 0.1 * pressed[True].max()


def test_modes_that_would_ring_are_not_taken_for_lost() -> None:
    quiet = replace(sitar(), string=replace(sitar().string, loss=Loss(0.5)))
    assert not two_point.coefficients(modal.design(quiet, RATE, band=20e3)).remainder.any()
    assert two_point.coefficients(modal.design(sitar(STEEL), RATE, band=20e3)).remainder.any()


# --- a barrier that moves ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stiffness", [1e6, 1e9, 1e13])
def test_a_rising_barrier_gives_its_force_times_its_way(stiffness: float) -> None:
    """However hard it is: energy gained and lost is the sum of forces times ways, to rounding."""
    p = replace(sitar(stiffness=stiffness), string=replace(sitar().string, loss=Loss()))
    d = modal.design(p, RATE, band=20e3)
    c = two_point.coefficients(d)
    s, out = two_point.state(c), np.zeros((1, 2))
    by, given, kept_by, held = 1e-7, 0.0, [], []
    for n in range(900):
        two_point.kernel(c, s, np.zeros(1), by if n < 600 else -by, out)
        given += (by if n < 600 else -by) * float(s.force.sum())
        kept_by.append(given)
        held.append(sum(two_point.energy(c, s)))
    assert max(held) > 1e-6
    assert np.array(held) == pytest.approx(np.array(kept_by), abs=1e-9 * max(held))
    assert c.height == pytest.approx(d.points.height + 300e-7)


# --- a flat barrier ---------------------------------------------------------------------------------------------------


def test_a_flat_barrier_throws_the_string_back_in_time() -> None:
    """§5.6: released from 2h sin(pi x/L) over a flat rigid barrier back after 1.5 T; points are as the modes ask."""
    string, h = String(0.5, 5.55e-4, 50.0), 5e-4
    barrier = Barrier(Polynomial((-h,)), 0.0, 0.5)
    problem = Problem(string, barrier, Contact(1e9), pickups=(Pickup(0.5),))
    rate, period = 4.0 * 44_100.0, 2.0 * string.length / string.wave_speed

    def initial(x: Array) -> Array:
        return np.asarray(2.0 * h * np.sin(np.pi * x / 0.5))

    back = {}
    for points in (None, 40):
        d = modal.design(replace(problem, barrier=replace(barrier, points=points)), rate, band=40e3)
        assert d.points.position.size == (points or d.modes.wavenumber.size + 1)
        run = two_point.run(d, np.zeros(int(1.8 * period * rate)), at=NEVER, initial=initial)
        seen = run.log.out[int(1.2 * period * rate) :, 0]
        back[points] = (1.2 + float(np.argmax(seen)) / rate / period, float(seen.max()) / (2.0 * h))
    assert back[None][0] == pytest.approx(1.511, abs=0.01)
    assert back[None][1] > 0.93
    assert back[40][0] > 1.6  # obstacles that the string falls between
