"""The sound of a session on disk, exactly as the card was given it: 32-bit floats in a WAV file that grows.

Until its end is known its head says "as long as it lasts", so even what a session left that broke off can be played.
What is not to be a WAV file is made from it at the end.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from engine.files import wav
from engine.files.audio_file import Format, audio_file
from engine.files.errors import FileError
from engine.files.formats import DEFAULT_DEPTH, codec_of
from engine.files.target import named, publish
from engine.files.unfinished import Unfinished
from engine.live.thread.tape import Tape

WAVES = (".wav", ".wave")
_DEPTH, _CHUNK = "32f", 1 << 16


def head_of(rate: int, channels: int, frames: int | None) -> bytes:
    """What such a file begins with, always as long: it becomes RF64 in place when it turns out to be that large."""
    large = frames is not None and _HEAD + 4 * channels * frames >= 1 << 32
    return wav.head_of(rate, channels, _DEPTH, frames, large=large, room=True)


_HEAD = len(head_of(1, 1, None))


class SoundTake:
    """What a tape records, written to disk as it comes."""

    def __init__(self, file: Unfinished, rate: int, channels: int, tape: Tape | None = None) -> None:
        self.file, self._rate, self._channels, self._tape = file, rate, channels, tape

    @staticmethod
    def begin(target: Path, sample_rate: float, tape: Tape) -> SoundTake:
        """A new one; nothing is there under its name until it is finished."""
        rate = round(sample_rate)
        codec_of(target, rate, DEFAULT_DEPTH)  # refuses what could not be written in the end
        file = Unfinished.beside(target)
        if not file.append(head_of(rate, tape.channels, None)):
            file.remove()
            raise FileError(f"{named(target)}: cannot be recorded ({file.trouble}); make room or choose another place")
        return SoundTake(file, rate, tape.channels, tape)

    @staticmethod
    def left(file: Unfinished) -> SoundTake | None:
        """What was left behind; None if it is no such file."""
        with file.opened() as sound:
            head = sound.read(_HEAD)
        if len(head) < _HEAD:
            return None
        rate, channels = wav.shape_of(head)
        if not (0 < channels <= 1024 and 0 < rate * channels < 1 << 28):
            return None
        take = SoundTake(file, rate, channels)
        return take if head in (head_of(rate, channels, None), head_of(rate, channels, take.frames)) else None

    def collect(self) -> None:
        """Write what the tape has; what the disk does not take stays on it."""
        while self._tape is not None and len(found := self._tape.new()[:_CHUNK]):
            if not self.file.append(found.astype("<f4", copy=False).tobytes()):
                return
            self._tape.drop(len(found))

    @property
    def frames(self) -> int:
        """Whole ones on disk."""
        return (self.file.size - _HEAD) // (4 * self._channels)

    @property
    def empty(self) -> bool:
        """Nothing was heard."""
        return self.frames == 0

    @property
    def length(self) -> str:
        """How much there is."""
        return f"{self.frames / self._rate:.1f} s"

    def place(self, frame: int) -> str:
        """When a frame is heard, in minutes and seconds."""
        return f"{int(frame / self._rate / 60)}:{frame / self._rate % 60:06.3f}"

    def write(self, path: Path, force: bool) -> None:
        """The whole sound under this name, or nothing."""
        self.collect()
        if path.suffix.lower() in WAVES:
            size = _HEAD + self.frames * 4 * self._channels
            self.file.finish(head_of(self._rate, self._channels, self.frames), size)
            publish(self.file.path, path, force)
        else:
            self._convert(path, force)
        self.file.remove()

    def _convert(self, path: Path, force: bool) -> None:
        form = Format(self._rate, self._channels)
        with self.file.opened() as sound, audio_file(path, form, self.frames, force=force) as target:
            sound.seek(_HEAD)
            for at in range(0, self.frames, _CHUNK):
                data = sound.read(4 * self._channels * min(_CHUNK, self.frames - at))
                target.write(np.frombuffer(data, "<f4").astype(np.float32).reshape(-1, self._channels))


def is_sound(path: Path) -> bool:
    """Whether a suffix is that of an audio file; an error says what there is."""
    return bool(codec_of(path, 48_000, DEFAULT_DEPTH))
