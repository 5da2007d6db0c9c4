"""How many voices a block can bear: searched by playing them, and told only when played for the full time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from engine.profiling.load import Spread

HOLDS = 0.7  # of the deadline, at p99.9: what is left is for the rest of the program, and for luck
MOST = 256  # voices that an instrument can have
TRIES = 3  # for each number of voices: a neighbour on the machine can spoil one


class Limit(NamedTuple):
    """The largest polyphony that was seen to hold, 0 if none was, and its p99.9 as a share of the deadline."""

    voices: int
    p999: float | None


def largest_polyphony(
    measure: Callable[[int, bool], Spread], most: int = MOST, known: Mapping[int, Spread] | None = None
) -> Limit:
    """Doubling, then bisection; then the full time with the number found, and with fewer until it holds.

    measure(voices, whole) gives shares of the deadline, of the full time if `whole`, else of a part that is enough to
    search with: of so few blocks p99 is judged, p99.9 would be their max. `known` are shares already measured.
    """

    def holds(voices: int, whole: bool) -> float | None:
        for _ in range(TRIES):
            share = measure(voices, whole)
            if (share.p999 if whole else share.p99) <= HOLDS:
                return share.p999
            if share.p50 > HOLDS:  # no bad luck
                return None
        return None

    known = known or {}
    high = min([n for n, share in known.items() if share.p50 > HOLDS] + [most + 1])
    low = max([n for n, share in known.items() if share.p999 <= HOLDS and n < high], default=0)
    while low + 1 < high:
        trial = max(1, min(2 * low, (low + high) // 2))
        if holds(trial, whole=False) is None:
            high = trial
        else:
            low = trial
    while low > 0:
        found = holds(low, whole=True)
        if found is not None:
            return Limit(low, found)
        low -= max(1, low // 32)
    return Limit(0, None)
