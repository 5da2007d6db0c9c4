"""Rows that depend on each other, as sums of few of them.

Points near an end of a string move nearly as a handful of them do, however many there are: sin(b x) for x up to d is of
rank b d / pi and some more. What is projected and pushed are these few rows; the others *are* the sums written here, so
nothing is lost of energy. Where the static answer of what a band leaves out is made up for (statics.py), what the sums
lack is part of it, and what may be left out is asked of a pluck: fewer rows then do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.aligned import zeros
from engine.compiled import DOUBLE, INTEGERS, MATRIX, VECTOR, WORD, called_with
from engine.pairs import accumulate
from engine.physics.barrier import ContactPoints
from engine.physics.linear import positive, product, upper_solve
from engine.physics.problem import Problem
from engine.physics.statics import left_out
from engine.physics.string import Array
from engine.vectors import PADDING, project

TOLERANCE = 1e-4  # of the largest row: what of a row may be left out, at most
PLUCKED = 3e-4  # of a pluck's height, a micrometre of 3 mm: the same where a band's rest is made up for


def few_rows(
    problem: Problem, points: ContactPoints, touching: Array, heard: Array, stiffness: Array, made_up: bool
) -> tuple[Array, Array, Array, Array]:
    """Rows, the mix that the points are of them, how far points give way to forces that rest, and N.

    Where N makes up for what a band leaves out, it has what the sums lack of the static answer, too. Rows are as few as
    leave it positive.
    """

    def reduced(kept: NDArray[np.int64], mix: Array) -> tuple[Array, Array, Array, Array]:
        rows = np.concatenate([touching[kept], heard])
        static = product(mix, product(rows[: kept.size] / stiffness, rows.T))
        static = np.concatenate([product(static[:, : kept.size], mix.T), static[:, kept.size :]], axis=1)
        left = left_out(problem, points, static) if made_up else np.zeros_like(static)
        return rows, mix, (static + left)[:, : len(mix)], left

    tolerance = PLUCKED
    while made_up and tolerance > TOLERANCE * PLUCKED:
        found = reduced(*plucked(touching, tolerance))
        if positive(found[-1][:, : len(touching)]):
            return found
        tolerance *= 0.5
    return reduced(*skeleton(touching))


def plucked(rows: Array, tolerance: float) -> tuple[NDArray[np.int64], Array]:
    """`skeleton` of rows whose modes are weighed as a pluck moves them, n by 1/n^2; to a tolerance in heights of it."""
    n = np.arange(1.0, rows.shape[1] + 1.0)
    return skeleton(rows / (n * n), tolerance, 1.0)


def skeleton(rows: Array, tolerance: float = TOLERANCE, least: float = 0.0) -> tuple[NDArray[np.int64], Array]:
    """Which rows to keep, in order, and mix[k, j] so that mix @ rows[kept] is all of them, to the tolerance.

    It is one of the largest row, which counts as `least` at least. Rows are chosen one by one, always the one that is
    farthest from those before (Gram and Schmidt, with pivots); a kept row is itself to the last bit.
    """
    count, size = rows.shape
    order, r, mix = np.arange(count), np.zeros((count, count)), np.zeros((count, count))
    q = zeros((count, size + -size % PADDING))
    q[:, :size] = rows
    rank = choose(q, order, r, np.zeros(count), np.zeros(count), np.zeros(1, np.int64), tolerance, least)
    kept = np.sort(order[:rank])
    express(r, rank, mix)
    mixed = np.zeros((count, rank))
    mixed[order] = mix[:, np.argsort(order[:rank], kind="stable")]
    return kept, mixed


@called_with(MATRIX, INTEGERS, MATRIX, VECTOR, VECTOR, INTEGERS, DOUBLE, DOUBLE)
def choose(q: Any, order: Any, r: Any, square: Any, along: Any, which: Any, tolerance: Any, least: Any) -> Any:
    """The rank. Rows of q become orthonormal in the order chosen; row order[i] is the sum of r[j, i] q[j], j < rank."""
    count, largest = q.shape[0], least * least
    for j in range(count):
        best = j
        for i in range(j, count):
            project(q[i : i + 1], q[i], square[i : i + 1])
            if square[i] > square[best]:
                best = i
        farthest = square[best]
        largest = max(largest, farthest)
        if farthest <= tolerance * tolerance * largest:
            return j
        order[j], order[best] = order[best], order[j]
        for n in range(j):
            r[n, j], r[n, best] = r[n, best], r[n, j]
        r[j, j] = np.sqrt(farthest)
        for n in range(q.shape[1]):
            chosen = q[best, n]
            q[best, n] = q[j, n]
            q[j, n] = chosen / r[j, j]
        project(q, q[j], along)
        which[0] = j
        for i in range(j + 1, count):
            r[j, i] = along[i]
            along[j] = -along[i]
            accumulate(q, along, which, 1, q[i])
    return count


@called_with(MATRIX, WORD, MATRIX)
def express(r: Any, rank: Any, mix: Any) -> None:
    """mix[i, :rank]: row i of those chosen so, as a sum of the first `rank`."""
    for i in range(mix.shape[0]):
        if i < rank:
            mix[i, i] = 1.0
        else:
            for j in range(rank):
                mix[i, j] = r[j, i]
            upper_solve(r[:rank, :rank], mix[i, :rank])
