"""A phrase played by the program itself: stamped ahead of time, so that a busy interpreter does not make it stumble."""

from __future__ import annotations

from collections.abc import Iterator

from engine.compiled import now
from engine.live.player import Player

AHEAD = 0.5  # s by which events are in the ring before they are due
INLET = 1
SECOND = 1_000_000_000


class Demo:
    """Events (seconds, bytes) in time order, sent while `tick` is called a few times a second."""

    def __init__(self, player: Player, events: Iterator[tuple[float, tuple[int, ...]]], wait: float = 0.2) -> None:
        self._player, self._events = player, events
        self._start = now() + round(wait * SECOND)
        self._next = next(events, None)
        self._last = self._start

    def tick(self) -> None:
        """Send what is due soon."""
        horizon = now() + round(AHEAD * SECOND)
        while self._next is not None:
            at = self._start + round(self._next[0] * SECOND)
            if at > horizon or not self._player.send(self._next[1], at, INLET):
                return
            self._last, self._next = at, next(self._events, None)

    @property
    def over(self) -> bool:
        """All has been played, and nothing sounds any more."""
        played = self._next is None and now() > self._last + SECOND // 2
        return played and all(instrument.silent for instrument in self._player.instruments())
