"""What a preset says about being played: loudness, release, tuning, velocity, controllers, panning, its phrase."""

from __future__ import annotations

import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from one_string import ONE_STRING

from engine.errors import PhysicsError, PresetError
from engine.music.note import parse_notes
from engine.physics.problem import Pickup
from engine.preset.loader import Preset, load_preset
from engine.preset.playing import MAX_CONTROLLERS, RESERVED, Controller, Velocity
from engine.preset.tuning import load_tuning
from engine.units import note_to_key

STRING = {"string": {"length": 1.0, "density": 1e-3, "tension": 100.0}}
BARRED = STRING | {"barrier": {"profile": "flat", "height": -1e-3}}


def mapped(*items: dict[str, Any], base: dict[str, Any] = BARRED) -> tuple[Controller, ...]:
    return load_preset(base | {"map": list(items)}).controllers


def complaint(source: Any, overrides: Any = None) -> str:
    with pytest.raises(PresetError) as error:
        load_preset(source, overrides)
    return str(error.value)


def wrong_item(**item: Any) -> str:
    """The one complaint about an item of a map that is right but for this."""
    right = {"source": "wheel", "to": "barrier.height", "range": [0, 1e-3]}
    message = complaint(BARRED | {"map": [right | item]})
    assert "\n" not in message
    return message


def test_a_preset_without_these_keys_has_them_as_the_table_says() -> None:
    preset = load_preset(STRING)
    assert (preset.gain, preset.release, preset.phrase) == (0.0, 0.3, "")
    assert preset.tuning == load_tuning("equal")
    assert preset.velocity == Velocity(force=1.75, duration=-0.4)
    assert preset.controllers == ()
    assert pans(preset) == [0.0]
    everything = {
        "gain": "0 dB",
        "release": "300 ms",
        "tuning": 440,
        "velocity": {"force": 1.75, "duration": -0.4},
        "map": [],
        "pickups": [{"at": Pickup.at, "pan": 0}],
        "phrase": "",
    }
    assert load_preset(STRING | everything) == preset


@pytest.mark.parametrize(
    ("value", "decibels"),
    [("-6 dB", -6.0), ("-6dB", -6.0), ("+3.5 db", 3.5), ("-6", -6.0), (-6, -6.0), (2.5, 2.5), ("−12 dB", -12.0)],
)
def test_gain_is_in_decibels_with_or_without_the_unit(value: Any, decibels: float) -> None:
    assert load_preset(STRING | {"gain": value}).gain == decibels


@pytest.mark.parametrize("value", ["dB", "-6 dB dB", "-6 N", "6 dBFS", True, [], "nan dB", "1e999"])
def test_what_is_no_level_is_refused(value: Any) -> None:
    assert "must be a level in dB; write it like -6 dB" in complaint(STRING | {"gain": value})


def test_velocity_is_read_by_parts() -> None:
    assert load_preset(STRING | {"velocity": {"force": 2}}).velocity == Velocity(2.0, -0.4)
    assert load_preset(STRING, ["velocity.duration=0"]).velocity == Velocity(1.75, 0.0)


def pans(preset: Preset) -> list[float]:
    return [pickup.pan for pickup in preset.problem.pickups]


def test_every_pickup_has_its_place() -> None:
    pickups = [{"at": 0.1, "pan": -1}, {"at": 0.2}, {"at": 0.3, "pan": "50 %"}]
    assert pans(load_preset(STRING | {"pickups": pickups})) == [-1.0, 0.0, 0.5]
    assert pans(load_preset(STRING | {"pickups": pickups}, ["pickups.1.pan=0.25"])) == [-1.0, 0.25, 0.5]


@pytest.mark.parametrize("pan", [-1.1, 2.0, float("nan")])
def test_a_pickups_place_is_between_left_and_right(pan: float) -> None:
    with pytest.raises(PhysicsError, match=r"^pickups\.pan = "):
        Pickup(pan=pan)


@pytest.mark.parametrize(("to", "span", "expected"), [
    ("barrier.height", ["0 mm", "0.2 mm"], (0.0, 2e-4)),
    ("barrier.height", ["0.1 mm", "-0.1 mm"], (1e-4, -1e-4)),
    ("excitation.position", ["50 %", 0.9], (0.5, 0.9)),
    ("excitation.duration", ["4 ms", "500 µs"], (4e-3, 5e-4)),
    ("string.loss.s0", ["0.6 1/s", 20], (0.6, 20.0)),
    ("gain", ["-20 dB", 0], (-20.0, 0.0)),
])  # fmt: skip
def test_every_target_takes_its_own_unit(to: str, span: list[Any], expected: tuple[float, float]) -> None:
    (controller,) = mapped({"source": "pressure", "to": to, "range": span})
    assert controller == Controller("pressure", to, *(pytest.approx(end, rel=1e-15) for end in expected))


def height(preset: Preset) -> float:
    assert preset.problem.barrier is not None
    return preset.problem.barrier.height


