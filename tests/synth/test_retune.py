"""Retuning while a string sounds: the design's own coefficients, whatever tension and damping; passive afterwards."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from physics.problems import problems

from engine.errors import PhysicsError
from engine.physics import contact, finite_difference, modal
from engine.physics.barrier import Barrier
from engine.physics.excitation import pulse
from engine.physics.grid import ORIGIN, Grid
from engine.physics.problem import Problem
from engine.physics.retune import grid_tuning, lift_nodes, lift_points, modal_tuning, tune_grid, tune_modes
from engine.physics.string import Array, Loss
from engine.synth.keys import BENT, TunedKey, highest_tension
from engine.units import t60_to_decay

RATE = 48_000.0
NOW = np.array([], np.int64)
UNMOVED = np.full((64, 64), 1e-30)  # the answer of points that no force can move


def modal_design(problem: Problem) -> modal.Design:
    try:
        return modal.design(problem, RATE, band=20_000.0)
    except PhysicsError:
        assume(False)
        raise


def grid_design(problem: Problem, on: Grid | None = None) -> finite_difference.Design:
    try:
        return finite_difference.design(problem, RATE, bent=BENT, on=on)
    except PhysicsError:
        assume(False)
        raise


def spoiled(group: Any) -> Any:
    """The same coefficients with other numbers in what retuning writes."""
    changed = {"forward", "backward", "inject", "spread", "spring", "response"}
    changed |= {"answer", "ahead", "remainder", "direct"} & set(group._fields)
    other = {name: np.full_like(getattr(group, name), 7.0) for name in changed}
    for name, array in other.items():
        if array.ndim == 2:  # what fills up vectors is never written
            array[getattr(group, name) == 0.0] = 0.0
    return group._replace(**other)


def retuned_modes(d: modal.Design, tension: float, damping: float) -> modal.Coefficients:
    c: modal.Coefficients = spoiled(d.coefficients)
    tune_modes(modal_tuning(d), tension, damping, c, np.zeros(c.forward.size))
    return c


def retuned_grid(d: finite_difference.Design, tension: float, damping: float) -> finite_difference.Coefficients:
    """What tune_grid writes, into arrays that hold other numbers before."""
    c = d.coefficients

    def other(array: Array) -> Array:
        return np.full_like(array, 7.0)

    c = c._replace(
        stencil=c.stencil._replace(now=other(c.stencil.now), before=other(c.stencil.before), far=other(c.stencil.far)),
        ports=c.ports._replace(inject=other(c.ports.inject)),
        surface=c.surface._replace(response=other(c.surface.response)),
        meter=c.meter._replace(elastic=other(c.meter.elastic)),
    )
    answer = tune_grid(grid_tuning(d), tension, damping, c)
    return c._replace(surface=c.surface._replace(answer=answer))


def as_designed(got: finite_difference.Coefficients, wanted: finite_difference.Coefficients) -> bool:
    """All that tune_grid writes."""
    pairs = (
        (got.stencil.now, wanted.stencil.now),
        (got.stencil.before, wanted.stencil.before),
        (got.stencil.far, wanted.stencil.far),
        (got.meter.elastic, wanted.meter.elastic),
        (got.ports.inject, wanted.ports.inject),
        (got.surface.response, wanted.surface.response),
        (np.array([got.surface.answer]), np.array([wanted.surface.answer])),
    )
    return all(close(*pair) for pair in pairs)


def close(got: Array, wanted: Array, tolerance: float = 1e-11) -> bool:
    return bool(np.abs(got - wanted).max(initial=0.0) <= tolerance * np.abs(wanted).max(initial=0.0))


# --- the design again -------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(problems())
def test_at_the_design_s_tension_modes_are_as_designed(problem: Problem) -> None:
    d = modal_design(problem)
    got, wanted = retuned_modes(d, problem.string.tension, 0.0), d.coefficients
    modes = ("forward", "backward", "spread", "inject", "spring")
    for name in (*modes, "answer", "ahead", "response", "remainder", "direct"):
        assert close(getattr(got, name), getattr(wanted, name)), name


@settings(max_examples=60)
@given(problems())
def test_at_the_design_s_tension_a_grid_is_as_designed(problem: Problem) -> None:
    d = grid_design(problem)
    assert as_designed(retuned_grid(d, problem.string.tension, 0.0), d.coefficients)


@settings(max_examples=60)
@given(problems(), st.floats(-12.0, 12.0), st.sampled_from([0.0, 0.3, 20.0, 700.0]))
def test_modes_at_another_tension_are_that_tension_s_design(problem: Problem, semitones: float, damping: float) -> None:
    """As many as both keep; damping is s0."""
    d = modal_design(problem)
    tension = problem.string.tension * 2.0 ** (semitones / 6.0)
    loss = replace(problem.string.loss, s0=problem.string.loss.s0 + damping)
    other = modal_design(replace(problem, string=replace(problem.string, tension=tension, loss=loss)))
    got, wanted = retuned_modes(d, tension, damping), other.coefficients
    count = min(d.modes.wavenumber.size, other.modes.wavenumber.size)
    same = d.modes.wavenumber[:count] == other.modes.wavenumber[:count]
    for name in ("forward", "backward", "spread", "inject"):
        assert close(getattr(got, name)[:count][same], getattr(wanted, name)[:count][same]), name
    spring = got.spring[:count][same], wanted.spring[:count][same]
    assert np.allclose(*spring, rtol=1e-7)  # the highest mode's is nearly infinite


@settings(max_examples=60)
@given(problems(), st.floats(-12.0, 2.0), st.sampled_from([0.0, 0.3, 20.0, 700.0]))
def test_a_grid_at_another_tension_is_that_tension_s_design(problem: Problem, semitones: float, damping: float) -> None:
    """On the same grid, with the same fit of the losses."""
    d = grid_design(problem)
    tension = problem.string.tension * 2.0 ** (semitones / 6.0)
    on = replace(d.grid, loss=replace(d.grid.loss, s0=d.grid.loss.s0 + damping))
    other = grid_design(replace(problem, string=replace(problem.string, tension=tension)), on)
    assert as_designed(retuned_grid(d, tension, damping), other.coefficients)


# --- stability at the ends of what can be asked for -------------------------------------------------------------------


@settings(max_examples=80)
@given(problems(), st.floats(-2.0, 4.0), st.floats(-2.0, 6.0))
def test_no_mode_grows_at_any_tension_and_damping(problem: Problem, stretch: float, damping: float) -> None:
    """Both roots of z^2 - forward z + backward within the unit circle: overdamped modes and those past Nyquist too."""
    d = modal_design(problem)
    c = retuned_modes(d, problem.string.tension * 10.0**stretch, 10.0**damping)
    assert (np.abs(c.forward) <= 1.0 + c.backward + 1e-15).all()
    assert ((c.backward >= 0.0) & (c.backward <= 1.0)).all()
    for array in (c.spread, c.spring):
        assert np.isfinite(array).all()
        assert (array >= 0.0).all()
    points = d.points.height.size
    eigenvalues = np.linalg.eigvalsh(c.response[:, :points]) if points else np.zeros(1)
    assert eigenvalues.min() >= -1e-12 * np.abs(eigenvalues).max()


def test_modes_past_nyquist_fall_silent_and_come_back() -> None:
    string = replace(problems_string(), tension=100.0)
    d = modal.design(Problem(string), RATE)
    c = retuned_modes(d, 1600.0, 0.0)
    w = np.sqrt((string.stiffness * d.modes.wavenumber**4 + 1600.0 * d.modes.wavenumber**2) / string.density)
    above = w > 0.999 * np.pi * RATE
    assert 0.2 < above.mean() < 0.9
    for name in ("forward", "backward", "spread", "inject", "spring"):
        array = getattr(c, name)[: w.size]
        assert (array[above] == 0.0).all(), name
        assert name == "inject" or (array[~above] != 0.0).all(), name
    back = retuned_modes(d, 100.0, 0.0)
    assert close(back.forward, d.coefficients.forward)


def problems_string() -> Any:
    from physics.problems import sitar

    return replace(sitar().string, stiffness=0.0, loss=Loss(0.5))


@pytest.mark.parametrize("damping", [1e2, 1e3, 1e4, 1e5, 1e6])
def test_strong_damping_is_exact_while_it_matters(damping: float) -> None:
    """The poles are exp(-(sigma +- sqrt(sigma^2 - w^2)) k), overdamped or not."""
    d = modal.design(Problem(problems_string()), RATE)
    c, k, n = retuned_modes(d, d.problem.string.tension, damping), 1.0 / RATE, d.modes.wavenumber.size
    sigma, w = d.modes.decay + damping, d.problem.string.undamped_frequency(d.modes.wavenumber)
    root = np.sqrt((sigma**2 - w**2).astype(complex))
    exact = (np.exp((root - sigma) * k) + np.exp((-root - sigma) * k)).real
    if damping <= 1e5:
        assert np.abs(c.forward[:n] - exact).max() <= 1e-9
    assert np.abs(c.backward[:n] - np.exp(-2.0 * sigma * k)).max() <= 1e-15


@pytest.mark.parametrize("release", [1e-3, 0.1, 60.0])
def test_the_damper_s_rate_falls_by_60_dB(release: float) -> None:
    """R^2 of every mode after `release` seconds, with the string's own loss taken off."""
    d = modal.design(Problem(problems_string()), RATE)
    c = retuned_modes(d, d.problem.string.tension, t60_to_decay(release))
    fall = 10.0 * np.log10(c.backward[: d.modes.decay.size] / d.coefficients.backward[: d.modes.decay.size])
    assert np.allclose(fall * release * RATE, -60.0, rtol=1e-9)


