"""Every key of the table: its default, its range, its dimension, and where its errors say it stands."""

from __future__ import annotations

import re
from copy import deepcopy
from math import isfinite
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.errors import PresetError
from engine.preset.key import Key
from engine.preset.loader import load_preset
from engine.preset.schema import GROUPS, KEYS, LISTED, PROFILES, REPEATED, TABLE, nearest, render_markdown, render_text
from engine.units import QUANTITIES

PROFILE_KEYS: dict[str, Any] = {
    "parabola": {"curvature": 0.5},
    "flat": {},
    "polynomial": {"coefficients": [0.0, 0.1]},
    "points": {"at": [[0.1, 0.0]]},
    "table": {"table": [[0.0, 0.0], [0.5, -0.1]]},
}
# A legal value of every key that is not its default.
SAMPLES: dict[str, Any] = {
    "name": "Other",
    "about": "Something else.",
    "family": "Others",
    "tags": ["one", "two words"],
    "model": "fd",
    "quality": "best",
    "string.length": 0.7,
    "string.density": 2e-3,
    "string.diameter": 5e-4,
    "string.material": "brass",
    "string.tension": 50.0,
    "string.tuned": "A2",
    "string.stiffness": 1e-4,
    "string.loss.s0": 1.0,
    "string.loss.s1": 1e-3,
    "string.loss.s2": 1e-4,
    "string.loss.s3": 1e-6,
    "string.keys": "length",
    "barrier.profile": "flat",
    "barrier.from": 0.1,
    "barrier.to": 0.25,
    "barrier.height": -1e-3,
    "barrier.curvature": 1.5,
    "barrier.coefficients": [0.0, -0.1, 2.0],
    "barrier.at": [[0.2, -1e-3], [0.1, 0.0]],
    "barrier.table": [[0.0, 0.0], [0.1, -1e-3], [0.2, -3e-3]],
    "barrier.points": 5,
    "contact.stiffness": 1e7,
    "contact.exponent": 1.5,
    "contact.damping": 0.3,
    "excitation.position": 0.2,
    "excitation.force": -2.0,
    "excitation.duration": 1e-3,
    "excitation.shape": "drawn",
    "pickups.at": 0.7,
    "pickups.kind": "velocity",
    "pickups.width": "25 mm",
    "pickups.distance": "5 cm",
    "oversample": 4,
    "polyphony": 4,
    "gain": "-6 dB",
    "release": 1.0,
    "tuning": "just on D, A4=432",
    "intonation": "string",
    "velocity.force": 2.0,
    "velocity.duration": 0.0,
    "tracking.duration": -0.5,
    "tracking.force": 1.0,
    "tracking.position": 1.0,
    "tracking.release": -0.5,
    "tracking.hearing": 1.0,
    "voicing": [["C2", "-3 dB"], ["C4", 1.5]],
    "compass": "C2-C6",
    "pickups.pan": -0.5,
    "string.stretching": True,
    "string.elasticity": "3e4 N",
    "string.band": "8 kHz",
    "barrier.stands": "frame",
    "barrier.friction": 0.2,
    "barrier.mirrored": "yes",
    "excitation.angle": "20°",
    "exciter.kind": "hammer",
    "exciter.by": "2 mm",
    "exciter.duration": "5 ms",
    "exciter.slip": "1.5 N",
    "exciter.damping": "0.2 kg/s",
    "exciter.mass": "4 g",
    "exciter.speed": "3 m/s",
    "exciter.exponent": 2.0,
    "exciter.stiffness": 3e5,
    "exciter.hysteresis": 0.1,
    "damper.at": 0.3,
    "damper.resistance": "1 kg/s",
    "damper.stiffness": "100 N/m",
    "knock.force": "-0.5 N",
    "knock.duration": "0.8 ms",
    "knock.after": 0.9,
    "damper.mass": "1 g",
    "damper.duration": "5 ms",
    "ports.at": 0.25,
    "ports.mass": "3 g",
    "ports.stiffness": "2e4 N/m",
    "ports.resistance": "1 kg/s",
    "ports.rattle": "2 g",
    "ports.gap": "0.2 mm",
    "ports.angle": "45 deg",
    "planes.angle": "90°",
    "planes.detuned": "0.7 cents",
    "planes.loss": 1.5,
    "planes.band": "6 kHz",
    "courses.ratio": "3/2",
    "courses.detuned": "2 ct",
    "courses.onset": "5 ms",
    "courses.force": 0.7,
    "courses.stop": "second",
    "registers.first": 0.5,
    "registers.second": "20 %",
    "registers.third": 0,
    "registers.fourth": 0.9,
    "strings.played": "C2-C5",
    "strings.sympathetic": ["C4", "330 Hz"],
    "strings.mono": "yes",
    "strings.legato": "pedal",
    "strings.finger": 0.7,
    "strings.weight": 0.5,
    "body.name": "guitar",
    "body.scale": 1.2,
    "body.weight": 0.7,
    "body.directions": ["30°"],
    "body.radiates": "200 Hz",
    "body.modes.frequency": "104 Hz",
    "body.modes.quality": 20,
    "body.modes.mass": "112 g",
    "body.modes.moves": [0.5],
    "body.modes.struck": -0.3,
    "body.modes.left": 0.8,
    "body.modes.right": -0.5,
    "body.plate.density": "0.02 1/Hz",
    "body.plate.mass": "200 g",
    "body.plate.loss": 0.05,
    "body.plate.from": "500 Hz",
    "body.plate.to": "2 kHz",
    "body.plate.seed": 3,
    "coupling": "one-way",
    "circuit.kind": "crystal",
    "circuit.inductance": "3 H",
    "circuit.resistance": "6 kΩ",
    "circuit.capacitance": "0.4 nF",
    "circuit.load": "500 kohm",
    "room.share": 0.4,
    "room.decay": "1 s",
    "room.size": "8 m",
    "map.source": "cc2",
    "map.to": "string.loss.s0",
    "map.range": [3.0, 9.0],
    "bend": "-20 cents",
    "strum.spread": "20 ms",
    "strum.window": "40 ms",
    "strum.order": "up",
    "strum.accent": -5,
    "drone.order": ["G2", "C3+G3 2 90", "- .5"],
    "drone.tempo": 72,
    "drone.swing": 0.3,
    "drone.spread": "20 ms",
    "drone.loose": "5 ms",
    "drone.velocity": 100,
    "phrase": "C4:0:2 E4:.5:2:80",
}
# What stands around a key of a group: of a list, around each item.
AROUND: dict[str, Any] = {
    "strings": [{}],
    "exciter": {},
    "damper": {},
    "ports": [{"at": 0.5, "mass": 1e-3}],
    "planes": [{}],
    "courses": [{}],
    "body": {},
    "body.modes": [{"frequency": 200.0, "mass": 0.2}],
    "body.plate": {"density": 0.01, "mass": 0.3, "from": 300.0},
    "circuit": {},
    "room": {},
    "strum": {},
    "registers": {},
    "knock": {},
    "drone": {"order": ["C3"]},
}
IN_MAP = {"source": "pressure", "to": "gain", "range": [2.0, 4.0]}
WITH_DEFAULT = [key for key in TABLE if key.default is not None]
NUMBERS = ("number", "whole", "count", "pitch", "level", "angle", "cents", "ratio")
RANGED = [key for key in TABLE if key.kind in NUMBERS and not key.choices]
LISTS = [key for key in TABLE if key.kind in LISTED]
WRONG = {
    "text": ["loud", "louder"],
    "choice": "nonsense",
    "words": "bright",
    "number": "3 kg²",
    "whole": "3 m",
    "count": "3 m",
    "pitch": "3 m",
    "numbers": ["3 kg²"],
    "pairs": [["3 kg²", 0.0]],
    "table": [[0.0, 0.0], [0.1, "3 kg²"]],
    "level": "3 kg²",
    "tuning": ["just"],
    "source": "cc64",
    "span": [1.0, "3 kg²"],
    "notes": "C4:0",
    "angle": "3 kg²",
    "cents": "3 kg²",
    "ratio": "3 kg²",
    "switch": "maybe",
    "range": "C5-C2",
    "pitches": ["3 m"],
    "weights": ["3 kg²"],
    "angles": ["3 kg²"],
    "strokes": ["C3 2", "H2"],
    "voices": [["C4", "1 dB"], ["C3", "1 dB"]],
}


