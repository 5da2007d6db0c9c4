"""Memory that test_layout.py declares: something of every kind, read and changed by compiled code and by Python."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from engine import layout
from engine.compiled import called_by_python, native
from engine.layout import (
    Arena,
    IntegerRows,
    Integers,
    Matrix,
    Rows,
    Singles,
    Vector,
    inside,
    lay,
    record,
    rows_of,
    seen,
    size_of,
)
from engine.opened import address, at, opener


@record
class Point:
    """Nothing but scalars and arrays inside: numpy has such records, too."""

    height: float
    number: int
    on: bool
    ages: Integers = inside(2)
    weights: Matrix = inside(2, 3)


@record
class Pair:
    """Records inside a record, one alone and some in a row."""

    first: int
    point: Point
    points: Rows[Point] = inside(3)
    last: float


class Law(NamedTuple):
    slope: float
    steps: int
    up: bool
    taps: Vector


class Kernel(NamedTuple):
    gain: float
    law: Law
    table: Matrix
    order: Integers
    other: Law
    rows: IntegerRows
    count: int


@record
class Whole:
    """All that there is."""

    on: bool
    count: int
    level: float
    short: Vector = inside(3)
    vector: Vector
    matrix: Matrix
    integers: Integers
    rows: IntegerRows
    singles: Singles
    points: Rows[Point]
    kernel: Kernel
    pair: Pair
    after: int


whole_at, open_kernel = at(Whole), opener(Kernel)


# --- the same fields, read and changed by compiled code and by Python -------------------------------------------------


@native
def law_told(law: Any, ints: Any, floats: Any, i: int, f: int) -> Any:
    floats[f], ints[i], ints[i + 1] = law.slope, law.steps, law.up
    for n in range(law.taps.size):
        floats[f + 1 + n] = law.taps[n]
    return i + 2, f + 1 + law.taps.size


@native
def kernel_told(k: Any, ints: Any, floats: Any, i: int, f: int) -> Any:
    floats[f], ints[i] = k.gain, k.count
    i, f = law_told(k.law, ints, floats, i + 1, f + 1)
    i, f = law_told(k.other, ints, floats, i, f)
    for n in range(k.table.shape[0]):
        for m in range(k.table.shape[1]):
            floats[f] = k.table[n, m]
            f += 1
    for n in range(k.order.size):
        ints[i] = k.order[n]
        i += 1
    for n in range(k.rows.shape[0]):
        for m in range(k.rows.shape[1]):
            ints[i] = k.rows[n, m]
            i += 1
    return i, f


@native
def point_told(p: Any, ints: Any, floats: Any, i: int, f: int) -> Any:
    floats[f], ints[i], ints[i + 1], f = p.height, p.number, p.on, f + 1
    for n in range(2):
        ints[i + 2 + n] = p.ages[n]
        for m in range(3):
            floats[f] = p.weights[n, m]
            f += 1
    return i + 4, f


@native
def told(w: Any, ints: Any, floats: Any) -> Any:
    """All of it, in a row; how many of either."""
    ints[0], ints[1], ints[2], ints[3], floats[0], floats[1] = (
        w.on,
        w.count,
        w.after,
        w.pair.first,
        w.level,
        w.pair.last,
    )
    i, f = 4, 2
    for n in range(3):
        floats[f] = w.short[n]
        f += 1
    for n in range(w.vector.size):
        floats[f] = w.vector[n]
        f += 1
    for n in range(w.singles.size):
        floats[f] = w.singles[n]
        f += 1
    for n in range(w.matrix.shape[0]):
        for m in range(w.matrix.shape[1]):
            floats[f] = w.matrix[n, m]
            f += 1
    for n in range(w.integers.size):
        ints[i] = w.integers[n]
        i += 1
    for n in range(w.rows.shape[0]):
        for m in range(w.rows.shape[1]):
            ints[i] = w.rows[n, m]
            i += 1
    for n in range(w.points.size):
        i, f = point_told(w.points[n], ints, floats, i, f)
    for n in range(3):
        i, f = point_told(w.pair.points[n], ints, floats, i, f)
    i, f = point_told(w.pair.point, ints, floats, i, f)
    return kernel_told(w.kernel, ints, floats, i, f)


@native
def changed(w: Any) -> None:
    """Something of every kind, also a float by an integer."""
    w.on, w.count, w.level, w.after = not w.on, w.count // 2 - 1, w.count // 4, 7
    w.short[1], w.pair.first, w.pair.last = 2.5, -5, -0.25
    w.pair.point.height, w.pair.points[1].number, w.pair.points[2].on = 1.5, 11, True
    w.pair.points[0].weights[1, 2] = 12.0
    for n in range(w.points.size):
        p = w.points[n]
        p.number, p.height, p.on, p.ages[1], p.weights[0, 1] = n, -p.height, False, n + 3, 0.5
    for n in range(w.vector.size):
        w.vector[n] += n
    for n in range(w.rows.shape[0]):
        w.rows[n, w.rows.shape[1] - 1] = n
    for n in range(w.kernel.law.taps.size):
        w.kernel.law.taps[n] = 3.0 * n
    for n in range(w.singles.size):
        w.singles[n] = 0.5


@called_by_python
def tell_at(place: Any, ints: Any, floats: Any) -> Any:
    return told(whole_at(place), ints, floats)


@called_by_python
def change_at(place: Any) -> None:
    changed(whole_at(place))


@called_by_python
def tell_kernel(base: Any, row: Any, ints: Any, floats: Any) -> Any:
    return kernel_told(open_kernel(base, row), ints, floats, 0, 0)


@called_by_python
def places(thing: Any, found: Any) -> None:
    """Where compiled code sees a record and what is in it."""
    w = whole_at(thing)
    found[0], found[1], found[2] = address(w), address(w.vector), address(w.pair)
    found[3], found[4] = address(w.pair.points[2]), address(w.points[w.points.size - 1])


class InPython:
    """The functions above, as Python runs them over records as Python has them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("law_told", "kernel_told", "point_told"):
            monkeypatch.setitem(globals(), name, self.plain(globals()[name]))

    @staticmethod
    def plain(function: Any) -> Any:
        return getattr(function, "py_func", function)

    def told(self, block: Any) -> tuple[bytes, bytes]:
        return answer(self.plain(told), seen(Whole, block.ctypes.data))

    def kernel(self, kernel: Kernel) -> tuple[bytes, bytes]:
        return answer(self.plain(kernel_told), kernel, end=(0, 0))