def test_the_barriers_height_is_told_beside_its_shape() -> None:
    assert height(load_preset(BARRED)) == -1e-3
    assert height(load_preset(BARRED, {"barrier.height": None})) == 0.0
    raised = BARRED | {"barrier": {"profile": "points", "at": [[0.1, "-2 mm"]], "height": "1 mm"}}
    assert height(load_preset(raised)) == 1e-3
    assert load_preset(raised).problem.modal_points().height == pytest.approx([-1e-3])


@pytest.mark.parametrize(
    ("source", "number"), [("pressure", None), ("wheel", 1), ("cc1", 1), ("cc74", 74), ("cc007", 7)]
)
def test_sources_are_pressure_and_controllers(source: str, number: int | None) -> None:
    (controller,) = mapped({"source": source, "to": "gain", "range": [0, 1]})
    assert controller.number == number
    assert controller.source == ("pressure" if number is None else f"cc{number}")


@pytest.mark.parametrize("source", ["bend", "cc", "cc120", "cc-1", "cc1.5", "CC1", "1", 1, "cc１", ["cc1"]])
def test_other_sources_are_refused(source: Any) -> None:
    assert "map.0.source" in wrong_item(source=source)
    assert "must be pressure, wheel, or a controller from cc1 to cc119; write it like cc74" in wrong_item(source=source)


@pytest.mark.parametrize("number", sorted({0, 6, 32, 38, 64, 66, 67, 98, 99, 100, 101} | set(RESERVED)))
def test_pedals_are_not_free(number: int) -> None:
    message = wrong_item(source=f"cc{number}")
    assert message.endswith(f"must be a free controller, and cc{number} {RESERVED[number]}; write it like cc74")


@pytest.mark.parametrize(("item", "message"), [
    ({"to": "barrier.hight"}, "map.0.to = barrier.hight: must be one of barrier.height, "),
    ({"to": "barrier.hight"}, "did you mean barrier.height?"),
    ({"to": "string.length"}, "map.0.to = string.length: must be one of "),
    ({"range": ["0 mm", "1 N"]}, "map.0.range = [...]: the second, 1 N, must be a length in m, not in N; "),
    ({"range": ["0 mm", "2 m"]}, "map.0.range = [...]: the second, 2 m, must be at most 1 m; lower it"),
    ({"range": [0]}, "map.0.range = [...]: must be [value at 0, value at full]; "),
    ({"range": [0, 1e-3, 2e-3]}, "map.0.range = [...]: must be [value at 0, value at full]; "),
    ({"range": "0 mm"}, "map.0.range = 0 mm: must be [value at 0, value at full]; "),
    ({"range": [0, {"a": 1}]}, "map.0.range = [...]: the second, {'a': 1}, must be a length in m; "),
    ({"to": "excitation.position", "range": [0, 0.5]}, "map.0.range = 0: must be above 0; raise it"),
    ({"to": "excitation.position", "range": [0.5, 1]}, "map.0.range = 1: must be below 1; lower it"),
    ({"to": "gain", "range": ["0 dB", "1 m"]}, "the second, 1 m, must be a level in dB; write it like -6 dB"),
    ({"to": "gain", "range": [0, 25]}, "map.0.range = [...]: the second, 25, must be at most 24 dB; lower it"),
    ({"zzz": 1}, "map.0.zzz = 1: there is no such key; known in map: source, to, range"),
])  # fmt: skip
def test_a_wrong_item_says_what_is_wrong(item: dict[str, Any], message: str) -> None:
    assert message in wrong_item(**item)


def test_items_are_complete_and_different() -> None:
    low = {"source": "wheel", "to": "gain", "range": [-20, 0]}
    assert complaint(STRING | {"map": [low, {}]}).splitlines() == [
        f"preset: map.1.{word} = (not given): is required; add it" for word in ("source", "to", "range")
    ]
    same = complaint(STRING | {"map": [low, low | {"source": "cc2"}]})
    assert same == "preset: map.1.to = gain: is moved by an item before; keep one of them"
    assert len(mapped(low, {"source": "wheel", "to": "string.loss.s0", "range": [1, 2]})) == 2
    assert "there is no barrier to move; remove it, or add a barrier" in complaint(
        STRING | {"map": [{"source": "wheel", "to": "barrier.height", "range": [0, 0]}]}
    )
    for wrong in ({"source": "wheel"}, "wheel", [low] * (MAX_CONTROLLERS + 1)):
        assert f"must be a list of 0 to {MAX_CONTROLLERS} controllers; " in complaint(STRING | {"map": wrong})
    assert "preset: map.0 = wheel: must be a group; " in complaint(STRING | {"map": ["wheel"]})


def test_items_of_a_file_have_lines_and_can_be_overridden(tmp_path: Path) -> None:
    path = tmp_path / "mapped.yaml"
    string = "string: {length: 1, density: 1e-3, tension: 100}\n"
    text = f"{string}map:\n  - source: cc2\n    to: gain\n    range: [-6 dB, 0 dB]\n"
    path.write_text(text)
    assert load_preset(path).controllers == (Controller("cc2", "gain", -6.0, 0.0),)
    assert load_preset(path, ["map.0.range=[-3, 3]"]).controllers == (Controller("cc2", "gain", -3.0, 3.0),)
    assert load_preset(path, {"map": None}).controllers == ()
    path.write_text(text.replace("-6 dB", "-6 N"))
    assert complaint(path).startswith(f"{path}:5: map.0.range = [...]: the first, -6 N, must be a level in dB; ")
    with pytest.raises(PresetError) as error:
        load_preset(path, ["map.0.range=[-99 dB, 0 dB]"])
    assert error.value.exit_code == PhysicsError.exit_code


