"""A live player under a flood of MIDI, with invented times: what the blocks cost, what became of every event."""

from __future__ import annotations

import time
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

import numpy as np

from engine import Instrument
from engine.compiled import now
from engine.live.player import Player
from engine.live.thread.block import run_block
from engine.synth import memory

RATE, BLOCK = 48_000, 128
START = now()  # ns: no stamp is older than the machine
KEYS = range(36, 84)
CHANNELS = 4
CONTROLLERS = (1, 11, 64, 66, 74)


class Flood(NamedTuple):
    """Counts of events and notes, and the share of its time that each block took of the processor."""

    sent: int
    obeyed: int
    lost: int
    stuck: int
    shares: Any


def everything(chance: Random) -> Iterator[tuple[int, ...]]:
    """Endless notes, wheels, pressures, controllers and pedals."""
    while True:
        channel, kind, value = chance.randrange(CHANNELS), chance.random(), chance.randrange(128)
        if kind < 0.3:
            yield 0x90 | channel, chance.choice(KEYS), value
        elif kind < 0.5:
            yield 0x80 | channel, chance.choice(KEYS), value
        elif kind < 0.65:
            yield 0xE0 | channel, chance.randrange(128), value
        elif kind < 0.75:
            yield 0xD0 | channel, value
        else:
            yield 0xB0 | channel, chance.choice(CONTROLLERS), value


def idle(chance: Random) -> Iterator[tuple[int, ...]]:
    """Endless messages that move no string: what they cost is the way from the inlet to the renderer."""
    while True:
        yield 0xB0 | chance.randrange(16), 3, chance.randrange(128)


def flood(
    preset: Any, per_second: float, seconds: float, source: Iterator[tuple[int, ...]], inlets: int = 4, **how: Any
) -> Flood:
    """Send so many events a second from a source, then let go of every key and pedal; `how` goes to the instrument."""
    player, instrument = Player(RATE, BLOCK), Instrument(preset, RATE, BLOCK, **how)
    player.change(instrument)
    out, shares = np.zeros((BLOCK, 2), np.float32), []
    frame, sent, stamp = 1e9 / RATE, 0, START
    run_block(player.address, BLOCK, out.ctypes.data, 0, START - round(BLOCK * frame))  # loaded here

    def block(number: int) -> None:
        began = time.thread_time_ns()
        run_block(player.address, BLOCK, out.ctypes.data, 0, int(START + number * BLOCK * frame))
        shares.append((time.thread_time_ns() - began) / (BLOCK * frame))

    blocks = round(seconds * RATE / BLOCK)
    for number in range(blocks):
        while sent < per_second * number * BLOCK / RATE:
            stamp = START + round(sent * 1e9 / per_second)
            player.send(next(source), stamp, sent % inlets)
            sent += 1
        block(number)
    for inlet in range(inlets):
        # The ends come while every inlet is still being flooded: more of them than a ring has rows.
        for n in range(memory.RING_SIZE):
            player.send((0xB0 | n % CHANNELS, 11, n % 128), stamp, inlet)
        sent += memory.RING_SIZE
    ends = [(0x80 | c, key, 0) for c in range(CHANNELS) for key in range(128)] + [
        (0xB0 | c, 123, 0) for c in range(CHANNELS)
    ]
    for number, data in enumerate(ends):
        player.send(data, stamp, number % inlets)
    sent += len(ends)
    for number in range(blocks, blocks + 40):
        block(number)
    stuck = int((instrument.machine.voices.state == memory.HELD).sum())
    return Flood(sent, player.gauges.events, player.events_lost, stuck, np.array(shares[:blocks]))
