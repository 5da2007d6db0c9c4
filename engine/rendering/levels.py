"""Levels of a stream of sound: measured, changed by a gain, or brought to a peak."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from engine.rendering.loudness import Loudness
from engine.rendering.stream import CHUNK, Sound
from engine.units import db_to_gain, gain_to_db


class Meter:
    """Frames, peak and loudness of what goes past."""

    def __init__(self, rate: int, channels: int) -> None:
        self.frames, self._peak = 0, 0.0
        self._loudness = Loudness(rate, channels)

    def add(self, chunk: Sound) -> None:
        """Measure the next frames."""
        self.frames += len(chunk)
        self._peak = max(self._peak, _peak(chunk))
        self._loudness.add(chunk)

    @property
    def peak_dbfs(self) -> float | None:
        """The largest sample in dB below full scale; None for silence."""
        return gain_to_db(self._peak) if self._peak > 0.0 else None

    @property
    def loudness_lufs(self) -> float | None:
        """Integrated loudness; None where there is none."""
        return self._loudness.integrated()


def amplified(chunks: Iterable[Sound], db: float) -> Iterator[Sound]:
    """The same sound, louder or softer."""
    gain = np.float32(db_to_gain(db))
    for chunk in chunks:
        yield chunk * gain


def normalised(chunks: Iterable[Sound], channels: int, dbfs: float, folder: Path) -> Iterator[Sound]:
    """The same sound with its peak at `dbfs`; it waits in a nameless file in `folder` until its peak is known."""
    with tempfile.TemporaryFile(dir=folder) as spool:
        peak = 0.0
        for chunk in chunks:
            peak = max(peak, _peak(chunk))
            spool.write(np.ascontiguousarray(chunk).tobytes())
        gain = np.float32(db_to_gain(dbfs) / peak if peak > 0.0 else 1.0)
        spool.seek(0)
        while data := spool.read(CHUNK * channels * 4):
            yield np.frombuffer(data, np.float32).reshape(-1, channels) * gain


def _peak(chunk: Sound) -> float:
    return float(np.abs(chunk).max(initial=0.0))
