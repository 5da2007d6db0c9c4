"""The grid's losses: a decay rate that rises with the wavenumber, made of differences over several distances.

    S(b) = sum over offsets m of w_m 4 sin^2(m b h/2)      realised as   2 rho S (u - u-)/k, backward in time

s0 and s2 b^2 are such differences as they stand. s1 b and s3 b^3 are none: the weights are those that come nearest to
them over the audible band, with 0 <= S and k S <= 1 - Q everywhere, and so that a string may be relieved of its s0:
every partial keeps half of what is left then. Above the band that is all that is asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import elementwise
from engine.compiled import MATRIX, VECTOR, WORD, called_with, inlined, native
from engine.elementary import exp2
from engine.physics.dispersion import HIGHEST, REACH, symbol
from engine.physics.linear import orthonormalise, solve, upper_solve
from engine.physics.string import Array, Loss, String

LOWEST = 20.0  # Hz: what is lower is not heard
WORST_FIT = 0.10
PLAYED = 160_000.0  # Hz: from this rate on a grid is for study, and may take differences over any distance
MOST_ROWS = 192  # waves at which a narrow fit is looked at: it is smooth
ROUNDS = 80  # of the linear programme, which takes some thirty
CLOSED = 1e-7  # and ends when its gap is so small
OWN_LOSS = 0.5  # of what s1 and s3 take from a partial: what it loses in any case
SPARE = 0.999  # of what stability leaves to the losses


@dataclass(frozen=True)
class LossFit:
    """Decay rate s0, centred in time, plus differences: weights[i] 4 sin^2(offsets[i] b h / 2), backward in time.

    `worst_error` is relative to the whole decay rate, over the audible band; s0 and s2 are realised as they are.
    """

    s0: float
    offsets: tuple[int, ...]
    weights: tuple[float, ...]
    worst_error: float


def backward_loss(fit: LossFit, b: Array, spacing: float) -> Array:
    """S(b): the decay rate's part that is taken backward in time."""
    total = np.zeros_like(b)
    for offset, weight in zip(fit.offsets, fit.weights, strict=True):
        total += weight * _difference(b * offset, spacing)
    return total


def _difference(b: Array, spacing: float) -> Array:
    return (2.0 * elementwise.sin(0.5 * b * spacing)) ** 2


def loss_taps(fit: LossFit) -> Array:
    """Symmetric taps 0..REACH of S, and at 0 what belongs to the farther ones too."""
    taps = np.zeros(REACH + 1)
    for offset, weight in zip(fit.offsets, fit.weights, strict=True):
        taps[0] += 2.0 * weight
        if offset <= REACH:
            taps[offset] -= weight
    return taps


def far_taps(fit: LossFit) -> tuple[NDArray[np.int64], Array]:
    """Offsets beyond REACH, and the taps of S there."""
    far = [(offset, -weight) for offset, weight in zip(fit.offsets, fit.weights, strict=True) if offset > REACH]
    return np.array([offset for offset, _ in far], np.int64), np.array([tap for _, tap in far])


def fit_losses(string: String, intervals: int, rate: float, room: Array) -> LossFit:
    """The losses of a grid whose modes leave `room` for them: the largest S that each of them bears."""
    loss, spacing = string.loss, string.length / intervals
    if loss.s1 == 0.0 and loss.s3 == 0.0:
        return LossFit(loss.s0, (1,), (loss.s2 / (spacing * spacing),), 0.0)
    heard = _audible(string, intervals)
    offsets = distances(intervals, rate)
    narrow = not offsets or max(offsets) <= REACH
    return _programme(loss, heard, string.wavenumbers(intervals), spacing, offsets, room, narrow)


def hopeless(string: String, intervals: int, rate: float) -> bool:
    """Whether a heard wave must lose more in a step than it has: k S > 1.

    What s0 may be, the longest wave tells that is heard; all the rest of the others' decay is S.
    """
    law = whole(string.loss, _audible(string, intervals), string.length / intervals)
    return bool(((1.0 - WORST_FIT) * law - (1.0 + WORST_FIT) * law[0] > rate).any())


