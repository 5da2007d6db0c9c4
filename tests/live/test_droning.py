"""A drone that plays live: on the samples on which it is rendered, or at the beats of a MIDI clock, with real bytes."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from live.driving import Card, flushed, unpacked
from synth.playing import SMALL, limited

from engine import messages as midi
from engine.live import droning
from engine.live.droning import LED_AHEAD, Droning
from engine.live.midi.poller import hand_on
from engine.live.player import Player
from engine.live.thread import callback
from engine.music.figure import score_of_drone
from engine.music.midi_file import read_midi
from engine.preset.drone import Drone, Stroke
from engine.preset.loader import load_preset
from engine.synth.instrument import Instrument

RATE, BLOCK = 8000, 64
FIGURE = Drone((Stroke((50,)), Stroke((57, 62), 0.5, 60), Stroke((), 0.5), Stroke((45,), 1.5)), 150.0, 0.2, 0.03, 0.01)
PORT = 5  # an inlet that a MIDI port would have


def events(player: Player) -> list[tuple[int, list[int]]]:
    return [(int(sample), unpacked(int(message))) for sample, message in player.new_events()]


def strokes(found: list[tuple[int, list[int]]]) -> list[tuple[int, int]]:
    return [(sample, data[1]) for sample, data in found if midi.begins_note(midi.packed(*data))]


@pytest.mark.parametrize("block", [64, 37])
def test_it_is_on_the_samples_on_which_it_is_rendered(block: int) -> None:
    """Whatever the card's clock is like, and however rarely the interpreter finds time."""
    rng, player = np.random.default_rng(1), Player(RATE, block)
    card = Card(player, block)
    card.frame *= 1.0007
    card.run(11)
    drone = Droning(player, FIGURE, (3,))
    while card.player.stage.clock.sample < drone.start + 10 * RATE:
        drone.tick()
        card.run(int(rng.integers(1, int(0.45 * RATE / block))))
    found = [(sample - drone.start, data) for sample, data in events(player)]
    expected = [(sample, list(data)) for sample, data in score_of_drone(FIGURE, 10.0, (3,)).events(RATE)]
    ends = [data for _, data in expected].count([midi.NOTE_OFF | 3, 45, 64])
    assert ends > 3
    upto = [event for event in expected if event[0] < 10 * RATE]
    assert found[: len(upto)] == upto
    assert player.events_lost == player.gauges.stale == 0


def test_live_and_rendered_it_is_the_same_to_the_last_bit() -> None:
    player, inst = Player(RATE, BLOCK), Instrument(SMALL["bridge"], RATE)
    assert player.change(inst)
    card, drone = Card(player, BLOCK), Droning(player, FIGURE)
    for _ in range(300):
        drone.tick()
        card.run()
    live = np.concatenate(card.heard)
    twin, offline = Instrument(SMALL["bridge"], RATE), np.zeros((len(live) - drone.start, 2), np.float32)
    for sample, data in score_of_drone(FIGURE, 60.0).events(RATE):
        if sample < len(offline):
            assert twin.schedule(sample, data)
    twin.run(offline)
    assert np.abs(live).max() > 0.01
    assert not live[: drone.start].any()
    assert live[drone.start :].tobytes() == flushed(limited(offline)).astype(np.float32).tobytes()


