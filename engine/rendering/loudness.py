"""Loudness as broadcasters measure it: ITU-R BS.1770-4, integrated over the whole sound with both gates, as it streams.

Each channel passes the K weighting (a shelf for the head, a high pass for the ear); the mean square is taken over
blocks of 400 ms, one every 100 ms; blocks below -70 LUFS are left out, then those 10 LU below the mean of the rest.
"""

from __future__ import annotations

from math import log10, pi, tan
from typing import Any

import numpy as np

from engine.compiled import called_by_python
from engine.physics.string import Array
from engine.rendering.stream import Sound

_HIGH_PASS = (38.13547087602444, 0.5003270373238773)  # Hz, Q
_HOP = 0.1  # s
_HOPS_PER_BLOCK = 4
_OFFSET = -0.691  # LUFS, so that the weighting is 0 dB at 997 Hz
_ABSOLUTE_GATE = -70.0
_RELATIVE_GATE = -10.0


def k_weighting(rate: float) -> Array:
    """b0 b1 b2 a1 a2 of the two filters at any sample rate; at 48 kHz they are those of BS.1770-4, tables 1 and 2.

    The tables are bilinear transforms of a shelf of 4 dB at 1682 Hz and a high pass at 38 Hz, which these numbers
    restore (known from libebur128).
    """
    k, damping = _warped(1681.974450955533, 0.7071752369554196, rate)
    high = 10.0 ** (3.999843853973347 / 20.0)
    band = high**0.4996667741545416
    zeros = [high + band * damping + k * k, 2.0 * (k * k - high), high - band * damping + k * k]
    shelf = [*zeros, 2.0 * (k * k - 1.0), 1.0 - damping + k * k]
    shelf = [value / (1.0 + damping + k * k) for value in shelf]
    k, damping = _warped(*_HIGH_PASS, rate)
    tabled_k, tabled_damping = _warped(*_HIGH_PASS, 48_000.0)
    # The table has 1, -2, 1 here, which amplifies by 0.04 dB at 48 kHz, and must do so at all rates.
    gain = 1.0 + tabled_damping + tabled_k * tabled_k
    high_pass = [gain, -2.0 * gain, gain, 2.0 * (k * k - 1.0), 1.0 - damping + k * k]
    return np.array([shelf, [value / (1.0 + damping + k * k) for value in high_pass]])


def _warped(hz: float, q: float, rate: float) -> tuple[float, float]:
    """A frequency as the bilinear transform needs it, and the same over Q."""
    k = tan(pi * hz / rate)
    return k, k / q


class Loudness:
    """Takes chunks of sound, gives their integrated loudness; keeps one number per 100 ms."""

    def __init__(self, rate: float, channels: int) -> None:
        self._filters = k_weighting(rate)
        self._state = np.zeros((channels, 2, 2))
        self._hop = max(1, round(_HOP * rate))
        self._sum, self._filled = np.zeros(1), 0
        self._powers: list[float] = []
        # Compiled or loaded here, not in the midst of a render.
        _weigh(np.zeros((0, channels), np.float32), self._filters, self._state, self._sum)

    def add(self, chunk: Sound) -> None:
        """Measure the next frames."""
        at = 0
        while at < len(chunk):
            part = chunk[at : at + self._hop - self._filled]
            _weigh(part, self._filters, self._state, self._sum)
            at += len(part)
            self._filled += len(part)
            if self._filled == self._hop:
                self._powers.append(float(self._sum[0]) / self._hop)
                self._sum[0], self._filled = 0.0, 0

    def integrated(self) -> float | None:
        """LUFS of all so far; None if it is shorter than a block or nowhere above the gate."""
        if len(self._powers) < _HOPS_PER_BLOCK:
            return None
        blocks = np.convolve(self._powers, np.full(_HOPS_PER_BLOCK, 1.0 / _HOPS_PER_BLOCK), "valid")
        blocks = blocks[blocks > _power(_ABSOLUTE_GATE)]
        if not blocks.size:
            return None
        blocks = blocks[blocks > blocks.mean() * 10.0 ** (_RELATIVE_GATE / 10.0)]
        return _OFFSET + 10.0 * log10(float(blocks.mean()))


def _power(lufs: float) -> float:
    return float(10.0 ** ((lufs - _OFFSET) / 10.0))


@called_by_python
def _weigh(chunk: Any, filters: Any, state: Any, total: Any) -> None:
    """Add the weighted squares of a chunk to total[0]; state holds two numbers per channel and filter."""
    for channel in range(chunk.shape[1]):
        for n in range(chunk.shape[0]):
            x = float(chunk[n, channel])
            for i in range(2):
                f, z = filters[i], state[channel, i]
                y = f[0] * x + z[0]
                z[0] = f[1] * x - f[3] * y + z[1]
                z[1] = f[2] * x - f[4] * y
                x = y
            total[0] += x * x
