"""Each compiled loop of vectors.py against its plain twin: every remainder, both precisions, NaN all around.

They are the same bits: the twins are plain numpy, which knows no width of vectors, so no CPU's width can matter.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine import vectors
from engine.compiled import called_by_python
from engine.processor import Processor
from engine.vectors import PADDING, WIDEST

GUARD = 16  # entries of NaN on both sides: what is read from there shows, what is written there too
both = pytest.mark.parametrize("dtype", [np.float64, np.float32])


@called_by_python
def advance(forward: Any, backward: Any, now: Any, after: Any) -> None:
    vectors.advance(forward, backward, now, after)


@called_by_python
def project(rows: Any, y: Any, out: Any) -> None:
    vectors.project(rows, y, out)


@called_by_python
def stiff_step(t: Any, x: Any, y: Any, w: Any, first: Any, count: Any) -> None:
    vectors.stiff_step((t[0], t[1], t[2], t[3], t[4]), x, y, w, first, count)


@called_by_python
def wide_step(a: Any, b: Any, x: Any, y: Any, w: Any, first: Any, count: Any) -> None:
    vectors.wide_step((a[0], a[1], a[2], a[3], a[4]), (b[0], b[1], b[2], b[3], b[4]), x, y, w, first, count)


def guarded(values: Any, dtype: Any) -> tuple[Any, Any]:
    """A whole array that is NaN but for `values` in its middle, and the view of that middle."""
    whole = np.full(GUARD + np.size(values) + GUARD, np.nan, dtype)
    inside = whole[GUARD : GUARD + np.size(values)].reshape(np.shape(values))
    inside[...] = values
    return whole, inside


def untouched(whole: Any, size: int) -> bool:
    """Only the `size` entries in the middle hold numbers."""
    return bool(np.isnan(whole[:GUARD]).all() and np.isnan(whole[GUARD + size :]).all())


def close(got: Any, wanted: Any, magnitude: Any) -> bool:
    """Equal but for the order of a sum whose terms' absolute values sum to `magnitude`."""
    return bool((np.abs(got - wanted) <= 8.0 * np.finfo(got.dtype).eps * magnitude).all())


@both
@pytest.mark.parametrize("vectors_of_modes", range(1, 6))
def test_advance(vectors_of_modes: int, dtype: Any) -> None:
    size = PADDING * vectors_of_modes
    random = np.random.default_rng(size)
    forward, backward, now, after = (guarded(random.standard_normal(size), dtype) for _ in range(4))
    wanted = after[1].copy()
    vectors.advance(forward[1], backward[1], now[1], wanted)
    advance(forward[1], backward[1], now[1], after[1])
    assert (after[1] == wanted).all()
    assert untouched(after[0], size)


@both
@pytest.mark.parametrize("rows", range(41))
def test_project(rows: int, dtype: Any) -> None:
    size = PADDING * (1 + rows % 4)
    random = np.random.default_rng(rows)
    _, matrix = guarded(random.standard_normal((rows, size)), dtype)
    _, y = guarded(random.standard_normal(size), dtype)
    whole, out = guarded(np.zeros(rows), dtype)
    project(matrix, y, out)
    assert close(out, matrix @ y, np.abs(matrix) @ np.abs(y))
    assert untouched(whole, rows)
    twin = np.zeros(rows, dtype)
    vectors.project(matrix, y, twin)
    assert (out == twin).all()


