"""The slow string schemes: energy to the last digit, exact poles, and the engine's kernels against them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from physics.problems import STEEL, problems, sitar

from engine.errors import PhysicsError, PhysicsWarning
from engine.physics import finite_difference, modal
from engine.physics.barrier import Barrier, Obstacles, Polynomial
from engine.physics.excitation import Excitation, pulse
from engine.physics.modes import modes
from engine.physics.problem import Contact, Pickup, Problem
from engine.physics.record import Run
from engine.physics.reference import cholesky, gradient, iterative, iterative_kernel, newton_modal
from engine.physics.reference.implicit_contact import Tally
from engine.physics.reference.modal_string import modal_string
from engine.physics.reference.newton_modal import ThreePoint, TwoPoint
from engine.physics.string import Array, Loss, String

RATE = 44_100.0
NEVER = np.zeros(0, np.int64)
SCHEMES: dict[str, Callable[..., Run]] = {
    "iterative": iterative.run,
    "cholesky": cholesky.run,
    "two-point": newton_modal.run_two_point,
    "three-point": newton_modal.run_three_point,
}
every_scheme = pytest.mark.parametrize("scheme", SCHEMES)
slowly = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))

# Paper 004 Fig. 3: a 30 mm bump above the rest line with more points than 60 modes can tell apart.
SITAR_004 = Problem(
    String(0.5, 5.55e-4, 50.0, 7.95e-5, STEEL),
    Barrier(Polynomial((0.0, 0.25 * 0.03, -0.25)), 0.0, 0.03, 10),
    Contact(1e9),
    Excitation(0.7, 0.5, 1.5e-3),
    (Pickup(0.9), Pickup(1.0, "bridge_force")),
)
SOFT = Problem(
    String(0.5, 5.55e-4, 50.0, 7.95e-5, Loss(0.6, 0.0, 2e-3)),
    Barrier(Polynomial((-2e-5,)), 0.05, 0.2, 40),
    Contact(1e6, 1.5),
    Excitation(0.7, 0.5, 1.5e-3),
    (Pickup(0.9),),
)


def imbalance(run: Run) -> float:
    """Worst error of the energy balance, relative to the most energy there was."""
    log = run.log
    total = log.kinetic + log.potential + log.contact
    kept = total + log.lost - log.work
    return float(np.abs(kept - kept[0]).max()) / max(float(total.max()), 1e-30)


def sine(x: Array, length: float, mode: int) -> Array:
    """A mode's shape, 1 mm high."""
    return 1e-3 * np.sin(mode * np.pi * x / length)


def rms(error: Array, reference: Array) -> float:
    return float(np.sqrt(np.mean(error**2) / np.mean(reference**2)))


# --- energy -----------------------------------------------------------------------------------------------------------


@every_scheme
@pytest.mark.filterwarnings("ignore::engine.errors.PhysicsWarning")
@slowly
@given(problem=problems())
def test_balance_of_random_strings_with_losses_and_forcing(scheme: str, problem: Problem) -> None:
    elastic = replace(problem, contact=replace(problem.contact, damping=0.0))
    force = pulse(problem.excitation, 48_000.0, 400)
    try:
        run = SCHEMES[scheme](elastic, 48_000.0, force, at=NEVER)
    except PhysicsError as refusal:
        assume("finite differences miss this decay" not in str(refusal))
        raise
    assert imbalance(run) <= 1e-10
    assert run.log.force.min(initial=0.0) >= 0.0
    assert np.diff(run.log.lost, prepend=0.0).min() >= -1e-13 * np.abs(run.log.work).max()


@every_scheme
@pytest.mark.filterwarnings("ignore::engine.errors.PhysicsWarning")
@slowly
@given(problem=problems(lossless=True))
def test_no_drift_without_loss_after_release(scheme: str, problem: Problem) -> None:
    first_mode = partial(sine, length=problem.string.length, mode=1)
    run = SCHEMES[scheme](problem, 48_000.0, np.zeros(400), at=NEVER, initial=first_mode)
    # Where a string grazes its barrier the iterative scheme's quotient of small differences loses a digit more.
    assert imbalance(run) <= (5e-11 if scheme == "iterative" else 1e-11)


