"""From the model's rate to the sound card's: one FIR filter on the sum of all voices.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.compiled import native
from engine.errors import PresetError
from engine.physics.string import Array
from engine.synth.equiripple import Band, shortest
from engine.vectors import PADDING, project


class Decimator(NamedTuple):
    taps: Array
    oversample: int
    latency: int


class State(NamedTuple):
    history: Array
    oldest: NDArray[np.int64]


def band(sample_rate, oversample):
    pass_edge = min(20_000.0, sample_rate * 20.0 / 44.1)
    r = sample_rate * oversample
    return Band(pass_edge / r, (sample_rate - pass_edge) / r, 10 ** (0.01 / 20) - 1, 1e-5)


@lru_cache(64)
def design(sample_rate: float, oversample: int) -> Decimator:
    if oversample == 1:
        return Decimator(np.zeros((1, 0)), 1, 0)
    taps = shortest(band(sample_rate, oversample))
    half = taps.size // 2
    latency = half // oversample
    after = (latency + 1) * oversample - 1 - half
    window = np.append(taps, np.zeros(after))
    window = np.append(np.zeros(-window.size % PADDING), window)
    return Decimator(window[None], oversample, latency)


def state(d: Decimator, channels: int = 2) -> State:
    return State(np.zeros((channels, 2 * d.taps.size)), np.zeros(1, np.int64))


@native
def run(d: Decimator, s: State, x: Any, out: Any) -> None:
    size, channels = d.taps.shape[1], out.shape[1]
    if size == 0:
        for n in range(out.shape[0]):
            for c in range(channels):
                out[n, c] = x[n, c]
        return
    at = s.oldest[0]
    for n in range(out.shape[0]):
        for j in range(d.oversample):
            for c in range(channels):
                value = x[n * d.oversample + j, c]
                s.history[c, at + j] = value
                s.history[c, at + j + size] = value
        at += d.oversample
        if at == size:
            at = 0
        for c in range(channels):
            project(d.taps, s.history[c, at : at + size], out[n, c : c + 1])
    s.oldest[0] = at