def by_name(key: Key) -> str:
    return key.name


def around(key: Key) -> dict[str, Any]:
    """A preset in which this key has its place, but does not stand."""
    document: dict[str, Any] = {"string": {"length": 1.0, "density": 1e-3, "tension": 100.0}}
    string = document["string"]
    if key.name.startswith("barrier."):
        profile = key.profiles[0] if key.profiles else "flat"
        document["barrier"] = {"profile": profile} | PROFILE_KEYS[profile]
    if key.name.startswith("map."):
        document["map"] = [dict(IN_MAP)]
    if key.name == "barrier.friction":
        document["planes"] = [{}, {"angle": 90}]
    if key.name == "string.tuned":
        del string["tension"]
    if key.name.startswith("string.stretching"):
        string["elasticity"] = 2e4
    if key.name.startswith("knock."):
        document["body"] = {"name": "skin"}
    groups = key.name.split(".")[:-1]
    for n in range(len(groups)):
        group, place = ".".join(groups[: n + 1]), document
        for word in groups[:n]:
            place = place[word]
        if group in AROUND and groups[n] not in place:
            place[groups[n]] = deepcopy(AROUND[group])
    if groups[:1] == ["exciter"] and key.profiles:
        document["exciter"]["kind"] = key.profiles[0]
    if key.name in ("body.scale", "body.weight"):
        document["body"]["name"] = "guitar"
    if key.name == "body.directions":
        document["body"]["modes"] = deepcopy(AROUND["body.modes"])
    if key.name == "strings.sympathetic":
        document["strings"].append({})
    if key.name in ("strings.legato", "strings.finger"):
        document["strings"][0]["mono"] = True
    if key.name == "pickups.distance":
        document["pickups"] = [{"kind": "air"}]
    if key.name == "ports.gap":
        document["ports"][0]["rattle"] = 1e-3
    if key.name == "ports.mass":
        document["ports"] = [{"at": 0.5, "stiffness": 1e3}]
    if key.name in ("string.diameter", "string.material", "string.elasticity"):
        del string["density"]
        string |= {"diameter": 1e-3, "material": "steel"}
    if key.name == "string.elasticity":
        string["stretching"] = True
    return document


