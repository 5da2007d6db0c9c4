"""How loud sound is to the ear, by ITU-R BS.1770-4: the K weighting (a shelf for the head, a high pass for the ear)."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from engine.compiled import CUBE, MATRIX, SINGLE_ROWS, VECTOR, called_with
from engine.elementary import power, tan
from engine.physics.string import Array

OFFSET = -0.691  # LUFS of a weighted mean square of 1, so that the weighting is 0 dB at 997 Hz
_HIGH_PASS = (38.13547087602444, 0.5003270373238773)  # Hz, Q


def k_weighting(rate: float) -> Array:
    """b0 b1 b2 a1 a2 of the two filters at any sample rate; at 48 kHz they are those of BS.1770-4, tables 1 and 2.

    The tables are bilinear transforms of a shelf of 4 dB at 1682 Hz and a high pass at 38 Hz, which these numbers
    restore (known from libebur128).
    """
    k, damping = _warped(1681.974450955533, 0.7071752369554196, rate)
    high = power(10.0, 3.999843853973347 / 20.0)
    band = power(high, 0.4996667741545416)
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


@called_with(SINGLE_ROWS, MATRIX, CUBE, VECTOR)
def weigh(chunk: Any, filters: Any, state: Any, total: Any) -> None:
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
