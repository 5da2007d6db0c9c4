"""The thread of the ways in that have no thread of their own: it asks every port for its messages, again and again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from threading import Lock, Thread
from typing import Protocol

from engine.live.thread.inlet import offer, offer_pulse, offer_tuning
from engine.messages import SYSEX
from engine.synth.mts import octets_of


class Source(Protocol):
    """A port that can be asked."""

    alive: bool

    def drain(self) -> None:
        """Hand on whatever has come since."""


class Poller:
    """One thread for any number of ports; it lives as long as there are any, and sleeps `interval` seconds."""

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._sources: list[Source] = []
        self._lock = Lock()
        self._running = False

    def add(self, source: Source) -> None:
        with self._lock:
            self._sources.append(source)
            if not self._running:
                self._running = True
                Thread(target=self._run, name="midi", daemon=True).start()

    def remove(self, source: Source) -> None:
        """When this returns, the source is not being drained and will not be again."""
        with self._lock:
            if source in self._sources:
                self._sources.remove(source)

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._sources:
                    self._running = False
                    return
                for source in self._sources:
                    if source.alive:
                        self._drain(source)
            time.sleep(self._interval)

    def _drain(self, source: Source) -> None:
        try:
            source.drain()
        except Exception:  # of any kind, from somebody's driver: the other ports go on, and its owner will see it
            source.alive = False


def hand_on(inlet: int, stamp: int, message: Sequence[int]) -> None:
    """Queue a message if it is one for us. It comes from outside: whatever it is, that is no error."""
    if len(message) == 1:
        offer_pulse(inlet, stamp, message[0])
    elif message and message[0] == SYSEX:
        octet = octets_of(message)
        offer_tuning(inlet, stamp, octet.ctypes.data, octet.size)
    elif 2 <= len(message) <= 3:
        offer(inlet, stamp, int.from_bytes(bytes(message), "little"), len(message))


def warm(inlet: int) -> None:
    """Compile what the thread will need."""
    for message in ((0,), (0, 0), (SYSEX, 0)):  # nothing that is whole
        hand_on(inlet, 0, message)
