"""Leaf: the shortest linear-phase low-pass that keeps to a tolerance, by the exchange of Parks and McClellan (1972).

A symmetric filter of 2 half + 1 taps has the real response A(w) = sum_k a_k cos(k w): a polynomial in x = cos(w) of
degree `half`. The best one errs equally, with alternating sign, at half + 2 frequencies. The exchange guesses these,
solves for the polynomial that errs equally there, and moves them to where its error is in truth largest. Sums have one
order, term by term over all frequencies at once, so that a filter is the same on every machine.
A Kaiser window needs about 40 % more taps, because it cannot spend the tolerance of the pass band.

Frequencies are in cycles per sample, ripples are amplitudes.
"""

from __future__ import annotations

from math import pi
from typing import NamedTuple

import numpy as np

from engine.elementary import cos, log10
from engine.physics.linear import total
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
    frequency = np.linspace(0.0, 0.5, 32 * taps.size + 1)
    passing = np.append(frequency[frequency <= band.pass_edge], band.pass_edge)
    stopped = np.append(frequency[frequency >= band.stop_edge], band.stop_edge)
    return float(np.abs(gain(taps, passing) - 1.0).max()), float(np.abs(gain(taps, stopped)).max())


def gain(taps: Array, frequency: Array) -> Array:
    """The real response of a symmetric filter (Clenshaw's sum, which needs one cosine for each frequency)."""
    half, x = taps.size // 2, cosines(2.0 * pi * frequency)
    one, two = np.zeros_like(x), np.zeros_like(x)
    for k in range(half, 0, -1):
        one, two = 2.0 * taps[half + k] + 2.0 * x * one - two, one
    found: Array = taps[half] + x * one - two
    return found


def lowpass(half: int, band: Band) -> Array:
    """The 2 half + 1 taps whose pass- and stop-band errors, in the ratio of the ripples asked, are least."""
    nodes = half + 2
    share = band.pass_edge / (0.5 + band.pass_edge - band.stop_edge)
    below = max(GRID, round(GRID * nodes * share))
    above = max(GRID, GRID * nodes - below)
    frequency = np.concatenate([np.linspace(0, band.pass_edge, below), np.linspace(band.stop_edge, 0.5, above)])
    wanted = np.repeat([1.0, 0.0], [below, above])
    weight = np.repeat([1.0, band.pass_ripple / band.stop_ripple], [below, above])
    x = cosines(2.0 * pi * frequency)
    at = np.linspace(0, x.size - 1, nodes).round().astype(np.int64)
    for _ in range(ROUNDS):
        fit = levelled(x[at], wanted[at], weight[at])
        error = weight * (wanted - fit.at(x))
        at = alternating_peaks(error, nodes)
        sizes = np.abs(error[at])
        if sizes.max() <= (1.0 + LEVEL) * sizes.min():
            break
    return taps_of(fit.at(wave(2 * half + 1)[: half + 1]))


def cosines(angles: Array) -> Array:
    """In plain Python: compiled code for arrays would load so much with it that a start takes twice as long."""
    return np.array([cos(angle) for angle in angles.tolist()])


def wave(size: int) -> Array:
    """One period of a cosine."""
    return cosines(2.0 * pi * np.arange(size) / size)


def taps_of(response: Array) -> Array:
    """The symmetric filter of odd length with this response at 0, 1/length, 2/length, ..."""
    half = response.size - 1
    size, n = 2 * half + 1, np.arange(half + 1)
    cosine, taps = wave(size), np.full(half + 1, response[0])
    for k in range(1, half + 1):
        taps += 2.0 * response[k] * cosine[k * n % size]
    return np.concatenate([taps[:0:-1], taps]) / size


class Fit(NamedTuple):
    """A polynomial by its values at some nodes, and the barycentric weights of these."""

    node: Array
    weight: Array
    value: Array

    def at(self, x: Array) -> Array:
        """Its values anywhere (second barycentric formula)."""
        above, below, exact = np.zeros_like(x), np.zeros_like(x), np.full_like(x, np.nan)
        for node, weight, value in zip(self.node, self.weight, self.value, strict=True):
            away = x - node
            hit = away == 0.0
            exact[hit], away[hit] = value, 1.0  # at a node it alone counts
            share = weight / away
            above += share * value
            below += share
        return np.where(np.isnan(exact), above / below, exact)


def levelled(node: Array, wanted: Array, weight: Array) -> Fit:
    """The polynomial of degree nodes - 2 that misses `wanted` by +e/weight, -e/weight, +e/weight, ..."""
    product = np.ones_like(node)
    for i, other in enumerate(node):
        away = 2.0 * (node - other)  # the 2 keeps a product of hundreds of them far from under- and overflow
        away[i] = 1.0
        product *= away
    barycentric = 1.0 / product
    miss = np.where(np.arange(node.size) % 2, -1.0, 1.0) / weight
    # The divided difference of all nodes is the coefficient of degree nodes - 1: e is what makes it vanish.
    e = total(barycentric * wanted) / total(barycentric * miss)
    return Fit(node, barycentric, wanted - e * miss)


def alternating_peaks(error: Array, count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Where |error| is largest between its changes of sign; of more than `count` peaks the outer small ones go."""
    changes = np.flatnonzero(np.diff(np.signbit(error))) + 1
    peaks = [int(run[0] + np.abs(error[run]).argmax()) for run in np.split(np.arange(error.size), changes)]
    while len(peaks) > count:
        peaks.pop(0 if abs(error[peaks[0]]) < abs(error[peaks[-1]]) else -1)
    return np.array(peaks)
