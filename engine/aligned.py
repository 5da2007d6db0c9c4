"""Leaf: arrays that begin on the border of a cache line.

numpy begins them at multiples of 16 bytes: then every vector of 64 lies in two lines, and both are loaded, which costs
a modal string a quarter of its time.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

LINE = 64  # bytes of a cache line, and of the widest vector


def zeros(shape: int | tuple[int, ...], dtype: Any = np.float64) -> NDArray[Any]:
    """Zeros, written: nobody else is the first to touch their pages."""
    size = (prod(shape) if isinstance(shape, tuple) else shape) * np.dtype(dtype).itemsize
    room = np.empty(size + LINE, np.uint8)
    room.fill(0)
    first = -room.__array_interface__["data"][0] % LINE
    return room[first : first + size].view(dtype).reshape(shape)
