"""Instruments of several strings: what their YAML says and what is refused of it, with its place and the remedy."""

from __future__ import annotations

import json
import warnings
from copy import deepcopy
from dataclasses import replace
from math import inf, pi, radians
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from one_string import ONE_STRING
from robustness_parts.random_instruments import random_instrument

from engine.errors import EngineError, PhysicsError, PhysicsWarning, PresetError
from engine.physics.network.bodies import named, playable
from engine.physics.network.parts import Against, Body, Link, Plane, Resonance
from engine.physics.problem import Contact
from engine.preset.assembly import Assembly, Blowing, Course, Felt, Plucking, Rattle
from engine.preset.loader import Preset, load_preset
from engine.preset.plain import again, plain
from engine.preset.room import Room

HERE = Path(__file__).parent / "instruments"
WIRE = {"length": 0.65, "diameter": 4e-4, "material": "steel", "tuned": "A3"}
BASE: dict[str, Any] = {
    "string": WIRE | {"keys": "length"},
    "strings": [{"played": "A3-G#4"}, {"played": "A4-A5", "string": {"tuned": "A4", "length": 0.4}}],
}


def made(**more: Any) -> Assembly:
    """The instrument of one string a key, with more keys."""
    assembly = load_preset({"string": WIRE} | more).assembly
    assert assembly is not None
    return assembly


def complaints(document: dict[str, Any], *overrides: str) -> list[str]:
    with pytest.raises(PresetError) as error:
        load_preset(deepcopy(document), list(overrides))
    return str(error.value).splitlines()


def doubts(document: dict[str, Any], *overrides: str) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PhysicsWarning)
        load_preset(deepcopy(document), list(overrides))
    return [str(warning.message) for warning in caught]


# --- what is said -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ONE_STRING)
def test_a_preset_that_asks_for_none_of_it_has_none(name: str) -> None:
    assert load_preset(name).assembly is None


def test_a_body_alone_carries_a_string_for_each_key() -> None:
    a = made(body={"name": "guitar", "scale": 1.1, "weight": 0.5})
    (played,) = a.played
    assert (played.lowest, played.highest, played.keys, played.mono) == (0, 127, "tension", False)
    assert (played.courses, played.felt, played.rattles) == ((Course(),), None, ())
    assert played.exciter == load_preset({"string": WIRE}).problem.excitation
    assert played.strung.string == load_preset({"string": WIRE}).problem.string
    assert a.body == named("guitar", 1.1, 0.5)
    assert (a.sympathetic, a.coupling) == ((), "two-way")


def test_an_entry_has_what_it_says_and_else_what_is_said_for_all() -> None:
    a = made(
        barrier={"profile": "parabola", "to": 0.02, "curvature": 0.5},
        planes=[{"angle": 0}, {"angle": 90, "loss": 2}],
        strings=[
            {"played": "C2-B2"},
            {"played": "C3", "weight": 0.5, "string": {"tension": 50.0, "keys": "length"}, "planes": [{}]},
            {"played": "D3-E3", "barrier": {"profile": "points", "at": [[0.005, 0.0]], "stands": "frame"},
             "contact": {"stiffness": "1e6 N/m"}},
        ],
    )  # fmt: skip
    first, second, third = a.played
    assert [(p.lowest, p.highest, p.keys) for p in a.played] == [
        (36, 47, "tension"),
        (48, 48, "length"),
        (50, 52, "tension"),
    ]
    assert first.strung.planes == (Plane(), Plane(pi / 2, lossy=2.0))
    assert first.strung.planes[1].loss_of(first.strung.string).s1 == 2.0 * first.strung.string.loss.s1
    assert second.strung.planes == (Plane(),)
    assert (second.strung.string.tension, second.strung.weight) == (50.0, 0.5)
    (bridge,), (edge,) = first.strung.ports, third.strung.ports
    assert isinstance(bridge, Against)
    assert isinstance(edge, Against)
    assert (bridge.stands, bridge.contact) == ("bridge", Contact())
    assert (edge.stands, edge.contact.stiffness, edge.barrier.height) == ("frame", 1e6, 0.0)


