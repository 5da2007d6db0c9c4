"""What drives a body: the balance of momentum on the grid, the formula of infinitely many modes, both models alike."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from physics.problems import problems, sitar

from engine.physics import finite_difference, modal
from engine.physics.barrier import Barrier, Obstacles, Polynomial
from engine.physics.excitation import pulse
from engine.physics.hearing import heard
from engine.physics.modes import poles
from engine.physics.modes import shape as shape_of
from engine.physics.problem import Contact, Pickup, Problem
from engine.physics.record import Run
from engine.physics.reference import cholesky, iterative, newton_modal
from engine.physics.string import Array, Loss

RATE = 48_000.0
NEVER = np.array([], np.int64)
ENDS = (Pickup(0.0, "body_force"), Pickup(1.0, "body_force"), Pickup(0.0, "bridge_force"), Pickup(1.0, "bridge_force"))


def balance(d: finite_difference.Design, run: Run, force: Array) -> tuple[Array, Array]:
    """Sum of forces on the nodes, and how their momentum changes, at each step but the first and the last.

    The losses s0 are centred in time; the others go backward and take momentum as well, so there are none.
    """
    string, g = d.problem.string, d.grid
    level = string.density * g.spacing * run.snapshots[:, 1:-1].sum(axis=1)
    change = np.diff(level, 2) * d.rate**2
    lost = g.loss.s0 * (level[2:] - level[:-2]) * d.rate
    ends = heard(d.problem.pickups, run)[1:-1]
    return force[1:-1] - ends[:, 0] - ends[:, 3] - lost, change


@settings(max_examples=40)
@given(problems(lossless=True), st.sampled_from([0.0, 3.0]))
def test_on_a_grid_the_forces_are_the_change_of_momentum(problem: Problem, s0: float) -> None:
    """Whatever touches the string where: a body at one end that carries the barrier, the other end, and the pluck."""
    loud = replace(problem.excitation, force=1.0, position=min(max(problem.excitation.position, 0.2), 0.8))
    problem = replace(problem, string=replace(problem.string, loss=Loss(s0)), pickups=ENDS, excitation=loud)
    d = finite_difference.design(problem, RATE)
    force = pulse(loud, RATE, 300)
    run = finite_difference.run(d, force, at=np.arange(300))
    forces, change = balance(d, run, force)
    heaviest = max(float(np.abs(heard(ENDS, run)).max()), 1.0)
    # Momentum is twice differentiated here: what rounding leaves of it.
    rounding = d.problem.string.density * 0.1 * np.abs(run.snapshots).max() * RATE**2 * 1e-15 * d.grid.intervals
    assert np.abs(forces - change).max() <= 1e-11 * heaviest + rounding


@pytest.mark.parametrize("barrier", ["bridge", "thread"])
@pytest.mark.parametrize("end", [0, 1])
def test_of_modes_it_is_the_stiffness_and_the_shares(barrier: str, end: int) -> None:
    """The scheme's own identity: momentum is what k* (y+ + 2 y + y-)/4 and the forces on all modes make of it."""
    problem = replace(sitar(Loss(0.0)), pickups=ENDS)
    if barrier == "thread":
        problem = replace(problem, barrier=Obstacles((5e-3, 0.3), (0.0, -1e-4)), contact=Contact(3e7))
    d, length = modal.design(problem, RATE), problem.string.length
    force = pulse(problem.excitation, RATE, 600)
    run = modal.run(d, force, at=np.arange(600))
    y, b = run.log.shapes[:, : d.modes.wavenumber.size], d.modes.wavenumber
    mass, side = 0.5 * problem.string.density * length, (-np.cos(b * length)) ** end
    weight = problem.string.density / b * side / mass
    stiffness = 4.0 * mass * RATE**2 * poles(d.modes, RATE)[2]
    elastic = (0.25 * (y[2:] + 2.0 * y[1:-1] + y[:-2]) * stiffness) @ weight
    felt = shape_of(b, d.points.position) @ weight
    gripped = float(shape_of(b, np.array([problem.excitation.position * length]))[0] @ weight)
    share = np.abs(end - d.points.position / length)
    own = 1.0 - abs(end - problem.excitation.position)
    wanted = elastic - run.log.force[1:-1] @ (felt + share) + (own - gripped) * force[1:-1]
    assert run.log.force.max() > 0.05
    assert heard(ENDS, run)[1:-1, end] == pytest.approx(wanted, abs=1e-9 * np.abs(wanted).max())


