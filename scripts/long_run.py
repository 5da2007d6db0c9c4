#!/usr/bin/env python3
"""Play an hour of random MIDI offline and look for whatever only time brings: leaks, stuck strings, drift, NaN.

    python3 scripts/long_run.py [PRESET] [--minutes M] [--seed N] [--every S] [--json FILE]

Notes, pedals, bends, pressure and controllers arrive on all sixteen channels. Every sample must be a number and never
over +20 dBFS; the energy of every string must be a number, the watchdog (whose business is energy that grows by
itself) and the count of lost events stay at zero, and memory flat. At the end all keys are let go, and the strings must
fall silent. Ends with exit code 1 if anything was amiss, or if it was slower than real time.
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from engine import Instrument
from engine import messages as midi
from engine.synth.memory import FREE
from engine.units import db_to_gain

RATE, BLOCK = 48_000, 256
LOUDEST = db_to_gain(20.0)  # no music on a shipped preset comes near it
NOTES_PER_SECOND, OTHERS_PER_SECOND = 8.0, 20.0
SETTLED = 10.0  # s after which all memory should have been touched
MOST_GROWTH = 8.0  # MB
RING_OUT = 120.0  # s within which released strings must have fallen silent

Event = tuple[float, tuple[int, ...]]  # s, MIDI bytes


def music(rng: random.Random, keys: list[int], seconds: float) -> Iterator[Event]:
    """Random messages in time order; every note that begins also ends."""
    ends: list[Event] = []
    now = 0.0
    while now < seconds:
        now += rng.expovariate(NOTES_PER_SECOND + OTHERS_PER_SECOND)
        while ends and ends[0][0] <= now:
            yield heapq.heappop(ends)
        channel = rng.randrange(midi.CHANNELS)
        if rng.random() * (NOTES_PER_SECOND + OTHERS_PER_SECOND) < NOTES_PER_SECOND:
            key = rng.choice(keys)
            yield now, (midi.NOTE_ON | channel, key, rng.randint(1, 127))
            heapq.heappush(ends, (now + rng.expovariate(2.0), (midi.NOTE_OFF | channel, key, 64)))
        else:
            yield now, gesture(rng, channel)
    yield from sorted(ends)


def gesture(rng: random.Random, channel: int) -> tuple[int, ...]:
    """A message other than a note."""
    value = rng.randrange(128)
    match rng.randrange(6):
        case 0:
            return midi.WHEEL | channel, rng.randrange(128), value
        case 1:
            return midi.PRESSURE | channel, value
        case 2:
            return midi.KEY_PRESSURE | channel, rng.randrange(128), value
        case 3:
            return midi.CONTROL | channel, rng.choice(midi.PEDALS), value
        case 4 if rng.random() < 0.02:
            return midi.CONTROL | channel, rng.randrange(midi.MODES, midi.KEYS), 0
        case _:
            return midi.CONTROL | channel, rng.randrange(midi.MODES), value


def farewell() -> Iterator[tuple[int, ...]]:
    """Pedals up, controllers back, all notes off, on every channel."""
    for channel in range(midi.CHANNELS):
        for number in (*midi.HOLDING_PEDALS, midi.RESET_CONTROLLERS, midi.ALL_NOTES_OFF):
            yield midi.CONTROL | channel, number, 0


def memory() -> float | None:
    """MB that this process holds now; where the system does not say, the most it ever held; None on Windows."""
    try:
        import resource
    except ImportError:
        return None
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most / (2**20 if sys.platform == "darwin" else 2**10)


class Watch:
    """Plays, and keeps what was amiss: each kind of fault once, with the time."""

    def __init__(self, player: Instrument) -> None:
        self.player, self.peak = player, 0.0
        self.faults: dict[str, float] = {}
        self._out = np.zeros((BLOCK, player.channels), np.float32)

    def play(self, until: int) -> None:
        """Go on to this sample, with an eye on every sample."""
        while self.player.clock < until:
            out = self._out[: until - self.player.clock]
            self.player.run(out)
            peak = float(np.abs(out).max())
            self.expect(np.isfinite(peak), "a sample is not a number")
            self.expect(not peak > LOUDEST, "a sample is over +20 dBFS")
            self.peak = max(self.peak, peak)

    def look(self) -> None:
        """Ask the renderer how its strings are."""
        voices, report = self.player.machine.voices, self.player.report()
        energy = voices.energy[voices.state != FREE]
        self.expect(np.isfinite(energy).all(), "a string's energy is not a number")
        self.expect(report["watchdog"] == 0, "the watchdog silenced a string whose energy grew by itself")
        self.expect(report["events_lost"] == 0, "an event was lost")

    def expect(self, so: Any, otherwise: str) -> None:
        """Note a fault if it is not so."""
        if not so:
            self.faults.setdefault(otherwise, self.player.clock / RATE)


def perform(watch: Watch, events: Iterator[Event], every: float, told: float) -> dict[str, float]:
    """Play the events; memory (MB) once all was touched and at the end, and what was told on the way."""
    player, count, notes = watch.player, 0, 0
    look, first, last = every, memory(), memory()
    began = time.perf_counter()
    for seconds, message in events:
        while look <= seconds:
            watch.play(round(look * RATE))
            watch.look()
            last = memory()
            first = last if look <= SETTLED else first
            if look % told < every:
                speed = look / (time.perf_counter() - began)
                print(f"{look / 60:6.1f} min  {speed:5.1f}x real time  {last or 0.0:6.1f} MB", flush=True)
            look += every
        at = round(seconds * RATE)
        player.schedule(at, message)
        watch.play(at)
        count, notes = count + 1, notes + (midi.kind(message[0]) == midi.NOTE_ON)
    return {"first_mb": first or 0.0, "last_mb": last or 0.0, "events": count, "notes": notes}


def ring_out(watch: Watch) -> float:
    """Let go of everything; seconds until the last voice is free."""
    player = watch.player
    start = player.clock
    for message in farewell():
        player.schedule(start, message)
    while not player.silent and player.clock < start + RING_OUT * RATE:
        watch.play(player.clock + RATE // 10)
    watch.look()
    watch.expect(player.silent, f"a string still sounds {RING_OUT:g} s after all keys are up")
    return (player.clock - start) / RATE


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("preset", nargs="?", default="sitar", help="a shipped preset's name or a YAML file (sitar)")
    parser.add_argument("--minutes", type=float, default=60.0, help="of sound (60)")
    parser.add_argument("--seed", type=int, default=0, help="of the music (0)")
    parser.add_argument("--every", type=float, default=1.0, metavar="S", help="seconds of sound between looks (1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    args = parser.parse_args()
    player = Instrument(args.preset, RATE, BLOCK)
    keys = [key for key in range(128) if key not in player.silent_keys]
    watch, began = Watch(player), time.perf_counter()
    figures = perform(watch, music(random.Random(args.seed), keys, 60.0 * args.minutes), args.every, 60.0)
    figures["ringing_seconds"] = ring_out(watch)
    figures["seconds"] = player.clock / RATE
    figures["speed"] = figures["seconds"] / (time.perf_counter() - began)
    figures["grown_mb"] = figures["last_mb"] - figures["first_mb"]
    figures["peak"], report = watch.peak, player.report()
    figures |= {name: report[name] for name in ("peak_voices", "voices_stolen", "watchdog", "events_lost")}
    watch.expect(figures["grown_mb"] <= MOST_GROWTH, f"memory grew by more than {MOST_GROWTH:g} MB")
    watch.expect(figures["speed"] > 1.0, "it was slower than real time")
    watch.expect(watch.peak > 0.01, "nothing was heard")
    print(", ".join(f"{name.replace('_', ' ')} {value:.4g}" for name, value in figures.items()))
    for fault, at in watch.faults.items():
        print(f"long_run: {fault}, first at {at:.2f} s", file=sys.stderr)
    if args.json:
        args.json.write_text(json.dumps({**figures, "preset": args.preset, "faults": watch.faults}, indent=1) + "\n")
    return 1 if watch.faults else 0


if __name__ == "__main__":
    sys.exit(main())
