"""Instruments that come and go while the card runs: old notes ring out, new ones are new, nobody's memory is kept."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest
from live.driving import CEILING, Card, held, stage_of, unpacked
from numpy.typing import NDArray
from synth.playing import SMALL, bend, cc, limited, off, on, pressure

from engine.live import fields as x
from engine.live.player import Gauges, Player
from engine.synth.instrument import Instrument

RATE = 8000
MUTED = cc(123, 0)


def make(name: str = "bridge", **more: Any) -> Instrument:
    return Instrument(SMALL[name], RATE, **more)


def tell(player: Player, card: Card, *messages: list[int]) -> None:
    """Send what then sounds at the beginning of the block after the next."""
    for data in messages:
        assert player.send(data, int(card.time))


def offline(
    inst: Instrument, journal: NDArray[np.int64], begun: int, notes_until: int, channels: NDArray[np.int64], end: int
) -> NDArray[np.float32]:
    """What an instrument makes of a journal that is put on at `begun`, with the controllers as they were then."""
    twin = Instrument(inst.preset, RATE)
    twin.arrays["channels"][:] = channels
    for sample, message in journal:
        data = unpacked(int(message))
        begins = data[0] & 0xF0 == 0x90 and data[2] > 0
        if begun <= sample and not (begins and sample >= notes_until):
            assert twin.schedule(int(sample) - begun, data)
    out = np.zeros((end, 2), np.float32)
    twin.run(out[begun:])
    return out


def test_old_notes_ring_out_while_new_ones_are_the_new_instrument_s() -> None:
    """Bit for bit the sum of two offline renders: no click, no gap; the old one goes when it is a whisper.

    Pedals and wheels are carried over, and go on to work on both.
    """
    player, old, new = Player(RATE, 128), make("bridge"), make("grid")
    card, untouched = Card(player), old.arrays["channels"].copy()
    assert player.change(old)
    tell(player, card, cc(64, 100), bend(2000), cc(1, 80), pressure(40, 1), on(50, 60), on(57, 50), on(60, 60, 1))
    card.run(20)
    second, carried = 20 * 128, old.arrays["channels"].copy()
    assert player.change(new)
    card.run(3)
    assert (new.arrays["channels"] == carried).all()
    tell(player, card, off(50), on(62, 70))
    card.run(5)
    assert held(new) == {(0, 62)}
    assert held(old) == {(0, 57), (1, 60)}
    tell(player, card, cc(64, 0), bend(-1000), off(60, 1))
    card.run(5)
    assert held(old) == {(0, 57)}
    tell(player, card, off(57))
    while player.instruments() == [new, old]:
        card.run(1)
    alone = 128 * len(card.heard)
    card.run(100)
    got, journal = np.concatenate(card.heard), player.new_events()
    a = offline(old, journal, 0, second, untouched, len(got))
    b = offline(new, journal, second, 1 << 40, carried, len(got))
    together = limited(a + b)
    assert (got[:alone] == together[:alone]).all()
    assert np.abs(got - together).max() < 1e-5
    assert (got[alone:] == limited(b)[alone:]).all()
    assert np.abs(a[second:]).max() > 0.1
    assert np.abs(b).max() > 0.05
    assert alone < 4 * RATE


def test_the_first_instrument_keeps_its_own_controllers() -> None:
    player, inst = Player(RATE, 128), make()
    inst.arrays["channels"][3, 7] = 55
    card = Card(player)
    assert player.change(inst)
    card.run(1)
    assert inst.arrays["channels"][3, 7] == 55


def test_an_instrument_that_was_played_before_starts_anew() -> None:
    player, inst = Player(RATE, 128), make()
    inst.run(np.zeros((1000, 2), np.float32))
    card = Card(player)
    card.run(3)
    assert player.change(inst)
    tell(player, card, on(50))
    card.run(1)
    assert held(inst) == set()
    card.run(1)
    assert held(inst) == {(0, 50)}
    assert inst.clock == 256


def test_a_released_instrument_leaves_and_a_held_one_stays() -> None:
    player, old, new = Player(RATE, 128), make("grid"), make("grid")
    card = Card(player)
    assert player.change(old)
    tell(player, card, on(50))
    card.run(5)
    assert player.change(new)
    assert player.change(new)  # it is already coming
    card.run(300)
    assert player.instruments() == [new, old]
    tell(player, card, off(50))
    card.run(400)
    assert player.instruments() == [new]
    assert player.instrument is new


def test_the_fifth_instrument_makes_the_first_leave_within_a_tenth_of_a_second() -> None:
    player = Player(RATE, 128)
    card, four = Card(player), [make() for _ in range(4)]
    for inst in four:
        assert player.change(inst)
        tell(player, card, on(50, 127), on(57, 127), on(64, 127), on(69, 127))
        card.run(12)
    assert player.instruments() == [four[3], *four[:3]]
    fifth, asked = make(), card.time
    assert not player.change(fifth)
    assert not player.change(fifth)
    while not player.change(fifth):
        card.run(1)
        assert card.time - asked < 0.1e9
    assert player.instruments()[0] is fifth
    assert set(player.instruments()) == {fifth, *four[1:]}
    card.run(10)
    loudest = np.abs(np.concatenate(card.heard)).max()
    assert 0.9 * CEILING < loudest <= CEILING


def test_an_instrument_that_is_cut_fades_without_a_step() -> None:
    """Its own sound times a straight ramp of 50 ms."""
    player, old, new = Player(RATE, 128), make("grid"), make("grid")
    card, untouched = Card(player), old.arrays["channels"].copy()
    assert player.change(old)
    tell(player, card, on(45, 100))
    card.run(10)
    assert player.change(new)
    card.run(1)
    stage_of(player, old)[x.G_CUT] = 1
    card.run(8)
    got = np.concatenate(card.heard)
    whole = offline(old, player.new_events(), 0, 1 << 40, untouched, len(got))
    ramp = np.ones((len(got), 1))
    ramp[11 * 128 :, 0] = np.maximum(1.0 - np.arange(1, 8 * 128 + 1) / (0.05 * RATE), 0.0)
    assert np.abs(whole[11 * 128 :]).max() > 0.1
    assert np.abs(got - whole * ramp).max() < 1e-6
    assert player.instruments() == [new]


def test_memory_of_instruments_that_have_left_is_released() -> None:
    player = Player(RATE, 128)
    card, kept = Card(player), []
    for n in range(12):
        inst = make("grid")
        kept.append(weakref.ref(inst))
        while not player.change(inst):
            card.run(1)
        del inst
        tell(player, card, on(50 + n))
        card.run(3)
        tell(player, card, MUTED)
        card.run(2)
    card.run(400)
    assert len(player.instruments()) == 1
    gc.collect()
    assert [ref() is None for ref in kept] == [True] * 11 + [False]
    assert (player.stages[:, x.G_STATE] == x.EMPTY).sum() == 3


def test_changing_while_no_stream_runs() -> None:
    """The last one wins; those that never played are forgotten, but not before that is certain."""
    player = Player(RATE, 128)
    card, refs = Card(player), []
    assert player.instrument is None
    assert player.instruments() == []
    for _ in range(x.STAGES):
        inst = make("grid")
        refs.append(weakref.ref(inst))
        assert player.change(inst)
        assert player.instrument is inst
    assert not player.change(make("grid"))
    assert player.instrument is inst
    assert len(player.instruments()) == x.STAGES
    player.pause_over()
    card.run(1)
    assert player.instruments() == [inst]
    gc.collect()
    assert [ref() is None for ref in refs] == [True] * (x.STAGES - 1) + [False]
    assert player.change(make("grid"))


def test_changing_back_while_it_still_rings() -> None:
    """One instrument cannot be on two stages: it is asked to leave, and can then be played again."""
    player, one, other = Player(RATE, 128), make("grid"), make("grid")
    card = Card(player)
    assert player.change(one)
    tell(player, card, on(50))
    card.run(5)
    assert player.change(other)
    card.run(1)
    assert player.change(other)
    assert not player.change(one)
    blocks = 0
    while not player.change(one):
        card.run(1)
        blocks += 1
    assert blocks * 128 / RATE < 0.1
    card.run(1)
    assert player.instruments()[0] is one
    assert held(one) == set()
    mine = (player.stages[:, x.G_TABLE] == one.address) & (player.stages[:, x.G_STATE] != x.EMPTY)
    assert mine.sum() == 1


def test_a_change_in_every_block() -> None:
    """As fast as it will go, with keys held all the time; events go where they belong, and nothing is left over."""
    player, made = Player(RATE, 64), [make("grid", polyphony=4) for _ in range(7)]
    card, turn = Card(player, 64), 0
    rng = np.random.default_rng(2)
    for n in range(600):
        if rng.random() < 0.5 and player.change(made[turn % 7]):
            turn += 1
        tell(player, card, on(40 + n % 30), off(40 + (n + 20) % 30))
        card.run(1)
        sounding = [int(row[x.G_TABLE]) for row in player.stages if row[x.G_STATE] != x.EMPTY]
        assert len(set(sounding)) == len(sounding)
    assert turn > 50
    tell(player, card, *(off(key) for key in range(40, 70)))
    card.run(5)
    assert all(held(inst) == set() for inst in made)
    card.run(600)
    assert len(player.instruments()) == 1
    assert all(inst.report()["events_lost"] == 0 for inst in made)
    assert np.abs(np.concatenate(card.heard)).max() <= CEILING


@pytest.mark.parametrize(("wide", "channels"), [((1, 2), 2), ((2, 1), 2), ((1, 1), 1), ((2, 2), 8), ((1, 2), 1)])
def test_mono_and_stereo_instruments_mix_on_any_card(wide: tuple[int, int], channels: int) -> None:
    """Each as it sounds alone on such a card."""
    heard = []
    for use in ((0,), (1,), (0, 1)):
        made = [make("bridge", mono=w == 1) for w in wide]
        player = Player(RATE, 128, channels)
        card = Card(player)
        for n in (0, 1):
            assert player.change(made[n])
            tell(player, card, *((on(50 + n, 40),) if n in use else ()))
            card.run(8)
        heard.append(np.concatenate(card.heard))
    assert np.abs(heard[0] + heard[1] - heard[2]).max() < 1e-6
    assert np.abs(heard[0]).max() > 0.01
    assert np.abs(heard[1]).max() > 0.01


def test_an_instrument_of_another_rate_is_refused() -> None:
    with pytest.raises(ValueError, match="48000 Hz for a player at 8000 Hz"):
        Player(RATE, 128).change(Instrument(SMALL["grid"], 48_000))


def test_the_gauges_have_the_order_of_the_table() -> None:
    assert [f"Q_{name.upper()}" for name in Gauges._fields] == sorted(
        (name for name in vars(x) if name.startswith("Q_")), key=lambda name: vars(x)[name]
    )
    assert len(Gauges._fields) == x.GAUGES


def test_instruments_are_put_on_and_listed_by_several_threads() -> None:
    """One designs and changes, another looks on, the card plays: nobody forgets what has just come."""
    player, done = Player(RATE, 64), threading.Event()
    card, made = Card(player, 64), [make("grid", polyphony=2) for _ in range(6)]
    changes = []

    def changing(mine: list[Instrument]) -> None:
        while not done.is_set():
            for inst in mine:
                changes.append(player.change(inst))

    def looking() -> None:
        while not done.is_set():
            assert len(player.instruments()) <= x.STAGES

    jobs = [(changing, made[:3]), (changing, made[3:]), (looking,)]
    threads = [threading.Thread(target=job, args=args, daemon=True) for job, *args in jobs]
    for thread in threads:
        thread.start()
    for n in range(1500):
        tell(player, card, on(40 + n % 20), off(40 + n % 20))
        card.run(1)
        for row in player.stages:
            assert row[x.G_STATE] == x.EMPTY or int(row[x.G_TABLE]) in [i.address for i in player._instruments if i]
    done.set()
    for thread in threads:
        thread.join(10)
    assert sum(changes) > 100
    assert not np.isnan(np.concatenate(card.heard)).any()
