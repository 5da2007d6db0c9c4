#!/usr/bin/env python3
"""Play random MIDI on the sound card for a long time, and tell what went wrong.

    python3 scripts/soak.py [--minutes 10] [--preset sitar] [--device NAME] [--jack] [--block-size 128] [--busy]
                            [--seed 0] [--json FILE]

Some MIDI channels go through a virtual port, as a keyboard's would, another straight to the player. Reports blocks,
blocks lost by the clock, the worst load, events, growth of memory and notes that would not end. Exits with 1 if a note
is stuck, an inlet had no room, memory grew by 1 MB, or the card asked for much less sound than its rate promises.
--jack plays on a JACK server; if none is running, on one of its own, which needs no sound card. --busy keeps the
interpreter busy meanwhile.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import mido
from virtual_card import jack_server, missing

import engine
from engine import messages as midi
from engine.errors import EngineError
from engine.live.audio.cards import check, choose
from engine.live.audio.stream import Stream
from engine.live.hush import hushed
from engine.live.midi.inputs import Inputs
from engine.live.player import Player
from engine.synth.memory import FREE

Message = tuple[int, ...]
Send = Callable[[Message], object]

PORT = "jawari"  # our virtual input
PORTED, CHANNELS = (0, 1), (0, 1, 2)  # MIDI channels that go through it, and all
CONTROLLERS = (midi.MODULATION, midi.EXPRESSION, 16, *midi.PEDALS, midi.BRIGHTNESS)
MOST_HELD = 24  # keys at a time
WARM = 10.0  # s after which memory ought to stand still
MOST_GROWTH = 1.0  # MB
LOOKS = 40  # at the memory
ENOUGH = 0.5  # of the blocks that the clock has room for
RING_OUT = 20.0  # s in which released strings fall silent


def music(seed: int) -> Iterator[tuple[float, Message]]:
    """Endless (seconds to wait, message): notes of all lengths, pedals, wheels, pressure, now and then a flood."""
    chance, held = random.Random(seed), [(0, 60)]
    while True:
        channel, kind = chance.choice(CHANNELS), chance.random()
        wait = 0.0 if chance.random() < 0.05 else chance.expovariate(25.0)
        if kind < 0.45 and len(held) < MOST_HELD:
            held.append((channel, chance.randint(36, 84)))
            yield wait, (midi.NOTE_ON | channel, held[-1][1], chance.randint(1, 127))
        elif kind < 0.85 and held:
            channel, key = held.pop(chance.randrange(len(held)))
            yield wait, (midi.NOTE_OFF | channel, key, 64)
        elif kind < 0.93:
            yield wait, (midi.CONTROL | channel, chance.choice(CONTROLLERS), chance.randrange(128))
        elif kind < 0.98:
            yield wait, (midi.WHEEL | channel, chance.randrange(128), chance.randrange(128))
        else:
            yield wait, (midi.PRESSURE | channel, chance.randrange(128))


def memory() -> float:
    """MB of this process in memory, without garbage; where that is not told the most that it ever was, or nan."""
    gc.collect()
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        pass
    try:
        import resource
    except ImportError:  # Windows
        return float("nan")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def growth(looks: Sequence[float]) -> float:
    """MB from the first to the last of these, each the middle one of five: one alone may be an accident."""
    few = max(min(5, len(looks) // 2), 1)
    return statistics.median(looks[-few:]) - statistics.median(looks[:few])


def keep_busy(stop: threading.Event) -> None:
    """What an interpreter may be at: loops, sorting, the garbage collector."""
    while not stop.is_set():
        sum(n * n for n in range(200_000))
        sorted(random.random() for _ in range(100_000))
        gc.collect()


def play(send: Send, seconds: float, seed: int) -> tuple[int, list[float]]:
    """Send the music; returns how many messages, and what memory was, again and again after a while."""
    began, sent, looks = time.monotonic(), 0, []
    warm = min(WARM, seconds / 2)
    for wait, message in music(seed):
        passed = time.monotonic() - began
        if passed > seconds:
            break
        if passed > warm + len(looks) * (seconds - warm) / LOOKS:
            looks.append(memory())
        time.sleep(wait)
        send(message)
        sent += 1
    return sent, [*looks, memory()]


def release(send: Send) -> int:
    """End everything as a player would; returns how many messages that took."""
    messages = [(midi.CONTROL | channel, pedal, 0) for channel in CHANNELS for pedal in midi.HOLDING_PEDALS]
    messages += [(midi.NOTE_OFF | channel, key, 0) for channel in CHANNELS for key in range(midi.KEYS)]
    for message in messages:
        send(message)
        time.sleep(0.001)  # a port is not made for hundreds at a time
    return len(messages)


def sounding(player: Player) -> int:
    """Voices that are not free."""
    return sum(int((i.machine.voices.state != FREE).sum()) for i in player.instruments())


def stuck(player: Player) -> int:
    """Voices that go on although everything has been released."""
    end = time.monotonic() + RING_OUT
    while sounding(player) and time.monotonic() < end:
        time.sleep(0.1)
    return sounding(player)


def way_in(player: Player, undo: ExitStack) -> tuple[Send, str]:
    """What sends a message on its channel's way, and how they come in."""
    try:
        with hushed():
            inputs = Inputs(player, None, True, lambda line: None)
            undo.callback(inputs.close)
            port = undo.enter_context(output(inputs.title.rpartition(", ")[2]))
    except (EngineError, ImportError, OSError, StopIteration) as error:
        return player.send, f"straight to the player only ({error or type(error).__name__})"

    def send(message: Message) -> None:
        if midi.channel(message[0]) in PORTED:
            port.send(mido.Message.from_bytes(message))
        else:
            player.send(message)

    return send, f"{inputs.title}, and straight to the player"


