"""scripts/long_run.py: twenty seconds of it, and that it notices what it is there for."""

from __future__ import annotations

import importlib.util
import json
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.layout import rows_of
from engine.synth.memory import HELD, Voice

SCRIPT = Path(__file__).parents[2] / "scripts" / "long_run.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("long_run", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_twenty_seconds_are_sound(tmp_path: Path) -> None:
    command = [sys.executable, SCRIPT, "plain", "--minutes", str(20 / 60), "--json", tmp_path / "a.json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    said = [line for line in done.stderr.splitlines() if "compiling for this machine" not in line]
    assert (done.returncode, said) == (0, [])
    figures = json.loads((tmp_path / "a.json").read_text())
    assert figures["seconds"] > 20.0
    assert figures["notes"] > 100
    assert figures["peak_voices"] > 8
    assert figures["faults"] == {}


def test_the_music_has_everything_and_every_note_ends(script: ModuleType) -> None:
    events = list(script.music(random.Random(1), [60, 61, 62], 600.0))
    times = [seconds for seconds, _ in events]
    assert times == sorted(times)
    assert {data[0] >> 4 for _, data in events} == {0x8, 0x9, 0xA, 0xB, 0xD, 0xE}
    assert {data[0] & 0x0F for _, data in events} == set(range(16))
    assert {data[1] for _, data in events if data[0] >> 4 == 0xB} == set(range(128))
    assert all(0 <= value < 128 for _, data in events for value in data[1:])
    down: dict[tuple[int, int], int] = {}
    for _, data in events:
        if data[0] >> 4 in (0x8, 0x9):
            key = (data[0] & 0x0F, data[1])
            down[key] = down.get(key, 0) + (1 if data[0] >> 4 == 0x9 else -1)
            assert down[key] >= 0
    assert set(down.values()) == {0}


class Faulty:
    """An instrument with one fault."""

    channels, silent, clock = 1, True, 0

    def __init__(self, sample: float = 0.0, energy: float = 1.0, silent: bool = True, **counts: int) -> None:
        self.sample, self.silent = sample, silent
        voices = rows_of(Voice, 1)
        voices.state, voices.energy = HELD, energy
        self.machine = SimpleNamespace(voices=voices)
        self.counts = {"watchdog": 0, "events_lost": 0, **counts}

    def schedule(self, *_: Any) -> None: ...

    def run(self, out: Any) -> None:
        out[:] = self.sample
        self.clock += len(out)

    def report(self) -> dict[str, int]:
        return self.counts


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ({}, ""),
        ({"sample": 9.9}, ""),
        ({"sample": -10.1}, "a sample is over +20 dBFS"),
        ({"sample": np.nan}, "a sample is not a number"),
        ({"energy": np.inf}, "a string's energy is not a number"),
        ({"watchdog": 1}, "the watchdog silenced"),
        ({"events_lost": 1}, "an event was lost"),
        ({"silent": False}, "a string still sounds"),
    ],
)
def test_every_fault_is_found(fault: dict[str, Any], told: str, script: ModuleType) -> None:
    watch = script.Watch(Faulty(**fault))
    watch.play(1000)
    script.ring_out(watch)
    assert [what[: len(told)] for what in watch.faults] == ([told] if told else [])
