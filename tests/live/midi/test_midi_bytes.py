"""Bytes from outside, by the million: what is a message comes in, everything else is nothing, and no note hangs."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any

import mido
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from live.midi_playing import forget, held_after, is_whole, packed, waiting

from engine.live.midi import any_backend, polled
from engine.live.midi.poller import Poller, hand_on
from engine.live.player import Player
from engine.live.thread.inlet import receive

INLET = 2
BYTES = 1_000_000
ENOUGH = 4096  # an inlet's room


@pytest.fixture
def player() -> Player:
    return Player(48_000, 128)


def flood(seed: int, longest: int) -> Iterator[bytes]:
    """A million random bytes in pieces, statuses as frequent as data: half of those with a status are notes."""
    dice = np.random.default_rng(seed)
    text = dice.integers(0, 256, BYTES, dtype=np.uint8)
    notes = dice.random(BYTES) < 0.25
    text[notes] = 0x80 | text[notes] & 0x1F
    cuts = np.cumsum(dice.integers(0, longest + 1, 2 * BYTES // longest))
    pieces = zip([0, *cuts], cuts)
    return (text[begin:end].tobytes() for begin, end in pieces if end <= BYTES)


def pages(pieces: Iterator[bytes], size: int) -> Iterator[list[bytes]]:
    page = []
    for piece in pieces:
        page.append(piece)
        if len(page) == size:
            yield page
            page = []
    yield page


def end_all(player: Player, before: Sequence[int]) -> None:
    """Unplug: whatever was held before is not any more."""
    assert held_after(before)
    player.let_go(INLET)
    assert not held_after([*before, *(message for _, message in waiting(player, INLET))])


def test_a_drivers_thread_may_bring_anything(player: Player) -> None:
    buffer = (ctypes.c_uint8 * 8)()
    inlet, address = player.inlet(INLET), ctypes.addressof(buffer)
    every: list[int] = []
    for page in pages(flood(1, 5), ENOUGH):
        for piece in page:
            ctypes.memmove(buffer, piece, len(piece))
            receive(inlet, address, len(piece))
        came = [message for _, message in waiting(player, INLET)]
        assert came == [packed(piece) for piece in page if is_whole(piece)]
        every += came
        forget(player, INLET)
    assert len(every) > 5000
    end_all(player, every)


def test_so_may_a_queue(player: Player) -> None:
    pieces = flood(2, 5)
    midi = Queue([])
    handle = opened(midi, player)
    every: list[int] = []
    for page in pages(pieces, ENOUGH):
        midi.messages = [(list(piece), 0.001) for piece in page]
        handle.drain()
        came = [message for _, message in waiting(player, INLET)]
        assert came == [packed(piece) for piece in page if is_whole(piece)]
        every += came
        forget(player, INLET)
    handle.close()
    assert handle.alive
    end_all(player, every)


def test_so_may_a_backend_of_midos(player: Player) -> None:
    """Its parser takes a stream; pieces are cut anywhere, and the last one before the plug is drawn is a half."""
    stream = Stream()
    port = any_backend._Port("stream", player.inlet(INLET), stream, Poller(0.001))
    port._poller.remove(port)  # it is the test that drains
    every: list[int] = []
    for piece in pages(flood(3, 1000), 1):
        stream.parser.feed(b"".join(piece))
        port.drain()
        every += [message for _, message in waiting(player, INLET)]
        forget(player, INLET)
    stream.parser.feed(b"\xf0\x01\x02")
    stream.parser.feed(b"\x90\x3c")
    port.drain()
    assert len(every) > 5000
    assert all(is_whole(message.to_bytes(3, "little")[: size(message)]) for message in every)
    end_all(player, every)


def size(message: int) -> int:
    return 2 if message & 0xE0 == 0xC0 else 3


@given(st.lists(st.binary(max_size=6), max_size=40))
def test_what_is_handed_on_is_what_is_whole(pieces: list[bytes]) -> None:
    player = PLAYER
    forget(player, INLET)
    for i, piece in enumerate(pieces):
        hand_on(player.inlet(INLET), 1000 + i, list(piece))
    assert waiting(player, INLET) == [(1000 + i, packed(p)) for i, p in enumerate(pieces) if is_whole(p)]


PLAYER = Player(48_000, 128)


# --- stamps of a queue ------------------------------------------------------------------------------------------------


class Queue:
    """python-rtmidi's MidiIn, of which a test decides what it holds."""

    def __init__(self, messages: list[tuple[list[int], float]]) -> None:
        self.messages = messages

    def get_message(self) -> tuple[list[int], float] | None:
        return self.messages.pop(0) if self.messages else None

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments, **named: None


class Library:
    """python-rtmidi as far as it is asked."""

    API_UNIX_JACK, RtMidiError = 3, OSError

    def __init__(self, midi: Queue) -> None:
        self.midi = midi

    def get_compiled_api(self) -> list[int]:
        return [3]

    def MidiIn(self, *arguments: Any) -> Queue:
        return self.midi


def opened(midi: Queue, player: Player) -> polled.QueueHandle:
    poller = Poller(0.001)
    handle = polled.QueueHandle(Library(midi), "UNIX_JACK", "jawari-in", poller)
    handle.open(0, player.inlet(INLET))
    poller.remove(handle)  # it is the test that drains
    return handle


class Stream:
    """A port of mido's."""

    def __init__(self) -> None:
        self.parser = mido.Parser()

    def iter_pending(self) -> Iterator[mido.Message]:
        yield from self.parser


milliseconds = st.integers(0, 200).map(lambda ms: ms * 1_000_000)


@given(st.lists(st.tuples(milliseconds, milliseconds), min_size=1, max_size=30))
def test_stamps_are_the_drivers_however_late_they_are_read(steps: list[tuple[int, int]]) -> None:
    """After each gap a message comes, and some time later the queue is read; the first is read at once."""
    forget(PLAYER, INLET)
    midi = Queue([])
    clock = 10**12
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(polled, "now", lambda: clock)
        handle = opened(midi, PLAYER)
        came: list[int] = []
        for gap, wait in [(0, 0), *steps]:
            clock += gap
            midi.messages.append(([0x90, 60, 100], (clock - came[-1]) / 1e9 if came else 0.0))
            came.append(clock)
            clock += wait
            if wait % 2_000_000 == 0:  # some are found together
                handle.drain()
        handle.drain()
    stamps = [at for at, _ in waiting(PLAYER, INLET)]
    assert np.abs(np.array(stamps) - came).max() < 1000  # ns: the sums of rounded floats


@given(st.lists(st.tuples(milliseconds, st.floats(0, 1e6)), min_size=1, max_size=30))
def test_stamps_lie_where_they_must_even_if_the_driver_counts_nonsense(steps: list[tuple[int, float]]) -> None:
    forget(PLAYER, INLET)
    midi = Queue([])
    clock, bounds = 10**12, []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(polled, "now", lambda: clock)
        handle = opened(midi, PLAYER)
        for wait, since in steps:
            before, clock = clock, clock + wait
            midi.messages.append(([0x90, 60, 100], since))
            handle.drain()
            bounds.append((before, clock))
    stamps = [at for at, _ in waiting(PLAYER, INLET)]
    assert len(stamps) == len(steps)
    assert stamps == sorted(stamps)
    assert all(before <= at <= after for at, (before, after) in zip(stamps, bounds))