def test_another_wire_puts_the_wire_of_all_out_of_force() -> None:
    a = made(
        strings=[
            {"played": "C3", "string": {"density": "2 g/m"}},  # a core of the steel above, overspun
            {"played": "D3", "string": {"diameter": 1e-3, "material": "brass", "tension": 100.0}},
        ],
    )
    wound, brass = (p.strung.string for p in a.played)
    assert wound.density == 2e-3
    assert wound.stiffness == pytest.approx(200e9 * pi * 4e-4**4 / 64)
    assert brass.density == pytest.approx(8500.0 * pi * 1e-6 / 4)
    assert brass.tension == 100.0


@pytest.mark.parametrize("keys", ["tension", "length"])
def test_strings_that_answer_are_at_their_pitch(keys: str) -> None:
    entry = {"sympathetic": ["C4", 330.0, "440 Hz"], "string": {"keys": keys}, "ports": [{"at": 0.5, "mass": 1e-4}]}
    a = made(strings=[{"played": "A3"}, entry])
    for strung, pitch in zip(a.sympathetic, (261.6256, 330.0, 440.0), strict=True):
        s = strung.string
        b = pi / s.length
        assert float(s.undamped_frequency(b)) / (2 * pi) == pytest.approx(pitch, rel=1e-6)
        (bolt,) = strung.ports
        assert isinstance(bolt, Link)
        assert bolt.at == pytest.approx(0.5 * s.length)
    same = {strung.string.length for strung in a.sympathetic}, {strung.string.tension for strung in a.sympathetic}
    assert [len(values) for values in same] == ([1, 3] if keys == "tension" else [3, 1])


def test_strings_that_answer_need_no_pitch_beside_theirs() -> None:
    wire = {"length": 0.65, "diameter": 4e-4, "material": "steel"}
    document = {"string": wire, "strings": [{"played": "A3", "string": {"tuned": "A3"}}, {"sympathetic": ["C4"]}]}
    assert load_preset(document).assembly.sympathetic[0].string.length == 0.65  # type: ignore[union-attr]


def test_a_room_is_around_any_preset_and_changes_nothing_in_it() -> None:
    bare = load_preset({"string": WIRE, "model": "fd"})
    around = load_preset({"string": WIRE, "model": "fd", "room": {"decay": "1 s"}})
    assert around == replace(bare, room=Room(0.2, 1.0, 4.0))
    assert load_preset({"string": WIRE, "room": {"share": 0}}).room is None
    assert again(json.loads(json.dumps(plain(around))), Preset) == around
    for wrong in ({"share": 1.5}, {"size": 1e9}, {"decay": -1.0}):  # a saved instrument's is not believed
        with pytest.raises(PresetError):
            again({"is": "Room"} | wrong, Room)
    (said,) = doubts({"string": WIRE}, "room={decay: 10 ms, size: 7 m}")
    assert said == (
        "--set: room.decay = 10 ms: sound takes 20.4 ms across 7 m, and hardly comes back; "
        "lengthen it, or take a smaller room"
    )


