"""`jawari render` with several presets in one file: maps, racks, takes, and what is said of what no preset is for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mido
import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

import engine
from engine import cli
from engine.commands.racks import make_rack
from engine.preset.loader import load_preset

STRING = "string: {length: 1, density: 1.17 g/m, tension: 180.5, loss: {s0: 3, s1: 0.02, s3: 1e-5}}\n"
LOW = f"name: Low\n{STRING}release: 0.1 s\n"
HIGH = f"name: High\n{STRING}excitation: {{position: 0.1, duration: 1 ms}}\nrelease: 0.1 s\noversample: 2\n"
RACK = """\
rack: Duo
parts:
  - {preset: low.yaml, channels: 1, program: 1}
  - {preset: high.yaml, channels: 2, program: 2}
"""
ON = [[0xC0, 0], [0xC1, 104], [0x90, 50, 100], [0x91, 57, 100], [0x94, 62, 90], [0xC0, 1], [0x90, 60, 90]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("low.yaml", LOW), ("high.yaml", HIGH), ("duo.yaml", RACK)):
        Path(name).write_text(text, encoding="utf-8")
    song(ON, "song.mid")
    return tmp_path


def song(messages: Sequence[list[int]], name: str, facts: dict[str, Any] | None = None) -> None:
    track = mido.MidiTrack([mido.Message.from_bytes(data, time=48) for data in messages])
    if facts:
        track.insert(0, mido.MetaMessage("text", text=f"jawari {json.dumps(facts)}"))
    mido.MidiFile(type=0, ticks_per_beat=480, tracks=[track]).save(name)


def rendered(*arguments: str) -> NDArray[np.float32]:
    command = ["render", *arguments, "--bit-depth", "32f", "--tail", "0.1", "--force", "-o", "out.wav"]
    assert cli.main(command) == 0
    return np.asarray(soundfile.read("out.wav", dtype="float32")[0])


def test_a_rack_a_map_and_a_take_say_the_same(capfd: pytest.CaptureFixture[str]) -> None:
    by_rack = rendered("duo.yaml", "--midi", "song.mid", "--report", "report.json")
    told = capfd.readouterr().err
    assert "no preset stands for program 105 on channel 2; what was there plays on\n" in told
    assert "1 note of channel 5 left out, no preset is mapped there; --map or a rack gives channels presets\n" in told
    (report,) = json.loads(Path("report.json").read_text(encoding="utf-8"))["renders"]
    assert [(part["preset"], part["notes"]) for part in report["parts"]] == [("Low", 1), ("High", 2)]
    assert report["preset"] == "Duo"

    fewer = [data for data in ON if data[0] & 0x0F < 2]
    song(fewer, "song.mid")
    by_rack = rendered("duo.yaml", "--midi", "song.mid")
    assert (rendered("low.yaml", "high.yaml", "--map", "2=high.yaml", "--midi", "song.mid") == by_rack).all()
    capfd.readouterr()
    facts = {"sample_rate": 48_000.0, "bank": ["low.yaml", "high.yaml"], "map": ["2=high.yaml"], "mono": False}
    song(fewer, "take.mid", facts)
    for named in ((), ("low.yaml",)):
        assert (rendered(*named, "--midi", "take.mid") == by_rack).all()
    assert rendered("high.yaml", "--midi", "take.mid").any()  # on something else, all of it
    assert "program changes passed over" in capfd.readouterr().err
    assert rendered("--midi", "take.mid", "--mono").ndim == 1
    assert rendered("--midi", "take.mid", "--sample-rate", "24 kHz").shape[0] * 2 == pytest.approx(len(by_rack), abs=2)


def test_who_has_too_few_strings_is_told_how_to_get_more(capfd: pytest.CaptureFixture[str]) -> None:
    """A rack's own number is no lack of room, and neither are the strings that a take had live."""
    Path("few.yaml").write_text(RACK.replace("program: 2", "program: 2, polyphony: 1"), encoding="utf-8")
    for number in range(2):
        chord = [[0x90 | number, key, 90] for key in range(40, 60)]
        song(chord, "chord.mid")
        rendered("few.yaml", "--midi", "chord.mid")
        assert ("19 notes on strings of others; raise --polyphony\n" in capfd.readouterr().err) == (number == 1)
    song(chord, "take.mid", {"sample_rate": 48_000.0, "bank": ["low.yaml"], "map": [], "mono": False})
    rendered("--midi", "take.mid")
    assert "4 notes on strings of others; raise --polyphony\n" in capfd.readouterr().err


