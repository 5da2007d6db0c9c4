"""What the stress tests have a program of its own do: play while its interpreter is idle, or busy, and count blocks.

Blocks are counted against the clock: a card, or a sound server, that asks for none hears none, whatever it reports.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from live.midi_playing import be_busy
from numpy.typing import NDArray
from one_string import ONE_STRING

from engine.compiled import now
from engine.live.audio.cards import choose
from engine.live.audio.portaudio import library
from engine.live.audio.stream import Stream
from engine.live.midi.inputs import Inputs
from engine.live.player import Player
from engine.synth.instrument import Instrument

Integers = NDArray[np.int64]

RATE, BLOCK = 48000, 128
PERIOD = 1e9 * BLOCK / RATE  # ns
KEYS = (54, 57, 59, 61, 62, 64, 66, 69)
AGAIN = 2.0  # s after which the eight are struck again
FOLLOWING = 32  # blocks among which one is on time


def due(begun: Integers) -> NDArray[np.float64]:
    """When these blocks should have begun (ns), by the most punctual of each and those that follow it."""
    grid = np.arange(len(begun)) * PERIOD
    ahead = np.append(begun - grid, [np.inf] * (FOLLOWING - 1))
    return np.lib.stride_tricks.sliding_window_view(ahead, FOLLOWING).min(axis=1) + grid


def counted(begun: Integers, took: Integers) -> dict[str, float]:
    """Of these blocks (ns): how many, how many the clock has room for besides, and how many ended too late.

    Too late is more than a period after they should have begun; those that are long took more than that by themselves.
    With the worst beginning in ms, and the mean load.
    """
    late, last = begun - due(begun), len(begun) - 1
    return {
        "blocks": last,
        "lost": round((due(begun)[-1] - due(begun)[0]) / PERIOD) - last,
        "late": int((late + took > PERIOD).sum()),
        "long": int((took > PERIOD).sum()),
        "worst": float(late.max()) / 1e6,
        "load": float(took.mean()) / PERIOD,
    }


def spend(seconds: float, busy: bool) -> None:
    """Time, with nothing to do or with everything."""
    if busy:
        be_busy(seconds)
    else:
        time.sleep(seconds)


def design_presets(player: Player, seconds: float, played: bool) -> int:
    """Design one preset after another in the background; each is played on all channels at once, or none; how many."""
    names, made, changes = [*sorted(ONE_STRING), "sitar"], list[Instrument](), 0
    end, thread = time.monotonic() + seconds, threading.Thread()

    def design() -> None:
        made.append(Instrument(names[changes % len(names)], RATE, BLOCK, oversample=2, polyphony=len(KEYS)))

    while time.monotonic() < end:
        if made and (not played or player.change(made[-1])):
            made.clear()
            changes += 1
        elif not made and not thread.is_alive():
            thread = threading.Thread(target=design)
            thread.start()
        time.sleep(0.05)
    thread.join()
    return changes


def comes_first() -> bool:
    """Whether a thread of this process, the one that sounds are made in, has real-time priority.

    Where it may not have that, whoever is busy steps back as far as it can: what is to be seen here is what the
    interpreter's lock does, not how a system without priorities divides its cores.
    """
    if sys.platform != "linux":
        return False
    policies = [os.sched_getscheduler(int(thread)) for thread in os.listdir("/proc/self/task")]
    first = os.SCHED_FIFO in policies or os.SCHED_RR in policies
    if not first:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)
    return first


@contextmanager
def sounding(player: Player) -> Iterator[Stream]:
    """The program's own way to the card."""
    player.change(Instrument("sitar-string", RATE, BLOCK, polyphony=len(KEYS)))
    stream = Stream(player, choose(), BLOCK)
    stream.start()
    try:
        time.sleep(0.5)
        yield stream
    finally:
        stream.close()


