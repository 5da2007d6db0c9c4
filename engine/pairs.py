"""Leaf: the vector code of a modal string, which takes two steps for each pass over its modes.

What a pass costs is loading: of every row and coefficient, once for two steps here. As in vectors.py each function has
a plain twin that gives the same bits, a sum has one order on every CPU, and products and sums round one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from engine.compiled import INTO_CALLER
from engine.vectors import INT, TOGETHER, WIDEST, _arrays, _vector_code, _Vectors, advance, project

SEVERAL = -1


def whole(count: int, dtype: Any) -> int:
    """As many entries as are read and written where `count` are wanted: whole vectors."""
    lanes = WIDEST // np.dtype(dtype).itemsize
    return -(-count // lanes) * lanes


def advance_twice(
    forward: Any, backward: Any, inject: Any, rows: Any, now: Any, before: Any, first: Any, second: Any, out: Any
) -> None:
    """Two steps without contact: from `before` and `now` to those after them, in their places; out = rows @ both.

    first and second are the excitation's forces in either step. Written as one, for what a step writes the next reads.
    Behind the sums there are zeros, up to the next multiple of TOGETHER.
    """
    out[:, len(rows) : -(-len(rows) // TOGETHER) * TOGETHER] = 0.0
    advance(forward, backward, now, before)
    if first != 0.0 or second != 0.0:
        before += first * inject
    project(rows, before, out[0, : len(rows)])
    advance(forward, backward, before, now)
    if first != 0.0 or second != 0.0:
        now += second * inject
    project(rows, now, out[1, : len(rows)])


def push_twice(
    forward: Any, gain: Any, rows: Any, first: Any, second: Any, which: Any, count: Any, before: Any, now: Any
) -> None:
    """What forces do to the modes: before += d1, now += forward d1 + d2, with d = gain * sum of weight[j] rows[j].

    `before` and `now` are what advance_twice made of them, first and second the weights; j are the first `count`
    entries of `which`.
    """
    for at in range(0, count, TOGETHER):
        j, *others = which[at : min(at + TOGETHER, count)]
        one, two = first[j] * rows[j], second[j] * rows[j]
        for j in others:
            one, two = first[j] * rows[j] + one, second[j] * rows[j] + two
        moved = one * gain
        before += moved
        now += forward * moved + two * gain


def push(gain: Any, rows: Any, weights: Any, count: Any, y: Any) -> None:
    """y += gain * sum of weights[j] * rows[j] over the first `count` rows."""
    for at in range(0, count, TOGETHER):
        total = weights[at] * rows[at]
        for j in range(at + 1, min(at + TOGETHER, count)):
            total = weights[j] * rows[j] + total
        y += total * gain


def combine(table: Any, weights: Any, count: Any, out: Any) -> None:
    """out = the first `count` rows of the table, each times its weight; of whole vectors, as all tables here."""
    out[:] = 0.0
    for j in range(count):
        out[:] = weights[j] * table[j] + out


def look_ahead(table: Any, weights: Any, points: Any, height: Any, now: Any, psi: Any, out: Any) -> int:
    """`combine` of both steps of a pair; whether points are near, now or in either, as `near` has it.

    0 if none is, k + 1 if k is by itself, SEVERAL if more are.

    A table with as many rows as there are points has each point as a row of its own: nothing needs to be summed then.
    """
    for half in range(2):
        if len(table) == points:
            out[half] = 0.0
            out[half, :points] = weights[half, :points]
        else:
            combine(table, weights[half], len(table), out[half])
    found = np.flatnonzero((height > now) | (height > out[0]) | (height > out[1]) | (psi > 0.0))
    return int(found[0]) + 1 if found.size == 1 else SEVERAL * (found.size > 1)


def accumulate(table: Any, weights: Any, which: Any, count: Any, out: Any) -> None:
    """out += weights[k] * table[k] for the first `count` entries k of `which`, one after the other."""
    for k in which[:count]:
        out[:] = weights[k] * table[k] + out


def shift(newest: Any, now: Any, before: Any) -> None:
    """before = now, now = newest."""
    before[:] = now
    now[:] = newest[: now.size]


def near(height: Any, now: Any, free: Any, psi: Any, which: Any) -> int:
    """The points that may push, in order, into `which`: inside, about to be, or still holding energy. How many."""
    found = np.flatnonzero((height > now) | (height > free) | (psi > 0.0))
    which[: found.size] = found
    return found.size


def _slots(v: _Vectors, count: int) -> list[Any]:
    slots = [cgutils.alloca_once(v.builder, v.type) for _ in range(count)]
    for slot in slots:
        v.builder.store(v.zero, slot)
    return slots


def _store_totals(v: _Vectors, rows: list[Any], base: Any, offset: Any) -> None:
    """The sum of each row of vectors, one beside the other from base[offset] on, and zeros behind them.

    As vectors, where there are more than two: who loads them as such would wait for sums stored one by one.
    """
    b, found, size = v.builder, v.folded(rows), min(v.lanes, TOGETHER)
    for first in range(0, len(rows), size):
        here = found[first : first + size]
        sources, place = list(dict.fromkeys(x for x, _ in here)), b.gep(base, [b.add(offset, INT(first))])
        if len(sources) > 2 or sources[0].type != v.type:
            for j, (x, lane) in enumerate(here):
                b.store(b.extract_element(x, ir.Constant(ir.IntType(32), lane)), b.gep(place, [INT(j)]))
            continue
        wide = ir.VectorType(ir.IntType(32), size)
        picks = [sources.index(x) * v.lanes + lane for x, lane in here] + [0] * (size - len(here))
        total = b.shuffle_vector(sources[0], sources[-1], ir.Constant(wide, picks))
        kept = [i if i < len(here) else size for i in range(size)]
        total = b.shuffle_vector(total, ir.Constant(total.type, [0.0] * size), ir.Constant(wide, kept))
        b.store(total, b.bitcast(place, total.type.as_pointer())).align = v.align


def _clear_behind(v: _Vectors, count: Any, out: Any) -> None:
    """Zeros behind the sums of both steps, up to a multiple of TOGETHER: in all of the last ones' place."""
    b, zeros = v.builder, ir.Constant(ir.VectorType(v.element, TOGETHER), [0.0] * TOGETHER)
    with b.if_then(b.icmp_unsigned("!=", b.and_(count, INT(TOGETHER - 1)), INT(0))):
        _, width = cgutils.unpack_tuple(b, out.shape)
        for half in range(2):
            at = b.add(b.mul(INT(half), width), b.and_(count, INT(-TOGETHER)))
            place = b.bitcast(b.gep(out.data, [at]), zeros.type.as_pointer())
            b.store(zeros, place).align = v.align