# --- energy -----------------------------------------------------------------------------------------------------------


def energies(model: Any, c: Any, s: Any, steps: int, pickups: int) -> Array:
    """Energy after each of so many free steps."""
    out, found = np.zeros((1, pickups)), []
    for _ in range(steps):
        model.kernel(c, s, np.zeros(1), out)
        found.append(sum(model.energy(c, s)))
    return np.array(found)


changes = st.lists(st.tuples(st.floats(-24.0, 24.0), st.sampled_from([0.0, 1.0, 100.0])), min_size=1, max_size=5)


@settings(max_examples=40)
@given(problems(), changes)
def test_modes_left_alone_between_changes_only_lose(problem: Problem, steps: list[tuple[float, float]]) -> None:
    """From the second step on: modes that fall silent take that long to leave the contact points."""
    d = modal_design(replace(problem, contact=replace(problem.contact, damping=0.0)))
    s, pickups = modal.state(d.coefficients), len(problem.pickups)
    force = pulse(problem.excitation, RATE, 300)
    modal.kernel(d.coefficients, s, force, np.zeros((force.size, pickups)))
    for semitones, damping in steps:
        c = retuned_modes(d, problem.string.tension * 2.0 ** (semitones / 6.0), damping)
        found = energies(modal, c, s, 120, pickups)[2:]
        assert np.isfinite(found).all()
        assert (np.diff(found) <= 1e-9 * found.max() + 1e-25).all()
        assert s.touch.force.min(initial=0.0) >= 0.0


