#!/usr/bin/env python3
"""Time the whole engine on one core: sitar voices in real time, and what it costs on top of its kernels.

    python3 scripts/bench_engine.py [--json FILE] [--seconds S]

64-frame blocks at 48 kHz, float64, output stage included, notes around C3 over a bridge of 10 contact points, events
arriving all the time (a controller and a re-struck note every few blocks). JSON: `sitar_voices_x1`, `sitar_voices_x2`,
`overhead` (whole engine / sum of its kernels, 32 voices), `moving_over_resting` (the same strings over a barrier that
never rests / one that does), `cold_start_s` and `warm_start_s` (a program that makes a sitar, with nothing kept on disk
and with everything: time of processors, which others disturb least), `cold_start_wall_s` (the first of them by
the clock, which two processors share, until it could play), and the curves against voices, oversampling and pitch.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from bench_start import cold_and_warm

import engine
from engine import messages as midi
from engine.compiled import called_by_python, now
from engine.layout import Arena, lay, size_of, store
from engine.physics import modal
from engine.physics.excitation import pulse
from engine.synth import modal_string
from engine.synth.listening import Podium
from engine.synth.renderer import play

RATE, BLOCK = 48_000, 64
AT_ONCE = 512  # blocks whose events are queued before them: a ring holds some thousands
KEYS = [36 + k for k in range(25)]  # C2 to C4, around C3


def instrument(oversample: int, polyphony: int) -> engine.Instrument:
    """The sitar with 10 contact points and strings that ring on."""
    preset = engine.load_preset("sitar-string", {"barrier.points": 10})
    return engine.Instrument(preset, RATE, BLOCK, oversample, polyphony)


def strike(made: engine.Instrument, keys: list[int]) -> None:
    """One note for each key now, on channels in turn so that a key may sound more than once."""
    for i, key in enumerate(keys):
        made.schedule(made.clock, (midi.NOTE_ON | i // len(KEYS) % 16, key, 100))


@called_by_python
def blocks(play: Any, machine: Any, frames: Any, out: Any, times: Any) -> None:
    """Blocks one after the other, called as the audio thread calls them, by compiled code; ns that each takes."""
    for n in range(times.size):
        start = now()
        play(machine, frames, out)
        times[n] = now() - start


@called_by_python
def rehearsals(rehearse: Any, halls: Any, first: Any, steps: Any, times: Any) -> None:
    """The same of the kernels of strings in their halls, all of them for each block."""
    for n in range(times.size):
        start = now()
        for i in range(halls.shape[0]):
            rehearse(halls[i, 0], halls[i, 1], halls[i, 2], first + n * steps, steps)
        times[n] = now() - start


def c_function(entry: Any, arguments: int) -> Any:
    """An entry of the engine's module as compiled code calls it."""
    return ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * arguments)(entry.address)


def seconds_per_block(made: engine.Instrument, keys: list[int], seconds: float, moving: bool = False) -> float:
    """Median time of a block while these keys sound and events go on arriving; `moving`: the barrier never rests."""
    made.reset()
    out, times = np.zeros((BLOCK, made.channels), np.float32), []
    strike(made, keys)
    for _ in range(64):  # past the plucks
        made.run(out)
    count = max(round(seconds * RATE / BLOCK), 50)
    for first in range(0, count, AT_ONCE):
        some = np.zeros(min(AT_ONCE, count - first), np.int64)
        for n in range(first, first + some.size):
            for sample, message in arriving(made.clock + (n - first) * BLOCK, n, keys, moving):
                made.schedule(sample, message)
        blocks(c_function(play, 3), made.address, BLOCK, out.ctypes.data, some)
        times.append(some)
    sounding = made.report()["voices"]
    if sounding != len(keys):
        sys.exit(f"bench_engine: {sounding} voices sound instead of {len(keys)}")
    return 1e-9 * float(np.median(np.concatenate(times)))


