"""What was played, kept: a MIDI file whose ticks are the sound card's samples.

Rendered with the same preset at the same rate, and the limiter, it gives the same samples that were heard.
"""

from __future__ import annotations

from pathlib import Path

from engine.errors import EngineError
from engine.live.player import Integers
from engine.rendering.errors import FileError

MOST_TICKS = 32767  # per quarter note, in a MIDI file
MICROSECONDS = 1_000_000


def clock_of(sample_rate: int) -> tuple[int, int]:
    """Ticks per quarter note and microseconds per quarter note, so that a tick is one sample exactly."""
    for quarters in range(1, MICROSECONDS):  # a second
        if sample_rate % quarters == 0 == MICROSECONDS % quarters and sample_rate // quarters <= MOST_TICKS:
            return sample_rate // quarters, MICROSECONDS // quarters
    raise EngineError(f"sample rate {sample_rate}: no MIDI file can count its samples; try {_nearest(sample_rate)}")


def _nearest(sample_rate: int) -> int:
    return min((44_100, 48_000, 88_200, 96_000, 176_400, 192_000), key=lambda rate: abs(rate - sample_rate))


class Take:
    """Collects events as they were obeyed, and writes them at the end."""

    def __init__(self, path: Path, sample_rate: float, force: bool = False) -> None:
        if path.exists() and not force:
            raise FileError(f"{path}: exists; choose another name, or --force to replace it")
        if not path.parent.is_dir():
            raise FileError(f"{path}: there is no folder {path.parent}; make it first")
        self.path, self._clock = path, clock_of(round(sample_rate))
        self._events: list[tuple[int, int]] = []

    def add(self, events: Integers) -> None:
        """Rows of (sample, message)."""
        self._events += [(int(sample), int(message)) for sample, message in events]

    def write(self) -> None:
        """The whole take under its name, or nothing."""
        import mido

        ticks, tempo = self._clock
        track = mido.MidiTrack([mido.MetaMessage("set_tempo", tempo=tempo, time=0)])
        last = 0
        # Two ports may have been obeyed out of order by a few samples within one block.
        for sample, message in sorted(self._events, key=lambda event: event[0]):
            status, first, second = message & 0xFF, message >> 8 & 0x7F, message >> 16 & 0x7F
            data = (status, first) if status & 0xE0 == 0xC0 else (status, first, second)
            track.append(mido.Message.from_bytes(data, time=sample - last))
            last = sample
        file = mido.MidiFile(type=0, ticks_per_beat=ticks, tracks=[track])
        part = self.path.with_name(f".{self.path.name[:200]}.part")
        try:
            file.save(part)
            part.replace(self.path)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise FileError(f"{self.path}: {error.strerror or error}; choose another place") from None
