"""Leaf: the linear algebra of design, in one order of operations that no library, thread or CPU can change.

Tables are small here: a library would spend more time on waking its threads than on the sums.
"""

from __future__ import annotations

from math import fsum
from typing import Any

import numpy as np

from engine.compiled import MATRIX, VECTOR, called_with, native
from engine.physics.string import Array


def product(a: Array, b: Array) -> Array:
    """a @ b of float64, each sum from its first term to its last."""
    rows, columns = np.atleast_2d(a), b if b.ndim == 2 else b[:, None]
    out = np.zeros((rows.shape[0], columns.shape[1]))
    multiply(np.ascontiguousarray(rows, float), np.ascontiguousarray(columns, float), out)
    return out.reshape(a.shape[:-1] + b.shape[1:])


def total(values: Array) -> float:
    """The sum, exact but for one rounding."""
    return fsum(values.tolist())


def between(x: Array, at: Array, values: Array) -> Array:
    """Values given at increasing places, linear between them and level beyond."""
    left = np.clip(np.searchsorted(at, x, "right") - 1, 0, max(at.size - 2, 0))
    right = np.minimum(left + 1, at.size - 1)
    width = np.where(at[right] > at[left], at[right] - at[left], 1.0)
    inside = (values[right] - values[left]) / width * (x - at[left]) + values[left]
    return np.where(x <= at[0], values[0], np.where(x >= at[-1], values[-1], inside))


@called_with(MATRIX, MATRIX, MATRIX)
def multiply(a: Any, b: Any, out: Any) -> None:
    """out += a @ b."""
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            factor = a[i, k]
            for j in range(b.shape[1]):
                out[i, j] += factor * b[k, j]


@called_with(MATRIX, VECTOR)
def solve(a: Any, x: Any) -> None:
    """x := a^-1 x for a symmetric positive definite a, whose upper half becomes its factor (Cholesky, a = U'U)."""
    n = x.size
    for j in range(n):
        root = np.sqrt(a[j, j])
        for k in range(j, n):
            a[j, k] /= root
        x[j] /= root
        for i in range(j + 1, n):
            factor = a[j, i]
            x[i] -= factor * x[j]
            for k in range(i, n):
                a[i, k] -= factor * a[j, k]
    upper_solve(a, x)


def positive(a: Array) -> bool:
    """Whether a symmetric a is positive definite: whether it has factors."""
    x = np.ones(len(a))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        solve(np.array(a, float, order="C"), x)
    return bool(np.isfinite(x).all())


@native
def upper_solve(u: Any, x: Any) -> None:
    """x := u^-1 x for an upper triangle."""
    for j in range(x.size - 1, -1, -1):
        for k in range(j + 1, x.size):
            x[j] -= u[j, k] * x[k]
        x[j] /= u[j, j]


@called_with(MATRIX, MATRIX)
def orthonormalise(q: Any, r: Any) -> None:
    """Rows of q become orthonormal, and r the upper triangle that gives back what they were: row j = sum r[i, j] q[i].

    By Gram and Schmidt, each row twice, which is as good as reflections (Giraud et al. 2005).
    """
    for j in range(q.shape[0]):
        for _ in range(2):
            for i in range(j):
                along = 0.0
                for n in range(q.shape[1]):
                    along += q[i, n] * q[j, n]
                r[i, j] += along
                for n in range(q.shape[1]):
                    q[j, n] -= along * q[i, n]
        square = 0.0
        for n in range(q.shape[1]):
            square += q[j, n] * q[j, n]
        r[j, j] = np.sqrt(square)
        for n in range(q.shape[1]):
            q[j, n] /= r[j, j]


@called_with(MATRIX, MATRIX)
def banded(a: Any, x: Any) -> None:
    """Columns of x := A^-1 x for a symmetric positive definite A with a[i, j] = A[i, i + j] (Cholesky, A = U'U)."""
    n, width = a.shape
    for i in range(n):
        root = np.sqrt(a[i, 0])
        reach = min(width, n - i)
        for j in range(reach):
            a[i, j] /= root
        for k in range(x.shape[1]):
            x[i, k] /= root
        for j in range(1, reach):
            for other in range(j, reach):
                a[i + j, other - j] -= a[i, j] * a[i, other]
            for k in range(x.shape[1]):
                x[i + j, k] -= a[i, j] * x[i, k]
    for i in range(n - 1, -1, -1):
        for j in range(1, min(width, n - i)):
            for k in range(x.shape[1]):
                x[i, k] -= a[i, j] * x[i + j, k]
        for k in range(x.shape[1]):
            x[i, k] /= a[i, 0]
