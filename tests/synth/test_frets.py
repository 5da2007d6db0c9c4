"""Strings of many frets: which string takes a key, what is hammered, pulled or plucked, and how it sounds then."""

from __future__ import annotations

from dataclasses import replace
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from synth.assemblies import BODY, PLUCK, baj, heard, made_once, of
from synth.playing import Event, bend, blocks, cc, off, on, raw, render, schedule
from synth.test_bridged import energy, joint, rough

from engine.physics.excitation import Excitation
from engine.physics.network.parts import Body, Listening, Strung
from engine.physics.string import Array
from engine.preset.assembly import Course, Felt, Played
from engine.preset.loader import Preset
from engine.synth.instrument import Instrument
from engine.synth.memory import HELD, KEYS, RELEASED
from engine.synth.standing import check_lines

RATE = 48_000
INSTRUMENTS = Path(__file__).parent.parent / "preset" / "instruments"
LEGATO, SUSTAIN = 68, 64


def bare(pitch: float = 123.5, **more: Any) -> Strung:
    """A string that touches nothing."""
    return replace(baj(pitch, **more), ports=())


def fretted(string: Strung, **more: Any) -> Played:
    return Played(string, **{"exciter": PLUCK, "keys": "length", "mono": True, "finger": 0.0, **more})


def guitar(**more: Any) -> Preset:
    """Three strings whose keys overlap: B2-F#4 (all from D3 on), E3-A#4, A3-A#4."""
    return of(
        fretted(bare(), highest=66, **more),
        fretted(bare(164.8), lowest=52, **more),
        fretted(bare(220.0), lowest=57, **more),
    )


SOFT = Excitation(0.3, 1.0, 8e-3)
NEAR = (Listening(0.1), Listening(0.05))  # the bridge's side of every fret
PRESETS = {
    "one": of(fretted(bare())),
    "jawari": of(fretted(baj(band=12e3))),
    "still": of(fretted(bare()), body=Body(BODY.modes), coupling="none"),
    "tension": of(fretted(bare(), keys="tension"), coupling="none"),
    "pedal": of(fretted(bare(), legato="pedal")),
    "finger": of(fretted(bare(), finger=1.0)),
    "course": of(fretted(baj(123.5), courses=(Course(), Course(2.0, 1.0)), felt=Felt())),
    "guitar": guitar(),
    "soft": of(fretted(bare(band=20e3), exciter=SOFT), coupling="none"),
    "pickups": heard(of(fretted(bare(band=20e3, listening=NEAR), exciter=SOFT), coupling="none")),
}


instrument = made_once(PRESETS, RATE)


def after(inst: Instrument, events: list[Event], frames: int) -> Instrument:
    """An instrument that has played so far."""
    inst.reset()
    render(inst, events, frames)
    return inst


def sounding(inst: Instrument) -> list[tuple[int, int, int]]:
    """Key, string and state of all voices that sound."""
    found = [(v.key, inst.machine.keys[v.place].line, v.state) for v in inst.machine.voices]
    return sorted((int(k), int(n), int(s)) for k, n, s in found if s in (HELD, RELEASED))


def pitch(sound: Array, near: float) -> float:
    """Of the partial nearest to a frequency: from the phases of two windows, so far apart that cents show."""
    size, apart = 12_000, 9_600
    window, turn = np.hanning(size), np.exp(-2j * np.pi * near / RATE * np.arange(len(sound)))
    one, two = (np.sum(window * (sound * turn)[at : at + size]) for at in (0, apart))
    return near + float(np.angle(two / one)) / (2.0 * np.pi * apart / RATE)


# --- how it sounds ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["still", "tension"])
@pytest.mark.parametrize(("first", "second"), [(52, 57), (64, 57), (57, 58), (69, 57)])
def test_a_slurred_note_has_the_pitch_of_its_key(name: str, first: int, second: int) -> None:
    """By hammer and by pull, to a cent; and again as the earlier finger is all that is left."""
    inst, start = instrument(name), 4000
    events = [(0, on(first)), (start, on(second)), (start + 36_000, off(second))]
    sound = raw(inst, events, start + 72_000)[:, 0]
    for key, begin in ((second, start + 8000), (first, start + 44_000)):
        hz = inst.preset.tuning.frequencies[key]
        assert hz is not None
        cents = 1200.0 * log2(pitch(sound[begin : begin + 26_000], hz) / hz)
        assert abs(cents) < 1.0, (key, cents)
    assert inst.report()["watchdog"] == 0
    assert inst.report()["peak_voices"] == 1


