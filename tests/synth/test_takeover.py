"""A sounding string that goes on in another design of itself: no click, no blow, no note lost."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from synth.following import AT, BLOCK, Following
from synth.playing import RATE, SMALL, cc, off, on

from engine.preset.loader import Preset, load_preset
from engine.synth.bank import Designed, Setup, design
from engine.synth.instrument import Instrument
from engine.synth.memory import FREE, HELD, KEYS, RELEASED
from engine.synth.mixing import play_together

pytestmark = pytest.mark.usefixtures("shared_designs")

KEY = 50
GAINS = np.ones(KEYS)
PRESETS = {
    **SMALL,
    "best bridge": {**SMALL["bridge"], "quality": "best"},
    "best frets": {**SMALL["frets"], "quality": "best", "intonation": "string"},
}


def setup_of(preset: Preset) -> Setup:
    return Setup(preset, float(RATE), preset.oversample, preset.polyphony, 2, preset.tuning)


@cache
def designed(preset: Preset, only: tuple[int, ...] | None) -> Designed:
    return design(setup_of(preset), only, GAINS)


def made(
    name: str, changes: dict[str, object] | None = None, only: tuple[int, ...] | None = (KEY, KEY + 3)
) -> Instrument:
    preset = load_preset(PRESETS[name], changes)
    return Instrument.of(setup_of(preset), designed(preset, only))


class Stage(Following):
    """Of strings by themselves."""

    key = KEY

    def make(self, changes: dict[str, object], **more: Any) -> Instrument:
        return made(self.name, changes, **more)


def roughness(sound: Any) -> Any:
    """Energy of the third difference in windows of a millisecond: a click stands out of its neighbours."""
    third = np.diff(np.asarray(sound[:, 0], float), 3)
    count = len(third) // 48
    return np.sqrt((third[: 48 * count].reshape(count, 48) ** 2).mean(1))


CHANGES: dict[str, list[dict[str, object]]] = {
    "bridge": [
        {},
        {"barrier.curvature": 1.5},
        {"barrier.height": "-0.1 mm"},
        {"barrier.points": 9},
        {"barrier.to": "40 mm"},
        {"string.loss.s3": 4e-5},
        {"string.stiffness": 6e-4},
        {"string.length": 0.8},
        {"excitation.force": 4},
        {"gain": "-6 dB"},
        {"pickups.0.at": 0.12},
        {"quality": "best"},
        {"intonation": "string"},  # another pitch, and nothing else: as a knob that rests is tuned anew
    ],
    "best bridge": [
        {},
        {"barrier.curvature": 1.5},
        {"barrier.height": "-0.1 mm"},
        {"barrier.points": 9},
        {"string.loss.s3": 4e-5},
        {"string.length": 0.8},
        {"quality": "normal"},
    ],
    "best frets": [{"contact.stiffness": 1e6}, {"quality": "normal"}],
    "frets": [{"quality": "best"}],
    "grid bridge": [{}, {"barrier.height": "-0.1 mm"}, {"string.loss.s2": 2e-3}, {"string.length": 0.9}],
    "grid frets": [{}, {"contact.stiffness": 1e6}, {"barrier.height": "-0.1 mm"}],
    "modal": [{"string.keys": "length"}, {"string.tension": 150}],
}


@pytest.mark.parametrize(("name", "changes"), [(name, c) for name, all_of in CHANGES.items() for c in all_of], ids=str)
def test_a_turned_knob_makes_no_click(name: str, changes: dict[str, object]) -> None:
    plain, changed, stage = Stage.turned(name, changes)
    np.testing.assert_array_equal(changed[:AT], plain[:AT])
    at = AT // 48
    usual = max(roughness(plain)[at - 40 : at + 60].max(), roughness(changed[AT + 2400 :]).max())
    floor = 1e-4 * np.abs(plain[AT:]).max()  # 80 dB below: the corners of a straight fade between two smooth sounds
    assert roughness(changed)[at - 2 : at + 14].max() < 1.5 * usual + floor
    assert np.abs(changed[AT:]).max() < 1.5 * np.abs(plain[AT:]).max()
    assert len(stage.sounding(1)) == 1
    assert not stage.sounding(0)
    assert stage.seats.instruments[1].report()["watchdog"] == 0


@pytest.mark.parametrize("name", ["bridge", "frets", "grid bridge", "grid frets", "modal", "best bridge", "best frets"])
def test_where_nothing_changes_the_sound_hardly_does(name: str) -> None:
    plain, changed, _ = Stage.turned(name, {})
    assert np.abs(changed - plain)[AT : AT + 480].max() < 0.03 * np.abs(plain[AT:]).max()


@pytest.mark.parametrize(
    ("name", "changes"),
    [(name, {}) for name in CHANGES] + [("bridge", {"quality": "best"}), ("best frets", {"quality": "normal"})],
)
def test_a_string_keeps_its_energy(name: str, changes: dict[str, object]) -> None:
    stage = Stage(name)
    stage.send(on(KEY))
    stage.play(AT)
    before = stage.sounding(0)[0].energy
    stage.follow(changes)
    stage.play(2 * BLOCK)  # a look at least
    assert stage.sounding(1)[0].energy == pytest.approx(before, rel=0.03)  # what the contact holds has another form


def test_the_end_of_a_note_that_is_on_its_way_finds_it() -> None:
    """An instrument without a filter obeys later than the others: what waits there was sent before its heir came."""
    stage = Stage("bridge")
    stage.send(on(KEY))
    stage.play(640)
    stage.send(off(KEY))
    heir = stage.follow({"barrier.curvature": 1.5})
    stage.play(2 * BLOCK)
    assert heir.silent  # it waits
    stage.play(BLOCK)
    assert [v.state for v in stage.sounding(1)] == [RELEASED]
    assert stage.seats.desk.parts[1].since == 640 + 2 * BLOCK


def test_a_note_does_not_begin_on_an_older_design_of_a_few_keys() -> None:
    stage = Stage("bridge")
    stage.follow({"barrier.curvature": 1.2}, partial=True)
    stage.play(BLOCK)
    stage.follow({"barrier.curvature": 1.5}, partial=True, only=(KEY,))
    stage.play(BLOCK)
    stage.send(on(KEY + 3))
    stage.play(2 * BLOCK)
    assert [len(stage.sounding(number)) for number in (0, 1, 2)] == [1, 0, 0]


@pytest.mark.parametrize("name", ["bridge", "grid bridge"])
def test_a_barrier_that_is_raised_into_the_string_comes_up_like_the_wheel_raises_it(name: str) -> None:
    """In no time it would be a blow: no louder than what the wheel does, and far smoother than a note that rings."""
    preset = SMALL[name]
    high = {"barrier.height": "0.2 mm"}
    stage = Stage(name)
    stage.send(on(KEY, 1))  # it hardly moves
    stage.play(AT)
    stage.follow(high)
    heir = stage.seats.instruments[1].machine
    stage.play(BLOCK)
    voice = next(v for v in heir.voices if v.state != FREE)
    assert voice.lift < 0.0  # it began below where it is going
    risen = stage.play(4800)
    assert next(v for v in heir.voices if v.state != FREE).lift == 0.0
    by_wheel = Stage(name)
    by_wheel.send(on(KEY, 1))
    by_wheel.play(AT)
    by_wheel.send(cc(1, 127))  # the map of these presets has 0.2 mm there
    assert preset["map"][0]["range"][1] == "0.2 mm"
    by_wheel.play(BLOCK)
    wheel = by_wheel.play(4800)
    assert np.abs(risen).max() < 1.5 * np.abs(wheel).max()
    played = Stage(name)
    played.send(on(KEY))
    assert roughness(risen).max() < 0.1 * roughness(played.play(AT)[AT - 4800 :]).max()


def test_a_note_that_began_meanwhile_keeps_the_new_design_waiting() -> None:
    stage = Stage("bridge")
    stage.send(on(KEY + 3))
    stage.play(640)
    heir = stage.follow(only=(KEY,))
    stage.play(640)
    assert len(stage.sounding(0)) == 1
    assert heir.silent
    stage.send(off(KEY + 3))
    stage.play(RATE)
    assert stage.seats.desk.latest == 1  # as soon as that has rung out


def test_keys_that_are_not_there_yet_begin_on_the_design_before() -> None:
    stage = Stage("bridge")
    stage.send(on(KEY))
    stage.play(640)
    stage.follow({"barrier.curvature": 1.5}, only=(KEY,))
    stage.play(640)
    stage.send(on(KEY + 3))
    stage.play(2 * BLOCK)  # as late as the latest design would be
    assert [int(v.key) for v in stage.sounding(0)] == [KEY + 3]
    assert [int(v.key) for v in stage.sounding(1)] == [KEY]
    stage.follow({"barrier.curvature": 1.5})
    stage.play(640)
    assert sorted(int(v.key) for v in stage.sounding(2)) == [KEY, KEY + 3]
    assert not stage.sounding(0)
    assert not stage.sounding(1)
    stage.send(off(KEY + 3))  # note-offs find their notes wherever these have gone
    stage.play(2 * BLOCK)
    assert sorted((int(v.key), int(v.state) == HELD) for v in stage.sounding(2)) == [(KEY, True), (KEY + 3, False)]


def test_what_cannot_go_on_rings_out_where_it_is() -> None:
    stage = Stage("bridge")
    stage.send(on(KEY))
    stage.play(640)
    stage.follow({"model": "fd"})
    stage.play(640)
    assert len(stage.sounding(0)) == 1
    assert not stage.sounding(1)
    stage.send(on(KEY + 3))
    stage.play(2 * BLOCK)  # as late as the latest design would be
    assert len(stage.sounding(1)) == 1


def test_gain_and_bend_go_on_from_where_they_were() -> None:
    stage = Stage("modal")
    stage.send(on(KEY))
    stage.send([0xE0, 127, 127])
    stage.play(9600)
    old = stage.sounding(0)[0]
    stage.follow({"gain": "-12 dB"})
    stage.play(BLOCK)
    new = stage.sounding(1)[0]
    assert new.semitones == pytest.approx(old.semitones, abs=0.01)
    stage.play(9600)
    assert new.gain == pytest.approx(1.0)
    assert new.semitones == pytest.approx(2.0, abs=0.01)


def test_the_same_takeovers_give_the_same_bits_in_blocks_of_any_size() -> None:
    """As long as they come at the same sample."""
    sounds = []
    for block in (64, 320):
        stage = Stage("bridge")
        stage.send(on(KEY))
        out = np.zeros((AT, 2), np.float32)
        for n, at in enumerate(range(0, AT, 3200)):
            if n:
                stage.follow({"barrier.curvature": 0.75 + 0.2 * n})
            for begin in range(at, at + 3200, block):
                piece = out[begin : begin + block]
                play_together(stage.seats.address, len(piece), piece.ctypes.data)
        sounds.append(out)
    np.testing.assert_array_equal(*sounds)