def answer(function: Any, *where: Any, end: tuple[int, ...] = ()) -> tuple[bytes, bytes]:
    """What one of them writes into integers and floats."""
    ints, floats = np.full(4000, -9, np.int64), np.full(4000, np.inf)
    i, f = function(*where, ints, floats, *end)
    assert (ints[i:] == -9).all()
    return ints[:i].tobytes(), floats[:f].tobytes()


# --- random layouts ---------------------------------------------------------------------------------------------------

FLOATS = st.floats(width=64)
INTS = st.integers(-(2**63), 2**63 - 1)
SIZES = st.integers(0, 5)
VECTORS = SIZES.flatmap(lambda n: arrays(np.float64, n, elements=FLOATS))
MATRICES = st.tuples(SIZES, SIZES).flatmap(lambda shape: arrays(np.float64, shape, elements=FLOATS))
INTEGERS = SIZES.flatmap(lambda n: arrays(np.int64, n, elements=INTS))
TABLES = st.tuples(SIZES, st.integers(1, 4)).flatmap(lambda shape: arrays(np.int64, shape, elements=INTS))
SINGLES = SIZES.flatmap(lambda n: arrays(np.float32, n, elements=st.floats(width=32, allow_nan=False)))
LAWS = st.builds(Law, FLOATS, INTS, st.booleans(), VECTORS)
KERNELS = st.builds(Kernel, FLOATS, LAWS, MATRICES, INTEGERS, LAWS, TABLES, INTS)


@st.composite
def points(draw: st.DrawFn, count: int | None = None) -> Any:
    found = rows_of(Point, draw(SIZES) if count is None else count)
    for p in found:
        p.height, p.number, p.on = draw(FLOATS), draw(INTS), draw(st.booleans())
        p.ages[:] = draw(st.tuples(INTS, INTS))
        p.weights[:] = draw(arrays(np.float64, (2, 3), elements=FLOATS))
    return found


@st.composite
def pairs(draw: st.DrawFn) -> Any:
    (found,) = rows_of(Pair, 1)
    found.first, found.last = draw(INTS), draw(FLOATS)
    found.point, found.points[:] = draw(points(1))[0], draw(points(3))
    return found


WHOLES = st.fixed_dictionaries({
    "on": st.booleans(),
    "count": INTS,
    "level": FLOATS,
    "short": arrays(np.float64, 3, elements=FLOATS),
    "vector": VECTORS,
    "matrix": MATRICES,
    "integers": INTEGERS,
    "rows": TABLES,
    "singles": SINGLES,
    "points": points(),
    "kernel": KERNELS,
    "pair": pairs(),
    "after": INTS,
})  # fmt: skip


def laid(before: int, values: dict[str, Any]) -> tuple[Any, int]:
    """A block with a Whole in it that begins somewhere."""
    arena = Arena()
    arena.room(before)
    start = arena.room(size_of(Whole))
    write = lay(arena, Whole, start, **values)
    block = arena.sealed()
    write(block)
    return block, start


def same(found: Any, given: Any) -> bool:
    """The same bits in the same shape, in numbers, arrays and groups of these."""
    if isinstance(given, tuple):
        return all(same(a, b) for a, b in zip(found, given, strict=True))
    if isinstance(given, np.record):
        return bool(layout.memory(address(found), given.dtype, (1,)).tobytes() == given.tobytes())
    if np.ndim(given) == 0:
        given = np.asarray(given, np.asarray(found).dtype)
    return np.shape(found) == np.shape(given) and np.asarray(found).tobytes() == np.asarray(given).tobytes()
