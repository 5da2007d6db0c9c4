"""Profiles, and the contact points that stand for them in both models."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, inf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from physics.problems import barriers, floats

from engine.errors import PhysicsError
from engine.physics.barrier import (
    BULGE,
    MOST_FINE,
    Barrier,
    Obstacles,
    Polynomial,
    Table,
    cell_points,
    enough,
    no_contact,
    node_points,
    obstacle_points,
)
from engine.physics.problem import Contact, Problem
from engine.physics.string import String

LENGTH = 0.8
FLAT = Polynomial((-1e-4,))


@given(st.lists(floats(-2.0, 2.0), min_size=1, max_size=6), floats(0.0, 0.5))
def test_polynomial_is_numpys(coefficients: list[float], origin: float) -> None:
    x = np.linspace(0.0, LENGTH, 7)
    wanted = np.polynomial.polynomial.polyval(x - origin, coefficients)
    assert np.abs(Polynomial(tuple(coefficients), origin)(x) - wanted).max() <= 1e-13


def test_table_is_straight_between_its_points_and_level_beyond() -> None:
    table = Table((0.1, 0.2, 0.4), (1e-3, -1e-3, 0.0))
    x = np.array([0.0, 0.1, 0.15, 0.2, 0.3, 0.4, 0.7])
    assert table(x) == pytest.approx([1e-3, 1e-3, 0.0, -1e-3, -0.5e-3, 0.0, 0.0], abs=1e-17)


@given(floats(0.0, 0.4), floats(1e-3, 0.4), st.integers(1, 40), floats(1e3, 1e9))
def test_cells_are_equal_and_share_the_stiffness(start: float, width: float, points: int, stiffness: float) -> None:
    found = cell_points(Barrier(Polynomial((0.0, 1.0)), start, start + width, points), stiffness, LENGTH)
    assert found.position.size == points
    assert found.position[0] - start == pytest.approx(0.5 * width / points, abs=1e-12)
    assert start + width - found.position[-1] == pytest.approx(0.5 * width / points, abs=1e-12)
    assert np.diff(found.position) == pytest.approx(width / points, abs=1e-12)
    assert found.height == pytest.approx(found.position, abs=1e-15)
    assert found.stiffness.sum() == pytest.approx(stiffness * width, rel=1e-12)


@given(floats(0.0, 0.4), floats(0.02, 0.4), st.integers(60, 400))
def test_nodes_share_the_stiffness_but_for_what_the_supports_take(start: float, width: float, intervals: int) -> None:
    """The whole stiffness does not depend on the grid, which is what a converging contact needs."""
    h, stop = LENGTH / intervals, start + width
    found = node_points(Barrier(FLAT, start, stop), 1e6, LENGTH, intervals)
    at_supports = max(0.0, 0.5 * h - start) + max(0.0, stop - (LENGTH - 0.5 * h))
    assert found.stiffness.sum() == pytest.approx(1e6 * (width - at_supports), rel=1e-6)
    node = found.position / h
    assert node == pytest.approx(np.round(node), abs=1e-9)
    assert np.diff(np.round(node)).tolist() == [1.0] * (node.size - 1), "the kernel walks consecutive nodes"
    assert round(node[0]) >= 1
    assert round(node[-1]) <= intervals - 1
    assert (found.stiffness > 0.0).all()
    assert found.stiffness.max() <= 1e6 * h * (1.0 + 1e-12)


def test_a_node_just_outside_touches_at_the_barriers_edge() -> None:
    """Its half cell is covered, but the profile is not asked beyond its ends."""
    found = node_points(Barrier(Polynomial((0.0, -1e-2)), 0.105, 0.295), 1.0, 1.0, 50)
    assert found.position[[0, -1]] == pytest.approx([0.1, 0.3])
    assert found.height[[0, 1, -1]] == pytest.approx([-1.05e-3, -1.2e-3, -2.95e-3])


def test_obstacles_come_in_order() -> None:
    found = obstacle_points(Obstacles((0.5, 0.1, 0.3), (-1e-3, -2e-3, -3e-3)), 7.0, LENGTH)
    assert found.position.tolist() == [0.1, 0.3, 0.5]
    assert found.height.tolist() == [-2e-3, -3e-3, -1e-3]
    assert found.stiffness.tolist() == [7.0] * 3


@given(barriers(LENGTH))
def test_every_kind_becomes_points_inside_the_string(barrier: Barrier | Obstacles | None) -> None:
    problem = Problem(String(LENGTH, 1e-3, 50.0), barrier, Contact(1e6))
    for points in (problem.modal_points(), problem.grid_points(200)):
        assert (points.position > 0.0).all()
        assert (points.position < LENGTH).all()
        assert np.isfinite(points.height).all()
        assert points.position.size == points.height.size == points.stiffness.size
        assert (points.position.size == 0) == (barrier is None)


@given(barriers(LENGTH), floats(-1e-3, 1e-3))
def test_its_height_raises_all_of_a_barrier(barrier: Barrier | Obstacles | None, by: float) -> None:
    """Both models' points, and nothing else about them."""
    string = String(LENGTH, 1e-3, 50.0)
    own = 0.0 if barrier is None else barrier.height
    low, high = (
        Problem(string, barrier and replace(barrier, height=height), Contact(1e6)) for height in (own, own + by)
    )
    for before, after in (
        (low.modal_points(), high.modal_points()),
        (low.grid_points(200), high.grid_points(200)),
    ):
        assert after.height - before.height == pytest.approx(by, abs=1e-15)
        assert after.position.tolist() == before.position.tolist()
        assert after.stiffness.tolist() == before.stiffness.tolist()


