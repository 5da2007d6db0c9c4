"""What a grid answers at places between its nodes, against its own equation solved by a library."""

from __future__ import annotations

import numpy as np
import pytest

from engine.physics.barrier import ContactPoints
from engine.physics.dispersion import Elastic
from engine.physics.grid import Grid
from engine.physics.losses import LossFit
from engine.physics.spots import compliance, contact_spots, shared
from engine.physics.string import String


@pytest.mark.parametrize("stiffness", [0.0, 1e-5, 1e-2])
def test_what_a_newton_lifts(stiffness: float) -> None:
    """The grid's own static equation, solved by a library; without stiffness the triangle of a string pulled aside."""
    string = String(0.8, 1e-3, 60.0, stiffness)
    n = 101
    h = string.length / n
    exact = np.zeros(1)
    g = Grid(n, h, 0.0, LossFit(0.0, (), (), 0.0), Elastic(exact, exact, exact, exact, 0.0))
    points = ContactPoints(np.array([0.1003, 0.104, 0.52, 0.7999]), np.zeros(4), np.ones(4))
    spots = contact_spots(points, g)
    force = string.tension / h**2 * np.array([2.0, -1.0, 0.0]) + stiffness / h**4 * np.array([6.0, -4.0, 1.0])
    nodes, at_points = compliance(force, g, spots)
    bent = (2.0 * np.eye(n - 1) - np.eye(n - 1, k=1) - np.eye(n - 1, k=-1)) / g.spacing**2
    weights = np.zeros((4, n - 1))
    for row, first, two in zip(weights, spots.node, spots.two, strict=True):
        row[first - 1 : first + 1] = two
    wanted = np.linalg.solve(string.tension * bent + stiffness * bent @ bent, weights.T / g.spacing)
    np.testing.assert_allclose(nodes, wanted, rtol=0, atol=1e-11 * np.abs(wanted).max())
    np.testing.assert_allclose(at_points, weights @ wanted, rtol=0, atol=1e-11 * np.abs(wanted).max())
    np.testing.assert_allclose(shared(spots), weights @ weights.T, atol=1e-15)
    if stiffness == 0.0:
        x, y = np.arange(1, n) * g.spacing, points.position[2]
        triangle = np.minimum(x, y) * (string.length - np.maximum(x, y)) / (string.tension * string.length)
        away = np.abs(x - y) > g.spacing
        np.testing.assert_allclose(nodes[away, 2], triangle[away], rtol=1e-11)
