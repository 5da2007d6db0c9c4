"""How much of a wave on the string is left to a pickup that hears more of it than one place.

    over a width w, evenly           sin(b w/2) / (b w/2)
    from r beside it, through air    b r K1(b r)

The second is the near field of a thin cylinder that swings, whose pressure falls off as K1 where the wave on it is
shorter than that in air (as it is on all strings that are slower than sound). Along the string it weighs by
r^2/(2 (x^2 + r^2)^(3/2)), as a row of dipoles does; K1 by the polynomials of Abramowitz and Stegun, 9.8.3, 9.8.7 and
9.8.8, within 1e-7.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from engine import elementwise
from engine.elementary import exp, log
from engine.physics.problem import Pickup
from engine.physics.string import Array

PLACES = 16  # that stand for all that a pickup hears, where its answer to a force that rests is asked for
_I1 = (0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411)  # of (x/3.75)^2
_NEAR = (1.0, 0.15443144, -0.67278579, -0.18156897, -0.01919402, -0.00110404, -0.00004686)  # of (x/2)^2
_FAR = (1.25331414, 0.23498619, -0.03655620, 0.01504268, -0.00780353, 0.00325614, -0.00068245)  # of 2/x


def left_of(b: Array, pickup: Pickup) -> Array | float:
    """What a pickup has of each wavenumber, of 1 at one place: 1 itself where it is at one."""
    if pickup.kind == "air":
        return np.array([near_field(float(x)) for x in b * pickup.distance])
    return averaged(b, pickup.width)


def averaged(b: Array, width: float) -> Array | float:
    """What the mean over a width has of each wavenumber."""
    if width == 0.0:
        return 1.0
    half = 0.5 * width * b
    return elementwise.sin(half) / half


def near_field(x: float) -> float:
    """x K1(x)."""
    if x * x == 0.0:
        return 1.0
    if x <= 2.0:
        return x * x * log(0.5 * x) * _sum(_I1, x * x / 14.0625) + _sum(_NEAR, 0.25 * x * x)
    return sqrt(x) * exp(-x) * _sum(_FAR, 2.0 / x)


def places(pickup: Pickup, length: float) -> Array:
    """Where it hears, each place as strongly, m."""
    share = (2.0 * np.arange(PLACES) + 1.0) / PLACES - 1.0
    if pickup.kind == "air":
        away = pickup.distance * share / np.sqrt(1.0 - share * share)
    elif pickup.width > 0.0:
        away = 0.5 * pickup.width * share
    else:
        away = np.zeros(1)
    return np.clip(pickup.at * length + away, 0.0, length)


def _sum(coefficients: tuple[float, ...], x: float) -> float:
    total = 0.0
    for coefficient in reversed(coefficients):
        total = total * x + coefficient
    return total
