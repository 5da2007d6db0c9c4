"""A studio without a browser and without a card: blocks are asked for by hand."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
from virtual_card import wait_for

from engine.compiled import now
from engine.edit.requests import TABLE, Request
from engine.edit.studio import Studio
from engine.live.player import Player
from engine.live.thread.block import run_block
from engine.synth.ensemble import Seats
from engine.synth.memory import FREE

PRESET = """\
name: Small
about: A wire over a bridge.   # to be changed
string: {length: 1 m, density: 1.17 g/m, tension: 180.5 N, loss: {s0: 0.3, s1: 0.02, s3: 1e-5}}
barrier:
  profile: parabola
  to: 60 mm
  curvature: 0.75   # of the bridge
  points: 6
excitation: {position: 0.3, force: 1 N, duration: 4 ms}
pickups: [{at: 0.1}]
polyphony: 4
"""
SEVERAL = """\
name: Several
string: {length: 880 mm, diameter: 0.3 mm, material: steel, tuned: F#3, band: 6 kHz, keys: length}
barrier: {profile: parabola, to: 30 mm, curvature: 0.75 1/m, points: 5}
excitation: {position: 0.15, force: -1 N}
strings:
  - {played: C3-C4, mono: yes}
  - {played: C2-B2}
  - sympathetic: [D3, F#3]
    string: {length: 700 mm, tension: 60 N, band: 4 kHz}
    barrier: {profile: parabola, to: 12 mm, curvature: 1 1/m, points: 2}
body: {name: sitar}
polyphony: 4
release: 5 s
"""
BLOCK = 128


class Room:
    """A studio, and a thread in the place of the card's."""

    def __init__(self, folder: Path, preset: str = PRESET) -> None:
        self.path = folder / "small.yaml"
        self.path.write_text(preset, encoding="utf-8")
        self.player = Player(48_000.0, BLOCK, 2, None, Seats(2, 14))
        self.told: list[dict[str, Any]] = []
        self.studio = Studio(self.path, self.player, self.told.append)
        self.sound: list[Any] = []
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.play, daemon=True)
        self.thread.start()

    def play(self) -> None:
        out = np.zeros((BLOCK, 2), np.float32)
        while not self.ended.wait(0.002):
            run_block(self.player.address, BLOCK, out.ctypes.data, 0, now())
            self.sound.append(out.copy())

    def ask(self, word: str, page: int = 0, /, **fields: Any) -> dict[str, Any]:
        whole = {name: field.default for name, field in TABLE[word].items()}
        return self.studio.answer(Request(word, {**whole, **fields}, 0), page)

    def settle(self) -> None:
        wait_for(self.studio.workshop.settled.is_set, "the workshop does not settle", 300.0)

    def heard(self) -> list[str]:
        found = [told["what"] for told in self.told if told["event"] == "heard"]
        self.told.clear()
        return found

    def sounding(self) -> list[int]:
        return sorted(
            int(voice.key) for i in self.player.instruments() for voice in i.machine.voices if voice.state != FREE
        )
