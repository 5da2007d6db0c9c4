"""Overrides: what they change, what they make moot, what is wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import PresetError
from engine.preset.loader import load_preset

WIRE = {"length": "880 mm", "diameter": "0.3 mm", "material": "steel"}
TUNED = {"string": WIRE | {"tuned": "F#3"}}
STRING = {"length": 1.0, "density": 1e-3, "tension": 100.0}
SITAR = {
    "string": STRING | {"stiffness": 1e-4},
    "barrier": {"profile": "parabola", "to": 0.03, "curvature": 0.75, "points": 5},
    "pickups": [{"at": 0.1}, {"at": 0.9}],
}


def complaint(source: Any, overrides: Any = None) -> str:
    with pytest.raises(PresetError) as error:
        load_preset(source, overrides)
    return str(error.value)


@pytest.mark.parametrize(
    ("base", "overrides", "same_as"),
    [
        (TUNED, {"string.length": "60 cm"}, {"string": WIRE | {"length": 0.6, "tuned": "F#3"}}),
        (TUNED, ["string.length=60 cm"], {"string": WIRE | {"length": 0.6, "tuned": "F#3"}}),
        (TUNED, ['string.length="60 cm"'], {"string": WIRE | {"length": 0.6, "tuned": "F#3"}}),
        (TUNED, "string.length = 0.6", {"string": WIRE | {"length": 0.6, "tuned": "F#3"}}),
        (TUNED, {"string": {"length": 0.6}}, {"string": WIRE | {"length": 0.6, "tuned": "F#3"}}),
        (TUNED, ["string.length=2", "string.length=0.6"], {"string": WIRE | {"length": 0.6, "tuned": "F#3"}}),
        (TUNED, ["string.tuned=A3"], {"string": WIRE | {"tuned": "A3"}}),
        (TUNED, ["string.tuned.pitch=220 Hz"], {"string": WIRE | {"tuned": "A3"}}),
        (TUNED, {"string": {"tuned": {"pitch": "A3"}}}, {"string": WIRE | {"tuned": "A3"}}),
        (TUNED, ["string.tension=50"], {"string": WIRE | {"tension": 50}}),
        (SITAR, ["string.tuned=A3"],
         SITAR | {"string": {"length": 1, "density": 1e-3, "stiffness": 1e-4, "tuned": "A3"}}),
        (SITAR, ["string.diameter=0.4 mm", "string.material=brass"],
         SITAR | {"string": {"length": 1, "tension": 100, "diameter": 4e-4, "material": "brass"}}),
        (SITAR, ["string.density=2 g/m", "string.diameter=0.4 mm", "string.material=brass"],
         SITAR | {"string": {"length": 1, "tension": 100, "density": 2e-3, "diameter": 4e-4, "material": "brass"}}),
        (SITAR, ["barrier.profile=flat"], SITAR | {"barrier": {"profile": "flat", "to": 0.03, "points": 5}}),
        (SITAR, ["barrier.profile=points", "barrier.at=[[5 mm, 0]]"],
         SITAR | {"barrier": {"profile": "points", "to": 0.03, "at": [[0.005, 0]]}}),
        (SITAR, {"barrier": {"profile": "polynomial", "coefficients": [0.0, 1.0]}},
         SITAR | {"barrier": {"profile": "polynomial", "to": 0.03, "coefficients": [0.0, 1.0], "points": 5}}),
        (SITAR, ["barrier={profile: flat, height: 1 mm}"],
         SITAR | {"barrier": {"profile": "flat", "to": 0.03, "height": 1e-3, "points": 5}}),
        (SITAR, ["barrier=null"], {k: v for k, v in SITAR.items() if k != "barrier"}),
        (SITAR, {"barrier": None}, {k: v for k, v in SITAR.items() if k != "barrier"}),
        (SITAR, {"barrier.curvature": np.float64(0.5)},
         SITAR | {"barrier": {"profile": "parabola", "to": 0.03, "curvature": 0.5, "points": 5}}),
        (SITAR, ["pickups.0.at=0.2"], SITAR | {"pickups": [{"at": 0.2}, {"at": 0.9}]}),
        (SITAR, {"pickups.1": {"kind": "velocity"}},
         SITAR | {"pickups": [{"at": 0.1}, {"at": 0.9, "kind": "velocity"}]}),
        (SITAR, ["pickups=[{at: 0.2}]"], SITAR | {"pickups": [{"at": 0.2}]}),
        (TUNED, ["pickups.0.at=0.2"], TUNED | {"pickups": [{"at": 0.2}]}),
        (TUNED, ["name=off", "about=a = b"], TUNED | {"name": "off", "about": "a = b"}),
        ({"name": "a"}, {"string": WIRE | {"tuned": "A3"}}, {"name": "a", "string": WIRE | {"tuned": "A3"}}),
        ({"string": None}, {"string": WIRE | {"tuned": "A3"}}, {"string": WIRE | {"tuned": "A3"}}),
        ({"string": 5}, {"string": WIRE | {"tuned": "A3"}}, {"string": WIRE | {"tuned": "A3"}}),
        (TUNED, None, TUNED),
        (TUNED, [], TUNED),
        (TUNED, {}, TUNED),
    ],
)  # fmt: skip
def test_an_override_is_the_same_as_a_changed_preset(base: Any, overrides: Any, same_as: Any) -> None:
    before = repr(base)
    assert load_preset(base, overrides) == load_preset(same_as)
    assert repr(base) == before


def test_tension_follows_a_length_that_is_overridden() -> None:
    long, short = load_preset(TUNED), load_preset(TUNED, {"string.length": 0.44})
    # Up to the share of stiffness in the pitch, tension goes with the square of the length.
    assert short.problem.string.tension == pytest.approx(long.problem.string.tension / 4, rel=1e-3)
    assert short.problem.string.loss != long.problem.string.loss


@pytest.mark.parametrize(
    ("override", "line"),
    [
        ("string.lenght=1", "--set: string.lenght = 1: there is no such key; did you mean string.length?"),
        ("strin.length=1", "--set: strin = {...}: there is no such key; did you mean string?"),
        ("string.length=1 N", "--set: string.length = 1 N: must be a length in m, not in N; write it like 880 mm"),
        ("string.length=-1", "--set: string.length = -1: must be at least 0.001 m; raise it"),
        ("string.length=", "--set: string.length= is not key=value; write it like string.length=0.6"),
        ("string.length", "--set: string.length is not key=value; write it like string.length=0.6"),
        ("=1", "--set: =1 is not key=value; write it like string.length=0.6"),
        ("string=1", "--set: string = 1: must be a group of keys; "),
        ("string.length=[", "--set: string.length: is not valid YAML: "),
        ("string.length=*a", "--set: string.length = *a: aliases are not accepted; "),
        ("string.length=a: b: c", "--set: string.length: is not valid YAML: "),
        ("string.length=\ud800", "--set: string.length: holds characters that are not text; "),
        ("pickups.5.at=0.2", "--set: pickups.5.at = 0.2: there is no such item; "),
        ("pickups.x.at=0.2", "--set: pickups.x.at = 0.2: there is no such item; "),
        ("pickups.at=0.2", "--set: pickups.at = 0.2: there is no such item; "),
        ("a.b.c.d.e.f.g.h=1", "--set: a.b.c.d.e.f.g.h = 1: there is no such key; "),
        ("string.tuned=A3", "--set: string.tuned = A3: contradicts string.tension; keep one of them"),
    ],
)
def test_errors_of_overrides_name_them(override: str, line: str) -> None:
    overrides = [override] if "A3" not in override else [override, "string.tension=5"]
    assert any(found.startswith(line) for found in complaint(SITAR, overrides).split("\n"))
    assert "--set: 5 is not text" in complaint(SITAR, [5])


def test_errors_of_file_and_overrides_come_together(tmp_path: Path) -> None:
    path = tmp_path / "test.yaml"
    path.write_text("string: {length: 1, density: 1 N, tension: 100}\n")
    first, second = complaint(path, ["string.length=5 s"]).split("\n")
    assert first.startswith("--set: string.length = 5 s: ")
    assert second.startswith(f"{path}:1: string.density = 1 N: ")
