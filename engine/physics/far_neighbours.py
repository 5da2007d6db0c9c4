"""A grid's neighbours beyond REACH, which losses have at high rates: on the string, or images beyond its supports."""

from __future__ import annotations

from typing import Any

from engine.compiled import inlined
from engine.physics.grid import ORIGIN


@inlined
def image(u: Any, node: Any, intervals: Any) -> Any:
    """A node, or beyond a support its odd image."""
    if node < 0:
        return -u[ORIGIN - node]
    if node > intervals:
        return -u[ORIGIN + 2 * intervals - node]
    return u[ORIGIN + node]


@inlined
def reach_far(offset: Any, tap: Any, intervals: Any, x: Any, y: Any, w: Any) -> None:
    """w += tap (u- - u) of both neighbours at a distance, each of which beyond a support is its odd image."""
    low, high = min(offset, intervals - offset + 1), max(offset, intervals - offset + 1)
    here, ahead = w[ORIGIN:], offset + ORIGIN
    # Parts in each of which every node reads alike, and none asks: from slices, whose entries are counted from 0.
    _image_and_node(tap, x[ORIGIN:], y[ORIGIN:], x[ahead:], y[ahead:], here, 1, low, offset)
    if offset < high:
        _nodes(tap, x[ORIGIN:], y[ORIGIN:], x[ahead + offset :], y[ahead + offset :], here[offset:], high - offset)
    else:
        _images(tap, x[ORIGIN:], y[ORIGIN:], here, low, high, offset, 2 * intervals - offset)
    _node_and_image(tap, x[ORIGIN:], y[ORIGIN:], here, high, intervals, offset, 2 * intervals - offset)


@inlined
def _nodes(tap: Any, x: Any, y: Any, far_x: Any, far_y: Any, w: Any, count: Any) -> None:
    """Both neighbours on the string."""
    for i in range(count):
        w[i] += tap * ((y[i] + far_y[i]) - (x[i] + far_x[i]))


@inlined
def _image_and_node(
    tap: Any, x: Any, y: Any, far_x: Any, far_y: Any, w: Any, first: Any, end: Any, mirror: Any
) -> None:
    """The neighbour towards the near support beyond it."""
    for i in range(first, end):
        w[i] += tap * ((-y[mirror - i] + far_y[i]) - (-x[mirror - i] + far_x[i]))


@inlined
def _node_and_image(tap: Any, x: Any, y: Any, w: Any, first: Any, end: Any, offset: Any, mirror: Any) -> None:
    """The neighbour towards the far support beyond it."""
    for i in range(first, end):
        w[i] += tap * ((y[i - offset] + -y[mirror - i]) - (x[i - offset] + -x[mirror - i]))


@inlined
def _images(tap: Any, x: Any, y: Any, w: Any, first: Any, end: Any, near: Any, far: Any) -> None:
    """Both beyond their supports."""
    for i in range(first, end):
        w[i] += tap * ((-y[near - i] + -y[far - i]) - (-x[near - i] + -x[far - i]))
