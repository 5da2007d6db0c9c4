"""An instrument whose sound can be computed in one's head: noise-like steps that fall to zero along a straight line.

Only sums, products and whole numbers, so that no block size can change a bit.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.commands import render as command
from engine.offline import job, pool

RING = 1.0  # s from stroke to silence
RELEASE = 0.05  # s from letting go to silence
LATENCY = 37


class FakeInstrument:
    """The interface of engine.Instrument, as far as rendering uses it."""

    nbytes = 0
    interrupt_at: int | None = None  # a frame at which someone presses Ctrl-C
    made: list[FakeInstrument] = []  # noqa: RUF012

    def __init__(
        self, preset: Any, sample_rate: int = 48_000, block_size: int = 128, oversample: Any = None,
        polyphony: Any = None, tuning: Any = None, mono: bool = False,
    ) -> None:  # fmt: skip
        self.preset, self.sample_rate, self.rate, self.block_size = preset, sample_rate, int(sample_rate), block_size
        self.oversample, self.polyphony = oversample, polyphony
        self.options = {"oversample": oversample, "polyphony": polyphony, "tuning": tuning}
        self.silent_keys = {127: "it is too high"}
        self.latency, self.channels = LATENCY, 1 if mono else 2
        self.reset()
        FakeInstrument.made.append(self)

    def reset(self) -> None:
        self.clock = 0
        self.ring: list[tuple[int, tuple[int, ...]]] = []
        self.seen: list[tuple[int, tuple[int, ...]]] = []
        self.strings: list[list[float]] = []  # start, end, key, channel, level

    def schedule(self, sample: int, data: tuple[int, ...]) -> None:
        assert sample >= self.clock
        assert not self.ring or sample >= self.ring[-1][0]
        self.ring.append((sample, data))
        assert len(self.ring) <= 4096

    def run(self, out: NDArray[np.float32]) -> None:
        assert 1 <= len(out) <= self.block_size
        at, end = 0, self.clock + len(out)
        if self.interrupt_at is not None and end > self.interrupt_at:
            raise KeyboardInterrupt
        while self.clock < end:
            while self.ring and self.ring[0][0] == self.clock:
                self._play(*self.ring.pop(0))
            frames = min([end, *(sample for sample, _ in self.ring[:1])]) - self.clock
            out[at : at + frames] = self._sound(frames)[:, None]
            self.clock += frames
            at += frames

    def _sound(self, frames: int) -> NDArray[np.float64]:
        n = np.arange(self.clock, self.clock + frames) - self.latency
        total = np.zeros(frames)
        for start, stop, key, channel, level in self.strings:
            if stop + self.latency > self.clock:
                steps = (n * (2 * key + 16 * channel + 1)) % 64 - 31.5
                line = np.clip((stop - n) / (RING * self.rate), 0.0, 1.0)
                total += np.where(n >= start, level / 127.0 * 2.0**-8 * steps * line, 0.0)
        return total

    def _play(self, sample: int, data: tuple[int, ...]) -> None:
        self.seen.append((sample, data))
        kind, channel = data[0] & 0xF0, data[0] & 0x0F
        if kind == 0x90 and data[2] > 0:
            self.strings.append([sample, sample + round(RING * self.rate), data[1], channel, data[2]])
        elif kind in (0x80, 0x90):
            for string in self.strings:
                if string[2] == data[1] and string[3] == channel:
                    string[1] = min(string[1], sample + round(RELEASE * self.rate))

    @property
    def silent(self) -> bool:
        return all(stop <= self.clock for _, stop, *_ in self.strings)

    def report(self) -> dict[str, int]:
        return {"voices_stolen": 0, "watchdog": 0, "events_lost": 0, "peak_voices": len(self.strings)}


def use_fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every render plays the fake instrument, in this process."""

    def make(preset: Any, setup: job.Setup, strings: int = 0) -> FakeInstrument:
        return FakeInstrument(
            preset, setup.sample_rate, setup.block_size, setup.oversample, setup.polyphony, setup.tuning, setup.mono
        )

    monkeypatch.setattr(job, "make_player", make)
    monkeypatch.setattr(import_module("engine.offline.render"), "make_player", make)
    for module in (pool, command):
        monkeypatch.setattr(module, "cores", lambda: 1)
    FakeInstrument.made.clear()
