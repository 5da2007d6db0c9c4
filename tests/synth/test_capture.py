"""Pictures of strings that sound: true, whole, and without a trace in the sound."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from synth.playing import RATE, SMALL, off, on

from engine import messages as midi
from engine.layout import rebuilt
from engine.physics.grid import ORIGIN
from engine.synth import strings
from engine.synth.capture import (
    FULL,
    HEAD,
    HEARD,
    LAP,
    LARGEST_PICTURE,
    LOOKS,
    MOST_STRINGS,
    PICTURES,
    STEP,
    Watcher,
    play_watched,
)
from engine.synth.ensemble import Seats
from engine.synth.instrument import Instrument
from engine.synth.likeness import PICTURE
from engine.synth.routing import hand_on

pytestmark = pytest.mark.usefixtures("shared_designs")

FRAMES, BLOCK = 9600, 128
NOTES = [(100, on(50)), (3000, on(57, 80)), (5000, off(50))]


class Stand:
    """An ensemble of one instrument, and somebody who watches it, or nobody."""

    def __init__(self, name: str, watched: bool = True) -> None:
        self.seats, self.watcher = Seats(2), Watcher()
        self.instrument = Instrument(SMALL[name], RATE)
        self.seats.put_on(0, self.instrument, on_all_channels=True)
        self.pictures = self.watcher.address if watched else 0
        self.play(0)
        for sample, data in NOTES:
            hand_on(self.seats.address, sample, midi.packed(*data))

    def play(self, frames: int) -> Any:
        out = np.zeros((frames, 2), np.float32)
        play_watched(self.seats.address, self.pictures, frames, out.ctypes.data)
        return out

    def all(self, block: int = BLOCK) -> Any:
        return np.concatenate([self.play(min(block, FRAMES - at)) for at in range(0, FRAMES, block)])


def of(look: Any) -> dict[str, float]:
    return dict(zip(HEAD, look.tolist(), strict=False))


def pictures(look: Any) -> Iterator[tuple[dict[str, float], Any, Any]]:
    at = len(HEAD)
    for _ in range(int(look[0])):
        facts = dict(zip(PICTURE, look[at:].tolist(), strict=False))
        at += len(PICTURE)
        size, points = int(facts["size"]), int(facts["points"])
        yield facts, look[at : at + size], look[at + size : at + size + points]
        at += size + points
    assert at == look.size


@pytest.mark.parametrize("name", ["bridge", "frets", "grid bridge", "grid frets"])
@pytest.mark.parametrize("block", [37, 512])
def test_who_watches_changes_no_bit(name: str, block: int) -> None:
    alone = Stand(name, watched=False).all()
    seen = Stand(name)
    seen.watcher.watch(True)
    assert seen.watcher.arm(100)
    np.testing.assert_array_equal(seen.all(block), alone)
    assert len(seen.watcher.looks()) == LOOKS
    assert seen.watcher.memory.left_out > 0


@pytest.mark.parametrize("name", ["bridge", "grid frets"])
def test_a_look_shows_what_the_string_does(name: str) -> None:
    """Against the renderer's own memory, stopped at that sample."""
    stand, again = Stand(name), Stand(name, watched=False)
    stand.watcher.watch(True)
    stand.play(4000)
    facts = of(stand.watcher.looks()[-1])
    stand.all()
    again.play(int(facts["clock"]))
    m = again.instrument.machine
    stand = Stand(name)
    stand.watcher.watch(True)
    stand.play(4000)
    shown = list(pictures(stand.watcher.looks()[-1]))
    sounding = [v for v in range(int(m.slots)) if m.voices[v].state]
    assert [int(facts["voice"]) for facts, _, _ in shown] == sounding
    for facts, shape, forces in shown:
        v = int(facts["voice"])
        c, s, *_ = rebuilt(strings.GROUPS[int(m.model)], m.address, m.voice_words[v], m)
        energies = strings.FILES[int(m.model)]
        assert energies is not None
        if name == "bridge":
            newest = s.odd if s.clock[0] & 1 else s.even
            np.testing.assert_array_equal(shape, newest.astype(np.float32))
        else:
            levels = (s.level1, s.level2, s.level0)
            np.testing.assert_allclose(
                shape[1:-1], levels[int(s.clock[0]) % 3][ORIGIN + 1 : ORIGIN - 1 + shape.size], atol=1e-9
            )
        np.testing.assert_array_equal(forces, s.touch.force[: c.rest_psi.size].astype(np.float32))
        assert facts["key"] == m.voices[v].key
        assert facts["kinetic"] >= 0.0
        assert facts["potential"] > 0.0


def test_looks_come_sixty_times_a_second_at_a_phase_that_slips() -> None:
    stand = Stand("bridge")
    stand.watcher.watch(True)
    stand.watcher.memory.slip = 0.125
    stand.play(4000)
    stand.watcher.looks()
    clocks, period = looked(stand, 200)
    assert period == pytest.approx(RATE / (440 * 2 ** ((57 - 69) / 12)), rel=1e-6)
    steps = np.diff(clocks)
    np.testing.assert_allclose(steps, period * (np.round(steps / period - 0.125) + 0.125), atol=1.01)
    early = clocks - RATE / 60 * np.arange(len(clocks))
    assert np.ptp(early) < period + 2.0
    stand.watcher.memory.focus = 50
    stand.play(800)
    stand.watcher.looks()
    stand.play(4 * BLOCK)
    for look in stand.watcher.looks():
        assert [facts["key"] for facts, _, _ in pictures(look) if facts["focus"]] == [50]


