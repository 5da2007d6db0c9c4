"""The loop of every offline render: what sounds when, whatever the blocks."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Iterator
from typing import Any

import mido
import numpy as np
import pytest
from numpy.typing import NDArray
from offline.fake_instrument import LATENCY, RING, FakeInstrument

from engine.errors import PhysicsError
from engine.music.errors import ScoreError
from engine.music.note import Note, parse_notes
from engine.music.score import Score, score_of_messages, score_of_notes
from engine.offline.stream import CHUNK, FADE, LONGEST, LONGEST_TAIL, stream

RATE = 8000


def sound(score: Score, block: int = 128, tail: float | None = None, player: Any = None) -> NDArray[np.float32]:
    player = player or FakeInstrument(None, RATE, block)
    chunks = [chunk.copy() for chunk in stream(player, score, tail)]
    return np.concatenate([np.zeros((0, player.channels), np.float32), *chunks])


def test_a_note_sounds_from_its_sample_on() -> None:
    at = 0.123
    audio = sound(score_of_notes([Note(60, 100, at, 0.5)]), tail=0.2)
    first = round(at * RATE)
    assert not audio[:first].any()
    assert audio[first].all()
    assert len(audio) == round((at + 0.5 + 0.2) * RATE)


def test_no_block_size_changes_a_bit() -> None:
    score = score_of_notes(parse_notes("C4:0:.3 E4:.2:.8:80 G4:.7:.1 C4:1.1:.01"))
    whole = sound(score, 65_536)
    assert whole.any()
    for block in (1, 37, 64, 512):
        np.testing.assert_array_equal(sound(score, block), whole)


def test_events_are_handed_over_in_their_block_and_in_order() -> None:
    class Watched(FakeInstrument):
        def run(self, out: NDArray[np.float32]) -> None:
            assert all(sample < self.clock + len(out) for sample, _ in self.ring)
            super().run(out)

    score = score_of_notes([Note(60 + i % 5, 1 + i % 127, i * 0.0101, 0.05) for i in range(200)])
    player = Watched(None, RATE, 64)
    sound(score, player=player)
    assert player.seen == list(score.events(RATE))


def test_a_flood_is_spread_over_the_next_samples() -> None:
    flood = [mido.Message("control_change", control=1, value=i % 128, time=0.5) for i in range(10_000)]
    flood += [mido.Message("note_on", note=60, time=0.5), mido.Message("note_off", note=60, time=0.7)]
    heard = {}
    for block in (16, 4096):
        player = FakeInstrument(None, RATE, block)  # its ring holds 4096 events and is watched
        heard[block] = sound(score_of_messages(flood), player=player)
        assert len(player.seen) == 10_002
        samples = [sample for sample, _ in player.seen]
        assert samples[0] == RATE // 2
        assert samples[-2] <= RATE // 2 + 5
        assert samples[-1] == round(0.7 * RATE)
    np.testing.assert_array_equal(heard[16], heard[4096])


def test_without_a_tail_it_ends_when_all_is_silent() -> None:
    audio = sound(score_of_notes([Note(60, duration=5 * RING)]))
    last = np.flatnonzero(audio.any(axis=1))[-1]
    assert last <= RING * RATE
    assert 5 * RING * RATE <= len(audio) <= 5 * RING * RATE + 2 * CHUNK
    ringing = sound(score_of_notes([Note(60, duration=0.1)]), tail=None)
    assert not ringing[-1].any()
    assert len(ringing) <= (0.1 + 0.05) * RATE + 3 * CHUNK


def test_a_tail_is_as_long_as_it_is_asked_for() -> None:
    score = score_of_notes([Note(60, duration=0.25)])
    for tail in (0.0, 0.01, 3.0):
        assert len(sound(score, tail=tail)) == round((0.25 + tail) * RATE)


def test_what_never_falls_silent_is_faded_out() -> None:
    class Endless(FakeInstrument):
        silent = False  # type: ignore[assignment]

        def run(self, out: NDArray[np.float32]) -> None:
            out[:] = 1.0

    score = score_of_notes([Note(60, duration=1.0)])
    audio = sound(score, player=Endless(None, RATE))[:, 0]
    fade = round(FADE * RATE)
    assert len(audio) == round((1.0 + LONGEST_TAIL) * RATE)
    assert (audio[:-fade] == 1.0).all()
    np.testing.assert_allclose(audio[-fade:], np.arange(fade, 0, -1) / fade, rtol=1e-6)
    assert (sound(score, tail=2.0, player=Endless(None, RATE)) == 1.0).all()


def test_nothing_to_play_is_no_sound() -> None:
    empty = score_of_notes([])
    assert sound(empty, tail=0.0).shape == (0, 2)
    assert not sound(empty).any()


def test_impossible_lengths_are_refused() -> None:
    score = score_of_notes([Note(60)])
    for tail in (-1.0, float("nan"), float("inf"), 2 * LONGEST):
        with pytest.raises(PhysicsError, match="tail"):
            sound(score, tail=tail)
    with pytest.raises(ScoreError, match="cut it with"):
        sound(score_of_notes([Note(60, start=LONGEST)]))


def test_memory_does_not_grow_with_the_length() -> None:
    class Quick(FakeInstrument):
        silent = True  # type: ignore[assignment]

        def run(self, out: NDArray[np.float32]) -> None:
            self.ring.clear()
            out[:] = 0.0

    def peak(seconds: int) -> int:
        score = score_of_notes([Note(60, start=seconds)])
        tracemalloc.start()
        for _ in stream(Quick(None, RATE, 4096), score, 0.0):
            pass
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(1)
    assert peak(4000) <= peak(40) + 20_000  # a byte for each further block would be twice that


def test_chunks_are_made_only_when_they_are_taken() -> None:
    player = FakeInstrument(None, RATE, 128)
    chunks: Iterator[Any] = stream(player, score_of_notes([Note(60, duration=1000.0)]), 0.0)
    list(itertools.islice(chunks, 3))
    assert player.clock == 3 * CHUNK + LATENCY
