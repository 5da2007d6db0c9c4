#!/usr/bin/env python3
"""What a room costs: the same strings with and without one, in turn, the best of several; nanoseconds a frame.

python3 scripts/bench_room.py
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # from a clone, nothing need be installed

import numpy as np

import engine
from engine import messages as midi
from engine.preset.room import Room

RATE, BLOCK, BLOCKS, ROUNDS = 48_000, 64, 400, 15
ROOMS = {"none": None, "1 m": Room(0.2, 0.1, 1.0), "4 m": Room(), "20 m": Room(0.2, 2.0, 20.0)}


def took(made: engine.Instrument, out: np.ndarray) -> float:
    """Nanoseconds of the processor a frame, of a string that rings."""
    made.reset()
    made.schedule(0, (midi.NOTE_ON, 57, 100))
    for _ in range(32):
        made.run(out)
    began = time.thread_time()
    for _ in range(BLOCKS):
        made.run(out)
    return (time.thread_time() - began) * 1e9 / (BLOCKS * BLOCK)


def main() -> None:
    """Print the table."""
    preset, out = engine.load_preset("plain"), np.zeros((BLOCK, 2), np.float32)
    made = {name: engine.Instrument(replace(preset, room=own), RATE, BLOCK, 1) for name, own in ROOMS.items()}
    best = dict.fromkeys(made, np.inf)
    for _ in range(ROUNDS):
        for name, instrument in made.items():
            best[name] = min(best[name], took(instrument, out))
    for name, ns in best.items():
        more = ns - best["none"]
        print(f"  room {name:5s} {ns:6.1f} ns a frame, {more:5.1f} more, {100.0 * more * RATE * 1e-9:.2f} % of a core")


if __name__ == "__main__":
    main()