def strike(player: Player, seconds: float) -> None:
    """Eight strings, again and again, stamped ahead: nobody will have time for it."""
    begun = now()
    for n in range(int(np.ceil(seconds / AGAIN))):
        for key in KEYS:
            assert player.send([0x90, key, 100], int(begun + n * AGAIN * 1e9), inlet=1)


def compiled(slices: int, idle: float, busy: float, changing: bool = False) -> dict[str, Any]:
    """The stream as it is, in turns with an idle interpreter (s) and a busy one; or in turns while presets are designed
    that nobody plays, and while each is played.
    """
    player = Player(RATE, BLOCK)
    rows: dict[bool, list[Integers]] = {False: [], True: []}
    voices, changes = [], 0
    with sounding(player):
        first = comes_first()
        last = player.new_blocks()[-1:]
        for n in range(2 * slices):
            seconds = busy if n % 2 else idle
            strike(player, seconds)
            if not changing:
                spend(seconds, bool(n % 2))
            else:
                made = design_presets(player, seconds, played=bool(n % 2))
                changes += made * (n % 2)
            block = np.concatenate([last, player.new_blocks()])
            rows[bool(n % 2)].append(block)
            last = block[-1:]
            assert player.instrument is not None
            voices.append(player.instrument.report()["voices"])
    return {
        "real_time": first,
        "voices": voices,
        "changes": changes,
        "idle": [counted(r[:, 0], r[:, 1]) for r in rows[False]],
        "busy": [counted(r[:, 0], r[:, 1]) for r in rows[True]],
    }


def interpreted(idle: float, busy: float) -> dict[str, Any]:
    """The same strings in a stream with a callback in Python, as one would write it."""
    instrument, card = Instrument("sitar-string", RATE, BLOCK, polyphony=len(KEYS)), choose()
    log: list[tuple[int, int]] = []

    @ctypes.CFUNCTYPE(
        *(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_float), ctypes.c_ulong), *3 * [ctypes.c_void_p]
    )
    def callback(nothing: Any, out: Any, frames: int, times: Any, flags: Any, told: Any) -> int:
        begun = now()
        instrument.run(np.ctypeslib.as_array(out, (frames, 2)))
        log.append((begun, now() - begun))
        return 0

    for n in range(int((idle + busy) / AGAIN) + 1):
        for key in KEYS:
            instrument.schedule(round(n * AGAIN * RATE), [0x90, key, 100])
    address = ctypes.cast(callback, ctypes.c_void_p).value
    assert address is not None
    stream = library().open_output(card.index, 2, RATE, BLOCK, card.low, address, 0)
    stream.start()
    time.sleep(0.5)
    comes_first()
    seen, told = len(log) - 1, {}
    for name, seconds in (("idle", idle), ("busy", busy)):
        spend(seconds, name == "busy")
        rows = np.array(log[seen:], np.int64)
        seen += len(rows) - 1
        told[name] = counted(rows[:, 0], rows[:, 1])
    stream.close()
    return told


def journal(port: str, tell: Callable[..., None], wait: Callable[[], str]) -> None:
    """Play what comes from a MIDI port: for so many seconds, or busily for minus so many, until it is 0.

    Tell when (ns of the card) and what.
    """
    player = Player(RATE, BLOCK)
    with sounding(player):
        rank = comes_first()
        inputs = Inputs(player, [port], False, lambda line: None)
        tell(way=inputs.title, real_time=rank)
        blocks = player.new_blocks()
        while seconds := float(wait()):
            player.new_events()
            tell(begins=True)
            spend(abs(seconds), seconds < 0.0)
            time.sleep(0.1)
            blocks = np.concatenate([blocks, player.new_blocks()])
            samples, messages = player.new_events().T
            starts = due(blocks[:, 0])
            when = starts[samples // BLOCK] + samples % BLOCK * 1e9 / RATE
            tell(when=when.tolist(), messages=messages.tolist(), **counted(blocks[:, 0], blocks[:, 1]))
        inputs.close()
