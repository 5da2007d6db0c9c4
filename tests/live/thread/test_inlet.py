"""The ways in: floods, threads, rubbish and unplugged ports; nothing that ends a note is ever lost."""

from __future__ import annotations

import threading
import time
from functools import cache
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from live.driving import Card, held, packed, play_through
from synth.playing import bend, cc, off, on, pressure

from engine.compiled import FLAGS, load_acquire, now
from engine.live.player import Player
from engine.live.thread.inlet import SPARE, receive
from engine.live.thread.memory import KEY_WORDS, inlet_at
from engine.synth import memory
from engine.synth.instrument import Instrument

SPARSE: dict[str, Any] = {
    "preset": {"string": {"length": 1, "density": 1e-3, "tension": 100, "loss": {"s0": 1, "s2": 5e-3}}},
    "sample_rate": 8000,
    "polyphony": 64,
}
ROOM = memory.RING_SIZE - SPARE
NOTHING = cc(3, 0)  # a controller that nobody maps


@cache
def shared() -> Instrument:
    """Designed when the first test plays it."""
    return Instrument(**SPARSE)


def playing() -> tuple[Player, Card, Instrument]:
    """A player that has played its instrument for a block."""
    inst = shared()
    inst.reset()
    player = Player(8000, 128)
    assert player.change(inst)
    card = Card(player)
    card.run(1)
    return player, card, inst


def fill(player: Player, inlet: int, stamp: int) -> None:
    """Until there is no room but what is kept for letting go."""
    sent = 0
    while player.send(NOTHING, stamp, inlet):
        sent += 1
    assert sent in (0, ROOM)


# --- a full inlet -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [off(60), [0x90, 60, 0], cc(123, 0), cc(127, 0), cc(120, 0)])
def test_what_ends_a_note_survives_a_full_inlet(end: list[int]) -> None:
    player, card, inst = playing()
    assert player.send(on(60), int(card.time))
    assert player.send(on(61, channel=1), int(card.time))
    card.run(2)
    fill(player, 0, int(card.time))
    assert player.send(end, int(card.time))
    assert not player.send(on(65), int(card.time))
    assert player.events_lost == 3
    assert held(inst) == {(0, 60), (1, 61)}
    card.run(1)
    assert held(inst) == {(0, 60), (1, 61)}  # not before what was sent earlier
    card.run(1)
    assert held(inst) == {(1, 61)}
    assert player.gauges.events == 2 + ROOM


def test_a_note_that_begins_after_the_overflow_is_not_ended_by_it() -> None:
    player, card, inst = playing()
    assert player.send(on(60), int(card.time))
    card.run(2)
    fill(player, 0, int(card.time))
    assert player.send(off(60), int(card.time))
    card.run(2)
    assert player.send(on(60), int(card.time))
    card.run(2)
    assert held(inst) == {(0, 60)}


def test_the_other_inlets_do_not_notice() -> None:
    player, card, inst = playing()
    fill(player, 4, int(card.time) + 10**12)
    assert not player.send(on(59), 0, 4)
    assert player.send(on(60), int(card.time), 5)
    card.run(2)
    assert held(inst) == {(0, 60)}


@pytest.mark.parametrize("inlets", [1, 5])
def test_a_flood_leaves_no_note_behind_and_what_is_lost_is_counted(inlets: int) -> None:
    """10^5 events a second for 2 s, in no order; now and then the card pauses for longer than the inlets can hold."""
    rng, inst = np.random.default_rng(inlets), Instrument(**{**SPARSE, "sample_rate": 48_000, "polyphony": 8})
    player, count = Player(48_000, 128), 200_000
    assert player.change(inst)
    card = Card(player)
    card.run(1)
    kinds = rng.choice([0x80, 0x90, 0xB0, 0xE0], count, p=[0.45, 0.35, 0.1, 0.1]) | rng.integers(0, 3, count)
    first, second = rng.integers(0, 128, (2, count))
    first[(kinds & 0xF0 == 0xB0) & (first >= 120)] = 3
    stamps = (card.time + np.sort(rng.uniform(0.0, 2e9, count))).astype(np.int64)
    into, kept, done = rng.integers(0, inlets, count), 0, 0
    while done < count:
        if card.player.gauges.blocks % 300 == 0:
            card.time += 0.3e9
        until = int(np.searchsorted(stamps, card.time))
        for n in range(done, until):
            kept += player.send((int(kinds[n]), int(first[n]), int(second[n])), int(stamps[n]), int(into[n]))
        done = until
        card.run(1)
        card.heard.clear()
    for channel in range(3):
        for key in range(128):
            player.send(off(key, channel), int(card.time), 0)
    card.run(40)
    assert held(inst) == set()
    assert player.events_lost == count + 3 * 128 - player.gauges.events
    assert player.events_lost > 1000
    assert kept < count


