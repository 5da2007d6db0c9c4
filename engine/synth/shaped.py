"""Plays a shaped take again: each design comes on its sample, and takes over what sounds, as it did live.

It has what `Instrument` has for whoever renders. As live, the ensemble is as late as its latest filter would be; a take
counts its samples by the design that it began with, which is less late by a few of them: so many go before the first.
"""

from __future__ import annotations

import warnings
from collections import Counter, deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import messages as midi
from engine.errors import PhysicsWarning
from engine.preset.loader import Preset, load_text
from engine.synth import decimate
from engine.synth.bank import Designed, Setup, design
from engine.synth.ensemble import Seats
from engine.synth.instrument import Instrument
from engine.synth.keys import Retuned
from engine.synth.memory import KEYS, PARTS
from engine.synth.mixing import play_together
from engine.synth.mts import tunings
from engine.synth.routing import hand_on
from engine.synth.shaping import Making, Shaped
from engine.units import db_to_gain

_COUNTS = ("voices_stolen", "watchdog", "events_lost", "voices", "peak_voices")


class ShapedPlayer:
    """A Shaped at a sample rate."""

    def __init__(self, shaped: Shaped, sample_rate: float, block_size: int = 128, mono: bool = False) -> None:
        self.shaped, self.sample_rate, self.block_size = shaped, sample_rate, block_size
        self.channels = 1 if mono else 2
        self._known: dict[Making, tuple[NDArray[np.float64], Retuned]] = {}
        self._first = self._setup(shaped.text), self._designed(Making(shaped.text))
        self.reset()

    def reset(self) -> None:
        """Silence, and the first design, at the first sample."""
        latest = max(decimate.design(self.sample_rate, factor).latency for factor in decimate.FACTORS)
        self._seats = Seats(self.channels, latest)
        first = Instrument.of(*self._first, self.block_size)
        self._seats.put_on(self.shaped.seat, first, on_all_channels=True, heir=1)
        self._whole, self._newest = first, 1
        self.latency, self._early = latest, latest - first.latency
        self._silence = self._early  # samples that go before the ensemble's first
        self._events: deque[tuple[int, Sequence[int]]] = deque()
        self._coming = deque(self.shaped.changes)
        self._counts: Counter[str] = Counter()

    # --- for whoever renders ------------------------------------------------------------------------------------------

    @property
    def clock(self) -> int:
        """Samples since the reset."""
        return int(self._seats.desk.clock) + self._early - self._silence

    @property
    def silent(self) -> bool:
        """No voice sounds and no event waits."""
        return not self._events and all(instrument.silent for instrument in self._here.values())

    @property
    def silent_keys(self) -> dict[int, str]:
        """Keys that have no string in the last whole design, and why."""
        return self._whole.silent_keys

    @property
    def oversample(self) -> int:
        """The highest of what is here."""
        return max(instrument.oversample for instrument in self._here.values())

    @property
    def polyphony(self) -> int:
        """That of the last whole design."""
        return self._whole.polyphony

    def report(self) -> dict[str, Any]:
        """Counts since the last reset, of all designs together."""
        found = self._counts.copy()
        for instrument in self._here.values():
            found.update(instrument.report())
        return {name: found[name] for name in _COUNTS}

    def schedule(self, sample: int, data: Sequence[int]) -> bool:
        """Queue a message for a sample, in time order."""
        self._events.append((sample - self._early, data))
        return True

    def run(self, out: NDArray[np.float32]) -> None:
        """Render len(out) samples."""
        at = min(self._silence, len(out))
        out[:at] = 0.0
        self._silence -= at
        while at < len(out):
            now = int(self._seats.desk.clock)
            self._bring(now)
            end = min(now + len(out) - at, self._due(now))
            while self._events and self._events[0][0] < end:
                self._send(*self._events.popleft())
            piece = out[at : at + end - now]
            play_together(self._seats.address, len(piece), piece.ctypes.data)
            at += len(piece)

    # --- the designs --------------------------------------------------------------------------------------------------

    @property
    def _here(self) -> dict[int, Instrument]:
        return self._seats.instruments

    def _due(self, now: int) -> int:
        """The sample of the next change."""
        return self._sample(self._coming[0].seconds) if self._coming else now + (1 << 40)

    def _sample(self, seconds: float) -> int:
        return round(seconds * self.sample_rate) - self._early

    def _bring(self, now: int) -> None:
        """Put on the designs that come now, as Player.follow does; those before them go when nobody hears them."""
        while self._coming and self._sample(self._coming[0].seconds) <= now:
            change, seats = self._coming.popleft(), self._seats
            self._forget()
            free = [number for number in (change.seat, *range(PARTS)) if number not in self._here]
            partial = bool(change.making.keys)
            setup, designed = self._setup(change.making.text), self._designed(change.making)
            instrument = Instrument.of(setup, designed, self.block_size)
            latest = change.heir > self._newest
            if latest:
                seats.desk.parts.everywhere = 0
                self._newest = change.heir
            seats.put_on(free[0], instrument, on_all_channels=latest, heir=change.heir, partial=partial)
            for number, other in self._here.items():
                if seats.desk.parts[number].heir < change.heir and not (partial and other is self._whole):
                    seats.ask(number)
            if not partial:
                self._whole = instrument

    def _forget(self) -> None:
        before = dict(self._here)
        self._seats.forget_absent()
        for number, instrument in before.items():
            if number not in self._here:
                self._counts.update(instrument.report())

    def _send(self, sample: int, data: Sequence[int]) -> None:
        if data and data[0] == midi.SYSEX:
            for packed in tunings(data):
                hand_on(self._seats.address, sample, packed)
        elif data and midi.is_channel_message(data[0]) and midi.kind(data[0]) != midi.PROGRAM:
            hand_on(self._seats.address, sample, midi.packed(*data))

    def _preset(self, text: str) -> Preset:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PhysicsWarning)  # whoever shaped it was told
            return load_text(text, self.shaped.source, self.shaped.folder)[0]

    def _setup(self, text: str) -> Setup:
        preset = self._preset(text)
        return Setup(preset, self.sample_rate, preset.oversample, preset.polyphony, self.channels, preset.tuning)

    def _designed(self, making: Making) -> Designed:
        setup = self._setup(making.text)
        loud = None if making.like is None else self._learnt(making.like)[0] * db_to_gain(setup.preset.gain)
        retuned = None if making.tuned is None else self._learnt(making.tuned)[1]
        return design(setup, set(making.keys) or None, loud, retuned)

    def _learnt(self, making: Making) -> tuple[NDArray[np.float64], Retuned]:
        """By a rehearsal: each key's gain, without the preset's own, and how its strings are tuned by themselves."""
        if making not in self._known:
            found = self._designed(making)
            self._known[making] = found.keys.gain[:KEYS] / db_to_gain(self._preset(making.text).gain), found.retuned
        return self._known[making]
