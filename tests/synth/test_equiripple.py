"""The exchange against the theorem that says its filter is the best one, and against scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import signal

from engine.physics.string import Array
from engine.synth import decimate
from engine.synth.equiripple import Band, keeps, lowpass, ripples, shortest

HALVES = [3, 8, 21, 40]
BAND = Band(20 / 96, 28 / 96, 1e-3, 1e-5)


def weighted_error(taps: Array, band: Band, points: int = 20_000) -> Array:
    """Error over both bands in units of the ripple asked for, from the symmetric filter's own cosine series."""
    half = taps.size // 2
    frequency = np.concatenate([np.linspace(0.0, band.pass_edge, points), np.linspace(band.stop_edge, 0.5, points)])
    response = np.cos(2.0 * np.pi * np.outer(frequency, np.arange(-half, half + 1))) @ taps
    passing = frequency <= band.pass_edge
    return np.where(passing, (response - 1.0) / band.pass_ripple, response / band.stop_ripple)


@pytest.mark.interpreted
@pytest.mark.parametrize("half", HALVES)
def test_the_error_is_equal_and_alternates_often_enough_to_be_the_least(half: int) -> None:
    """Chebyshev's alternation theorem: half + 2 equal extrema of alternating sign are necessary and sufficient."""
    error = weighted_error(lowpass(half, BAND), BAND)
    runs = np.split(error, np.flatnonzero(np.diff(np.signbit(error))) + 1)
    peaks = np.array([np.abs(run).max() for run in runs])
    equal = peaks > 0.99 * peaks.max()
    longest = max(len(group) for group in "".join("x" if e else " " for e in equal).split())
    assert longest >= half + 2


@pytest.mark.parametrize("half", HALVES)
def test_ripples_are_those_of_scipy(half: int) -> None:
    theirs = signal.remez(
        2 * half + 1,
        [0.0, BAND.pass_edge, BAND.stop_edge, 0.5],
        [1.0, 0.0],
        weight=[1.0, BAND.pass_ripple / BAND.stop_ripple],
        grid_density=64,
        maxiter=100,
    )
    assert ripples(lowpass(half, BAND), BAND) == pytest.approx(ripples(theirs, BAND), rel=0.01)


@settings(max_examples=25)
@given(rate=st.floats(8e3, 768e3), oversample=st.sampled_from([2, 4, 8]))
def test_keeps_to_the_band_at_any_rate_and_one_shorter_does_not(rate: float, oversample: int) -> None:
    band = decimate.band(rate, oversample)
    taps = shortest(band)
    assert np.array_equal(taps, taps[::-1])
    assert np.abs(weighted_error(taps, band, 4_000)).max() <= 1.0
    assert not keeps(lowpass(taps.size // 2 - 1, band), band)


@pytest.mark.interpreted
def test_ripples_are_what_the_response_shows() -> None:
    taps = lowpass(12, BAND)
    error = np.abs(weighted_error(taps, BAND))
    passing, stopped = error[:20_000].max() * BAND.pass_ripple, error[20_000:].max() * BAND.stop_ripple
    assert ripples(taps, BAND) == pytest.approx((passing, stopped), rel=1e-3)
