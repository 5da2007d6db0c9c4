"""Instruments kept from one render to the next: most of a short note's time is the design of 128 strings."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from engine.offline.job import Manner
from engine.physics.barrier import Barrier
from engine.preset.loader import Preset
from engine.preset.rack import Rack

MOST = 8  # instruments that nobody plays just now
MOST_BYTES = 256_000_000


class Kept:
    """Designed instruments by what they are made of; each is lent to one caller at a time.

    Who finds none, because it is lent or was never made, gets a new one. Of those given back the ones used last stay.
    """

    def __init__(self, most: int = MOST, most_bytes: int = MOST_BYTES) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._idle: list[tuple[Hashable, Any]] = []  # the one used last comes last
        self._lock = Lock()

    @contextmanager
    def lent(self, make: Callable[[Preset | Rack, Manner], Any], preset: Preset | Rack, setup: Manner) -> Iterator[Any]:
        """An instrument as good as new, for as long as the `with` block lasts."""
        key = (make, preset, setup)
        player = self._take(key) if _lasting(key) else None
        if player is None:
            player = make(preset, setup)
        yield player
        if _lasting(key):  # and nothing was raised: what was broken off is not used again
            player.reset()
            self._give_back(key, player)

    def _take(self, key: Hashable) -> Any:
        with self._lock:
            for place in reversed(range(len(self._idle))):
                if self._idle[place][0] == key:
                    return self._idle.pop(place)[1]
        return None

    def _give_back(self, key: Hashable, player: Any) -> None:
        with self._lock:
            self._idle.append((key, player))
            while len(self._idle) > self._most or sum(p.nbytes for _, p in self._idle) > self._most_bytes:
                del self._idle[0]


def _lasting(key: tuple[Any, Preset | Rack, Manner]) -> bool:
    """Whether what is made of an equal key sounds the same: not of what can change, nor of somebody's own barrier.

    Racks are not kept: they make their instruments while they play.
    """
    if isinstance(key[1], Rack):
        return False
    barrier = key[1].problem.barrier
    maker = type(barrier.profile if isinstance(barrier, Barrier) else barrier).__module__.split(".")[0]
    try:
        hash(key)
    except TypeError:
        return False
    return maker in ("engine", "builtins")
