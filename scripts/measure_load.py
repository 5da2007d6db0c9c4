#!/usr/bin/env python3
"""What a chord of ten costs on every preset: the load of each block of 64 frames at 48 kHz in its first two seconds.

    python3 scripts/measure_load.py [--json FILE] [PRESET ...]
    python3 scripts/make_tables.py --measure load           all of them, into the table of the README

Ten keys at velocity 100, as far apart as hands may be (judge_presets.py has the same), or as many as the preset has
strings for. One compiled function plays block after block and reads the clock around each, three times over; of these
the take whose median is least is told: p50, p99.9 and the most, % of the time for which a block sounds. On a computer
that does something else meanwhile, only the p50 means much.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from judge_presets import chord, names

from engine import messages as midi
from engine.preset.loader import load_preset
from engine.profiling import clocked
from engine.profiling.load import load
from engine.study.buzzing import compass
from engine.synth.instrument import Instrument

RATE, BLOCK, SECONDS, TAKES = 48_000, 64, 2.0, 3


def loaded(name: str) -> dict[str, Any]:
    """What a preset costs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        preset = load_preset(name)
        inst = Instrument(preset, RATE)
    low, high = compass(preset)
    keys = chord([key for key in range(low, high + 1) if key not in inst.silent_keys], inst.polyphony)
    found = min((load(take(inst, keys), RATE).share for _ in range(TAKES)), key=lambda share: share.p50)
    return {
        "preset": name,
        "oversample": preset.oversample,
        "keys": len(keys),
        "p50": found.p50,
        "p99.9": found.p999,
        "most": found.most,
    }


def take(inst: Instrument, keys: list[int]) -> np.ndarray:
    """Rows of a log: when each block began, how long it took."""
    inst.reset()
    blocks = round(SECONDS * RATE / BLOCK)
    log, sounding, stop = (np.zeros(shape, np.int64) for shape in ((blocks, clocked.LOG), blocks, 1))
    out = np.zeros((BLOCK, inst.channels), np.float32)
    events = np.array([(0, midi.packed(midi.NOTE_ON, key, 100)) for key in keys], np.int64)
    clocked.record(inst.address, out.ctypes.data, BLOCK, events, log, sounding, stop)
    return log


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("presets", nargs="*", metavar="PRESET", help="default: all of presets/")
    parser.add_argument("--json", type=Path, help="where to keep all figures")
    args = parser.parse_args()
    rows = []
    for name in args.presets or names():
        rows.append(loaded(name))
        row = rows[-1]
        print(f"{name}: {row['keys']} keys, {100.0 * row['p50']:.2f} %, p99.9 {100.0 * row['p99.9']:.2f} %", flush=True)
    if args.json:
        args.json.write_text(json.dumps({"chords": rows}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
