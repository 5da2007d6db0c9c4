"""Events on their way to who plays them: handed over in order and in time, no more at once than there is room for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Data = TypeVar("Data")


class Feed(Generic[Data]):
    """Events (moment, data) in order of time, of which the next one is known."""

    def __init__(self, events: Iterable[tuple[int, Data]]) -> None:
        self._events = iter(events)
        self._next = next(self._events, None)

    @property
    def empty(self) -> bool:
        """All have been handed over."""
        return self._next is None

    def hand_over(self, end: int, put: Callable[[int, Data], bool]) -> int:
        """Hand over what is due before `end`, until `put` refuses one; the moment of that one, or `end`."""
        while self._next is not None and self._next[0] < end:
            if not put(*self._next):
                return self._next[0]
            self._next = next(self._events, None)
        return end

    def fill(
        self,
        out: NDArray[np.float32],
        clock: int,
        room: Callable[[], int],
        put: Callable[[int, Data], Any],
        play: Callable[[NDArray[np.float32]], Any],
        places: Callable[[Data], int] = lambda _: 1,
    ) -> None:
        """Have a block played that begins at sample `clock`, in pieces for whose events the ring has room.

        `room` tells how many places of it are free, `places` how many of these an event takes.
        """
        free = 0

        def take(sample: int, data: Data) -> bool:
            nonlocal free
            if free <= 0:
                return False
            free -= places(data)
            put(sample, data)
            return True

        at = 0
        while at < len(out):
            free = room()
            stop = max(self.hand_over(clock + len(out), take) - clock, at + 1)
            play(out[at:stop])
            at = stop
