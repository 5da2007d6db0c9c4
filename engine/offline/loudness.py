"""Loudness as broadcasters measure it: ITU-R BS.1770-4, integrated over the whole sound with both gates, as it streams.

Each channel passes the K weighting (a shelf for the head, a high pass for the ear); the mean square is taken over
blocks of 400 ms, one every 100 ms; blocks below -70 LUFS are left out, then those 10 LU below the mean of the rest.
"""

from __future__ import annotations

import numpy as np

from engine.elementary import log10, power
from engine.files.audio_file import Sound
from engine.synth.weighting import OFFSET, k_weighting, weigh

_HOP = 0.1  # s
_HOPS_PER_BLOCK = 4
_ABSOLUTE_GATE = -70.0
_RELATIVE_GATE = -10.0


class Loudness:
    """Takes chunks of sound, gives their integrated loudness; keeps one number per 100 ms."""

    def __init__(self, rate: float, channels: int) -> None:
        self._filters = k_weighting(rate)
        self._state = np.zeros((channels, 2, 2))
        self._hop = max(1, round(_HOP * rate))
        self._sum, self._filled = np.zeros(1), 0
        self._powers: list[float] = []
        # Compiled or loaded here, not in the midst of a render.
        weigh(np.zeros((0, channels), np.float32), self._filters, self._state, self._sum)

    def add(self, chunk: Sound) -> None:
        """Measure the next frames."""
        at = 0
        while at < len(chunk):
            part = chunk[at : at + self._hop - self._filled]
            weigh(part, self._filters, self._state, self._sum)
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
        blocks = blocks[blocks > blocks.mean() * power(10.0, _RELATIVE_GATE / 10.0)]
        return OFFSET + 10.0 * log10(float(blocks.mean()))


def _power(lufs: float) -> float:
    return float(power(10.0, (lufs - OFFSET) / 10.0))
