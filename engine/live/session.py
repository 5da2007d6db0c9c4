"""A live session: card, MIDI, keys and display around a player, and the loop that looks after them.

Nothing here is in a hurry: sound and native MIDI go on in threads of their own while this loop sleeps, draws, notices
unplugged devices, and has other presets designed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from engine.live.cards import Card
from engine.live.changes import Programs, Selector
from engine.live.computer_keys import ComputerKeys
from engine.live.demo import Demo
from engine.live.meter import Meter
from engine.live.midi.inputs import Inputs
from engine.live.panel import Display
from engine.live.player import Player
from engine.live.stream import Stream
from engine.live.take import Take
from engine.live.watch import Watch
from engine.preset.loader import Preset
from engine.rendering.score import Score
from engine.synth.instrument import Instrument

TURN = 0.02  # s: a turn of the loop


@dataclass(frozen=True)
class Plan:
    """What is to be played, and with what."""

    presets: Sequence[tuple[str, Callable[[], Preset]]]  # the first is played, the others are its programs
    card: Card
    sample_rate: float
    block_size: int
    channels: int
    latency: float | str
    delay: int | None
    oversample: int | None
    polyphony: int | None
    tuning: str | None
    midi: Sequence[str] | None  # fragments of port names; none at all: every port
    virtual: bool
    listen: Sequence[int]
    keys: bool
    score: Score | None  # of the demo
    seconds: float | None
    take: Path | None
    force: bool

    def instrument(self, number: int) -> Instrument:
        """One of the presets, designed for the card."""
        return Instrument(
            self.presets[number][1](),
            sample_rate=self.sample_rate,
            block_size=self.block_size,
            oversample=self.oversample,
            polyphony=self.polyphony,
            tuning=self.tuning,
            mono=self.channels == 1,
        )