def test_a_tuning_is_read_beside_the_preset(tmp_path: Path) -> None:
    folder = tmp_path / "presets"
    folder.mkdir()
    path = folder / "tuned.yaml"
    tuning = "string: {length: 1, density: 1e-3, tension: 100}\ntuning: "
    path.write_text(tuning + "fifth.scl, A4=400\n")
    (folder / "fifth.scl").write_text("fifth\n1\n3/2\n")
    assert load_preset(path).tuning[70] == pytest.approx(600.0)
    assert load_preset(path, ["tuning=just on D, A4=432"]).tuning == load_tuning("just on D, A4=432")
    (folder / "fifth.scl").write_text("fifth\n1\n3:2\n")
    where = (
        f"{path}:2: tuning = fifth.scl, A4=400: {folder / 'fifth.scl'}:3: 3:2: pitch 1 of 1 must be a ratio or cents; "
    )
    assert complaint(path).startswith(where)
    (tmp_path / "out.scl").write_text("out\n1\n2/1\n")
    (folder / "link.scl").symlink_to(tmp_path / "out.scl")
    for name in ("../out.scl", str(tmp_path / "out.scl"), "link.scl", "../presets/fifth.scl", "a\\0.scl"):
        path.write_text(f'{tuning}"{name}"\n')
        assert "leads out of the preset's folder; copy the file there" in complaint(path)
    assert "fifth.scl is a file beside a preset, but this preset is no file; name a scale" in complaint(
        STRING | {"tuning": "fifth.scl"}
    )


@pytest.mark.parametrize("value", [True, [440], {"a": 1}])
def test_a_tuning_is_text_or_a_number(value: Any) -> None:
    assert "must be text; write it like just on D, A4=432" in complaint(STRING | {"tuning": value})
    assert load_preset(STRING | {"tuning": 432.0}).tuning[69] == 432.0


def test_a_phrase_is_notes_between_blanks() -> None:
    assert (
        load_preset(STRING | {"phrase": " C4:0:2\n E♭4:.5:2:80  60:1.25:.5 "}).phrase == "C4:0:2 E♭4:.5:2:80 60:1.25:.5"
    )
    for wrong in ("C4", "C4:0", "C4:0:1:2:3", "H4:0:1", "C4:-1:1", "C4:0:1:9000", "C4:x:1", "C4: 0:1", "C4:1e9:1"):
        message = complaint(STRING | {"phrase": wrong})
        assert "must be note:start:duration or note:start:duration:velocity; mend it" in message
    assert "must be 0 to 10000 printable characters" in complaint(STRING | {"phrase": "C4:0:2 " * 1500})


def test_presets_stay_frozen_comparable_and_travel() -> None:
    preset = load_preset("sitar-string")
    assert preset.controllers
    assert hash(preset) == hash(load_preset("sitar-string"))
    assert pickle.loads(pickle.dumps(preset)) == preset
    for change in (
        "gain=1",
        "release=2",
        "tuning=just",
        "velocity.force=1",
        "map=[]",
        "pickups.0.pan=1",
        "phrase=C4:0:1",
    ):
        assert load_preset("sitar-string", [change]) != preset


@pytest.mark.parametrize("name", ONE_STRING)
def test_a_shipped_phrase_can_be_played(name: str) -> None:
    preset = load_preset(name)
    notes = parse_notes(preset.phrase)
    assert 4 <= len(notes) <= 40
    assert 2.0 <= max(note.start + note.duration for note in notes) <= 15.0
    assert {note.velocity for note in notes} != {100}  # someone has thought about it
    for note in notes:
        assert preset.tuning[note.key] is not None
    for key in {note.key for note in notes}:
        held = sorted((note.start, note.start + note.duration) for note in notes if note.key == key)
        assert all(end <= start for (_, end), (start, _) in pairwise(held))


@pytest.mark.parametrize("name", ONE_STRING)
def test_a_shipped_map_keeps_the_string_clear_at_rest(name: str) -> None:
    preset = load_preset(name)
    assert preset.controllers
    points = preset.problem.modal_points()
    for controller in preset.controllers:
        if controller.to == "barrier.height":
            assert controller.low == 0.0  # where the preset has it
            assert np.all(points.height + max(controller.low, controller.high) <= 1e-12)


def test_the_tanpura_has_pure_fifths_and_its_own_c() -> None:
    preset = load_preset("tanpura-string")
    low, fifth = preset.tuning[note_to_key("C3")], preset.tuning[note_to_key("G3")]
    assert low is not None
    assert fifth is not None
    assert fifth / low == pytest.approx(1.5, rel=1e-14)
    first = preset.problem.string.pitch * (1.0 + preset.problem.string.inharmonicity) ** 0.5
    assert low == pytest.approx(first, rel=1e-6)
