"""Leaf: the vector code of one contact point of a modal string by itself, which most that touch are.

As in pairs.py each function has a plain twin that gives the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from engine.compiled import INTO_CALLER
from engine.vectors import INT, _arrays, _Vectors


def give_way(row: Any, ahead: Any, force: Any, height: Any, alone: Any, here: Any, later: Any) -> bool:
    """here += force row and later += force ahead; whether any place but `alone` is lower than its height then, in
    either."""
    here[:] = force * row + here
    later[:] = force * ahead + later
    near = np.flatnonzero((height > here) | (height > later))
    return bool((near != alone).any())


@intrinsic
def _give_way(typing: Any, row: Any, ahead: Any, force: Any, height: Any, alone: Any, here: Any, later: Any) -> Any:
    def code(context: Any, b: Any, signature: Any, values: Any) -> Any:
        row, ahead, force, height, alone, here, later = _arrays(context, b, signature, values)
        v = _Vectors(context, b, later.data.type.pointee)
        (count,) = cgutils.unpack_tuple(b, later.shape)
        weight, found = v.splat(force), cgutils.alloca_once_value(b, INT(0))
        with v.loop(count, v.lanes) as i:
            h, near = v.load(height.data, i), []
            for table, place in ((row, here), (ahead, later)):
                moved = v.plus(v.load(place.data, i), weight, v.load(table.data, i))
                v.store(moved, place.data, i)
                near.append(b.fcmp_ordered(">", h, moved))
            others = b.and_(b.or_(*near), b.not_(v.lanes_equal(b.sub(alone, i))))
            mask = b.zext(b.bitcast(others, ir.IntType(v.lanes)), INT)
            b.store(b.or_(b.load(found), mask), found)
        return b.icmp_unsigned("!=", b.load(found), INT(0))

    return types.boolean(row, ahead, force, height, types.int64, here, later), code


@overload(give_way, **INTO_CALLER)
def _compiled_give_way(row: Any, ahead: Any, force: Any, height: Any, alone: Any, here: Any, later: Any) -> Any:
    return lambda row, ahead, force, height, alone, here, later: _give_way(
        row, ahead, force, height, alone, here, later
    )
