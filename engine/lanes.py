"""Leaf: vector code of strings that lie side by side, one in each lane: no sum runs across, and one pass is a step.

Arrays are [mode][lane]. What pushed at the modes in the last step is applied when they are loaded for the next. As in
vectors.py the plain twin gives the same bits, and products and sums round one by one.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from engine.compiled import INTO_CALLER
from engine.vectors import INT, _vector_code, _Vectors

LANES = 16
MOST_ROWS = 5


def advance_lanes(
    forward: Any, backward: Any, gain: Any, rows: Any, pend: Any, now: Any, after: Any, free: Any, first: Any
) -> None:
    """now += gain * sum of pend[q] rows[q] from `first` on; after = forward now - backward after; free = rows.after."""
    total = pend[first] * rows[first]
    for q in range(first + 1, len(rows)):
        total = rows[q] * pend[q] + total
    now += gain * total
    after[:] = forward * now - backward * after
    free[:] = 0.0
    for i in range(now.shape[0]):
        for q in range(len(rows)):
            free[q] = rows[q, i] * after[i] + free[q]


@intrinsic
def _advance_lanes(
    typing: Any,
    forward: Any,
    backward: Any,
    gain: Any,
    rows: Any,
    pend: Any,
    now: Any,
    after: Any,
    free: Any,
    first: Any,
) -> Any:
    def generate(v: _Vectors, _: Any, *arrays: Any) -> None:
        b, given = v.builder, arrays[-1]
        count, modes, _lanes = cgutils.unpack_tuple(b, arrays[3].shape)
        for size in range(1, MOST_ROWS + 1):
            with b.if_then(b.icmp_signed("==", count, INT(size))):
                whole = b.icmp_signed("==", given, INT(0))
                with b.if_else(whole) as (all_of_them, last_only):
                    with all_of_them:
                        _pass(v, arrays, modes, size, 0)
                    with last_only:
                        _pass(v, arrays, modes, size, size - 1)

    signature = types.void(forward, backward, gain, rows, pend, now, after, free, types.int64)
    return signature, _vector_code(generate)


def _pass(v: _Vectors, arrays: Any, modes: Any, count: int, first: int) -> None:
    """All modes of as many lanes as a register holds, then the next ones."""
    forward, backward, gain, rows, pend, now, after, free = (array.data for array in arrays[:8])
    b = v.builder
    size = b.mul(modes, INT(LANES))
    bases = [b.gep(rows, [b.mul(INT(q), size)]) for q in range(count)]
    for lane in range(0, LANES, v.lanes):
        weights = [v.load(pend, INT(q * LANES + lane)) for q in range(count)]
        sums = [cgutils.alloca_once(b, v.type) for _ in range(count)]
        for total in sums:
            b.store(v.zero, total)
        with v.loop(size, LANES) as i:
            at = b.add(i, INT(lane))
            seen = [v.load(base, at) for base in bases]
            pushed = b.fmul(weights[first], seen[first])
            for q in range(first + 1, count):
                pushed = v.plus(pushed, seen[q], weights[q])
            here = v.plus(v.load(now, at), v.load(gain, at), pushed)
            v.store(here, now, at)
            moved = b.fmul(v.load(forward, at), here)
            new = b.fsub(moved, b.fmul(v.load(backward, at), v.load(after, at)))
            v.store(new, after, at)
            for total, row in zip(sums, seen):
                b.store(v.plus(b.load(total), row, new), total)
        for q, total in enumerate(sums):
            v.store(b.load(total), free, INT(q * LANES + lane))


@overload(advance_lanes, **INTO_CALLER)
def _compiled_advance_lanes(
    forward: Any, backward: Any, gain: Any, rows: Any, pend: Any, now: Any, after: Any, free: Any, first: Any
) -> Any:
    return lambda forward, backward, gain, rows, pend, now, after, free, first: _advance_lanes(
        forward, backward, gain, rows, pend, now, after, free, first
    )