def test_a_low_string_is_seen_once_a_period_and_nothing_is_made_up_for() -> None:
    stand = Stand("bridge")
    stand.watcher.watch(True)
    hand_on(stand.seats.address, 6000, midi.packed(*on(28)))
    stand.play(6400)
    stand.watcher.looks()
    low, period = looked(stand, 100)
    assert period > RATE / 60
    np.testing.assert_allclose(np.diff(low), 1.02 * period, atol=1.01)
    stand.watcher.memory.focus = 57
    high, period = looked(stand, 100)
    assert period < RATE / 120
    assert np.diff(high).min() > 0.5 * RATE / 60 - period
    assert len(high) <= 1 + 100 * BLOCK * 60 / RATE


def looked(stand: Stand, blocks: int) -> tuple[Any, float]:
    """At which samples looks were taken, and the last one's period."""
    clocks, period = [], 0.0
    for _ in range(blocks):
        stand.play(BLOCK)
        for look in stand.watcher.looks():
            clocks.append(int(of(look)["clock"] + LAP * of(look)["laps"]))
            period = of(look)["period"]
    return np.array(clocks), period


def test_a_film_begins_with_the_pluck_and_misses_nothing() -> None:
    stand = Stand("bridge")
    assert stand.watcher.arm(200)
    sound = stand.all()
    film = stand.watcher.film()
    assert film is not None
    facts = of(film)
    assert (facts["strings"], facts["clock"], facts["step"], facts["kind"]) == (200, NOTES[0][0] + 1, STEP, 1)
    shown = list(pictures(film))
    assert {facts["key"] for facts, _, _ in shown} == {50}
    first = np.abs(shown[0][1]).max()
    assert 0.0 < first < 1e-3 * max(np.abs(shape).max() for _, shape, _ in shown)  # the string has hardly moved yet
    assert max(forces.max() for _, _, forces in shown) > 0.0  # and touches its bridge within the film
    again = Stand("bridge")
    again.watcher.arm(200)
    again.play(NOTES[0][0])
    for _ in range(250):
        np.testing.assert_array_equal(again.play(STEP), sound[again.seats.desk.clock - STEP : again.seats.desk.clock])
    np.testing.assert_array_equal(again.watcher.film(), film)


def test_a_film_has_one_owner_at_a_time() -> None:
    stand = Stand("modal")
    assert stand.watcher.film() is None
    assert stand.watcher.arm(PICTURES)
    assert stand.watcher.arm(PICTURES)  # once more, before anything has been filmed
    stand.play(600)
    assert not stand.watcher.arm()
    assert stand.watcher.film() is None
    stand.play(STEP * PICTURES)
    assert int(stand.watcher.memory.film[0]) == FULL
    assert not stand.watcher.arm()
    film = stand.watcher.film()
    assert film is not None
    assert film.size <= len(HEAD) + PICTURES * LARGEST_PICTURE
    assert stand.watcher.arm()


def test_nothing_tears_while_another_thread_plays() -> None:
    """What a second thread reads while the first one plays is what a reader between blocks sees, look by look."""
    calm = Stand("bridge")
    calm.watcher.watch(True)
    wanted = {}
    for _ in range(0, FRAMES, BLOCK):
        calm.play(BLOCK)
        for look in calm.watcher.looks():
            wanted[float(of(look)["clock"])] = look
    read: list[Any] = []
    for _ in range(8):
        stand, ended = Stand("bridge"), threading.Event()
        stand.watcher.watch(True)

        def perform(stand: Stand = stand, ended: threading.Event = ended) -> None:
            for _ in range(0, FRAMES, BLOCK):
                stand.play(BLOCK)
            ended.set()

        player = threading.Thread(target=perform)
        player.start()
        while not ended.is_set():
            read += stand.watcher.looks()
        player.join()
        read += stand.watcher.looks()
    assert len(read) > LOOKS
    for look in read:
        if float(of(look)["clock"]) in wanted:
            np.testing.assert_array_equal(look, wanted[float(of(look)["clock"])])
        else:  # a look was left out before, so that this one is not the same
            assert all(np.isfinite(shape).all() for _, shape, _ in pictures(look))
    assert sum(float(of(look)["clock"]) in wanted for look in read) > LOOKS


def test_the_sound_is_kept_for_a_spectrum() -> None:
    stand = Stand("modal")
    assert stand.watcher.sound(1) is None
    sound = stand.all()
    heard = stand.watcher.sound(2048)
    np.testing.assert_allclose(heard, sound[-2048:].mean(axis=1), rtol=1e-6)
    assert stand.watcher.sound(HEARD + 1) is None


def test_more_strings_than_fit_are_left_out_and_nothing_is_written_behind() -> None:
    seats, watcher = Seats(2), Watcher()
    instrument = Instrument(SMALL["modal"], RATE, polyphony=60)
    seats.put_on(0, instrument, on_all_channels=True)
    out = np.zeros((6000, 2), np.float32)
    play_watched(seats.address, watcher.address, 0, 0)
    for key in range(30, 90):
        hand_on(seats.address, 0, midi.packed(*on(key)))
    watcher.watch(True)
    play_watched(seats.address, watcher.address, len(out), out.ctypes.data)
    for look in watcher.looks()[1:]:
        assert len(list(pictures(look))) == MOST_STRINGS
