"""One block of live sound: the samples of an offline render, events in their order, gauges that tell the truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from live.driving import Card, flushed, held, packed, replay
from synth.playing import SMALL, bend, cc, instrument, off, on, pressure

from engine.compiled import now
from engine.live.player import Player
from engine.live.thread.memory import INLETS, JOURNAL_SIZE, LOG_SIZE
from engine.synth import memory
from engine.synth.instrument import Instrument
from engine.synth.output import KNEE

pytestmark = pytest.mark.usefixtures("shared_designs")

RATE = 48_000


def random_events(rng: np.random.Generator, count: int, start: float, end: float) -> list[tuple[int, list[int]]]:
    """Notes, pedals, wheels and controllers at any time, in order."""
    kinds: list[Any] = [
        lambda: on(int(rng.integers(30, 80)), int(rng.integers(1, 128))),
        lambda: off(int(rng.integers(30, 80))),
        lambda: cc(int(rng.choice([1, 20, 64, 66, 67, 74])), int(rng.integers(128))),
        lambda: bend(int(rng.integers(-8192, 8192))),
        lambda: pressure(int(rng.integers(128))),
    ]
    choice = rng.choice(len(kinds), count, p=[0.4, 0.3, 0.14, 0.08, 0.08])
    return [(int(time), kinds[kind]()) for time, kind in zip(np.sort(rng.uniform(start, end, count)), choice)]


# --- the samples ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*SMALL, "sitar-string"])
def test_one_instrument_sounds_as_it_does_offline_to_the_last_bit(name: str) -> None:
    """Whatever the blocks: the journal replayed gives what the card was given."""
    rng, inst = np.random.default_rng(len(name)), instrument(name)
    player = Player(RATE, 128)
    card = Card(player)
    card.run(7)  # a clock of the player's own
    assert player.change(inst)
    for stamp, data in random_events(rng, 120, card.time, card.time + 0.9e9):
        while stamp > card.time:
            card.run(1, int(rng.choice([1, 17, 64, 128, 441, 1024, 2500])))
        assert player.send(data, stamp)
    card.run(100)
    got = np.concatenate(card.heard)[7 * 128 :]
    journal = player.new_events()
    assert len(journal) == player.gauges.events == 120
    assert np.abs(got).max() > 0.01
    assert (flushed(got) == replay(inst, journal, len(got), 7 * 128)).all()


def test_loud_sound_is_that_of_a_render_with_the_limiter() -> None:
    """Sample by sample, and the frames that were bent are counted."""
    inst, player = Instrument({**SMALL["bridge"], "gain": "12 dB"}, RATE), Player(RATE, 128)
    card = Card(player)
    assert player.change(inst)
    for key in range(40, 64, 2):
        assert player.send(on(key, 127), int(card.time) + 1000 * key)
    card.run(100)
    got, journal = np.concatenate(card.heard), player.new_events()
    assert (flushed(got) == replay(inst, journal, len(got))).all()
    assert np.abs(got).max() > 0.9
    assert player.gauges.bent == (np.abs(got) > KNEE).any(axis=1).sum() > 50
    assert player.take_peak()[0] > 1.0  # before the limiter


@pytest.mark.parametrize("wide", [1, 2])
@pytest.mark.parametrize("channels", [1, 2, 8])
def test_every_instrument_on_every_card(wide: int, channels: int) -> None:
    """A mono instrument is heard on both sides, a stereo one is folded for a mono card, and further channels rest."""
    inst = Instrument(SMALL["bridge"], 8000, mono=wide == 1)
    player = Player(8000, 128, channels)
    assert player.change(inst)
    card = Card(player)
    assert player.send(on(50, 127), int(card.time) - 1)
    for frames in (100, 3000, 5, 1024, 1025):
        card.run(1, frames)
    got = np.concatenate(card.heard)
    alone = replay(inst, player.new_events(), len(got))
    assert np.abs(alone).max() > 0.1
    if channels == 1:
        assert (got[:, 0] == alone.mean(axis=1, dtype=float).astype(np.float32)).all()
    else:
        assert (got[:, :2] == alone).all()
        assert (got[:, 2:] == 0.0).all()


@pytest.mark.parametrize("channels", [1, 2, 8])
def test_no_instrument_is_silence(channels: int) -> None:
    card = Card(Player(RATE, 64, channels))
    assert (card.run(3, 1500) == 0.0).all()


def test_a_block_of_nothing_changes_nothing() -> None:
    player = Player(RATE, 64)
    card = Card(player)
    card.run(3)
    before = player._block.copy()
    card.call(card.time, 0)
    assert (player._block == before).all()


def test_the_peak_is_the_largest_since_it_was_asked_for() -> None:
    inst, player = instrument("bridge"), Player(RATE, 128)
    assert player.change(inst)
    card = Card(player)
    assert player.send(on(50, 127), int(card.time) - 1)
    first, second = card.run(40), card.run(40)
    assert player.take_peak() == tuple(np.abs([first, second]).max(axis=(0, 1)))
    assert player.take_peak() == (0.0, 0.0)
    third = card.run(1)
    assert player.take_peak() == tuple(np.abs(third).max(axis=0))


# --- the order of events ----------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(-3_000_000, 30_000_000), st.integers(0, 2)), min_size=1, max_size=80
    ),
    st.lists(st.integers(1, 700), min_size=1, max_size=20),
)
def test_events_are_obeyed_in_order(sent: list[tuple[int, int, int]], sizes: list[int]) -> None:
    """Those of one inlet as they were sent, others by their time; none before its time, and none is lost.

    Stamps go back and forth and lie up to 30 ms ahead; many are the same.
    """
    player, received = Player(RATE, 128), []
    card = Card(player)
    for n, (inlet, ahead, wait) in enumerate(sent):
        for _ in range(wait):
            card.run(1, sizes[n % len(sizes)])
        stamp = int(card.time) + ahead // 100_000 * 100_000
        assert player.send([0xB0 | inlet, n % 128, n // 128], stamp, inlet)
        received.append((inlet, stamp))
    card.run(60)
    journal = player.new_events()
    order = [int(m >> 8 & 0x7F) + 128 * int(m >> 16) for m in journal[:, 1]]
    assert sorted(order) == list(range(len(sent)))
    assert (np.diff(journal[:, 0]) >= 0).all()
    place = {n: int(sample) for n, sample in zip(order, journal[:, 0])}
    for inlet in range(6):
        mine = [n for n in order if received[n][0] == inlet]
        assert mine == sorted(mine)
        latest = 0
        for n in mine:
            latest = max(latest, received[n][1])
            due = (latest - card.start) / card.frame + 128
            assert place[n] >= due - 1.0


def test_inlets_are_merged_by_time_and_the_first_goes_first_in_a_tie() -> None:
    rng, player = np.random.default_rng(5), Player(RATE, 128)
    card, sent = Card(player), []
    card.run(1)
    for n, stamp in enumerate(np.sort(rng.integers(0, 40, 300)) * 50_000 + int(card.time)):
        inlet = int(rng.integers(0, INLETS))
        sent.append((int(stamp), inlet, n))
        assert player.send([0xB0 | n // 128, n % 128, 0], int(stamp), inlet)
    card.run(20)
    order = [int(m >> 8 & 0x7F) + 128 * int(m & 15) for m in player.new_events()[:, 1]]
    assert order == [n for _, _, n in sorted(sent)]


def test_what_is_stamped_ahead_holds_up_nobody_else() -> None:
    player = Player(RATE, 128)
    card = Card(player)
    assert player.send(cc(3, 1), int(card.time) + 10**9, 1)
    for n in range(5):
        assert player.send(cc(3, 2 + n), int(card.time) - 1)
        card.run(2)
    assert len(player.new_events()) == 5
    card.run(375)
    (sample, message), *others = player.new_events().tolist()
    assert others == []
    assert message == packed(cc(3, 1))
    assert sample == pytest.approx(48_000 + 128, abs=1)


def test_two_events_of_one_sample_keep_their_order_in_the_instrument() -> None:
    """A note that ends and begins again on one sample is held; the other way round it is not."""
    for events, down in (((off(60), on(60)), {(0, 60)}), ((on(60), off(60)), set())):
        inst, player = instrument("modal"), Player(RATE, 128)
        assert player.change(inst)
        card = Card(player)
        for data in events:
            assert player.send(data, int(card.time) - 1)
        card.run(2)
        assert held(inst) == down


@pytest.mark.parametrize("played", [True, False])
def test_more_events_than_an_instrument_can_hold_wait_and_are_not_lost(played: bool) -> None:
    """As after a pause: every inlet is full. Each block takes what fits."""
    inst, player, count = instrument("modal"), Player(RATE, 128), 3 * memory.RING_SIZE
    assert not played or player.change(inst)
    card = Card(player)
    for n in range(count):
        assert player.send([0xB0 | n % 16, 3, n // 16 % 128], int(card.time) - count + n, n % 4)
    for done in (1, 2, 3):
        card.run(1)
        assert player.gauges.events == done * memory.RING_SIZE
    journal = player.new_events()
    assert [int(m) for m in journal[:, 1]] == [0xB0 | n % 16 | 3 << 8 | n // 16 % 128 << 16 for n in range(count)]
    assert inst.report()["events_lost"] == player.events_lost == 0


def test_the_ends_of_lost_notes_take_no_room_from_events() -> None:
    """They are obeyed between what came before the overflow and what came after it."""
    inst, player = Instrument(SMALL["modal"], 8000, polyphony=100), Player(8000, 128)
    assert player.change(inst)
    card = Card(player)
    later = int(card.time) + 10**9
    for key in range(30, 90):
        assert player.send(on(key, channel=1), int(card.time))
    while player.send(cc(3, 1), later):
        pass
    for key in range(30, 90):
        assert player.send(off(key, 1), later)
    card.run(2)
    assert held(inst) == {(1, key) for key in range(30, 90)}
    for key in range(30, 90):  # the first 60 have made room
        assert player.send(on(key, channel=2), later)
    for _ in range(400):
        assert player.send(cc(3, 2), later, 3)
    assert player.send(on(60, channel=3), later, 3)
    card.run(64)
    assert inst.report()["events_lost"] == 0
    assert held(inst) == {(2, key) for key in range(30, 90)} | {(3, 60)}


# --- what is not obeyed -----------------------------------------------------------------------------------------------


def test_notes_that_waited_too_long_do_not_begin_but_end() -> None:
    inst, player = instrument("modal"), Player(RATE, 128)
    assert player.change(inst)
    card = Card(player)
    assert player.send(on(40), int(card.time) - 1)
    assert player.send(on(41), int(card.time) - 1)
    card.run(3)
    for data, after in ((off(40), 0.001), (on(50), 0.002), (cc(64, 100), 0.003), (on(52), 9.49), (on(53), 9.51)):
        assert player.send(data, int(card.time + after * 1e9))
    card.time += 10e9
    card.run(3)
    assert held(inst) == {(0, 41), (0, 53)}
    assert player.gauges.stale == 2
    assert player.gauges.events == 7
    assert inst.machine.channels.position[0, 64] == 100
    assert [int(m) for m in player.new_events()[:, 1]] == [
        packed(d) for d in (on(40), on(41), off(40), cc(64, 100), on(53))
    ]


def test_only_the_channels_that_are_listened_to_are_heard() -> None:
    inst, player = instrument("modal"), Player(RATE, 128)
    assert player.change(inst)
    card = Card(player)
    for channel in range(16):
        assert player.send(on(40 + channel, channel=channel), int(card.time) - 1)
    card.run(3)
    assert len(held(inst)) == 16
    player.listen([2, 15])
    for channel in range(16):
        assert player.send(on(60, channel=channel), int(card.time) - 1)
        assert player.send(cc(1, 99, channel), int(card.time) - 1)
    card.run(3)
    assert {c for c, key in held(inst) if key == 60} == {2, 15}
    assert (inst.machine.channels.position[:, 1] == 99).nonzero()[0].tolist() == [2, 15]
    for channel in range(16):  # but what is held ends
        assert player.send(off(40 + channel, channel), int(card.time) - 1)
    card.run(3)
    assert held(inst) == {(2, 60), (15, 60)}


# --- gauges, log and journal ------------------------------------------------------------------------------------------


def test_the_log_and_the_gauges_tell_the_same() -> None:
    player = Player(RATE, 128)
    assert player.change(instrument("modal"))
    card = Card(player)
    card.time = float(now())
    flags = [0, 4, 1, 2, 4, 0, 6, 8, 0, 16] * 20
    for n, flag in enumerate(flags):
        begun = float(now())
        card.call(begun, 64 + n % 3, flag)
    rows, g = player.new_blocks(), player.gauges
    assert g.blocks == len(rows) == len(flags)
    assert g.underflows == sum(flag & 4 != 0 for flag in flags)
    assert g.worst == rows[:, 1].max()
    assert g.busy == rows[:, 1].sum()
    assert g.worst_late == max(rows[:, 3].max(), 0)
    assert g.seen == rows[-1, 0]
    assert g.long == (rows[:, 1] > rows[:, 2] * (1e9 / RATE)).sum()
    assert (rows[:, 2] == [64 + n % 3 for n in range(len(flags))]).all()
    assert (np.diff(rows[:, 0]) > 0).all()
    assert (rows[:, 1] > 0).all()
    assert len(player.new_blocks()) == 0


def test_a_block_that_takes_longer_than_it_lasts_is_long() -> None:
    player = Player(RATE, 128)
    card = Card(player)
    card.call(now() - 100e6, 128)
    card.call(now(), 48_000)
    assert player.gauges.long == 1
    assert player.gauges.worst > 100e6


@pytest.mark.parametrize("more", [0, 1, 1000, LOG_SIZE + 5])
def test_a_log_nobody_reads_keeps_the_newest(more: int) -> None:
    player = Player(RATE, 128)
    card = Card(player)
    card.run(10, 1)
    assert len(player.new_blocks()) == 10
    first = LOG_SIZE + more
    for n in range(first):
        card.call(card.time + n, 1 + n % 1000)
        card.heard.clear()
    rows = player.new_blocks()
    assert first - len(rows) <= more + 1
    assert len(rows) >= LOG_SIZE - 1
    assert rows[:, 2].tolist() == [1 + n % 1000 for n in range(first - len(rows), first)]


def test_a_journal_nobody_reads_keeps_the_newest() -> None:
    player = Player(RATE, 128)
    card, count = Card(player), 3 * JOURNAL_SIZE + 17
    for n in range(count):
        assert player.send([0xE0 | n >> 14, n & 127, n >> 7 & 127], int(card.time) - 1000)
        if n % 2000 == 0:
            card.run(1)
    card.run(2)
    rows = player.new_events()
    assert JOURNAL_SIZE - 1 <= len(rows) <= JOURNAL_SIZE
    sent = [packed([0xE0 | n >> 14, n & 127, n >> 7 & 127]) for n in range(count)]
    assert rows[:, 1].tolist() == sent[-len(rows) :]
    assert player.gauges.events == count
    assert len(player.new_events()) == 0
