"""How far a string's rows and points give way to forces within a step, in tables as vector code reads them."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.aligned import zeros
from engine.compiled import MATRIX, VECTOR, called_by_python, called_with, inlined
from engine.pairs import combine, whole
from engine.physics.linear import product, total
from engine.physics.steps import swing
from engine.physics.string import Array
from engine.vectors import project


def in_vectors(table: Array, dtype: Any) -> NDArray[Any]:
    """The same, each row as wide as whole vectors."""
    made = zeros((*table.shape[:-1], whole(table.shape[-1], dtype)), dtype)
    made[..., : table.shape[-1]] = table
    return made


def deep(height: Array, dtype: Any) -> NDArray[Any]:
    """Heights, and after them as many as fill vectors, which nothing reaches."""
    made = in_vectors(height, dtype)
    made[height.size :] = -inf
    return made


def point_response(rows: Array, gain: Array, mix: Array, left: Array) -> Array:
    """How far each point gives way within a step."""
    touching = product(mix, rows[: mix.shape[1]])
    return np.array([total(row * row * gain) for row in touching]) + np.diag(left[:, : len(mix)])


@called_by_python
def answer_forces(c: Any, scratch: Any) -> None:
    """Responses from the rows, spread, forward and the remainder; always in this order."""
    points, rank = c.rest_psi.size, c.mix.shape[0]
    for j in range(rank):
        for i in range(c.spread.size):
            scratch[i] = c.spread[i] * c.rows[j, i]
        project(c.rows, scratch, c.answer[j, : len(c.rows)])
        for i in range(c.spread.size):
            scratch[i] *= swing(c, i)
        project(c.rows, scratch, c.ahead[j, : len(c.rows)])
    for k in range(points):
        of_point(c, k, c.ahead, scratch, c.response_ahead[k], c.heard_ahead[k])
        of_point(c, k, c.answer, scratch, c.response[k], c.heard[k])
        for j in range(k + 1):
            c.response[k, j] += c.remainder[k, j]
            c.response[j, k] = c.response[k, j]
        for p in range(c.heard.shape[1]):
            c.heard[k, p] += c.direct[k, p]


@inlined
def of_point(c: Any, k: Any, table: Any, scratch: Any, points: Any, pickups: Any) -> None:
    """What points and pickups have of a newton on point k, from what rows have of one on a row."""
    rank = c.mix.shape[0]
    for i in range(rank + pickups.size):
        total = c.mix[0, k] * table[0, i]
        for n in range(1, rank):
            total += c.mix[n, k] * table[n, i]
        if i < rank:
            scratch[i] = total
        else:
            pickups[i - rank] = total
    combine(c.mix, scratch, rank, points)


def answers(rows: Array, gain: Array, sources: int) -> Array:
    """How far every row gives way to a force on one of the first, by modes alone."""
    response = zeros((sources, len(rows)))
    answer_rows(rows, gain, response, zeros(gain.size))
    return response


@called_with(MATRIX, VECTOR, MATRIX, VECTOR)
def answer_rows(rows: Any, gain: Any, response: Any, scratch: Any) -> None:
    """The same in place, in an order that no library or process can change; the response may be wider."""
    for k in range(response.shape[0]):
        for i in range(gain.size):
            scratch[i] = gain[i] * rows[k, i]
        project(rows, scratch, response[k, : len(rows)])
