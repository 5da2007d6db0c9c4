"""Music that is known beforehand, sent ahead of its time: a busy interpreter does not make it stumble."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.compiled import now
from engine.live.player import Player
from engine.synth.feed import Feed

SECOND = 1_000_000_000  # ns
AHEAD = SECOND // 2  # ns by which events are in the ring before they are due
PLAYED = 1  # the inlet of what the program itself plays


class Ahead:
    """Events (sample, bytes) in order, sent while `tick` is called a few times a second; the first in `wait` s."""

    def __init__(self, player: Player, events: Iterable[tuple[int, Sequence[int]]], wait: float) -> None:
        self._player, self._last = player, now() + round(wait * SECOND)
        start, tick = self._last, SECOND / player.sample_rate
        self._feed = Feed((start + round(sample * tick), data) for sample, data in events)

    def tick(self) -> None:
        """Send what is due soon; what the ring has no room for waits for the next time."""
        self._feed.hand_over(now() + AHEAD, self._send)

    def _send(self, at: int, data: Sequence[int]) -> bool:
        sent = self._player.send(data, at, PLAYED)
        self._last = at if sent else self._last
        return sent

    @property
    def over(self) -> bool:
        """All has been played, and nothing sounds any more."""
        played = self._feed.empty and now() > self._last + SECOND // 2
        return played and all(instrument.silent for instrument in self._player.instruments())
