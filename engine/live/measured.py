"""The time of every block of a real stream, for `jawari profile --live`."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from engine import messages as midi
from engine.errors import EngineError
from engine.live.ahead import Ahead
from engine.live.audio.cards import check, choose
from engine.live.audio.stream import Stream
from engine.live.errors import DeviceError
from engine.live.player import Integers, Player
from engine.synth.instrument import Instrument

LEAD = 0.1  # s until it begins
PATIENCE = 5.0  # s without a block before the card is given up


def live_blocks(instrument: Instrument, events: Any, block: int, count: int, device: str | None = None) -> Integers:
    """Rows of (start, duration, frames, lateness; ns) of `count` blocks while events (sample, message) are played."""
    card = choose(device)
    check(card, instrument.sample_rate, instrument.channels)
    instrument.reset()
    player = Player(instrument.sample_rate, block, instrument.channels)
    if not player.change(instrument):
        raise EngineError("a new player has no room")  # never
    stream = Stream(player, card, block)
    rows: list[Integers] = []
    try:
        stream.start()
        _play(player, np.asarray(events), count, rows)
    finally:
        stream.close()
    return np.concatenate(rows)[:count]


def _play(player: Player, events: Any, count: int, rows: list[Integers]) -> None:
    music = Ahead(player, ((sample, midi.unpacked(message)) for sample, message in events.tolist()), LEAD)
    heard = time.monotonic()
    while sum(map(len, rows)) < count:
        music.tick()
        fresh = player.new_blocks("profile")
        if len(fresh):
            rows.append(fresh)
            heard = time.monotonic()
        elif time.monotonic() - heard > PATIENCE:
            raise DeviceError("the sound card asks for no more blocks; is its server still running?")
        time.sleep(0.01)