def test_every_note_that_was_ended_ends_in_a_flood_of_full_inlets() -> None:
    """The last message for every key is its note-off, whether there is room for it or not."""
    rng, (player, card, inst) = np.random.default_rng(3), playing()
    for _ in range(6):
        for inlet in range(3):
            for key in rng.permutation(np.arange(30, 90)):
                player.send(on(int(key), channel=inlet), int(card.time), inlet)
            fill_up = ROOM + 200 - int(rng.integers(0, 600))
            for _ in range(fill_up):
                player.send(NOTHING, int(card.time), inlet)
            for key in range(30, 90):
                assert player.send(off(key, inlet), int(card.time), inlet)
        card.run(6)
        assert held(inst) == set()
    assert player.events_lost > 0


# --- many producers ---------------------------------------------------------------------------------------------------


@numba.njit(**FLAGS)
def produce(inlet: Any, data: Any, octets: Any, channel: Any, count: Any) -> None:
    """Numbers from 0 as positions of the pitch wheel, whenever the ring has room."""
    ring = inlet_at(inlet).ring
    for n in range(count):
        while ring.written[0] - load_acquire(ring.read, 0) >= memory.RING_SIZE - SPARE:
            pass
        octets[0], octets[1], octets[2] = 0xE0 | channel, n & 127, n >> 7 & 127
        receive(inlet, data, 3)


def test_threads_with_and_without_the_interpreter_at_once() -> None:
    """Nothing is lost and nothing out of order, while another thread renders."""
    player, native, python, threads = Player(48_000, 128), 20_000, 2_000, []
    octets = [np.zeros(3, np.uint8) for _ in range(2)]
    for n in range(2):
        produce(player.inlet(2 + n), octets[n].ctypes.data, octets[n], n, 0)  # compiled before the race
        arguments = (player.inlet(2 + n), octets[n].ctypes.data, octets[n], n, native)
        threads.append(threading.Thread(target=produce, args=arguments))

    def send(channel: int) -> None:
        for n in range(python):
            assert player.send([0xE0 | channel, n & 127, n >> 7])
            if n % 100 == 0:
                time.sleep(0.001)

    threads += [threading.Thread(target=send, args=(channel,)) for channel in (2, 3, 4)]
    card, rows = Card(player), []
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 300.0
    while len(rows) < 2 * native + 3 * python and time.monotonic() < deadline:
        card.run_now()  # everything is due
        card.heard.clear()
        rows += player.new_events()[:, 1].tolist()
    for thread in threads:
        thread.join(10)
    assert player.events_lost == 0
    for channel in range(5):
        mine = [(m >> 8 & 127) | (m >> 16) << 7 for m in rows if m & 15 == channel]
        count = native if channel < 2 else python
        assert mine == [n & 16383 for n in range(count)]


# --- bytes ------------------------------------------------------------------------------------------------------------


@numba.njit(**FLAGS)
def feed(inlet: Any, data: Any, sizes: Any) -> None:
    """Messages of these sizes, one after the other."""
    at = 0
    for n in range(sizes.size):
        receive(inlet, data + at, sizes[n])
        at += sizes[n]


def understood(data: list[int]) -> bool:
    """A whole channel message."""
    if not data or not 0x80 <= data[0] < 0xF0:
        return False
    return len(data) == (2 if data[0] & 0xF0 in (0xC0, 0xD0) else 3) and max(data[1:]) < 0x80


def test_a_million_random_bytes_leave_nothing_behind() -> None:
    """What is a message is obeyed, and nothing else; then the port is let go."""
    rng, (player, card, inst) = np.random.default_rng(1), playing()
    noise = rng.integers(0, 256, 1_000_000).astype(np.uint8)
    status = rng.random(noise.size) < 0.3
    noise[status] |= 0x80
    noise[~status & (rng.random(noise.size) < 0.8)] &= 0x7F
    sizes = rng.choice([0, 1, 2, 3, 4, 9], 400_000, p=[0.05, 0.1, 0.25, 0.5, 0.05, 0.05])
    sizes = sizes[np.cumsum(sizes) <= noise.size]
    assert sizes.sum() > 990_000
    starts, wanted, got = np.cumsum(sizes) - sizes, [], []
    for first in range(0, sizes.size, 2000):
        some = np.ascontiguousarray(sizes[first : first + 2000])
        feed(player.inlet(2), noise.ctypes.data + int(starts[first]), some)
        card.run_now()
        card.heard.clear()
        got += player.new_events()[:, 1].tolist()
    for start, size in zip(starts.tolist(), sizes.tolist()):
        data = noise[start : start + size].tolist()
        if understood(data) and data[0] & 0xF0 != 0xC0:  # programs are kept as they take effect, and here are none
            wanted.append(packed(data))
    assert len(wanted) > 10_000
    assert got == wanted
    player.let_go(2)
    card.run_now()
    assert_let_go(inst)
    assert player.events_lost == 0