def with_value(key: Key, value: Any) -> dict[str, Any]:
    document = around(key)
    if key.name.startswith("pickups.") and "pickups" not in document:
        document["pickups"] = [{}]
    place_of(key, document)[key.name.rpartition(".")[2]] = value
    return document


def place_of(key: Key, document: dict[str, Any]) -> dict[str, Any]:
    """The group in which a key stands, the first of a list."""
    place = document
    for word in key.name.split(".")[:-1]:
        inner = place.setdefault(word, {})
        place = inner[0] if isinstance(inner, list) else inner
    return place


def first(name: str) -> str:
    """The path of a key: of a list's, in its first item."""
    group, _, leaf = name.rpartition(".")
    return f"{group}.0.{leaf}" if group in REPEATED else name


def refusal(tmp_path: Path, key: Key, value: Any) -> str:
    """The one line that refuses a value in a file, checked for its place and key."""
    text = yaml.safe_dump(with_value(key, value), sort_keys=False)
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    leaf = key.name.rpartition(".")[2]
    line = max(n for n, row in enumerate(text.splitlines(), 1) if re.match(rf"\W*{leaf}:", row))
    with pytest.raises(PresetError) as error:
        load_preset(path)
    message = str(error.value)
    assert message.startswith(f"{path}:{line}: {first(key.name)} = "), message
    assert "\n" not in message
    assert "; " in message
    return message


@pytest.mark.parametrize("key", WITH_DEFAULT, ids=by_name)
def test_the_default_is_what_is_meant_without_the_key(key: Key) -> None:
    value = key.default if key.default != "" else "  "
    assert load_preset(with_value(key, value)) == load_preset(around(key))


@pytest.mark.parametrize("key", TABLE, ids=by_name)
def test_a_legal_value_is_accepted_and_matters(key: Key) -> None:
    loaded = load_preset(with_value(key, SAMPLES[key.name]))
    other = with_value(key, "A3") if key.name == "string.tuned" else around(key)
    if key.name != "barrier.profile":  # `around` gives a flat one already
        assert loaded != load_preset(other)


@pytest.mark.parametrize("key", RANGED, ids=by_name)
@pytest.mark.parametrize("side", ["low", "high"])
def test_outside_the_range_is_refused_with_the_limit(key: Key, side: str, tmp_path: Path) -> None:
    limit = getattr(key, side)
    step = max(1.0, 0.5 * abs(limit))
    value = limit - step if side == "low" else limit + step
    message = refusal(tmp_path, key, int(value) if key.kind in ("whole", "count") else value)
    assert f"must be at {'least' if side == 'low' else 'most'} {limit:g}" in message
    assert ("raise it" if side == "low" else "lower it") in message


