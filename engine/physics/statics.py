"""How a string gives way to a force that rests, all its modes included, in closed form.

T u'' - EI u'''' = -delta(x - a), u = u'' = 0 at both ends. With l = sqrt(T / EI), 1/(T b^2 + EI b^4) = (1/b^2 -
1/(b^2 + l^2)) / T, and both sums over modes are known.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from engine import elementwise
from engine.physics.problem import Pickup
from engine.physics.string import Array, String


def compliance(string: String, at: Array, where: Array) -> Array:
    """Displacement in m at where[j] per newton at at[i]."""
    low, high = np.minimum.outer(at, where), np.maximum.outer(at, where)
    length = string.length
    bent = np.zeros_like(low)
    if string.stiffness > 0.0:
        rate = sqrt(string.tension / string.stiffness)
        # sinh(l low) sinh(l (L - high)) / sinh(l L), of which nothing overflows.
        ends = (1.0 - elementwise.exp(-2.0 * rate * low)) * (1.0 - elementwise.exp(-2.0 * rate * (length - high)))
        whole = 1.0 - elementwise.exp(np.array([-2.0 * rate * length]))[0]
        bent = 0.5 / rate * elementwise.exp(-rate * (high - low)) * ends / whole
    return (low * (length - high) / length - bent) / string.tension


def heard(string: String, at: Array, pickup: Pickup) -> Array:
    """What a pickup hears of a newton that rests at each place."""
    if pickup.kind == "bridge_force":  # the supports share it as those of a lever do, stiff or not
        return 1.0 - at / string.length if pickup.at == 0.0 else at / string.length
    return compliance(string, at, np.array([pickup.at * string.length]))[:, 0]
