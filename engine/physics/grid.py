"""The finite-difference string's grid: how fine it may be, and the places between its nodes.

Spacing must keep, for every wavenumber,

    0 <= Q   and   Q + k S <= 1,   Q the restoring force (dispersion.py), S the decay rate taken backward in time,

which is the condition of paper 002 eq. (44) with losses added (Jury's test on the polynomial of §5.5).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from engine.compiled import DOUBLE, VECTOR, WORD, called_with
from engine.errors import PhysicsError
from engine.physics import dispersion
from engine.physics.dispersion import (
    FEW,
    MANY,
    MOST_CENTS,
    Elastic,
    bears,
    cents,
    courant,
    elastic,
    exact_waves,
    least_spacing,
    loss_shares,
    symbol,
)
from engine.physics.losses import PLAYED, WORST_FIT, LossFit, backward_loss, fit_losses, hopeless
from engine.physics.string import Array, String
from engine.vectors import PADDING

MARGIN = 1.02  # spacing above the limit: at the limit the shortest wave costs no energy (§1)
LEAST_OF_FINEST = 0.8  # how much coarser a grid may be made for its losses
ORIGIN = PADDING - 1  # where a level has its near support: the first node that moves begins a cache line
MOST_INTERVALS = 2**20  # some hundred times what can be played in real time


@dataclass(frozen=True)
class Grid:
    """Intervals along the string, spacing (m), its lower limit at this rate, the losses and the restoring force."""

    intervals: int
    spacing: float
    limit: float
    loss: LossFit
    elastic: Elastic


def grid(string: String, rate: float, margin: float = MARGIN, bent: float = 1.0) -> Grid:
    """The finest grid that is stable with `margin` at up to `bent` times the string's tension.

    With two powers of the second difference if partials come out right; otherwise with as many as there may be: they
    want a grid that is coarser by some percent, and more time a node.
    """
    plain = _grid(string, rate, margin, bent * string.tension, FEW)
    off = cents(string, plain.elastic, plain.spacing)
    if off <= MOST_CENTS:
        return plain
    try:
        better = _grid(string, rate, margin, bent * string.tension, MANY)
    except PhysicsError:
        return plain
    return better if cents(string, better.elastic, better.spacing) < off else plain


def _grid(string: String, rate: float, margin: float, most: float, powers: int) -> Grid:
    limit = least_spacing(string, rate, powers, most)
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
    best, finest, bounds = None, intervals, Bounds(limit, margin, most)
    while intervals >= 3 and intervals >= LEAST_OF_FINEST * finest:
        found = _with_losses(string, rate, bounds, intervals, powers)
        if found is None and intervals == finest and rate >= PLAYED:  # where a fit takes long
            coarsest = max(int(LEAST_OF_FINEST * finest) + 1, 3)
            if _with_losses(string, rate, bounds, coarsest, powers) is None:
                break  # what fails at both ends fails between them
        if found is not None and (best is None or found.loss.worst_error < best.loss.worst_error):
            best = found
        if best is not None and best.loss.worst_error <= WORST_FIT / 3.0:
            break
        intervals = min(intervals - 1, int(0.98 * intervals))
    if best is None:
        raise PhysicsError("string.loss", string.loss, "too strong for this sample rate", "lower s1 or s3")
    if best.loss.worst_error > WORST_FIT:
        raise PhysicsError(
            "string.loss",
            f"s1 = {string.loss.s1:g}, s3 = {string.loss.s3:g}",
            f"finite differences miss this decay by {best.loss.worst_error:.1%}, more than {WORST_FIT:.0%}",
            "use model: modal, which is exact, or s0 and s2 alone",
        )
    return best


class Bounds(NamedTuple):
    """What a grid must bear: a least spacing (m), a clock slower by the margin, the most tension (N)."""

    spacing: float
    margin: float
    tension: float


def _with_losses(string: String, rate: float, limit: Bounds, intervals: int, powers: int) -> Grid | None:
    """The grid of so many intervals, if losses leave it passive."""
    if hopeless(string, intervals, rate):
        return None
    spacing, k = string.length / intervals, 1.0 / rate
    every = string.wavenumbers(intervals)  # up to the shortest wave of the grid
    a = symbol(every, spacing) * spacing * spacing
    exact = exact_waves(string, spacing, rate, powers)
    force = elastic(string, spacing, rate, exact)
    for _ in range(2):  # what losses do to frequencies, Q makes good, which leaves them the more room
        room = (1.0 - courant(force, limit.tension, a, sqrt(limit.margin))) * rate
        if room.min() < 0.0:
            return None
        fit = fit_losses(string, intervals, rate, room)
        shares = loss_shares(string, exact, rate, fit.s0, backward_loss(fit, exact, spacing))
        force = elastic(string, spacing, rate, exact, shares)
    lost = backward_loss(fit, every, spacing)
    if fit.s0 < 0.0 or lost.min() < 0.0 or not bears(force, limit.tension, limit.margin, a, k * lost):
        return None
    return Grid(intervals, spacing, limit.spacing, fit, force)


def highest_tension(string: String, g: Grid, rate: float) -> float:
    """The tension (N) that leaves a grid as near to its limit as any may be: a clock slower by MARGIN still does.

    From none up to there every tension is passive.
    """
    b = string.wavenumbers(g.intervals)
    a, lost = symbol(b, g.spacing) * g.spacing * g.spacing, backward_loss(g.loss, b, g.spacing) / rate
    return dispersion.highest_tension(g.elastic, string.tension, MARGIN, a, lost)


def interpolation(x: float, spacing: float, intervals: int, points: int) -> tuple[int, Array]:
    """Lagrange weights of `points` neighbouring moving nodes that give the displacement at x; first node, weights."""
    weights = np.zeros(points)
    return int(interpolate(x, spacing, intervals, weights)), weights


@called_with(DOUBLE, DOUBLE, WORD, VECTOR)
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
