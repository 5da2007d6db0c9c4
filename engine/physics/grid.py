"""The finite-difference string's grid and its losses: spacing, stability, and a loss law made of local differences.

Grid functions have the symbol B(b) = (4/h^2) sin^2(b h/2) for -d_xx. Spacing must keep, for every wavenumber,

    Q + k S <= 1,   Q = (k^2/4)(c^2 B + kappa^2 B^2),   S(b) the decay rate taken backward in time,

which is the condition of paper 002 eq. (44) with losses added (Jury's test on the polynomial of T5).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, pi, sqrt
from typing import Any

import numpy as np

from engine import elementwise
from engine.compiled import called_by_python
from engine.errors import PhysicsError
from engine.physics.linear import orthonormalise, product, solve, upper_solve
from engine.physics.string import Array, Loss, String

MARGIN = 1.02  # spacing above the limit: at the limit the shortest wave costs no energy (NUMERICS section 3)
AUDIBLE = (20.0, 20_000.0)  # Hz
REACH = 4  # most neighbours a difference may use on each side
WORST_FIT = 0.10
ROUNDS = 60  # of a fit
MOST_INTERVALS = 2**20  # some hundred times what can be played in real time


@dataclass(frozen=True)
class LossFit:
    """Decay rate r0 + r1 B + r2 B^2 + ...: r0 centred in time, the rest backward; and how far it is from the law.

    `worst_error` is relative to the whole decay rate, over the audible band; s0 and s2 are realised as they are.
    """

    terms: tuple[float, ...]
    worst_error: float


@dataclass(frozen=True)
class Grid:
    """Intervals along the string, spacing (m), the spacing's lower limit at this rate, and the losses."""

    intervals: int
    spacing: float
    limit: float
    loss: LossFit


def symbol(b: Array, spacing: float) -> Array:
    """B(b), the grid's answer to b^2."""
    return (2.0 / spacing * elementwise.sin(0.5 * b * spacing)) ** 2


def courant(string: String, b: Array, spacing: float, rate: float) -> Array:
    """Q(b); without loss sin^2(w k / 2) = Q (T5)."""
    s = symbol(b, spacing)
    return 0.25 * (string.tension * s + string.stiffness * s**2) / (string.density * rate * rate)


def backward_loss(terms: tuple[float, ...], b: Array, spacing: float) -> Array:
    """S(b): the decay rate's part that is taken backward in time."""
    s, total = symbol(b, spacing), np.zeros_like(b)
    for r in reversed(terms[1:]):
        total = (total + r) * s
    return total


def grid(string: String, rate: float, margin: float = MARGIN) -> Grid:
    """The finest stable grid with `margin`, and the losses that go with it."""
    k = 1.0 / rate
    speed, bend, s2 = string.tension / string.density, string.stiffness / string.density, string.loss.s2
    a = speed * k * k + 4.0 * s2 * k
    limit = sqrt(0.5 * (a + sqrt(a * a + 16.0 * bend * k * k)))
    intervals = int(string.length / (margin * limit))
    if intervals > MOST_INTERVALS:
        raise PhysicsError(
            "string",
            f"{string.pitch:.6g} Hz at {rate:g} Hz",
            f"makes a grid of {intervals:.3g} intervals, at most {MOST_INTERVALS:.3g} are kept",
            "raise the pitch, or lower the sample rate or oversampling",
        )
    if intervals < 3:
        raise PhysicsError(
            "string",
            f"{string.pitch:.6g} Hz at {rate:g} Hz",
            f"leaves {max(intervals, 0)} grid intervals of {margin * limit:.3g} m, at least 3 are needed",
            "lower the pitch, the stiffness or s2, or raise the sample rate or oversampling",
        )
    while True:
        spacing = string.length / intervals
        fit = fit_losses(string, intervals)
        b = string.wavenumbers(intervals)  # up to the shortest wave of the grid
        load = float((courant(string, b, spacing, rate) + k * backward_loss(fit.terms, b, spacing)).max())
        if load <= 1.0:
            return Grid(intervals, spacing, limit, fit)
        # Fitted losses may ask for more room than s2 alone. The load falls at most with the power 2 REACH of the
        # spacing, so no grid that would do is stepped over, and few are fitted in vain.
        intervals = min(intervals - 1, int(intervals / sqrt(sqrt(sqrt(load)))))  # the 2 REACH-th root
        if intervals < 3:
            raise PhysicsError("string.loss", string.loss, "too strong for this sample rate", "lower s1 or s3")


def fit_losses(string: String, intervals: int) -> LossFit:
    """s0 and s2 as they are; s1 b + s3 b^3 by even differences, the fewest that come within a third of the limit."""
    loss = string.loss
    if loss.s1 == 0.0 and loss.s3 == 0.0:
        return LossFit((loss.s0, loss.s2), 0.0)
    spacing = string.length / intervals
    b = _audible(string, intervals)
    best = LossFit((), np.inf)
    for reach in range(1, min(REACH, b.size - 1) + 1):
        fit = _minimax(loss, b, spacing, reach)
        everywhere = string.wavenumbers(intervals)
        passive = fit.terms[0] + backward_loss(fit.terms, everywhere, spacing)
        if passive.min() >= 0.0 and backward_loss(fit.terms, everywhere, spacing).min() >= 0.0:
            best = min(best, fit, key=lambda f: f.worst_error)
        if best.worst_error <= WORST_FIT / 3.0:
            break
    if best.worst_error > WORST_FIT:
        raise PhysicsError(
            "string.loss",
            f"s1 = {loss.s1:g}, s3 = {loss.s3:g}",
            f"finite differences miss this decay by {best.worst_error:.1%}, more than {WORST_FIT:.0%}",
            "use model: modal, which is exact, or s0 and s2 alone",
        )
    return best