@pytest.mark.parametrize("scheme", ["two-point", "three-point"])
def test_balance_of_the_papers_schemes(scheme: str) -> None:
    """E12-E15 mended; as printed the balances fail by parts in a hundred or more."""
    problem = replace(SITAR_004, barrier=Barrier(Polynomial((-1e-5,)), 0.0, 0.03, 3))
    run = SCHEMES[scheme](problem, RATE, pulse(problem.excitation, RATE, 2000), at=NEVER)
    assert imbalance(run) <= 2e-12
    assert run.log.contact.max() > 0.1 * run.log.work[-1]


@every_scheme
@pytest.mark.filterwarnings("ignore::engine.errors.PhysicsWarning")
def test_static_equilibrium_stays_still(scheme: str) -> None:
    run = SCHEMES[scheme](replace(SITAR_004, contact=Contact(1e8, 1.5)), RATE, np.zeros(300), at=NEVER)
    assert run.log.force.max() > 1e-2  # it leans on the barrier
    assert np.abs(run.log.out - run.start).max() <= 1e-10 * np.abs(run.start).max()
    assert run.log.kinetic.max() <= 1e-16 * run.log.potential.max()


# --- exact poles ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [TwoPoint, ThreePoint])
def test_poles_are_exact_at_any_rate(make: Callable[..., Any]) -> None:
    """§5.4; the two eigenvalues of a free step, mode by mode."""
    s = modal_string(replace(SITAR_004, barrier=None, string=replace(SITAR_004.string, loss=Loss(40.0, 0.5))), RATE)
    scheme, one, zero = make(s), np.ones(s.modes.decay.size), np.zeros(s.modes.decay.size)
    columns = [scheme.step(pair, (0.0, 0.0), lambda start, _: start).pair for pair in ((one, zero), (zero, one))]
    (a, c), (b, d) = columns
    trace, product = a + d, a * d - b * c
    decay, angle = s.modes.decay / RATE, s.modes.frequency / RATE
    np.testing.assert_allclose(product, np.exp(-2.0 * decay), rtol=1e-12)
    np.testing.assert_allclose(trace, 2.0 * np.exp(-decay) * np.cos(angle), atol=1e-12)


@every_scheme
def test_a_released_mode_rings_as_the_closed_form_says(scheme: str) -> None:
    problem = replace(SITAR_004, barrier=None, pickups=(Pickup(0.3),))
    string, mode, rate = problem.string, 3, 8 * RATE if scheme == "iterative" else RATE
    run = SCHEMES[scheme](problem, rate, np.zeros(600), at=NEVER, initial=partial(sine, length=0.5, mode=mode))
    m = modes(string, rate)
    w, sigma, t = m.frequency[mode - 1], m.decay[mode - 1], np.arange(1, 601) / rate
    exact = 1e-3 * np.sin(mode * np.pi * 0.3) * np.exp(-sigma * t) * (np.cos(w * t) + sigma / w * np.sin(w * t))
    tolerance = 2e-4 if scheme == "iterative" else 1e-12  # a grid has dispersion
    assert np.abs(run.log.out[:, 0] - exact).max() <= tolerance * 1e-3


def test_two_point_without_contact_is_the_kernel_between_its_steps() -> None:
    """y of the two-point scheme is (y + y-) / 2 of the one-state-pair form, its force acting half a step apart."""
    problem = replace(SITAR_004, barrier=None)
    force = pulse(problem.excitation, RATE, 1500)
    middle = 0.5 * (force + np.append(force[1:], 0.0))
    kernel = modal.run(modal.design(problem, RATE), middle, at=NEVER).log.out
    two_point = newton_modal.run_two_point(problem, RATE, force, at=NEVER).log.out
    halfway = 0.5 * (kernel + np.vstack([np.zeros(2), kernel[:-1]]))
    np.testing.assert_array_less(np.abs(two_point - halfway).max(axis=0), 1e-12 * np.abs(halfway).max(axis=0))


# --- the engine's kernels against the references ----------------------------------------------------------------------


@pytest.mark.parametrize("stiffness", [1e4, 1e5, 1e6, 1e9])
@pytest.mark.parametrize("height", [-1e-5, 1e-4])
def test_kernel_and_reference_are_the_same_for_one_point(height: float, stiffness: float) -> None:
    problem = replace(SITAR_004, barrier=Obstacles((0.15,), (height,)), contact=Contact(stiffness))
    force = pulse(problem.excitation, RATE, 500)  # a chaotic motion: later, roundings part the two
    sweep = modal.run(modal.design(problem, RATE), force, at=NEVER)
    full = cholesky.run(problem, RATE, force, at=NEVER, rule=gradient.two_point)
    assert (sweep.log.force > 0.0).sum() > 5
    assert np.abs(sweep.log.out - full.log.out).max() <= 1e-10 * np.abs(full.log.out).max()
    assert np.abs(sweep.log.force - full.log.force).max() <= 1e-10 * full.log.force.max()


