"""Newton's method on many contact points against the scalar solver, against bisection, and on singular systems."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import PhysicsWarning
from engine.physics.reference.implicit_contact import Solution, Springs, Tally, apart, together
from engine.physics.reference.power_law import PowerLaw, implicit_increment
from engine.physics.string import Array

exponents = st.sampled_from([1.0, 1.1, 1.4, 1.5, 2.3, 3.0])
micrometres = st.integers(-500, 500).map(lambda n: n * 1e-6)
stiffnesses = st.floats(3.0, 11.0).map(lambda power: 10.0**power)


@given(st.lists(st.tuples(micrometres, micrometres, stiffnesses), min_size=1, max_size=6), exponents)
def test_points_apart_agree_with_the_scalar_solver(rows: list[tuple[float, float, float]], exponent: float) -> None:
    start, free, stiffness = (np.array(column) for column in zip(*rows, strict=True))
    response = 1e-7
    solution = apart(Springs(stiffness, exponent), start, free, response)
    assert solution.converged
    for k, (begin, change, stiff) in enumerate(rows):
        expected = implicit_increment(PowerLaw(stiff, exponent), begin, change, response)
        assert free[k] - response * solution.force[k] == pytest.approx(expected, abs=1e-14 * (abs(begin) + abs(change)))


@given(st.lists(st.tuples(micrometres, micrometres, stiffnesses), min_size=1, max_size=6), exponents)
def test_a_diagonal_response_makes_points_independent(rows: list[tuple[float, float, float]], exponent: float) -> None:
    start, free, stiffness = (np.array(column) for column in zip(*rows, strict=True))
    springs, response = Springs(stiffness, exponent), 1e-7
    one = apart(springs, start, free, response).force
    all_ = together(springs, start, free, response * np.eye(len(rows)), np.zeros(len(rows)))
    assert all_.converged
    np.testing.assert_allclose(response * all_.force, response * one, atol=1e-17)


def coupled(seed: int, points: int, rank: int) -> tuple[Array, Array, Array, Array]:
    """A random problem whose response has the given rank: start, free, response, stiffness."""
    random = np.random.default_rng(seed)
    v = random.normal(size=(points, rank))
    start, free = random.normal(size=points) * 1e-5, v @ random.normal(size=rank) * 1e-5
    return start, free, 1e-7 * v @ v.T / rank, 10.0 ** random.uniform(4.0, 9.0, points)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 12), exponents)
def test_coupled_points_solve_the_equation_even_if_singular(seed: int, points: int, rank: int, exponent: float) -> None:
    start, free, response, stiffness = coupled(seed, points, rank)
    springs = Springs(stiffness, exponent)
    solution = together(springs, start, free, response, np.zeros(points))
    assert solution.converged
    r = free - response @ solution.force
    # The residual of paper 004 eq. (28), less what a rounding of r alone does to it.
    force, slope = springs.gradient(start, r)
    scale = np.abs(start).max() + np.abs(r).max()
    stiffest = 1.0 + np.linalg.norm(response * slope, 2)
    assert np.abs(r - free + response @ force).max() <= 1e-13 * scale * stiffest
    assert force.min() >= 0.0


def test_the_discrete_gradient_is_the_quotient_and_its_limit_is_the_force() -> None:
    springs, start = Springs(np.full(4, 1e6), 1.5), np.array([1e-5, 1e-5, -1e-5, 1e-5])
    r = np.array([2e-5, -3e-5, 3e-5, 0.0])
    force, slope = springs.gradient(start, r)
    rise = springs.potential(start + r) - springs.potential(start)
    np.testing.assert_allclose(force[:3] * r[:3], rise[:3], rtol=1e-14)
    assert force[3] == pytest.approx(1e6 * 1e-5**1.5, rel=1e-14)
    h = 1e-10
    numeric = (springs.gradient(start, r + h)[0] - springs.gradient(start, r - h)[0]) / (2.0 * h)
    np.testing.assert_allclose(slope, numeric, rtol=1e-4)


def test_unconverged_steps_are_reported() -> None:
    tally = Tally()
    tally.add(Solution(np.zeros(1), 7, True))
    tally.report()
    tally.add(Solution(np.zeros(1), 200, False))
    assert (tally.steps, tally.most, tally.failed) == (2, 200, 1)
    with pytest.warns(PhysicsWarning, match="did not converge in 1 of 2 steps"):
        tally.report()
