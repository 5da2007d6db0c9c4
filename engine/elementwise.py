"""Leaf: the functions of elementary.py over whole arrays, for design. numpy's own differ from CPU to CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import elementary
from engine.compiled import called_by_python

Array = NDArray[Any]


def _over_arrays(function: Callable[[Any], Any]) -> Callable[[Any], Array]:
    @called_by_python
    def replace(values: Any) -> None:
        for i in range(values.size):
            values[i] = function(values[i])

    def applied(x: Any) -> Array:
        values = np.array(x, float, order="C")
        replace(values.reshape(-1))
        return values

    applied.__doc__ = function.__doc__
    return applied


exp = _over_arrays(elementary.exp)
sin = _over_arrays(elementary.sin)
cos = _over_arrays(elementary.cos)


def power(x: Any, y: Any) -> Array:
    """x^y."""
    base, exponent = (np.array(a, float, order="C") for a in np.broadcast_arrays(x, y))
    _raise(base.reshape(-1), exponent.reshape(-1))
    return base


@called_by_python
def _raise(base: Any, exponent: Any) -> None:
    for i in range(base.size):
        base[i] = elementary.power(base[i], exponent[i])