def whole(loss: Loss, b: Array, spacing: float) -> Array:
    """The decay rate of the waves that a fit is for: s2 as differences have it."""
    return loss.s0 + loss.s1 * b + loss.s2 * symbol(b, spacing) + loss.s3 * (b * b * b)


def _audible(string: String, intervals: int) -> Array:
    """The grid's modes that can be heard, two at least: the fewest that a fit can follow."""
    b = string.wavenumbers(intervals - 1)
    f = string.undamped_frequency(b) / (2.0 * pi)
    heard = b[(f >= LOWEST) & (f <= HIGHEST)]
    return heard if heard.size >= 2 else b[:2]


def distances(intervals: int, rate: float) -> tuple[int, ...]:
    """The nearest neighbours; from rates on that nobody plays at, farther ones too, more to an octave the finer it is.

    |b| is no polynomial of b^2, and the finer the grid, the smaller the part of its waves that is heard: four
    neighbours would follow ever worse. Differences over distances that double follow it as well at any rate.
    """
    near = range(1, min(REACH, intervals - 1) + 1)
    octave, to_an_octave = 1, 0
    while rate >= PLAYED * octave:
        octave, to_an_octave = 2 * octave, to_an_octave + 1
    places = range(1, to_an_octave * 40)
    far = (round(REACH * exp2(i / to_an_octave)) for i in places)
    return tuple(sorted({*near, *(m for m in far if REACH < m < intervals)}))


def _programme(
    loss: Loss, heard: Array, every: Array, spacing: float, offsets: tuple[int, ...], room: Array, narrow: bool
) -> LossFit:
    """The weights whose worst relative error is least, by a linear programme."""
    if narrow:  # what is a whole number stays one, however the library rounds its powers
        few = np.unique((np.geomspace(1, heard.size, 96) * (1.0 + 1e-9)).astype(int)) - 1
        some = np.unique(np.linspace(0, every.size - 1, min(every.size, MOST_ROWS)).astype(int))
    else:
        few, some = np.arange(heard.size), np.arange(every.size)

    def rows(b: Array) -> Array:
        return np.array([np.ones(b.size), *(_difference(b * m, spacing) for m in offsets)])

    law, bound = whole(loss, heard, spacing), whole(loss, every, spacing)
    near, far = rows(heard[few]) / law[few], rows(every[some]) / bound[some]
    far[0] = 0.0  # s0 is no part of S
    alone = np.zeros((len(near), 1))
    alone[0] = 1.0 / law[0]
    basis = np.ascontiguousarray(np.concatenate([near, far, near, alone], axis=1))
    table = np.zeros((len(near), len(near)))
    orthonormalise(basis, table)
    most = SPARE * np.maximum(room[some], 0.0) / bound[some]
    least = (loss.s0 + OWN_LOSS * (law[few] - loss.s0)) / law[few]
    share = np.concatenate([most, least, [loss.s0 / law[0]]])
    size, memory = len(near) + 1, 2 * basis.shape[1]
    found = np.zeros(size)
    programme(basis, few.size, most.size, share, np.zeros((4, memory)), np.zeros((size + 1, size)), found)
    weights = found[:-1].copy()
    upper_solve_into(table, weights)
    fitted = LossFit(float(weights[0]), offsets, tuple(float(w) for w in weights[1:]), 0.0)
    worst = np.abs((fitted.s0 + backward_loss(fitted, heard, spacing)) / law - 1.0).max()
    return LossFit(fitted.s0, offsets, fitted.weights, float(worst))


@called_with(MATRIX, VECTOR)
def upper_solve_into(table: Any, x: Any) -> None:
    """x := table^-1 x."""
    upper_solve(table, x)


