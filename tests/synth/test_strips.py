"""Volume, expression and pan of MIDI channels: their laws in decibels, and that nothing clicks or is left behind."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import cos, log10, pi, sin, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import butter, sosfilt
from synth.playing import (
    PLAIN,
    RATE,
    SMALL,
    TOUCHING,
    Event,
    blocks,
    cc,
    decibels,
    instrument,
    off,
    on,
    raw,
    render,
)

from engine.messages import EXPRESSION, PAN, VOLUME
from engine.physics.string import Array
from engine.synth import memory
from engine.synth.instrument import Instrument
from engine.synth.strips import TURN

TURNED = round(TURN * RATE)  # samples
CLICKS = butter(8, 8000.0, "high", fs=RATE, output="sos")


@cache
def velocity() -> Instrument:
    """Designed when the first test plays it, as the other one is."""
    return Instrument({**PLAIN, "pickups": [{"at": 0.1, "kind": "velocity"}], "map": []}, RATE)


@cache
def two_sides() -> Instrument:
    return Instrument({**PLAIN, "pickups": TOUCHING["pickups"], "map": []}, RATE)


def heard(inst: Instrument, score: list[Event], frames: int = 4800) -> Array:
    inst.reset()
    return raw(inst, score, frames)


def apart(inst: Instrument) -> bool:
    return bool(inst.machine.apart)


# --- the laws ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(SMALL))
def test_where_general_midi_puts_them_they_change_no_bit(name: str) -> None:
    notes = [(10, on(57)), (400, on(60, 90, 3)), (900, off(57))]
    told = [(n, cc(number, value, n % 5)) for n, (number, value) in enumerate([(7, 100), (11, 127), (10, 64)] * 5)]
    inst = instrument(name)
    assert (render(inst, [*told, *notes], 2400) == render(instrument(name), notes, 2400)).all()
    assert not apart(inst)


@pytest.mark.parametrize("made", [velocity, two_sides], ids=["velocity", "two sides"])
@pytest.mark.parametrize(("number", "unity"), [(VOLUME, 100), (EXPRESSION, 127)])
@pytest.mark.parametrize("value", [0, 1, 40, 64, 90, 100, 101, 126, 127])
def test_volume_and_expression_are_forty_decibels_a_decade(
    made: Callable[[], Instrument], number: int, unity: int, value: int
) -> None:
    inst = made()
    full = heard(inst, [(0, on(57))])
    got = heard(inst, [(0, cc(number, value)), (0, on(57))])
    assert np.abs(got - (value / unity) ** 2 * full).max() <= 1e-9 * np.abs(full).max()
    if value:
        assert decibels(got) - decibels(full) == pytest.approx(40.0 * log10(value / unity), abs=1e-6)
    else:
        assert (got == 0.0).all()


def test_full_volume_is_four_decibels_more_than_the_usual() -> None:
    full, most = heard(velocity(), [(0, on(57))]), heard(velocity(), [(0, cc(VOLUME, 127)), (0, on(57))])
    assert decibels(most) - decibels(full) == pytest.approx(4.15, abs=0.01)


@pytest.mark.parametrize("value", range(0, 128, 3))
def test_pan_is_at_equal_power(value: int) -> None:
    """As RP-036 has it: 0 and 1 are hard left, 64 the middle, and there is no step from 63 on."""
    full = heard(two_sides(), [(0, on(57))])
    got = heard(two_sides(), [(0, cc(PAN, value)), (0, on(57))])
    angle = 0.5 * pi * max(value - 1, 0) / 126.0
    wanted = full * sqrt(2.0) * np.array([cos(angle), sin(angle)])
    assert np.abs(got - wanted).max() <= 1e-12 * np.abs(full).max()


def test_the_ends_of_pan_are_silent_on_the_other_side() -> None:
    full = heard(two_sides(), [(0, on(57))])
    for value, silent in ((0, 1), (1, 1), (127, 0)):
        got = heard(two_sides(), [(0, cc(PAN, value)), (0, on(57))])
        assert (got[:, silent] == 0.0).all()
        assert np.abs(got[:, 1 - silent]).max() == pytest.approx(sqrt(2.0) * np.abs(full[:, 1 - silent]).max())


def test_they_multiply() -> None:
    full = heard(two_sides(), [(0, on(57))])
    moves = [(0, cc(VOLUME, 80)), (0, cc(EXPRESSION, 90)), (0, cc(PAN, 96))]
    got = heard(two_sides(), [*moves, (0, on(57))])
    angle = 0.5 * pi * 95.0 / 126.0
    wanted = full * 0.8**2 * (90.0 / 127.0) ** 2 * sqrt(2.0) * np.array([cos(angle), sin(angle)])
    assert np.abs(got - wanted).max() <= 1e-12 * np.abs(full).max()


def test_one_loudspeaker_has_no_sides() -> None:
    inst = Instrument({**PLAIN, "map": []}, RATE, mono=True)
    full = render(inst, [(0, on(57))], 2400)
    inst.reset()
    assert (render(inst, [(0, cc(PAN, 0)), (0, on(57))], 2400) == full).all()
    inst.reset()
    half = render(inst, [(0, cc(PAN, 0)), (0, cc(VOLUME, 50)), (0, on(57))], 2400)
    assert np.abs(half - 0.25 * full).max() <= 1e-7


def test_each_channel_has_its_own() -> None:
    one, other = [(0, on(50, 100, 0))], [(7, on(57, 100, 9))]
    together = heard(two_sides(), [(0, cc(VOLUME, 50, 9)), *one, *other, (2000, cc(PAN, 127, 0))])
    wanted = heard(two_sides(), [*one, (2000, cc(PAN, 127, 0))]) + 0.25 * heard(two_sides(), other)
    assert np.abs(together - wanted).max() <= 1e-9 * np.abs(wanted).max()


@pytest.mark.parametrize("number", [VOLUME, PAN, EXPRESSION])
def test_what_the_preset_maps_is_the_preset_s(number: int) -> None:
    """The strip leaves it alone, and still has the others."""
    mapped = Instrument({**PLAIN, "map": [{"source": f"cc{number}", "to": "gain", "range": ["-20 dB", "0 dB"]}]}, RATE)
    full = heard(mapped, [(0, on(57))])
    got = heard(mapped, [(0, cc(number, 0)), (0, on(57))])
    assert np.abs(got - 0.1 * full).max() <= 1e-12
    assert not apart(mapped)
    other = EXPRESSION if number == VOLUME else VOLUME
    got = heard(mapped, [(0, cc(number, 0)), (0, cc(other, 0)), (0, on(57))])
    assert (got == 0.0).all()


# --- resets and zones -------------------------------------------------------------------------------------------------


def strip_after(*messages: list[int], channel: int = 0) -> tuple[float, float]:
    """Gains of a note of a channel after some messages."""
    velocity().reset()
    raw(velocity(), [*((0, m) for m in messages), (1, on(57, 100, channel))], 2)
    voice = velocity().machine.voices[0]
    return float(voice.left), float(voice.right)


def test_reset_all_controllers_keeps_volume_and_pan() -> None:
    """RP-015: and it opens expression; so it does while a string sounds."""
    moved = [cc(VOLUME, 50), cc(PAN, 127), cc(EXPRESSION, 20)]
    left, right = strip_after(*moved, cc(121, 0))
    assert (left, right) == pytest.approx((0.0, 0.25 * sqrt(2.0)))
    score = [(0, cc(VOLUME, 50)), (0, cc(EXPRESSION, 20)), (0, on(57)), (1000, cc(121, 0))]
    full = heard(velocity(), [(0, on(57))])
    got = heard(velocity(), score)
    assert np.abs(got - 0.25 * full)[1000 + TURNED :].max() <= 1e-9 * np.abs(full).max()


def test_reset_all_controllers_keeps_bank_sounds_and_effects() -> None:
    kept = (0, 7, 10, 32, 39, 42, 70, 71, 72, 73, *range(75, 80), *range(91, 96))  # 74 is MPE's gesture
    velocity().reset()
    raw(velocity(), [(0, cc(number, 5)) for number in range(120)] + [(1, cc(121, 0))], 2)
    row = velocity().machine.channels[0].position
    assert [number for number in range(120) if row[number] == 5] == list(kept)
    assert all(row[number] == memory.UNMOVED for number in range(120) if number not in kept)


def test_reset_opens_everything() -> None:
    assert strip_after(cc(VOLUME, 3), cc(PAN, 3), cc(EXPRESSION, 3)) != (1.0, 1.0)
    assert strip_after() == (1.0, 1.0)
    assert not apart(velocity())


def test_a_manager_s_volume_is_its_zone_s() -> None:
    """A member's own comes first once it has been moved; forming a zone begins anew."""
    zone = [cc(101, 0), cc(100, 6), cc(6, 3)]
    assert strip_after(*zone, cc(VOLUME, 50), channel=2) == (0.25, 0.25)
    assert strip_after(*zone, cc(VOLUME, 50), channel=5) == (1.0, 1.0)
    assert strip_after(*zone, cc(VOLUME, 50), cc(VOLUME, 100, 2), channel=2) == (1.0, 1.0)
    assert strip_after(cc(VOLUME, 50, 2), cc(VOLUME, 50), *zone, channel=2) == (1.0, 1.0)
    moving = [*((0, m) for m in zone), (0, on(57, 100, 2)), (1000, cc(VOLUME, 50))]
    full, got = heard(velocity(), [(0, on(57))]), heard(velocity(), moving)
    assert np.abs(got - 0.25 * full)[1000 + TURNED :].max() <= 1e-9 * np.abs(full).max()