def test_a_key_let_go_without_a_velocity_pulls_moderately_and_its_string_ends() -> None:
    """Most keyboards let go with velocity 0, whatever they feel: a pull of no force would take for ever."""
    notes, inst = [(0, on(54)), (2000, on(59))], instrument("one")
    told = render(inst, [*notes, (4000, [0x80, 59, 64])], 8000)
    for untold in ([0x80, 59, 0], [0x90, 59, 0]):
        inst = instrument("one")
        assert (render(inst, [*notes, (4000, untold)], 8000) == told).all()
    render(inst, [(0, off(54))], 10 * RATE)
    assert sounding(inst) == []


@pytest.mark.parametrize("name", ["one", "jawari"])
@pytest.mark.parametrize("interval", [1, 2, 4, 7, 12])
def test_a_finger_gives_no_energy_but_by_its_blow(name: str, interval: int) -> None:
    """Whenever it comes and leaves: energy of strings, body, contact before, and as it has arrived."""
    inst, lower = instrument(name), 54
    for start in range(3000, 3270, 18):
        for events in (
            [(0, on(lower)), (start, on(lower + interval))],
            [(0, on(lower)), (10, on(lower + interval)), (start, off(lower + interval))],
        ):
            after(inst, events, start)
            before = energy(inst)
            render(inst, [], 160)
            assert energy(inst) < 1.0001 * before
    blown = instrument("finger")
    render(blown, [(0, on(lower, 60)), (3000, on(lower + interval, 120))], 3000)
    before = energy(blown)
    render(blown, [], 160)
    assert energy(blown) > 1.0001 * before


@pytest.mark.parametrize("interval", [1, 3, 7, 12, -1, -5])
def test_no_click_where_the_length_changes(interval: int) -> None:
    """A soft string that rings: what is above 12 kHz there stays 45 dB below what sounds, and 10 dB below that of a
    string which from one sample to the next goes on at the other pitch, without a step."""
    plucked, moved, start = slurred("soft", interval)
    cut = np.concatenate([plucked, raw_cut(plucked, interval)])
    worst = roughest(moved, start)
    assert worst < level(moved, start) - 45.0
    assert worst < roughest(cut, start) - 10.0


@pytest.mark.parametrize("interval", [1, 3, 7, 12, -1, -5])
def test_pickups_stay_where_they_are(interval: int) -> None:
    """They see the string lean towards a finger on its way, too: without that, or moved with the fret, they would make
    a click as loud as the tone. A magnet hears speed: what comes within 3 ms is brighter to it."""
    _, moved, start = slurred("pickups", interval)
    assert roughest(moved, start) < level(moved, start) - 35.0


def slurred(name: str, interval: int) -> tuple[Array, Array, int]:
    """A key alone until another one is struck, with what follows, and when that is."""
    inst, start = instrument(name), 9000
    plucked = raw(inst, [(0, on(60))], start)
    inst.reset()
    return plucked, raw(inst, [(0, on(60)), (start, on(60 + interval))], start + 2000), start


def roughest(sound: Array, start: int) -> float:
    return max(rough(sound, at) for at in range(start - 200, start + 600, 10))


def level(sound: Array, start: int) -> float:
    part = sound[start : start + 256] * np.hanning(256)[:, None]
    return float(10.0 * np.log10((np.abs(np.fft.rfft(part, axis=0)) ** 2).sum()))


def raw_cut(sound: Array, interval: int) -> Array:
    """What a sound would be from here on if its time were stretched at once."""
    ratio = 2.0 ** (interval / 12.0)
    at = 4000 + ratio * np.arange(2000)
    return np.stack([np.interp(at, np.arange(len(sound)), column) for column in sound.T], axis=1)