@inlined
def _row(heard: Any, every: Any, share: Any, r: Any) -> Any:
    """Condition r: a column, its sum's factor, that of e, and the limit that both together must not exceed."""
    column, upper = r >> 1, (r & 1) == 1
    if column < heard:
        return (column, -1.0, -1.0, -1.0) if upper else (column, 1.0, -1.0, 1.0)
    most = share[column - heard]
    if column >= heard + every:
        return column, -1.0, 0.0, -most
    if upper:
        scale = 1.0 / max(most, 1.0)
        return column, scale, 0.0, most * scale
    return column, -1.0, 0.0, 0.0


@inlined
def _taken(basis: Any, column: Any, factor: Any, error: Any, x: Any) -> Any:
    """The left side of a condition."""
    terms = basis.shape[0]
    total = error * x[terms]
    for i in range(terms):
        total += factor * basis[i, column] * x[i]
    return total


@called_with(MATRIX, WORD, WORD, VECTOR, MATRIX, MATRIX, VECTOR)
def programme(basis: Any, heard: Any, every: Any, share: Any, rows: Any, tables: Any, found: Any) -> None:
    """The factors of rows of `basis` that come nearest to one in the first `heard` columns, and how near that is: e.

    There |sum - 1| <= e, and e is least; in the next `every` columns 0 <= sum <= share, in the others share <= sum. By
    an interior point method: every condition stays slack, and slacks times prices fall together (Wright 1997).
    """
    terms, count = basis.shape[0], 2 * basis.shape[1]
    slack, price, lacking, pull = rows[0], rows[1], rows[2], rows[3]
    matrix, right = tables[: terms + 1], tables[terms + 1]
    for i in range(terms + 1):
        found[i] = 0.0
    for r in range(count):
        price[r] = 1.0
        _, _, _, limit = _row(heard, every, share, r)
        slack[r] = max(limit, 1.0)
    for _ in range(ROUNDS):
        gap = worst = 0.0
        for r in range(count):
            column, factor, error, limit = _row(heard, every, share, r)
            gap += slack[r] * price[r] / count
            lacking[r] = limit - _taken(basis, column, factor, error, found) - slack[r]
            worst = max(worst, abs(lacking[r]))
        if gap < CLOSED * max(found[terms], 1e-3) and worst < CLOSED:
            break
        for i in range(terms + 1):
            right[i] = -1.0 if i == terms else 0.0
            for j in range(terms + 1):
                matrix[i, j] = 0.0
        for r in range(count):
            column, factor, error, _ = _row(heard, every, share, r)
            weight = price[r] / slack[r]
            pull[r] = 0.1 * gap / slack[r]
            against = pull[r] - weight * lacking[r]
            for i in range(terms):
                mine = factor * basis[i, column]
                right[i] -= against * mine
                for j in range(i, terms):
                    matrix[i, j] += weight * mine * (factor * basis[j, column])
                matrix[i, terms] += weight * mine * error
            right[terms] -= against * error
            matrix[terms, terms] += weight * error * error
        solve(matrix, right)
        if not _moved(basis, heard, every, share, rows, right, found):
            break


@native
def _moved(basis: Any, heard: Any, every: Any, share: Any, rows: Any, step: Any, found: Any) -> Any:
    """As far along a step as leaves every slack and price above zero; not at all, if rounding has spoilt the step."""
    slack, price, lacking, pull = rows[0], rows[1], rows[2], rows[3]
    terms, count = basis.shape[0], 2 * basis.shape[1]
    for i in range(terms + 1):
        if not abs(step[i]) < 1e100:
            return False
    far_slack = far_price = 1.0
    for r in range(count):
        column, factor, error, _ = _row(heard, every, share, r)
        change = lacking[r] - _taken(basis, column, factor, error, step)
        other = pull[r] - price[r] - price[r] / slack[r] * change
        lacking[r], pull[r] = change, other
        if change < 0.0:
            far_slack = min(far_slack, -0.95 * slack[r] / change)
        if other < 0.0:
            far_price = min(far_price, -0.95 * price[r] / other)
    for r in range(count):
        slack[r] += far_slack * lacking[r]
        price[r] += far_price * pull[r]
    for i in range(terms + 1):
        found[i] += far_slack * step[i]
    return True