# --- how they move ----------------------------------------------------------------------------------------------------


def gain_curve(score: list[Event], frames: int = 9600) -> Array:
    """The gain itself, sample by sample, where the sound is not near zero; elsewhere NaN."""
    inst = velocity()
    full = heard(inst, [(0, on(57))], frames)[:, 0]
    x = heard(inst, [(0, on(57)), *score], frames)[:, 0]
    return np.where(np.abs(full) > 1e-2 * np.abs(full).max(), x / full, np.nan)


@pytest.mark.parametrize("event", [2400, 2403])
@pytest.mark.parametrize("value", [0, 127])
def test_a_move_takes_its_time_and_no_more(event: int, value: int) -> None:
    """From the very sample on; with neither steps nor corners; behind the difference, so a velocity hears no step."""
    gain, wanted = gain_curve([(event, cc(VOLUME, value))]), (value / 100.0) ** 2
    share = np.clip((np.arange(gain.size) + 1 - event) / TURNED, 0.0, 1.0)
    curve = 1.0 + (wanted - 1.0) * share**2 * (3.0 - 2.0 * share)
    assert np.nanmax(np.abs(gain - curve)) <= 1e-9
    assert np.abs(np.diff(curve)).max() <= 1.5 * abs(wanted - 1.0) / TURNED * (1.0 + 1e-9)


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(2000, 5000), st.integers(0, 127)), min_size=1, max_size=12))
def test_moves_that_overlap_go_on_from_where_they_are(moves: list[tuple[int, int]]) -> None:
    gain = gain_curve([(at, cc(EXPRESSION, value)) for at, value in moves])
    steps = np.abs(np.diff(gain))
    assert np.nanmax(steps) <= 1.5 / TURNED * (1.0 + 1e-6)
    last = sorted(moves, key=lambda move: move[0])[-1][1]
    assert np.nanmax(np.abs(gain[5000 + TURNED :] - (last / 127.0) ** 2)) <= 1e-9


