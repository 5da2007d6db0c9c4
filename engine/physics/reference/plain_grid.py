"""Paper 002's own grid (41b) (44): second and fourth differences with the string's T and EI as they stand.

    4Q = (c k/h)^2 a + (kappa k/h^2)^2 a^2,     h^2 >= (c^2 k^2 + sqrt(c^4 k^4 + 16 kappa^2 k^2))/2

The engine's grid (grid.py) gives its partials the frequencies of the string; those of this one are flat by (b h)^2.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from engine.errors import PhysicsError
from engine.physics.dispersion import FEW, courant, elastic, exact_waves
from engine.physics.grid import MARGIN, Grid
from engine.physics.losses import LossFit
from engine.physics.string import String


def plain_grid(string: String, rate: float, margin: float = MARGIN) -> Grid:
    """The finest grid of the paper, left with a margin; without losses, as its string (29) has none."""
    if string.loss.rate(np.array([1.0]))[0] > 0.0:
        raise PhysicsError("string.loss", "some", "the string of paper 002 has none", "use scheme fd")
    k, square = 1.0 / rate, string.tension / string.density
    kappa = sqrt(string.stiffness / string.density)
    limit = sqrt(0.5 * (square * k**2 + sqrt((square * k**2) ** 2 + (4.0 * kappa * k) ** 2)))
    intervals = int(string.length / (margin * limit))
    h = string.length / intervals
    made = elastic(string, h, rate, exact_waves(string, h, rate, FEW))
    # A parabola through two of its own values is itself.
    wanted = 0.25 * (square * (k / h) ** 2 * made.at + (kappa * k / h**2) ** 2 * made.at**2)
    share = wanted / courant(made, string.tension, made.at)
    return Grid(intervals, h, limit, LossFit(0.0, (), (), 0.0), made._replace(share=share))
