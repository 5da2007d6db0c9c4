"""Racks: what a file may say, all that is wrong with it by file and line, and which channel begins on what."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import PresetError
from engine.preset.loader import load_preset
from engine.preset.rack import MOST_PARTS, bank, format_channels, is_rack, load_rack, parse_channels

DUO = """\
rack: Duo
parts:
  - {preset: sitar-string, channels: [1, 2], program: 1, gain: -3 dB, pan: -0.3}
  - preset: own.yaml
    channels: 5-8
    program: 7
    polyphony: 9
    tuning: just on D
    set: {string.length: 50 cm}
"""
OWN = "name: Own\nstring: {length: 1, density: 1 g/m, tension: 100}\n"


def written(folder: Path, text: str, own: str = OWN) -> Path:
    (folder / "own.yaml").write_text(own, encoding="utf-8")
    (folder / "duo.yaml").write_text(text, encoding="utf-8")
    return folder / "duo.yaml"


def complaint(folder: Path, text: str, own: str = OWN) -> list[str]:
    path = written(folder, text, own)
    with pytest.raises(PresetError) as caught:
        load_rack(path)
    return str(caught.value).replace(f"{path.parent}/", "").splitlines()


def test_a_rack_is_read_from_its_own_folder(tmp_path: Path) -> None:
    path = written(tmp_path, DUO)
    rack = load_rack(path)
    first, second = rack.parts
    assert (rack.name, rack.source) == ("Duo", str(path))
    assert first.preset == load_preset("sitar-string")
    assert (first.gain, first.pan, first.polyphony, first.tuning) == (-3.0, -0.3, None, None)
    assert (second.preset.name, second.preset.problem.string.length) == ("Own", 0.5)
    assert (second.gain, second.pan, second.polyphony, second.program) == (0.0, 0.0, 9, 6)
    assert second.tuning is not None
    assert rack.routes == (0, 0, -1, -1, 1, 1, 1, 1, *(-1,) * 8)
    assert rack.programs == {0: 0, 6: 1}
    assert [part.label for part in rack.parts] == ["sitar-string", "own"]


def test_a_rack_may_be_a_dict_and_its_first_part_has_all_channels_if_none_are_named() -> None:
    rack = load_rack({"rack": "Two", "parts": [{"preset": "plain"}, {"preset": "sitar-string", "program": 2}]})
    assert rack.routes == (0,) * 16
    assert rack.programs == {1: 1}


def test_what_is_a_rack(tmp_path: Path) -> None:
    assert is_rack(written(tmp_path, DUO))
    assert is_rack(str(tmp_path / "duo.yaml"))
    assert is_rack({"parts": []})
    for other in ("sitar-string", tmp_path / "own.yaml", tmp_path / "nothing.yaml", {"string": {}}, 3, None):
        assert not is_rack(other)


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("channels: 5-8", "channels: 2-3", "duo.yaml:5: parts.1.channels = 2-3: channel 2 is another part's, at duo"),
        ("channels: 5-8", "channels: 5-17", "duo.yaml:5: parts.1.channels = 5-17: must be channels from 1 to 16;"),
        ("channels: 5-8", "channels: 8-5", "duo.yaml:5: parts.1.channels = 8-5: must be channels from 1 to 16;"),
        ("channels: 5-8", "channels: []", "duo.yaml:5: parts.1.channels = []: must be channels from 1 to 16;"),
        ("program: 7", "program: 1", "duo.yaml:6: parts.1.program = 1: program 1 is another part's, at duo.yaml:3;"),
        ("program: 7", "program: 0", "duo.yaml:6: parts.1.program = 0: must be at least 1"),
        ("program: 7", "program: 1.5", "duo.yaml:6: parts.1.program = 1.5: must be a whole number;"),
        ("polyphony: 9", "polyphony: 900", "duo.yaml:7: parts.1.polyphony = 900: must be at most 256"),
        ("polyphony: 9", "polifony: 9", "duo.yaml:7: parts.1.polifony = 9: there is no such key; known in a part: pre"),
        ("tuning: just on D", "tuning: jest", "duo.yaml:8: parts.1.tuning = jest:"),
        ("gain: -3 dB", "gain: 30 dB", "duo.yaml:3: parts.0.gain = 30 dB: must be at most 24 dB"),
        ("gain: -3 dB", "gain: loud", "duo.yaml:3: parts.0.gain = loud: must be a level in dB; write it like -6 dB"),
        ("pan: -0.3", "pan: 2", "duo.yaml:3: parts.0.pan = 2: must be at most 1"),
        ("preset: sitar-string", "preset: sitarr", "duo.yaml:3: sitarr is not shipped; did you mean sitar?"),
        ("preset: own.yaml", "preset: other.yaml", "other.yaml: there is no such file; check the name"),
        ("preset: own.yaml", "preset: [1]", "duo.yaml:4: parts.1.preset = [...]: must be the name of a preset"),
        ("  - preset: own.yaml\n   ", "  -", "duo.yaml:4: parts.1.preset = (not given): is required; name one"),
        ("rack: Duo", "rack: Duo\nroom: 3", "duo.yaml:2: room = 3: there is no such key; known: rack, parts"),
        ("rack: Duo", "rack: ''", "duo.yaml:1: rack = '': must be 1 to 80 printable characters;"),
        ("string.length: 50 cm", "string.length: 50 kg", "duo.yaml:9: string.length = 50 kg: must be a length in m"),
        ("{string.length: 50 cm}", "7", "duo.yaml:9: parts.1.set = 7: must be a group;"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, old: str, new: str, wanted: str) -> None:
    assert old in DUO
    (line,) = complaint(tmp_path, DUO.replace(old, new, 1))
    assert line.startswith(wanted), line


@pytest.mark.parametrize("parts", ["", "parts: 3", "parts: []", "parts: {preset: sitar-string}"])
def test_a_rack_needs_parts(tmp_path: Path, parts: str) -> None:
    (line,) = complaint(tmp_path, f"rack: Duo\n{parts}\n")
    assert "parts = " in line
    assert f"must be a list of 1 to {MOST_PARTS} parts; write it like - {{preset: sitar, channels: 1}}" in line


def test_everything_wrong_is_told_at_once_also_in_the_presets(tmp_path: Path) -> None:
    text = DUO.replace("pan: -0.3", "pan: -3").replace("program: 7", "program: no")
    lines = complaint(tmp_path, text, OWN.replace("density: 1 g/m", "density: 1 kg"))
    assert [line.split(" ")[0] for line in lines] == ["duo.yaml:3:", "duo.yaml:6:", "own.yaml:2:"]


@pytest.mark.parametrize(
    "text", ["", "- 1", "3", "parts:\n  - 3", "rack: [", "parts: [{preset: sitar-string, gain: &a 3}]"]
)
def test_any_other_file_is_refused_in_lines(tmp_path: Path, text: str) -> None:
    assert all(line.startswith("duo.yaml") for line in complaint(tmp_path, text))


VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(["preset", "channels", "program", "gain", "pan", "polyphony", "tuning", "set", "other"])


@given(st.lists(st.dictionaries(KEYS, VALUES, max_size=4), max_size=4))
def test_whatever_a_part_holds_it_is_read_or_refused(parts: list[dict[str, Any]]) -> None:
    with suppress(PresetError):
        load_rack({"rack": "R", "parts": [{"preset": "plain", **part} for part in parts]})


@given(st.sets(st.integers(0, 15), min_size=1))
def test_channels_are_read_as_they_are_written(channels: set[int]) -> None:
    told = tuple(sorted(channels))
    assert parse_channels(format_channels(told)) == told
    assert parse_channels([str(channel + 1) for channel in reversed(told)]) == told


def test_a_bank_is_programs_and_channels() -> None:
    presets = [load_preset(name) for name in ("plain", "sitar-string", "tanpura-string")]
    rack = bank(presets)
    assert (rack.routes, rack.programs) == ((0,) * 16, {0: 0, 1: 1, 2: 2})
    rack = bank(presets, {0: 2, 9: 1}, programs=2)
    assert (rack.routes, rack.programs) == ((2, *(-1,) * 8, 1, *(-1,) * 6), {0: 0, 1: 1})
    assert rack.phrase == presets[0].phrase
