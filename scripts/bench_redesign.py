#!/usr/bin/env python3
"""Time what a turned knob costs an exported instrument: the design, on whatever thread, and the takeover in a block.

    python3 scripts/bench_redesign.py [--presets NAME ...] [--rounds N] [--json FILE]

A line for each preset at 48 kHz: ms of `jawari_redesign` of all keys and µs of `jawari_follow` while sixteen strings
sound, the best of some rounds, and MB of each of the two memories. It needs a C compiler.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from bench_export import KEYS, RATE, Native

from engine import aligned
from engine import messages as midi
from engine.export.designs import designed
from engine.export.image import image
from engine.preset.loader import load_preset
from engine.preset.rack import bank

STRINGS = ("sitar-string", "wave-bridge", "tanpura-string", "plain", "prepared")
NETWORKS = ("sitar", "tanpura", "piano", "oud", "harpsichord")
BEFORE = RATE // 10  # frames that strings have sounded for


def measured(name: str, rounds: int, folder: Path) -> dict[str, Any]:
    """One preset's row."""
    rack = bank([load_preset(name)])
    made = Native(folder, image(rack, ()))
    call, place = made.code, ctypes.c_void_p
    call.jawari_redesign.argtypes = (place, place, ctypes.c_int32, ctypes.c_double, place)
    call.jawari_follow.argtypes = (place, place)
    other = aligned.zeros(made.memory.size, np.uint8)
    values = np.array([dial.own + 0.1 * (dial.high - dial.own) for dial in designed(rack)])
    left, right = np.zeros((2, BEFORE), np.float32)
    old, new = made.memory.ctypes.data, other.ctypes.data
    design = follow = float("inf")
    for _ in range(rounds):
        call.jawari_open(old, *made.given)
        began = time.perf_counter()
        call.jawari_redesign(new, *made.given, values.ctypes.data)
        design = min(design, time.perf_counter() - began)
        for key in KEYS:
            call.jawari_send(old, 0, bytes([midi.NOTE_ON, key, 90]), 3)
        call.jawari_run(old, BEFORE, left.ctypes.data, right.ctypes.data)
        began = time.perf_counter()
        assert call.jawari_follow(new, old) == 1
        follow = min(follow, time.perf_counter() - began)
    return {"preset": name, "design ms": 1e3 * design, "takeover µs": 1e6 * follow, "MB": made.memory.size / 1e6}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presets", nargs="+", default=STRINGS + NETWORKS)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [measured(name, asked.rounds, Path(folder)) for name in asked.presets]
    for row in rows:
        print("  ".join(f"{word} {value:.3g}" if isinstance(value, float) else value for word, value in row.items()))
    if asked.json:
        asked.json.write_text(json.dumps({"rows": rows}))


if __name__ == "__main__":
    main()
