"""The ideal string over rigid point obstacles on the lattice of unit Courant number (§5.6).

There u+_m = u_{m+1} + u_{m-1} - u-_m is the wave equation's exact solution between obstacles; at an obstacle the node
is held up to its height. A point has no mass, so no energy is lost. Converges at first order in the spacing.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from engine.physics.string import Array


def lattice(shape: Array, obstacles: Mapping[int, float], steps: int) -> Array:
    """Displacement [step, node] of a string released at rest from `shape`; a step lasts L / (N c).

    `shape` has nodes 0..N with zero ends; `obstacles` gives heights by node; the string is above them.
    """
    u = np.zeros((steps + 1, shape.size))
    u[0] = shape
    nodes, heights = np.array(list(obstacles), int), np.array(list(obstacles.values()))
    for n in range(steps):
        neighbours = u[n, 2:] + u[n, :-2]
        u[n + 1, 1:-1] = neighbours - u[n - 1, 1:-1] if n else 0.5 * neighbours
        u[n + 1, nodes] = np.maximum(u[n + 1, nodes], heights)
    return u
