"""Leaf: the vector code of a modal string that goes by increments, as float32 must to stay in tune.

    d' = d - (e y + l d),   y' = y + d',   e = 1 - 2 R cos(w k) + R^2,   l = 1 - R^2

2 R cos(w k) and R^2 are next to 2 and to 1: of 24 bits what a low mode has of its own is lost. e and l keep all of
theirs however small they are, and d, which is small beside y, is not rounded as y is. As in pairs.py two steps go in
each pass, each function has a plain twin that gives the same bits, and sums have one order on every CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from engine.compiled import INTO_CALLER, native
from engine.pairs import _then_the_others
from engine.vectors import INT, TOGETHER, _vector_code, _Vectors, project

SINGLE = 4  # bytes


def by_increments(y: Any) -> bool:
    """Whether modes of this array's precision go so. Compiled code knows when it is compiled."""
    return bool(y.itemsize == SINGLE)


def advance_twice(
    lacking: Any, loss: Any, inject: Any, rows: Any, y: Any, d: Any, between: Any, first: Any, second: Any, out: Any
) -> None:
    """Two steps without contact: y and d in their places, `between` the y of the first; out = rows @ both.

    `lacking` is e, `loss` l; first and second are the excitation's forces in either step. Behind the sums there are
    zeros, as in pairs.py.
    """
    out[:, len(rows) : -(-len(rows) // TOGETHER) * TOGETHER] = 0.0
    for half, force in enumerate((first, second)):
        d -= lacking * y + loss * d
        if first != 0.0 or second != 0.0:
            d += force * inject
        y += d
        project(rows, y, out[half, : len(rows)])
        if half == 0:
            between[: y.size] = y


@native
def fall(lacking: Any, loss: Any, y: Any, d: Any) -> None:
    """The first half of a single step: d without what pushes."""
    for i in range(y.size):
        d[i] -= lacking[i] * y[i] + loss[i] * d[i]


@native
def move(y: Any, d: Any) -> None:
    """The second half: y += d."""
    for i in range(y.size):
        y[i] += d[i]


def push_twice(
    lacking: Any, loss: Any, gain: Any, rows: Any, first: Any, second: Any, which: Any, count: Any, y: Any, d: Any
) -> None:
    """What forces in both steps do, d1 and d2 of pairs.push_twice: d += d1 - (e + l) d1 + d2, and y += that and d1."""
    for at in range(0, count, TOGETHER):
        j, *others = which[at : min(at + TOGETHER, count)]
        one, two = first[j] * rows[j], second[j] * rows[j]
        for j in others:
            one, two = first[j] * rows[j] + one, second[j] * rows[j] + two
        moved = one * gain
        ahead = (moved - (lacking + loss) * moved) + two * gain
        d += ahead
        y += moved + ahead


@intrinsic
def _advance_twice(
    typing: Any,
    lacking: Any,
    loss: Any,
    inject: Any,
    rows: Any,
    y: Any,
    d: Any,
    between: Any,
    one: Any,
    two: Any,
    out: Any,
) -> Any:
    def generate(v: _Vectors, _: Any, e: Any, loss: Any, w: Any, rows: Any, y: Any, d: Any, *more: Any) -> None:
        b, (between, one, two, out) = v.builder, more
        none = ir.Constant(v.element, 0.0)
        struck = b.or_(b.fcmp_unordered("!=", one, none), b.fcmp_unordered("!=", two, none))
        pushes = v.splat(one), v.splat(two)

        def step(i: Any, driven: bool) -> tuple[Any, ...]:
            lacking, lost, now, change = (v.load(x.data, i) for x in (e, loss, y, d))
            drive, found = v.load(w.data, i) if driven else None, []
            for push in pushes:
                change = b.fsub(change, v.plus(b.fmul(lost, change), lacking, now))
                change = v.plus(change, push, drive) if driven else change
                found.append(now := b.fadd(now, change))
            for value, target in ((found[0], between), (now, y), (change, d)):
                v.store(value, target.data, i)
            return tuple(found)

        with _then_the_others(v, rows, y, between, out) as lead, b.if_else(struck) as (driven, free):
            with driven:  # rarely: rows by themselves, after the steps
                lead(lambda at: step(at, True), none=True)
            with free:
                lead(lambda at: step(at, False))

    return types.void(lacking, loss, inject, rows, y, d, between, one, two, out), _vector_code(generate)


@intrinsic
def _push_twice(
    typing: Any,
    lacking: Any,
    loss: Any,
    gain: Any,
    rows: Any,
    first: Any,
    second: Any,
    which: Any,
    count: Any,
    y: Any,
    d: Any,
) -> Any:
    def generate(v: _Vectors, _: Any, e: Any, loss: Any, gain: Any, rows: Any, *more: Any) -> None:
        b, (first, second, which, count, y, d) = v.builder, more
        _, size = cgutils.unpack_tuple(b, rows.shape)

        def group(rows_here: int, at: Any) -> None:
            places = [b.load(b.gep(which.data, [b.add(at, INT(j))])) for j in range(rows_here)]
            bases = [b.gep(rows.data, [b.mul(j, size)]) for j in places]
            weights = [[v.splat(b.load(b.gep(w.data, [j]))) for j in places] for w in (first, second)]
            with v.loop(size, v.lanes) as i:
                row = v.load(bases[0], i)
                sums = [b.fmul(weight[0], row) for weight in weights]
                for j, base in enumerate(bases[1:], 1):
                    row = v.load(base, i)
                    sums = [v.plus(total, weight[j], row) for total, weight in zip(sums, weights, strict=True)]
                scale = v.load(gain.data, i)
                moved = b.fmul(sums[0], scale)
                kept = b.fsub(moved, b.fmul(b.fadd(v.load(e.data, i), v.load(loss.data, i)), moved))
                ahead = v.plus(kept, sums[1], scale)
                v.store(b.fadd(v.load(d.data, i), ahead), d.data, i)
                v.store(b.fadd(v.load(y.data, i), b.fadd(moved, ahead)), y.data, i)

        v.in_groups(count, TOGETHER, group)

    return types.void(lacking, loss, gain, rows, first, second, which, types.int64, y, d), _vector_code(generate)


@overload(by_increments, **INTO_CALLER)
def _compiled_by_increments(y: Any) -> Callable[..., Any]:
    narrow = y.dtype == types.float32
    return lambda y: narrow


@overload(advance_twice, **INTO_CALLER)
def _compiled_advance_twice(
    lacking: Any, loss: Any, inject: Any, rows: Any, y: Any, d: Any, between: Any, first: Any, second: Any, out: Any
) -> Any:
    return lambda lacking, loss, inject, rows, y, d, between, first, second, out: _advance_twice(
        lacking, loss, inject, rows, y, d, between, first, second, out
    )


@overload(push_twice, **INTO_CALLER)
def _compiled_push_twice(
    lacking: Any, loss: Any, gain: Any, rows: Any, first: Any, second: Any, which: Any, count: Any, y: Any, d: Any
) -> Any:
    return lambda lacking, loss, gain, rows, first, second, which, count, y, d: _push_twice(
        lacking, loss, gain, rows, first, second, which, count, y, d
    )
