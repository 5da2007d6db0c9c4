"""The way in: nothing lost, nothing out of order, nothing that ends a note forgotten; between native threads too."""

from __future__ import annotations

import threading
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synth.playing import RATE, Event, cc, instrument, off, on, raw, ringing, schedule, states

from engine.compiled import FLAGS, load_acquire, store_release
from engine.synth import memory
from engine.synth.instrument import Instrument
from engine.synth.ring import push

pytestmark = pytest.mark.usefixtures("shared_designs")

NOTHING = [0xB0, 3, 0]  # a controller that nobody maps


def fill(inst: Instrument, sample: int = 0) -> None:
    """The ring, to the last place."""
    for _ in range(memory.RING_SIZE):
        assert inst.schedule(sample, NOTHING)


def test_it_holds_4096_events_and_counts_what_it_cannot_hold() -> None:
    inst = instrument("modal")
    assert memory.RING_SIZE == 4096
    fill(inst)
    assert inst.report()["events_lost"] == 0
    for lost in range(1, 4):
        assert not inst.schedule(0, on(60))
        assert inst.report()["events_lost"] == lost
    raw(inst, [], 1)
    assert inst.schedule(1, on(60))
    raw(inst, [], 1)
    assert ringing(inst) == 1


def test_it_goes_round_and_round() -> None:
    inst = instrument("modal")
    for n in range(10 * memory.RING_SIZE // 100):
        schedule(inst, [(n, cc(3, i % 128)) for i in range(100)])
        raw(inst, [], 1)
        assert inst.machine.channels.position[0, 3] == 99
    assert inst.report()["events_lost"] == 0


def test_an_event_that_comes_too_late_is_obeyed_at_once() -> None:
    inst = instrument("modal")
    raw(inst, [], 1000)
    got = raw(inst, [(3, on(60))], 2400)
    assert (got == raw(instrument("modal"), [(1000, on(60))], 3400)[1000:]).all()


def test_events_keep_their_order_whatever_their_samples() -> None:
    """What native code pushes is rather late than before what was sent first."""
    got = [raw_of_order([(500, on(60)), (100, off(60))]), raw_of_order([(500, on(60)), (500, off(60))])]
    assert (got[0] == got[1]).all()


def raw_of_order(score: list[Event]) -> Any:
    inst = instrument("modal")
    for sample, (status, key, velocity) in score:
        assert push(inst.address, sample, status | key << 8 | velocity << 16)
    return raw(inst, [], 4800)


# --- what a full ring may not lose ------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [off(60), [0x90, 60, 0], cc(123, 0), cc(127, 0)])
def test_a_note_off_survives_a_full_ring(end: list[int]) -> None:
    inst = instrument("modal")
    raw(inst, [(0, on(60)), (0, on(60, 100, 1))], 100)
    fill(inst, 200)
    assert inst.schedule(200, end)
    raw(inst, [], 100)
    assert states(inst)[:2] == [memory.HELD, memory.HELD]  # not before what was queued earlier
    raw(inst, [], 1)
    assert states(inst)[:2] == [memory.RELEASED, memory.HELD]
    assert inst.report()["events_lost"] == 1


def test_an_all_sound_off_survives_a_full_ring_as_what_it_is() -> None:
    """Silence, whatever the pedals say."""
    inst = instrument("modal")
    raw(inst, [(0, cc(64, 127)), (0, on(60)), (0, on(64)), (0, on(60, 100, 1)), (50, off(64))], 100)
    fill(inst, 200)
    assert inst.schedule(200, cc(120, 0))
    raw(inst, [], 101)
    assert states(inst)[:3] == [memory.FADING, memory.FADING, memory.HELD]


@pytest.mark.parametrize("lost", [on(72), cc(64, 0), [0xE0, 0, 0], [0xD0, 3], cc(121, 0), cc(3, 1)])
def test_the_rest_is_lost_and_said_to_be(lost: list[int]) -> None:
    inst = instrument("modal")
    fill(inst)
    assert not inst.schedule(0, lost)
    raw(inst, [], 1)
    got = raw(inst, [(1, on(60))], 600)
    assert inst.report()["events_lost"] == 1
    assert (got == raw(instrument("modal"), [(1, on(60))], 601)[1:]).all()


def test_a_note_that_begins_after_the_overflow_is_not_ended_by_it() -> None:
    """The lost note-off was sent before this note-on, and both wait for the same sample."""
    inst = instrument("modal")
    raw(inst, [(0, on(60))], 64)
    for n in range(memory.RING_SIZE):
        assert inst.schedule(100 if n < 10 else 200, NOTHING)
    assert inst.schedule(200, off(60))
    raw(inst, [], 64)  # the first ten make room
    assert inst.schedule(200, on(60))
    raw(inst, [], 100)
    assert states(inst)[0] == memory.HELD


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 15), st.integers(0, 127)), max_size=60), st.integers(1, 3))
def test_no_note_hangs_after_any_overflow(ends: list[tuple[int, int]], rounds: int) -> None:
    """Every key that is sent a note-off is released in the end, whether it fitted into the ring or not."""
    inst = Instrument(**SPARSE)
    wanted = set(ends)
    for _ in range(rounds):
        schedule(inst, [(inst.clock, on(k, 100, c)) for c, k in wanted])
        raw(inst, [], 1)
        for n in range(memory.RING_SIZE - 20):
            assert inst.schedule(inst.clock, [0xB0 | n % 16, 3, 0])
        for channel, key in ends:
            assert inst.schedule(inst.clock, off(key, channel))
        raw(inst, [], 64)
    voices = inst.machine.voices
    held = {(int(v.channel), int(v.key)) for v in voices if v.state == memory.HELD}
    assert held == set()