def test_what_strikes_damps_and_hangs_is_read() -> None:
    a = made(
        exciter={"kind": "hammer", "mass": "3 g", "speed": "3 m/s", "stiffness": "4.5e9 N/m^2.5", "hysteresis": 0.1},
        excitation={"position": 0.12, "angle": "30°"},
        damper={"at": 0.2, "resistance": "1 kg/s", "duration": "10 ms"},
        ports=[
            {"at": 0.25, "mass": "4 g", "angle": 90},
            {"at": 0.5, "stiffness": "2e4 N/m", "resistance": "1 kg/s"},
            {"at": 0.75, "rattle": "1 g", "gap": "0.2 mm"},
        ],
        courses=[{}, {"ratio": "3/2", "detuned": "2 cents", "onset": "3 ms", "force": 0.5}],
        coupling="one-way",
    )
    (played,) = a.played
    assert played.exciter == Blowing(0.12, 3e-3, 3.0, Contact(4.5e9, 2.5, 0.1))
    assert played.felt == Felt(0.2, 0.0, 1.0, 0.0, 0.01)
    assert played.strung.ports == (
        Link(0.25 * 0.65, mass=4e-3, angle=radians(90)),
        Link(0.5 * 0.65, stiffness=2e4, resistance=1.0),
    )
    assert played.rattles == (Rattle(0.75 * 0.65, 1e-3, 2e-4),)
    assert played.courses == (Course(), Course(1.5, 2.0, 3e-3, 0.5))
    assert played.strung.struck == radians(30)
    assert (a.coupling, a.body) == ("one-way", Body())
    (plucked,) = made(exciter={"kind": "plectrum", "by": "2 mm", "stiffness": 5e3, "damping": 0.1}).played
    assert plucked.exciter == Plucking(0.85, 2e-3, 0.02, 2.0, Contact(5e3, 1.0), 0.1)


def test_a_body_is_listed_mode_by_mode() -> None:
    listed = [
        {"frequency": "104 Hz", "quality": 29, "mass": "112 g", "moves": [1, 0.5], "right": -0.5},
        {"frequency": 219, "mass": 0.1},
    ]
    body = made(body={"modes": listed, "directions": ["0°", "90 deg"], "radiates": "100 Hz"}).body
    assert body.modes == (
        Resonance(104.0, 29.0, 0.112, (1.0, 0.5), (1.0, -0.5)),
        Resonance(219.0, 30.0, 0.1, (1.0, 1.0), (1.0, 1.0)),
    )
    assert body.directions == (0.0, pi / 2)
    assert body.radiates == 100.0
    plate = {"density": "0.02 1/Hz", "mass": "200 g", "from": "300 Hz", "to": "2 kHz"}
    more = made(body={"modes": listed[1:], "plate": plate}).body
    assert 15 < len(more.modes) < 60
    assert all(300.0 < mode.frequency < 2000.0 for mode in more.modes[1:])


def test_tension_grows_where_it_is_asked_for() -> None:
    assert made(string=WIRE | {"stretching": True}).played[0].strung.stretching == pytest.approx(
        200e9 * pi * 4e-4**2 / 4
    )
    assert made(string=WIRE | {"stretching": "yes", "elasticity": "20 kN"}).played[0].strung.stretching == 2e4
    assert load_preset({"string": WIRE | {"stretching": "no", "elasticity": "20 kN"}}).assembly is not None


def test_the_first_string_that_is_played_is_the_presets_own() -> None:
    preset = load_preset(
        {"string": WIRE, "strings": [{"sympathetic": ["C4"]}, {"string": {"tuned": "E4", "keys": "length"}}]}
    )
    assert preset.problem.string == preset.assembly.played[0].strung.string  # type: ignore[union-attr]
    assert preset.problem.string.pitch == pytest.approx(329.6, rel=1e-3)
    assert preset.keys == "length"


