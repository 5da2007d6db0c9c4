"""Levels of a stream of sound: measured, kept until they are known, and what gain they ask for."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import numpy as np

from engine.files.audio_file import Sound
from engine.files.errors import FileError
from engine.files.target import is_sink, named
from engine.offline.loudness import Loudness
from engine.offline.stream import CHUNK
from engine.synth.output import CEILING, limit_block
from engine.units import db_to_gain, gain_to_db

IN_MEMORY = 1 << 23  # bytes of sound that waits for its level: 22 s of stereo at 48 kHz


class LevelMeter:
    """Frames, peak and loudness of what goes past."""

    def __init__(self, rate: int, channels: int) -> None:
        self.frames, self.peak = 0, 0.0
        self._loudness = Loudness(rate, channels)

    def add(self, chunk: Sound) -> None:
        """Measure the next frames."""
        self.frames += len(chunk)
        self.peak = max(self.peak, _peak(chunk))
        self._loudness.add(chunk)

    @property
    def peak_dbfs(self) -> float | None:
        """The largest sample in dB below full scale; None for silence."""
        return gain_to_db(self.peak) if self.peak > 0.0 else None

    @property
    def loudness_lufs(self) -> float | None:
        """Integrated loudness; None where there is none."""
        return self._loudness.integrated()


class Spool:
    """Sound that waits until its level is known: in memory if it is short, else in a nameless file beside `path`, where
    it will go. For a `with` block.
    """

    def __init__(self, path: Path, rate: int, channels: int) -> None:
        self.meter = LevelMeter(rate, channels)
        self._path, self._channels = path, channels

    def __enter__(self) -> Self:
        try:
            folder = None if is_sink(self._path) else str(self._path.resolve().parent)
            self._file = tempfile.SpooledTemporaryFile(IN_MEMORY, dir=folder)
        except OSError as error:
            raise self._refusal(error) from None
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            self._file.close()
        except OSError as trouble:  # a full disk, told when closing writes what is left
            if error is None:
                raise self._refusal(trouble) from None

    def fill(self, chunks: Iterable[Sound]) -> None:
        """Take in all the sound, and measure it."""
        for chunk in chunks:
            self.meter.add(chunk)
            try:
                self._file.write(np.ascontiguousarray(chunk).tobytes())
            except OSError as error:
                raise self._refusal(error) from None

    def chunks(self) -> Iterator[Sound]:
        """The same sound again, read only."""
        try:
            self._file.seek(0)
            while data := self._file.read(CHUNK * self._channels * 4):
                yield np.frombuffer(data, np.float32).reshape(-1, self._channels)
        except OSError as error:
            raise self._refusal(error) from None

    def _refusal(self, error: OSError) -> FileError:
        reason = error.strerror or error
        return FileError(f"{named(self._path)}: cannot be written ({reason}); make room or choose another place")


class Gain(NamedTuple):
    """What a sound is multiplied by, and what there is to say about it."""

    gain: float
    remark: str = ""


def level(peak: float, lufs: float | None, wanted: Wanted, full_scale: float, floats: bool = True) -> Gain:
    """The gain that gives what is wanted, lowered where a sample would be over full scale and be cut off.

    `full_scale` is the largest sample that a file's format holds; infinity for floats, and for what will be limited.
    `floats` says whether it could hold those, which keep any level.
    """
    gain, remark = db_to_gain(wanted.gain), ""
    if wanted.peak is not None and peak > 0.0:
        gain = db_to_gain(wanted.peak) / peak
    elif wanted.loudness is not None and lufs is not None:
        gain = db_to_gain(wanted.loudness - lufs)
    elif wanted.loudness is not None:
        remark = "shorter than 400 ms or silent: it has no loudness, and is left as it is"
    loud = gain * peak
    if loud <= full_scale:
        return Gain(gain, remark)
    if loud <= 1.0 + 1e-9:  # what was asked for, but for the last bit
        return Gain(full_scale / peak)
    lowered = f"lowered by {gain_to_db(loud / CEILING):.1f} dB so that nothing is cut off"
    keeps = f"{'' if floats else '.wav with '}--bit-depth 32f keeps the level"
    return Gain(CEILING / peak, f"peak {gain_to_db(loud):+.1f} dBFS, {lowered}; {keeps}, --limit bends")


class Wanted(NamedTuple):
    """What is asked for: a gain in dB, or the peak in dBFS, or the loudness in LUFS."""

    gain: float = 0.0
    peak: float | None = None
    loudness: float | None = None


def limited(sound: Sound) -> int:
    """Bend what is above the limiter's knee, in place, as a sound card would hear it; how many frames were bent."""
    return int(limit_block(sound.ctypes.data, *sound.shape))


def _peak(chunk: Sound) -> float:
    return float(np.abs(chunk).max(initial=0.0))
