"""Idleness: after silence an instrument is as new, whatever it played; and one that adopts is as one always there."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synth.playing import RATE, SMALL, Event, bend, blocks, cc, instrument, off, on, pressure, raw, render

from engine.physics.string import Array
from engine.synth import memory
from engine.synth.idle import adopt
from engine.synth.instrument import Instrument

# All that is done with the sound after the voices, in one instrument: filter, velocity pickup, both sides.
NAME = "grid frets"
SHORT = {"string": {"length": 1, "density": 1e-3, "tension": 100, "loss": {"s0": 60, "s2": 5e-2}}, "release": "5 ms"}
LISTENING: dict[str, Any] = {**SHORT, "pickups": [{"at": 0.1, "pan": -0.3}, {"at": 0.4, "kind": "velocity"}]}
LOW_RATE = 8000.0  # where the last trace is gone soonest, in samples
SETTLED = 24_000  # samples at that rate after which nothing is left


def small(oversample: int = 2, mono: bool = False) -> Instrument:
    return Instrument(LISTENING, LOW_RATE, oversample=oversample, polyphony=4, mono=mono)


@cache
def shared(number: int) -> Instrument:
    """Designed when the first test plays it."""
    return small()


def idle(inst: Instrument) -> bool:
    return bool(inst.machine.idle)


def left(inst: Instrument) -> float:
    """The most that the filters hold."""
    m = inst.machine
    return max(float(np.abs(held).max(initial=0.0)) for held in (m.filtered.history, m.finished.mean))


def fresh(number: int = 0) -> Instrument:
    """One of two that are alike."""
    inst = shared(number)
    inst.reset()
    return inst


def test_new_is_idle_and_a_note_ends_it() -> None:
    inst = fresh()
    assert idle(inst)
    assert (render(inst, [(100, on(60))], 100) == 0.0).all()
    assert idle(inst)
    assert np.abs(render(inst, [], 100)).max() > 0.0
    assert not idle(inst)


@pytest.mark.parametrize("message", [cc(64, 127), cc(7, 20), bend(3000), off(60), on(60, 0), cc(120, 0), [0xC0, 3]])
def test_only_a_note_ends_it(message: list[int]) -> None:
    inst = fresh()
    render(inst, [(10, message)], 200)
    assert idle(inst)


@pytest.mark.parametrize("mono", [False, True])
@pytest.mark.parametrize("oversample", [1, 2, 8])
def test_after_silence_every_filter_is_empty(oversample: int, mono: bool) -> None:
    """The last trace is the end of the fade, 200 dB down. On a tick, and not before a whole one."""
    inst = small(oversample, mono)
    out = render(inst, [(0, on(60)), (800, off(60))], SETTLED)
    assert idle(inst)
    assert left(inst) == 0.0
    sounding = np.flatnonzero((out != 0.0).any(axis=1))
    assert np.abs(out[sounding[-1]]).max() < 1e-10
    inst.reset()
    tick = (
        -(-(int(sounding[-1]) + 1) // memory.TICK) * memory.TICK + memory.TICK
    )  # the end of the first one without a sound
    render(inst, [(0, on(60)), (800, off(60))], tick)
    assert not idle(inst)
    inst.machine.finished.mean[0] = 1e-35  # what nobody will hear
    render(inst, [], 1)
    assert idle(inst)
    assert left(inst) == 0.0


def test_idle_blocks_leave_voices_and_filters_alone() -> None:
    inst = fresh()
    inst.machine.stereo[...] = inst.machine.base[...] = np.nan
    assert (render(inst, [], 5000, blocks(37, 5000)) == 0.0).all()
    assert np.isnan(inst.machine.stereo).all()
    assert np.isnan(inst.machine.base).all()
    assert inst.clock == 5000
    assert (raw(inst, [], 300) == 0.0).all()


PIECE: list[Event] = [(0, on(60)), (500, cc(64, 90)), (700, off(60)), (900, on(43, 30)), (950, cc(64, 0))]
AGAIN: list[Event] = [(0, on(62)), (3, on(50, 90)), (300, bend(2000)), (400, off(62)), (777, on(62, 20))]


@pytest.mark.parametrize("size", [1, 37, 64, 1000])
def test_blocks_leave_no_trace_in_it(size: int) -> None:
    """Through idleness and out of it, between two ticks."""
    frames, second = SETTLED + 2000, [(SETTLED + 29 + sample, data) for sample, data in AGAIN]
    whole = render(fresh(), PIECE + second, frames)
    assert (render(fresh(), PIECE + second, frames, blocks(size, frames)) == whole).all()
    assert np.abs(whole[SETTLED:]).max() > 0.0


def later(inst: Instrument, score: list[Event], frames: int) -> Array:
    return render(inst, [(inst.clock + sample, data) for sample, data in score], frames)


@pytest.mark.parametrize("wait", [0, 1, 29, 64, 1000])
def test_who_was_idle_plays_as_who_is_new(wait: int) -> None:
    """At the same clock and with the same channels: to the last bit."""
    played, new = fresh(), fresh(1)
    render(played, [*PIECE, (SETTLED - 100, cc(1, 99)), (SETTLED - 50, bend(1234, 1))], SETTLED + wait)
    assert adopt(new.address, SETTLED + wait, played.address) == 1
    score = [*AGAIN, (350, on(55, 80, 1))]
    a, b = later(played, score, 3000), later(new, score, 3000)
    assert (a == b).all()
    assert np.abs(a).max() > 0.0


def told() -> st.SearchStrategy[list[int]]:
    """What channels remember."""
    channel, value = st.integers(0, 3), st.integers(0, 127)
    numbers = st.sampled_from([1, 6, 7, 10, 11, 38, 64, 66, 67, 74, 100, 101, 121])
    return st.one_of(
        st.builds(cc, numbers, value, channel),
        st.builds(bend, st.integers(-8192, 8191), channel),
        st.builds(pressure, value, channel),
        st.sampled_from([cc(101, 0), cc(100, 6), cc(6, 3), cc(100, 0)]),
    )


def music() -> st.SearchStrategy[list[Event]]:
    notes = st.builds(on, st.integers(40, 80), st.integers(0, 127), st.integers(0, 3))
    return st.lists(st.tuples(st.integers(0, 900), st.one_of(told(), notes)), max_size=30)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 1500), told()), max_size=30), st.integers(0, 1500), music(), st.integers(0, 5))
def test_who_adopts_plays_as_who_was_there_from_the_start(
    before: list[Event], at: int, after: list[Event], ahead: int
) -> None:
    """Whatever the channels had been told, even a moment ago; on another clock whole turns of all glides ahead."""
    first, second = fresh(), fresh(1)
    render(first, [event for event in before if event[0] < at], at)
    assert adopt(second.address, at + ahead * memory.TICK, first.address) == 1
    assert (later(first, after, 1500) == later(second, after, 1500)).all()


def test_who_sounds_adopts_nothing() -> None:
    first, second = fresh(), fresh(1)
    render(first, [(0, cc(1, 5))], 100)
    render(second, [(0, on(60))], 10)
    assert adopt(second.address, 100, first.address) == 0
    assert second.clock == 10
    assert second.machine.channels.position[0, 1] == memory.UNMOVED


@pytest.mark.parametrize("name", ["bridge", NAME])
def test_a_string_that_touches_something_falls_idle_too(name: str) -> None:
    """And what it then plays is what it played at first, however it was cut."""
    assert name in SMALL
    inst = instrument(name)
    score = [(0, on(60)), (4000, off(60)), (24000, cc(120, 0))]
    first = render(inst, score, 5 * RATE)
    assert idle(inst)
    shift = -(-inst.clock // memory.TICK) * memory.TICK
    render(inst, [], shift - inst.clock)
    again = later(inst, score, 5 * RATE)
    assert (again[:RATE] == first[:RATE]).all()
