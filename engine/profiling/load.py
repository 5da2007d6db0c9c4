"""Statistics of blocks: how long they took, in microseconds and as shares of the time for which they sound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError
from engine.physics.string import Array
from engine.profiling.clocked import DURATION, FRAMES

BINS = 100  # of a histogram, per decade


class Spread(NamedTuple):
    """How some numbers lie."""

    mean: float
    p50: float
    p99: float
    p999: float
    most: float


class Histogram(NamedTuple):
    """counts[i] blocks took edges[i] to edges[i + 1] µs; the edges are the same numbers in every histogram."""

    edges: Array
    counts: NDArray[np.int64]


@dataclass(frozen=True)
class BlockLoad:
    """What blocks cost: a share of 1 is the whole deadline, the time for which a block sounds."""

    blocks: int
    late: int  # blocks that took longer than that
    deadline: float  # µs
    us: Spread
    share: Spread


def load(rows: NDArray[np.int64], sample_rate: float) -> BlockLoad:
    """The load that rows of (start ns, duration ns, frames) show; a live stream's blocks may differ in size."""
    if len(rows) == 0:
        raise EngineError("no block was measured; give more seconds")
    took, deadline = rows[:, DURATION] * 1e-3, rows[:, FRAMES] * (1e6 / sample_rate)
    share = took / deadline
    return BlockLoad(len(rows), int((share > 1.0).sum()), float(np.median(deadline)), spread(took), spread(share))


def spread(values: Array) -> Spread:
    """Percentiles are interpolated between neighbours in order."""
    p50, p99, p999 = np.percentile(values, (50.0, 99.0, 99.9))
    return Spread(float(values.mean()), float(p50), float(p99), float(p999), float(values.max()))


def histogram(rows: NDArray[np.int64]) -> Histogram:
    """The blocks' durations in bins of equal ratio."""
    took = np.maximum(rows[:, DURATION] * 1e-3, 1e-3)
    bins = np.floor(BINS * np.log10(took)).astype(np.int64)
    first = int(bins.min())
    return Histogram(10.0 ** (np.arange(first, int(bins.max()) + 2) / BINS), np.bincount(bins - first))
