"""How a string gives way to a force that rests, all its modes included, in closed form.

T u'' - EI u'''' = -delta(x - a), u = u'' = 0 at both ends. With l = sqrt(T / EI), 1/(T b^2 + EI b^4) = (1/b^2 -
1/(b^2 + l^2)) / T, and both sums over modes are known.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from engine import elementwise
from engine.physics import contact
from engine.physics.aperture import places
from engine.physics.barrier import ContactPoints
from engine.physics.linear import product
from engine.physics.problem import TWICE, Pickup, Problem
from engine.physics.string import Array, String

MARGIN = 1e-4  # of a point's static answer, by which rounding and rank may leave N short of positive


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
    around = places(pickup, string.length)
    return product(compliance(string, at, around), np.full(around.size, 1.0 / around.size))


def left_out(problem: Problem, points: ContactPoints, static: Array) -> Array:
    """What of the string's answer to a resting force its modes lack, [K, K + P]: at the points, and for the pickups.

    `static` is what the modes give. With both a force that rests, or changes slowly, moves what it touches as far as
    all modes would. The modes above a band are so made up for; those above Nyquist are not, where there is no band:
    N takes energy for good, as they do, and what is to run without a loss must have none.
    """
    at, string, count = points.position, problem.string, points.height.size
    own = compliance(string, at, at)
    given = own - static[:, :count]
    given = 0.5 * (given + given.T) + np.diag(MARGIN * np.diag(own))
    # A body is heard by what its end's momentum changes, of which a step from one answer to another is no part; nor
    # is it of an acceleration.
    lacking = [
        np.zeros(count) if p.kind in TWICE else heard(string, at, p) - static[:, count + j]
        for j, p in enumerate(problem.pickups)
    ]
    return np.concatenate([given, np.array(lacking).reshape(len(lacking), at.size).T], axis=1)


def resting(problem: Problem, points: ContactPoints, given: Array) -> Array:
    """With which forces the barrier presses a string at rest that gives way so."""
    if not contact.pressing(points).any():
        return np.zeros(points.height.size)
    return contact.equilibrium(given, points, problem.contact.exponent)
