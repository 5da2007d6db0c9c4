"""Leaf: the vector code of strings that are joined at a bridge.

A pass over a string's modes takes two steps, as in pairs.py, but first lets them have what pushed in the two before:
they are loaded and stored once for each pair. Between passes a string is its rows and points, a few vectors of them.
What lies behind an array's last entry, up to the next cache line, is its own (layout.Arena), so that only whole vectors
are read and written. Each function has a plain twin that gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from engine.compiled import INTO_CALLER
from engine.pairs import _slots, _sum_of_rows, _then_the_others, advance_twice
from engine.vectors import INT, _arrays, _vector_code, _Vectors


def push_chosen(
    forward: Any, gain: Any, rows: Any, weights: Any, which: Any, count: Any, now: Any, before: Any
) -> None:
    """What forces do to the modes: before += d1, now += forward d1 + d2, with d = gain * sum of weight[k] rows[k].

    Of the first `count` rows k of `which`; weights[0] are those of the first step of a pair, weights[1] of the second.
    """
    if count:
        one, two = (weights[half, which[0]] * rows[which[0]] for half in (0, 1))
        for k in which[1:count]:
            one, two = weights[0, k] * rows[k] + one, weights[1, k] * rows[k] + two
        moved = one * gain
        before += moved
        now += forward * moved + two * gain


def advance_on(
    forward: Any,
    backward: Any,
    gain: Any,
    rows: Any,
    weights: Any,
    which: Any,
    count: Any,
    now: Any,
    before: Any,
    out: Any,
) -> None:
    """push_chosen of what pushed in the pair before, then both steps of the next one; out = rows @ both."""
    push_chosen(forward, gain, rows, weights, which, count, now, before)
    advance_twice(forward, backward, gain, rows, now, before, 0.0, 0.0, out)


def blended(start: Any, table: Any, weights: Any, sign: Any, out: Any) -> None:
    """out = start + sign * sum of weights[d] table[d], one row after the other, of one at least; sign is 1 or -1."""
    total = start[: out.size].copy()
    for row, weight in zip(table, weights, strict=True):
        total = (sign * weight) * row[: out.size] + total
    out[:] = total


def summed(start: Any, table: Any, weights: Any, which: Any, count: Any, out: Any) -> None:
    """out = start + the sum of weights[k] table[k] over the first `count` entries k of `which`."""
    total = start[: out.size].copy()
    for k in which[:count]:
        total = weights[k] * table[k, : out.size] + total
    out[:] = total


def listed(one: Any, other: Any, count: Any, which: Any) -> int:
    """The first `count` entries that are not zero in either, in order, into `which`. How many."""
    found = np.flatnonzero((one[:count] != 0.0) | (other[:count] != 0.0))
    which[: found.size] = found
    return found.size


def reached(level: Any, now: Any, ahead: Any, free: Any, psi: Any, state: Any, count: Any, which: Any) -> int:
    """Of the first `count` points those that are there (state 1) and may push, in order, into `which`. How many."""
    near = ((level > now) | (ahead > free) | (psi > 0.0)) & (state == 1)
    found = np.flatnonzero(near[:count])
    which[: found.size] = found
    return found.size


def kept(source: Any, out: Any) -> None:
    """out = source, of as many entries as the shorter one has."""
    size = min(source.size, out.size)
    out[:size] = source[:size]


def cleared(out: Any) -> None:
    """out = 0."""
    out[:] = 0.0


def _owed(
    v: _Vectors, f: Any, gain: Any, rows: Any, weights: Any, which: Any, count: Any, now: Any, before: Any
) -> Callable[[Any], tuple[Any, ...]]:
    """owed(i): of a vector of modes what advances it, and both steps with what pushed in them."""
    b = v.builder
    _, size = cgutils.unpack_tuple(b, rows.shape)
    _, width = cgutils.unpack_tuple(b, weights.shape)
    late = b.gep(weights.data, [width])
    sums = _slots(v, 2)

    def owed(i: Any) -> tuple[Any, ...]:
        for total in sums:
            b.store(v.zero, total)
        with v.loop(count, 1) as j:
            k = b.load(b.gep(which.data, [j]))
            row = v.load(b.gep(rows.data, [b.mul(k, size)]), i)
            for total, half in zip(sums, (weights.data, late), strict=True):
                b.store(v.plus(b.load(total), v.splat(b.load(b.gep(half, [k]))), row), total)
        one, two = (b.load(total) for total in sums)
        forward, scale = v.load(f.data, i), v.load(gain.data, i)
        moved = b.fmul(one, scale)
        ahead = b.fadd(b.fmul(forward, moved), b.fmul(two, scale))
        return forward, b.fadd(v.load(now.data, i), ahead), b.fadd(v.load(before.data, i), moved)

    return owed


@intrinsic
def _push_chosen(
    typing: Any, forward: Any, gain: Any, rows: Any, weights: Any, which: Any, count: Any, now: Any, before: Any
) -> Any:
    def generate(v: _Vectors, _: Any, *given: Any) -> None:
        b, (count, now, before) = v.builder, given[5:]
        owed = _owed(v, *given)
        (size,) = cgutils.unpack_tuple(b, now.shape)
        with b.if_then(b.icmp_signed(">", count, INT(0))), v.loop(size, v.lanes) as i:
            _, y, old = owed(i)
            v.store(y, now.data, i)
            v.store(old, before.data, i)

    return types.void(forward, gain, rows, weights, which, types.int64, now, before), _vector_code(generate)


@intrinsic
def _advance_on(
    typing: Any,
    forward: Any,
    backward: Any,
    gain: Any,
    rows: Any,
    weights: Any,
    which: Any,
    count: Any,
    now: Any,
    before: Any,
    out: Any,
) -> Any:
    def generate(v: _Vectors, _: Any, f: Any, backward: Any, *given: Any) -> None:
        b, (_gain, rows, *_more, now, before, out) = v.builder, given
        owed = _owed(v, f, *given[:-1])

        def step(i: Any) -> tuple[Any, Any]:
            forward, y, old = owed(i)
            kept = v.load(backward.data, i)
            u1 = b.fsub(b.fmul(forward, y), b.fmul(kept, old))
            u2 = b.fsub(b.fmul(forward, u1), b.fmul(kept, y))
            v.store(u1, before.data, i)
            v.store(u2, now.data, i)
            return u1, u2

        with _then_the_others(v, rows, now, before, out) as lead:
            lead(step)

    signature = (forward, backward, gain, rows, weights, which, types.int64, now, before, out)
    return types.void(*signature), _vector_code(generate)


@intrinsic
def _blended(typing: Any, start: Any, table: Any, weights: Any, sign: Any, out: Any) -> Any:
    def generate(v: _Vectors, _: Any, start: Any, table: Any, weights: Any, sign: Any, out: Any) -> None:
        b = v.builder
        count, width = cgutils.unpack_tuple(b, table.shape)
        (size,) = cgutils.unpack_tuple(b, out.shape)

        def add(to: Any, d: Any) -> None:
            weight, row = v.splat(b.fmul(sign, b.load(b.gep(weights.data, [d])))), b.gep(table.data, [b.mul(d, width)])
            with v.loop(size, v.lanes) as i:
                v.store(v.plus(v.load(to, i), weight, v.load(row, i)), out.data, i)

        add(start.data, INT(0))
        with cgutils.for_range_slice(b, INT(1), count, INT(1)) as (d, _unused):
            add(out.data, d)

    return types.void(start, table, weights, types.float64, out), _vector_code(generate)


@intrinsic
def _summed(typing: Any, start: Any, table: Any, weights: Any, which: Any, count: Any, out: Any) -> Any:
    def generate(v: _Vectors, _: Any, start: Any, table: Any, weights: Any, which: Any, count: Any, out: Any) -> None:
        def entry(j: Any) -> Any:
            return v.builder.load(v.builder.gep(which.data, [j]))

        _sum_of_rows(v, table, weights, count, out, lambda i: v.load(start.data, i), entry)

    return types.void(start, table, weights, which, types.int64, out), _vector_code(generate)


def _in_order(v: _Vectors, count: Any, which: Any, test: Callable[[Any], Any]) -> Any:
    """The entries below `count` of which `test` says so, vector by vector, into `which`; how many."""
    b = v.builder
    number, left = cgutils.alloca_once(b, INT), cgutils.alloca_once(b, INT)
    b.store(INT(0), number)
    with v.loop(count, v.lanes) as i:
        mask = b.and_(test(i), v.lanes_below(b.sub(count, i)))
        b.store(b.zext(b.bitcast(mask, ir.IntType(v.lanes)), INT), left)
        look, body, end = (b.append_basic_block(name) for name in ("look", "body", "end"))
        b.branch(look)
        b.position_at_end(look)
        b.cbranch(b.icmp_unsigned("!=", b.load(left), INT(0)), body, end)
        b.position_at_end(body)
        bits, at = b.load(left), b.load(number)
        b.store(b.add(i, b.cttz(bits, ir.IntType(1)(1))), b.gep(which.data, [at]))
        b.store(b.add(at, INT(1)), number)
        b.store(b.and_(bits, b.sub(bits, INT(1))), left)
        b.branch(look)
        b.position_at_end(end)
    return b.load(number)


@intrinsic
def _listed(typing: Any, one: Any, other: Any, count: Any, which: Any) -> Any:
    def code(context: Any, b: Any, signature: Any, values: Any) -> Any:
        one, other, count, which = _arrays(context, b, signature, values)
        v = _Vectors(context, b, one.data.type.pointee)

        def test(i: Any) -> Any:
            first, second = (b.fcmp_unordered("!=", v.load(x.data, i), v.zero) for x in (one, other))
            return b.or_(first, second)

        return _in_order(v, count, which, test)

    return types.int64(one, other, types.int64, which), code


@intrinsic
def _reached(
    typing: Any, level: Any, now: Any, ahead: Any, free: Any, psi: Any, state: Any, count: Any, which: Any
) -> Any:
    def code(context: Any, b: Any, signature: Any, values: Any) -> Any:
        level, now, ahead, free, psi, state, count, which = _arrays(context, b, signature, values)
        v = _Vectors(context, b, level.data.type.pointee)
        whole = ir.VectorType(INT, v.lanes)

        def test(i: Any) -> Any:
            inside = b.fcmp_ordered(">", v.load(level.data, i), v.load(now.data, i))
            entering = b.fcmp_ordered(">", v.load(ahead.data, i), v.load(free.data, i))
            holding = b.fcmp_ordered(">", v.load(psi.data, i), v.zero)
            place = b.bitcast(b.gep(state.data, [i]), whole.as_pointer())
            there = b.load(place)
            there.align = 8
            there = b.icmp_signed("==", there, ir.Constant(whole, [1] * v.lanes))
            return b.and_(b.or_(b.or_(inside, entering), holding), there)

        return _in_order(v, count, which, test)

    return types.int64(level, now, ahead, free, psi, state, types.int64, which), code


@intrinsic
def _kept(typing: Any, source: Any, out: Any) -> Any:
    def generate(v: _Vectors, _: Any, source: Any, out: Any) -> None:
        b = v.builder
        (here,), (there,) = (cgutils.unpack_tuple(b, x.shape) for x in (source, out))
        with v.loop(b.select(b.icmp_signed("<", here, there), here, there), v.lanes) as i:
            v.store(v.load(source.data, i), out.data, i)

    return types.void(source, out), _vector_code(generate)


@intrinsic
def _cleared(typing: Any, out: Any) -> Any:
    def generate(v: _Vectors, _: Any, out: Any) -> None:
        size = reduce(v.builder.mul, cgutils.unpack_tuple(v.builder, out.shape))
        with v.loop(size, v.lanes) as i:
            v.store(v.zero, out.data, i)

    return types.void(out), _vector_code(generate)


@overload(push_chosen, **INTO_CALLER)
def _compiled_push_chosen(
    forward: Any, gain: Any, rows: Any, weights: Any, which: Any, count: Any, now: Any, before: Any
) -> Any:
    return lambda forward, gain, rows, weights, which, count, now, before: _push_chosen(
        forward, gain, rows, weights, which, count, now, before
    )


@overload(advance_on, **INTO_CALLER)
def _compiled_advance_on(
    forward: Any,
    backward: Any,
    gain: Any,
    rows: Any,
    weights: Any,
    which: Any,
    count: Any,
    now: Any,
    before: Any,
    out: Any,
) -> Any:
    return lambda forward, backward, gain, rows, weights, which, count, now, before, out: _advance_on(
        forward, backward, gain, rows, weights, which, count, now, before, out
    )


@overload(blended, **INTO_CALLER)
def _compiled_blended(start: Any, table: Any, weights: Any, sign: Any, out: Any) -> Any:
    return lambda start, table, weights, sign, out: _blended(start, table, weights, sign, out)


@overload(summed, **INTO_CALLER)
def _compiled_summed(start: Any, table: Any, weights: Any, which: Any, count: Any, out: Any) -> Any:
    return lambda start, table, weights, which, count, out: _summed(start, table, weights, which, count, out)


@overload(listed, **INTO_CALLER)
def _compiled_listed(one: Any, other: Any, count: Any, which: Any) -> Any:
    return lambda one, other, count, which: _listed(one, other, count, which)


@overload(reached, **INTO_CALLER)
def _compiled_reached(level: Any, now: Any, ahead: Any, free: Any, psi: Any, state: Any, count: Any, which: Any) -> Any:
    return lambda level, now, ahead, free, psi, state, count, which: _reached(
        level, now, ahead, free, psi, state, count, which
    )


@overload(kept, **INTO_CALLER)
def _compiled_kept(source: Any, out: Any) -> Any:
    return lambda source, out: _kept(source, out)


@overload(cleared, **INTO_CALLER)
def _compiled_cleared(out: Any) -> Any:
    return lambda out: _cleared(out)
