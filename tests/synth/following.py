"""An instrument that plays a note and is followed by another design of itself, as a turned knob has it."""

from __future__ import annotations

from typing import Any

import numpy as np
from synth.playing import on

from engine import messages as midi
from engine.synth.ensemble import Seats
from engine.synth.instrument import Instrument
from engine.synth.memory import FREE
from engine.synth.mixing import play_together
from engine.synth.routing import hand_on

AT, END, BLOCK = 9600, 19200, 64


class Following:
    """Who plays, and who goes on; `make` says what a preset of that name is with some values changed."""

    key: int

    def __init__(self, name: str, changes: dict[str, object] | None = None, **more: Any) -> None:
        self.name, self.seats, self.heirs = name, Seats(2, 64), 0
        self.seats.put_on(0, self.make(changes or {}, **more), on_all_channels=True)
        self.play(0)

    def make(self, changes: dict[str, object], **more: Any) -> Instrument:
        raise NotImplementedError

    def send(self, data: list[int]) -> None:
        hand_on(self.seats.address, int(self.seats.desk.clock), midi.packed(*data))

    def play(self, frames: int) -> Any:
        out = np.zeros((frames, 2), np.float32)
        for at in range(0, frames, BLOCK):
            block = out[at : at + BLOCK]
            play_together(self.seats.address, len(block), block.ctypes.data)
        return out

    def follow(self, changes: dict[str, object] | None = None, partial: bool = False, **more: Any) -> Instrument:
        self.heirs += 1
        heir = self.make(changes or {}, **more)
        self.seats.put_on(self.heirs, heir, on_all_channels=True, heir=self.heirs, partial=partial)
        return heir

    def sounding(self, number: int) -> list[Any]:
        return [v for v in self.seats.instruments[number].machine.voices if v.state != FREE]

    @classmethod
    def turned(cls, name: str, changes: dict[str, object], at: int = AT) -> tuple[Any, Any, Any]:
        """The sound without the change, with it, and who played it."""
        sounds = []
        for follows in (False, True):
            stage = cls(name)
            stage.send(on(cls.key))
            before = stage.play(at)
            if follows:
                stage.follow(changes)
            sounds.append(np.concatenate([before, stage.play(END - at)]))
        return sounds[0], sounds[1], stage