def _audible(string: String, intervals: int) -> Array:
    """The grid's modes that can be heard, two at least: the fewest that a fit can follow."""
    b = string.wavenumbers(intervals - 1)
    f = string.undamped_frequency(b) / (2.0 * pi)
    heard = b[(f >= AUDIBLE[0]) & (f <= AUDIBLE[1])]
    return heard if heard.size >= 2 else b[:2]


def _minimax(loss: Loss, b: Array, spacing: float, reach: int) -> LossFit:
    """Least worst relative error of a few powers of the symbol."""
    # What is a whole number stays one, however the library rounds its powers.
    thinned = b[np.unique((np.geomspace(1, b.size, 96) * (1.0 + 1e-9)).astype(int)) - 1]
    top = float(symbol(b, spacing).max())

    def parts(b: Array) -> tuple[Array, Array]:
        s, cube = symbol(b, spacing), b * b * b
        whole = loss.s0 + loss.s1 * b + loss.s2 * s + loss.s3 * cube
        basis = np.ones((reach + 1, b.size))
        for power in range(reach):
            basis[power + 1] = basis[power] * (s / top)
        return basis / whole, (loss.s1 * b + loss.s3 * cube) / whole

    terms = np.zeros(reach + 1)
    lawson(*parts(thinned), np.zeros((2, thinned.size)), np.zeros((2, reach + 1, reach + 1)), terms)
    basis, target = parts(b)
    worst = float(np.abs(product(terms, basis) - target).max())
    scale = 1.0
    for power in range(reach + 1):
        terms[power] /= scale
        scale *= top
    terms[0] += loss.s0
    terms[1] += loss.s2
    return LossFit(tuple(float(r) for r in terms), worst)


@called_by_python
def lawson(basis: Any, target: Any, scratch: Any, tables: Any, found: Any) -> None:
    """The factors by which rows of `basis` come nearest to `target` where they are farthest from it.

    By Lawson's iteration: a least-squares fit is reweighted towards where it is worst. `basis` becomes orthonormal.
    """
    weight, error, triangle, system = scratch[0], scratch[1], tables[0], tables[1]
    terms, points = basis.shape
    orthonormalise(basis, triangle)
    for n in range(points):
        weight[n] = 1.0 / points
    for _ in range(ROUNDS):
        for i in range(terms):
            found[i] = 0.0
            for j in range(terms):
                system[i, j] = 0.0
        for n in range(points):
            for i in range(terms):
                part = weight[n] * basis[i, n]
                found[i] += part * target[n]
                for j in range(i, terms):
                    system[i, j] += part * basis[j, n]
        solve(system, found)
        worst = whole = 0.0
        for n in range(points):
            fitted = 0.0
            for i in range(terms):
                fitted += found[i] * basis[i, n]
            error[n] = abs(fitted - target[n])
            worst = max(worst, error[n])
        if worst == 0.0:
            break
        for n in range(points):
            weight[n] = weight[n] * error[n] + 1e-9
            whole += weight[n]
        for n in range(points):
            weight[n] /= whole
    upper_solve(triangle, found)


def difference_taps(terms: tuple[float, ...], spacing: float) -> Array:
    """Symmetric taps 0..REACH of r0 + r1 (-d_xx) + r2 (-d_xx)^2 + ...: binomials of each power."""
    taps, square = np.zeros(REACH + 1), 1.0
    for p, r in enumerate(terms):
        for j in range(p + 1):
            taps[j] += r / square * (-1) ** j * comb(2 * p, p + j)
        square *= spacing * spacing
    return taps


def interpolation(x: float, spacing: float, intervals: int, points: int) -> tuple[int, Array]:
    """Lagrange weights of `points` neighbouring moving nodes that give the displacement at x; first node, weights."""
    weights = np.zeros(points)
    return int(interpolate(x, spacing, intervals, weights)), weights


@called_by_python
def interpolate(x: Any, spacing: Any, intervals: Any, weights: Any) -> Any:
    """The same into `weights`; the first node.

    Nodes beyond a support are the odd image of those before it (u = u_xx = 0), so their weights fold back.
    """
    points, at = weights.size, x / spacing
    first = min(int(at), intervals - 1) - points // 2 + 1
    start = min(max(first, 1), max(intervals - points, 1))
    for i in range(points):
        weights[i] = 0.0
    for i in range(points):
        weight = 1.0
        for j in range(points):
            if i != j:
                weight *= (at - (first + j)) / (i - j)
        node = first + i
        if node < 0:
            node, weight = -node, -weight
        if node > intervals:
            node, weight = 2 * intervals - node, -weight
        if 0 < node < intervals:
            weights[node - start] += weight
    return start
