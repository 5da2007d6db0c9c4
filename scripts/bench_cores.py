#!/usr/bin/env python3
"""Time blocks of many strings on one core and on two, in turns; and count late blocks of a sound card with and without.

    python3 scripts/bench_cores.py [--preset sitar] [--block-size 128] [--seconds 8] [--json FILE]
    python3 scripts/bench_cores.py --stress 5 [--strings 64] [--busy]

The first plays without a card: a thread with real-time priority sleeps until each block is due, as a card's would.
Every quarter of a second the helper (engine/live/helper.py) is told to rest or to help, so that what else the machine
does hits both. For each number of strings: the time of a block alone and with help, its median and its lowest
twentieth, and the share of voices that the helper took. --stress plays on a JACK server of its own for so many minutes,
with --busy beside a busy interpreter, and counts blocks by the clock in slices of ten seconds: how many were lost, or
ended later than a block after they should have begun.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
from soak import keep_busy
from virtual_card import jack_server, missing

import engine
from engine import messages as midi
from engine.compiled import now
from engine.live.audio.cards import choose
from engine.live.audio.stream import Stream
from engine.live.helper import Helper, refusal
from engine.live.player import Player
from engine.live.thread.block import run_block
from engine.synth.crew import HELP, WAIT

RATE, PRIORITY = 48_000, 30
STRINGS = (16, 32, 64, 96)
KEYS = [36 + k for k in range(25)]  # C2 to C4
TURN, SLICE = 0.25, 10.0  # s
SETTLING = 8  # blocks after a change that count for neither
Rows = dict[bool, list[Any]]


def strike(player: Player, count: int) -> None:
    """So many strings, each key on as many channels as it takes."""
    for i in range(count):
        player.send((midi.NOTE_ON | i // len(KEYS), KEYS[i % len(KEYS)], 100))


@contextmanager
def beating(player: Player) -> Iterator[None]:
    """A thread that has a player's blocks computed when they are due."""
    stop, out = threading.Event(), np.zeros((player.block_size, 2), np.float32)

    def beat() -> None:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
        due = now()
        while not stop.is_set():
            due += round(1e9 * player.block_size / RATE)
            time.sleep(max(due - now(), 0) / 1e9)
            run_block(player.address, player.block_size, out.ctypes.data, 0, now())

    thread = threading.Thread(target=beat)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def hired(player: Player, undo: ExitStack) -> Helper:
    """A helper that has begun, or an end with the reason why it cannot."""
    helper = Helper(player, lambda text: print(text, file=sys.stderr), least=1)
    undo.callback(helper.close)
    end = time.monotonic() + 5.0
    while not helper.helps:
        helper.tick()
        time.sleep(0.02)
        if refusal() or time.monotonic() > end:
            sys.exit("bench_cores: nobody helps")
    return helper


def in_turns(player: Player, helper: Helper, count: int, seconds: float, turn: float) -> Rows:
    """Blocks (start, duration, frames, lateness; ns) without help and with it."""
    rows: Rows = {False: [], True: []}
    end, helping = time.monotonic() + seconds, False
    while time.monotonic() < end or helping:
        helper.order(HELP if helping else WAIT)
        strike(player, count)
        player.new_blocks()
        time.sleep(turn)
        rows[helping].append(player.new_blocks()[SETTLING:])
        helping = not helping
    return rows


def timed(args: argparse.Namespace, count: int) -> dict[str, float]:
    """What a second core wins for so many strings."""
    with ExitStack() as undo:
        player = Player(RATE, args.block_size)
        player.change(engine.Instrument(args.preset, RATE, args.block_size, args.oversample, count))
        undo.enter_context(beating(player))
        helper = hired(player, undo)
        before = helper.performed
        rows = in_turns(player, helper, count, args.seconds, TURN)
        took = {helping: np.concatenate(parts)[:, 1] / 1e3 for helping, parts in rows.items()}
        spans = took[True].size * args.block_size / 64  # of the renderer, each with all voices
        alone, helped = ([float(np.percentile(took[h], q)) for q in (50, 5)] for h in (False, True))
        return {
            "strings": count,
            "alone_us": alone[0],
            "helped_us": helped[0],
            "gain": alone[0] / helped[0],
            "gain_at_best": alone[1] / helped[1],
            "p99_alone_us": float(np.percentile(took[False], 99)),
            "p99_helped_us": float(np.percentile(took[True], 99)),
            "share": (helper.performed - before) / spans / count,
        }


def stressed(args: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Late blocks on a virtual card, alone and with help."""
    if missing():
        sys.exit(f"bench_cores: --stress {missing()}")
    with ExitStack() as undo:
        folder = undo.enter_context(tempfile.TemporaryDirectory())
        card = jack_server(Path(folder), RATE, args.block_size, real_time=True)
        os.environ.update(undo.enter_context(card).environment)
        player, stop = Player(RATE, args.block_size), threading.Event()
        player.change(engine.Instrument(args.preset, RATE, args.block_size, args.oversample, args.strings))
        stream = Stream(player, choose("system"), args.block_size)
        undo.callback(stream.close)
        stream.start()
        helper = hired(player, undo)
        if args.busy:
            threading.Thread(target=keep_busy, args=(stop,), daemon=True).start()
            undo.callback(stop.set)
        rows = in_turns(player, helper, args.strings, 60.0 * args.stress, SLICE)
        return {
            "with help" if helping else "alone": counted(parts, 1e9 * args.block_size / RATE)
            for helping, parts in rows.items()
        }


def counted(slices: list[Any], period: float) -> dict[str, float]:
    """Blocks by the clock, in slices that each are whole; `period` and rows in ns."""
    blocks = np.concatenate(slices)
    missed = sum(max(round((s[-1, 0] - s[0, 0]) / period) - (len(s) - 1), 0) for s in slices)
    return {
        "blocks": len(blocks),
        "lost": missed,
        "late": int((blocks[:, 3] + blocks[:, 1] > period).sum()),
        "worst_lateness_ms": float(blocks[:, 3].max()) / 1e6,
        "load": float(blocks[:, 1].mean()) / period,
        "worst_load": float(blocks[:, 1].max()) / period,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="sitar-string")
    parser.add_argument("--oversample", type=int, metavar="N", help="default: the preset's")
    parser.add_argument("--block-size", type=int, default=128, metavar="N")
    parser.add_argument("--seconds", type=float, default=8.0, help="for each number of strings (8)")
    parser.add_argument("--stress", type=float, metavar="MINUTES", help="count late blocks instead")
    parser.add_argument("--strings", type=int, default=64, metavar="N", help="of --stress (64)")
    parser.add_argument("--busy", action="store_true", help="with --stress: keep the interpreter busy meanwhile")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    args = parser.parse_args()
    if why := refusal():
        sys.exit(f"bench_cores: no second core: {why}")
    report: Any = {}
    if args.stress:
        report = stressed(args)
        for name, row in report.items():
            print(f"{name}: " + ", ".join(f"{key.replace('_', ' ')} {value:.4g}" for key, value in row.items()))
    else:
        for count in STRINGS:
            row = report[str(count)] = timed(args, count)
            print(", ".join(f"{key.replace('_', ' ')} {value:.4g}" for key, value in row.items()), flush=True)
    if args.json:
        args.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
