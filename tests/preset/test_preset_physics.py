"""What a preset becomes: strings of wire, barriers of every profile, tables beside the preset, contact, pickups."""

from __future__ import annotations

import re
from math import pi
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import PresetError
from engine.physics.barrier import Obstacles
from engine.physics.string import Loss, String
from engine.preset.loader import Preset, load_preset
from engine.preset.materials import MATERIALS
from engine.units import key_to_hz

STRING = {"length": 1.0, "density": 1e-3, "tension": 100.0}


def string_of(**keys: Any) -> String:
    return load_preset({"string": keys}).problem.string


def heights(x: list[float], **barrier: Any) -> np.ndarray:
    profile = load_preset({"string": STRING, "barrier": barrier}).problem.barrier
    assert not isinstance(profile, Obstacles | None)
    return profile.surface(np.asarray(x))


def complaint(source: Any) -> str:
    with pytest.raises(PresetError) as error:
        load_preset(source)
    return str(error.value)


# Gauges, pitches and tensions of a sitar with strings of 0.88 m, and its steel's stiffness: §6.
@pytest.mark.parametrize(
    ("material", "diameter", "pitch", "density", "tension"),
    [
        ("steel", "0.30 mm", "F#3", 5.55e-4, 58.8),
        ("bronze", "0.40 mm", "C#3", 1.106e-3, 65.8),
        ("bronze", "0.55 mm", "G#2", 2.09e-3, 69.8),
        ("brass", "0.85 mm", "C#2", 4.82e-3, 71.8),
    ],
)
def test_wire_and_pitch_give_the_strings_of_a_sitar(
    material: str, diameter: str, pitch: str, density: float, tension: float
) -> None:
    string = string_of(length="88 cm", material=material, diameter=diameter, tuned=pitch)
    assert string.density == pytest.approx(density, rel=2e-3)
    assert string.tension == pytest.approx(tension, rel=3e-3)
    if material == "steel":
        assert string.stiffness == pytest.approx(7.95e-5, rel=1e-3)


def test_the_rule_for_steel_gives_the_losses_of_the_tanpura() -> None:
    """DAFx-16 table 1: s0 = 0.6, s1 = 6.5e-3, s3 = 5e-6 for this string."""
    loss = string_of(length=1, density="0.483 g/m", tension="33.1 N", stiffness=6.03e-5).loss
    assert (loss.s0, loss.s1, loss.s2, loss.s3) == pytest.approx((0.6, 6.5e-3, 0.0, 5e-6), rel=3e-3)


def test_losses_that_are_given_leave_the_others_zero() -> None:
    assert string_of(**STRING, loss={"s2": 1e-3}).loss == Loss(s2=1e-3)
    assert string_of(**STRING, loss={"s0": 0}).loss == Loss()
    assert string_of(**STRING, loss={}) == string_of(**STRING, loss=None) == string_of(**STRING)


@given(st.integers(36, 96), st.floats(0.3, 2.0), st.sampled_from(sorted(MATERIALS)), st.floats(2e-4, 6e-4))
def test_a_tuned_string_has_its_first_partial_there(key: int, length: float, material: str, diameter: float) -> None:
    pitch = key_to_hz(key)
    string = string_of(length=length, material=material, diameter=diameter, tuned=f"{pitch!r} Hz")
    assert string.undamped_frequency(string.wavenumbers(1))[0] == pytest.approx(2 * pi * pitch, rel=1e-12)


def test_a_core_may_carry_a_heavier_winding() -> None:
    string = string_of(length=1, density="5 g/m", diameter="0.4 mm", material="steel", tension=80)
    assert string.density == 5e-3
    assert string.stiffness == pytest.approx(200e9 * pi * 0.4e-3**4 / 64)


@pytest.mark.parametrize(
    ("keys", "key", "words"),
    [
        ({"length": 1, "tension": 9}, "density", "add it, or diameter and material"),
        ({"length": 1, "density": 1, "tension": 9, "diameter": 1e-3}, "material", "is required beside"),
        ({"length": 1, "density": 1, "tension": 9, "material": "gut"}, "diameter", "is required beside"),
        ({**STRING, "stiffness": 0, "diameter": 1e-3, "material": "gut"}, "diameter", "has no effect"),
        ({**STRING, "tuned": "A3"}, "tuned", "contradicts string.tension"),
        ({"length": 1, "density": 1}, "tension", "add it, or tuned"),
        ({"length": 0.01, "diameter": "5 mm", "material": "steel", "tuned": "C1"}, "tuned", "needs a tension of -"),
        ({"length": 100, "diameter": "50 mm", "material": "steel", "tuned": "C8"}, "tuned", "outside 0.001 to 1e+06 N"),
    ],
)
def test_a_string_is_told_once_and_completely(keys: dict[str, Any], key: str, words: str) -> None:
    line = complaint({"string": keys})
    assert line.startswith(f"preset: string.{key} = {keys.get(key, '(not given)')}: ")
    assert words in line
    assert "\n" not in line


