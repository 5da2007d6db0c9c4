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
        render sitar --nonsense
        profile sitar --nonsense
        simulate
        presets fly
        presets check
        devices --nonsense
        render
        profile
        play sitar --seconds abc
        play sitar --sample-rate abc
        play sitar --latency abc
        play sitar --midi-delay abc
        render sitar --tail abc
        render sitar --start abc
        render sitar --end abc
        render sitar --sample-rate abc
        render sitar --gain abc
        render sitar --normalize abc
        profile sitar --seconds abc
        profile sitar --sample-rate abc
        profile sitar --tolerance abc
        simulate sitar --seconds abc
        simulate sitar --sample-rate abc
        simulate sitar --snapshots abc
        simulate sitar --band abc
        simulate sitar --release 'mode 1 abc'
        presets show sitar --sample-rate abc
        play sitar --seconds -1
        play sitar --block-size 1
        play sitar --channel 17
        play sitar --midi-delay '9 s'
        play sitar --polyphony 0
        play sitar --oversample 3000
        render sitar --tail -1
        render sitar --sample-rate '1 Hz'
        render sitar --block-size 0
        render sitar --polyphony 257
        render sitar --oversample 3000
        render sitar --channel 17
        profile sitar --seconds -1
        profile sitar --sample-rate '1 Hz'
        profile sitar --polyphony 257
        simulate sitar --seconds -1
        simulate sitar --sample-rate 1
        simulate sitar --oversample 3000
        simulate sitar --snapshots '9 s'
        simulate sitar --scheme magic
        simulate sitar --precision float8
        presets show sitar --sample-rate '1 Hz'
        export
        export sitar
        export sitar --format xyz
        export sitar --format c --rates abc
        export sitar --format c --rates ''
        export sitar --format c --rates '48 kHz, 1 Hz'
        export sitar --format c --target amiga
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
        play sitar --set strin.length=1
        render sitar --set strin.length=1
        profile sitar --set strin.length=1
        simulate sitar --set strin.length=1
        presets show sitar --set strin.length=1
        play sitar --tuning abc
        render sitar --tuning abc
        play sitar --tuning nowhere.scl
        render sitar --tuning nowhere.scl
    """,
    Exit.PHYSICS: f"""
        play sitar --set {HEAVY}
        render sitar --set {HEAVY}
        profile sitar --set {HEAVY}
        simulate sitar --set {HEAVY}
        export sitar --set {HEAVY} --format c
        export heavy.yaml --format c
        presets show sitar --set {HEAVY}
        presets check heavy.yaml
        play heavy.yaml
    """,
    Exit.FIGURE: """
        simulate sitar --plot x.xyz
        profile sitar --plot x.xyz
    """,
    Exit.FILE: """
        render sitar -o nowhere/a.wav
        render sitar -o a.xyz
        render sitar --report nowhere/a.json
        play sitar --record nowhere/a.mid
        profile sitar --json nowhere/a.json
        profile sitar --plot nowhere/a.png
        simulate sitar -o nowhere/a.npz
        simulate sitar --plot nowhere/a.png
        export sitar --format c -o nowhere/a
        export sitar --format c -o broken.yaml
        export sitar --format c -o . --force
    """,
    Exit.NOTES: """
        render sitar --midi none.mid
        render sitar --midi broken.yaml
        render sitar --notes abc
        play sitar --demo --notes none.mid
        play sitar --demo --notes abc
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
    assert ended("play sitar --device abc") == ended("devices") == Exit.CARD


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("matplotlib.backends.backend_agg", "simulate sitar --plot a.png"),
        ("matplotlib.backends.backend_agg", "profile sitar --plot a.png"),
        ("soundfile", "render sitar -o a.flac"),
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
    assert ended("play sitar --device abc") == ended("devices") == Exit.LIBRARY


@pytest.mark.parametrize("line", ["render sitar", "profile sitar", "simulate sitar", "presets check sitar", "devices"])
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