def test_pickups_that_are_listed_hear_the_strings() -> None:
    assert made(body={"name": "sitar"}).played[0].strung.listening == ()
    one, other = (
        made(body={"name": "sitar"}, pickups=[{"at": 0.2}, {"at": 0.5, "kind": "velocity"}]).played[0].strung.listening
    )
    assert (one.at, other.at) == pytest.approx((0.13, 0.325))
    heard = load_preset(BASE | {"strings": [{}, {"sympathetic": ["C4"]}], "pickups": [{"at": 0.2}]}).assembly
    assert heard is not None
    assert [len(s.listening) for s in (heard.played[0].strung, *heard.sympathetic)] == [1, 0]
    assert complaints({"string": WIRE, "pickups": [{"at": 0.1}, {"kind": "bridge_force"}]}, "body.name=sitar") == [
        "preset: pickups.1.kind = bridge_force: on a bridge that strings share, the body is heard, the force on it, or "
        "a place on strings; take displacement, velocity or body_force, or leave pickups out"
    ]
    assert complaints({"string": WIRE, "pickups": [{"at": 0.1}, {"kind": "body_force"}]}, "body.name=sitar") == [
        "preset: pickups.1.kind = body_force: the force on the body is heard, or places on strings, not both; remove "
        "one of them"
    ]


def test_the_wheel_may_move_the_barrier_of_an_entry() -> None:
    strings = [{"barrier": {"profile": "flat", "to": 0.02}}]
    wheel = [{"source": "wheel", "to": "barrier.height", "range": ["0 mm", "-0.1 mm"]}]
    assert load_preset({"string": WIRE, "strings": strings, "map": wheel}).controllers
    assert "there is no barrier to move" in complaints({"string": WIRE, "strings": [{}], "map": wheel})[0]


# --- overrides --------------------------------------------------------------------------------------------------------


def test_one_value_of_one_string_is_overridden() -> None:
    preset = load_preset(BASE, ["strings.1.string.length=45 cm", "strings.0.weight=0.5", "body.name=sitar"])
    assert preset.assembly is not None
    first, second = preset.assembly.played
    assert (first.strung.string.length, second.strung.string.length, first.strung.weight) == (0.65, 0.45, 0.5)
    assert len(preset.assembly.body.modes) == 28
    base = BASE | {"strings": [{"string": {"tension": 50}}]}
    assert load_preset(base, ["strings.0.string.tuned=C4"]).problem.string.pitch == pytest.approx(261.6, rel=1e-3)
    ports = BASE | {"ports": [{"at": 0.5, "mass": 1e-3}]}
    assert load_preset(ports, {"ports.0.mass": "2 g"}).assembly.played[1].strung.ports[0].mass == 2e-3  # type: ignore


# --- what is refused --------------------------------------------------------------------------------------------------