def _stepping(
    v: _Vectors, f: Any, g: Any, w: Any, now: Any, before: Any, pushes: tuple[Any, Any]
) -> Callable[..., Any]:
    """step(i, driven): a vector of modes two steps on, in memory and as values."""
    b = v.builder

    def step(i: Any, driven: bool) -> tuple[Any, Any]:
        forward, backward, y, old = (v.load(x.data, i) for x in (f, g, now, before))
        u1 = b.fsub(b.fmul(forward, y), b.fmul(backward, old))
        drive = v.load(w.data, i) if driven else None
        u1 = v.plus(u1, pushes[0], drive) if driven else u1
        u2 = b.fsub(b.fmul(forward, u1), b.fmul(backward, y))
        u2 = v.plus(u2, pushes[1], drive) if driven else u2
        v.store(u1, before.data, i)
        v.store(u2, now.data, i)
        return u1, u2

    return step


def _summing(v: _Vectors, rows: Any, out: Any) -> Callable[..., None]:
    """group(rows here, the first of them, steps): both steps of some rows, of what `steps` gives for every vector.

    Registers narrower than the widest take their part of the modes each in a loop of its own, so that a row's sum is
    one register in all of them.
    """
    b = v.builder
    _, size = cgutils.unpack_tuple(b, rows.shape)
    _, width = cgutils.unpack_tuple(b, out.shape)
    parts = WIDEST // v.align // v.lanes

    def group(rows_here: int, first: Any, steps: Callable[[Any], tuple[Any, Any]]) -> None:
        bases = [b.gep(rows.data, [b.mul(b.add(first, INT(j)), size)]) for j in range(rows_here)]
        held = [[_slots(v, parts) for _ in bases] for _ in range(2)]
        for part in range(parts):
            with v.loop(size, parts * v.lanes) as i:
                at = b.add(i, INT(part * v.lanes))
                both = steps(at)
                for j, base in enumerate(bases):
                    row = v.load(base, at)
                    for sums, u in zip(held, both, strict=True):
                        b.store(v.plus(b.load(sums[j][part]), row, u), sums[j][part])
        for k, sums in enumerate(held):
            if rows_here:
                totals = [[b.load(part) for part in row] for row in sums]
                _store_totals(v, totals, out.data, b.add(b.mul(INT(k), width), first))

    return group