def through_a_driver(player: Player, at: int, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As RtMidi's library hands a byte to compiled code, which stamps it itself."""
    data = (ctypes.c_ubyte * 1)(status)
    kind = ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
    before = int(player.stage.inlets[PORT].pulses.written[0])
    kind(callback.midi.address)(0.0, ctypes.addressof(data), 1, player.inlet(PORT))
    row = player.stage.inlets[PORT].pulses.rows[before % 256]
    assert row[1] == status
    row[0] = at  # of the test's own time


def through_python(player: Player, at: int, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_on(player.inlet(PORT), at, [status])


class Studio:
    """A player, its card, a drone, and a machine that sends its clock, all in the test's own time."""

    def __init__(self, send: Callable[..., None], monkeypatch: pytest.MonkeyPatch, figure: Drone) -> None:
        self.player = Player(RATE, BLOCK)
        self.card, self.drone = Card(self.player, BLOCK), Droning(self.player, figure)
        self._send, self._patch, self.next_tick, self.ticks = send, monkeypatch, 0.0, 0
        monkeypatch.setattr(droning, "now", lambda: int(self.card.time))

    def at(self, sample: float) -> float:
        """When a sample is due, in ns."""
        return float(self.card.start) + sample * 1e9 / RATE

    def send(self, status: int, at: float | None = None) -> None:
        self._send(self.player, int(self.card.time if at is None else at), status, self._patch)

    def run(self, seconds: float, tempo: float = 0.0) -> None:
        """So long, with ticks of a clock of this tempo."""
        end = self.card.time + seconds * 1e9
        if tempo and self.next_tick < self.card.time:
            self.next_tick = float(self.card.time) + 1e6
        while self.card.time < end:
            while tempo and self.next_tick <= self.card.time:
                self.send(midi.CLOCK, self.next_tick)
                self.next_tick += 60e9 / tempo / 24
            self.drone.tick()
            self.card.run()

    def struck(self) -> list[tuple[float, int]]:
        """Seconds and keys since this was last asked."""
        return [(sample / RATE, key) for sample, key in strokes(events(self.player))]


@pytest.mark.parametrize("send", [through_a_driver, through_python])
def test_a_clock_leads_with_start_stop_and_continue(send: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    figure = Drone((Stroke((50,)), Stroke((51,)), Stroke((52,)), Stroke((53,))), tempo=60.0)
    studio = Studio(send, monkeypatch, figure)
    studio.run(2.5)
    assert [key for _, key in studio.struck()] == [50, 51, 52]
    assert not studio.drone.led
    studio.run(1.0)
    studio.struck()

    studio.send(midi.START)
    first = (studio.card.time + 1e6 - studio.card.start) / 1e9
    studio.run(2.2, tempo=120.0)
    assert studio.drone.led
    found = studio.struck()
    assert [key for _, key in found] == [50, 51, 52, 53, 50]
    assert [at for at, _ in found] == pytest.approx([first + 0.5 * n for n in range(5)], abs=BLOCK / RATE)

    studio.send(midi.STOP)
    studio.run(2.0, tempo=120.0)
    assert studio.struck() == []  # it was between two strokes

    studio.send(midi.CONTINUE)
    studio.run(1.0, tempo=120.0)
    found = studio.struck()
    assert [key for _, key in found] == [51, 52]
    assert np.diff([at for at, _ in found]) == pytest.approx(0.5, abs=2e-3)

    studio.send(midi.START)
    studio.run(1.2, tempo=200.0)
    found = studio.struck()
    assert [key for _, key in found] == [50, 51, 52, 53]
    assert np.diff([at for at, _ in found])[1:] == pytest.approx(0.3, abs=2e-2)
    assert studio.player.gauges.stale == 0


def test_a_clock_that_runs_already_only_gives_its_tempo(monkeypatch: pytest.MonkeyPatch) -> None:
    """No stroke is lost or doubled as it takes over, and none jumps."""
    figure = Drone(tuple(Stroke((50 + n,)) for n in range(12)), tempo=100.0)
    studio = Studio(through_python, monkeypatch, figure)
    studio.run(1.5)
    studio.run(6.0, tempo=150.0)
    assert studio.drone.led
    found = studio.struck()
    assert [key for _, key in found] == [50 + n % 12 for n in range(len(found))]
    gaps = np.diff([at for at, _ in found])
    assert gaps.min() > 0.39
    assert gaps.max() < 0.601
    assert gaps[-5:] == pytest.approx(0.4, abs=2e-3)


def test_it_goes_on_when_the_clock_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    studio = Studio(through_python, monkeypatch, Drone((Stroke((50,)),), tempo=60.0))
    studio.send(midi.START)
    studio.run(3.0, tempo=120.0)
    studio.struck()
    studio.run(5.0)
    assert np.diff([at for at, _ in studio.struck()]) == pytest.approx(0.5, abs=2e-3)


def test_after_a_stop_nothing_sounds_that_was_not_about_to(monkeypatch: pytest.MonkeyPatch) -> None:
    studio = Studio(through_python, monkeypatch, Drone((Stroke((50,), 0.25),), tempo=60.0))
    studio.send(midi.START)
    studio.run(2.0, tempo=120.0)
    stopped = (studio.card.time - studio.card.start) / 1e9
    studio.send(midi.STOP)
    studio.run(1.0, tempo=120.0)
    found = events(studio.player)
    last = strokes(found)[-1][0] / RATE
    assert last < stopped + LED_AHEAD / 1e9 + 2 * BLOCK / RATE
    assert midi.ends_note(midi.packed(*found[-1][1]))


def test_other_real_time_messages_are_nobody_s(monkeypatch: pytest.MonkeyPatch) -> None:
    player = Player(RATE, BLOCK)
    for status in (0xF1, 0xF6, 0xF9, 0xFD, 0xFE, 0xFF, 0x90, 0x00):
        hand_on(player.inlet(PORT), 1, [status])
    assert list(player.new_pulses()) == []
    for status in midi.PULSES:
        hand_on(player.inlet(PORT), 7, [status])
    assert list(player.new_pulses()) == [(PORT, 7, status) for status in midi.PULSES]
    assert list(player.new_pulses()) == []


def test_the_program_plays_it_and_a_take_has_it_on_its_samples(tmp_path: Path) -> None:
    """`jawari play --drone` on an invented card, which strikes keys of its own beside it."""
    root = Path(__file__).parents[2]
    (tmp_path / "wire.yaml").write_text(
        "name: Wire\nstring: {length: 60 cm, diameter: 0.3 mm, material: steel, tuned: C3}\n"
        "drone: {order: [C2, G2+C3, -, A2 0.5], tempo: 300, spread: 11 ms}\n"
    )
    words = ["wire.yaml", "--drone", "--tempo", "400", "--seconds", "2", "--record", "take.mid", "--quiet"]
    paths = os.pathsep.join(str(path) for path in (root, root / "tests"))
    done = subprocess.run(
        [sys.executable, str(root / "tests" / "live" / "cardless.py"), *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    drone = replace(load_preset(str(tmp_path / "wire.yaml")).drone, tempo=400.0)  # type: ignore[type-var]
    expected = [(sample, list(data)) for sample, data in score_of_drone(drone, 60.0).events(48_000)]
    own = {key for stroke in drone.order for key in stroke.keys}
    score = read_midi(tmp_path / "take.mid")
    found = [(sample, list(data)) for sample, data in score.events(48_000) if data[1] in own and data[0] < 0xA0]
    assert len(found) > 10
    start = found[0][0]
    assert [data for _, data in found] == [data for _, data in expected[: len(found)]]
    late = [sample - start - due for (sample, _), (due, _) in zip(found, expected)]
    assert min(late) == late[0] == 0, "a machine that stands still for half a second may be late, but never early"
