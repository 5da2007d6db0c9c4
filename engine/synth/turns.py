"""The border between Python and the renderer: one caller at a time, and only into memory that can take a block."""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.preset.complaints import shown
from engine.synth.errors import BusyError, CallError


class Turn:
    """A `with` block that one caller at a time may be in; another gets an exception, for waiting could be for ever."""

    def __init__(self) -> None:
        self._taken = Lock()

    def __enter__(self) -> None:
        if not self._taken.acquire(blocking=False):
            raise BusyError(
                "this instrument is playing for another caller; wait for that one, or make an instrument for each"
            )

    def __exit__(self, *_: object) -> None:
        self._taken.release()


def target(out: Any, channels: int) -> NDArray[np.float32]:
    """`out`, if compiled code may write a block into it: it would not notice any of these faults."""
    wanted = f"out must be a numpy array, float32 [frames, {channels}], C-contiguous and writable"
    if not isinstance(out, np.ndarray):
        raise CallError(f"{wanted}; this is {shown(type(out).__name__)}")
    if out.dtype != np.float32:
        raise CallError(f"{wanted}; this is {out.dtype}")
    if out.ndim != 2 or out.shape[1] != channels:
        raise CallError(f"{wanted}; this has the shape {shown(str(out.shape))}")
    for flag in ("C_CONTIGUOUS", "ALIGNED", "WRITEABLE"):
        if not out.flags[flag]:
            raise CallError(f"{wanted}; this is not {flag.lower().replace('_', '-')}")
    return out
