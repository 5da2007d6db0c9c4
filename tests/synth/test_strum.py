"""Chords that a hand strikes string after string: which key sounds when, how hard, and for how long."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest
from synth.playing import PLAIN, RATE, Event, blocks, cc, off, on, render, schedule

from engine.physics.string import Array
from engine.synth.instrument import Instrument
from engine.synth.memory import AT_HAND, FREE, HELD

pytestmark = pytest.mark.usefixtures("shared_designs")

CHORD = (52, 59, 64, 68)
SPREAD, WINDOW = 720, 1440  # samples: 15 and 30 ms
TIMED = {"source": "cc73", "to": "strum.spread", "range": ["0 ms", "127 ms"]}


@cache
def _made(order: str, spread: str, accent: int) -> Instrument:
    strum = {"order": order, "spread": spread, "window": "30 ms", "accent": accent}
    return Instrument({**PLAIN, "map": [TIMED], "strum": strum}, RATE, polyphony=16)


def hand(order: str = "down", spread: str = "15 ms", accent: int = 0) -> Instrument:
    made = _made(order, spread, accent)
    made.reset()
    return made


@cache
def fingers() -> Instrument:
    """The same strings, struck as the keys come."""
    return Instrument({**PLAIN, "map": []}, RATE, polyphony=16)


def plain(events: Sequence[Event], frames: int) -> Array:
    fingers().reset()
    return render(fingers(), events, frames)


def chord(keys: Sequence[int], at: int, velocity: int = 100) -> list[Event]:
    return [(at, on(key, velocity)) for key in keys]


def struck(keys: Sequence[int], moments: Sequence[int]) -> list[Event]:
    return [(at, on(key)) for key, at in zip(keys, moments, strict=True)]


def in_turn(at: int, count: int = len(CHORD), spread: int = SPREAD) -> list[int]:
    return [at + n * spread for n in range(count)]


# --- which key when ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("order", "sign"), [("down", 1), ("up", -1)])
def test_a_chord_of_one_moment_is_struck_string_after_string(order: str, sign: int) -> None:
    """To the last bit what a player of such a machine would have had to play, in whatever order its keys are sent."""
    wanted = plain(struck(CHORD[::sign], in_turn(1000)), 12_000)
    for seed in range(4):
        keys = Random(seed).sample(CHORD, len(CHORD))
        assert (render(hand(order), chord(keys, 1000), 12_000) == wanted).all()
    assert np.abs(wanted).max() > 0.01


def test_the_first_key_waits_for_nobody_and_late_ones_do_not_wait_for_those_that_never_come() -> None:
    """Out of order: what is there already sounds; a key that comes after its turn sounds as it comes."""
    events = struck((64, 52, 68, 59), (1000, 1200, 1300, 1000 + WINDOW - 40))
    turns = struck((64, 52, 59, 68), (1000, 1000 + SPREAD, 1000 + 2 * SPREAD, 1000 + 3 * SPREAD))
    # When the lowest had been struck, 68 had come and 59 had not: both wait for the next turn, and 59 is before it.
    assert (render(hand(), events, 12_000) == plain(turns, 12_000)).all()
    late = struck((52, 59), (1000, 1000 + SPREAD + 300))
    assert (render(hand(), late, 12_000) == plain(late, 12_000)).all()


def test_single_notes_are_not_touched() -> None:
    """Notes further apart than the window are those of an instrument that nobody strums."""
    rare = [(at, data) for n, at in enumerate(range(500, 20_000, WINDOW + 1)) for data in [on(50 + n)]]
    rare += [(at + 1000, off(data[1])) for at, data in rare]
    assert (render(hand(), rare, 24_000) == plain(sorted(rare, key=lambda e: e[0]), 24_000)).all()


def test_a_new_chord_does_not_hurry_the_one_before() -> None:
    """Its last strings keep their turns while the next one begins."""
    wide = hand(spread="50 ms")
    first, second = chord(CHORD, 1000), [(1000 + WINDOW + 100, on(80)), (1000 + WINDOW + 100, on(84))]
    turns = struck(CHORD, in_turn(1000, 4, 2400)) + struck((80, 84), (1000 + WINDOW + 100, 1000 + WINDOW + 2500))
    assert (render(wide, first + second, 16_000) == plain(sorted(turns, key=lambda e: e[0]), 16_000)).all()


def test_a_hand_goes_to_and_fro_and_begins_anew_after_a_pause() -> None:
    """Down, up, down; a single note changes nothing; after more than a second it is down again."""
    at = [1000, 11_000, 31_000, 85_000]
    ways = [1, -1, 1, 1]
    events = [event for moment in at for event in chord(CHORD, moment)] + [(21_000, on(75))]
    turns = [event for moment, way in zip(at, ways) for event in struck(CHORD[::way], in_turn(moment))]
    turns = sorted([*turns, (21_000, on(75))], key=lambda e: e[0])
    assert (render(hand("alternate"), sorted(events, key=lambda e: e[0]), 92_000) == plain(turns, 92_000)).all()


def test_each_further_string_is_struck_more_softly() -> None:
    wanted = [(at, on(key, max(100 - 30 * n, 1))) for n, (at, key) in enumerate(zip(in_turn(1000), CHORD))]
    assert (render(hand(accent=30), chord(CHORD, 1000), 12_000) == plain(wanted, 12_000)).all()
    harder = [(at, on(key, min(100 + 20 * n, 127))) for n, (at, key) in enumerate(zip(in_turn(1000), CHORD))]
    assert (render(hand(accent=-20), chord(CHORD, 1000), 12_000) == plain(harder, 12_000)).all()


def test_a_controller_says_how_slow_the_hand_is() -> None:
    """From the next chord on, and nothing of it with no spread at all."""
    for value in (0, 5, 60):
        events = [(0, cc(73, value)), *chord(CHORD, 1000)]
        wanted = plain(struck(CHORD, in_turn(1000, 4, value * RATE // 1000)), 16_000)
        assert (render(hand(), events, 16_000) == wanted).all()


# --- how long ---------------------------------------------------------------------------------------------------------


def test_what_is_let_go_before_its_turn_lasts_as_long_as_it_was_held() -> None:
    """The first until its key comes up, the others as long as their keys were down, each from its turn."""
    events = [*chord(CHORD, 1000), *((1600, off(key)) for key in CHORD)]
    turns = [(1000, on(52)), (1600, off(52))]
    for key, at in zip(CHORD[1:], in_turn(1000)[1:]):
        turns += [(at, on(key)), (at + 600, off(key))]
    wanted = plain(sorted(turns, key=lambda e: e[0]), 16_000)
    assert (render(hand(), events, 16_000) == wanted).all()


def test_a_key_that_is_struck_again_is_not_ended_by_its_note_before() -> None:
    inst = hand()
    events = [*chord(CHORD, 1000), *((1600, off(key)) for key in CHORD), *chord(CHORD, 2700)]
    render(inst, events, 16_000)
    assert inst.machine.hand.waiting == 0
    held = {int(v.key) for v in inst.machine.voices if v.state == HELD}
    assert held == set(CHORD)


def test_all_that_waits_is_gone_when_all_is_to_be_silent() -> None:
    for silence in (120, 123):
        inst = hand()
        render(inst, [*chord(CHORD, 1000), (1100, cc(silence, 0))], 1200)
        assert inst.machine.hand.waiting == 0
        assert sum(v.state != FREE for v in inst.machine.voices) == 1


def test_more_keys_than_hands_can_hold_sound_at_once() -> None:
    inst = hand(spread="15 ms")
    render(inst, chord(range(40, 40 + AT_HAND + 8), 100), 101)
    assert 0 < inst.machine.hand.waiting <= AT_HAND
    render(inst, [], AT_HAND * SPREAD + 100)
    assert inst.machine.hand.waiting == 0


# --- the same everywhere ----------------------------------------------------------------------------------------------


def test_blocks_decide_nothing_and_a_waiting_chord_is_no_silence() -> None:
    events = [*chord((64, 52, 68), 1000), (1333, on(59)), (1700, off(64)), (9000, on(50)), (9001, on(62))]
    whole = render(hand("alternate"), events, 16_000)
    for size in (1, 37, 64, 512):
        assert (render(hand("alternate"), events, 16_000, blocks(size, 16_000)) == whole).all()
    inst = hand()
    schedule(inst, chord(CHORD, 0))
    out = np.zeros((1, 2), np.float32)
    inst.run(out)
    assert not inst.silent
    assert inst.machine.hand.waiting == 3


def test_an_instrument_that_nobody_strums_has_no_hand() -> None:
    preset: dict[str, Any] = {**PLAIN, "map": []}
    still = render(Instrument(preset, RATE, polyphony=16), chord(CHORD, 1000), 8000)
    assert (still == plain(chord(CHORD, 1000), 8000)).all()
    together = Instrument({**preset, "strum": {"spread": 0, "window": 0}}, RATE, polyphony=16)
    assert (render(together, chord(CHORD, 1000), 8000) == still).all()


def test_turns_fall_on_the_samples_that_the_spread_says_without_drift() -> None:
    """10 strings, 7.77 ms apart: each within half a sample of its multiple."""
    inst = Instrument({**PLAIN, "map": [], "strum": {"spread": "7.77 ms"}}, RATE, polyphony=16)
    schedule(inst, chord(range(50, 60), 100))
    out, begun, clock = np.zeros((1, 2), np.float32), [100], 0
    while len(begun) < 10:
        before = inst.machine.hand.waiting if clock > 100 else 9
        inst.run(out)
        begun += [clock] * (before - inst.machine.hand.waiting if clock > 100 else 0)
        clock += 1
    for n, at in enumerate(begun):
        assert abs(at - 100 - n * 0.00777 * RATE) <= 0.5
    assert all(372 <= after - before <= 374 for before, after in pairwise(begun))