SPARSE: dict[str, Any] = {
    "preset": {"string": {"length": 1, "density": 1e-3, "tension": 100, "loss": {"s0": 1, "s2": 5e-3}}},
    "sample_rate": 8000,
    "polyphony": 64,
}


# --- between threads --------------------------------------------------------------------------------------------------


@numba.njit(**FLAGS)
def produce(address: Any, count: Any, refused: Any) -> None:
    """Push 0 ... count - 1, each until it is taken; the message is its number with no meaning in MIDI."""
    for n in range(count):
        while push(address, n, n << 8) == 0:
            refused[0] += 1


@numba.njit(**FLAGS)
def consume(address: Any, count: Any, wrong: Any) -> None:
    """Take as many from the other end, as the renderer does, and count those that are not the next."""
    ring = memory.machine(address).ring
    for n in range(count):
        while load_acquire(ring.written, 0) == ring.read[0]:
            pass
        row = ring.rows[ring.read[0] & (memory.RING_SIZE - 1)]
        wrong[0] += row[0] != n or row[1] != n << 8
        store_release(ring.read, 0, ring.read[0] + 1)


def side_by_side(*jobs: Any) -> None:
    threads = [threading.Thread(target=job[0], args=job[1:], daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)


def test_a_million_events_between_two_native_threads() -> None:
    inst, count = instrument("modal"), 1_000_000
    refused, wrong = np.zeros(1, np.int64), np.zeros(1, np.int64)
    produce(inst.address, 0, refused)  # compiled before the race
    consume(inst.address, 0, wrong)
    side_by_side((produce, inst.address, count, refused), (consume, inst.address, count, wrong))
    assert wrong[0] == 0
    ring = inst.machine.ring
    assert ring.written[0] == ring.read[0] == count
    assert inst.report()["events_lost"] == refused[0]


@numba.njit(**FLAGS)
def hurry(address: Any, done: Any, kept: Any) -> None:
    """Push controllers that are always too late, at any moment of the renderer's, until it is done.

    Between them, time for the renderer to empty the ring.
    """
    while load_acquire(done, 0) == 0:
        kept[0] += push(address, 0, 0xB0 | 3 << 8 | (kept[0] & 127) << 16)
        for _ in range(kept[0] % 4096):
            load_acquire(done, 0)


def test_late_events_during_a_block_do_not_turn_the_clock_back() -> None:
    """They come in between the renderer's two looks at the ring."""
    inst, frames = instrument("modal"), 5 * RATE
    out = np.full((frames, 2), np.nan, np.float32)
    done, kept = np.ones(1, np.int64), np.zeros(1, np.int64)
    hurry(inst.address, done, kept)  # compiled before the race
    done[0] = 0
    schedule(inst, [(0, on(60))])

    def playing() -> None:
        inst.run(out)
        done[0] = 1

    side_by_side((playing,), (hurry, inst.address, done, kept))
    inst.run(np.zeros((64, 2), np.float32))
    assert inst.clock == frames + 64
    ring = inst.machine.ring
    assert ring.written[0] == ring.read[0] == kept[0] + 1
    assert kept[0] > 1000
    again = instrument("modal")
    schedule(again, [(0, on(60))])
    alone = np.zeros((frames, 2), np.float32)
    again.run(alone)
    assert (out == alone).all()


def test_python_s_threads_are_one_producer() -> None:
    """Four of them at once: `push` keeps the interpreter's lock."""
    inst = instrument("modal")

    def many(channel: int) -> None:
        for n in range(1000):
            assert inst.schedule(0, cc(3, n % 128, channel))

    side_by_side(*[(many, channel) for channel in range(4)])
    assert inst.machine.ring.written[0] == 4000
    rows = inst.machine.ring.rows[:4000]
    for channel in range(4):
        mine = rows[rows[:, 1] & 15 == channel, 1] >> 16
        assert (mine == np.arange(1000) % 128).all()
