"""A second core changes no bit: whoever performs a voice, and whoever comes late, or never answers again.

The helpers here are threads at an ordinary priority that take voices from a renderer which goes on all the time: which
ones, and how many, is another matter in every run.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from one_string import ONE_STRING
from synth.playing import SMALL, Event, bend, cc, instrument, off, on, pressure, render

from engine import aligned
from engine.compiled import called_by_python, load_acquire, write_shared
from engine.layout import seen, size_of
from engine.machine_code import INTERPRETED
from engine.opened import address
from engine.physics.string import Array
from engine.synth.crew import END, HELP, LEAVE, PATIENCE, WAIT, Crew, crew_at, help_out
from engine.synth.instrument import Instrument
from engine.threads import add_at_once, call_c

pytestmark = pytest.mark.skipif(INTERPRETED, reason="threads of compiled code, where nothing is compiled")

WITHIN = 60.0  # s in which a thread is run at last, however busy the machine


class Shared:
    """The memory of a crew, and a helper if there is one."""

    def __init__(self, least: int = 1) -> None:
        self._block = aligned.zeros(size_of(Crew), np.uint8)
        self.address = int(self._block.ctypes.data)
        self.crew = seen(Crew, self.address, self._block)
        self.crew.least = least
        if sys.platform == "linux":
            for name, function in (("sleep", "nanosleep"), ("step", "sched_yield")):
                setattr(self.crew, name, ctypes.cast(getattr(ctypes.CDLL(None), function), ctypes.c_void_p).value)
        self.order(HELP)

    def order(self, order: int) -> None:
        write_shared(address(self.crew.order), order)

    @property
    def performed(self) -> int:
        return int(self.crew.done[0])

    def joins(self, inst: Instrument) -> Instrument:
        """An instrument, with this crew."""
        inst.machine.crew = self.address
        return inst


@contextmanager
def helped(least: int = 1) -> Iterator[Shared]:
    shared = Shared(least)
    thread = threading.Thread(target=help_out, args=(shared.address,))
    thread.start()
    try:
        yield shared
    finally:
        shared.order(LEAVE)
        thread.join()


def chord(strings: int, frames: int) -> list[Event]:
    """Many strings and all that moves them: bends, a barrier that rises, gains, strips, dampers."""
    events: list[Event] = [(3 * n, on(36 + n, 60 + n, n % 16)) for n in range(strings)]
    for n in range(0, frames, 150):
        channel, low = n // 150 % 16, n % 128
        events += [(n, bend(40 * low - 2000, channel)), (n + 7, cc(1, low, channel)), (n + 7, pressure(low, channel))]
        events += [(n + 20, cc(7, low, channel)), (n + 21, cc(10, 127 - low, channel)), (n + 40, cc(20, low, channel))]
    return events + [(frames // 2 + 5 * n, off(36 + n, n % 16)) for n in range(0, strings, 3)]


@pytest.mark.parametrize("name", [*SMALL, *ONE_STRING])
def test_a_helper_changes_no_bit(name: str) -> None:
    frames = 2400
    score = chord(16, frames)
    alone = render(instrument(name), score, frames)
    assert np.abs(alone).max() > 0.0
    with helped() as shared:
        end = time.monotonic() + WITHIN
        while shared.performed < 5:
            assert (render(shared.joins(instrument(name)), score, frames, range(77, frames, 77)) == alone).all()
            assert time.monotonic() < end, "the helper is never run"
    assert shared.performed == shared.crew.taken
    assert shared.crew.lapses == 0


ZONE = [cc(101, 0), cc(100, 6), cc(6, 15)]  # MPE: fifteen members
MOVES = st.one_of(
    st.builds(on, st.integers(40, 76), st.integers(1, 127), st.integers(0, 15)),
    st.builds(off, st.integers(40, 76), st.integers(0, 15)),
    st.builds(bend, st.integers(-8192, 8191), st.integers(0, 15)),
    st.builds(pressure, st.integers(0, 127), st.integers(0, 15)),
    st.builds(cc, st.sampled_from([1, 7, 10, 11, 20, 64, 74, 120, 121]), st.integers(0, 127), st.integers(0, 15)),
)


@settings(max_examples=20)
@given(
    st.sampled_from(list(SMALL)),
    st.booleans(),
    st.lists(st.tuples(st.integers(0, 1500), MOVES), min_size=10, max_size=60),
    st.integers(1, 300),
)
def test_whatever_is_played_and_in_blocks_of_any_size(name: str, mpe: bool, moves: list[Event], block: int) -> None:
    score = [(0, message) for message in ZONE if mpe] + [(n, on(45 + 3 * n, 90, n)) for n in range(1, 9)] + moves
    alone = render(instrument(name), score, 1600)
    with helped() as shared:
        both = render(shared.joins(instrument(name)), score, 1600, range(block, 1600, block))
    assert (both == alone).all()


def test_few_strings_are_not_shared() -> None:
    with helped(least=9) as shared:
        render(shared.joins(instrument("modal")), chord(8, 4800), 4800)
        assert shared.crew.taken == shared.crew.offered == 0
        render(shared.joins(instrument("modal")), chord(9, 4800), 4800)
        assert shared.crew.offered == 1


@pytest.mark.parametrize("order", [WAIT, LEAVE, HELP])
def test_a_crew_without_a_helper_is_none(order: int) -> None:
    """It has not begun, has ended, or is never run: nobody waits for it."""
    score, shared = chord(8, 2400), Shared()
    alone = render(instrument("bridge"), score, 2400)
    shared.order(order)
    assert (render(shared.joins(instrument("bridge")), score, 2400) == alone).all()
    assert shared.crew.taken == shared.crew.lapses == 0


def test_helpers_come_and_go() -> None:
    """One after the other, in the middle of a sound."""
    score, inst = chord(12, 9600), instrument("frets")
    alone = render(inst, score, 9600)
    heard, inst = [], instrument("frets")
    blocks_of = [(start, start + 960) for start in range(0, 9600, 960)]
    waiting = sorted(score, key=lambda event: event[0])
    for first, last in blocks_of:
        due = [event for event in waiting if first <= event[0] < last]
        with helped() as shared:
            heard.append(render(shared.joins(inst), due, last - first))
    assert (np.concatenate(heard) == alone).all()


# --- a helper that does not answer ------------------------------------------------------------------------------------


@called_by_python
def seize(where: Any) -> None:
    """Take the last voice that is left, and do nothing with it: a thread that is stopped just there."""
    c = crew_at(where)
    while True:
        left = load_acquire(c.left, 0)
        if left % END < left // END:
            left = add_at_once(c.left, 0, -END)
            if left % END < left // END:
                return


def seized(shared: Shared, inst: Instrument) -> Array:
    """A block with whose last voice somebody vanishes, when it does at last."""
    thief = threading.Thread(target=seize, args=(shared.address,))
    thief.start()
    end, heard = time.monotonic() + WITHIN, np.zeros((0, 2))
    while thief.is_alive():
        assert time.monotonic() < end, "nobody vanishes"
        heard = render(inst, [], 64)
    return heard


def test_sound_stands_still_where_a_voice_is_not_given_back_and_goes_on_when_it_is() -> None:
    inst, shared = instrument("modal"), Shared()
    heard = render(shared.joins(inst), chord(12, 1), 480)
    seized(shared, inst)
    began = time.monotonic()
    silence = render(inst, [], 4800)
    assert time.monotonic() - began < WITHIN
    assert inst.machine.held == shared.crew.lapses == 1
    assert np.abs(heard).max() > 0.0
    assert (np.diff(np.abs(silence[480:, 0])) <= 0.0).all()  # nothing swings: what the filters hold runs out
    assert np.abs(silence[-480:]).max() < 0.1 * np.abs(silence[:480]).max()
    before, clock = inst.machine.voices.energy.copy(), inst.clock
    assert inst.schedule(inst.clock, on(80))
    render(inst, [], 480)
    assert inst.clock == clock + 480
    assert (inst.machine.voices.energy == before).all()  # nobody touches them
    write_shared(address(shared.crew.done), int(shared.crew.taken))
    shared.order(LEAVE)
    again = render(inst, [], 4800)
    assert inst.machine.held == 0
    assert np.abs(again).max() > 1e-3 * np.abs(again[:480]).max() > 0.0
    assert 80 in {int(v.key) for v in inst.machine.voices if v.state}


def test_patience_is_shorter_than_a_sound_server_s() -> None:
    """JACK drops a client after 0.5 s."""
    assert PATIENCE < 0.5e9


# --- the instructions -------------------------------------------------------------------------------------------------


@called_by_python
def count(where: Any, times: Any) -> None:
    c = crew_at(where)
    for _ in range(times):
        add_at_once(c.left, 0, 1)


def test_no_addition_is_lost_between_threads() -> None:
    shared = Shared()
    count(shared.address, 0)  # compiled before they begin
    threads = [threading.Thread(target=count, args=(shared.address, 300_000)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shared.crew.left[0] == 1_200_000


@called_by_python
def called(function: Any, one: Any, other: Any) -> Any:
    return call_c(function, one, other)


def test_functions_of_c_are_called_by_address() -> None:
    @ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
    def minus(one: int, other: int) -> int:
        return one - other

    where = ctypes.cast(minus, ctypes.c_void_p).value
    assert called(where, 50, 8) == 42
    assert called(0, 50, 8) == 0