@pytest.mark.parametrize("number", [VOLUME, PAN, EXPRESSION])
@pytest.mark.parametrize("made", [velocity, two_sides], ids=["velocity", "two sides"])
def test_no_move_is_heard_above_the_tone(made: Callable[[], Instrument], number: int) -> None:
    """From one end to the other and at a fader's pace, all day long: what lies above 8 kHz is 80 dB down (measured:
    -91)."""
    score: list[Event] = [(0, on(48))]
    score += [(24000, cc(number, 0)), (26000, cc(number, 127)), (28000, cc(number, 3))]
    score += [(30000 + 96 * n, cc(number, 3 + n)) for n in range(60)]
    x = heard(made(), score, 38400)[:, 0]
    assert decibels(sosfilt(CLICKS, x)[20000:]) < decibels(x[20000:24000]) - 80.0


def test_a_note_begins_where_its_strip_points() -> None:
    """Even if that moved at the same sample: no blow at the old volume."""
    full = heard(velocity(), [(1000, on(57))])
    for at in (999, 1000):
        got = heard(velocity(), [(at, cc(VOLUME, 10)), (1000, on(57))])
        assert np.abs(got - 0.01 * full).max() <= 1e-12 * np.abs(full).max()


def test_the_first_move_of_all_is_no_click() -> None:
    """Voices leave the common bus for strips of their own, wherever they are: neither jumps nor loses anything."""
    notes = [(0, on(45)), (11, on(57, 90, 1)), (23, on(64, 80, 2))]
    with_strips = heard(velocity(), [*notes, (3003, cc(VOLUME, 101, 9))])
    without = heard(velocity(), notes)
    assert apart(velocity()) is False
    assert np.abs(with_strips - without).max() <= 1e-9 * np.abs(without).max()


STRIPPED: list[Event] = [
    (0, cc(VOLUME, 80)),
    (0, on(50)),
    (101, on(57, 90, 1)),
    (900, cc(EXPRESSION, 20, 1)),
    (1100, cc(PAN, 5)),
    (1234, on(62, 70, 1)),
    (1300, cc(EXPRESSION, 90, 1)),
    (1301, cc(VOLUME, 127)),
    (2000, off(57, 1)),
    (2500, cc(121, 0, 1)),
    (3000, cc(120, 0)),
]


@pytest.mark.parametrize("name", [*SMALL, "sitar-string"])
def test_blocks_of_any_size_give_the_same_bits(name: str) -> None:
    whole = render(instrument(name), STRIPPED, 4500)
    for size in (1, 37, 64, 512):
        assert (render(instrument(name), STRIPPED, 4500, blocks(size, 4500)) == whole).all()
    assert (render(instrument(name), [], 4500) == 0.0).all()  # nor is it left behind by a reset
    assert (render(instrument(name), STRIPPED, 4500) == whole).all()


def test_sound_off_is_off_under_strips() -> None:
    inst = instrument("modal")
    x: Any = raw(inst, [(0, cc(VOLUME, 127)), (0, on(57)), (2400, cc(120, 0))], 4800)
    assert (x[2400 + round(0.0051 * RATE) :] == 0.0).all()
    assert inst.silent
