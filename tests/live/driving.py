"""What the live tests share: a sound card whose blocks begin when a test says, events that arrive in it, replays.

All times are of the clock that the engine stamps events with, however long the machine has been up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from synth.playing import limited

from engine.compiled import now
from engine.live.player import Player
from engine.live.thread.block import run_block
from engine.synth import memory
from engine.synth.instrument import Instrument

START = now()  # ns: when the tests began
LATE = 1e8  # ns: more than a block and the delay of what comes in during it
TINY = np.finfo(np.float32).tiny
CEILING = 10.0 ** (-0.1 / 20.0)  # -0.1 dBFS

Arrival = tuple[int, int, list[int]]  # ns, inlet, bytes


def packed(data: Sequence[int]) -> int:
    return int(data[0]) | int(data[1]) << 8 | (int(data[2]) << 16 if len(data) > 2 else 0)


def unpacked(message: int) -> list[int]:
    return [message & 0xFF, message >> 8 & 0xFF, message >> 16 & 0xFF]


class Card:
    """Calls a player for blocks at times of our choice."""

    def __init__(self, player: Player, block: int = 128, start: int | None = None) -> None:
        self.start = now() if start is None else start
        self.player, self.block = player, block
        self.time: Any = np.longdouble(self.start)  # a double cannot count the ns of a machine that is up for years
        self.frame = 1e9 / player.sample_rate  # ns, as this card has it
        self.heard: list[NDArray[np.float32]] = []

    def run(self, blocks: int = 1, frames: int | None = None) -> NDArray[np.float32]:
        """The next blocks, each exactly when it is due."""
        for _ in range(blocks):
            self.call(self.time, frames or self.block)
            self.time += (frames or self.block) * self.frame
        return np.concatenate(self.heard[-blocks:]) if blocks else np.zeros((0, self.player.channels), np.float32)

    def catch_up(self) -> None:
        """Go on so late that whatever has come in by now is due, however long the test took until here."""
        self.time = max(self.time, np.longdouble(now() + LATE))

    def run_now(self) -> None:
        """One block, so late that whatever has come in by now is due."""
        self.call(max(self.time, now() + LATE), self.block)

    def call(self, begun: float, frames: int, flags: int = 0) -> None:
        """One block that begins at `begun`."""
        out = np.full((frames, self.player.channels), np.nan, np.float32)
        run_block(self.player.address, frames, out.ctypes.data, flags, int(begun))
        self.heard.append(out)


def late(rng: np.random.Generator, blocks: int, share: float, burst: int = 1) -> NDArray[np.float64]:
    """When blocks of length 1 begin: never before their time, and bursts of them together."""
    first = np.arange(blocks) // burst * burst + (burst - 1)
    wake = np.repeat(rng.uniform(0.0, share, -(-blocks // burst)), burst)[:blocks]
    return np.asarray(first + wake + 0.01 * (np.arange(blocks) % burst))


def play_through(player: Player, begun: Iterable[float], block: int, arrivals: Sequence[Arrival]) -> NDArray[np.int64]:
    """Run a block at every time of `begun`, with every event sent when it comes; the journal."""
    out, waiting, rows = np.zeros((block, player.channels), np.float32), 0, []
    for n, begin in enumerate(begun):
        while waiting < len(arrivals) and arrivals[waiting][0] <= begin:
            stamp, inlet, data = arrivals[waiting]
            assert player.send(data, stamp, inlet)
            waiting += 1
        run_block(player.address, block, out.ctypes.data, 0, int(begin))
        if n % 100 == 0:
            rows.append(player.new_events())
    return np.concatenate([*rows, player.new_events()])


def replay(inst: Instrument, journal: NDArray[np.int64], frames: int, offset: int = 0) -> NDArray[np.float32]:
    """The offline render of what a player obeyed, limited, and with the smallest numbers taken as zero, as on a card's
    thread.
    """
    inst.reset()
    out, done = np.full((frames, inst.channels), np.nan, np.float32), 0
    for first in range(0, len(journal), 1000):  # no more than the ring can hold
        rows = journal[first : first + 1000]
        for sample, message in rows:
            assert inst.schedule(int(sample) - offset, unpacked(int(message)))
        upto = min(frames, int(rows[-1, 0]) - offset) if first + 1000 < len(journal) else frames
        inst.run(out[done:upto])
        done = upto
    inst.run(out[done:])
    return flushed(limited(out))


def flushed(out: NDArray[Any]) -> NDArray[Any]:
    return np.where(np.abs(out) < TINY, np.float32(0.0), out)


def held(inst: Instrument) -> set[tuple[int, int]]:
    """Channels and keys that are down."""
    voices = inst.machine.voices
    return {(int(v.channel), int(v.key)) for v in voices if v.state == memory.HELD}


def part_of(player: Player, inst: Instrument) -> memory.Part:
    """The place of an instrument that may sound."""
    parts = player.seats.desk.parts
    return parts[parts.machine.tolist().index(inst.address)]