def test_profiles_have_the_shapes_of_the_contract() -> None:
    x = [0.1, 0.15, 0.2]
    span = {"from": "10 cm", "to": "20 cm", "height": "1 mm"}
    s = np.array([0.0, 0.05, 0.1])
    np.testing.assert_allclose(heights(x, profile="flat", **span), 1e-3)
    np.testing.assert_allclose(heights(x, profile="parabola", curvature=0.5, **span), 1e-3 - 0.5 * s**2, atol=1e-15)
    expected = 1e-3 + 0.02 - 0.1 * np.array(x) + 3 * np.array(x) ** 2
    np.testing.assert_allclose(heights(x, profile="polynomial", coefficients=["2 cm", -0.1, "3 1/m"], **span), expected)
    table = [["10 cm", 0], [0.2, "-2 mm"]]
    np.testing.assert_allclose(heights(x, profile="table", table=table, **span), [1e-3, 0.0, -1e-3], atol=1e-15)


def test_points_are_obstacles() -> None:
    barrier = {"profile": "points", "at": [["30 cm", "-1 mm"], [0.1, 0]], "height": "0.5 mm"}
    points = load_preset(
        {"string": STRING, "barrier": barrier, "contact": {"stiffness": "1e6 N/m"}}
    ).problem.modal_points()
    np.testing.assert_allclose(points.position, [0.1, 0.3])
    np.testing.assert_allclose(points.height, [5e-4, -5e-4])
    np.testing.assert_allclose(points.stiffness, 1e6)


def test_obstacles_may_stand_at_the_ends_of_the_barrier() -> None:
    barrier = {"profile": "points", "at": [[0.1, 0], [0.4, 0]], "from": "10 cm", "to": "40 cm"}
    assert load_preset({"string": STRING, "barrier": barrier}).problem.barrier == Obstacles((0.1, 0.4), (0.0, 0.0))


def test_extents_have_sensible_defaults() -> None:
    def extent(**keys: Any) -> tuple[float, float]:
        barrier = load_preset({"string": STRING, "barrier": keys}).problem.barrier
        assert not isinstance(barrier, Obstacles | None)
        return barrier.start, barrier.stop

    assert extent(profile="flat") == (0.0, 1.0)
    assert extent(profile="flat", **{"from": 0.2}) == (0.2, 1.0)
    assert extent(profile="table", table=[[0.1, 0], [0.3, 0]]) == (0.1, 0.3)
    assert extent(profile="table", table=[[0.1, 0], [0.3, 0]], to=0.2) == (0.1, 0.2)


@pytest.mark.parametrize(
    ("barrier", "key", "words"),
    [
        ({"profile": "flat", "from": 0.5, "to": 0.2}, "from", "below barrier.to = 0.2 m"),
        ({"profile": "flat", "to": 1.5}, "to", "at most the string's length, 1 m"),
        ({"profile": "points", "at": [[1.5, 0]]}, "at", "lies outside the barrier, 0 to 1 m"),
        ({"profile": "points", "at": [[1.0, 0]]}, "at", "must lie inside the string"),
        ({"profile": "points", "at": [[0.5, 0]], "to": 0.4}, "at", "lies outside the barrier, 0 to 0.4 m"),
        ({"profile": "points", "at": [[0.5, 0], [0.5]]}, "at", "item 2 must be [x, height]"),
        ({"profile": "points", "at": [[0.5, "1 N"]]}, "at", "item 1 = [0.5, '1 N']: must be a length in m, not in N"),
        ({"profile": "points", "at": [[0.5, 880]]}, "at", "must be at most 100 m in item 1"),
        ({"profile": "table", "table": [[0.1, 0], [0.1, 0]]}, "table", "x must increase, but 0.1 m follows 0.1 m"),
        ({"profile": "table", "table": [[0.1, 0], [0.2, 0]], "from": 0}, "from", "inside the table, 0.1 to 0.2 m"),
        ({"profile": "table", "table": [[0.1, 0], [0.2, 0]], "to": 0.3}, "to", "inside the table, 0.1 to 0.2 m"),
        ({"profile": "table", "table": "bridge.csv"}, "table", "but this preset is no file"),
        ({"profile": "polynomial", "coefficients": [0, 1e300]}, "coefficients", "at most 1e+15 in item 2"),
        ({"profile": "polynomial", "coefficients": [0, "1 mm"]}, "coefficients", "in m^0, not in mm"),
    ],
)
def test_impossible_barriers_are_refused(barrier: dict[str, Any], key: str, words: str) -> None:
    line = complaint({"string": STRING, "barrier": barrier})
    assert line.startswith(f"preset: barrier.{key} = ")
    assert words in line


