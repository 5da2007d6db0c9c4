"""A playable instrument: a preset at a sample rate; MIDI messages go in, blocks of sound come out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import nan
from os import PathLike
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.errors import SettingError
from engine.preset.complaints import shown
from engine.preset.loader import Preset, load_preset
from engine.preset.tuning import Tuning, load_tuning
from engine.synth import decimate
from engine.synth import fields as f
from engine.synth.bank import Setup, design_bank, reset_bank
from engine.synth.budget import frames_at_once
from engine.synth.mts import TUNING, tunings
from engine.synth.renderer import play
from engine.synth.ring import push

LOWEST_RATE, HIGHEST_RATE = 8_000.0, 384_000.0
MOST_VOICES = 256


class Message(Protocol):
    """What mido's messages are to us."""

    time: float

    def bytes(self) -> Sequence[int]: ...


class Instrument:
    """Every key's string designed, every voice's memory laid out; nothing is allocated after that.

    process(messages, out) renders one block; calling the instrument renders a stretch of time. Blocks of any size give
    the same samples. Without a polyphony it is the preset's, or as many strings more as a piece needs that strikes
    `needed` of them, if memory lasts.
    """

    def __init__(
        self,
        preset: str | PathLike[str] | Mapping[str, Any] | Preset,
        sample_rate: float = 48_000,
        block_size: int = 128,
        oversample: int | None = None,
        polyphony: int | None = None,
        tuning: str | Tuning | None = None,
        mono: bool = False,
        needed: int = 0,
    ) -> None:
        self.preset = preset if isinstance(preset, Preset) else load_preset(preset)
        self.sample_rate = _within("sample rate", sample_rate, LOWEST_RATE, HIGHEST_RATE, "try 48000")
        self.block_size = _whole("block size", block_size, 1, 1 << 20, "try 128")
        factor = self.preset.oversample if oversample is None else oversample
        self.oversample = _whole("oversample", factor, 1, 8, "take 1, 2, 4 or 8")
        decimate.design(self.sample_rate, self.oversample)  # refuses an impossible factor before anything is designed
        voices = self.preset.polyphony if polyphony is None else polyphony
        fewest = _whole("polyphony", voices, 1, MOST_VOICES, "try 16")
        most = min(max(needed, 0), MOST_VOICES) if polyphony is None else 0
        if isinstance(tuning, str):
            tuning = load_tuning(tuning)
        self.tuning = tuning or self.preset.tuning
        self.channels = 1 if mono else 2
        self._bank = design_bank(
            Setup(self.preset, self.sample_rate, self.oversample, fewest, self.channels, self.tuning, most)
        )
        self.polyphony = int(self.arrays["settings"][f.S_POLYPHONY])
        self.silent_keys = {n: key.silent_because for n, key in enumerate(self._bank.keys) if key.design is None}
        self._piece = frames_at_once([key.design for key in self._bank.keys], self.polyphony, self.oversample)
        play(self.address, 0, 0)  # compiled or loaded here, not in the first block

    @property
    def address(self) -> int:
        """The address of the renderer's table: all that `engine.synth.renderer.play` needs."""
        return int(self._bank.table.ctypes.data)

    @property
    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """The renderer's memory by name, alive as long as the instrument: meters, ring, settings."""
        return self._bank.arrays

    @property
    def clock(self) -> int:
        """Samples rendered since the last reset."""
        return int(self.arrays["settings"][f.S_CLOCK])

    @property
    def latency(self) -> int:
        """Samples by which the oversampling filter delays everything."""
        return int(self.arrays["settings"][f.S_LATENCY])

    @property
    def silent(self) -> bool:
        """No voice sounds and no event waits."""
        a = self.arrays
        waiting = a["ring"][f.R_WRITTEN] != a["ring"][f.R_READ]
        return not waiting and not (a["voice_ints"][:, f.V_STATE] != f.FREE).any()

    def report(self) -> dict[str, int]:
        """Counts since the last reset."""
        m = self.arrays["meters"]
        return {
            "voices_stolen": int(m[f.M_STOLEN]),
            "watchdog": int(m[f.M_WATCHDOG]),
            "events_lost": int(m[f.M_LOST]),
            "voices": int(m[f.M_SOUNDING]),
            "peak_voices": int(m[f.M_MOST]),
        }

    def reset(self) -> None:
        """Silence, controllers untouched, clock at zero: as if just made."""
        reset_bank(self._bank)

    def schedule(self, sample: int, data: Sequence[int]) -> bool:
        """Queue a MIDI message (its bytes) for an absolute sample; False if the ring was full and it was lost.

        A note-off or an all-sound-off is never lost. What is neither a channel message nor a tuning is ignored.
        """
        if data and data[0] == TUNING:
            return 0 not in [push(self.address, max(sample, 0), packed) for packed in tunings(data)]
        if not data or not 0x80 <= data[0] < 0xF0:
            return True
        first, second = data[1] if len(data) > 1 else 0, data[2] if len(data) > 2 else 0
        return bool(push(self.address, max(sample, 0), data[0] | first << 8 | second << 16))

    def run(self, out: NDArray[np.float32]) -> None:
        """Render out.shape[0] samples into `out`, float32 [frames, channels]."""
        if out.dtype != np.float32 or out.ndim != 2 or out.shape[1] != self.channels or not out.flags.c_contiguous:
            raise TypeError(f"out must be a contiguous float32 array [frames, {self.channels}]")
        for at in range(0, out.shape[0], self._piece):  # heavy ones in pieces: Ctrl-C gets through
            piece = out[at : at + self._piece]
            play(self.address, piece.shape[0], piece.ctypes.data)

    def process(self, messages: Iterable[Message], out: NDArray[np.float32]) -> None:
        """Render one block with the messages of that block; their .time is in seconds from the block's start."""
        start = self.clock
        for message in sorted(messages, key=lambda message: message.time):
            self.schedule(start + round(message.time * self.sample_rate), message.bytes())
        self.run(out)

    def __call__(self, messages: Iterable[Message], duration: float) -> NDArray[np.float32]:
        """Render a stretch of `duration` seconds from now; the messages' .time is in seconds from its start.

        This is the calling convention of pedalboard's instruments; the filter's latency is not taken off.
        """
        frames, start = round(_within("duration", duration, 0.0, 1e6, "give seconds") * self.sample_rate), self.clock
        waiting = sorted(messages, key=lambda message: message.time)
        out, done, next_one = np.zeros((frames, self.channels), np.float32), 0, 0
        while done < frames:
            span = min(self.block_size, frames - done)
            while next_one < len(waiting) and waiting[next_one].time * self.sample_rate < done + span:
                message = waiting[next_one]
                self.schedule(start + round(message.time * self.sample_rate), message.bytes())
                next_one += 1
            self.run(out[done : done + span])
            done += span
        return out


def _within(name: str, value: object, low: float, high: float, remedy: str) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = nan
    if not low <= number <= high:
        raise SettingError(name, shown(value), f"must be {low:g} to {high:g}", remedy)
    return number


def _whole(name: str, value: object, low: int, high: int, remedy: str) -> int:
    number = _within(name, value, low, high, remedy)
    if number != int(number):
        raise SettingError(name, shown(value), "must be a whole number", remedy)
    return int(number)