@pytest.mark.parametrize(
    ("rate", "low", "high"), [(192_000.0, -0.12, -0.17), (96_000.0, -0.5, -0.7), (48_000.0, -2.05, -2.9)]
)
def test_it_is_the_pull_less_what_the_modes_carry_to_the_end(rate: float, low: float, high: float) -> None:
    """To so many decibels up to 1 kHz and from 12 to 18 kHz, and it is the momentum that is right: the stiffness of the
    scheme's high modes is not that of the pull. The pull less all contact forces is 3 dB too much.
    """
    bridge = Barrier(Polynomial((0.0, 0.0, -0.75)), 0.0, 0.03, 5)
    problem = replace(sitar(Loss(0.0)), barrier=bridge, pickups=ENDS)
    d, length = modal.design(problem, rate, band=20_000.0, made_up=False), problem.string.length
    n = np.arange(1, d.modes.wavenumber.size + 1)
    shape = 2e-3 * np.sin(n * np.pi * 0.85) / n**2

    def initial(x: Array) -> Array:
        return shape @ shape_of(d.modes.wavenumber, x).T

    run = modal.run(d, np.zeros(round(0.05 * rate)), at=NEVER, initial=initial)
    body, _, pull, _ = heard(ENDS, run).T
    weight = problem.string.density / d.modes.wavenumber / (0.5 * problem.string.density * length)
    felt = shape_of(d.modes.wavenumber, d.points.position) @ weight
    formula = pull - run.log.force @ (felt + d.points.position / length)

    def above(one: Array, other: Array, least: float, most: float) -> float:
        f = np.fft.rfftfreq(one.size, 1.0 / rate)
        within = (f > least) & (f < most)
        powers = [(np.abs(np.fft.rfft(x * np.hanning(x.size)))[within] ** 2).sum() for x in (one, other)]
        return float(10.0 * np.log10(powers[0] / powers[1]))

    assert above(body, formula, 0.0, 1e3) == pytest.approx(low, rel=0.1, abs=0.02)
    assert above(body, formula, 12e3, 18e3) == pytest.approx(high, rel=0.1, abs=0.02)
    assert above(pull - run.log.force.sum(axis=1), body, 0.0, 4e3) > 2.5


SOFT = replace(sitar(stiffness=1e6), pickups=ENDS)  # which all schemes resolve


@pytest.mark.parametrize("scheme", [cholesky.run, newton_modal.run_two_point, newton_modal.run_three_point])
def test_every_modal_scheme_hears_the_same_body(scheme: Any) -> None:
    force = pulse(SOFT.excitation, 4 * RATE, 1200)
    d = modal.design(SOFT, 4 * RATE)
    run = modal.run(d, force, at=NEVER)
    wanted, found = (heard(ENDS, r)[:, :2] for r in (run, scheme(SOFT, 4 * RATE, force, at=NEVER)))
    assert run.log.force.max() > 0.05
    assert np.sqrt(((found - wanted) ** 2).mean(axis=0)).max() <= 0.01 * wanted.std()


def test_a_grid_hears_what_modes_hear() -> None:
    """As far as waves have travelled the same on both: within 5 % of the strongest force."""
    force = pulse(SOFT.excitation, 8 * RATE, 2400)
    runs = (
        modal.run(modal.design(SOFT, 8 * RATE, band=20_000.0), force, at=NEVER),
        finite_difference.run(finite_difference.design(SOFT, 8 * RATE), force, at=NEVER),
        iterative.run(SOFT, 8 * RATE, force, at=NEVER),
    )
    wanted, *others = ([np.convolve(x, np.hanning(96) / 47.5, "valid") for x in heard(ENDS, r)[:, :2].T] for r in runs)
    for found in others:
        assert np.abs(np.array(found) - np.array(wanted)).max() <= 0.05 * np.abs(wanted).max()


def test_a_pluck_is_not_heard_before_its_wave_has_come() -> None:
    """A force on the string pulls at its ends at once, as far as modes can tell: that is taken off again."""
    far = replace(SOFT, barrier=None, excitation=replace(SOFT.excitation, position=0.9))
    d = modal.design(far, 2 * RATE)
    body = heard(ENDS, modal.run(d, pulse(far.excitation, 2 * RATE, 480), at=NEVER))[:, 0]
    arrival = round(0.9 * 0.88 / far.string.wave_speed * 2 * RATE)
    assert np.abs(body[: arrival // 2]).max() <= 5e-3 * np.abs(body).max()
    assert np.abs(body).max() > 0.5


@pytest.mark.parametrize("model", [modal, finite_difference])
def test_at_rest_it_is_the_end_s_part_of_a_static_force(model: Any) -> None:
    """A point presses the resting string up: the end at 0 pulls by F (1 - x/L), and carries all of -F."""
    problem = replace(SOFT, barrier=Obstacles((0.2,), (1e-4,)), contact=Contact(1e5))
    d = model.design(problem, RATE)
    run = model.run(d, np.zeros(50), at=NEVER)
    body, other, pull, far = heard(ENDS, run)[25]
    force = float(run.log.force[25].sum())
    assert force > 0.01
    assert (body, other) == pytest.approx((-force * 0.2 / 0.88, -force * (1.0 - 0.2 / 0.88)), rel=1e-6)
    assert pull == pytest.approx(force * (1.0 - 0.2 / 0.88), rel=2e-2)
    assert far == pytest.approx(force * 0.2 / 0.88, rel=2e-2)
