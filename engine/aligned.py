"""Leaf: arrays that begin on the border of a cache line.

numpy begins them at multiples of 16 bytes: then every vector of 64 lies in two lines, and both are loaded, which costs
a modal string a quarter of its time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

LINE = 64  # bytes of a cache line, and of the widest vector


def zeros(shape: int | tuple[int, ...], dtype: Any = np.float64) -> NDArray[Any]:
    """Zeros, written: nobody else is the first to touch their pages."""
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    room = np.full(size + LINE, 0, np.uint8)
    first = -room.ctypes.data % LINE
    return room[first : first + size].view(dtype).reshape(shape)