def test_presets_that_are_only_mapped_are_no_programs() -> None:
    rack = make_rack([], ["1=low.yaml", "2-3,10=high.yaml"], [])
    assert (rack.routes[:4], rack.routes[9], rack.programs) == ((0, 1, 1, -1), 1, {})
    rack = make_rack(["low.yaml"], ["2=high.yaml"], ["string.length=2"])
    assert (rack.routes, rack.programs) == ((0, 1, *(0,) * 14), {})
    assert [part.preset.problem.string.length for part in rack.parts] == [2.0, 1.0]
    rack = make_rack(["low.yaml", "high.yaml"], [], [])
    assert (rack.routes, rack.programs) == ((0,) * 16, {0: 0, 1: 1})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--map", "1=low.yaml", "1-2=high.yaml"], "--map: channel 1 is mapped twice; map it once"),
        (["--map", "low.yaml"], "--map low.yaml: must be CHANNELS=PRESET; write it like 1=sitar"),
        (["--map", "17=low.yaml"], "--map 17=low.yaml: must be channels from 1 to 16"),
        (["--map", "1=duo.yaml"], "--map 1=duo.yaml: is a rack, which has channels of its own"),
        (["duo.yaml", "--map", "1=low.yaml"], "duo.yaml is a rack, which stands alone"),
        (["duo.yaml", "--set", "gain=3"], "duo.yaml is a rack, which stands alone"),
        (["--map", "1=low.yaml", "--all-presets"], "--map is for the channels of one file"),
    ],
)
def test_what_does_not_go_together_is_said(arguments: list[str], words: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["render", *arguments, "--midi", "song.mid"]) == 2
    assert words in capfd.readouterr().err


@pytest.mark.parametrize("facts", [{"bank": 3}, {"bank": []}, {"bank": ["low.yaml"], "sample_rate": "x"}, {"map": [1]}])
def test_a_take_that_says_nonsense_is_refused_unless_a_preset_is_named(
    facts: dict[str, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    song(ON, "take.mid", facts)
    assert cli.main(["render", "--midi", "take.mid"]) == 7
    assert "makes no sense; name a PRESET" in capfd.readouterr().err


def test_from_python() -> None:
    notes = [engine.Note(50, duration=0.1), engine.Note(57, duration=0.1, channel=1)]
    by_file = engine.render("duo.yaml", notes, tail=0.1)
    by_rack = engine.render(engine.load_rack("duo.yaml"), notes, tail=0.1)
    assert (by_file == by_rack).all()
    assert by_file.any()
    with pytest.raises(engine.PhysicsError, match="write them into the rack"):
        engine.render("duo.yaml", notes, overrides={"gain": 3})
    assert engine.load_rack("duo.yaml").parts[0].preset == load_preset("low.yaml")


def test_presets_check_and_show_know_racks(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["presets", "check", "duo.yaml", "low.yaml"]) == 0
    assert "duo.yaml: good (Duo, a rack of 2)" in capfd.readouterr().out
    assert cli.main(["presets", "show", "duo.yaml"]) == 0
    assert capfd.readouterr().out.splitlines()[:2] == [
        "Duo",
        "  part 1          Low, +0 dB, pan +0, channel 1, program 1, 16 strings at most",
    ]
    assert cli.main(["presets", "show", "duo.yaml", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["parts"][1]["channels"] == [1]
    Path("duo.yaml").write_text(RACK.replace("channels: 2", "channels: 1"), encoding="utf-8")
    assert cli.main(["presets", "check", "duo.yaml"]) == 3
