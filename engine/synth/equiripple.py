"""Leaf: the shortest linear-phase low-pass that keeps to a tolerance, by the exchange of Parks and McClellan (1972).

A symmetric filter of 2 half + 1 taps has the real response A(w) = sum_k a_k cos(k w): a polynomial in x = cos(w) of
degree `half`. The best one errs equally, with alternating sign, at half + 2 frequencies. The exchange guesses these,
solves for the polynomial that errs equally there, and moves them to where its error is in truth largest.
A Kaiser window needs about 40 % more taps, because it cannot spend the tolerance of the pass band.

Frequencies are in cycles per sample, ripples are amplitudes.
"""

from __future__ import annotations

from math import log10
from typing import NamedTuple

import numpy as np

from engine.physics.string import Array

GRID = 16  # frequencies searched per unknown
ROUNDS = 40  # a tenth to a third of these are used
LEVEL = 1e-3  # errors this equal are equal


class Band(NamedTuple):
    """What is asked: gain 1 +- pass_ripple up to pass_edge, gain 0 +- stop_ripple from stop_edge to 1/2."""

    pass_edge: float
    stop_edge: float
    pass_ripple: float
    stop_ripple: float


def shortest(band: Band) -> Array:
    """Taps of the shortest symmetric filter, of odd length, that is measured to keep to the band."""
    # Bellanger's estimate of the length is right within a few taps.
    length = 2.0 / 3.0 * log10(0.1 / (band.pass_ripple * band.stop_ripple)) / (band.stop_edge - band.pass_edge)
    half = max(2, round(length / 2.0))
    taps = lowpass(half, band)
    while not keeps(taps, band):
        half += 1
        taps = lowpass(half, band)
    while half > 1 and keeps(shorter := lowpass(half - 1, band), band):
        half, taps = half - 1, shorter
    return taps


def keeps(taps: Array, band: Band) -> bool:
    """Whether the measured response is inside the tolerance."""
    passing, stopped = ripples(taps, band)
    return passing <= band.pass_ripple and stopped <= band.stop_ripple


def ripples(taps: Array, band: Band) -> tuple[float, float]:
    """Largest |gain - 1| in the pass band and largest gain in the stop band, both edges included.

    At 64 frequencies per tap the largest can be missed by less than a thousandth of itself.
    """
    gain = np.abs(np.fft.rfft(taps, 64 * taps.size))
    frequency = np.linspace(0.0, 0.5, gain.size)
    edges = np.abs(np.exp(-2j * np.pi * np.outer(band[:2], np.arange(taps.size))) @ taps)
    passing = np.append(gain[frequency <= band.pass_edge], edges[0])
    stopped = np.append(gain[frequency >= band.stop_edge], edges[1])
    return float(np.abs(passing - 1.0).max()), float(stopped.max())


def lowpass(half: int, band: Band) -> Array:
    """The 2 half + 1 taps whose pass- and stop-band errors, in the ratio of the ripples asked, are least."""
    nodes = half + 2
    share = band.pass_edge / (0.5 + band.pass_edge - band.stop_edge)
    below = max(GRID, round(GRID * nodes * share))
    above = max(GRID, GRID * nodes - below)
    frequency = np.concatenate([np.linspace(0, band.pass_edge, below), np.linspace(band.stop_edge, 0.5, above)])
    wanted = np.repeat([1.0, 0.0], [below, above])
    weight = np.repeat([1.0, band.pass_ripple / band.stop_ripple], [below, above])
    x = np.cos(2.0 * np.pi * frequency)
    at = np.linspace(0, x.size - 1, nodes).round().astype(np.int64)
    for _ in range(ROUNDS):
        fit = levelled(x[at], wanted[at], weight[at])
        error = weight * (wanted - fit.at(x))
        at = alternating_peaks(error, nodes)
        sizes = np.abs(error[at])
        if sizes.max() <= (1.0 + LEVEL) * sizes.min():
            break
    response = fit.at(np.cos(2.0 * np.pi * np.arange(half + 1) / (2 * half + 1)))
    taps = np.roll(np.fft.irfft(response, 2 * half + 1), half)
    return 0.5 * (taps + taps[::-1])


class Fit(NamedTuple):
    """A polynomial by its values at some nodes, and the barycentric weights of these."""

    node: Array
    weight: Array
    value: Array

    def at(self, x: Array) -> Array:
        """Its values anywhere (second barycentric formula)."""
        away = x[:, None] - self.node
        row, column = np.nonzero(away == 0.0)
        away[row] = 1.0
        share = self.weight / away
        share[row] = 0.0
        share[row, column] = 1.0  # at a node it alone counts
        return (share * self.value).sum(axis=1) / share.sum(axis=1)


def levelled(node: Array, wanted: Array, weight: Array) -> Fit:
    """The polynomial of degree nodes - 2 that misses `wanted` by +e/weight, -e/weight, +e/weight, ..."""
    away = 2.0 * (node[:, None] - node)  # the 2 keeps a product of hundreds of them far from under- and overflow
    np.fill_diagonal(away, 1.0)
    barycentric = 1.0 / away.prod(axis=1)
    miss = (-1.0) ** np.arange(node.size) / weight
    # The divided difference of all nodes is the coefficient of degree nodes - 1: e is what makes it vanish.
    e = (barycentric * wanted).sum() / (barycentric * miss).sum()
    return Fit(node, barycentric, wanted - e * miss)


def alternating_peaks(error: Array, count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Where |error| is largest between its changes of sign; of more than `count` peaks the outer small ones go."""
    changes = np.flatnonzero(np.diff(np.signbit(error))) + 1
    peaks = [int(run[0] + np.abs(error[run]).argmax()) for run in np.split(np.arange(error.size), changes)]
    while len(peaks) > count:
        peaks.pop(0 if abs(error[peaks[0]]) < abs(error[peaks[-1]]) else -1)
    return np.array(peaks)