@pytest.mark.parametrize("key", LISTS, ids=by_name)
def test_lists_have_a_range_of_lengths(key: Key, tmp_path: Path) -> None:
    item: Any = {"numbers": 0.0, "weights": 0.0, "angles": 0.0, "pitches": "C4"}.get(key.kind, [0.1, 0.0])
    for count in (int(key.low) - 1, int(key.high) + 1):
        assert f"must have {key.low:g} to {key.high:g} items, not {count}" in refusal(
            tmp_path, key, [deepcopy(item) for _ in range(count)]
        )


@pytest.mark.parametrize("key", TABLE, ids=by_name)
def test_a_wrong_type_or_dimension_is_refused(key: Key, tmp_path: Path) -> None:
    message = refusal(tmp_path, key, WRONG[key.kind])
    assert "must be" in message
    if key.kind == "choice":
        assert all(str(choice) in message for choice in key.choices)


@pytest.mark.parametrize("key", [k for k in TABLE if k.kind != "text"], ids=by_name)
@pytest.mark.parametrize("value", [True, False, {"a": 1}], ids=str)
def test_booleans_and_groups_are_no_values(key: Key, value: Any) -> None:
    if key.kind == "switch" and isinstance(value, bool):
        return
    with pytest.raises(PresetError, match=r"preset: .*must"):
        load_preset(with_value(key, value))


@pytest.mark.parametrize("key", [k for k in TABLE if k.required], ids=by_name)
def test_what_is_required_is_asked_for(key: Key) -> None:
    document, leaf = with_value(key, SAMPLES[key.name]), key.name.rpartition(".")[2]
    del place_of(key, document)[leaf]
    path = first(key.name)
    with pytest.raises(PresetError) as error:
        load_preset(document)
    example = f"{leaf}: {QUANTITIES[key.unit][1]}" if key.kind == "number" else "it"
    assert str(error.value) == f"preset: {path} = (not given): is required; add {example}"


@pytest.mark.parametrize("key", [k for k in TABLE if k.profiles and k.name.startswith("barrier.")], ids=by_name)
@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_has_its_own_keys_only(key: Key, profile: str) -> None:
    document = with_value(key, SAMPLES[key.name])
    value = document["barrier"][key.name.split(".")[1]]
    document["barrier"] = {"profile": profile} | PROFILE_KEYS[profile] | {key.name.split(".")[1]: value}
    if profile in key.profiles:
        assert load_preset(document).problem.barrier is not None
    else:
        with pytest.raises(PresetError, match=rf"^preset: {key.name} = .*, not to {profile}; remove it$"):
            load_preset(document)


@pytest.mark.parametrize("key", TABLE, ids=by_name)
def test_both_renderings_tell_everything(key: Key) -> None:
    row = next(row for row in render_markdown().splitlines() if f"`{key.name}`" in row)
    assert row.count("|") == 6
    for fact in (key.unit, key.meaning, *map(str, key.choices)):
        assert fact in row
    if not key.choices and isfinite(key.low):
        counted = {"text": " characters", "notes": " characters", "words": " words"}.get(key.kind, "")
        counted = " items" if key in LISTS else counted
        auto = "auto, " if key.kind == "count" else ""
        assert f"| {auto}{key.low:g} to {key.high:g}{counted} |" in row
    assert re.search(rf"^{re.escape(key.name)}  \(", render_text(), re.MULTILINE)
    if key.kind == "switch":
        assert "| no, yes | no |" in row
    elif key.default is not None:
        assert (f"{key.default:g}" if isinstance(key.default, float) else str(key.default)) in row


def test_text_rendering_keeps_its_width() -> None:
    assert all(len(line) <= 80 for line in render_text(80).splitlines() if line.startswith(" "))


@pytest.mark.parametrize("name", [n for n in (*KEYS, *GROUPS) if len(n.rpartition(".")[2]) > 4])
def test_a_slip_of_the_pen_is_recognised(name: str) -> None:
    slips = (name[:-1], name[:-2] + name[-1], name + "s", name[:-2] + name[-1] + name[-2])
    meant = {f"did you mean {name}?"} | ({"did you mean string?"} if name == "strings" else set())
    assert all(slip in (*KEYS, *GROUPS) or nearest(slip) in meant for slip in slips)


def test_a_key_in_the_wrong_place_is_recognised() -> None:
    assert nearest("curvature") == "did you mean barrier.curvature?"
    assert nearest("excitation.tension") == "did you mean string.tension?"
    assert (
        nearest("barrier.zzz")
        == "known in barrier: profile, from, to, height, curvature, coefficients, table, at, points, stands, friction, "
        "mirrored"
    )
