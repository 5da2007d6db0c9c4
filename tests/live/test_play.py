"""`jawari play`, the program itself: real MIDI in, a real card out, and what it says when something is missing."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import mido
import numpy as np
import pytest
import soundfile
from live.jack import Server, jack_server, needs_jack, read_recording, wait_for
from live.midi_playing import Sender

import engine
from engine import cli

ROOT = Path(engine.__file__).parent.parent


class Playing:
    """The program, and the lines it has said so far."""

    def __init__(self, environment: Mapping[str, str], folder: Path, *arguments: str) -> None:
        self.said = folder / "said.txt"
        with self.said.open("wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "engine.cli", "play", *arguments],
                env={**environment, "PYTHONPATH": str(ROOT), "MIDO_BACKEND": "mido.backends.rtmidi/UNIX_JACK"},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                cwd=folder,
            )

    def says(self, text: str, within: float = 60.0) -> None:
        wait_for(lambda: text in self.all or self.process.poll() is not None, f"{text!r} was not said", within)
        assert text in self.all, self.all

    @property
    def all(self) -> str:
        return self.said.read_text(encoding="utf-8")

    def end(self, how: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(how)
        return self.process.wait(20.0)


@contextmanager
def playing(environment: Mapping[str, str], folder: Path, *arguments: str) -> Iterator[Playing]:
    program = Playing(environment, folder, *arguments)
    try:
        yield program
    finally:
        program.process.kill()
        program.process.wait()


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with jack_server(tmp_path) as running:
        for name in ("JACK_DEFAULT_SERVER", "JACK_NO_AUDIO_RESERVATION"):
            monkeypatch.setenv(name, running.environment[name])
        yield running


MUSIC = [
    *([0x90, 57, 100], [0x90, 61, 80], [0xB0, 64, 127], [0x80, 57, 0], [0xE0, 0, 96], [0x90, 64, 110]),
    *([0x80, 61, 0], [0xE0, 0, 64], [0xB0, 64, 0], [0x90, 57, 60], [0x80, 64, 0], [0x80, 57, 0]),
]


@needs_jack
def test_what_a_keyboard_plays_is_heard_recorded_and_rendered_again(server: Server, tmp_path: Path) -> None:
    heard, take, again = tmp_path / "heard.wav", tmp_path / "take.mid", tmp_path / "again.wav"
    with (
        server.recorded(heard),
        playing(server.environment, tmp_path, "sitar-string", "--record", str(take)) as program,
    ):
        program.says("playing Sitar string on system")
        with Sender("keyboard") as keyboard:  # plugged in later
            program.says("keyboard")
            keyboard.play(MUSIC, 0.05)
            time.sleep(1.5)  # a server that waits for its clients is slower than the clock
            assert program.end() == 0
    assert "3 notes" not in program.all
    assert re.search(r"played \d+ blocks in \d:\d\d, 4 notes", program.all)
    assert "wrote" in program.all

    assert [m.bytes() for m in mido.MidiFile(take) if not m.is_meta] == MUSIC
    assert (
        cli.main(["render", "sitar-string", "--midi", str(take), "--limit", "--bit-depth", "32f", "-o", str(again)])
        == 0
    )
    rendered, rate = soundfile.read(again, dtype="float32")
    assert rate == 48_000
    expected = np.rint(rendered * np.float32(0x7FFFFF)).astype(np.int32)
    recording = read_recording(heard)
    first, second = int(np.flatnonzero(recording.any(axis=1))[0]), int(np.flatnonzero(expected.any(axis=1))[0])
    frames = int(np.flatnonzero(recording.any(axis=1))[-1]) + 1 - first  # until the program ended
    assert frames > 48_000
    np.testing.assert_array_equal(recording[first : first + frames], expected[second : second + frames])


@needs_jack
def test_a_virtual_input_and_program_changes(server: Server, tmp_path: Path) -> None:
    with playing(server.environment, tmp_path, "plain", "sitar-string", "--virtual", "--channel", "2") as program:
        program.says("MIDI: jawari")
        with Sender("sequencer", "to jawari") as sequencer:
            sequencer.play([[0x91, 60, 100], [0x90, 62, 100], [0xC1, 1]], 0.05)
            program.says("sitar-string: playing")
            sequencer.play([[0x91, 64, 100], [0xC1, 99]], 0.05)
            program.says("program 100: there are 2 presets")
        assert program.end(signal.SIGTERM) == 0
    assert "2 notes" in program.all


@needs_jack
def test_the_demo_plays_its_phrase_and_ends(server: Server, tmp_path: Path) -> None:
    with playing(server.environment, tmp_path, "plain", "--demo", "--notes", "C4:0:.2 E4:.3:.2", "--quiet") as program:
        assert program.process.wait(60.0) == 0
    assert "2 notes" in program.all
    assert "playing" not in program.all, "quiet is quiet"


@needs_jack
def test_it_ends_in_time_and_without_midi(server: Server, tmp_path: Path) -> None:
    with playing(server.environment, tmp_path, "plain", "--midi", "none", "--seconds", "0.5") as program:
        assert program.process.wait(60.0) == 0
    assert "MIDI" not in program.all
    assert "--keys" not in program.all


@needs_jack
def test_a_second_core_is_asked_for_and_it_is_said_what_became_of_it(server: Server, tmp_path: Path) -> None:
    """This server's clients have no real-time priority, unless the system gives it to all."""
    with playing(server.environment, tmp_path, "plain", "--midi", "none", "--cores", "2", "--seconds", "4") as program:
        assert program.process.wait(60.0) == 0
    said = [line for line in program.all.splitlines() if "second core" in line]
    assert len(said) == 1, program.all
    assert said[0].startswith(("note: no second core: ", "note: a second core helps where 32 strings sound or more"))


