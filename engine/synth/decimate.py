"""From the model's rate to the sound card's: one symmetric filter on the sum of all voices.

Linear phase was chosen on measured grounds (scripts/measure_decimators.py; here at 48 kHz):

    oversample                                    2          4          8
    linear phase: taps                           57        113        223
                  delay at all frequencies    0.292      0.292      0.289 ms
    minimum phase: delay at 1 kHz             0.035      0.045      0.046 ms
                   delay at 20 kHz            0.111      0.122      0.123 ms
    Kaiser window: taps                          79        157        311
                   delay                      0.406      0.406      0.404 ms

Minimum phase would save a quarter of a millisecond, a tenth of one block of 128 frames, and give a delay that depends
on frequency. What linear phase rings ahead by more than 0.1 ms is 30 dB down, three quarters of it above 18 kHz. In
return its delay is a whole number of samples, which an offline render takes away exactly: up to 20 kHz oversampling
changes nothing but the aliasing. At 44.1 kHz the transition is half as wide: 101, 199, 397 taps and 0.57 ms; from
96 kHz on, 0.04 ms.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from engine.compiled import called_by_python
from engine.errors import SettingError
from engine.layout import Integers, Matrix
from engine.synth.equiripple import Band, shortest
from engine.units import db_to_gain
from engine.vectors import PADDING, project

FACTORS = (1, 2, 4, 8)
AUDIBLE = 20_000.0  # Hz
CD_RATE = 44_100.0  # Hz: the lowest rate at which all that is audible passes; lower ones pass the same share of theirs
# Rates that have a filter of their own. What it does at its own rate it does up to the next one: there it passes more.
RATES = (CD_RATE, 48_000.0, 88_200.0, 96_000.0, 176_400.0, 192_000.0)
# Five times closer than the +-0.05 dB that the whole output is allowed, for a tenth more taps.
PASS_RIPPLE = db_to_gain(0.01) - 1.0
STOP_RIPPLE = db_to_gain(-100.0)


class Decimator(NamedTuple):
    """What the kernel reads."""

    taps: Matrix  # [1, size] in order of time, whole vectors, zeros around; none at all if there is nothing to do
    oversample: int  # samples in for each sample out
    latency: int  # samples out


class State(NamedTuple):
    """The last `size` samples of each channel, kept twice so that they always stand in one row, in order of time."""

    history: Matrix  # [channels, 2 size]
    oldest: Integers  # where that row begins; one entry


def band(sample_rate: float, oversample: int) -> Band:
    """Passes up to 20 kHz and stops all that would fold into what is passed, at the model's rate."""
    own = max((rate for rate in RATES if rate <= sample_rate), default=CD_RATE)
    model_rate = own * oversample
    return Band(AUDIBLE / model_rate, (own - AUDIBLE) / model_rate, PASS_RIPPLE, STOP_RIPPLE)


def design(sample_rate: float, oversample: int) -> Decimator:
    """Sample n out is centred on sample (n - latency) * oversample in."""
    if oversample not in FACTORS:
        raise SettingError("oversample", oversample, "must be 1, 2, 4 or 8", "1 is the cheapest, 2 aliases less")
    if oversample == 1:
        return Decimator(np.zeros((1, 0)), 1, 0)
    return _designed(band(sample_rate, oversample), oversample)


@lru_cache(maxsize=32)
def _designed(wanted: Band, oversample: int) -> Decimator:
    taps = shortest(wanted)
    half = taps.size // 2
    # With sample n out, all of its `oversample` samples in are known: the centre may lie that much later.
    latency = half // oversample
    unheard = (latency + 1) * oversample - 1 - half
    window = np.pad(taps, (-(taps.size + unheard) % PADDING, unheard))
    return Decimator(window[None, :], oversample, latency)


def state(d: Decimator, channels: int = 2) -> State:
    """Memory of silence."""
    return State(np.zeros((channels, 2 * d.taps.size)), np.zeros(1, np.int64))


@called_by_python
def reset(s: State) -> None:
    """Back to silence."""
    for c in range(s.history.shape[0]):
        for i in range(s.history.shape[1]):
            s.history[c, i] = 0.0
    s.oldest[0] = 0


@called_by_python
def run(d: Decimator, s: State, x: Any, out: Any) -> None:
    """Fill out[n, channel] from x[n * oversample, channel], both float64.

    Every sum is over the whole window and by the one loop of `project`: a block's borders leave no trace in it.
    """
    size = d.taps.shape[1]
    at = s.oldest[0]
    for n in range(out.shape[0]):
        for c in range(out.shape[1]):
            if size == 0:
                out[n, c] = x[n, c]
                continue
            for j in range(d.oversample):
                sample = x[n * d.oversample + j, c]
                s.history[c, at + j] = sample
                s.history[c, at + j + size] = sample
        if size:
            at = (at + d.oversample) % size
            for c in range(out.shape[1]):
                project(d.taps, s.history[c, at : at + size], out[n, c : c + 1])
    s.oldest[0] = at
