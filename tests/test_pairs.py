"""Each compiled loop of pairs.py against its plain twin: every remainder, both precisions, the same bits.

The twins are plain numpy, which knows no width of vectors, so no CPU's width can matter.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine import pairs
from engine.compiled import called_by_python
from engine.vectors import PADDING

both = pytest.mark.parametrize("dtype", [np.float64, np.float32])


@called_by_python
def advance_twice(c: Any, rows: Any, now: Any, before: Any, first: Any, second: Any, out: Any) -> None:
    pairs.advance_twice(c[0], c[1], c[2], rows, now, before, first, second, out)


@called_by_python
def push_twice(c: Any, rows: Any, weights: Any, which: Any, count: Any, before: Any, now: Any) -> None:
    pairs.push_twice(c[0], c[1], rows, weights[0], weights[1], which, count, before, now)


@called_by_python
def push(gain: Any, rows: Any, weights: Any, count: Any, y: Any) -> None:
    pairs.push(gain, rows, weights, count, y)


@called_by_python
def combine(table: Any, weights: Any, count: Any, out: Any) -> None:
    pairs.combine(table, weights, count, out)


@called_by_python
def accumulate(table: Any, weights: Any, which: Any, count: Any, out: Any) -> None:
    pairs.accumulate(table, weights, which, count, out)


@called_by_python
def shift(newest: Any, now: Any, before: Any) -> None:
    pairs.shift(newest, now, before)


@called_by_python
def near(height: Any, now: Any, free: Any, psi: Any, which: Any) -> Any:
    return pairs.near(height, now, free, psi, which)


@called_by_python
def look_ahead(table: Any, weights: Any, points: Any, height: Any, now: Any, psi: Any, out: Any) -> Any:
    return pairs.look_ahead(table, weights, points, height, now, psi, out)


def numbers(seed: int, dtype: Any, *shapes: tuple[int, ...]) -> list[Any]:
    random = np.random.default_rng(seed)
    return [random.standard_normal(shape).astype(dtype) for shape in shapes]


def same(got: list[Any], wanted: list[Any]) -> bool:
    return all((a == b).all() for a, b in zip(got, wanted, strict=True))


@both
@pytest.mark.parametrize("driven", [0.0, 1.0])
@pytest.mark.parametrize("rows", range(26))
def test_advance_twice(rows: int, driven: float, dtype: Any) -> None:
    size, first, second = PADDING * (1 + rows % 4), dtype(0.7 * driven), dtype(-0.2 * driven)
    given = numbers(rows, dtype, (3, size), (rows, size), (size,), (size,), (2, pairs.whole(rows, dtype)))
    c, table, now, before, out = given
    wanted = [array.copy() for array in given[2:]]
    pairs.advance_twice(c[0], c[1], c[2], table, wanted[0], wanted[1], first, second, wanted[2])
    y, x = now.copy(), before.copy()
    advance_twice(c, table, now, before, first, second, out)
    assert same([now, before, out], wanted)
    one = c[0] * y - c[1] * x + c[2] * first
    assert np.allclose(before, one, atol=1e-5)
    assert np.allclose(now, c[0] * one - c[1] * y + c[2] * second, atol=1e-5)
    assert np.allclose(out[0, :rows], table @ before, atol=1e-3)
    assert np.allclose(out[1, :rows], table @ now, atol=1e-3)


@both
@pytest.mark.parametrize("count", range(1, 20))
def test_forces_of_two_steps(count: int, dtype: Any) -> None:
    """And of one, to the same bits as the first of two; of some rows, too."""
    size, which = PADDING * (1 + count % 4), np.arange(count)
    c, table, weights, before, now = numbers(count, dtype, (2, size), (count + 1, size), (2, count), (size,), (size,))
    wanted, alone, some = [before.copy(), now.copy()], before.copy(), [before.copy(), now.copy()]
    exact = weights @ table[:count] * c[1]
    pairs.push_twice(c[0], c[1], table, weights[0], weights[1], which, count, *wanted)
    assert np.allclose(wanted[0], before + exact[0], atol=1e-3)
    assert np.allclose(wanted[1], now + c[0] * exact[0] + exact[1], atol=1e-3)
    push(c[1], table, weights[0], count, alone)
    push_twice(c, table, weights, which, count, *some)
    assert same([*some, alone], [*wanted, wanted[0]])
    chosen = np.random.default_rng(count).permutation(count)[: 1 + count // 2]
    some, exact = [before.copy(), now.copy()], weights[:, chosen] @ table[chosen] * c[1]
    push_twice(c, table, weights, chosen, chosen.size, *some)
    pairs.push_twice(c[0], c[1], table, weights[0], weights[1], chosen, chosen.size, before, now)
    assert same([before, now], some)
    assert np.allclose(now, some[1])


@both
@pytest.mark.parametrize("count", range(12))
def test_sums_of_rows(count: int, dtype: Any) -> None:
    size = pairs.whole(1 + 5 * count, dtype)
    table, weights, start = numbers(count, dtype, (12, size), (12,), (size,))
    which = np.random.default_rng(count).permutation(12)
    chosen = which[:count]
    for mine, twin, how, exact in (
        (combine, pairs.combine, (count,), weights[:count] @ table[:count]),
        (accumulate, pairs.accumulate, (which, count), start + weights[chosen] @ table[chosen]),
    ):
        got, wanted = start.copy(), start.copy()
        mine(table, weights, *how, got)
        twin(table, weights, *how, wanted)
        assert (got == wanted).all()
        assert np.allclose(wanted, exact, atol=1e-4)


@both
@pytest.mark.parametrize("points", [0, 1, 7, 8, 9, 16, 17, 40])
def test_what_is_near(points: int, dtype: Any) -> None:
    room, random, met = pairs.whole(points, dtype), np.random.default_rng(points), set()
    for deep in (0.0, 1.0, 2.0, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 9.0):
        height = np.full(room, -np.inf, dtype)
        height[:points] = random.standard_normal(points) - deep
        now, free = numbers(points, dtype, (room,), (room,))
        psi = ((random.random(room) < 0.1 / (1.0 + deep)) * (height > -np.inf)).astype(dtype)
        got, wanted = np.zeros((2, room), np.int64)
        count = pairs.near(height, now, free, psi, wanted)
        assert near(height, now, free, psi, got) == count
        assert (got[:count] == wanted[:count]).all()
        assert set(wanted[:count]) == set(np.flatnonzero((height > now) | (height > free) | (psi > 0.0)))
        few, weights = numbers(points + 1, dtype, (5, room), (2, room + 8))
        few[:, points:] = 0.0
        for table in (few, np.eye(points, room, dtype=dtype)):  # sums of few rows, and rows that are points
            ahead, rank = np.zeros((2, 2, room), dtype), len(table)
            seen = [
                f(table, weights, points, height, now, psi, out)
                for f, out in zip((look_ahead, pairs.look_ahead), ahead, strict=True)
            ]
            assert seen[0] == seen[1]
            assert (ahead[0] == ahead[1]).all()
            assert np.allclose(ahead[1], weights[:, :rank] @ table, atol=1e-4)
            found = np.flatnonzero((height > now) | (height > ahead[1]).any(axis=0) | (psi > 0.0))
            assert seen[1] == (found[0] + 1 if found.size == 1 else -1 if found.size else 0)
            met.add(min(found.size, 2))
    assert points < 8 or met == {0, 1, 2}


@both
def test_shift(dtype: Any) -> None:
    newest, now, before = numbers(1, dtype, *[(3 * PADDING,)] * 3)
    wanted = [newest.copy(), newest.copy(), now.copy()]
    shift(newest, now, before)
    assert same([newest, now, before], wanted)