def test_nothing_to_touch() -> None:
    assert [array.size for array in no_contact()] == [0, 0, 0]


# --- refusals: value, limit, remedy -----------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [cell_points, lambda b, k, length: node_points(b, k, length, 100)])
@pytest.mark.parametrize(
    ("barrier", "message"),
    [
        (Barrier(FLAT, 0.3, 0.2), "barrier.from = 0.3: must be at least 0 and below barrier.to = 0.2 m; move it"),
        (Barrier(FLAT, -0.1, 0.2), "barrier.from = -0.1: must be at least 0"),
        (Barrier(FLAT, 0.7, 0.9), "barrier.to = 0.9: must be at most the string's length, 0.8 m; lower it"),
        (Barrier(Polynomial((np.nan,)), 0.1, 0.2), "barrier.profile = nan: not finite at x = 0.1"),
        (Barrier(Polynomial((0.0, np.inf)), 0.1, 0.2), "barrier.profile = inf: not finite at x = 0.1"),
        (Barrier(FLAT, np.nan, 0.2), "barrier.from = nan"),
        (Barrier(FLAT, 0.1, np.nan), "barrier.from = 0.1"),
    ],
)
def test_impossible_barriers_are_refused(make: object, barrier: Barrier, message: str) -> None:
    with pytest.raises(PhysicsError) as caught:
        make(barrier, 1e6, LENGTH)  # type: ignore[operator]
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("x", [0.0, LENGTH, -0.1, 2.0, np.nan])
def test_an_obstacle_off_the_string_is_refused(x: float) -> None:
    with pytest.raises(PhysicsError, match=r"barrier\.at = .*must lie inside the string, 0 to 0\.8 m; move it"):
        obstacle_points(Obstacles((x,), (0.0,)), 1e6, LENGTH)


def test_a_barrier_between_two_nodes_is_refused() -> None:
    """Not even half a cell of a moving node: nothing would ever touch it, so silence would be a lie."""
    with pytest.raises(PhysicsError, match=r"covers no moving node of a grid of 80 mm; widen it.*model: modal"):
        node_points(Barrier(FLAT, 0.0, 0.03), 1e6, LENGTH, 10)


# --- as many points as are wanted -------------------------------------------------------------------------------------


def test_points_follow_from_what_the_modes_tell_apart() -> None:
    flat = Barrier(FLAT, 0.1, 0.3)
    assert [enough(flat, apart) for apart in (0.5, 0.05, 0.02, 0.0125)] == [1, 8, 20, 32]
    assert [enough(flat, 0.2 / told) for told in (20, 32, 33, 500)] == [32, 32, 33, 500]  # one each where it is wide


@given(st.floats(0.01, 0.5), st.floats(0.0, 5.0))
def test_a_parabola_bulges_by_no_more_than_is_pressed_in(width: float, curvature: float) -> None:
    """Between two points it stands curvature d^2/4 above their chord, up to MOST_FINE points."""
    count = enough(Barrier(Polynomial((0.0, 0.0, -curvature), 0.1), 0.1, 0.1 + width), inf)
    spacing = width / count
    assert curvature * spacing**2 / 4.0 <= BULGE * 1.02 or count == MOST_FINE
    if 1 < count < MOST_FINE:
        assert curvature * (width / (count - 1)) ** 2 / 4.0 >= 0.98 * BULGE


def test_a_hollow_needs_no_points_and_a_ridge_does() -> None:
    hollow, ridge = ((0.1, 0.2, 0.3), (0.0, -1e-3, 0.0)), ((0.1, 0.2, 0.3), (-1e-3, 0.0, -1e-3))
    assert enough(Barrier(Table(*hollow), 0.1, 0.3), inf) == 1
    assert enough(Barrier(Table(*ridge), 0.1, 0.3), inf) == ceil(sqrt(0.2 * 0.02 / (8.0 * BULGE)))


def test_a_number_is_taken_as_it_is() -> None:
    assert cell_points(Barrier(FLAT, 0.1, 0.3, 7), 1.0, LENGTH, 1e-3).position.size == 7
    assert cell_points(Barrier(FLAT, 0.1, 0.3), 1.0, LENGTH, 1e-2).position.size == 32
