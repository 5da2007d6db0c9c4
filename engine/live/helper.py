"""A helper for the audio thread, on a second core: at the priority that the system gave that thread, or not at all.

At an ordinary priority it would be in the way: the system wakes it late, or on the audio thread's own core (measured:
scripts/bench_cores.py). What it does there, engine/synth/crew.py tells; here it is found out who the audio thread is
and how it is scheduled, a thread is made that is scheduled as it is, and both are watched.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable

import numpy as np

from engine import aligned
from engine.compiled import write_shared
from engine.layout import seen, size_of
from engine.live.player import Player
from engine.machine_code import INTERPRETED
from engine.opened import address
from engine.synth.crew import HELP, LEAVE, MANY, WAIT, Crew, help_out

PATIENCE = 2.0  # s in which the audio thread gets its priority, and the helper ends
FUNCTIONS = {"self": "pthread_self", "clock": "pthread_getcpuclockid", "sleep": "nanosleep", "step": "sched_yield"}
_kept: list[object] = []  # memory that instruments, or a helper that did not end, may still know by its address


def refusal() -> str:
    """Why no second core can help here, or nothing."""
    if sys.platform != "linux":
        return "it has been tried on Linux only"
    if INTERPRETED:
        return "nothing is compiled"
    if len(os.sched_getaffinity(0)) < 2:
        return "this program may use one core only"
    return ""


class Helper:
    """Performs some of a player's voices on a second core, from `least` sounding strings on."""

    def __init__(self, player: Player, say: Callable[[str], None], least: int = MANY) -> None:
        self._player, self._say, self._least = player, say, least
        block = aligned.zeros(size_of(Crew), np.uint8)
        _kept.append(block)
        self._address = int(block.ctypes.data)
        self.crew = seen(Crew, self._address)
        self.crew.least = least
        self._known, self._seen = 0, 0.0  # the audio thread that was last asked about, and when it first was
        self._thread: threading.Thread | None = None
        if why := refusal():
            self._say(f"no second core: {why}")
            return
        here = ctypes.CDLL(None)
        for field, name in FUNCTIONS.items():
            setattr(self.crew, field, ctypes.cast(getattr(here, name), ctypes.c_void_p).value or 0)
        self._thread = threading.Thread(target=help_out, args=(self._address,), daemon=True)
        self._thread.start()
        player.share(self._address)

    @property
    def helps(self) -> bool:
        """Whether the helper takes voices where there are enough."""
        return bool(self.crew.order[0] == HELP)

    @property
    def performed(self) -> int:
        """Voices that it has performed so far, each over a few samples."""
        return int(self.crew.done[0])

    def tick(self) -> None:
        """A few times a second: see that it is scheduled as the audio thread is, which may be another one by now."""
        if self._thread is None:
            return
        if self.crew.lapses:
            self._say("the second core did not answer for 0.1 s, sound stood still; from now on one core does it all")
            self.close()
            return
        thread = self._audio_thread()
        if thread != self._known:
            self._known, self._seen = thread, time.monotonic()
            self.order(WAIT)
        if thread and not self.helps and self._seen:
            self._follow(thread)

    def _audio_thread(self) -> int:
        """Its number, 0 before the first block. Linux names a thread's clock after it: (~number << 3) | kind."""
        clock = int(self.crew.audio[0]) & 0xFFFFFFFF
        return ~(clock >> 3) & 0x1FFFFFFF if clock else 0

    def _follow(self, thread: int) -> None:
        """Be scheduled as a thread is; where that is not as real time, or not permitted, there is no help."""
        assert self._thread is not None
        assert self._thread.native_id is not None
        try:
            policy = os.sched_getscheduler(thread)
            if policy & ~os.SCHED_RESET_ON_FORK not in (os.SCHED_FIFO, os.SCHED_RR):
                if time.monotonic() - self._seen > PATIENCE:
                    self._refuse("the sound card's thread has no real-time priority here")
                return
            os.sched_setscheduler(self._thread.native_id, policy, os.sched_getparam(thread))
        except OSError as error:
            self._refuse(f"the system does not give it the priority of the sound card's thread ({error.strerror})")
            return
        self.order(HELP)
        self._say(f"a second core helps where {self._least} strings sound or more")

    def _refuse(self, why: str) -> None:
        self._seen = 0.0
        self._say(f"no second core: {why}")

    def order(self, order: int) -> None:
        """What it is to do from now on, of synth/crew.py."""
        write_shared(address(self.crew.order), order)

    def close(self) -> None:
        """End it. One that does not end keeps what it may touch."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self.order(LEAVE)
        thread.join(PATIENCE)
        if thread.is_alive():
            _kept.append(self._player)
        elif not self.crew.lapses:
            self._player.share(0)