@pytest.mark.parametrize(
    "data", [[], [0x90], [0xF8], [0xF0, 1, 0xF7], [60, 100], [0x90, 60], [0x90, 60, 200], [0xC0, 1, 2]]
)
def test_python_s_way_in_takes_the_same_messages(data: list[int]) -> None:
    player, card, inst = playing()
    assert player.send(data, int(card.time))
    card.run(2)
    assert player.gauges.events == int(understood(data)) == 0
    assert held(inst) == set()


# --- an unplugged port ------------------------------------------------------------------------------------------------

MESSAGES = st.one_of(
    st.builds(on, st.integers(0, 127), st.integers(0, 127), st.integers(0, 15)),
    st.builds(off, st.integers(0, 127), st.integers(0, 15)),
    st.builds(cc, st.sampled_from([1, 64, 66, 67, 74, 120, 121, 123, 126]), st.integers(0, 127), st.integers(0, 15)),
    st.builds(bend, st.integers(-8192, 8191), st.integers(0, 15)),
    st.builds(pressure, st.integers(0, 127), st.integers(0, 15)),
    st.builds(lambda channel, n: [0xC0 | channel, n], st.integers(0, 15), st.integers(0, 127)),
)


def assert_let_go(inst: Instrument) -> None:
    """No key down, pedals up, wheels in the middle."""
    channels = inst.machine.channels
    assert held(inst) == set()
    assert (channels.position[:, [64, 66, 67, memory.PRESSURE]] < [64, 64, 64, 1]).all()
    assert (channels.bend == 0).all()


@settings(max_examples=100)
@given(st.lists(MESSAGES, max_size=60), st.integers(0, 59))
def test_a_port_that_is_gone_holds_nothing(messages: list[list[int]], pause: int) -> None:
    player, card, inst = playing()
    for n, data in enumerate(messages):
        assert player.send(data, int(card.time), 7)
        if n == pause:
            card.run(1)
    player.let_go(7)
    card.run_now()
    assert_let_go(inst)
    player.let_go(7)  # there is nothing left to be let go
    events = player.gauges.events
    card.run_now()
    assert player.gauges.events == events


def test_letting_go_moves_back_what_was_moved_and_no_more() -> None:
    """Another keyboard may be playing on the same channel."""
    player, card, inst = playing()
    channels = inst.machine.channels
    for inlet, data in ((2, on(60)), (2, cc(64, 127)), (3, on(62)), (3, bend(900)), (3, pressure(9))):
        assert player.send(data, int(card.time), inlet)
    card.run(2)
    player.let_go(2)
    card.run_now()
    assert held(inst) == {(0, 62)}
    assert (*channels.position[0, [64, memory.PRESSURE]], channels.bend[0]) == (0, 9, 900)
    player.let_go(3)
    card.run_now()
    assert_let_go(inst)


def test_a_full_inlet_is_let_go_all_the_same() -> None:
    """The card stopped, the keys went on and on; then the keyboard was pulled, and a second one, and a third."""
    player, card, inst = playing()
    for channel in range(16):
        for data in (on(60, channel=channel), cc(64, 127, channel), bend(-8192, channel), pressure(99, channel)):
            assert player.send(data, int(card.time), 2)
    card.run(2)
    assert len(held(inst)) == 16
    for _ in range(3):
        fill(player, 2, int(card.time))
        for n in range(3000):
            data = (on(n % 128, channel=n % 16), cc(64, 127, n % 16), bend(n, n % 16))[n % 3]
            assert not player.send(data, int(card.time), 2)
        player.let_go(2)
    for _ in range(3):
        card.run_now()
    assert_let_go(inst)
    assert player.gauges.events == 4 * 16 + ROOM + 6 * 16


def test_held_keys_know_every_key_of_every_channel() -> None:
    player, card, inst = playing()
    for channel in range(16):
        for key in range(128):
            assert player.send(on(key, 1, channel), int(card.time), 9)
    player.let_go(9)
    journal = []
    card.run_now()
    journal += player.new_events()[:, 1].tolist()
    ends = {m for m in journal if m & 0xF0 == 0x80}
    assert ends == {0x80 | channel | key << 8 for channel in range(16) for key in range(128)}
    assert held(inst) == set()
    assert KEY_WORDS * 32 == 128


def test_events_are_placed_by_the_time_they_came_in() -> None:
    """`receive` stamps with the clock that the blocks are measured by."""
    player = Player(48_000, 128)
    data = np.array(on(60), np.uint8)
    receive(player.inlet(2), data.ctypes.data, 0)  # compiled before the clock runs
    before = now()
    receive(player.inlet(2), data.ctypes.data, 3)
    after = now()
    journal = play_through(player, [before - 10e6, before + 20e6], 48_000, [])
    came = (journal[0, 0] - 128) / 48_000 * 1e9  # ns after the first block
    assert 10e6 - 1e5 < came < 10e6 + 1e5 + (after - before)
