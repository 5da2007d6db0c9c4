"""scripts/robustness.py itself: it counts, it finds every fault it is there for, and a fault can be repeated."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from robustness_parts import cases, workers
from robustness_parts.broken_midi import damaged, midi_file
from robustness_parts.broken_presets import write_broken
from robustness_parts.playing import Fault, perform
from robustness_parts.random_instruments import random_instrument
from robustness_parts.random_presets import random_preset

from engine.errors import EngineError, PhysicsError, PhysicsWarning, PresetError
from engine.layout import rows_of
from engine.music.midi_file import parse_midi
from engine.preset.loader import load_preset
from engine.preset.schema import KEYS, REPEATED, plain
from engine.synth import memory

SCRIPT = Path(__file__).parents[2] / "scripts" / "robustness.py"


def test_the_script_counts_and_repeats(tmp_path: Path) -> None:
    report = tmp_path / "figures.json"
    kinds = ["--presets", "3", "--rates", "3", "--files", "8", "--midi", "8", "--replay", "files:7:1"]
    command = [sys.executable, SCRIPT, *kinds, "--seed", "7", "--json", report]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(report.read_text())
    assert {kind: told["cases"] for kind, told in figures.items()} == {"presets": 3, "rates": 3, "files": 9, "midi": 8}
    assert all(sum(told["outcomes"].values()) == told["cases"] for told in figures.values())
    wrong = subprocess.run([sys.executable, SCRIPT, "--replay", "x:1:1"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "a case is named presets|rates|networks|files|midi:SEED:NUMBER" in wrong.stderr


def test_a_case_that_never_ends_is_ended_by_the_system_and_told_of() -> None:
    if sys.platform == "win32":
        pytest.skip("Windows has no such limit")
    spin = "from robustness_parts import workers\nworkers.LONGEST = 1\nworkers.limit_time()\nwhile True: pass"
    places = os.pathsep.join((str(SCRIPT.parents[1]), str(SCRIPT.parents[1] / "tests")))
    command, environment = [sys.executable, "-c", spin], {**os.environ, "PYTHONPATH": places}
    assert subprocess.run(command, env=environment, timeout=300, check=False).returncode == -signal.SIGXCPU
    ours, theirs = multiprocessing.Pipe()
    worker = workers.Worker.__new__(workers.Worker)
    worker.pipe, worker.case = ours, "files:0:0"
    theirs.close()
    for code, why in ((-signal.SIGXCPU, "took more than 60 s of the processor"), (-9, "ended it (-9)")):
        worker.process = SimpleNamespace(join=lambda: None, exitcode=code)  # type: ignore[assignment]
        assert worker.result()[:3] == ("files:0:0", "fault", f"{why}, and its process with it")


@pytest.mark.parametrize("kind", cases.KINDS)
def test_what_is_kept_is_the_case_as_data(kind: str, tmp_path: Path) -> None:
    case = f"{kind}:tests:1"
    data = json.loads(json.dumps(cases.kept(case, "why")))
    result = cases.run_case(case)
    try:
        again = cases.play_kept(data, tmp_path)
    except EngineError:
        again = "refused"
    assert (data["why"], again, result.fault) == ("why", result.outcome, "")


def _raise(error: Exception) -> str:
    raise error


def _warn() -> str:
    return str(np.float64(1.0) / np.float64(0.0))


def _work() -> str:
    until = time.process_time() + 0.55
    while time.process_time() < until:
        pass
    return "heard"


@pytest.mark.parametrize(
    ("happens", "told"),
    [
        (lambda: "heard", ""),
        (lambda: _raise(PresetError("a.yaml:1: no; mend it")), ""),
        (lambda: _raise(PresetError("a.yaml:1: \x1b[31m")), "a complaint that is empty or cannot be printed"),
        (lambda: _raise(PresetError("x" * 1000)), "a complaint of 1000 characters"),
        (lambda: _raise(PresetError("x\n" * 100)), "101 lines of complaints"),
        (lambda: _raise(KeyError("x")), "KeyError in test_script.py"),
        (lambda: _raise(MemoryError()), "MemoryError in test_script.py"),
        (lambda: _raise(Fault("a sample is not a number")), "a sample is not a number"),
        (_warn, "RuntimeWarning in test_script.py"),
        (_work, "took 0.5"),
        (lambda: str(np.ones(30_000_000).sum()), "used 2"),  # so much that it is never memory used before
    ],
)
def test_every_fault_is_found(happens: Callable[[], str], told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "MOST_SECONDS", 0.5)
    monkeypatch.setattr(cases, "MOST_MB", 100.0)
    if told.startswith("used") and not Path("/proc/self/clear_refs").exists():
        pytest.skip("only Linux tells how much memory a moment took")
    monkeypatch.setitem(cases.KINDS, "files", lambda chance, folder: happens())
    result = cases.run_case("files:0:0")
    assert result.fault[: len(told)] == told
    assert bool(result.fault) == bool(told)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({}, ""),
        ({"sample": 1e3}, ""),
        ({"sample": np.inf}, "a sample is not a number"),
        ({"sample": np.nan}, "a sample is not a number"),
        ({"energy": np.nan}, "a string's energy is not a number"),
        ({"watchdog": 1}, "the watchdog silenced"),
        ({"events_lost": 1}, "an event was lost"),
    ],
)
def test_every_unsound_sound_is_found(wrong: dict[str, float], told: str) -> None:
    voices = rows_of(memory.Voice, 1)
    voices.state, voices.energy = memory.HELD, wrong.get("energy", 1.0)
    player = SimpleNamespace(
        channels=1,
        machine=SimpleNamespace(voices=voices),
        run=lambda out: out.fill(wrong.get("sample", 0.0)),
        report=lambda: {"watchdog": 0, "events_lost": 0, **wrong},
    )
    try:
        perform(player, [], 1000, Random(0))
        said = ""
    except Fault as fault:
        said = str(fault)
    assert said[: len(told)] == told
    assert bool(said) == bool(told)


def exit_code(preset: dict[str, Any]) -> int:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PhysicsWarning)  # strings that would break, keys that nobody plays
            load_preset(preset)
    except EngineError as error:
        return error.exit_code
    return 0


def test_random_presets_cover_the_schema() -> None:
    """Every key but what only tells of a preset, every choice, and both halves of every range."""
    seen: dict[str, set[Any]] = {}

    def walk(value: Any, path: str) -> None:
        if isinstance(value, dict):
            for word, item in value.items():
                walk(item, f"{path}.{word}" if path else word)
        elif isinstance(value, list) and plain(path) in REPEATED:
            for index, item in enumerate(value):
                walk(item, f"{path}.{index}")
        else:
            seen.setdefault(plain(path), set()).add(str(value))

    codes = []
    for n in range(4200):
        preset = random_preset(Random(n)) if n < 3000 else random_instrument(Random(n))
        walk(preset, "")
        codes.append(exit_code(preset))
    assert set(codes) == {0, PhysicsError.exit_code}, "of valid form, though some are impossible"
    assert codes.count(0) > 0.8 * len(codes)
    assert set(KEYS) - set(seen) == {"name", "about", "family", "tags", "phrase", "compass"}
    for key in KEYS.values():
        assert {str(choice) for choice in key.choices} <= seen.get(key.name, set()) or key.name == "string.material"
        bounded = ("barrier.from", "barrier.to", "pickups.at", "pickups.pan", "body.modes.quality")
        if key.kind == "number" and key.name not in bounded:
            values = np.array([float(value) for value in seen[key.name]])
            assert key.name.startswith("velocity") or (values.min() <= key.low and values.max() >= key.high), key.name


def test_undamaged_files_are_read_whole(tmp_path: Path) -> None:
    """The generator makes valid MIDI: what is refused later is so for its damage."""
    for n in range(200):
        assert parse_midi(midi_file(Random(n))).remarks == ()


def test_accidents_happen_and_are_the_same_again(tmp_path: Path) -> None:
    texts, files = set(), set()
    for n in range(100):
        texts.add(write_broken(Random(n), tmp_path).read_bytes())
        files.add(damaged(Random(n), midi_file(Random(n))))
        assert write_broken(Random(n), tmp_path).read_bytes() in texts
    assert len(texts) > 60
    assert len(files) > 90
