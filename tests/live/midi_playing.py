"""What the MIDI tests share: another process that plays, a look into an inlet, and an interpreter that has no time."""

from __future__ import annotations

import gc
import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import numpy as np

from engine.live.player import Player
from engine.synth.memory import RING_SIZE

PROBE = (0xB0, 3, 0)  # a controller that nobody maps


class Sender:
    """A process with a MIDI output in JACK: one of its own, or connected "to " a port whose name contains the rest."""

    def __init__(self, client: str, port: str = "out") -> None:
        command = [sys.executable, str(Path(__file__).with_name("sender.py")), client, port]
        pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere, text=True)
        assert self.process.stdout
        assert self.process.stdout.readline() == "ready\n", f"{client}: no output in JACK"

    def begin(self, messages: Sequence[Sequence[int]], gap: float = 0.002) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps([gap, [list(m) for m in messages]]) + "\n")
        self.process.stdin.flush()

    def sent(self) -> list[int]:
        assert self.process.stdout
        return [int(stamp) for stamp in json.loads(self.process.stdout.readline())]

    def play(self, messages: Sequence[Sequence[int]], gap: float = 0.002) -> list[int]:
        self.begin(messages, gap)
        return self.sent()

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()

    def __enter__(self) -> Sender:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.end()


def packed(message: Sequence[int]) -> int:
    return int.from_bytes(bytes(message), "little")


def is_whole(message: Sequence[int]) -> bool:
    """Whether these bytes are one channel message, by the table of the MIDI specification."""
    if not message or not 0x80 <= message[0] <= 0xEF:
        return False
    data = {0xC0: 1, 0xD0: 1}.get(message[0] & 0xF0, 2)
    return len(message) == 1 + data and all(byte < 0x80 for byte in message[1:])


def waiting(player: Player, inlet: int) -> list[tuple[int, int]]:
    """The (stamp, message) rows that the audio thread would find."""
    ring = player.stage.inlets[inlet].ring
    rows = ring.rows[np.arange(ring.read[0], ring.written[0]) & (RING_SIZE - 1)]
    return [(int(at), int(what)) for at, what in rows]


def wait_for(player: Player, inlet: int, count: int, seconds: float = 3.0) -> list[tuple[int, int]]:
    """The rows, once there are so many or time is up."""
    end = time.monotonic() + seconds
    while len(rows := waiting(player, inlet)) < count and time.monotonic() < end:
        time.sleep(0.01)
    return rows


def connect(keys: Sender, player: Player, inlet: int) -> None:
    """Until something comes through: JACK says that ports are connected some periods before they are."""
    end = time.monotonic() + 10.0
    while not waiting(player, inlet):
        assert time.monotonic() < end, "nothing comes through"
        keys.play([PROBE], gap=0.005)
    count = -1
    while count != len(waiting(player, inlet)):  # the last ones are still on their way
        count = len(waiting(player, inlet))
        time.sleep(0.05)
    forget(player, inlet)


def forget(player: Player, inlet: int) -> None:
    """As if the audio thread had taken everything."""
    ring = player.stage.inlets[inlet].ring
    ring.read[0] = ring.written[0]


def held_after(messages: Sequence[int]) -> set[tuple[int, int]]:
    """The (channel, key) that still sound after these."""
    held: set[tuple[int, int]] = set()
    for message in messages:
        status, channel, key, velocity = message & 0xF0, message & 0x0F, message >> 8 & 0x7F, message >> 16 & 0x7F
        if status == 0x90 and velocity:
            held.add((channel, key))
        elif status in (0x80, 0x90):
            held.discard((channel, key))
    return held


def be_busy(seconds: float) -> None:
    """Keep the interpreter's lock as programs do: loops, garbage, a sort, a slow regular expression."""
    end = time.monotonic() + seconds
    litter = [[[i]] for i in range(100_000)]
    numbers = [i * 7919 % 100_003 for i in range(200_000)]
    while time.monotonic() < end:
        sum(i * i for i in range(100_000))
        gc.collect()
        sorted(numbers)
        re.match(r"(a+)+$", "a" * 20 + "b")
    del litter