@settings(max_examples=40)
@given(problems(), changes)
def test_a_grid_left_alone_between_changes_only_loses(problem: Problem, steps: list[tuple[float, float]]) -> None:
    d = grid_design(replace(problem, contact=replace(problem.contact, damping=0.0)))
    s, pickups = finite_difference.state(d.coefficients), len(problem.pickups)
    force = pulse(problem.excitation, RATE, 300)
    finite_difference.kernel(d.coefficients, s, force, np.zeros((force.size, pickups)))
    highest = highest_tension(TunedKey(100.0, d))
    for semitones, damping in steps:
        tension = min(problem.string.tension * 2.0 ** (semitones / 6.0), highest)
        c = retuned_grid(d, tension, damping)
        found = energies(finite_difference, c, s, 120, pickups)
        assert np.isfinite(found).all()
        assert found.min() >= 0.0
        assert (np.diff(found) <= 1e-9 * found.max() + 1e-25).all()
        assert s.touch.force.min(initial=0.0) >= 0.0


# --- the barrier ------------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(problems(), st.lists(st.floats(-2e-4, 2e-4), min_size=1, max_size=6))
def test_a_lifted_barrier_does_the_work_that_its_potential_gains(problem: Problem, moves: list[float]) -> None:
    """From the rest of a pressed string: psi is psi of the penetration at every height, and zero out of contact."""
    assume(problem.barrier is not None)
    d = modal_design(problem)
    c, s = d.coefficients, modal.state(d.coefficients)
    height, points = c.height.copy(), d.points.height.size
    at, now = 0.0, s.touch.now[:points]
    s.touch.psi[:points] = contact.psi_at(d.points.height - now, d.points, problem.contact.exponent)
    for by in moves:
        lift_points(c.law, s.touch, height, UNMOVED, by)
        at += by
        wanted = contact.psi_at(d.points.height + at - now, d.points, problem.contact.exponent)
        psi = s.touch.psi[:points]
        assert np.abs(height[:points] - d.points.height - at).max() <= 1e-15
        assert (psi >= 0.0).all()
        assert np.abs(psi - wanted).max() <= 1e-9 * max(wanted.max(), psi.max(), 1e-30) + 1e-13


