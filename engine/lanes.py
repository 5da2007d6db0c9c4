"""Leaf: vector code of strings that lie side by side, one in each lane: no sum runs across, one pass is two steps.

Arrays are [mode][lane], or [row][lane] in one vector. What pushed at the modes in the last two steps is applied when
they are loaded for the next two. As in vectors.py the plain twin gives the same bits, and products and sums round one
by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from engine.compiled import INTO_CALLER
from engine.vectors import INT, _arrays, _vector_code, _Vectors

LANES = 16
TOGETHER = 8  # lanes whose strings have no more modes than the longest of them
MOST_ROWS = 5


def advance_lanes(
    forward: Any,
    backward: Any,
    rows: Any,
    pend: Any,
    reach: Any,
    now: Any,
    before: Any,
    both: Any,
    first: Any,
) -> None:
    """Two steps of all modes, from `before` and `now` to those after them, in their places; both = rows @ both.

    First they have what pushed in the last two: before += d1, now += forward d1 + d2, with d = sum of pend[q] rows[q]
    from row `first` on; modes are scaled so that their gain is one. Each eight lanes have their first `reach` modes.
    """
    both[:] = 0.0
    sums = both.reshape(2, len(rows), LANES)
    for group, modes in enumerate(reach):
        lanes = slice(TOGETHER * group, TOGETHER * (group + 1))
        for i in range(modes):
            seen, y, old = rows[:, i, lanes], now[i, lanes], before[i, lanes]
            one, two = (pend[half, first, lanes] * seen[first] for half in (0, 1))
            for q in range(first + 1, len(rows)):
                one, two = seen[q] * pend[0, q, lanes] + one, seen[q] * pend[1, q, lanes] + two
            old = old + one
            y = y + (forward[i, lanes] * one + two)
            before[i, lanes] = forward[i, lanes] * y - backward[i, lanes] * old
            now[i, lanes] = forward[i, lanes] * before[i, lanes] - backward[i, lanes] * y
            for half, u in enumerate((before, now)):
                for q in range(len(rows)):
                    sums[half, q, lanes] = seen[q] * u[i, lanes] + sums[half, q, lanes]


def answer_lanes(start: Any, table: Any, pend: Any, first: Any, out: Any) -> None:
    """out = start + what rows answer to pushes: of the last row, then of those from `first` on; out[row, lane] flat."""
    last = len(pend) - 1
    total = start + (table[last] * pend[last]).ravel()
    for q in range(first, last):
        total = (table[q] * pend[q]).ravel() + total
    out[:] = total


def bent(newest: Any, now: Any, before: Any, scale: Any, out: Any) -> None:
    """out = scale * the second difference in time; of as many entries as `out` has."""
    size = out.size
    out[:] = ((newest[:size] - 2.0 * now[:size]) + before[:size]) * scale


def reached_lanes(level: Any, now: Any, free: Any, psi: Any) -> int:
    """A bit for each point, up to 64 of them, that may push: inside, about to be, or still holding energy."""
    size = level.size
    near = (level > now[:size]) | (level > free[:size]) | (psi > 0.0)
    return int(sum(1 << int(k) for k in np.flatnonzero(near)))


@intrinsic
def _advance_lanes(
    typing: Any,
    forward: Any,
    backward: Any,
    rows: Any,
    pend: Any,
    reach: Any,
    now: Any,
    before: Any,
    both: Any,
    first: Any,
) -> Any:
    def generate(v: _Vectors, _: Any, *arrays: Any) -> None:
        b, given = v.builder, arrays[-1]
        count, _modes, _lanes = cgutils.unpack_tuple(b, arrays[2].shape)
        for size in range(1, MOST_ROWS + 1):
            with b.if_then(b.icmp_signed("==", count, INT(size))):
                whole = b.icmp_signed("==", given, INT(0))
                with b.if_else(whole) as (all_of_them, last_only):
                    with all_of_them:
                        _pass(v, arrays, size, 0)
                    with last_only:
                        _pass(v, arrays, size, size - 1)

    signature = types.void(forward, backward, rows, pend, reach, now, before, both, types.int64)
    return signature, _vector_code(generate)


def _pass(v: _Vectors, arrays: Any, count: int, first: int) -> None:
    """All modes of as many lanes as a register holds, then the next ones."""
    forward, backward, rows, pend, reach, now, before, both = (array.data for array in arrays[:8])
    b = v.builder
    _, modes, _ = cgutils.unpack_tuple(b, arrays[2].shape)
    bases = [b.gep(rows, [b.mul(INT(q * LANES), modes)]) for q in range(count)]
    for lane in range(0, LANES, v.lanes):
        places = [[INT((half * count + q) * LANES + lane) for q in range(count)] for half in range(2)]
        weights = [[v.load(pend, place) for place in half] for half in places]
        sums = [[cgutils.alloca_once(b, v.type) for _ in half] for half in places]
        for total in (*sums[0], *sums[1]):
            b.store(v.zero, total)
        own = b.load(b.gep(reach, [INT(lane // TOGETHER)]))
        with v.loop(b.mul(own, INT(LANES)), LANES) as i:
            at = b.add(i, INT(lane))
            seen = [v.load(base, at) for base in bases]
            one, two = (b.fmul(half[first], seen[first]) for half in weights)
            for q in range(first + 1, count):
                one, two = (v.plus(x, seen[q], half[q]) for x, half in zip((one, two), weights, strict=True))
            f, g = v.load(forward, at), v.load(backward, at)
            old = b.fadd(v.load(before, at), one)
            y = b.fadd(v.load(now, at), b.fadd(b.fmul(f, one), two))
            u1 = b.fsub(b.fmul(f, y), b.fmul(g, old))
            u2 = b.fsub(b.fmul(f, u1), b.fmul(g, y))
            v.store(u1, before, at)
            v.store(u2, now, at)
            for u, half in zip((u1, u2), sums, strict=True):
                for total, row in zip(half, seen, strict=True):
                    b.store(v.plus(b.load(total), row, u), total)
        for half, totals in zip(places, sums, strict=True):
            for place, total in zip(half, totals, strict=True):
                v.store(b.load(total), both, place)


@intrinsic
def _answer_lanes(typing: Any, start: Any, table: Any, pend: Any, first: Any, out: Any) -> Any:
    def generate(v: _Vectors, _: Any, start: Any, table: Any, pend: Any, first: Any, out: Any) -> None:
        b = v.builder
        count, width = cgutils.unpack_tuple(b, pend.shape)
        size, last = b.mul(count, width), b.sub(count, INT(1))

        def add(to: Any, q: Any) -> None:
            pushes, row = b.gep(pend.data, [b.mul(q, width)]), b.gep(table.data, [b.mul(q, size)])
            lanes = range(0, LANES, v.lanes)
            each = [v.load(pushes, INT(lane)) for lane in lanes]
            with v.loop(size, LANES) as i:
                for lane, push in zip(lanes, each, strict=True):
                    at = b.add(i, INT(lane))
                    v.store(v.plus(v.load(to, at), v.load(row, at), push), out.data, at)

        add(start.data, last)
        with cgutils.for_range_slice(b, first, last, INT(1)) as (q, _unused):
            add(out.data, q)

    return types.void(start, table, pend, types.int64, out), _vector_code(generate)


@intrinsic
def _bent(typing: Any, newest: Any, now: Any, before: Any, scale: Any, out: Any) -> Any:
    def generate(v: _Vectors, _: Any, newest: Any, now: Any, before: Any, scale: Any, out: Any) -> None:
        b = v.builder
        (size,) = cgutils.unpack_tuple(b, out.shape)
        two, by = ir.Constant(v.type, [2.0] * v.lanes), v.splat(scale)
        with v.loop(size, v.lanes) as i:
            moved = b.fsub(v.load(newest.data, i), b.fmul(two, v.load(now.data, i)))
            v.store(b.fmul(b.fadd(moved, v.load(before.data, i)), by), out.data, i)

    return types.void(newest, now, before, types.float64, out), _vector_code(generate)


@intrinsic
def _reached_lanes(typing: Any, level: Any, now: Any, free: Any, psi: Any) -> Any:
    def code(context: Any, b: Any, signature: Any, values: Any) -> Any:
        level, now, free, psi = _arrays(context, b, signature, values)
        v = _Vectors(context, b, level.data.type.pointee)
        (size,) = cgutils.unpack_tuple(b, level.shape)
        found = cgutils.alloca_once(b, INT)
        b.store(INT(0), found)
        with v.loop(size, v.lanes) as i:
            h = v.load(level.data, i)
            near = b.fcmp_ordered(">", h, v.load(now.data, i))
            near = b.or_(near, b.fcmp_ordered(">", h, v.load(free.data, i)))
            near = b.or_(near, b.fcmp_ordered(">", v.load(psi.data, i), v.zero))
            bits = b.zext(b.bitcast(near, ir.IntType(v.lanes)), INT)
            b.store(b.or_(b.load(found), b.shl(bits, i)), found)
        return b.load(found)

    return types.int64(level, now, free, psi), code


@overload(advance_lanes, **INTO_CALLER)
def _compiled_advance_lanes(
    forward: Any,
    backward: Any,
    rows: Any,
    pend: Any,
    reach: Any,
    now: Any,
    before: Any,
    both: Any,
    first: Any,
) -> Any:
    return lambda forward, backward, rows, pend, reach, now, before, both, first: _advance_lanes(
        forward, backward, rows, pend, reach, now, before, both, first
    )


@overload(answer_lanes, **INTO_CALLER)
def _compiled_answer_lanes(start: Any, table: Any, pend: Any, first: Any, out: Any) -> Any:
    return lambda start, table, pend, first, out: _answer_lanes(start, table, pend, first, out)


@overload(bent, **INTO_CALLER)
def _compiled_bent(newest: Any, now: Any, before: Any, scale: Any, out: Any) -> Any:
    return lambda newest, now, before, scale, out: _bent(newest, now, before, scale, out)


@overload(reached_lanes, **INTO_CALLER)
def _compiled_reached_lanes(level: Any, now: Any, free: Any, psi: Any) -> Any:
    return lambda level, now, free, psi: _reached_lanes(level, now, free, psi)
