"""What a metered run of any scheme leaves behind."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.physics.barrier import ContactPoints
from engine.physics.string import Array


class Log(NamedTuple):
    """One row a step: step n goes from time n to n + 1, its contact force acts at n, its energy lies between them.

    `out[n]` holds the pickups after step n (time n + 1); `lost` and `work` are sums since the start, so that
    kinetic + potential + contact + lost - work stays constant. `shapes` holds the scheme's own coordinates of the
    string at the steps named in `at`, in rising order.
    """

    out: NDArray[Any]
    kinetic: NDArray[Any]
    potential: NDArray[Any]
    contact: NDArray[Any]
    lost: NDArray[Any]
    work: NDArray[Any]
    force: NDArray[Any]
    at: NDArray[np.int64]
    shapes: NDArray[Any]
    scratch: NDArray[Any]


def log(steps: int, pickups: int, points: int, size: int, at: NDArray[np.int64], dtype: Any = np.float64) -> Log:
    """An empty log for `steps` steps of a scheme with `size` coordinates."""
    kinetic, potential, contact, lost, work = (np.zeros(steps, dtype) for _ in range(5))
    return Log(
        np.zeros((steps, pickups), dtype),
        kinetic,
        potential,
        contact,
        lost,
        work,
        np.zeros((steps, points), dtype),
        at,
        np.zeros((at.size, size), dtype),
        np.zeros(size, dtype),
    )


class Run(NamedTuple):
    """A finished run of any scheme: its log, its pickups at time 0, and the string's shapes over x."""

    rate: float
    points: ContactPoints
    start: NDArray[Any]  # [P]
    log: Log
    x: Array
    snapshots: NDArray[Any]  # [len(log.at), x.size], displacement at the steps in log.at