def test_a_table_may_lie_beside_the_preset(tmp_path: Path) -> None:
    path = tmp_path / "test.yaml"
    path.write_text(yaml.safe_dump({"string": STRING, "barrier": {"profile": "table", "table": "bridge.csv"}}))
    rows = [[0.1, 0.0], [0.15, -2.5e-4], [0.2, -1e-3]]
    (tmp_path / "bridge.csv").write_text("# measured\nx,height\n10 cm, 0\n0.15, -0.25 mm # middle\n\n.2,-1e-3\n")
    expected = load_preset({"string": STRING, "barrier": {"profile": "table", "table": rows}})
    assert load_preset(path) == expected
    for text, words in {
        "0,0\n1;2\n": "line 2 of bridge.csv has not two columns",
        "0,0\n0.1,0,0\n": "line 2 of bridge.csv has not two columns",
        "0,0\n\n0.1,high\n": "line 3 of bridge.csv = ['0.1', 'high']: must be a length in m",
        "a,b\n0,0\n0.1,0\n": "line 1 of bridge.csv = ['a', 'b']: must be a length in m",
        "0,0\n": "must have at least 2 rows",
        "": "must have at least 2 rows",
        "0.2,0\n0.1,0\n": "x must increase",
        "0,0\n" * 4000: "bridge.csv has more than 3000 rows",
        "#" * 1_000_001: "is larger than 1 MB",
    }.items():
        (tmp_path / "bridge.csv").write_text(text)
        line = complaint(path)
        assert line.startswith(f"{path}:3: barrier.table = bridge.csv: ")
        assert words in line


@pytest.mark.parametrize(
    "name",
    ["../bridge.csv", "/etc/passwd", "a/b.csv", "a\\b.csv", "c:b.csv", "bridge.txt", "bridge", "link.csv", "x\0.csv"],
)
def test_a_table_lies_nowhere_else(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "presets"
    folder.mkdir()
    (tmp_path / "bridge.csv").write_text("0,0\n0.1,0\n")
    (folder / "link.csv").symlink_to(tmp_path / "bridge.csv")
    path = folder / "test.yaml"
    path.write_text(yaml.safe_dump({"string": STRING, "barrier": {"profile": "table", "table": name}}))
    assert re.search(r"without a folder|leads out of the preset's folder", complaint(path))


def test_contact_stiffness_has_the_unit_of_its_exponent() -> None:
    def preset(stiffness: object, exponent: float, profile: str | None) -> Preset:
        barrier = {"flat": {"profile": "flat"}, "points": {"profile": "points", "at": [[0.5, 0]]}, None: None}[profile]
        contact = {"stiffness": stiffness, "exponent": exponent}
        return load_preset({"string": STRING, "barrier": barrier, "contact": contact})

    assert preset("1e8 N/m²", 1, "flat").problem.contact.stiffness == 1e8
    assert preset("1e8 Pa", 1, "flat") == preset(1e8, 1, "flat")
    assert preset("1 N/mm^2.5", 1.5, "flat").problem.contact.stiffness == pytest.approx(1000**2.5)
    assert preset("1 N/mm^1.5", 1.5, "points").problem.contact.stiffness == pytest.approx(1000**1.5)
    assert preset("1e8 N/m", 1, None) == preset("1e8 N/m^2", 1, None)
    for stiffness, profile in (("1e8 N/m", "flat"), ("1e8 N/m^2", "points"), ("1e8 N/m^3", None)):
        with pytest.raises(PresetError, match=r"^preset: contact.stiffness = .* must be a quantity in N/m\^"):
            preset(stiffness, 1, profile)


def test_pickups() -> None:
    preset = load_preset(
        {"string": STRING, "pickups": [{"kind": "bridge_force"}, {"at": "25 %"}, {}, {"kind": "velocity"}]}
    )
    heard = [(p.at, p.kind) for p in preset.problem.pickups]
    assert heard == [(0.0, "bridge_force"), (0.25, "displacement"), (0.1, "displacement"), (0.1, "velocity")]
    assert (
        load_preset({"string": STRING}).problem.pickups
        == load_preset({"string": STRING, "pickups": [{}]}).problem.pickups
    )
    lines = complaint({"string": STRING, "pickups": [{"at": 0}, {"at": 1}, {"kind": "bridge_force", "at": 0.5}]}).split(
        "\n"
    )
    assert [line.split(" = ")[0] for line in lines] == [f"preset: pickups.{i}.at" for i in range(3)]
