"""The second core's helper: it is as urgent as the audio thread or it does not help, and what it does is not heard."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from live.driving import Card, replay
from synth.playing import PLAIN, cc, on

from engine.live import helper as module
from engine.live.helper import Helper
from engine.live.player import Player
from engine.machine_code import INTERPRETED
from engine.synth.crew import HELP, WAIT
from engine.synth.instrument import Instrument

needs_threads = pytest.mark.skipif(
    sys.platform != "linux" or INTERPRETED, reason="a second core helps on Linux only, and compiled code only"
)
RATE, WITHIN = 48_000, 60.0
STRINGS = [on(40 + n, 90, n % 16) for n in range(12)]


class Scheduler:
    """The system's, as the helper asks it: nothing is real."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.policy, self.priority, self.error = os.SCHED_FIFO, 17, 0
        self.asked, self.set = list[int](), list[tuple[int, int, int]]()
        monkeypatch.setattr(os, "sched_getaffinity", lambda thread: {0, 1})
        monkeypatch.setattr(os, "sched_getscheduler", self._tell)
        monkeypatch.setattr(os, "sched_getparam", lambda thread: os.sched_param(self.priority))
        monkeypatch.setattr(os, "sched_setscheduler", self._take)

    def _tell(self, thread: int) -> int:
        self.asked.append(thread)
        return self.policy

    def _take(self, thread: int, policy: int, param: os.sched_param) -> None:
        if self.error:
            raise PermissionError(self.error, os.strerror(self.error))
        self.set.append((thread, policy, param.sched_priority))


@pytest.fixture
def scheduler(monkeypatch: pytest.MonkeyPatch) -> Scheduler:
    return Scheduler(monkeypatch)


@pytest.fixture
def player() -> Player:
    made = Player(RATE, 128)
    made.change(Instrument(PLAIN, RATE, polyphony=16))
    return made


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def hired(player: Player, said: list[str]) -> Iterator[Callable[[], Helper]]:
    """A helper of the player, which ends with the test."""
    made: list[Helper] = []

    def hire() -> Helper:
        made.append(Helper(player, said.append, least=1))
        return made[-1]

    yield hire
    for helper in made:
        helper.close()


# --- where there is none ----------------------------------------------------------------------------------------------


def refused(player: Player, said: list[str]) -> str:
    helper, before = Helper(player, said.append), threading.active_count()
    helper.tick()
    helper.close()
    assert threading.active_count() == before
    assert player.stage.crew == 0
    (line,) = said
    return line


def test_on_other_systems_there_is_none(player: Player, said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert refused(player, said) == "no second core: it has been tried on Linux only"


@needs_threads
def test_on_one_core_there_is_none(player: Player, said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda thread: {0})
    assert refused(player, said) == "no second core: this program may use one core only"


@needs_threads
def test_without_real_time_priority_it_does_not_help(
    player: Player, said: list[str], hired: Callable[[], Helper], scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor before it is known which thread the audio thread is. It is said once, when that thread has had its time."""
    scheduler.policy = os.SCHED_OTHER
    helper = hired()
    helper.tick()
    Card(player).run(2)
    helper.tick()
    assert said == []
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    for _ in range(3):
        helper.tick()
    assert said == ["no second core: the sound card's thread has no real-time priority here"]
    assert not helper.helps
    assert scheduler.set == []


@needs_threads
def test_without_permission_it_does_not_help(
    player: Player, said: list[str], hired: Callable[[], Helper], scheduler: Scheduler
) -> None:
    scheduler.error = 1
    helper = hired()
    Card(player).run(2)
    for _ in range(3):
        helper.tick()
    why = "the system does not give it the priority of the sound card's thread (Operation not permitted)"
    assert said == [f"no second core: {why}"]
    assert not helper.helps


# --- where there is one -----------------------------------------------------------------------------------------------


@needs_threads
def test_it_becomes_as_urgent_as_the_thread_that_asks_for_blocks(
    player: Player, said: list[str], hired: Callable[[], Helper], scheduler: Scheduler
) -> None:
    """Whichever that is: a card that was lost comes back with another."""
    helper, found = hired(), list[int]()
    scheduler.policy = os.SCHED_RR | os.SCHED_RESET_ON_FORK

    def play() -> None:
        found.append(threading.get_native_id())
        Card(player).run(2)
        helper.tick()  # while this thread is there
        helper.tick()

    for _ in range(2):
        thread = threading.Thread(target=play)
        thread.start()
        thread.join()
    assert scheduler.asked == found
    assert found[0] != found[1]
    assert helper._thread is not None
    assert scheduler.set == 2 * [(helper._thread.native_id, scheduler.policy, 17)]
    assert helper.helps
    assert said == 2 * ["a second core helps where 1 strings sound or more"]


@needs_threads
def test_what_it_performs_is_what_one_core_would(
    player: Player, hired: Callable[[], Helper], scheduler: Scheduler
) -> None:
    """Also with instruments that come later, and after it has ended and another has begun."""
    card, inst = Card(player), player.instrument
    assert inst is not None
    end = time.monotonic() + WITHIN
    for _ in range(2):
        helper = hired()
        card.run(1)
        helper.tick()
        assert helper.helps
        assert inst.machine.crew == player.stage.crew != 0
        for message in [*STRINGS, cc(7, 80), cc(1, 90)]:
            player.send(message, int(card.time))
        while helper.performed < 20:
            card.run(20)
            assert time.monotonic() < end, "the helper is never run"
        helper.close()
        assert inst.machine.crew == player.stage.crew == 0
        card.run(20)
    heard = np.concatenate(card.heard)
    assert (heard == replay(inst, player.new_events(), len(heard))).all()
    other = Instrument(PLAIN, RATE, polyphony=16)
    helper = hired()
    player.change(other)
    assert other.machine.crew == player.stage.crew


@needs_threads
def test_an_instrument_that_has_gone_is_nobody_s(player: Player, hired: Callable[[], Helper]) -> None:
    """It may be rendered elsewhere, while the helper works for others."""
    hired()
    card, gone = Card(player), player.instrument
    assert gone is not None
    card.run(2)
    player.change(Instrument(PLAIN, RATE, polyphony=16))
    player.seats.ask(0)
    card.run(2)
    assert gone not in player.instruments()
    assert gone.machine.crew == 0


@needs_threads
def test_one_that_did_not_answer_is_not_asked_again(
    player: Player, said: list[str], hired: Callable[[], Helper], scheduler: Scheduler
) -> None:
    helper = hired()
    Card(player).run(2)
    helper.tick()
    helper.crew.lapses = 1
    for _ in range(3):
        helper.tick()
    assert said[1:] == ["the second core did not answer for 0.1 s, sound stood still; from now on one core does it all"]
    assert not helper.helps


@needs_threads
def test_it_sleeps_where_nothing_comes(player: Player, hired: Callable[[], Helper], scheduler: Scheduler) -> None:
    """By its own time of a processor: a helper that spins would take all of it."""
    helper = hired()
    Card(player).run(2)
    helper.tick()
    assert helper._thread is not None
    assert helper._thread.ident is not None
    for order in (WAIT, HELP):
        helper.order(order)
        time.sleep(0.1)
        clock = time.pthread_getcpuclockid(helper._thread.ident)
        before = time.clock_gettime(clock)
        time.sleep(0.5)
        assert time.clock_gettime(clock) - before < 0.1