@pytest.mark.parametrize(("exponent", "stiffness", "within"), [(1.0, 1e5, 3e-4), (1.5, 1e7, 2e-5), (1.5, 1e8, 1e-8)])
def test_kernel_and_reference_are_the_same_for_many_points(exponent: float, stiffness: float, within: float) -> None:
    """All points at once in both. What differs is how each finds the gradients of several contacts that begin at once,
    and what chaos makes of that."""
    floor = Barrier(Polynomial((-2e-5,)), 0.05, 0.2, 12)
    problem = replace(SOFT, barrier=floor, contact=Contact(stiffness, exponent))
    rule = gradient.two_point if exponent == 1.0 else gradient.onset_secant
    for factor in (1, 4):
        force = pulse(problem.excitation, factor * RATE, factor * 441)
        kernel = modal.run(modal.design(problem, factor * RATE), force, at=NEVER).log
        full = cholesky.run(problem, factor * RATE, force, at=NEVER, rule=rule).log
        assert full.contact.max() > 0.6 * full.work.max()
        assert rms(kernel.out - full.out, full.out) <= within


def test_kernels_and_iterative_reference_converge_together() -> None:
    """A soft barrier: below 0.1 % at x16 for both models, and second order or nearly so on the way there.

    A grid's points grow with the rate, modes keep theirs: of 40, which are 0.03 % from many, no rate would be nearer.
    """
    many = replace(SOFT, barrier=replace(SOFT.barrier, points=160))
    errors: dict[str, list[float]] = {"fd": [], "modal": []}
    for factor in (1, 4, 16):
        rate = factor * RATE
        force = pulse(SOFT.excitation, rate, factor * 441)
        reference = iterative.run(SOFT, rate, force, at=NEVER)
        assert reference.log.contact.max() > 0.4 * reference.log.work.max()  # well into the barrier
        fd = finite_difference.run(finite_difference.design(SOFT, rate), force, at=NEVER).log.out
        modes_all = modal.run(modal.design(many, rate), force, at=NEVER).log.out
        errors["fd"].append(rms(fd - reference.log.out, reference.log.out))
        errors["modal"].append(rms(modes_all - reference.log.out, reference.log.out))
    for e in errors.values():
        assert e[2] < 1e-3
        assert e[1] < 0.2 * e[0]
        assert e[2] < 0.4 * e[1]


def test_twenty_iterations_are_converged_for_a_soft_barrier() -> None:
    force = pulse(SOFT.excitation, RATE, 441)
    converged = iterative.run(SOFT, RATE, force, at=NEVER).log.out
    fixed = iterative.run(SOFT, RATE, force, at=NEVER, iterations=20).log.out
    once = iterative.run(SOFT, RATE, force, at=NEVER, iterations=1).log.out
    assert rms(fixed - converged, converged) <= 1e-12
    assert rms(once - converged, converged) > 1e-5


@pytest.mark.parametrize("exponent", [1.0, 1.4, 2.5])
@pytest.mark.parametrize("iterations", [iterative_kernel.CONVERGED, 20])
def test_the_compiled_iterative_string_is_the_reference(exponent: float, iterations: int) -> None:
    problem = replace(SOFT, contact=Contact(1e6, exponent), barrier=Barrier(Polynomial((-2e-5, -1e-4)), 0.05, 0.2))
    force = pulse(problem.excitation, RATE, 441)
    reference = iterative.run(problem, RATE, force, at=NEVER).log.out
    d = finite_difference.design(problem, RATE)
    out = np.zeros_like(reference)
    iterative_kernel.kernel(d.coefficients, finite_difference.state(d.coefficients), iterations, force, out)
    assert np.abs(out - reference).max() <= 1e-11 * np.abs(reference).max()
    plain = finite_difference.run(d, force, at=NEVER).log.out
    assert np.abs(plain - reference).max() > 1e-7 * np.abs(reference).max()  # there was contact to differ in


