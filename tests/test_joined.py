"""Each compiled loop of joined.py against its plain twin: the same bits, whatever lies behind an array's last entry."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine import joined, pairs
from engine.aligned import zeros
from engine.compiled import called_by_python
from engine.vectors import PADDING


@called_by_python
def advance_on(c: Any, rows: Any, weights: Any, which: Any, count: Any, now: Any, before: Any, out: Any) -> None:
    joined.advance_on(c[0], c[1], c[2], rows, weights, which, count, now, before, out)


@called_by_python
def push_chosen(c: Any, rows: Any, weights: Any, which: Any, count: Any, now: Any, before: Any) -> None:
    joined.push_chosen(c[0], c[2], rows, weights, which, count, now, before)


@called_by_python
def blended(start: Any, table: Any, weights: Any, sign: Any, out: Any) -> None:
    joined.blended(start, table, weights, sign, out)


@called_by_python
def summed(start: Any, table: Any, weights: Any, which: Any, count: Any, out: Any) -> None:
    joined.summed(start, table, weights, which, count, out)


@called_by_python
def listed(one: Any, other: Any, count: Any, which: Any) -> Any:
    return joined.listed(one, other, count, which)


@called_by_python
def reached(level: Any, now: Any, ahead: Any, free: Any, psi: Any, state: Any, count: Any, which: Any) -> Any:
    return joined.reached(level, now, ahead, free, psi, state, count, which)


@called_by_python
def keep(source: Any, out: Any, other: Any) -> None:
    joined.kept(source, out)
    joined.cleared(other)


def in_arena(random: Any, *shapes: tuple[int, ...]) -> list[Any]:
    """Arrays as a network's are: what is left of the last cache line is theirs, and may hold anything."""
    found = []
    for shape in shapes:
        array = zeros(pairs.whole(int(np.prod(shape)), float))
        array[:] = random.standard_normal(array.size)
        found.append(array[: int(np.prod(shape))].reshape(shape))
    return found


@pytest.mark.parametrize("rows", range(1, 26))
def test_two_steps_with_what_pushed_before(rows: int) -> None:
    """As one pass; as two, which give the same bits; and the recursion itself."""
    random, size = np.random.default_rng(rows), PADDING * (1 + rows % 4)
    c, table, now, before = in_arena(random, (3, size), (rows, size), (size,), (size,))
    weights, out = in_arena(random, (2, pairs.whole(rows, float)), (2, pairs.whole(rows, float)))
    for count in {0, 1, rows // 2, rows}:
        which = np.sort(random.permutation(rows)[:count])
        y, old, sums = now.copy(), before.copy(), out.copy()
        joined.advance_on(*c, table, weights, which, count, y, old, sums)
        together = now.copy(), before.copy(), out.copy()
        advance_on(c, table, weights, which, count, *together)
        apart = now.copy(), before.copy(), out.copy()
        push_chosen(c, table, weights, which, count, *apart[:2])
        one, two = weights[:, which] @ table[which] * c[2]
        assert np.allclose(apart[0], now + c[0] * one + two)
        assert np.allclose(apart[1], before + one)
        advance_on(c, table, weights, which, 0, *apart)
        for a, b, twin in zip(together, apart, (y, old, sums), strict=True):
            assert (a == twin).all()
            assert (b == twin).all()
        first = c[0] * (now + c[0] * one + two) - c[1] * (before + one)
        assert np.allclose(old, first)
        assert np.allclose(sums[0, :rows], table @ first)
        assert np.allclose(sums[1, :rows], table @ y)


@pytest.mark.parametrize("count", [0, 1, 2, 7, 8, 9, 17])
def test_vectors_of_rows(count: int) -> None:
    random, wide = np.random.default_rng(count), pairs.whole(count + 1, float)
    start, table, weights, out = in_arena(random, (wide,), (5, wide), (5,), (count + 1,))
    which, wanted = np.array([3, 0, 4, 1]), out.copy()
    for sign in (1.0, -1.0):
        blended(start, table, weights, sign, out)
        joined.blended(start, table, weights, sign, wanted)
        assert (out == wanted).all()
        assert np.allclose(out, (start + sign * weights @ table)[: count + 1])
    for many in range(5):
        summed(start, table, weights, which, many, out)
        joined.summed(start, table, weights, which, many, wanted)
        assert (out == wanted).all()
        assert np.allclose(out, (start + weights[which[:many]] @ table[which[:many]])[: count + 1])
    keep(start[: count + 1], table[2], weights)
    assert (table[2, : count + 1] == start[: count + 1]).all()
    assert (weights == 0.0).all()


@pytest.mark.parametrize("count", [0, 1, 2, 7, 8, 9, 16, 17])
def test_what_pushes_and_what_may(count: int) -> None:
    """Nothing behind the last entry counts, whatever it is."""
    random = np.random.default_rng(count)
    for share in (0.0, 0.1, 0.5, 1.0):
        one, other, level, now, ahead, free, psi = in_arena(random, *[(count,)] * 7)
        one *= random.random(count) < share
        other *= random.random(count) < share
        psi *= random.random(count) < share
        state = np.full(pairs.whole(count, float), 1)[:count]
        state[:] = random.integers(0, 3, count)
        got, wanted = np.zeros((2, count), np.int64)
        many = joined.listed(one, other, count, wanted)
        assert listed(one, other, count, got) == many
        assert got[:many].tolist() == np.flatnonzero((one != 0.0) | (other != 0.0)).tolist()
        assert (got[:many] == wanted[:many]).all()
        level -= 3.0 * (1.0 - share)
        ahead -= 3.0 * (1.0 - share)
        many = joined.reached(level, now, ahead, free, psi, state, count, wanted)
        assert reached(level, now, ahead, free, psi, state, count, got) == many
        near = (state == 1) & ((level > now) | (ahead > free) | (psi > 0.0))
        assert got[:many].tolist() == np.flatnonzero(near).tolist() == wanted[:many].tolist()