WRONG = [
    ("strings.1.string.length=0.5 N", "--set: strings.1.string.length = 0.5 N: must be a length in m, not in N; "),
    ("strings.1.foo=1", "--set: strings.1.foo = 1: there is no such key; known in strings: string, barrier, "),
    ("strings.1.release=1", "--set: strings.1.release = 1: there is no such key; did you mean release?"),
    ("strings.1.strings=1", "--set: strings.1.strings = 1: there is no such key; did you mean "),
    ("strings.5.weight=1", "--set: strings.5.weight = 1: there is no such item; count from 0, or give the whole list"),
    ("strings=3", "--set: strings = 3: must be a list of 1 to 128 strings; write it like ["),
    ("strings=[3]", "--set: strings.0 = 3: must be a group; write it like {played: E2-G#2, "),
    ("strings.1.played=A5-A4", "--set: strings.1.played = A5-A4: must be keys that go up, "),
    ("strings.1.played=high", "--set: strings.1.played = high: must be keys; write them like E2-G#2, or E2"),
    ("strings.1.mono=perhaps", "--set: strings.1.mono = perhaps: must be yes or no; write one of them"),
    ("strings.1.courses=[{ratio: 0/2}]", "--set: strings.1.courses.0.ratio = 0/2: must be at least 0.015625; raise it"),
    ("courses=[{ratio: 1/0}]", "--set: courses.0.ratio = 1/0: must be a ratio of pitches; write it like 2 or 3/2"),
    ("planes=[{}, {}, {}]", "--set: planes = [...]: must be a list of 1 to 2 planes; write it like [{angle: 90°, "),
    ("ports=[{at: 0.5}]", "--set: ports.0 = {...}: nothing hangs there; give it a mass, a stiffness, "),
    ("ports=[{mass: 3 g}]", "--set: ports.0.at = (not given): is required; add at: 0.85"),
    ("ports=[{at: 1, mass: 3 g}]", "--set: ports.0.at = 1: must lie on the string, between 0 and 1; move it"),
    ("ports=[{at: 0.5, mass: 1 g, gap: 1 mm}]", "--set: ports.0.gap = 1 mm: is of a rattle, and there is none; "),
    ("exciter={kind: hammer, slip: 1 N}", "--set: exciter.slip = 1 N: belongs to kind: plectrum, not to hammer; "),
    ("exciter.mass=3 g", "--set: exciter.mass = 3 g: belongs to kind: hammer, not to pulse; remove it"),
    ("body=guitar", "--set: body = guitar: must be a group of keys; write body: with name, scale, weight, "),
    ("body.name=guita", "--set: body.name = guita: must be one of tanpura, sitar, guitar, harp, skin, "),
    ("body.scale=2", "--set: body.scale = 2: is of a body with a name; remove it"),
    ("body.modes=[{frequency: 100}]", "--set: body.modes.0.mass = (not given): is required; add mass: 3 g"),
    ("body={name: sitar, directions: [0, 90]}", "--set: body.directions = [...]: a body with a name moves in one "),
    (
        "body={directions: [0, 90], modes: [{frequency: 100, mass: 1, moves: [1]}]}",
        "--set: body.modes.0.moves = [...]: one number for each of 2 directions of the bridge; give as many",
    ),
    ("body={name: sitar, modes: [{frequency: 9, mass: 1}]}", "--set: body.modes = [...]: a body with a name has its "),
    ("body.plate={density: 1, mass: 1, from: 100}", "--set: body.plate.density = 1: a body has at most 256 modes; "),
    ("body.plate={density: 0.01, mass: 1, from: 4 kHz}", "--set: body.plate.to = 3000: must be above 4000; raise it"),
    ("coupling=half", "--set: coupling = half: must be one of two-way, one-way, none; choose one"),
    ("model=fd", "--set: model = fd: fd is of a string by itself, and strings asks for more; take modal"),
    ("quality=best", "--set: quality = best: best is of a string by itself, and strings asks for more; remove it"),
    (
        "strings.1={played: null, sympathetic: [C4], mono: yes}",
        "--set: strings.1.mono = yes: is of strings that keys play, and these only answer; remove it",
    ),
    (
        "strings=[{sympathetic: [C4]}]",
        "--set: strings = [...]: no key plays any of them; leave sympathetic out of one",
    ),
    (
        "strings.1={played: null, sympathetic: [C4, 20 kHz], string: {length: 20 m, tuned: 9 Hz, keys: tension}}",
        "--set: strings.1.sympathetic = 20000: needs a tension of 6.31e+08 N for 2e+04 Hz, ",
    ),
    (
        "strings.1={barrier: {profile: flat, to: 30 mm, friction: 0.2}}",
        "--set: strings.1.barrier.friction = 0.2: the string has no plane across the barrier for it to rub on; ",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("override", "said"), WRONG, ids=[override for override, _ in WRONG])
def test_what_cannot_be_is_refused_in_one_line(override: str, said: str) -> None:
    lines = complaints(BASE, override)
    assert len(lines) == 1, lines
    assert lines[0].startswith(said), lines[0]
    assert "; " in lines[0]


def test_a_hammer_has_a_force_of_its_own() -> None:
    document = BASE | {"excitation": {"force": 2.0}, "exciter": {"kind": "hammer"}}
    assert complaints(document) == [
        "preset: excitation.force = 2: is of exciter.kind: pulse, and a hammer makes its own; remove it"
    ]
    entry = BASE | {"excitation": {"force": 2.0}, "strings": [{"exciter": {"kind": "hammer"}}]}
    assert load_preset(entry).assembly is not None  # the force is there for the others


def test_more_strings_than_fit_are_counted() -> None:
    many = BASE["strings"] + [{"sympathetic": ["C4"] * 9}, {"sympathetic": ["D4"] * 8}]
    assert complaints(BASE | {"strings": many}) == [
        "preset: strings.3.sympathetic = [...]: 17 strings answer in all, and at most 16 fit; leave some out"
    ]


def test_an_error_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(
        "string: {length: 0.65, density: 1 g/m, tension: 50}\n"
        "strings:\n"
        "  - played: C3-C4\n"
        "  - played: C4-C5\n"
        "    string:\n"
        "      length: 0.5 kg\n"
        "  - {}\n"
        "body:\n"
        "  modes:\n"
        "    - frequency: 100 Hz\n"
        "      quality: 0\n"
        "      mass: 1\n"
    )
    with pytest.raises(PresetError) as error:
        load_preset(path)
    assert [line.split(" = ")[0] for line in str(error.value).splitlines()] == [
        f"{path}:6: strings.1.string.length",
        f"{path}:11: body.modes.0.quality",
    ]


def test_what_is_wrong_for_all_strings_is_told_once() -> None:
    document = {"string": WIRE | {"tension": 50}, "strings": [{"played": "C3"}, {"played": "D3"}]}
    assert complaints(document) == ["preset: string.tuned = A3: contradicts string.tension; keep one of them"]
    nothing = {"strings": [{"played": "C3"}, {"played": "D3"}]}
    assert [line.split(" = ")[0] for line in complaints(nothing)] == [
        f"preset: strings.{n}.string.{word}" for n in (0, 1) for word in ("length", "density", "tension")
    ]


def test_a_body_above_the_rate_is_refused_and_else_cut_off() -> None:
    body = Body((Resonance(100.0, 10.0, 1.0), Resonance(30e3, 10.0, 1.0)))
    assert playable(body, 48e3) == replace(body, modes=body.modes[:1])
    assert playable(body, 96e3) == body
    assert playable(Body(), 48e3) == Body()
    with pytest.raises(PhysicsError, match=r"^body\.modes = 30000: no mode lies below 21600 Hz, 0.45 of the rate; "):
        playable(replace(body, modes=body.modes[1:]), 48e3)


# --- what is doubted --------------------------------------------------------------------------------------------------


def test_a_string_that_breaks_is_warned_of() -> None:
    assert doubts(BASE) == []
    (said,) = doubts(BASE, "strings.1.string.tuned=A5")
    # rho (2 f L)^2 with bending left aside: 7850 (2 · 880 · 0.4)^2 = 3.9 GPa
    assert said.startswith("--set: strings.1.string.tuned = A5: pulls with 3.9 GPa, and steel breaks at 2 GPa; ")
    (said,) = doubts(BASE, "strings.1.played=A4-A6", "strings.1.string.keys=tension")
    assert said.startswith("--set: strings.1.played = A4-A6: pulls with 16 GPa at A6, and steel breaks at 2 GPa; ")
    (said,) = doubts({"string": WIRE, "strings": [{}, {"sympathetic": ["A5"]}]})
    assert said.startswith("preset: strings.1.sympathetic = [...]: pulls with 10 GPa, and steel breaks at 2 GPa; ")
    assert doubts({"string": WIRE, "body": {"name": "sitar"}}) == []  # of all keys nobody means the last


def test_keys_that_nobody_plays_are_told() -> None:
    def ranges(*played: str) -> list[str]:
        strings = [{"played": keys, "string": {"keys": "length"}} for keys in played]
        return [said.split(": ", 2)[2] for said in doubts({"string": WIRE, "strings": strings})]

    assert ranges("C3-E3", "F3-G3") == []
    assert ranges("C3-E3", "G3-C4") == ["F3 to F#3 below it: no string plays there; widen a range"]
    assert ranges("G3-C4", "C3-E3", "F3") == ["F#3 below it: no string plays there; widen a range"]
    assert ranges("C3-G3", "E3-C4") == [
        "E3 to G3: two strings play there, one does elsewhere; let the ranges end there"
    ]
    assert ranges("C3-G3", "C3-G3") == []  # an octave beside every string
    assert ranges("C2-C5", "C3") == []


# --- there and back ---------------------------------------------------------------------------------------------------


def test_strings_with_frets_may_have_keys_in_common() -> None:
    """Each note is played on one of them, as on a guitar."""
    low, high = (
        {"played": played, "mono": True, "string": {"tuned": first}}
        for played, first in (("E2-E4", "E2"), ("A2-A4", "A2"))
    )
    assert doubts({"string": WIRE | {"keys": "length"}, "strings": [low, high]}) == []
    assert len(doubts({"string": WIRE | {"keys": "length"}, "strings": [low, high | {"mono": False}]})) == 1


@pytest.mark.parametrize("file", sorted(HERE.glob("*.yaml")), ids=lambda file: file.stem)
def test_the_examples_are_whole_and_say_nothing_doubtful(file: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", PhysicsWarning)
        preset = load_preset(file)
    assert preset.assembly is not None
    assert preset.assembly.body.modes
    assert 20 <= len(preset.about) <= 90


def test_the_whole_sitar_has_its_strings() -> None:
    a = load_preset(HERE / "sitar-full.yaml").assembly
    assert a is not None
    assert [p.strung.string.tension for p in a.played] == pytest.approx([58.8, 72, 70, 66], rel=0.01)
    assert len(a.sympathetic) == 13
    assert all(s.string.tension == 60.0 and len(s.ports) == 1 for s in a.sympathetic)
    assert 0.3 < min(s.string.length for s in a.sympathetic) < max(s.string.length for s in a.sympathetic) < 0.8


def test_random_instruments_come_back_from_yaml_and_from_plain_data(tmp_path: Path) -> None:
    path, good, codes = tmp_path / "random.yaml", 0, set[int]()
    for n in range(150):
        document = random_instrument(Random(n))
        path.write_text(yaml.safe_dump(document, allow_unicode=True, default_flow_style=bool(n % 2)), encoding="utf-8")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PhysicsWarning)
                preset = load_preset(document)
                assert load_preset(path) == preset
        except PresetError as error:
            codes.add(int(error.exit_code))
            continue
        good += 1
        assert again(json.loads(json.dumps(plain(preset))), Preset) == preset
        assert replace(preset, source="elsewhere") == preset
        for strung in (*(p.strung for p in preset.assembly.played), *preset.assembly.sympathetic):  # type: ignore
            assert strung.band == inf or strung.band >= 20.0
    assert good > 120
    assert codes <= {int(PhysicsError.exit_code)}, "of valid form, though some are impossible"


def test_damaged_instruments_get_lines_and_no_traceback() -> None:
    """Any value of any key put in any place of a random instrument, or left out of it."""
    junk = (None, [], {}, [[]], [{}], "", "3 kg²", -1, 1e300, "nan", True, "C4", ["C4"], {"a": {"b": 1}}, [None], "yes")

    def places(value: Any) -> list[tuple[Any, Any]]:
        if not isinstance(value, dict | list):
            return []
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        return [place for key in keys for place in ((value, key), *places(value[key]))]

    refused = 0
    for n in range(400):
        chance = Random(1000 + n)
        document = random_instrument(chance)
        for _ in range(chance.randint(1, 3)):
            where, key = chance.choice(places(document))
            where[key] = deepcopy(chance.choice(junk))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PhysicsWarning)
                load_preset(document)
        except EngineError as error:
            refused += 1
            for line in str(error).splitlines():
                assert line.startswith("preset: "), line
                assert "; " in line, line
    assert refused > 200
