"""Several instruments played as one: a rack's parts, each designed when it is first needed, and mixed.

Live and offline an ensemble is the same compiled code over the same memory: who calls it is the only difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import aligned
from engine import messages as midi
from engine.elementary import cos, sin
from engine.layout import seen, size_of
from engine.preset.rack import Part, Rack
from engine.preset.tuning import Tuning
from engine.synth import decimate
from engine.synth.bank import listener
from engine.synth.instrument import Instrument
from engine.synth.memory import ABSENT, Desk
from engine.synth.mixing import play_together
from engine.synth.mts import tunings
from engine.synth.routing import absent, arrive, hand_on, taker
from engine.units import db_to_gain


class Seats:
    """The memory of an ensemble: which parts there are, what is here of them, and where each channel's notes begin.

    `latency` is the greatest of all instruments that may come, in samples: those with less are played as much later.
    """

    def __init__(self, channels: int = 2, latency: int | None = None) -> None:
        self.crew = 0  # the address of a Crew whose helper performs some of their voices
        self.latency = latency  # None: that of the first who comes
        self.instruments: dict[int, Instrument] = {}
        self._memory, self._listener = aligned.zeros(size_of(Desk), np.uint8), listener()
        self._deaf = self._listener.copy()  # as it is before it has heard anything
        self.desk = seen(Desk, self.address, self._memory)
        self.desk.outputs, self.desk.latest, self.desk.listener = channels, -1, self._listener.ctypes.data
        self.desk.programs[:] = -1
        self.desk.parts.left = self.desk.parts.right = 1.0

    @classmethod
    def of(cls, rack: Rack, sample_rate: float, channels: int = 2, oversample: int | None = None) -> Seats:
        """Seats for the parts of a rack, all of them empty."""
        factors = {part.preset.oversample if oversample is None else oversample for part in rack.parts}
        seats = cls(channels, max(decimate.design(sample_rate, factor).latency for factor in factors))
        seats.desk.routes[:] = rack.routes
        for program, number in rack.programs.items():
            seats.desk.programs[program] = number
        for number, part in enumerate(rack.parts):
            place = seats.desk.parts[number]
            place.left, place.right = gains(part.gain, part.pan, channels)
        return seats

    @property
    def address(self) -> int:
        """Where the ensemble's memory is: all that compiled code needs."""
        return int(self._memory.ctypes.data)

    def forget(self) -> None:
        """As if nothing had been heard or played; nobody may be playing."""
        self._listener[:] = self._deaf
        self.desk.clock, self.desk.latest = 0, -1

    def put_on(
        self, number: int, instrument: Instrument, on_all_channels: bool = False, heir: int = 0, partial: bool = False
    ) -> None:
        """Let an instrument take its part; whoever plays welcomes it with the next block.

        As an `heir` it takes over all that sounds on parts of a lower number of this kind; a `partial` one has only
        the keys that sound, and others begin on the last whole one.
        """
        if self.latency is None:
            self.latency = instrument.latency
        if instrument.latency > self.latency:
            raise ValueError(f"latency {instrument.latency}: at most {self.latency} samples were foreseen")
        instrument.reset()  # it was never played
        instrument.machine.crew = self.crew
        self.instruments[number] = instrument
        late = self.latency - instrument.latency
        place = self.desk.parts[number]
        place.machine, place.outputs, place.delay = instrument.address, instrument.channels, late
        place.everywhere, place.asked, place.heir, place.partial = on_all_channels, 0, heir, partial
        place.since, place.state[0] = -1, ABSENT
        arrive(self.address, number)

    def ask(self, number: int) -> None:
        """Ask an instrument to go as soon as nothing of it sounds and no channel's notes begin on it."""
        self.desk.parts[number].asked = 1

    def forget_absent(self) -> None:
        """Let go the memory of instruments that have gone."""
        for number in list(self.instruments):
            if absent(self.address, number):
                self.instruments.pop(number).machine.crew = 0


