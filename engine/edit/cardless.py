"""Sound where there is no card: blocks against the computer's clock, for the page to play."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np

from engine.compiled import now
from engine.live.player import Player
from engine.live.thread.block import run_block

BLOCK = 1024  # frames: a multiple of what a take needs, some twenty milliseconds
LATE = 0.25  # s after which what was missed is left out


class Cardless:
    """A thread in the place of a card's; `play` gets the samples of every block."""

    def __init__(self, player: Player, play: Callable[[bytes], None]) -> None:
        self._player, self._play, self._ended = player, play, threading.Event()
        self._thread = threading.Thread(target=self._run, name="sound", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._player.pause_over()
        self._thread.start()

    def close(self) -> None:
        """End."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(2.0)

    def _run(self) -> None:
        player, out = self._player, np.zeros((BLOCK, self._player.channels), np.float32)
        span, due = BLOCK / player.sample_rate, time.monotonic()
        while not self._ended.wait(max(due - time.monotonic(), 0.0)):
            run_block(player.address, BLOCK, out.ctypes.data, 0, now())
            self._play(out.tobytes())
            due = max(due + span, time.monotonic() - LATE)
