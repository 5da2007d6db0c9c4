"""Leaf: the functions of elementary.py over whole arrays, for design. numpy's own differ from CPU to CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import elementary
from engine.compiled import VECTOR, called_with

Array = NDArray[Any]


def _over(replace: Callable[[Any], None], function: Callable[[Any], Any]) -> Callable[[Any], Array]:
    def applied(x: Any) -> Array:
        values = np.array(x, float, order="C")
        replace(values.reshape(-1))
        return values

    applied.__doc__ = function.__doc__
    return applied


@called_with(VECTOR)
def _exp(values: Any) -> None:
    for i in range(values.size):
        values[i] = elementary.exp(values[i])


@called_with(VECTOR)
def _sin(values: Any) -> None:
    for i in range(values.size):
        values[i] = elementary.sin(values[i])


@called_with(VECTOR)
def _cos(values: Any) -> None:
    for i in range(values.size):
        values[i] = elementary.cos(values[i])


exp, sin, cos = _over(_exp, elementary.exp), _over(_sin, elementary.sin), _over(_cos, elementary.cos)


def power(x: Any, y: Any) -> Array:
    """x^y."""
    base, exponent = (np.array(a, float, order="C") for a in np.broadcast_arrays(x, y))
    _raise(base.reshape(-1), exponent.reshape(-1))
    return base


@called_with(VECTOR, VECTOR)
def _raise(base: Any, exponent: Any) -> None:
    for i in range(base.size):
        base[i] = elementary.power(base[i], exponent[i])
