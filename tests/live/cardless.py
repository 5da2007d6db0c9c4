"""`jawari play` with an invented sound card, for what does not depend on a true one: python cardless.py ARGUMENTS...

Blocks come by the clock, from a thread. The card strikes a key every 30 ms, so that there is something to record, and
keeps what it was given in the file that HEARD names.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from engine import cli
from engine.compiled import now
from engine.live import session
from engine.live.audio import cards
from engine.live.audio.cards import Card
from engine.live.player import Player
from engine.live.thread.block import run_block

CARD = Card(0, "invented", "none", 2, 48_000.0, True, 0.01, 0.1)
BLOCK = 128


class InventedCard:
    """In place of the Watch: a stream that plays by itself."""

    lost = False

    def __init__(self, card: Card, open_stream: Any, player: Player, say: Callable[[str], None], *_: Any) -> None:
        self.stream = SimpleNamespace(card=card, latency=0.01)
        self._player, self._ended = player, threading.Event()
        self._heard = open(os.environ["HEARD"], "wb") if "HEARD" in os.environ else None  # noqa: SIM115
        self._thread = threading.Thread(target=self._play, daemon=True)
        self._thread.start()

    def _play(self) -> None:
        out, struck, begin = np.zeros((BLOCK, 2), np.float32), 0.0, time.monotonic()
        blocks = 0
        while not self._ended.is_set():
            if time.monotonic() - struck > 0.03:
                struck = time.monotonic()
                self._player.send([0x90, 50 + blocks % 20, 100])
            run_block(self._player.address, BLOCK, out.ctypes.data, 0, now())
            if self._heard:
                self._heard.write(out.tobytes())
                self._heard.flush()
            blocks += 1
            self._ended.wait(max(begin + blocks * BLOCK / 48_000 - time.monotonic(), 0.0))

    def tick(self) -> None:
        pass

    def close(self) -> None:
        self._ended.set()
        self._thread.join()


if __name__ == "__main__":
    cards.choose = lambda _: CARD
    cards.check = lambda *_: None  # type: ignore[assignment]
    session.Watch = InventedCard  # type: ignore[assignment,misc]
    sys.exit(cli.main(["play", *sys.argv[1:], "--midi", "none"]))
