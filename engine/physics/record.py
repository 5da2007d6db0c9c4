"""What a metered run of any scheme leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.compiled import copy, inlined
from engine.errors import PhysicsError
from engine.physics.barrier import ContactPoints
from engine.physics.string import Array

MOST_BYTES = 2**30  # of a log in memory
MOST_AT_ONCE = 10_000  # steps of one call, which may be fewer where they take long


class Log(NamedTuple):
    """One row a step: step n goes from time n to n + 1, its contact force acts at n, its energy lies between them.

    `out[n]` holds the pickups after step n (time n + 1), and perhaps more behind them: hearing.py says what is heard of
    that. `lost` and `work` are sums since the start, so that kinetic + potential + contact + lost - work stays
    constant. `shapes` holds the scheme's own coordinates of the string at the steps named in `at`, in rising order;
    `sums` carries `lost` and `work` from one piece to the next.
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
    sums: NDArray[Any]  # [2]


def log(steps: int, pickups: int, points: int, size: int, at: NDArray[np.int64], dtype: Any = np.float64) -> Log:
    """An empty log for `steps` steps of a scheme with `size` coordinates."""
    needed = np.dtype(dtype).itemsize * (steps * (5 + pickups + points) + at.size * size)
    if needed > MOST_BYTES:
        limit = f"{steps} steps, {points} contact points and {at.size} snapshots are more than {MOST_BYTES >> 20} MiB"
        remedy = "shorten it, take fewer snapshots, or write modal and fd runs to a file (jawari simulate -o)"
        raise PhysicsError("run", f"{needed / 2**20:.3g} MiB", limit, remedy)
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
        np.zeros(2, dtype),
    )


def rows(book: Log, first: int, end: int) -> Log:
    """The same log, seen from these steps."""
    whole = ("at", "shapes", "scratch", "sums")
    return Log(*(array if name in whole else array[first:end] for name, array in zip(Log._fields, book)))


class Run(NamedTuple):
    """A finished run of any scheme: its log, its pickups a step before time 0 and then, the string's shapes over x."""

    rate: float
    points: ContactPoints
    before: NDArray[Any]  # [P], and as many as there are behind them in log.out
    start: NDArray[Any]
    log: Log
    x: Array
    snapshots: NDArray[Any]  # [len(log.at), x.size], displacement at the steps in log.at


@inlined
def keep_shapes(log: Any, shot: Any, step: Any, shape: Any) -> Any:
    """The string's shape at a step, in all rows from `shot` on that ask for it; the first that asks for a later one."""
    while shot < log.at.size and log.at[shot] <= step:
        if log.at[shot] == step:
            copy(shape, log.shapes[shot])
        shot += 1
    return shot


Listener = Callable[[Run], None]  # is given a run piece by piece; each is overwritten by the next


def in_pieces(
    observe: Callable[[Array, Log], None], force: Array, steps: int, most: int, opened: Run, listener: Listener | None
) -> None:
    """Meter `steps` steps into the log of `opened`, at most so many in one call of compiled code.

    With a listener the log is as long as one piece. A force that is shorter than the run is zero from its end on.
    """
    book, before, start = opened.log, opened.before, opened.start
    for at in range(0, steps, most):
        count = min(most, steps - at)
        first = 0 if listener else at
        part, pushing = rows(book, first, first + count), np.zeros(count, book.scratch.dtype)
        given = force[at : at + count]
        pushing[: given.size] = given
        observe(pushing, part)
        if listener:
            listener(opened._replace(log=part, before=before, start=start))
            before, start = (part.out[-2].copy() if count > 1 else start), part.out[-1].copy()