def arriving(clock: int, n: int, keys: list[int], moving: bool) -> list[tuple[int, tuple[int, ...]]]:
    """The events of the n-th block, which begins at a sample."""
    events: list[tuple[int, tuple[int, ...]]] = [(clock + n % BLOCK, (midi.CONTROL, 16, n % 128))] if n % 8 == 0 else []
    if moving:  # on every channel a key sounds on
        channels = range(-(-len(keys) // len(KEYS)))
        events += [(clock, (midi.CONTROL | c, midi.MODULATION, 64 * (n % 2) + 32)) for c in channels]
    if n % 40 == 0:
        i = n // 40 % len(keys)
        events.append((clock + 17, (midi.NOTE_ON | i // len(KEYS) % 16, keys[i], 80)))
    return sorted(events)


def kernels_per_block(made: engine.Instrument, keys: list[int], seconds: float) -> float:
    """Median time of a block of the same voices' kernels and nothing else: one after the other, plucked as often.

    It is the renderer's own code for a string, as rehearsals call it. Each voice's memory is as cold when its turn
    comes as it is in the engine.
    """
    steps, early = BLOCK * made.oversample, 64  # blocks past the first plucks
    count = early + max(round(seconds * RATE / BLOCK), 50)
    halls = []
    for i, key in enumerate(keys):
        struck = [0, *range(early + 40 * i, count, 40 * len(keys))]
        halls.append(hall(made._bank.keys[key].design, count * steps, [n * steps for n in struck]))
    where, times = np.array([where for _, where in halls], np.int64), np.zeros(count, np.int64)
    rehearsals(c_function(modal_string.rehearse, 5), where, 0, steps, times)
    return 1e-9 * float(np.median(times[early:]))


def hall(design: Any, steps: int, struck: list[int]) -> tuple[Any, tuple[int, int, int]]:
    """A string in a hall where it is plucked at these steps: its memory, and what a rehearsal is told of it."""
    assert isinstance(design, modal.Design)
    force = np.zeros(steps)
    for at in struck:
        force[at:] += pulse(design.problem.excitation, design.rate, steps - at)
    arena = Arena()
    start = arena.room(size_of(Podium))
    row = arena.place(store(arena, modal_string.laid_out(design)))
    write = lay(arena, Podium, start, force=force, out=(steps, design.width))
    block = arena.sealed()
    write(block)
    base = int(block.ctypes.data)
    return block, (base + start, base, base + row)


def voices_in_real_time(oversample: int, count: int, seconds: float) -> float:
    """How many voices fill one core, from the time that `count` of them take."""
    made = instrument(oversample, 256)
    keys = [KEYS[i % len(KEYS)] for i in range(count)]
    return count * (BLOCK / RATE) / seconds_per_block(made, keys, seconds)


def moving_over_resting(seconds: float) -> float:
    """What a string costs over a moving barrier, times what it costs over a resting one."""
    made, keys = instrument(1, 64), [KEYS[i % len(KEYS)] for i in range(16)]
    ratios = [seconds_per_block(made, keys, seconds, True) / seconds_per_block(made, keys, seconds) for _ in range(5)]
    return float(np.median(ratios))


def later_cost(seconds: float) -> tuple[float, float]:
    """Median block time in the first second of a decaying chord, and in the 60th."""
    made = instrument(1, 32)
    out = np.zeros((BLOCK, made.channels), np.float32)
    strike(made, KEYS)
    per_second, medians = RATE // BLOCK, []
    for second in range(60):
        times = []
        for _ in range(per_second):
            start = time.perf_counter()
            made.run(out)
            times.append(time.perf_counter() - start)
        if second in (0, 59):
            medians.append(float(np.median(times)))
    return medians[0], medians[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    parser.add_argument("--seconds", type=float, default=2.0, help="of sound for each figure (2)")
    args = parser.parse_args()
    report: dict[str, Any] = {}
    for oversample in (1, 2):
        report[f"sitar_voices_x{oversample}"] = voices_in_real_time(oversample, 64, args.seconds)
        print(f"x{oversample}: {report[f'sitar_voices_x{oversample}']:.0f} sitar voices in real time on one core")
    made = instrument(1, 64)
    keys = [KEYS[i % len(KEYS)] for i in range(32)]
    ratios = [
        seconds_per_block(made, keys, args.seconds / 4) / kernels_per_block(made, keys, args.seconds / 8)
        for _ in range(5)
    ]
    report["overhead"] = float(np.median(ratios))
    print(f"32 voices cost {report['overhead']:.3f} times their kernels")
    report["moving_over_resting"] = moving_over_resting(args.seconds / 4)
    print(f"a moving barrier costs {report['moving_over_resting']:.2f} times a resting one")
    cold, warm = cold_and_warm()
    report["cold_start_s"], report["warm_start_s"] = cold.processors, warm.processors
    report["cold_start_wall_s"] = cold.clock
    print(f"the first start takes processors {cold.processors:.1f} s, by the clock {cold.clock:.1f} s")
    print(f"the next one {warm.processors:.2f} s of processors")
    report["against_voices"] = [
        {"voices": n, "us_per_block": 1e6 * seconds_per_block(made, [KEYS[i % 25] for i in range(n)], args.seconds / 4)}
        for n in (1, 2, 4, 8, 16, 32, 64)
    ]
    report["against_oversampling"] = [
        {"oversample": x, "voices": voices_in_real_time(x, 32, args.seconds / 2)} for x in (1, 2, 4, 8)
    ]
    report["against_pitch"] = [
        {"key": key, "ns_per_sample": 1e9 * seconds_per_block(made, [key], args.seconds / 4) / BLOCK}
        for key in range(24, 97, 6)
    ]
    for name in ("against_voices", "against_oversampling", "against_pitch"):
        print(name.replace("_", " ") + ": " + ", ".join(" ".join(f"{v:.4g}" for v in r.values()) for r in report[name]))
    first, last = later_cost(args.seconds)
    report["block_us_first_second"], report["block_us_60th_second"] = first * 1e6, last * 1e6
    print(f"a chord of 25: {first * 1e6:.1f} us a block in its first second, {last * 1e6:.1f} in its 60th")
    if args.json:
        args.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
