"""Places between the nodes of a grid, where the contact points of its string are, and what presses there moves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import PhysicsError
from engine.physics.barrier import ContactPoints
from engine.physics.grid import Grid, interpolation
from engine.physics.linear import banded
from engine.physics.string import Array

MOST_WEIGHTS = 2**20  # pressed points times intervals


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
    found = [interpolation(float(x), g.spacing, g.intervals, 2) for x in points.position]
    node = np.array([first for first, _ in found], np.int64)
    return Spots(node, np.array([two for _, two in found]).reshape(-1, 2))


def compliance(force: Array, g: Grid, spots: Spots) -> tuple[Array, Array]:
    """Static displacement of the moving nodes, and of the spots, per newton at each spot.

    `force` has the taps of what pulls a node back, N/m^2 per displacement. Beyond the supports stand odd images.
    """
    if spots.node.size * g.intervals > MOST_WEIGHTS:
        limit = f"presses the resting string at {spots.node.size} nodes of a grid of {g.intervals} intervals, too many"
        remedy = "press it at fewer places, raise its pitch, or take model: modal"
        raise PhysicsError("barrier", f"{spots.node.size} points", limit, remedy)
    size, reach = g.intervals - 1, force.size - 1
    nodes, band = np.zeros((size, spots.node.size)), np.zeros((size, reach + 1))
    for k, (node, two) in enumerate(zip(spots.node, spots.two, strict=True)):
        nodes[node - 1 : node + 1, k] = two / g.spacing
    for i in range(size):
        for j in range(min(reach + 1, size - i)):  # moving nodes i + 1 and i + j + 1
            band[i, j] = force[j]
            for images in (2 * i + j + 2, 2 * (g.intervals - i - 1) - j):
                band[i, j] -= force[images] if images <= reach else 0.0
    banded(band, nodes)
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
