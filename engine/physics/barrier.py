"""Barriers below the string, and the contact points that stand for them.

A distributed barrier has a height b(x) on an interval and a stiffness per metre; a set of obstacles has
a lumped stiffness each. Both become `ContactPoints`, with a stiffness in N/m^exponent per point, so that
no kernel needs to know which it was (a contact density F dx is a force, psi^2 dx / 2 an energy).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, sqrt
from typing import NamedTuple, Protocol

import numpy as np

from engine.errors import PhysicsError
from engine.physics.linear import between, total
from engine.physics.string import Array


class Profile(Protocol):
    """A height over x, both in metres, the resting string at zero: any frozen dataclass with this call will do."""

    def __call__(self, x: Array, /) -> Array: ...


@dataclass(frozen=True)
class Polynomial:
    """c0 + c1 s + c2 s^2 + ... with s = x - origin: flat, parabola and polynomial profiles."""

    coefficients: tuple[float, ...]
    origin: float = 0.0

    def __call__(self, x: Array, /) -> Array:
        height = np.zeros_like(x)
        for c in reversed(self.coefficients):
            height = height * (x - self.origin) + c
        return height


@dataclass(frozen=True)
class Table:
    """Heights given at increasing x, linear between them."""

    x: tuple[float, ...]
    heights: tuple[float, ...]

    def __call__(self, x: Array, /) -> Array:
        return between(x, np.array(self.x), np.array(self.heights))


@dataclass(frozen=True)
class Barrier:
    """A distributed barrier from `start` to `stop`, and the number of points a modal string gives it.

    Without a number it is as many as its modes and the profile ask for (`enough`). `height` raises the whole profile:
    it is what moves when a player moves the barrier.
    """

    profile: Profile
    start: float
    stop: float
    points: int | None = None
    height: float = 0.0

    def surface(self, x: Array) -> Array:
        """Where it is over x, both in metres."""
        return self.profile(x) + self.height


@dataclass(frozen=True)
class Obstacles:
    """Point obstacles: thread, frets, bray pins, a bolt. Each has the contact's lumped stiffness.

    `height` raises all of them.
    """

    positions: tuple[float, ...]
    heights: tuple[float, ...]
    height: float = 0.0

    def tops(self) -> Array:
        """Where they are, in the order of `positions`, in metres."""
        return np.asarray(self.heights, float) + self.height


class ContactPoints(NamedTuple):
    """Where the string can touch: position (m), height (m), stiffness (N/m^exponent) of every point."""

    position: Array
    height: Array
    stiffness: Array


def no_contact() -> ContactPoints:
    """The points of a string that meets nothing."""
    return ContactPoints(np.zeros(0), np.zeros(0), np.zeros(0))


def obstacle_points(obstacles: Obstacles, stiffness: float, length: float) -> ContactPoints:
    """The points of a set of obstacles, in order along the string."""
    order = np.argsort(obstacles.positions)
    position = np.asarray(obstacles.positions, float)[order]
    height = obstacles.tops()[order]
    for x in position:
        if not 0.0 < x < length:
            raise PhysicsError("barrier.at", float(x), f"must lie inside the string, 0 to {length:g} m", "move it")
    return ContactPoints(position, _finite(height, position), np.full(position.size, stiffness))


FINE, MOST_FINE = 2, 32  # points for each length that the modes tell apart, and up to how many points that holds
BULGE = 2e-6  # m that a barrier may rise between two points: about as far as a string is pressed into it
MOST = 500  # beyond, each step would take longer than anybody waits: who wants more says so
LOOKS = 256  # at a profile
ROUNDING = 1e-9  # of a point


def enough(barrier: Barrier, apart: float) -> int:
    """How many points stand for a barrier under modes that tell places apart which are `apart` (m) from each other.

    Two for each such length where that is not many, since a string that wraps around its bridge goes on getting better
    up to there (scripts/measure_convergence.py); where the barrier is wide, one each: sparser ones are obstacles that
    the modes fall between. And so many that between two of them the profile does not bulge, however few the modes are.
    """
    width = barrier.stop - barrier.start
    curved = bulges(barrier)
    told = width / apart
    asked = ceil(max(curved, min(FINE * told, max(told, MOST_FINE))) - ROUNDING)
    return min(max(1, asked), MOST)


def bulges(barrier: Barrier) -> float:
    """How many points a profile asks for by itself."""
    width = barrier.stop - barrier.start
    spacing = width / LOOKS
    x = barrier.start + (np.arange(LOOKS) + 0.5) * spacing
    bends = np.clip(-np.diff(_finite(barrier.surface(x), x), 2), 0.0, None)
    return min(sqrt(width * (total(bends) / spacing) / (8.0 * BULGE)), MOST_FINE)


def cell_points(barrier: Barrier, stiffness: float, length: float, apart: float = inf) -> ContactPoints:
    """Centres of equal cells: the Riemann sum of paper 004 eq. (10), for a modal string."""
    _check_extent(barrier, length)
    count = barrier.points or enough(barrier, apart)
    width = (barrier.stop - barrier.start) / count
    position = barrier.start + (np.arange(count) + 0.5) * width
    height = _finite(barrier.surface(position), position)
    return ContactPoints(position, height, np.full(count, stiffness * width))


def node_points(barrier: Barrier, stiffness: float, length: float, intervals: int) -> ContactPoints:
    """The interior nodes of a grid of `intervals` cells that the barrier covers, each weighted by the share covered.

    Weighting keeps the whole stiffness of the barrier independent of the grid.
    """
    _check_extent(barrier, length)
    h = length / intervals
    node = np.arange(1, intervals)
    left, right = (node - 0.5) * h, (node + 0.5) * h
    covered = np.clip(np.minimum(right, barrier.stop) - np.maximum(left, barrier.start), 0.0, None)
    # The two outermost half cells belong to supports that cannot move.
    touched = node[covered > 1e-9 * h]
    if touched.size == 0:
        raise PhysicsError(
            "barrier.to",
            barrier.stop,
            f"the barrier covers no moving node of a grid of {h * 1e3:.3g} mm",
            "widen it, raise the sample rate or oversampling, or use model: modal",
        )
    position = touched * h
    height = _finite(barrier.surface(np.clip(position, barrier.start, barrier.stop)), position)
    return ContactPoints(position, height, stiffness * covered[touched - 1])


def _check_extent(barrier: Barrier, length: float) -> None:
    if not 0.0 <= barrier.start < barrier.stop:
        raise PhysicsError(
            "barrier.from", barrier.start, f"must be at least 0 and below barrier.to = {barrier.stop:g} m", "move it"
        )
    if barrier.stop > length:
        raise PhysicsError("barrier.to", barrier.stop, f"must be at most the string's length, {length:g} m", "lower it")


def _finite(height: Array, position: Array) -> Array:
    bad = ~np.isfinite(height)
    if bad.any():
        where = float(position[bad][0])
        raise PhysicsError("barrier.profile", float(height[bad][0]), f"not finite at x = {where:g} m", "mend it there")
    return height