def test_a_string_that_rings_is_plucked_with_what_it_has() -> None:
    """Same fret: the pluck comes on top, so that the sum of two is heard; another fret: it is moved first."""
    inst = instrument("one")
    first, both = raw(inst, [(0, on(57))], 9000), None
    inst.reset()
    second = raw(inst, [(3000, on(57, 60))], 9000)
    inst.reset()
    both = raw(inst, [(0, on(57)), (3000, on(57, 60))], 9000)
    assert np.abs(both - first - second).max() < 1e-9 * np.abs(both).max()
    released = instrument("one")
    events = [(0, on(57)), (2900, off(57)), (3000, on(60, 1))]
    after(released, events, 3000)
    before = energy(released)
    render(released, [], 200)
    assert 0.3 * before < energy(released) < before


def test_a_guitar_is_played_and_any_blocks_are_the_same() -> None:
    """A preset's file, over its strings, with slurs, bends, pedals."""
    inst = Instrument(INSTRUMENTS / "guitar-nylon.yaml", RATE)
    events: list[Event] = [(0, on(40)), (300, on(52)), (500, on(43, 90)), (900, on(64, 70)), (1001, on(67, 110))]
    events += [(1100, on(66, 30)), (1500, off(66)), (1501, bend(5000)), (1777, off(67)), (1900, cc(SUSTAIN, 127))]
    events += [(2000, off(64)), (2100, on(59)), (2222, off(43)), (2300, on(64, 50)), (2333, on(76)), (2400, cc(64, 0))]
    wanted = render(inst, events, 4000)
    assert np.abs(wanted).max() > 0.01
    assert inst.report()["peak_voices"] == 4
    assert inst.report()["watchdog"] == 0
    for size in (1, 37, 512):
        inst.reset()
        assert (render(inst, events, 4000, blocks(size, 4000)) == wanted).all(), size


# --- fingers ----------------------------------------------------------------------------------------------------------


def work(inst: Instrument, events: list[Event], at: int) -> float:
    """How much louder the string is once a note has begun."""
    after(inst, events, at)
    before = energy(inst)
    render(inst, [], 400)
    return energy(inst) / before


def test_overlap_or_the_pedal_says_what_is_slurred() -> None:
    """A pluck gives energy, and a finger of no force none."""
    soft, hard = (0, on(54, 20)), on(57, 127)
    assert work(instrument("one"), [soft, (3000, hard)], 3000) < 1.0
    assert work(instrument("one"), [soft, (2900, off(54)), (3000, hard)], 3000) > 3.0
    assert work(instrument("one"), [soft, (2000, on(57, 20)), (2900, off(54)), (3000, hard)], 3000) > 3.0  # same fret
    assert work(instrument("pedal"), [soft, (3000, hard)], 3000) > 3.0
    assert work(instrument("pedal"), [soft, (2000, cc(LEGATO, 127)), (3000, hard)], 3000) < 1.0
    held_by_pedal = [soft, (100, cc(SUSTAIN, 127)), (2900, off(54)), (3000, hard)]
    assert work(instrument("one"), held_by_pedal, 3000) > 3.0


