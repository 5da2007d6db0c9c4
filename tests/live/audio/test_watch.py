"""What the watch does, at a time and with streams that we make up; test_stream.py has a real server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engine.compiled import now
from engine.live.audio import watch as module
from engine.live.audio.cards import Card
from engine.live.audio.watch import Watch
from engine.live.errors import DeviceError
from engine.live.player import Player


def card(name: str, default: bool = False) -> Card:
    return Card(0, name, "ALSA", 2, 48000.0, default, 0.01, 0.04)


USB, SPEAKERS = card("usb"), card("speakers", default=True)


class FakeStream:
    """Counts as a stream."""

    def __init__(self, at: Card) -> None:
        self.card, self.active, self.closed = at, False, 0

    def start(self) -> None:
        self.active = True

    def close(self, lost: bool = False) -> None:
        self.active, self.closed = False, self.closed + 1


class Stage:
    """A watch in a world where cards come and go, and where a tick takes a quarter of a second."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.time, self.cards, self.said, self.rests = now(), [USB, SPEAKERS], list[str](), 0
        self.refusal: Exception | None = None
        self.streams: list[FakeStream] = []
        monkeypatch.setattr(module, "now", lambda: self.time)
        monkeypatch.setattr(module, "cards", lambda: self.cards)
        monkeypatch.setattr(module, "rest", self.rest)
        self.player = Player(48000, 128)
        self.watch = Watch(USB, self.open, self.player, self.said.append)  # type: ignore[arg-type]

    def rest(self) -> None:
        self.rests += 1

    def open(self, at: Card) -> FakeStream:
        if self.refusal is not None:
            raise self.refusal
        self.streams.append(FakeStream(at))
        return self.streams[-1]

    def run(self, seconds: float, blocks: bool) -> None:
        for _ in range(round(4 * seconds)):
            self.tick(blocks)

    def tick(self, blocks: bool, seconds: float = 0.25) -> None:
        self.time += int(seconds * 1e9)
        self.player.stage.gauges.blocks += 94 * blocks
        self.watch.tick()
        if self.watch._search is not None:
            assert self.watch._search.done(5.0)

    def waiting(self) -> list[int]:
        """The messages that the player has not obeyed yet."""
        ring = self.player.stage.inlets[0].ring
        return [int(message) for message in ring.rows[: ring.written[0], 1]]


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    here = Stage(monkeypatch)
    yield here
    here.watch.close()
    assert not any(stream.active for stream in here.streams)


LOST, AGAIN = "no sound from usb (ALSA) any more; waiting for it", "sound again, from usb (ALSA)"


def test_while_sound_comes_nothing_happens(stage: Stage) -> None:
    stage.run(60.0, blocks=True)
    assert (stage.said, len(stage.streams), stage.waiting()) == ([], 1, [])


def test_silence_is_noticed_within_two_seconds_and_notes_end(stage: Stage) -> None:
    stage.run(3.0, blocks=True)
    stage.run(1.75, blocks=False)
    assert stage.said[0] == LOST
    assert stage.streams[0].closed
    first = stage.waiting()[:48]
    assert set(first) == {0xB0 | c | number << 8 for c in range(16) for number in (64, 66, 123)}
    assert [message >> 8 for message in first].index(123) == 32  # pedals first, or they would hold the notes


def test_a_stream_that_has_ended_is_noticed_at_once(stage: Stage) -> None:
    stage.run(3.0, blocks=True)
    stage.streams[0].active = False
    stage.tick(blocks=False)
    assert stage.watch.lost
    stage.tick(blocks=False)
    assert not stage.watch.lost
    stage.run(3.0, blocks=True)
    assert stage.said == [LOST, AGAIN]
    assert stage.watch.stream is stage.streams[1]  # type: ignore[comparison-overlap]
    assert stage.rests == 0


def test_a_pause_of_the_whole_program_is_no_loss(stage: Stage) -> None:
    stage.run(3.0, blocks=True)
    stage.tick(blocks=False, seconds=600.0)
    stage.tick(blocks=False)
    stage.run(3.0, blocks=True)
    assert stage.said == []


def test_a_card_may_take_its_time_to_begin_but_not_for_ever(stage: Stage) -> None:
    stage.run(4.0, blocks=False)
    assert stage.said == []
    stage.run(2.0, blocks=False)
    assert stage.said[0] == LOST


def test_large_blocks_are_given_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage(monkeypatch)
    stage.player = Player(48000, 48000)
    stage.watch = Watch(USB, stage.open, stage.player, stage.said.append)  # type: ignore[arg-type]
    stage.tick(blocks=True)
    stage.run(2.0, blocks=False)
    stage.run(2.0, blocks=True)
    assert stage.said == []


def test_the_lost_card_is_awaited_and_then_another_one_is_taken(stage: Stage) -> None:
    stage.run(3.0, blocks=True)
    stage.cards, stage.streams[0].active = [SPEAKERS], False
    stage.run(3.0, blocks=False)
    assert stage.said == [LOST]
    stage.run(3.0, blocks=True)
    assert stage.said == [LOST, "sound again, from speakers (ALSA)"]
    stage.cards, stage.streams[1].active = [SPEAKERS, USB], False
    stage.run(3.0, blocks=True)
    assert stage.said[2:] == ["no sound from speakers (ALSA) any more; waiting for it", AGAIN]


def test_without_any_card_it_looks_every_second_and_says_so_once(stage: Stage) -> None:
    stage.run(3.0, blocks=True)
    stage.cards, stage.streams[0].active = [], False
    stage.run(60.0, blocks=False)
    assert stage.said == [LOST]
    assert 45 <= stage.rests <= 61
    stage.cards = [USB]
    stage.run(2.0, blocks=False)
    assert stage.said == [LOST, AGAIN]
    assert len(stage.waiting()) == 48


def test_a_refusal_is_said_once_and_tried_again(stage: Stage) -> None:
    stage.run(3.0, blocks=True)
    stage.refusal, stage.streams[0].active = DeviceError("usb: cannot play at 48000 Hz"), False
    stage.run(10.0, blocks=False)
    assert stage.said == [LOST, "usb: cannot play at 48000 Hz"]
    assert stage.rests >= 8
    stage.refusal = ZeroDivisionError("a fault of ours")
    stage.run(3.0, blocks=False)
    stage.refusal = None
    stage.run(2.0, blocks=True)
    assert stage.said[2:] == [AGAIN]


def test_a_stream_that_does_not_start_is_closed(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.run(3.0, blocks=True)

    def fail(stream: FakeStream) -> None:
        raise DeviceError("usb: is gone")

    monkeypatch.setattr(FakeStream, "start", fail)
    stage.streams[0].active = False
    stage.run(1.0, blocks=False)
    assert stage.said == [LOST, "usb: is gone"]
    assert [stream.closed for stream in stage.streams] == [1, 1]


def test_it_never_raises(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(text: str) -> None:
        raise BrokenPipeError

    stage.watch._say = fail
    stage.run(3.0, blocks=True)
    stage.streams[0].active = False
    stage.run(2.0, blocks=True)
    assert not stage.watch.lost
    assert stage.watch.stream is stage.streams[1]  # type: ignore[comparison-overlap]


def test_the_first_stream_is_the_callers_to_worry_about(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(at: Card) -> Any:
        raise DeviceError("usb: is gone")

    with pytest.raises(DeviceError, match="usb: is gone"):
        Watch(USB, refuse, Player(48000, 128), print)
