"""Each compiled loop of increments.py against its plain twin, and both against what they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine import increments, pairs
from engine.compiled import called_by_python
from engine.vectors import PADDING

both = pytest.mark.parametrize("dtype", [np.float64, np.float32])


@called_by_python
def advance_twice(c: Any, rows: Any, y: Any, d: Any, between: Any, first: Any, second: Any, out: Any) -> None:
    increments.advance_twice(c[0], c[1], c[2], rows, y, d, between, first, second, out)


@called_by_python
def step(c: Any, y: Any, d: Any, force: Any) -> None:
    increments.fall(c[0], c[1], y, d)
    for i in range(y.size):
        d[i] += force * c[2, i]
    increments.move(y, d)


@called_by_python
def push_twice(c: Any, rows: Any, weights: Any, which: Any, count: Any, y: Any, d: Any) -> None:
    increments.push_twice(c[0], c[1], c[2], rows, weights[0], weights[1], which, count, y, d)


@called_by_python
def by_increments(y: Any) -> Any:
    return increments.by_increments(y)


def numbers(seed: int, dtype: Any, *shapes: tuple[int, ...]) -> list[Any]:
    random = np.random.default_rng(seed)
    return [random.standard_normal(shape).astype(dtype) for shape in shapes]


def same(got: list[Any], wanted: list[Any]) -> bool:
    return all((a == b).all() for a, b in zip(got, wanted, strict=True))


def test_single_precision_goes_so() -> None:
    for dtype, wanted in ((np.float64, False), (np.float32, True)):
        y = np.zeros(3, dtype)
        assert by_increments(y) is increments.by_increments(y) is wanted


@both
@pytest.mark.parametrize("driven", [0.0, 1.0])
@pytest.mark.parametrize("rows", range(26))
def test_advance_twice(rows: int, driven: float, dtype: Any) -> None:
    """The twin's bits, those of two single steps, and the motion that two values have."""
    size, first, second = PADDING * (1 + rows % 4), dtype(0.7 * driven), dtype(-0.2 * driven)
    given = numbers(rows, dtype, (3, size), (rows, size), (size,), (size,), (size,), (2, pairs.whole(rows, dtype)))
    c, table, y, d, between, out = given
    wanted, alone = [array.copy() for array in given[2:]], [y.copy(), d.copy()]
    increments.advance_twice(c[0], c[1], c[2], table, *wanted[:3], first, second, wanted[3])
    direct = [y.copy(), y - d, np.zeros_like(out)]
    pairs.advance_twice(2.0 - c[1] - c[0], 1.0 - c[1], c[2], table, direct[0], direct[1], first, second, direct[2])
    advance_twice(c, table, y, d, between, first, second, out)
    assert same([y, d, between, out], wanted)
    for force in (first, second):
        step(c, *alone, force)
    assert same(alone, [y, d])
    assert np.allclose(y, direct[0], atol=1e-4)
    assert np.allclose(between, direct[1], atol=1e-4)
    assert np.allclose(out[:, :rows], direct[2][:, :rows], atol=1e-3)


@both
@pytest.mark.parametrize("count", range(1, 20))
def test_forces_of_two_steps(count: int, dtype: Any) -> None:
    size, which = PADDING * (1 + count % 4), np.random.default_rng(count).permutation(count)[: 1 + count // 2]
    c, table, weights, y, d = numbers(count, dtype, (3, size), (count + 1, size), (2, count), (size,), (size,))
    wanted, before, now = [y.copy(), d.copy()], y - d, y.copy()
    increments.push_twice(c[0], c[1], c[2], table, weights[0], weights[1], which, which.size, *wanted)
    pairs.push_twice(2.0 - c[1] - c[0], c[2], table, weights[0], weights[1], which, which.size, before, now)
    push_twice(c, table, weights, which, which.size, y, d)
    assert same([y, d], wanted)
    assert np.allclose(y, now, atol=1e-3)
    assert np.allclose(y - d, before, atol=1e-3)
