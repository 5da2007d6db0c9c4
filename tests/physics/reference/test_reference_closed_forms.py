"""Rigid obstacles, where the motion is known: Cabannes' closed form, the lattice, the flat barrier (§5.6)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import PhysicsError
from engine.physics import finite_difference, modal
from engine.physics.barrier import Barrier, Obstacles, Polynomial
from engine.physics.problem import Contact, Pickup, Problem
from engine.physics.record import Run
from engine.physics.reference import iterative, newton_modal
from engine.physics.reference.closed_forms import FLAT_PERIOD, cabannes, flat_barrier_touch
from engine.physics.reference.lattice import lattice
from engine.physics.string import Array, String

STRING = String(0.5, 5e-4, 64.0)
PERIOD = 1.0 / STRING.pitch
TOP = 1e-3
SHAPES: dict[str, Callable[[Array], Array]] = {
    "cosine": lambda x: TOP * np.sin(np.pi * x / 0.5),
    "triangle": lambda x: TOP * (1.0 - np.abs(4.0 * x - 1.0)),
}
NEVER = np.zeros(0, np.int64)


def kernel_fd(problem: Problem, rate: float, force: Array, **how: object) -> Run:
    return finite_difference.run(finite_difference.design(problem, rate), force, **how)  # type: ignore[arg-type]


def kernel_modal(problem: Problem, rate: float, force: Array, **how: object) -> Run:
    return modal.run(modal.design(problem, rate), force, **how)  # type: ignore[arg-type]


def order(errors: list[float]) -> float:
    """How fast errors fall with a rate that doubles from each to the next."""
    return -float(np.polyfit(np.arange(len(errors)), np.log2(errors), 1)[0])


# --- point obstacle at the centre -------------------------------------------------------------------------------------


@pytest.mark.parametrize("height", [0.0, 0.25, 0.5])
@pytest.mark.parametrize("shape", SHAPES)
def test_lattice_tends_to_cabannes(shape: str, height: float) -> None:
    errors = []
    for n in (100, 400, 1600):
        x = np.linspace(0.0, 0.5, n + 1)
        start = SHAPES[shape](x)
        start[[0, -1]] = 0.0
        u = lattice(start, {n // 2: height * TOP}, 4 * n)  # two periods
        steps = range(0, 4 * n, n // 20)
        exact = [cabannes(STRING, SHAPES[shape], height * TOP, x, step * 0.5 * PERIOD / n) for step in steps]
        errors.append(np.abs(u[list(steps)] - exact).max() / TOP)
    assert errors[2] < errors[1] / 3.4 < errors[0] / 7.0
    assert errors[2] < 0.007


@pytest.mark.parametrize("height", [0.0, 0.25, 0.5])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("model", [kernel_fd, kernel_modal])
def test_kernels_tend_to_cabannes_as_rate_and_stiffness_rise(
    model: Callable[..., Run], shape: str, height: float
) -> None:
    """Stiffness rises with the rate, so that a contact keeps its length in samples: first order or better."""
    errors = []
    for factor in (1, 2, 4, 8, 16):
        rate = 44_100.0 * factor
        problem = Problem(STRING, Obstacles((0.25,), (height * TOP,)), Contact(1e4 * factor), pickups=())
        steps = int(2.0 * PERIOD * rate) + 1
        at = np.linspace(0, steps - 1, 40).astype(np.int64)
        run = model(problem, rate, np.zeros(steps), at=at, initial=SHAPES[shape])
        exact = np.array([cabannes(STRING, SHAPES[shape], height * TOP, run.x, n / rate) for n in at])
        errors.append(float(np.sqrt(np.mean((run.snapshots - exact) ** 2))) / TOP)
    assert order(errors) > 0.9
    assert errors[-1] < 0.006


def test_obstacle_at_rest_height_gives_periods_of_one_and_a_half() -> None:
    """§5.6: half a period free, a quarter in contact; the first mode is back after 1.5 T."""
    x = np.linspace(0.0, 0.5, 401)
    for t in (0.0, 0.1, 0.37, 1.2):
        now = cabannes(STRING, SHAPES["cosine"], 0.0, x, t * PERIOD)
        later = cabannes(STRING, SHAPES["cosine"], 0.0, x, (t + 1.5) * PERIOD)
        np.testing.assert_allclose(later, now, atol=1e-12 * TOP)
    times = np.linspace(0.0, 1.5, 301)[1:-1]
    middle = np.array([cabannes(STRING, SHAPES["cosine"], 0.0, np.array([0.25]), t * PERIOD)[0] for t in times])
    touching = (times > 0.2501) & (times < 0.4999) | (times > 1.0001) & (times < 1.2499)
    assert np.abs(middle[touching]).max() <= 1e-12 * TOP
    assert middle[(times < 0.245) | (times > 0.51) & (times < 0.99) | (times > 1.26)].min() > 0.0


@given(st.floats(0.0, 0.9), st.floats(0.0, 1.0), st.floats(0.0, 5.0))
def test_cabannes_starts_right_and_never_enters_the_obstacle(height: float, place: float, t: float) -> None:
    x = np.array([0.5 * place, 0.25])
    for shape in SHAPES.values():
        np.testing.assert_allclose(cabannes(STRING, shape, height * TOP, x, 0.0), shape(x), atol=1e-12 * TOP)
        assert cabannes(STRING, shape, height * TOP, x, t * PERIOD)[1] >= (height - 1e-12) * TOP


def test_cabannes_refuses_an_obstacle_above_the_string() -> None:
    with pytest.raises(PhysicsError, match=r"barrier\.height"):
        cabannes(STRING, SHAPES["cosine"], 1.1 * TOP, np.array([0.2]), 0.0)


def test_lattice_over_two_obstacles_loses_less_energy_the_finer_it_is() -> None:
    """§5.6: obstacles are points, so in the limit none is lost; the discrete energy lies between steps."""
    lost = []
    for n in (200, 400, 800, 1600):
        start = TOP * np.sin(np.pi * np.linspace(0.0, 1.0, n + 1))
        start[[0, -1]] = 0.0
        u = lattice(start, {n * 3 // 100: -2e-6, n * 7 // 20: -1e-4}, 4 * n)
        energy = ((u[1:] - u[:-1]) ** 2).sum(axis=1) + (np.diff(u[1:]) * np.diff(u[:-1])).sum(axis=1)
        assert u[:, n * 7 // 20].min() == -1e-4
        lost.append(1.0 - energy[-1] / energy[0])
    assert 0.0 < lost[-1] < 0.01
    assert order(lost) > 0.85


# --- flat barrier -----------------------------------------------------------------------------------------------------


def first_return(run: Run, height: float) -> float:
    """When the middle is back at its top, in periods: halfway between the crossings of half its amplitude."""
    t = (np.arange(len(run.log.out)) + 1.0) / run.rate / PERIOD
    u = run.log.out[:, 0] - height
    crossing = np.flatnonzero((u[:-1] < 0.0) != (u[1:] < 0.0))
    crossing = crossing[t[crossing] > 1.0][:2]
    return float(np.mean(t[crossing] + u[crossing] / (u[crossing] - u[crossing + 1]) * (t[1] - t[0])))


@pytest.mark.parametrize("model", [kernel_fd, kernel_modal, iterative.run, newton_modal.run_two_point])
def test_period_over_a_flat_barrier_tends_to_one_and_a_half(model: Callable[..., Run]) -> None:
    """§5.6, 004 Fig. 2: always late, and less so as the rate rises by 4 and the stiffness by 10."""
    height, late = 0.5e-3, []
    slow = model in (iterative.run, newton_modal.run_two_point)
    for stiffness, factor in ((1e6, 1), (1e7, 4)) if slow else ((1e6, 1), (1e7, 4), (1e8, 16)):
        rate = 44_100.0 * factor
        points = int(0.5 * rate / STRING.pitch)
        barrier = Barrier(Polynomial((-height,)), 0.0, 0.5, points)
        problem = Problem(STRING, barrier, Contact(stiffness), pickups=(Pickup(0.5),))
        run = model(
            problem, rate, np.zeros(int(1.8 * PERIOD * rate)), at=NEVER,
            initial=lambda x: 2.0 * height * np.sin(np.pi * x / 0.5),
        )  # fmt: skip
        late.append(first_return(run, height) - FLAT_PERIOD)
    assert 0.02 < late[0] < 0.03
    assert 0.006 < late[1] < 0.4 * late[0]
    assert all(0.0 < end < 0.0025 for end in late[2:])


def test_first_touch_of_the_flat_barrier() -> None:
    height, rate = 0.5e-3, 705_600.0
    assert flat_barrier_touch(STRING, np.array([0.25]))[0] == pytest.approx(PERIOD / 3.0, rel=1e-14)
    problem = Problem(STRING, Barrier(Polynomial((-height,)), 0.0, 0.5), Contact(1e8), pickups=())
    run = kernel_fd(
        problem, rate, np.zeros(int(0.5 * PERIOD * rate)), at=NEVER,
        initial=lambda x: 2.0 * height * np.sin(np.pi * x / 0.5),
    )  # fmt: skip
    x = run.points.position
    fast = (x > 0.13) & (x < 0.37)
    touched = np.argmax(run.log.force > 0.0, axis=0)[fast] / rate
    np.testing.assert_allclose(touched, flat_barrier_touch(STRING, x[fast]), atol=3e-3 * PERIOD)
