"""Tunings played live: from every way in, at once for all channels, and in a take's render to the last bit."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from live.driving import Card, flushed
from live.midi_playing import forget, waiting
from numpy.typing import NDArray
from synth.playing import SMALL, bend, off, on
from synth.test_mts import bulk, code_for, octave, one_by_one

from engine.live.midi.poller import hand_on
from engine.live.player import Player
from engine.live.thread.inlet import receive
from engine.music.sources import read_score
from engine.music.take import Take
from engine.offline.stream import stream
from engine.synth import memory
from engine.synth.instrument import Instrument
from engine.synth.mts import LONGEST, tunings
from engine.synth.ring import push

pytestmark = pytest.mark.usefixtures("shared_designs")

Way = Callable[[int, list[int]], None]

RATE, INLET = 48_000, 3
MESSAGES = {
    "a key": one_by_one([(60, code_for(270.0))]),
    "some keys": one_by_one([(key, 5 << 14) for key in range(127)], bank=True),
    "all keys": bulk([(key << 14) + 50 for key in range(128)]),
    "an octave": octave([5] * 12),
}


def by_driver(inlet: int, data: list[int]) -> None:
    buffer = (ctypes.c_uint8 * max(len(data), 1))(*data)
    receive(inlet, ctypes.addressof(buffer), len(data))


def by_poller(inlet: int, data: list[int]) -> None:
    hand_on(inlet, 0, data)


every_way = pytest.mark.parametrize("bring", [by_driver, by_poller])


@every_way
@pytest.mark.parametrize("name", MESSAGES)
def test_each_key_is_a_message_of_its_own(bring: Way, name: str) -> None:
    player = Player(RATE, 128)
    bring(player.inlet(INLET), MESSAGES[name])
    rows = waiting(player, INLET)
    assert [message for _, message in rows] == tunings(MESSAGES[name])
    assert len({stamp for stamp, _ in rows}) == 1
    forget(player, INLET)
    player.let_go(INLET)  # nobody holds a tuning: nothing is left to end
    assert waiting(player, INLET) == []


@every_way
def test_rubbish_is_nothing(bring: Way) -> None:
    player, random = Player(RATE, 128), np.random.default_rng(1)
    for data in ([0xF0, 0xF7], [0xF0, 0x7E, 0x7F, 6, 1, 0xF7], MESSAGES["all keys"][:-1], [0xF0] * (LONGEST + 1)):
        bring(player.inlet(INLET), data)
    for size in random.integers(4, LONGEST + 50, 300):
        bring(player.inlet(INLET), [0xF0, *random.integers(0, 256, size).tolist()])
    assert waiting(player, INLET) == []


def test_what_finds_no_room_is_counted() -> None:
    player = Player(RATE, 128)
    sent = 0
    while player.send(MESSAGES["all keys"], 10**15):
        sent += 1
    assert sent == (memory.RING_SIZE - 128) // 128
    assert player.events_lost == 128


def test_every_channel_s_keys_are_tuned_whichever_is_heard() -> None:
    inst = Instrument(SMALL["modal"], RATE)
    player = Player(RATE, 128)
    assert player.change(inst)
    player.listen([5])
    card = Card(player)
    assert player.send(MESSAGES["a key"], int(card.time))
    card.run(3)
    assert inst.machine.tuned[60] == code_for(270.0)


def test_a_take_s_render_is_what_was_heard(tmp_path: Path) -> None:
    """Keys retuned before, while and after they sound, at once and not: the same samples from the file."""
    inst, player = Instrument(SMALL["bridge"], RATE), Player(RATE, 128)
    assert player.change(inst)
    card = Card(player)
    take = Take.begin(tmp_path / "take.mid", RATE, {"sample_rate": RATE})
    moves = [
        (2, MESSAGES["all keys"]),
        (3, on(57)),
        (9, one_by_one([(57, code_for(231.0))])),
        (12, on(60, 90, 9)),  # a keyboard may well send on channel 10
        (15, one_by_one([(60, code_for(250.0)), (57, code_for(220.0))], at_once=False)),
        (17, bend(2000)),
        (20, on(60, 70, 9)),
        (25, MESSAGES["an octave"]),
        (30, off(57)),
    ]
    for block in range(60):
        for _, data in (move for move in moves if move[0] == block):
            assert player.send(data, int(card.time + 0.3 * 128 * card.frame))
        card.run(1)
    heard, journal = np.concatenate(card.heard), player.new_events()
    assert (flushed(heard) == replay_of(journal, len(heard))).all()
    take.add(journal)
    take.write(tmp_path / "take.mid", force=False)
    score = read_score(tmp_path / "take.mid")
    assert score.facts == {"sample_rate": RATE}
    assert len(score.tunings) == 128 + 1 + 2 + 128
    inst.reset()
    chunks = [chunk.copy() for chunk in stream(inst, score, tail=0.2)]
    again = np.concatenate(chunks)
    assert (flushed(again)[: len(heard)] == flushed(heard)[: len(again)]).all()
    assert np.abs(heard).max() > 0.01


def replay_of(journal: NDArray[np.int64], frames: int) -> NDArray[np.float32]:
    """Each number of the journal as it is, into a new instrument."""
    twin = Instrument(SMALL["bridge"], RATE)
    for sample, message in journal:
        assert push(twin.address, int(sample), int(message))
    out = np.zeros((frames, 2), np.float32)
    twin.run(out)
    return flushed(out)