@both
@pytest.mark.parametrize("count", range(1, 42))
def test_stiff_step(count: int, dtype: Any) -> None:
    random = np.random.default_rng(count)
    taps = random.standard_normal(5).astype(dtype)
    first = GUARD
    (x, _), (y, _), (w, ws) = (guarded(random.standard_normal(count), dtype) for _ in range(3))
    wanted = w.copy()
    vectors.stiff_step(taps, x, y, wanted, first, count)
    stiff_step(taps, x, y, w, first, count)
    assert (ws == wanted[first : first + count]).all()
    # It owns whole vectors: zeros up to the next one, nothing beyond.
    end = first + count + -count % (WIDEST // w.itemsize)
    beyond = w[first + count : end]
    assert ((beyond == 0.0) | np.isnan(beyond)).all()
    assert np.isnan(w[:first]).all()
    assert np.isnan(w[end:]).all()


def test_stiff_step_is_the_odd_image_beyond_both_ends() -> None:
    """The twin itself, against a convolution over the string continued as its odd image."""
    random = np.random.default_rng(3)
    a0, a1, a2, b0, b1 = taps = random.standard_normal(5)
    for count in range(2, 12):
        inner = random.standard_normal((2, count))
        x, y = np.zeros((2, count + 6))
        x[3:-3], y[3:-3] = inner
        w = np.zeros(count + 6)
        vectors.stiff_step(taps, x, y, w, 3, count)
        u, v = (np.concatenate([[-s[0], 0.0], s, [0.0, -s[-1]]]) for s in inner)
        wanted = np.convolve(u, [a2, a1, a0, a1, a2], "valid") + np.convolve(v, [0.0, b1, b0, b1, 0.0], "valid")
        assert close(w[3 : 3 + count], wanted, np.abs(taps).sum() * np.abs(inner).max() * 2.0)


@both
@pytest.mark.parametrize("count", range(1, 100))
def test_wide_step(count: int, dtype: Any) -> None:
    """Against a convolution over the string continued as its odd image, and against the twin; nothing but the image is
    read beyond the last entry.
    """
    reach = 4
    random = np.random.default_rng(count)
    now, before = random.standard_normal((2, reach + 1)).astype(dtype)
    first, period = GUARD, 2 * (count + 1)
    node = np.arange(1 - reach, count + reach + 1) % period
    sign = np.where(node <= count, 1.0, -1.0) * (node % (count + 1) != 0)
    images = [
        sign * u[np.where(node <= count, node, period - node) % (count + 1)]
        for u in random.standard_normal((2, count + 1))
    ]
    x, y = (guarded(u[reach:], dtype)[0] for u in images)
    w = np.full(x.size + 64, np.nan, dtype)
    wide_step(now, before, x, y, w, first, count)
    both_ways = [np.concatenate([taps[:0:-1], taps]).astype(float) for taps in (now, before)]
    rounded = [u.astype(dtype).astype(float) for u in images]
    parts = [np.convolve(u, t, "valid") for u, t in zip(rounded, both_ways, strict=True)]
    size = [np.convolve(np.abs(u), np.abs(t), "valid") for u, t in zip(rounded, both_ways, strict=True)]
    assert close(w[first : first + count], parts[0] + parts[1], size[0] + size[1])
    end = first + count + -count % (WIDEST // w.itemsize)
    beyond = w[first + count : end]
    assert ((beyond == 0.0) | np.isnan(beyond)).all()
    assert np.isnan(w[:first]).all()
    assert np.isnan(w[end:]).all()
    twin = np.full(w.size, np.nan, dtype)
    vectors.wide_step(now, before, x, y, twin, first, count)
    assert (w[first : first + count] == twin[first : first + count]).all()


@both
def test_sums_have_one_order_whatever_stands_beside_them(dtype: Any) -> None:
    """A row's sum is the same number among any rows of the same group size, so adding silence changes nothing."""
    random = np.random.default_rng(5)
    rows, y = random.standard_normal((8, 64)).astype(dtype), random.standard_normal(64).astype(dtype)
    eight, shuffled = np.zeros(8, dtype), np.zeros(8, dtype)
    project(rows, y, eight)
    project(np.ascontiguousarray(rows[::-1]), y, shuffled)
    assert (eight == shuffled[::-1]).all()


def test_vectors_are_as_wide_as_the_registers() -> None:
    assert vectors.register(Processor("znver5", "+sse2,+avx,+avx2,+avx512f,-avx512fp16")) == (64, 32)
    assert vectors.register(Processor("znver3", "+sse2,+avx,+avx2,-avx512f")) == (32, 16)
    assert vectors.register(Processor("nehalem", "+sse2,-avx")) == vectors.register(Processor("generic")) == (16, 16)
    levels = [vectors.register(Processor(f"x86-64-{level}")) for level in ("v2", "v3", "v4")]
    assert levels == [(16, 16), (32, 16), (64, 32)]