class Ensemble:
    """A rack as an instrument: messages go in, blocks of sound come out, no more is designed than is played.

    It has what `Instrument` has for whoever renders: schedule, run, reset, silent, latency and report.
    """

    def __init__(
        self,
        rack: Rack,
        make: Callable[[int], Instrument],
        sample_rate: float,
        block_size: int = 128,
        mono: bool = False,
        oversample: int | None = None,
    ) -> None:
        self.rack, self.sample_rate, self.block_size, self.channels = rack, sample_rate, block_size, 1 if mono else 2
        self._make, self._seats = make, Seats.of(rack, sample_rate, self.channels, oversample)
        self.latency = self._seats.latency or 0
        self._struck: Counter[tuple[int, int]] = Counter()
        self._left_out: Counter[int] = Counter()
        self._unknown: set[tuple[int, int]] = set()
        play_together(self._seats.address, 0, 0)  # compiled or loaded here, not in the first block

    @property
    def instruments(self) -> dict[int, Instrument]:
        """Those that have been needed, by the number of their part."""
        return dict(sorted(self._seats.instruments.items()))

    @property
    def oversample(self) -> int:
        """The highest of all instruments."""
        return max((i.oversample for i in self.instruments.values()), default=1)

    @property
    def polyphony(self) -> int:
        """That of all instruments together."""
        return sum(i.polyphony for i in self.instruments.values())

    @property
    def clock(self) -> int:
        """Samples rendered since the last reset."""
        return int(self._seats.desk.clock)

    @property
    def silent(self) -> bool:
        """No voice sounds and no event waits."""
        return all(instrument.silent for instrument in self.instruments.values())

    @property
    def silent_keys(self) -> dict[int, str]:
        """Keys that were struck and are silent on the part that they were struck on, and why."""
        found = {}
        for number, key in sorted(self._struck):
            instrument = self._seats.instruments[number]
            if key in instrument.silent_keys:
                found[key] = f"{instrument.preset.name}: {instrument.silent_keys[key]}"
        return found

    def report(self) -> dict[str, Any]:
        """Counts since the last reset, of all together and of each part; and what no part was for."""
        parts = []
        for number, instrument in self.instruments.items():
            notes = sum(count for (part, _), count in self._struck.items() if part == number)
            parts.append({"part": number + 1, "preset": instrument.preset.name, "notes": notes, **instrument.report()})
        counts = ("voices_stolen", "watchdog", "events_lost", "voices", "peak_voices")
        return {
            **{name: sum(part[name] for part in parts) for name in counts},
            "parts": parts,
            "notes_left_out": {channel + 1: count for channel, count in sorted(self._left_out.items())},
            "unknown_programs": [[channel + 1, number + 1] for channel, number in sorted(self._unknown)],
        }

    def reset(self) -> None:
        """Silence, all channels back where they begin, clock at zero: as if just made, but for what is designed."""
        for instrument in self._seats.instruments.values():
            instrument.reset()
        self._seats.forget()
        self._seats.desk.routes[:] = self.rack.routes
        for counted in (self._struck, self._left_out, self._unknown):
            counted.clear()

    def schedule(self, sample: int, data: Sequence[int]) -> bool:
        """Queue a MIDI message (its bytes) for an absolute sample, in time order; False if the ring was full."""
        if data and data[0] == midi.SYSEX:
            return 0 not in [hand_on(self._seats.address, max(sample, 0), packed) for packed in tunings(data)]
        if not data or not midi.is_channel_message(data[0]):
            return True
        first, second = data[1] if len(data) > 1 else 0, data[2] if len(data) > 2 else 0
        message, channel = midi.packed(data[0], first, second), midi.channel(data[0])
        begins, chooses = midi.begins_note(message), midi.kind(message) == midi.PROGRAM
        if begins or chooses:
            part = int(taker(self._seats.address, message))
            if part < 0 and chooses:
                self._unknown.add((channel, first))
                return True
            if part < 0:
                self._left_out[channel] += 1
                return True
            if part not in self._seats.instruments:
                self._seats.put_on(part, self._make(part))
            if begins:
                self._struck[part, first] += 1
        taken = hand_on(self._seats.address, max(sample, 0), message)
        return bool(taken) or chooses

    def run(self, out: NDArray[np.float32]) -> None:
        """Render out.shape[0] samples into `out`, float32 [frames, channels]."""
        if out.dtype != np.float32 or out.ndim != 2 or out.shape[1] != self.channels or not out.flags.c_contiguous:
            raise TypeError(f"out must be a contiguous float32 array [frames, {self.channels}]")
        play_together(self._seats.address, out.shape[0], out.ctypes.data)


def design_part(
    part: Part,
    sample_rate: float,
    block_size: int,
    oversample: int | None,
    polyphony: int | None,
    tuning: str | Tuning | None,
    mono: bool,
    strings: int = 0,
) -> Instrument:
    """The instrument of a part; what is asked for of all parts goes before what it says itself.

    Where neither says how many strings it has, there are enough for a piece that strikes so many.
    """
    return Instrument(
        part.preset,
        sample_rate=sample_rate,
        block_size=block_size,
        oversample=oversample,
        polyphony=part.polyphony if polyphony is None else polyphony,
        tuning=tuning or part.tuning,
        mono=mono,
        needed=strings,
    )


def gains(gain: float, pan: float, channels: int = 2) -> tuple[float, float]:
    """Left and right of a level (dB) and a place from -1 to 1: equal power, 1 and 1 in the middle; none if mono."""
    level = db_to_gain(gain) if gain else 1.0
    if pan == 0.0 or channels == 1:
        return level, level
    angle = (pan + 1.0) * (pi / 4.0)
    return level * cos(angle) * sqrt(2.0), level * sin(angle) * sqrt(2.0)
