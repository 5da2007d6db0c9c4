"""Places between the nodes of a grid, where the contact points of its string are, and what presses there moves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import PhysicsError
from engine.physics.barrier import ContactPoints
from engine.physics.grid import Grid, interpolation
from engine.physics.linear import tridiagonal
from engine.physics.string import Array, String

MOST_WEIGHTS = 2**20  # contact points times intervals


class Spots(NamedTuple):
    """Places on the string, each between two moving nodes: the first of these and the share of both."""

    node: NDArray[np.int64]
    two: Array  # [K, 2]

    def read(self, u: Array) -> Array:
        """What belongs to each place of what belongs to each moving node, one number or a row."""
        share = self.two.reshape(*self.two.shape, *(1 for _ in u.shape[1:]))
        read: Array = share[:, 0] * u[self.node - 1] + share[:, 1] * u[self.node]
        return read


def contact_spots(points: ContactPoints, g: Grid) -> Spots:
    """Where the contact points are on the grid."""
    if points.position.size * g.intervals > MOST_WEIGHTS:
        limit = f"{points.position.size} contact points on a grid of {g.intervals} intervals are too many"
        remedy = "press the string at fewer places, raise its pitch, or take model: modal"
        raise PhysicsError("barrier", f"{points.position.size} points", limit, remedy)
    found = [interpolation(float(x), g.spacing, g.intervals, 2) for x in points.position]
    node = np.array([first for first, _ in found], np.int64)
    return Spots(node, np.array([two for _, two in found]).reshape(-1, 2))


def compliance(string: String, g: Grid, spots: Spots) -> tuple[Array, Array]:
    """Static displacement of the moving nodes, and of the spots, per newton at each spot.

    The grid's stiffness T A + EI A^2, with A = -d_xx, is A times T + EI A: two tridiagonal matrices.
    """
    size, h2 = g.intervals - 1, g.spacing * g.spacing
    nodes, scratch = np.zeros((size, spots.node.size)), np.zeros(size)
    for k, (node, two) in enumerate(zip(spots.node, spots.two, strict=True)):
        nodes[node - 1 : node + 1, k] = two / g.spacing
    bend = string.stiffness / h2
    tridiagonal(string.tension + 2.0 * bend, -bend, nodes, scratch)
    tridiagonal(2.0 / h2, -1.0 / h2, nodes, scratch)
    return nodes, spots.read(nodes)


def shared(spots: Spots) -> Array:
    """Sum over all nodes of the share that one spot has there times the share of another: a row and a column each."""
    node, two = spots
    found = np.zeros((node.size, node.size))
    row, column = np.nonzero(np.abs(node - node[:, None]) <= 1)
    apart, own, other = node[column] - node[row], two[row], two[column]
    first = own[:, 0] * np.where(apart == 0, other[:, 0], np.where(apart == -1, other[:, 1], 0.0))
    second = own[:, 1] * np.where(apart == 0, other[:, 1], np.where(apart == 1, other[:, 0], 0.0))
    found[row, column] = first + second
    return found
