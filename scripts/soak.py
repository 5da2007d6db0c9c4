#!/usr/bin/env python3
"""Play random MIDI on the sound card for a long time, and tell what went wrong.

    python3 scripts/soak.py [--minutes 10] [--preset sitar] [--device NAME] [--block-size 128] [--busy] [--json FILE]

Reports blocks, blocks lost by the clock, the worst load, events, growth of memory and notes that would not end. Exits
with 1 if a note is stuck, an event was lost or memory grew by 1 MB. --busy keeps the interpreter busy meanwhile.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import engine
from engine.live.cards import check, choose
from engine.live.player import Player
from engine.live.stream import Stream
from engine.synth import fields as f

CONTROLLERS = (1, 11, 16, 64, 66, 67, 74)
WARM = 10.0  # s after which memory ought to stand still
MOST_GROWTH = 1.0  # MB


def music(seed: int) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Endless (seconds to wait, message): notes of all lengths, pedals, wheels, pressure, now and then a flood."""
    chance, held = random.Random(seed), [(0, 60)]
    while True:
        channel, kind = chance.randrange(3), chance.random()
        wait = 0.0 if chance.random() < 0.05 else chance.expovariate(25.0)
        if kind < 0.45:
            held.append((channel, chance.randint(36, 84)))
            yield wait, (0x90 | channel, held[-1][1], chance.randint(1, 127))
        elif kind < 0.85 and held:
            channel, key = held.pop(chance.randrange(len(held)))
            yield wait, (0x80 | channel, key, 64)
        elif kind < 0.93:
            yield wait, (0xB0 | channel, chance.choice(CONTROLLERS), chance.randrange(128))
        elif kind < 0.98:
            yield wait, (0xE0 | channel, chance.randrange(128), chance.randrange(128))
        else:
            yield wait, (0xD0 | channel, chance.randrange(128))


def memory() -> float:
    """MB of this process in memory."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * 4096 / 1e6
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def keep_busy(stop: threading.Event) -> None:
    """What an interpreter may be at: loops, sorting, the garbage collector."""
    while not stop.is_set():
        sum(n * n for n in range(200_000))
        sorted(random.random() for _ in range(100_000))
        gc.collect()


def held_voices(player: Player) -> int:
    return sum(int((i.arrays["voice_ints"][:, f.V_STATE] == f.HELD).sum()) for i in player.instruments())


def play(player: Player, seconds: float, seed: int) -> float:
    """Send the music; returns MB by which memory grew after a while."""
    began = time.monotonic()
    before = 0.0
    for wait, message in music(seed):
        passed = time.monotonic() - began
        if passed > seconds:
            break
        if not before and passed > min(WARM, seconds / 2):
            gc.collect()
            before = memory()
        time.sleep(wait)
        player.send(message)
    gc.collect()
    return memory() - before


def release(player: Player) -> int:
    """End everything as a player would, and count what goes on all the same."""
    for channel in range(16):
        for pedal in (64, 66):
            player.send((0xB0 | channel, pedal, 0))
        for key in range(128):
            player.send((0x80 | channel, key, 0))
    time.sleep(0.5)
    return held_voices(player)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--preset", default="sitar")
    parser.add_argument("--device")
    parser.add_argument("--block-size", type=int, default=128)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--busy", action="store_true", help="keep the interpreter busy meanwhile")
    parser.add_argument("--json", type=Path, metavar="FILE")
    args = parser.parse_args()
    card = choose(args.device)
    check(card, card.rate, 2)
    player = Player(card.rate, args.block_size)
    player.change(engine.Instrument(args.preset, card.rate, args.block_size))
    stream, stop = Stream(player, card, args.block_size), threading.Event()
    if args.busy:
        threading.Thread(target=keep_busy, args=(stop,), daemon=True).start()
    stream.start()
    began, start = time.monotonic(), player.gauges.blocks
    try:
        growth = play(player, 60.0 * args.minutes, args.seed)
        took, blocks = time.monotonic() - began, player.gauges.blocks - start
        stuck = release(player)
    finally:
        stop.set()
        stream.close()
    g, instrument = player.gauges, player.instrument
    report = {
        "minutes": took / 60.0,
        "blocks": blocks,
        "blocks_by_the_clock": round(took * card.rate / args.block_size),
        "lost": g.lost,
        "too_long": g.long,
        "underflows": g.underflows,
        "worst_load": g.worst * 1e-9 * card.rate / args.block_size,
        "mean_load": g.busy * 1e-9 * card.rate / args.block_size / max(g.blocks, 1),
        "events": g.events,
        "events_lost": player.events_lost,
        "memory_growth_mb": growth,
        "stuck_notes": stuck,
        "watchdog": instrument.report()["watchdog"] if instrument else 0,
    }
    for name, value in report.items():
        print(
            f"{name.replace('_', ' ')}: {value:.3g}"
            if isinstance(value, float)
            else f"{name.replace('_', ' ')}: {value}"
        )
    if args.json:
        args.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return int(stuck > 0 or report["events_lost"] > 0 or growth > MOST_GROWTH)


if __name__ == "__main__":
    sys.exit(main())
