"""The linear algebra of design against numpy's, and its order of operations to the last bit."""

from __future__ import annotations

from math import fsum

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.physics import linear
from engine.physics.string import Array

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 40)


def table(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape)


def positive(seed: int, size: int, condition: float) -> Array:
    """A symmetric matrix with eigenvalues from 1 / condition to 1."""
    q, _ = np.linalg.qr(table(seed, size, size))
    made = (q * np.geomspace(1.0 / condition, 1.0, size)) @ q.T
    return 0.5 * (made + made.T)


@given(seeds, sizes, sizes, sizes)
def test_a_product_is_the_sum_from_its_first_term_to_its_last(seed: int, rows: int, inner: int, columns: int) -> None:
    a, b = table(seed, rows, inner), table(seed + 1, inner, columns)
    wanted = np.zeros((rows, columns))
    for k in range(inner):
        wanted += a[:, k : k + 1] * b[k]
    assert np.array_equal(linear.product(a, b), wanted)
    np.testing.assert_allclose(wanted, a @ b, rtol=0, atol=1e-13 * inner)
    assert np.array_equal(linear.product(a[0], b), wanted[0])
    assert np.array_equal(linear.product(a, b[:, 0]), wanted[:, 0])
    assert np.array_equal(linear.product(np.asfortranarray(a), b[::1]), wanted)


def test_products_of_nothing() -> None:
    assert linear.product(np.zeros((0, 3)), np.zeros(3)).shape == (0,)
    assert np.array_equal(linear.product(np.zeros((2, 0)), np.zeros(0)), np.zeros(2))


def solved(matrix: Array, wanted: Array) -> Array:
    x = wanted.copy()
    linear.solve(matrix.copy(), x)
    return x


@given(seeds, sizes, st.sampled_from((1.0, 1e3, 1e8)))
def test_a_system_is_solved_as_well_as_by_a_library(seed: int, size: int, condition: float) -> None:
    matrix, wanted = positive(seed, size, condition), table(seed, size)
    found = solved(matrix, wanted)
    backward = np.abs(matrix @ found - wanted).max() / (np.abs(matrix).max() * np.abs(found).max())
    assert backward < 1e-14 * size
    library = np.linalg.solve(matrix, wanted)
    assert np.abs(found - library).max() <= 1e-15 * size * condition * np.abs(library).max()


def test_what_is_not_positive_has_no_solution() -> None:
    assert np.isnan(solved(np.diag([1.0, -1.0]), np.ones(2))).any()


def test_only_the_upper_half_is_read() -> None:
    matrix, wanted = positive(1, 5, 10.0), table(1, 5)
    assert np.array_equal(solved(np.triu(matrix), wanted), solved(matrix, wanted))


@given(seeds, st.integers(1, 6), st.sampled_from((1.0, 1e-6, 1e-10)))
def test_rows_become_orthonormal(seed: int, count: int, alike: float) -> None:
    """Also rows that are nearly the same."""
    rows = table(seed, 1, 50) + alike * table(seed + 1, count, 50)
    q, r = rows.copy(), np.zeros((count, count))
    linear.orthonormalise(q, r)
    assert np.abs(q @ q.T - np.eye(count)).max() < 1e-13
    assert np.abs(r.T @ q - rows).max() < 1e-13
    assert np.array_equal(r, np.triu(r))


@given(seeds, st.integers(1, 60), st.integers(1, 5), st.integers(1, 6))
def test_banded_systems(seed: int, size: int, columns: int, width: int) -> None:
    """Narrower than their band and wider."""
    band = table(seed, size, width)
    band[:, 0] = 2.0 * width + np.abs(band[:, 0])
    matrix = np.zeros((size, size))
    for i in range(size):
        for j in range(min(width, size - i)):
            matrix[i, i + j] = matrix[i + j, i] = band[i, j] = np.clip(band[i, j], -1.0, None if j == 0 else 1.0)
    x = table(seed, size, columns)
    wanted = np.linalg.solve(matrix, x)
    linear.banded(band.copy(), x)
    np.testing.assert_allclose(x, wanted, rtol=0, atol=1e-13 * np.abs(wanted).max())


@given(seeds, st.integers(1, 12))
def test_between_given_values(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    at, values = np.cumsum(rng.random(count) + 0.01), rng.standard_normal(count)
    x = np.concatenate([at, rng.uniform(-1.0, at[-1] + 1.0, 50)])
    np.testing.assert_allclose(linear.between(x, at, values), np.interp(x, at, values), rtol=0, atol=1e-13)
    assert np.array_equal(linear.between(at, at, values), values)


@given(st.lists(st.floats(-1e15, 1e15)))
def test_a_total_is_rounded_once(values: list[float]) -> None:
    assert linear.total(np.array(values)) == fsum(values)
