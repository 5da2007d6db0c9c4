"""What is known exactly of the ideal string over rigid obstacles (§5.6)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.physics.string import Array, String, require

FLAT_PERIOD = 1.5  # periods of the free string until one over a flat barrier at minus half its amplitude returns (§5.6)


def cabannes(string: String, shape: Callable[[Array], Array], height: float, x: Array, t: float) -> Array:
    """Displacement at x and t >= 0 of a string released at rest over a point obstacle at its centre (§5.6).

    `shape`(x) must be symmetric about the centre and highest there; `height` is the obstacle's, from 0 to below that.
    Cabannes' formula, for a string on [-1/2, 1/2] with unit speed and a centre displacement of 1.
    """
    top = float(shape(np.array([0.5 * string.length]))[0])
    require("initial", top, above=0.0)
    require("barrier.height", height, minimum=0.0, maximum=np.nextafter(top, 0.0))
    h = height / top

    def f(y: Array) -> Array:
        y = y - np.round(y)
        return np.sign(y) * (1.0 - shape((y + 0.5) * string.length) / top) / 2.0 - y

    place, time = x / string.length - 0.5, t * string.wave_speed / string.length
    ahead, behind = f(place + time), f(place - time)
    space, phase = np.abs(place + 0.5 * (ahead + behind)), time + 0.5 * (ahead - behind)
    shift = np.where(4.0 * space < 1.0 + h, h, 3.0)
    both = [space + phase, space - phase]
    straight = sum(_saw(2.0 * s / (3.0 - h)) for s in both)
    bent = sum(_saw((2.0 * s + 1.0 - shift) / (3.0 - h)) for s in both)
    u = (1.0 + h) / (3.0 - h) * (1.0 - 2.0 * space) + 0.5 * (3.0 - h) * (straight - bent)
    return np.asarray(top * u, np.float64)


def _saw(y: Array) -> Array:
    """K(y) = (|y| - floor|y| - 1/2)^2."""
    y = np.abs(y)
    return np.asarray((y - np.floor(y) - 0.5) ** 2, np.float64)


def flat_barrier_touch(string: String, x: Array) -> Array:
    """When the first mode, released at twice the depth of a flat rigid barrier, first touches it at x (§5.6), s.

    That is free motion until then: true for L/4 <= x <= 3L/4, where the line of impact runs faster than waves do.
    """
    free = np.arccos(-0.5 / np.sin(np.pi * x / string.length))
    return np.asarray(free * string.length / (np.pi * string.wave_speed), np.float64)