def test_obstacles_on_a_grid_may_share_nodes() -> None:
    """Two obstacles within a cell press on the same nodes; converged, they act as one of twice the stiffness."""
    force = pulse(SOFT.excitation, RATE, 600)
    pair = replace(SOFT, barrier=Obstacles((0.2, 0.2 + 1e-9), (-2e-5, -2e-5)), contact=Contact(1e4, 1.5))
    single = replace(SOFT, barrier=Obstacles((0.2,), (-2e-5,)), contact=Contact(2e4, 1.5))
    a, b = (iterative.run(p, RATE, force, at=NEVER) for p in (pair, single))
    assert b.log.force.max() > 0.1
    np.testing.assert_allclose(a.log.force.sum(axis=1), b.log.force[:, 0], atol=1e-6 * b.log.force.max())


# --- what the papers warn of ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["two-point", "three-point"])
def test_damped_newton_survives_the_stiffness_where_the_papers_gives_up(scheme: str) -> None:
    """004 section V: at 44.1 kHz Newton's method fails from kb = 1e10 on; W is singular besides (E16)."""
    problem = replace(SITAR_004, contact=Contact(1e10))
    force, failed = pulse(problem.excitation, RATE, 2000), {}
    for damped in (False, True):
        tally = Tally()
        with pytest.warns(PhysicsWarning), np.errstate(all="ignore"):
            run = SCHEMES[scheme](problem, RATE, force, at=NEVER, band=20e3, damped=damped, tally=tally)
        failed[damped] = tally.failed
    assert failed[True] == 0
    assert imbalance(run) <= 1e-11
    assert failed[False] > 0


@pytest.mark.parametrize("scheme", ["two-point", "three-point"])
def test_points_closer_than_modes_can_tell_apart_are_warned_of(scheme: str) -> None:
    with pytest.warns(PhysicsWarning, match="more points than the modes can tell apart"):
        SCHEMES[scheme](SITAR_004, RATE, np.zeros(2), at=NEVER, band=20e3)


def test_three_point_oscillates_on_a_flat_barrier_and_truncation_cures_it() -> None:
    """004 Fig. 2: energy of the displacement near half the sample rate."""
    string = String(0.5, 5e-4, 64.0)
    high = {}
    for scheme, band in (("two-point", np.inf), ("three-point", np.inf), ("three-point", 20e3)):
        count = modes(string, RATE, band).wavenumber.size
        problem = Problem(string, Barrier(Polynomial((-5e-4,)), 0.0, 0.5, count), Contact(1e9), pickups=(Pickup(0.5),))
        shape = partial(sine, length=0.5, mode=1)
        run = SCHEMES[scheme](problem, RATE, np.zeros(740), at=NEVER, band=band, initial=shape)
        u = run.log.out[:, 0]
        power = np.abs(np.fft.rfft(u * np.hanning(u.size))) ** 2
        high[scheme, band] = power[np.fft.rfftfreq(u.size, 1.0 / RATE) > 20e3].sum() / power.sum()
        assert imbalance(run) <= 1e-12
    assert high["three-point", np.inf] > 1e-3
    assert high["three-point", np.inf] > 1e3 * high["three-point", 20e3]
    assert high["three-point", np.inf] > 1e5 * high["two-point", np.inf]


# --- refusals and conventions -----------------------------------------------------------------------------------------


@every_scheme
def test_contact_damping_is_refused(scheme: str) -> None:
    with pytest.raises(PhysicsError, match=r"contact\.damping = 0\.1: .* elastic"):
        SCHEMES[scheme](replace(sitar(), contact=Contact(1e8, 1.0, 0.1)), RATE, np.zeros(2), at=NEVER)


def test_a_grid_refuses_a_band() -> None:
    with pytest.raises(PhysicsError, match="band"):
        iterative.run(sitar(), RATE, np.zeros(2), at=NEVER, band=1e4)


@every_scheme
def test_snapshots_are_the_shapes_at_the_steps_asked_for(scheme: str) -> None:
    problem = replace(SITAR_004, barrier=None, string=replace(SITAR_004.string, loss=Loss()), pickups=(Pickup(0.5),))
    at = np.array([0, 40, 40], np.int64)
    run = SCHEMES[scheme](problem, RATE, np.zeros(60), at=at, initial=partial(sine, length=0.5, mode=1))
    middle = run.snapshots[:, np.argmin(np.abs(run.x - 0.25))]
    np.testing.assert_allclose(run.snapshots[0], 1e-3 * np.sin(np.pi * run.x / 0.5), atol=2e-9)
    np.testing.assert_allclose(middle[1:], run.log.out[39, 0], rtol=1e-3)
    assert run.start[0] == pytest.approx(1e-3, rel=1e-6)