@settings(max_examples=40)
@given(problems(), st.floats(-2e-4, 2e-4))
def test_nodes_are_lifted_as_points_are(problem: Problem, by: float) -> None:
    assume(isinstance(problem.barrier, Barrier))
    d = grid_design(problem)
    c, s = d.coefficients, finite_difference.state(d.coefficients)
    assume(c.surface.height.size > 0)
    surface = c.surface._replace(height=c.surface.height.copy(), answer=1e-30)
    first = c.surface.first_node + ORIGIN
    inner = slice(first, first + c.rest_psi.size)
    s.level1[inner] += 1e-5
    lift_nodes(surface, s.touch, s.level1, by)
    now = s.level1[inner]
    exponent = problem.contact.exponent
    moved = contact.psi_at(d.points.height + by - now, d.points, exponent)
    moved -= contact.psi_at(d.points.height - now, d.points, exponent)
    wanted = np.clip(c.rest_psi + moved, 0.0, None)
    assert (surface.height == c.surface.height + by).all()
    assert np.abs(s.touch.psi[: wanted.size] - wanted).max() <= 1e-9 * max(wanted.max(), 1e-30) + 1e-13


@settings(max_examples=60)
@given(problems(), st.floats(1e-6, 1.0), st.floats(1e-6, 1.0), st.floats(0.0, 100.0))
def test_no_lift_puts_in_more_than_its_force_and_the_string_s_inertia_take(
    problem: Problem, by: float, deep: float, force: float
) -> None:
    """However stiff the contact, however deep the string and however far the way."""
    assume(problem.barrier is not None)
    d = modal_design(problem)
    c, s = d.coefficients, modal.state(d.coefficients)
    height, points = c.height.copy(), d.points.height.size
    s.touch.now[:] = height - deep
    s.touch.psi[:] = 0.0
    s.touch.force[:] = force
    lift_points(c.law, s.touch, height, c.response, by)
    most, psi = force * by + 0.5 * by * by / np.diag(c.response), s.touch.psi[:points]
    assert (0.5 * psi**2 <= most * (1.0 + 1e-9)).all()
    assert (psi > 0.0).all()


@settings(max_examples=40)
@given(problems(), st.lists(st.floats(-1e-4, 1e-4), min_size=1, max_size=8))
def test_a_string_left_alone_after_a_lift_only_loses(problem: Problem, moves: list[float]) -> None:
    assume(problem.barrier is not None)
    d = modal_design(replace(problem, contact=replace(problem.contact, damping=0.0)))
    c, pickups = d.coefficients._replace(height=d.coefficients.height.copy()), len(problem.pickups)
    s = modal.state(c)
    force = pulse(problem.excitation, RATE, 200)
    modal.kernel(c, s, force, np.zeros((force.size, pickups)))
    for by in moves:
        lift_points(c.law, s.touch, c.height, c.response, by)
        found = energies(modal, c, s, 60, pickups)
        assert np.isfinite(found).all()
        assert (np.diff(found) <= 1e-9 * found.max() + 1e-25).all()
