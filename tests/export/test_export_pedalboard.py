"""pedalboard, a host that others wrote, plays the VST 3 plugin: the engine's bits, parameters, state."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export.exporting import NEEDED, RATE, Event, image_of, rack
from export.test_export_c import Opened

from engine.export import vst3
from engine.export.job import Export
from engine.export.knobs import dials
from engine.export.targets import target_of
from engine.synth.instrument import Instrument

pytestmark = [
    *NEEDED,
    pytest.mark.skipif(
        importlib.util.find_spec("pedalboard") is None,
        reason="no packaged host of VST 3 is here: pip install pedalboard (it has wheels for Python 3.10 to 3.14)",
    ),
]
NAME = "sitar-string"
SECONDS = float(os.environ.get("JAWARI_EXPORT_SECONDS", "2"))
FRAMES = int(SECONDS * RATE)
BLOCK = 64  # controllers come at the beginnings of blocks: pedalboard tells a plugin only once a block where they stand
SIZES = (BLOCK, 2 * BLOCK)
PROGRAM = Path(__file__).with_name("boarding.py")


def piece() -> list[Event]:
    """Notes on any frame; controllers, the wheel and pressure where every size of block begins, each once."""
    chance, found = random.Random(3), list[Event]()
    for start in range(0, FRAMES, 6000):
        channel, key, at = chance.randrange(2), chance.randrange(40, 84), start + chance.randrange(3000)
        found += [(at, [0x90 | channel, key, chance.randrange(40, 127)])]
        found += [(at + chance.randrange(2000, 9000), [0x80 | channel, key, 64])]
    for n in range(FRAMES // 600):
        at, channel, value = n * 600 // SIZES[-1] * SIZES[-1], chance.randrange(2), chance.randrange(128)
        said: list[list[int]] = [
            [0xB0 | channel, 1, value],
            [0xE0 | channel, value, 50 + value // 5],
            [0xD0 | channel, value],
            [0xB0 | channel, 74, value],
            [0xB0 | channel, 64, value],
        ]
        found.append((at, said[n % 5]))
    return sorted(found, key=lambda event: (event[0], event[1][0] < 0xA0))


def turns() -> list[tuple[int, str, float]]:
    """Where which dial is turned, how far from 0 to 1; at the beginning of a block."""
    return [(FRAMES // 4 // BLOCK * BLOCK, "barrier_height", 0.25), (FRAMES // 2 // BLOCK * BLOCK, "damping", 0.75)]


def engine() -> Any:
    """What the engine plays of it, [2, frames]."""
    inst, out, at = Instrument(NAME, RATE), np.zeros((FRAMES, 2), np.float32), 0
    for sample, data in piece():
        if at < sample < FRAMES:
            inst.run(out[at:sample])
            at = sample
        assert sample >= FRAMES or inst.schedule(sample, data)
    inst.run(out[at:])
    assert np.abs(out).max() > 0.01
    return out.T


def rendered(folder: Path, turned: list[tuple[int, str, float]]) -> Any:
    """The exported code's sound where dials are turned, [2, frames]."""
    made = Opened(folder, image_of(NAME))
    known = {dial.name.lower().replace(" ", "_"): dial for dial in dials(rack(NAME))}
    todo: list[tuple[int, Any]] = [(at, (known[name], share)) for at, name, share in turned]
    todo += [(at, data) for at, data in piece() if at < FRAMES]
    pieces, now = [], 0
    for at, what in sorted(todo, key=lambda event: (event[0], isinstance(event[1], list))):
        if at > now:
            pieces.append(made.run(at - now))
            now = at
        if isinstance(what, list):
            assert made.send(0, *what)
        else:
            dial, share = what
            value = dial.low + float(np.float32(share)) * (dial.high - dial.low)
            assert made.code.jawari_turn(made.at, dial.number, value) == 1
    pieces.append(made.run(FRAMES - now))
    return np.concatenate(pieces).T


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pedalboard")


@pytest.fixture(scope="module")
def heard(folder: Path) -> dict[str, Any]:
    """What boarding.py brings back."""
    # At 44.1 kHz it is asked first whether it makes any sound; where it does not, pedalboard waits for ten seconds.
    vst3.write(Export(rack(NAME), (44_100.0, float(RATE)), target_of(None), print), folder)
    job, result = folder / "job.json", folder / "result.npz"
    job.write_text(json.dumps({"rate": RATE, "frames": FRAMES, "sizes": SIZES, "events": piece(), "turns": turns()}))
    command = [sys.executable, str(PROGRAM), str(next(folder.glob("*.vst3"))), str(job), str(result)]
    around = {name: value for name, value in os.environ.items() if name != "DISPLAY"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=around, timeout=300)
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    with np.load(result) as found:
        return {name: found[name] for name in found.files}


def test_it_plays_the_engines_bits(heard: dict[str, Any]) -> None:
    wanted = engine()
    for size in SIZES:
        assert np.array_equal(heard[f"blocks of {size}"], wanted), size


def test_it_knows_the_plugin(heard: dict[str, Any]) -> None:
    facts = json.loads(str(heard["facts"]))
    latency = Instrument(NAME, RATE).latency
    assert (facts["name"], facts["maker"], facts["instrument"]) == ("Sitar string", "Jawari", True)
    assert facts["latency"] == latency


def test_parameters_are_turned_and_kept(heard: dict[str, Any], folder: Path) -> None:
    assert np.array_equal(heard["turned"], rendered(folder, turns()))
    assert np.array_equal(heard["from the start"], rendered(folder, [(0, *turn[1:]) for turn in turns()]))
    assert np.array_equal(heard["by its state"], heard["from the start"])
    assert not np.array_equal(heard["turned"], heard["from the start"])
    shown = {name: share for name, (share, _) in json.loads(str(heard["facts"]))["shown"].items()}
    assert {name: shown[name] for _, name, _ in turns()} == {name: share for _, name, share in turns()}
    assert set(shown) > {"pluck_duration", "notes_apart"}
