"""Strings that share a bridge go on in another design of it, with those that answer and the body below them."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from synth.following import AT, BLOCK, END, Following
from synth.playing import RATE, cc, off, on
from synth.test_takeover import GAINS, roughness

from engine import messages as midi
from engine.compiled import called_by_python
from engine.layout import seen
from engine.physics.network.memory import Island
from engine.preset.loader import load_preset
from engine.synth.bank import Designed, Setup, design
from engine.synth.instrument import Instrument
from engine.synth.likeness import voice_picture
from engine.synth.memory import FREE, HELD, Joint, machine
from engine.synth.mixing import play_together

pytestmark = pytest.mark.usefixtures("shared_designs")

WIRE = {"length": "880 mm", "diameter": "0.3 mm", "material": "steel", "tuned": "F#3", "band": "7 kHz"}
SMALL: dict[str, Any] = {
    "string": {**WIRE, "keys": "length"},
    "barrier": {"profile": "parabola", "to": "30 mm", "curvature": "0.75 1/m", "points": 6},
    "excitation": {"position": 0.15, "force": "-1 N"},
    "body": {"name": "sitar"},
    "polyphony": 4,
}
ANSWERING = {
    "sympathetic": ["D3", "F#3", "A3"],
    "string": {"length": "700 mm", "tension": "60 N", "band": "4 kHz"},
    "barrier": {"profile": "parabola", "to": "12 mm", "curvature": "1 1/m", "points": 3},
}
PRESETS: dict[str, dict[str, Any]] = {
    "hub": {**SMALL, "strings": [{"played": "C2-C5"}, ANSWERING]},
    "odd": {**SMALL, "strings": [{"played": "C2-C5"}, ANSWERING], "coupling": "one-way"},
    "pairs": {
        **SMALL,
        "courses": [{}, {"detuned": "3 cents"}],
        "damper": {"at": 0.2},
        "planes": [{}, {"angle": "90°"}],
    },
    "frets": {**SMALL, "strings": [{"played": "D3-D4", "mono": "yes"}, ANSWERING], "oversample": 2},
    "hammer": {**SMALL, "excitation": {"position": 0.15}, "exciter": {"kind": "hammer", "mass": "8 g"}},
    "heard": {**SMALL, "strings": [{"played": "C2-C5"}, ANSWERING], "pickups": [{"at": 0.1, "kind": "velocity"}]},
    "wide": {**SMALL, "body": {"directions": ["0°", "90°"], "modes": [{"frequency": "180 Hz", "mass": "250 g"}]}},
}
KEY = 54


@cache
def designed(name: str, told: str, only: tuple[int, ...] | None) -> tuple[Setup, Designed]:
    preset = load_preset({**PRESETS[name], "name": name}, json.loads(told))
    setup = Setup(preset, float(RATE), preset.oversample, preset.polyphony, 2, preset.tuning)
    return setup, design(setup, only, GAINS)


def made(name: str, changes: dict[str, object], only: tuple[int, ...] | None = (KEY, KEY + 3)) -> Instrument:
    return Instrument.of(*designed(name, json.dumps(changes), only))


class Stage(Following):
    """Of strings that share a bridge."""

    key = KEY

    def make(self, changes: dict[str, object], **more: Any) -> Instrument:
        return made(self.name, changes, **more)

    def struck(self) -> Any:
        self.send(on(KEY))
        return self.play(END)

    def joint(self, number: int) -> Joint:
        m = self.seats.instruments[number].machine
        return seen(Joint, m.address + int(m.joint))

    def island(self, number: int) -> Island:
        m = self.seats.instruments[number].machine
        return seen(Island, m.address + int(self.joint(number).island))


CHANGES: dict[str, list[dict[str, object]]] = {
    "hub": [
        {},
        {"barrier.curvature": 1.5},
        {"barrier.height": "-0.1 mm"},
        {"barrier.points": 9},
        {"contact.stiffness": 1e6},
        {"string.loss.s3": 4e-5, "string.loss.s0": 0.6},
        {"string.length": 0.8},
        {"strings.1.string.tension": "50 N"},
        {"strings.1.barrier.height": "-0.05 mm"},
        {"strings.1.sympathetic": ["D3", "A3"]},
        {"body.scale": 1.3},
        {"body.weight": 0.5},
        {"body.name": "harp"},
        {"body.radiates": "300 Hz"},
        {"gain": "-6 dB"},
        {"courses": [{}, {"detuned": "4 cents"}]},
        {"intonation": "string"},  # another pitch, and nothing else
    ],
    "odd": [{}, {"barrier.curvature": 1.5}, {"coupling": "two-way"}],
    "pairs": [{}, {"string.tuned": "G3"}, {"damper.at": 0.3}, {"planes": [{}]}],
    "frets": [{}, {"barrier.curvature": 1.5}],
    "hammer": [{}, {"exciter.mass": "20 g"}],
    "heard": [{}, {"pickups.0.at": 0.15}],
}


@pytest.mark.parametrize(("name", "changes"), [(name, c) for name, all_of in CHANGES.items() for c in all_of], ids=str)
def test_a_turned_knob_makes_no_click(name: str, changes: dict[str, object]) -> None:
    plain, changed, stage = Stage.turned(name, changes)
    np.testing.assert_array_equal(changed[:AT], plain[:AT])
    at = AT // 48
    usual = max(roughness(plain)[at - 40 : at + 60].max(), roughness(changed[AT + 2400 :]).max())
    floor = 1e-4 * np.abs(plain[AT:]).max()
    assert roughness(changed)[at - 2 : at + 14].max() < 1.5 * usual + floor
    loudest = np.abs(plain[AT:]).max()
    if any(key.startswith("body") for key in changes):  # another body may be louder by itself
        loudest = max(loudest, np.abs(Stage(name, changes=changes).struck()).max())
    assert np.abs(changed[AT:]).max() < 1.5 * loudest
    assert len(stage.sounding(1)) == 1
    assert not stage.sounding(0)
    assert not stage.joint(0).awake
    assert stage.seats.instruments[1].report()["watchdog"] == 0


@pytest.mark.parametrize("name", list(PRESETS))
@pytest.mark.parametrize("at", [AT, AT + 37])
def test_where_nothing_changes_the_sound_hardly_does(name: str, at: int) -> None:
    """Also in the midst of a pair of steps. What goes on is the same to rounding, which contacts make more of.

    The DC blocker's running mean goes with the fade of whoever played, and its heir begins without: of a sound at f
    that is 5 Hz / f, three percent of the `wide` body's, which has one mode, at 180 Hz. Were it not drained
    (`renderer.finish`), that sound would differ by less than 1e-3. Other bodies are heard where they radiate.
    """
    plain, changed, _ = Stage.turned(name, {}, at)
    limit = 1e-2 if name == "wide" else 3e-3
    assert np.abs(changed - plain)[at : at + 480].max() < limit * np.abs(plain[at:]).max()


@pytest.mark.parametrize("name", ["hub", "odd", "frets"])
def test_what_answers_and_the_body_ring_on_where_no_key_does(name: str) -> None:
    sounds = []
    for follows in (False, True):
        stage = Stage(name)
        stage.send(on(KEY))
        stage.play(4800)
        stage.send([0xB0, midi.ALL_SOUND_OFF, 0])
        stage.play(9600)
        assert not stage.sounding(0)
        if follows:
            stage.follow({})
        sounds.append(stage.play(4800))
    assert np.abs(sounds[0]).max() > 1e-5  # it does ring
    np.testing.assert_allclose(sounds[1][480:], sounds[0][480:], atol=0.02 * np.abs(sounds[0]).max())


def test_no_energy_comes_from_it() -> None:
    for changes in ({}, {"barrier.height": "-0.02 mm"}, {"contact.stiffness": 1e9}, {"body.weight": 0.05}):
        stage = Stage("hub")
        stage.send(on(KEY))
        stage.play(AT)
        before = energy(stage, 0)
        stage.follow(changes)
        stage.play(BLOCK)
        after = energy(stage, 1)
        assert 0.9 * before < after < 1.001 * before, changes


def energy(stage: Stage, number: int) -> float:
    """Of the struck string with its contacts, and of the body."""
    m, bank = stage.seats.instruments[number].machine, stage.island(number).bridge.bank
    span, mean = bank.even - bank.odd, bank.even + bank.odd
    look = voice_energies(m)
    return float(look + (bank.inertia * span**2 + bank.spring * mean**2).sum())


def voice_energies(m: Any) -> float:
    total = 0.0
    for v in range(int(m.slots)):
        if m.voices[v].state != FREE:
            row = np.zeros(400, np.float32)
            pictured(m.address, v, row)
            total += float(row[8:11].sum())
    return total


@called_by_python
def pictured(where: Any, v: Any, row: Any) -> None:
    voice_picture(machine(where), v, 0, row, 0, 0)


def test_the_end_of_a_note_and_its_damper_find_it() -> None:
    stage = Stage("pairs")
    stage.send(on(KEY))
    stage.play(AT)
    stage.follow({"barrier.curvature": 0.8})
    stage.play(BLOCK)
    ringing = np.abs(stage.play(2400)).max()
    stage.send(off(KEY))
    stage.play(4800)
    assert np.abs(stage.play(2400)).max() < 0.2 * ringing


def test_a_held_finger_goes_over_and_a_finger_on_its_way_arrives_first() -> None:
    stage = Stage("frets")
    stage.send(on(KEY))
    stage.play(4800)
    stage.send(on(KEY + 3))
    stage.play(BLOCK)  # a finger takes longer than that to the fret
    stage.follow({"barrier.curvature": 0.8}, only=(KEY + 3,), partial=True)  # and the finger before it is not there yet
    stage.play(BLOCK)
    assert stage.joint(0).awake
    stage.play(2400)
    assert not stage.joint(0).leaves
    stage.follow({"barrier.curvature": 0.9})
    stage.play(2400)
    assert not stage.joint(0).awake
    stage.send(off(KEY + 3))
    stage.play(4 * BLOCK)
    (voice,) = stage.sounding(2)
    assert (int(voice.key), int(voice.state)) == (KEY, HELD)


def test_two_designs_come_together_in_a_third() -> None:
    """A key that a partial design lacks begins on the last whole one, which another has just gone on from."""
    stage = Stage("hub")
    stage.send(on(KEY))
    stage.play(4801)
    stage.follow({"barrier.curvature": 0.8}, only=(KEY,), partial=True)
    stage.play(BLOCK)
    stage.send(on(KEY + 3))
    sound = stage.play(4803)
    assert [int(v.key) for n in (0, 1) for v in stage.sounding(n)] == [KEY + 3, KEY]
    stage.follow({"barrier.curvature": 0.8})
    after = stage.play(4800)
    assert sorted(int(v.key) for v in stage.sounding(2)) == [KEY, KEY + 3]
    assert not stage.joint(0).awake
    assert not stage.joint(1).awake
    assert np.abs(after).max() < 1.2 * np.abs(sound).max()
    assert roughness(after)[1:14].max() < 1.5 * roughness(sound)[-60:].max() + 1e-4 * np.abs(sound).max()


def test_what_has_no_such_bridge_rings_out_where_it_is() -> None:
    stage = Stage("hub")
    stage.send(on(KEY))
    stage.play(640)
    stage.name = "wide"
    stage.follow({})
    stage.play(640)
    assert len(stage.sounding(0)) == 1
    assert not stage.sounding(1)


@pytest.mark.parametrize("name", ["hub", "frets"])
def test_the_same_takeovers_give_the_same_bits_in_blocks_of_any_size(name: str) -> None:
    sounds = []
    for block in (37, 320):
        stage = Stage(name)
        stage.send(on(KEY))
        stage.send(cc(1, 60))
        out = np.zeros((AT, 2), np.float32)
        for n, at in enumerate(range(0, AT, 3200)):
            if n:
                stage.follow({"barrier.curvature": 0.75 + 0.2 * n})
            for begin in range(at, at + 3200, block):
                piece = out[begin : min(begin + block, at + 3200)]
                play_together(stage.seats.address, len(piece), piece.ctypes.data)
        sounds.append(out)
    np.testing.assert_array_equal(*sounds)
