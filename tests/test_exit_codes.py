"""The same kind of mistake ends every command with the same code, and with a line."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import cli
from engine.commands.common import EPILOG
from engine.errors import EngineError, Exit
from engine.live.audio import cards, portaudio
from engine.live.audio.cards import Card
from engine.live.errors import DeviceError

CARD = Card(0, "made up", "nowhere", 2, 48_000.0, True, 0.01, 0.1)
HEAVY = "string.tension=-1"

# What is wrong in every command that can get it wrong, "{}" being what is said in the right place.
MISTAKES: dict[Exit, str] = {
    Exit.USAGE: """
        fly
        play --nonsense
        render sitar-string --nonsense
        profile sitar-string --nonsense
        simulate
        presets fly
        presets check
        devices --nonsense
        render
        profile
        play sitar-string --seconds abc
        play sitar-string --sample-rate abc
        play sitar-string --latency abc
        play sitar-string --midi-delay abc
        render sitar-string --tail abc
        render sitar-string --start abc
        render sitar-string --end abc
        render sitar-string --sample-rate abc
        render sitar-string --gain abc
        render sitar-string --normalize abc
        profile sitar-string --seconds abc
        profile sitar-string --sample-rate abc
        profile sitar-string --tolerance abc
        simulate sitar-string --seconds abc
        simulate sitar-string --sample-rate abc
        simulate sitar-string --snapshots abc
        simulate sitar-string --band abc
        simulate sitar-string --release 'mode 1 abc'
        presets show sitar-string --sample-rate abc
        play sitar-string --seconds -1
        play sitar-string --block-size 1
        play sitar-string --channel 17
        play sitar-string --midi-delay '9 s'
        play sitar-string --polyphony 0
        play sitar-string --oversample 3000
        render sitar-string --tail -1
        render sitar-string --sample-rate '1 Hz'
        render sitar-string --block-size 0
        render sitar-string --polyphony 257
        render sitar-string --oversample 3000
        render sitar-string --channel 17
        profile sitar-string --seconds -1
        profile sitar-string --sample-rate '1 Hz'
        profile sitar-string --polyphony 257
        simulate sitar-string --seconds -1
        simulate sitar-string --sample-rate 1
        simulate sitar-string --oversample 3000
        simulate sitar-string --snapshots '9 s'
        simulate sitar-string --scheme magic
        simulate sitar-string --precision float8
        presets show sitar-string --sample-rate '1 Hz'
        export
        export sitar
        export sitar-string --format xyz
        export sitar-string --format c --rates abc
        export sitar-string --format c --rates ''
        export sitar-string --format c --rates '48 kHz, 1 Hz'
        export sitar-string --format c --target amiga
    """,
    Exit.PRESET: """
        play song.mid
        render song.kar
        profile song.mid
        presets check song.midi
        play sitra
        render sitra
        profile sitra
        simulate sitra
        presets show sitra
        presets check sitra
        export sitra --format c
        play nowhere/x.yaml
        render nowhere/x.yaml
        profile nowhere/x.yaml
        simulate nowhere/x.yaml
        presets show nowhere/x.yaml
        presets check nowhere/x.yaml
        play broken.yaml
        render broken.yaml
        profile broken.yaml
        simulate broken.yaml
        presets show broken.yaml
        presets check broken.yaml
        export broken.yaml --format c
        play sitar-string --set strin.length=1
        render sitar-string --set strin.length=1
        profile sitar-string --set strin.length=1
        simulate sitar-string --set strin.length=1
        presets show sitar-string --set strin.length=1
        play sitar-string --tuning abc
        render sitar-string --tuning abc
        play sitar-string --tuning nowhere.scl
        render sitar-string --tuning nowhere.scl
    """,
    Exit.PHYSICS: f"""
        play sitar-string --set {HEAVY}
        render sitar-string --set {HEAVY}
        profile sitar-string --set {HEAVY}
        simulate sitar-string --set {HEAVY}
        export sitar-string --set {HEAVY} --format c
        export heavy.yaml --format c
        presets show sitar-string --set {HEAVY}
        presets check heavy.yaml
        play heavy.yaml
    """,
    Exit.FIGURE: """
        simulate sitar-string --plot x.xyz
        profile sitar-string --plot x.xyz
    """,
    Exit.FILE: """
        render sitar-string -o nowhere/a.wav
        render sitar-string -o a.xyz
        render sitar-string --report nowhere/a.json
        play sitar-string --record nowhere/a.mid
        profile sitar-string --json nowhere/a.json
        profile sitar-string --plot nowhere/a.png
        simulate sitar-string -o nowhere/a.npz
        simulate sitar-string --plot nowhere/a.png
        export sitar-string --format c -o nowhere/a
        export sitar-string --format c -o broken.yaml
        export sitar-string --format c -o . --force
    """,
    Exit.NOTES: """
        render sitar-string --midi none.mid
        render sitar-string --midi broken.yaml
        render sitar-string --notes abc
        play sitar-string --demo --notes none.mid
        play sitar-string --demo --notes abc
    """,
}
LINES = [(code, line.strip()) for code, lines in MISTAKES.items() for line in lines.strip().splitlines()]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with bad presets in it, and a card to play through."""
    (tmp_path / "broken.yaml").write_text("string: [\n")
    (tmp_path / "heavy.yaml").write_text("string: {length: 1 m, density: 1 g/m, tension: -1 N}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cards, "choose", lambda wanted: CARD)
    monkeypatch.setattr(cards, "check", lambda *_: None)
    there = sorted(path.name for path in tmp_path.iterdir())
    yield tmp_path
    assert sorted(path.name for path in tmp_path.iterdir()) == there


def ended(line: str) -> int:
    """How a command ends; argparse leaves by itself."""
    try:
        return cli.main(shlex.split(line))
    except SystemExit as left:
        return int(left.code or 0)


@pytest.mark.parametrize(("code", "line"), LINES, ids=[line for _, line in LINES])
def test_a_mistake_has_the_code_of_its_kind(code: Exit, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(line) == code
    said = capsys.readouterr()
    assert "Traceback" not in said.out + said.err
    assert said.err.strip() or line.startswith("presets check")


def test_a_card_that_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(wanted: str = "") -> Card:
        raise DeviceError(f"no card is called {wanted}")

    monkeypatch.setattr(cards, "choose", refuse)
    assert ended("play sitar-string --device abc") == ended("devices") == Exit.CARD


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("matplotlib.backends.backend_agg", "simulate sitar-string --plot a.png"),
        ("matplotlib.backends.backend_agg", "profile sitar-string --plot a.png"),
        ("soundfile", "render sitar-string -o a.flac"),
    ],
)
def test_a_library_that_is_missing(module: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, module, None)
    assert ended(line) == Exit.LIBRARY


def test_a_portaudio_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(portaudio, "_state", portaudio._State())
    monkeypatch.setattr(portaudio, "places", list)
    assert ended("play sitar-string --device abc") == ended("devices") == Exit.LIBRARY


@pytest.mark.parametrize(
    "line", ["render sitar-string", "profile sitar-string", "simulate sitar-string", "presets check sitar", "devices"]
)
def test_an_interrupt(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    command = line.split()[0]
    monkeypatch.setattr(f"engine.commands.{command}.load_preset", stop, raising=False)
    monkeypatch.setattr("engine.commands.devices._cards", stop)
    assert ended(line) == Exit.INTERRUPTED
    assert capsys.readouterr().err == "jawari: interrupted\n"


def test_help_is_made_from_the_codes() -> None:
    told = EPILOG.replace("\n", " ")
    assert told == "exit codes: " + ", ".join(f"{code.value} {code.meaning}" for code in Exit)
    assert len({code.meaning for code in Exit}) == len(Exit)
    kinds = [EngineError]
    for kind in kinds:
        kinds += kind.__subclasses__()
        assert kind.exit_code in list(Exit)
