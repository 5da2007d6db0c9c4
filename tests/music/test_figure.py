"""What a drone plays, against sums of exact fractions; a MIDI clock against the machine that sends it."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine import messages as midi
from engine.music.errors import ScoreError
from engine.music.figure import Figure, by_tempo, drone_of, score_of_drone
from engine.music.midi_clock import TICKS, MidiClock
from engine.preset.drone import Drone, Stroke
from engine.preset.loader import load_preset
from engine.preset.rack import load_rack
from engine.synth.instrument import Instrument

TANPURA = (Stroke((43,)), Stroke((48,)), Stroke((48,)), Stroke((36,), 2.0))
S = 1_000_000_000
WIRE = {"length": 0.6, "diameter": 3e-4, "material": "steel", "tuned": "C3"}

beats = st.sampled_from([0.25, 0.5, 1.0, 1.5, 2.0, 3.25])
strokes = st.builds(Stroke, st.lists(st.integers(0, 127), max_size=3, unique=True).map(tuple), beats)
drones = st.builds(
    Drone,
    st.lists(strokes, min_size=1, max_size=5).map(tuple),
    st.floats(20.0, 300.0),
    st.floats(0.0, 0.9),
    st.floats(0.0, 0.5),
    st.floats(0.0, 0.3),
)


def onsets(drone: Drone, seconds: float) -> list[tuple[float, int, int]]:
    score = score_of_drone(drone, seconds)
    rows = zip(score.seconds.tolist(), score.data.tolist(), strict=True)
    return [(at, key, value) for at, (status, key, value) in rows if status == midi.NOTE_ON]


def test_ten_hours_do_not_drift() -> None:
    drone = Drone(TANPURA, tempo=53.7)
    for number in (0, 3, 4, 1003, 30_000):
        turn, place = divmod(number, 4)
        assert Fraction(drone.begins(number)) == 5 * turn + place
    last = onsets(drone, 36_000.0)[-1]
    assert last[0] * 53.7 / 60.0 == pytest.approx(round(last[0] * 53.7 / 60.0), abs=1e-9)
    assert 36_000.0 - 5 * 60.0 / 53.7 < last[0] < 36_000.0


def test_swing_moves_every_second_beat_and_halves_with_it() -> None:
    eighths = Drone((Stroke((60,), 0.5),), tempo=60.0, swing=0.3)
    assert [at for at, *_ in onsets(eighths, 4.0)] == pytest.approx([0, 0.65, 1.3, 1.65, 2.0, 2.65, 3.3, 3.65])


def test_a_chord_is_spread_in_the_order_of_its_keys() -> None:
    strummed = Drone((Stroke((52, 47, 56), 1.0, 90), Stroke((40,))), tempo=120.0, spread=0.02)
    assert onsets(strummed, 0.9) == [(0.0, 52, 90), (0.02, 47, 90), (0.04, 56, 90), (0.5, 40, 80)]


def test_what_is_loose_is_the_same_every_time_and_no_further_than_that() -> None:
    even, loose = Drone(TANPURA), Drone(TANPURA, loose=0.05)
    late = np.subtract(*([at for at, *_ in onsets(drone, 500.0)][1:400] for drone in (loose, even)))
    assert onsets(loose, 500.0) == onsets(loose, 500.0)
    assert np.abs(late).max() <= 0.05
    assert np.std(late) == pytest.approx(0.05 / 3**0.5, rel=0.1)  # as if evenly by chance
    assert abs(np.corrcoef(late[1:], late[:-1])[0, 1]) < 0.15


@given(drones, st.lists(st.floats(0.0, 20.0), max_size=6))
def test_it_comes_in_order_however_it_is_asked_for(drone: Drone, cuts: list[float]) -> None:
    if not any(stroke.keys for stroke in drone.order):
        return
    place, whole, parts = by_tempo(drone), Figure(drone), Figure(drone)
    expected = list(whole.due(place, 20.0))
    found = [event for until in (*sorted(cuts), 20.0) for event in parts.due(place, until)]
    assert found == expected
    assert all(0.0 <= first <= later < 20.0 for (first, _), (later, _) in pairwise(expected))
    held: set[int] = set()
    for _, (status, key, _) in [*expected, *((20.0, data) for data in whole.let_go())]:
        assert (key in held) == (status == midi.NOTE_OFF)  # let go before it is struck again
        held ^= {key}
    assert not held


@given(drones, st.floats(1.0, 15.0), st.floats(1.0, 15.0))
def test_what_is_taken_back_comes_again(drone: Drone, until: float, later: float) -> None:
    """No stroke is lost or doubled where it was placed but not handed out."""
    if not any(stroke.keys for stroke in drone.order):
        return
    tight = Drone(drone.order, drone.tempo)
    place, figure = by_tempo(tight), Figure(tight)
    found = list(figure.due(place, until))
    figure.take_back()
    found += figure.due(place, until + later)
    assert found == list(Figure(tight).due(place, until + later))


def test_strings_of_one_pitch_sound_on_beside_each_other() -> None:
    preset = load_preset({"string": WIRE, "drone": {"order": ["G2", "C3", "C3'", "C3'' + C2'"], "tempo": 60}})
    assert preset.drone is not None
    score = score_of_drone(preset.drone, 6.0, (4, 7))  # of two channels the last has all that are left
    rows = [(at, *data) for at, data in zip(score.seconds.tolist(), score.data.tolist()) if at < 5.5]
    begun = [(at, status & 15, key) for at, status, key, value in rows if status & 0xF0 == midi.NOTE_ON]
    assert begun == [(0, 4, 43), (1, 4, 48), (2, 7, 48), (3, 7, 48), (3, 7, 36), (4, 4, 43), (5, 4, 48)]
    ended = [(at, status & 15, key) for at, status, key, value in rows if status & 0xF0 == midi.NOTE_OFF]
    assert ended == [(3, 7, 48), (4, 4, 43), (5, 4, 48)]
    two = Instrument(load_preset("tanpura"), 8000)
    drone = load_preset("tanpura").drone
    assert drone is not None
    for sample, data in score_of_drone(drone, 4.0, range(16)).events(8000):
        assert two.schedule(sample, data)
    two.run(np.zeros((28_000, 2), np.float32))
    assert two.report()["peak_voices"] == 4


def test_whose_drone_it_is() -> None:
    drone = {"order": ["C3", "G3"]}
    wire = {"string": WIRE}
    with_one, without = load_preset(wire | {"drone": drone}), load_preset(wire)
    assert drone_of(with_one) == (Drone((Stroke((48,)), Stroke((55,)))), tuple(range(16)))
    with pytest.raises(ScoreError, match=r"^Unnamed has no drone to play; add drone: .*\(shipped: .*tanpura.*\)$"):
        drone_of(without)
    rack = load_rack(
        {"rack": "Two", "parts": [{"preset": "plain", "channels": 1}, {"preset": "tanpura", "channels": "3-5"}]}
    )
    assert drone_of(rack) == (load_preset("tanpura").drone, (2, 3, 4))


def test_a_drone_renders_as_its_notes_do() -> None:
    wire = {"string": {"length": 0.6, "diameter": 3e-4, "material": "steel", "tuned": "C3"}}
    drone = Drone((Stroke((48,), 1.0, 90), Stroke((55,), 1.0, 70)), tempo=240.0)
    score = score_of_drone(drone, 0.75)
    notes = "C3:0:.5:90 G3:.25:.5:70 C3:.5:.25:90"
    assert (engine.render(wire, score, tail=0.1) == engine.render(wire, notes, tail=0.1)).all()


# --- MIDI clock -------------------------------------------------------------------------------------------------------


def ticks(clock: MidiClock, start: int, count: int, tempo: float, late: np.ndarray | None = None) -> int:
    """Have a machine of this tempo send ticks; when the next would come."""
    each = 60 * S / tempo / TICKS
    for n in range(count):
        clock.hear(start + round(n * each + (0.0 if late is None else late[n])), midi.CLOCK)
    return start + round(count * each)


@pytest.mark.parametrize("tempo", [31.0, 60.0, 137.5, 299.0])
def test_beats_are_where_the_sender_has_them(tempo: float) -> None:
    clock, start = MidiClock(S), 7 * S
    clock.hear(start - 1000, midi.START)
    assert not clock.placed
    ticks(clock, start, 100, tempo)
    for beat in (0.0, 1.0, 4.0, 6.5):
        assert clock.time_of(beat) == pytest.approx(start + beat * 60 * S / tempo, abs=3e3)
        assert clock.beat_at(clock.time_of(beat)) == pytest.approx(beat, abs=1e-6)


def test_ticks_that_are_late_by_chance_move_a_beat_by_little() -> None:
    """Jitter of 1 ms: least squares through 24 ticks foretell the next beat within its known deviation."""
    rng, errors = np.random.default_rng(3), []
    for _ in range(200):
        clock = MidiClock(S)
        clock.hear(0, midi.START)
        after = ticks(clock, S, 96, 120.0, rng.normal(0.0, 1e6, 96))
        errors.append(clock.time_of(4.0) - after)
    n = TICKS
    expected = 1e6 * np.sqrt(1.0 / n + 12.0 * ((n + 1) / 2.0) ** 2 / (n * (n * n - 1.0)))
    assert np.std(errors) == pytest.approx(expected, rel=0.2)


def test_stop_continue_and_start() -> None:
    clock = MidiClock(S)
    clock.hear(S - 5, midi.START)
    after = ticks(clock, S, 36, 60.0)  # a beat and a half
    clock.hear(after - 10, midi.STOP)
    assert not clock.running
    after = ticks(clock, after, 50, 60.0)  # it ticks on while it stands
    clock.hear(after - 10, midi.CONTINUE)
    assert clock.running
    assert clock.time_of(1.5) == pytest.approx(after, abs=10)
    after = ticks(clock, after, 12, 60.0)
    assert clock.beat_at(after) == pytest.approx(2.0)
    clock.hear(after - 10, midi.START)
    assert (clock.starts, clock.time_of(0.0)) == (2, pytest.approx(after, abs=10))


def test_a_start_after_silence_waits_for_the_first_tick() -> None:
    clock = MidiClock(S)
    clock.hear(0, midi.START)
    after = ticks(clock, S, 48, 120.0)
    clock.hear(after, midi.STOP)
    clock.hear(after + 10 * S, midi.START)
    assert not clock.placed
    clock.hear(after + 11 * S, midi.CLOCK)
    assert clock.placed
    assert clock.time_of(1.0) == pytest.approx(after + 11.5 * S, abs=1e4)  # as fast as before


def test_beats_go_on_while_a_cable_is_out() -> None:
    clock = MidiClock(S)
    clock.hear(0, midi.START)
    after = ticks(clock, S, 48, 120.0)
    assert clock.beat_at(after + 3 * S) == pytest.approx(8.0)
    ticks(clock, after + 3 * S, 24, 60.0)
    assert clock.beat_at(after + 4 * S) == pytest.approx(9.0, abs=0.1)
    assert not clock.alive(after + 6 * S)