@contextmanager
def _then_the_others(v: _Vectors, rows: Any, now: Any, before: Any, out: Any) -> Iterator[Callable[..., None]]:
    """lead(steps): both sums of as many rows as there is room for while modes take both steps, or of none; then those
    of the others."""
    b, group = v.builder, _summing(v, rows, out)
    count, _ = cgutils.unpack_tuple(b, rows.shape)
    most = min(TOGETHER, (v.registers - 8) // 2)  # rows, two sums each, beside what a step takes
    start = cgutils.alloca_once_value(b, INT(0))
    _clear_behind(v, count, out)

    def lead(steps: Callable[[Any], tuple[Any, Any]], none: bool = False) -> None:
        if none:
            group(0, INT(0), steps)
            return
        switch = b.switch(count, many := b.append_basic_block("many"))
        led = b.append_basic_block("led")
        for here in range(most + 1):
            block = many if here == most else b.append_basic_block(f"lead{here}")
            if here < most:
                switch.add_case(INT(here), block)
            b.position_at_end(block)
            group(here, INT(0), steps)
            b.store(INT(here), start)
            b.branch(led)
        b.position_at_end(led)

    yield lead
    done = b.load(start)
    both = lambda at: (v.load(before.data, at), v.load(now.data, at))  # noqa: E731
    v.in_groups(b.sub(count, done), most, lambda here, first: group(here, b.add(done, first), both))


@intrinsic
def _advance_twice(
    typing: Any,
    forward: Any,
    backward: Any,
    inject: Any,
    rows: Any,
    now: Any,
    before: Any,
    one: Any,
    two: Any,
    out: Any,
) -> Any:
    def generate(v: _Vectors, _: Any, f: Any, g: Any, w: Any, rows: Any, now: Any, before: Any, *more: Any) -> None:
        b, (force1, force2, out) = v.builder, more
        none = ir.Constant(v.element, 0.0)
        struck = b.or_(b.fcmp_unordered("!=", force1, none), b.fcmp_unordered("!=", force2, none))
        step = _stepping(v, f, g, w, now, before, (v.splat(force1), v.splat(force2)))
        with _then_the_others(v, rows, now, before, out) as lead, b.if_else(struck) as (driven, free):
            with driven:  # rarely: rows by themselves, after the steps
                lead(lambda at: step(at, True), none=True)
            with free:
                lead(lambda at: step(at, False))

    return types.void(forward, backward, inject, rows, now, before, one, two, out), _vector_code(generate)


@intrinsic
def _push_twice(
    typing: Any,
    forward: Any,
    gain: Any,
    rows: Any,
    first: Any,
    second: Any,
    which: Any,
    count: Any,
    before: Any,
    now: Any,
) -> Any:
    def generate(v: _Vectors, _: Any, f: Any, gain: Any, rows: Any, *more: Any) -> None:
        b, (first, second, which, count, before, now) = v.builder, more
        _, size = cgutils.unpack_tuple(b, rows.shape)

        def group(rows_here: int, at: Any) -> None:
            places = [b.load(b.gep(which.data, [b.add(at, INT(j))])) for j in range(rows_here)]
            bases = [b.gep(rows.data, [b.mul(j, size)]) for j in places]
            weights = [[v.splat(b.load(b.gep(w.data, [j]))) for j in places] for w in (first, second)]
            with v.loop(size, v.lanes) as i:
                row = v.load(bases[0], i)
                one, two = b.fmul(weights[0][0], row), b.fmul(weights[1][0], row)
                for base, w1, w2 in zip(bases[1:], weights[0][1:], weights[1][1:], strict=True):
                    row = v.load(base, i)
                    one, two = v.plus(one, w1, row), v.plus(two, w2, row)
                scale = v.load(gain.data, i)
                moved = b.fmul(one, scale)
                v.store(b.fadd(v.load(before.data, i), moved), before.data, i)
                ahead = b.fadd(b.fmul(v.load(f.data, i), moved), b.fmul(two, scale))
                v.store(b.fadd(v.load(now.data, i), ahead), now.data, i)

        v.in_groups(count, TOGETHER, group)

    return types.void(forward, gain, rows, first, second, which, types.int64, before, now), _vector_code(generate)


@intrinsic
def _push(typing: Any, gain: Any, rows: Any, weights: Any, count: Any, y: Any) -> Any:
    def generate(v: _Vectors, _: Any, gain: Any, rows: Any, weights: Any, count: Any, y: Any) -> None:
        b = v.builder
        _, size = cgutils.unpack_tuple(b, rows.shape)

        def group(rows_here: int, at: Any) -> None:
            places = [b.add(at, INT(j)) for j in range(rows_here)]
            bases = [b.gep(rows.data, [b.mul(j, size)]) for j in places]
            each = [v.splat(b.load(b.gep(weights.data, [j]))) for j in places]
            with v.loop(size, v.lanes) as i:
                total = b.fmul(each[0], v.load(bases[0], i))
                for base, weight in zip(bases[1:], each[1:], strict=True):
                    total = v.plus(total, weight, v.load(base, i))
                v.store(v.plus(v.load(y.data, i), total, v.load(gain.data, i)), y.data, i)

        v.in_groups(count, TOGETHER, group)

    return types.void(gain, rows, weights, types.int64, y), _vector_code(generate)


def _sum_of_rows(
    v: _Vectors,
    table: Any,
    weights: Any,
    count: Any,
    out: Any,
    begin: Callable[[Any], Any],
    row_of: Callable[[Any], Any],
) -> None:
    """out[i] = begin(i) + the sum of weights[k] table[k, i], vector by vector."""
    b = v.builder
    _, size = cgutils.unpack_tuple(b, table.shape)
    with v.loop(size, v.lanes) as i:
        total = cgutils.alloca_once(b, v.type)
        b.store(begin(i), total)
        with v.loop(count, 1) as j:
            k = row_of(j)
            weight = v.splat(b.load(b.gep(weights.data, [k])))
            row = v.load(b.gep(table.data, [b.mul(k, size)]), i)
            b.store(v.plus(b.load(total), weight, row), total)
        v.store(b.load(total), out.data, i)


@intrinsic
def _combine(typing: Any, table: Any, weights: Any, count: Any, out: Any) -> Any:
    def generate(v: _Vectors, _: Any, table: Any, weights: Any, count: Any, out: Any) -> None:
        _sum_of_rows(v, table, weights, count, out, lambda i: v.zero, lambda j: j)

    return types.void(table, weights, types.int64, out), _vector_code(generate)


@intrinsic
def _accumulate(typing: Any, table: Any, weights: Any, which: Any, count: Any, out: Any) -> Any:
    def generate(v: _Vectors, _: Any, table: Any, weights: Any, which: Any, count: Any, out: Any) -> None:
        def entry(j: Any) -> Any:
            return v.builder.load(v.builder.gep(which.data, [j]))

        _sum_of_rows(v, table, weights, count, out, lambda i: v.load(out.data, i), entry)

    return types.void(table, weights, which, types.int64, out), _vector_code(generate)


@intrinsic
def _shift(typing: Any, newest: Any, now: Any, before: Any) -> Any:
    def generate(v: _Vectors, _: Any, newest: Any, now: Any, before: Any) -> None:
        (size,) = cgutils.unpack_tuple(v.builder, now.shape)
        with v.loop(size, v.lanes) as i:
            v.store(v.load(now.data, i), before.data, i)
            v.store(v.load(newest.data, i), now.data, i)

    return types.void(newest, now, before), _vector_code(generate)


@intrinsic
def _look_ahead(typing: Any, table: Any, weights: Any, points: Any, height: Any, now: Any, psi: Any, out: Any) -> Any:
    def code(context: Any, b: Any, signature: Any, values: Any) -> Any:
        table, weights, points, height, now, psi, out = _arrays(context, b, signature, values)
        v = _Vectors(context, b, psi.data.type.pointee)
        rank, size = cgutils.unpack_tuple(b, table.shape)
        straight = b.icmp_signed("==", rank, points)
        count = b.select(straight, INT(0), rank)
        _, width = cgutils.unpack_tuple(b, weights.shape)
        _, room = cgutils.unpack_tuple(b, out.shape)
        number, last = cgutils.alloca_once_value(b, INT(0)), cgutils.alloca_once_value(b, INT(0))
        with v.loop(room, v.lanes) as i:
            held = _slots(v, 2)
            with b.if_then(straight):
                own = v.lanes_below(b.sub(points, i))
                for half, total in enumerate(held):
                    b.store(b.select(own, v.load(weights.data, b.add(b.mul(INT(half), width), i)), v.zero), total)
            with v.loop(count, 1) as j:
                row = v.load(b.gep(table.data, [b.mul(j, size)]), i)
                for half, total in enumerate(held):
                    weight = v.splat(b.load(b.gep(weights.data, [b.add(b.mul(INT(half), width), j)])))
                    b.store(v.plus(b.load(total), weight, row), total)
            h = v.load(height.data, i)
            seen = b.or_(b.fcmp_ordered(">", h, v.load(now.data, i)), b.fcmp_ordered(">", v.load(psi.data, i), v.zero))
            for half, total in enumerate(held):
                free = b.load(total)
                v.store(free, out.data, b.add(b.mul(INT(half), room), i))
                seen = b.or_(seen, b.fcmp_ordered(">", h, free))
            mask = b.zext(b.bitcast(seen, ir.IntType(v.lanes)), INT)
            b.store(b.add(b.load(number), b.ctpop(mask)), number)
            highest = b.sub(b.add(i, INT(64)), b.ctlz(mask, ir.IntType(1)(0)))
            b.store(b.select(b.icmp_unsigned("!=", mask, INT(0)), highest, b.load(last)), last)
        several = b.icmp_signed(">", b.load(number), INT(1))
        return b.select(several, INT(SEVERAL), b.load(last))

    return types.int64(table, weights, types.int64, height, now, psi, out), code


@intrinsic
def _near(typing: Any, height: Any, now: Any, free: Any, which: Any, psi: Any) -> Any:
    def code(context: Any, b: Any, signature: Any, values: Any) -> Any:
        height, now, free, which, psi = _arrays(context, b, signature, values)
        v = _Vectors(context, b, psi.data.type.pointee)
        (count,) = cgutils.unpack_tuple(b, height.shape)
        number, left = cgutils.alloca_once_value(b, INT(0)), cgutils.alloca_once(b, INT)
        with v.loop(count, v.lanes) as i:
            h = v.load(height.data, i)
            inside = b.fcmp_ordered(">", h, v.load(now.data, i))
            entering = b.fcmp_ordered(">", h, v.load(free.data, i))
            holding = b.fcmp_ordered(">", v.load(psi.data, i), v.zero)
            mask = b.bitcast(b.or_(b.or_(inside, entering), holding), ir.IntType(v.lanes))
            b.store(b.zext(mask, INT), left)
            test, body, end = (b.append_basic_block(name) for name in ("test", "body", "end"))
            b.branch(test)
            b.position_at_end(test)
            b.cbranch(b.icmp_unsigned("!=", b.load(left), INT(0)), body, end)
            b.position_at_end(body)
            mask, at = b.load(left), b.load(number)
            b.store(b.add(i, b.cttz(mask, ir.IntType(1)(1))), b.gep(which.data, [at]))
            b.store(b.add(at, INT(1)), number)
            b.store(b.and_(mask, b.sub(mask, INT(1))), left)
            b.branch(test)
            b.position_at_end(end)
        return b.load(number)

    return types.int64(height, now, free, which, psi), code


@overload(advance_twice, **INTO_CALLER)
def _compiled_advance_twice(
    forward: Any, backward: Any, inject: Any, rows: Any, now: Any, before: Any, first: Any, second: Any, out: Any
) -> Any:
    return lambda forward, backward, inject, rows, now, before, first, second, out: _advance_twice(
        forward, backward, inject, rows, now, before, first, second, out
    )


@overload(push_twice, **INTO_CALLER)
def _compiled_push_twice(
    forward: Any, gain: Any, rows: Any, first: Any, second: Any, which: Any, count: Any, before: Any, now: Any
) -> Any:
    return lambda forward, gain, rows, first, second, which, count, before, now: _push_twice(
        forward, gain, rows, first, second, which, count, before, now
    )


@overload(push, **INTO_CALLER)
def _compiled_push(gain: Any, rows: Any, weights: Any, count: Any, y: Any) -> Any:
    return lambda gain, rows, weights, count, y: _push(gain, rows, weights, count, y)


@overload(combine, **INTO_CALLER)
def _compiled_combine(table: Any, weights: Any, count: Any, out: Any) -> Any:
    return lambda table, weights, count, out: _combine(table, weights, count, out)


@overload(accumulate, **INTO_CALLER)
def _compiled_accumulate(table: Any, weights: Any, which: Any, count: Any, out: Any) -> Any:
    return lambda table, weights, which, count, out: _accumulate(table, weights, which, count, out)


@overload(shift, **INTO_CALLER)
def _compiled_shift(newest: Any, now: Any, before: Any) -> Any:
    return lambda newest, now, before: _shift(newest, now, before)


@overload(look_ahead, **INTO_CALLER)
def _compiled_look_ahead(table: Any, weights: Any, points: Any, height: Any, now: Any, psi: Any, out: Any) -> Any:
    return lambda table, weights, points, height, now, psi, out: _look_ahead(
        table, weights, points, height, now, psi, out
    )


@overload(near, **INTO_CALLER)
def _compiled_near(height: Any, now: Any, free: Any, psi: Any, which: Any) -> Any:
    return lambda height, now, free, psi, which: _near(height, now, free, which, psi)