def output(api: str) -> Any:
    """Our virtual input as other programs see it, in the same of the system's MIDI services."""
    backend = mido.Backend(f"mido.backends.rtmidi/{api}")
    return backend.open_output(next(name for name in backend.get_output_names() if PORT in name))


def soak(args: argparse.Namespace, undo: ExitStack) -> dict[str, Any]:
    """Play, and count."""
    card = choose(args.device)
    check(card, card.rate, 2)
    player = Player(card.rate, args.block_size)
    player.change(engine.Instrument(args.preset, card.rate, args.block_size))
    stream, stop = Stream(player, card, args.block_size), threading.Event()
    undo.callback(stream.close)
    send, ways = way_in(player, undo)
    undo.callback(stop.set)
    if args.busy:
        threading.Thread(target=keep_busy, args=(stop,), daemon=True).start()
    stream.start()
    began, start = time.monotonic(), player.gauges.blocks
    sent, looks = play(send, 60.0 * args.minutes, args.seed)
    took, blocks = time.monotonic() - began, player.gauges.blocks - start
    sent += release(send)
    left = stuck(player)
    g, period = player.gauges, 1e9 * args.block_size / card.rate
    return {
        "card": str(card),
        "midi": ways,
        "minutes": took / 60.0,
        "blocks": blocks,
        "blocks_by_the_clock": round(took * 1e9 / period),
        "lost": g.lost,
        "too_long": g.long,
        "underflows": g.underflows,
        "worst_lateness_ms": g.worst_late / 1e6,
        "worst_load": g.worst / period,
        "mean_load": g.busy / period / max(g.blocks, 1),
        "peak": max(player.take_peak()),
        "events": g.events,
        "events_lost": player.events_lost,
        "events_lost_on_the_way": sent - g.events - player.events_lost,
        "memory_mb": looks[-1],
        "memory_growth_mb": growth(looks),
        "stuck_notes": left,
        "watchdog": player.instrument.report()["watchdog"] if player.instrument else 0,
    }


def server(undo: ExitStack) -> None:
    """A JACK server of our own, if there is none."""
    if missing():
        sys.exit(f"soak: --jack {missing()}")
    quiet = subprocess.DEVNULL
    if subprocess.run(("jack_lsp",), stdout=quiet, stderr=quiet, check=False).returncode:
        folder = undo.enter_context(tempfile.TemporaryDirectory())
        os.environ.update(undo.enter_context(jack_server(Path(folder), real_time=True)).environment)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--preset", default="sitar")
    parser.add_argument("--device")
    parser.add_argument("--jack", action="store_true", help="play on a JACK server, if need be on one of our own")
    parser.add_argument("--block-size", type=int, default=128)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--busy", action="store_true", help="keep the interpreter busy meanwhile")
    parser.add_argument("--json", type=Path, metavar="FILE")
    args = parser.parse_args()
    with ExitStack() as undo:
        try:
            if args.jack:
                server(undo)
                args.device = args.device or "system"  # as JACK calls its sound card
            report = soak(args, undo)
        except EngineError as error:
            print(f"soak: {error}", file=sys.stderr)
            return error.exit_code
    for name, value in report.items():
        shown = f"{value:.4g}" if isinstance(value, float) else value
        print(f"{name.replace('_', ' ')}: {shown}")
    if args.json:
        args.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    silent = report["blocks"] < ENOUGH * report["blocks_by_the_clock"]
    grown = report["memory_growth_mb"] > MOST_GROWTH
    return int(report["stuck_notes"] > 0 or report["events_lost"] > 0 or grown or silent)


if __name__ == "__main__":
    sys.exit(main())
