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
from engine.preset.schema import GROUPS, KEYS, PROFILES, REPEATED, TABLE, nearest, render_markdown, render_text
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
    "oversample": 4,
    "polyphony": 4,
    "gain": "-6 dB",
    "release": 1.0,
    "tuning": "just on D, A4=432",
    "velocity.force": 2.0,
    "velocity.duration": 0.0,
    "tracking.duration": -0.5,
    "tracking.force": 1.0,
    "tracking.position": 1.0,
    "tracking.release": -0.5,
    "pickups.pan": -0.5,
    "map.source": "cc2",
    "map.to": "string.loss.s0",
    "map.range": [3.0, 9.0],
    "phrase": "C4:0:2 E4:.5:2:80",
}
IN_MAP = {"source": "pressure", "to": "gain", "range": [2.0, 4.0]}
WITH_DEFAULT = [key for key in TABLE if key.default is not None]
RANGED = [key for key in TABLE if key.kind in ("number", "whole", "count", "pitch", "level") and not key.choices]
LISTS = [key for key in TABLE if key.kind in ("numbers", "pairs", "table")]
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
    if key.name == "string.tuned":
        del string["tension"]
    if key.name in ("string.diameter", "string.material"):
        del string["density"]
        string |= {"diameter": 1e-3, "material": "steel"}
    return document


def with_value(key: Key, value: Any) -> dict[str, Any]:
    document = around(key)
    group, _, word = key.name.rpartition(".")
    if group in REPEATED:
        return document | {group: [(IN_MAP if group == "map" else {}) | {word: value}]}
    *groups, leaf = key.name.split(".")
    place = document
    for group in groups:
        place = place.setdefault(group, {})
    place[leaf] = value
    return document


def refusal(tmp_path: Path, key: Key, value: Any) -> str:
    """The one line that refuses a value in a file, checked for its place and key."""
    text = yaml.safe_dump(with_value(key, value), sort_keys=False)
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    leaf = key.name.rpartition(".")[2]
    line = next(n for n, row in enumerate(text.splitlines(), 1) if re.match(rf"\W*{leaf}:", row))
    with pytest.raises(PresetError) as error:
        load_preset(path)
    message = str(error.value)
    name = re.sub(r"^(pickups|map)\.", r"\1.0.", key.name)
    assert message.startswith(f"{path}:{line}: {name} = "), message
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
    item: Any = 0.0 if key.kind == "numbers" else [0.1, 0.0]
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
    with pytest.raises(PresetError, match=r"preset: .*must"):
        load_preset(with_value(key, value))


@pytest.mark.parametrize("key", [k for k in TABLE if k.required], ids=by_name)
def test_what_is_required_is_asked_for(key: Key) -> None:
    document = with_value(key, SAMPLES[key.name])
    group, leaf = key.name.split(".")
    items = document[group]
    del (items[0] if group in REPEATED else items)[leaf]
    path = f"{group}.0.{leaf}" if group in REPEATED else key.name
    with pytest.raises(PresetError) as error:
        load_preset(document)
    example = f"{leaf}: {QUANTITIES[key.unit][1]}" if key.kind == "number" else "it"
    assert str(error.value) == f"preset: {path} = (not given): is required; add {example}"


@pytest.mark.parametrize("key", [k for k in TABLE if k.profiles], ids=by_name)
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
    if key.default is not None:
        assert f"{key.default:g}" if isinstance(key.default, float) else str(key.default) in row


def test_text_rendering_keeps_its_width() -> None:
    assert all(len(line) <= 80 for line in render_text(80).splitlines() if line.startswith(" "))


@pytest.mark.parametrize("name", [n for n in (*KEYS, *GROUPS) if len(n.rpartition(".")[2]) > 4])
def test_a_slip_of_the_pen_is_recognised(name: str) -> None:
    slips = (name[:-1], name[:-2] + name[-1], name + "s", name[:-2] + name[-1] + name[-2])
    assert all(slip in (*KEYS, *GROUPS) or nearest(slip) == f"did you mean {name}?" for slip in slips)


def test_a_key_in_the_wrong_place_is_recognised() -> None:
    assert nearest("curvature") == "did you mean barrier.curvature?"
    assert nearest("excitation.tension") == "did you mean string.tension?"
    assert (
        nearest("barrier.zzz")
        == "known in barrier: profile, from, to, height, curvature, coefficients, table, at, points"
    )
