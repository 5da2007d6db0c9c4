"""`jawari render --drone` and what `--drone` refuses: the preset's figure as long and as fast as is asked for."""

from __future__ import annotations

from pathlib import Path

import mido
import numpy as np
import pytest
import soundfile

import engine
from engine import cli
from engine.errors import Exit
from engine.music.figure import score_of_drone
from engine.preset.loader import load_preset

DRONE = "{order: [C3, G3+C4], tempo: 240, spread: 20 ms}"


@pytest.fixture
def wire(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("wire.yaml").write_text(
        f"name: Wire\nstring: {{length: 60 cm, diameter: 0.3 mm, material: steel, tuned: C3}}\ndrone: {DRONE}\n"
    )
    return tmp_path


def test_a_drone_is_rendered_for_so_long(wire: Path) -> None:
    how = ["--sample-rate", "8000", "--tail", "0.1 s", "--bit-depth", "32f"]
    assert cli.main(["render", "wire.yaml", "--drone", "--seconds", "1.1", "-o", "a.wav", *how]) == 0
    sound, rate = soundfile.read("a.wav", dtype="float32")
    drone = load_preset("wire.yaml").drone
    assert drone is not None
    expected = engine.render("wire.yaml", score_of_drone(drone, 1.1), sample_rate=8000, tail=0.1)
    assert (rate, len(sound)) == (8000, 9600)
    assert (sound == expected).all()
    assert cli.main(["render", "wire.yaml", "--drone", "--seconds", "1.1", "--tempo", "120", "-o", "b.wav", *how]) == 0
    assert np.abs(soundfile.read("b.wav", dtype="float32")[0] - sound).max() > 1e-3


def test_a_take_of_it_is_the_same(wire: Path) -> None:
    """As a MIDI file of other programs has it."""
    drone = load_preset("wire.yaml").drone
    assert drone is not None
    file, track, before = mido.MidiFile(ticks_per_beat=4000), mido.MidiTrack(), 0
    for sample, data in score_of_drone(drone, 1.0).events(8000):
        track.append(mido.Message.from_bytes(list(data), time=sample - before))
        before = sample
    file.tracks.append(track)
    file.save("a.mid")
    how = ["--sample-rate", "8000", "--tail", "0"]
    assert cli.main(["render", "wire.yaml", "--midi", "a.mid", "-o", "a.wav", *how]) == 0
    assert cli.main(["render", "wire.yaml", "--drone", "--seconds", "1", "-o", "b.wav", *how]) == 0
    assert Path("a.wav").read_bytes() == Path("b.wav").read_bytes()


@pytest.mark.parametrize(
    ("words", "told", "code"),
    [
        (["render", "plain", "--drone"], "Plain string has no drone to play; add drone: ", Exit.NOTES),
        (["render", "wire.yaml", "--drone", "--notes", "C3:0:1"], "not allowed with argument", Exit.USAGE),
        (["render", "wire.yaml", "--seconds", "3"], "--seconds is for --drone; add --drone, or take --end", Exit.USAGE),
        (["render", "wire.yaml", "--tempo", "90"], "--tempo is for --drone; add --drone", Exit.USAGE),
        (["render", "wire.yaml", "--drone", "--seconds", "0"], "--seconds = 0: must be above 0, at most ", Exit.USAGE),
        (["render", "wire.yaml", "--drone", "--seconds", "3 m"], "--seconds = 3 m: ", Exit.USAGE),
        (["render", "wire.yaml", "--drone", "--tempo", "0"], "--tempo = 0: must be 1 to 1000 beats", Exit.USAGE),
        (["play", "wire.yaml", "--drone", "--demo"], "--drone and --demo both play by themselves; ", Exit.USAGE),
        (["play", "wire.yaml", "--tempo", "90"], "--tempo is how fast --drone plays; add --drone", Exit.USAGE),
        (["play", "plain", "--drone"], "Plain string has no drone to play; add drone: ", Exit.NOTES),
        (["play", "wire.yaml", "--drone", "--tempo", "x"], "--tempo = x: ", Exit.USAGE),
    ],
)
def test_what_cannot_be_is_one_line(
    words: list[str], told: str, code: Exit, wire: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        found = cli.main(words)
    except SystemExit as error:  # argparse's own
        found = error.code  # type: ignore[assignment]
    out, err = capsys.readouterr()
    assert (found, out) == (code, "")
    assert told in err.splitlines()[-1]
    assert list(wire.glob("*.wav")) == []
