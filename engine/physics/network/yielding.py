"""How much more a string gives way where it is touched than its modes below a band do.

A force that rests moves a string of all modes further than one that has only those that are heard. What is lacking, n
in m/N, is a spring in series with a linear contact: K' = K/(1 + K n). It is the string's own: with modes below 20 kHz
1/n is some 1e5 N/m, beside which bone is rigid. A modal string by itself has the same as N (statics.py), which also
joins its points; here each point has its own, and no energy goes. Without it an edge acts as if it stood further from
the end: 2 mm away, with modes below 40 kHz, the formant lies at 1.96 kHz, with it at 1.65, as with all modes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.physics.linear import total
from engine.physics.network.meetings import OBSTACLE, Meeting
from engine.physics.network.parts import seen_from
from engine.physics.statics import compliance
from engine.physics.string import Array, String


def stiffnesses(
    found: Sequence[Meeting], strings: Sequence[String], angles: Sequence[float], rows: Array, spring: Array
) -> Array:
    """Of every point's law, with what the string itself gives: of its planes, of each point's modes, of these."""
    made = np.array([point.law.stiffness for point in found])
    for k, point in enumerate(found):
        if point.kind == OBSTACLE and point.law.exponent == 1.0:
            at, whole = np.array([point.at]), 0.0
            for string, angle in zip(strings, angles, strict=True):
                share = seen_from(point.angle, angle)
                whole += share * share * float(compliance(string, at, at)[0, 0])
            lacking = max(whole - total(rows[k] * rows[k] / spring), 0.0)
            made[k] /= 1.0 + made[k] * lacking
    return made