@needs_jack
def test_a_keyboard_that_is_not_plugged_in_is_waited_for(server: Server, tmp_path: Path) -> None:
    with playing(server.environment, tmp_path, "plain", "--midi", "nosuch", "--seconds", "0.5") as program:
        assert program.process.wait(60.0) == 0
    waits = [
        line for line in program.all.splitlines() if line.startswith("MIDI: waiting for an input with nosuch in its")
    ]
    assert len(waits) == 1, program.all


@needs_jack
def test_keys_that_nobody_can_type_are_told(server: Server, tmp_path: Path) -> None:
    with playing(server.environment, tmp_path, "plain", "--keys", "--seconds", "0.5") as program:
        assert program.process.wait(60.0) == 0
    assert "--keys hears nothing" in program.all


@needs_jack
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["plain", "--device", "nosuch"], 9, ("nosuch", "system")),
        (["plain", "--sample-rate", "44100"], 9, ("44100", "48000")),
        (["plain", "--channels", "64"], 9, ("channels",)),
    ],
)
def test_what_the_card_refuses(
    arguments: list[str], code: int, words: tuple[str, ...], server: Server, tmp_path: Path
) -> None:
    with playing(server.environment, tmp_path, *arguments) as program:
        assert program.process.wait(60.0) == code
    lines = [line for line in program.all.splitlines() if "compiling" not in line]
    assert len(lines) == 1, program.all
    for word in words:
        assert word in lines[0]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nosuch"], 3, ("nosuch", "sitar-string")),
        (["sitar-string", "--block-size", "1"], 2, ("--block-size", "8 to")),
        (["sitar-string", "--cores", "3"], 2, ("--cores = 3", "1 or 2")),
        (["sitar-string", "--latency", "soon"], 2, ("--latency", "low")),
        (["sitar-string", "--latency", "9 s"], 2, ("--latency", "5 s")),
        (["sitar-string", "--seconds", "0"], 2, ("--seconds",)),
        (["sitar-string", "--channel", "17"], 2, ("--channel", "1 to 16")),
        (["sitar-string", "--channel", "0"], 2, ("--channel", "1 to 16")),
        (["sitar-string", "--notes", "C4:0:1"], 2, ("--demo",)),
        (["sitar-string", "--demo", "--notes", "H4"], 7, ("H4",)),
        (["sitar-string", "--set", "string.length=1 kg"], 3, ("string.length",)),
    ],
)
def test_bad_arguments_get_a_line(
    arguments: list[str], code: int, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["play", *arguments]) == code
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    for word in words:
        assert word in lines[0]


@needs_jack
def test_devices_lists_cards_and_inputs(server: Server) -> None:
    environment = {**server.environment, "PYTHONPATH": str(ROOT), "MIDO_BACKEND": "mido.backends.rtmidi/UNIX_JACK"}
    with Sender("keyboard"):
        listed = subprocess.run(
            [sys.executable, "-m", "engine.cli", "devices"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
    assert listed.returncode == 0
    assert re.search(r"\* +0 +system \(JACK", listed.stdout)
    assert "keyboard" in listed.stdout
    assert "UNIX_JACK" in listed.stdout


@needs_jack
def test_without_a_card_there_is_a_line_and_a_code(tmp_path: Path) -> None:
    nowhere = {**os.environ, "JACK_DEFAULT_SERVER": "nosuch", "JACK_NO_START_SERVER": "1"}
    with playing(nowhere, tmp_path, "plain") as program:
        assert program.process.wait(60.0) == 9
    lines = program.all.splitlines()
    assert len(lines) == 1
    assert "jawari render" in lines[0]


@needs_jack
def test_the_live_stream_can_be_profiled(server: Server, tmp_path: Path) -> None:
    command = ["profile", "plain", "--live", "--voices", "2", "--block-sizes", "128", "--seconds", "0.5"]
    run = subprocess.run(
        [sys.executable, "-m", "engine.cli", *command, "--no-limit-search", "--no-parts", "--json", "live.json"],
        env={**server.environment, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    report = json.loads((tmp_path / "live.json").read_text(encoding="utf-8"))
    assert report["played"]["live"] is True
    (point,) = report["points"]
    assert point["voices"] == 2
    assert point["blocks"] == pytest.approx(0.5 * 48_000 / 128, rel=0.1)
