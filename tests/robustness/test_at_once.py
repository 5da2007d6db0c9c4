"""Instruments designed and played in four threads of each of two processes give the same bits as alone.

With barriers that press the string at rest, whose equilibrium asks a linear algebra library that has threads itself,
and with messages handed to the instrument in blocks of different sizes.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import threading
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
TESTS = str(ROOT / "tests")
RATE, FRAMES = 16_000, 4_000
BUMP = {"profile": "polynomial", "coefficients": [-2e-3, 2e-2, -4e-2], "to": 0.5, "points": 40}
SOFT = {"stiffness": 1e7, "exponent": 1.5, "damping": 0.3}
COMMON: dict[str, Any] = {
    "string": {"length": 1.0, "density": 1e-3, "tension": 100.0, "stiffness": 3e-4, "loss": {"s0": 0.3, "s2": 1e-3}},
    "barrier": BUMP,
    "contact": SOFT,
    "pickups": [{"at": 0.1, "pan": -0.5}, {"at": 0.3, "kind": "velocity"}],
    "map": [{"source": "cc1", "to": "barrier.height", "range": ["-1 mm", "0.2 mm"]}],
    "polyphony": 4,
}
PRESETS = {
    "modal": COMMON,
    "fd": {**COMMON, "model": "fd", "oversample": 2},
    "pins": {**COMMON, "barrier": {"profile": "points", "at": [[0.2, 1e-4], [0.3, 2e-4], [0.7, -1e-3]]}},
    "fd pins": {**COMMON, "model": "fd", "barrier": {"profile": "points", "at": [[0.2, 1e-4], [0.3, 2e-4]]}},
}
PROGRAM = f"""
import importlib.util, sys
spec = importlib.util.spec_from_file_location("at_once", {__file__!r})
at_once = importlib.util.module_from_spec(spec)
spec.loader.exec_module(at_once)
for name, found in zip(at_once.PRESETS, at_once.all_at_once()):
    print(name, found)
"""


def digest(name: str, block: int) -> str:
    """Design, play, and sum up; the instrument is made here, in whatever thread this is."""
    from robustness_parts.random_music import random_music

    from engine import Instrument

    player = Instrument(PRESETS[name], RATE)
    out = np.zeros((FRAMES, 2), np.float32)
    for at, message in random_music(Random(5), [40, 52, 55, 64], FRAMES):
        assert player.schedule(at, message)
    for begin in range(0, FRAMES, block):
        player.run(out[begin : begin + block])
    assert np.abs(out).max() > 1e-3
    return hashlib.sha256(out.tobytes()).hexdigest()


def all_at_once() -> list[str]:
    """All presets, each in a thread of its own, which begin together."""
    gate, found = threading.Barrier(len(PRESETS)), {}

    def play(name: str, block: int) -> None:
        gate.wait()
        found[name] = digest(name, block)

    sizes = (37, 64, 128, 512)
    threads = [threading.Thread(target=play, args=job) for job in zip(PRESETS, sizes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found[name] for name in PRESETS]


def test_four_threads_in_each_of_two_processes_design_and_play_as_one_alone() -> None:
    path = f"import sys; sys.path[:0] = [{str(ROOT)!r}, {TESTS!r}]\n"
    command = [sys.executable, "-c", path + PROGRAM]
    alone = [f"{name} {digest(name, FRAMES)}" for name in PRESETS]  # compiled here, once
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert [f"{name} {found}" for name, found in zip(PRESETS, all_at_once())] == alone
        out, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    assert out.splitlines() == alone
