"""What moves, as bytes: pictures of strings as capture.py lays them, and a meter with the sound's spectrum.

Every message begins with one float32 that says which it is. The names of all places are told to the page once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.live.meter import Reading
from engine.live.player import Integers
from engine.synth.capture import HEAD, LAP, STEP, Pictures
from engine.synth.likeness import PICTURE, ROLES
from engine.synth.strings import SHAPES

LOOK, FILM, METER, SOUND = range(4)
METERS = ("left", "right", "load", "most", "strings", "lost", "blocks", "lowered", "polyphony")
COLUMN, WINDOW = 160, 2048  # numbers of a spectrum, and samples that it is of
BLOCKS = 32  # the newest ones whose load is told with a meter
NO_BLOCK = -1.0  # where there were fewer
LOWEST, HIGHEST = 40.0, 18_000.0  # Hz
FLOOR = -110.0  # dB

_SHAPE = np.hanning(WINDOW)


def layout() -> dict[str, Any]:
    """For the page."""
    return {
        "kinds": {"look": LOOK, "film": FILM, "meter": METER, "sound": SOUND},
        "head": list(HEAD),
        "picture": list(PICTURE),
        "shapes": list(SHAPES),
        "roles": list(ROLES),
        "meter": list(METERS),
        "column": COLUMN,
        "blocks": BLOCKS,
        "lowest": LOWEST,
        "highest": HIGHEST,
        "floor": FLOOR,
        "lap": LAP,
        "step": STEP,
    }


def pictures(kind: int, seen: Pictures) -> bytes:
    """A look, or a film."""
    return np.float32(kind).tobytes() + seen.tobytes()


def loads(blocks: Integers, sample_rate: float) -> NDArray[np.float32]:
    """Of each block since the last look, what share of its time it took."""
    found = np.full(BLOCKS, NO_BLOCK, np.float32)
    newest = blocks[-BLOCKS:]
    found[: len(newest)] = newest[:, 1] * (1e-9 * sample_rate) / np.maximum(newest[:, 2], 1)
    return found


def meter(reading: Reading, column: NDArray[np.float32] | None, blocks: NDArray[np.float32]) -> bytes:
    """Levels, load, strings; a column of the spectrogram; the load of the newest blocks."""
    levels = [level.now for level in reading.levels]
    load = reading.load
    facts = [
        *(levels * 2)[:2],
        load.p99 if load else 0.0,
        load.most if load else 0.0,
        len(reading.strings),
        reading.lost,
        reading.blocks,
        max((level.lowered for level in reading.levels), default=0.0),
        reading.polyphony,
    ]
    seen = np.full(COLUMN, FLOOR, np.float32) if column is None else column
    return np.concatenate([np.array([METER, *facts], np.float32), seen, blocks]).tobytes()


class Spectrum:
    """dB in bands that are even on a logarithmic scale of frequency."""

    def __init__(self, sample_rate: float) -> None:
        edges = np.geomspace(LOWEST, min(HIGHEST, 0.49 * sample_rate), COLUMN + 1) * WINDOW / sample_rate
        low = np.floor(edges[:-1]).astype(int)
        self._edges = np.maximum(low, 1)
        self._share = 1.0 / float(_SHAPE.sum())

    def column(self, sound: Pictures) -> NDArray[np.float32]:
        """Of WINDOW samples."""
        size = np.abs(np.fft.rfft(sound * _SHAPE)) * self._share
        strongest = np.maximum.reduceat(size, self._edges)
        return (20.0 * np.log10(np.maximum(strongest, 1e-6))).clip(FLOOR, 0.0).astype(np.float32)