def test_the_last_finger_is_where_the_string_ends() -> None:
    inst = instrument("one")
    events = [(0, on(54)), (500, on(57)), (1000, on(61)), (1500, off(57)), (2000, off(61)), (2500, off(54))]
    for time, wanted in ((400, 54), (900, 57), (1400, 61), (1900, 61), (2400, 54)):
        assert sounding(after(inst, events[: time // 500 + 1], time)) == [(wanted, 1, HELD)]
    assert sounding(after(inst, events, 2600)) == [(54, 1, RELEASED)]


def test_pedals_keep_dampers_away_and_hold_no_finger() -> None:
    inst = instrument("one")
    events = [(0, cc(SUSTAIN, 127)), (10, on(54)), (500, on(57)), (1000, off(57)), (1500, off(54))]
    assert sounding(after(inst, events, 1400)) == [(54, 1, HELD)]
    after(inst, events, 1600)
    assert inst.machine.voices[0].damping == 0.0


def test_many_fingers_and_all_notes_off() -> None:
    """More than are kept: the first are forgotten. Fingers of a channel leave together, and pull at nothing."""
    inst = instrument("one")
    events: list[Event] = [(10 * n, on(51 + n)) for n in range(12)]
    assert sounding(after(inst, events, 300)) == [(62, 1, HELD)]
    assert joint(inst).lines[0].fingers == 8
    lifted: list[Event] = [(300 + 10 * n, off(62 - n)) for n in range(8)]
    assert sounding(after(inst, [*events, *lifted], 600)) == [(55, 1, RELEASED)]
    assert sounding(after(inst, [*events, (300, cc(123, 0))], 600)) == [(62, 1, RELEASED)]
    assert joint(inst).lines[0].fingers == 0


def test_a_string_is_nobodys_channel() -> None:
    """A key on another channel is the same string; it goes back to the finger that is left, with its channel."""
    inst = instrument("one")
    events = [(0, on(54, channel=1)), (500, on(57, channel=2)), (1000, off(57, 2))]
    assert sounding(after(inst, events, 900)) == [(57, 1, HELD)]
    assert inst.machine.voices[0].channel == 2
    assert sounding(after(inst, events, 1100)) == [(54, 1, HELD)]
    assert inst.machine.voices[0].channel == 1


def test_a_bend_takes_the_string_along_through_a_slur() -> None:
    """Meend: all its notes are bent together, since they are one string's."""
    inst, start = instrument("still"), 12_000
    events = [(0, on(54)), (100, bend(8191)), (start, on(57))]
    sound = raw(inst, events, start + 40_000)[:, 0]
    hz = inst.preset.tuning.frequencies[57]
    assert hz is not None
    hz *= 2.0 ** (2.0 * 8191 / 8192 / 12.0)
    assert abs(1200.0 * log2(pitch(sound[start + 8000 :], hz) / hz)) < 1.0


# --- which string -----------------------------------------------------------------------------------------------------


def test_a_key_takes_a_free_string_nearest_to_its_open_end() -> None:
    inst = instrument("guitar")
    keys, found = inst.machine.keys, []
    assert len(keys) > KEYS
    for key in (50, 54, 60, 68):
        place, lines = key, []
        while True:
            lines.append(int(keys[place].line))
            place = int(keys[place].other)
            if not place:
                break
        found.append(lines)
    assert found == [[1], [2, 1], [3, 2, 1], [3, 2]]
    chord = [(0, on(60)), (10, on(62)), (20, on(64))]
    assert sounding(after(inst, chord, 100)) == [(60, 3, HELD), (62, 2, HELD), (64, 1, HELD)]
    assert sounding(after(inst, [*chord, (100, on(65))], 200)) == [(62, 2, HELD), (64, 1, HELD), (65, 3, HELD)]
    tied = [(0, on(60)), (10, cc(LEGATO, 127)), (20, on(62))]
    assert sounding(after(inst, tied, 100)) == [(62, 3, HELD)]
    assert sounding(after(inst, [(0, on(60)), (10, off(60)), (20, on(60))], 100)) == [(60, 3, HELD)]


def test_a_saved_instrument_is_not_believed_about_its_strings(tmp_path: Any) -> None:
    designed = instrument("guitar").design
    check_lines(designed.keys, designed.strings, 3)
    for field, row, value in (
        ("line", 60, 4),
        ("line", 60, -1),
        ("other", 60, 60),
        ("other", 60, 10**6),
        ("other", 50, 61),
    ):
        keys = designed.keys.copy()
        keys[row][field] = value
        with pytest.raises(ValueError, match=r"key (on|with)"):
            check_lines(keys.view(np.recarray), designed.strings, 3)
    one = designed.keys.copy()
    one[60]["line"] = 1
    check_lines(one.view(np.recarray), designed.strings, 3)  # as many strings: another place, and no harm


def test_a_course_and_its_dampers_move_together() -> None:
    inst = instrument("course")
    schedule(inst, [(0, on(54)), (3000, on(59)), (9000, off(59)), (9000, off(54))])
    out, found = np.zeros((800, 2), np.float32), []
    for _ in range(24):
        inst.run(out)
        found.append(energy(inst))
    assert (np.diff(found) < 0.0).all()
    assert found[10] > 0.2 * found[2]  # until both keys are let go
    assert found[23] < 1e-6 * found[10]
