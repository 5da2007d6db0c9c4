"""A figure that an instrument plays by itself, over and over: which strings, how fast, how even."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from math import floor

from engine.physics.string import require

SLOWEST, FASTEST = 1.0, 1000.0  # beats a minute
SHORTEST, LONGEST = 0.01, 1000.0  # beats of a stroke
MOST_STROKES, MOST_AT_ONCE = 256, 16
MOST_ALIKE = 8  # strings of one pitch
MOST_SWING = 0.9
WIDEST = 1.0  # s


@dataclass(frozen=True)
class Stroke:
    """Keys that are plucked, one after the other where the figure spreads them; none of a rest.

    `strings` says of each which one it is of several strings of its pitch, 0 being the first, and of all without it.
    """

    keys: tuple[int, ...]
    beats: float = 1.0
    velocity: int | None = None  # None: the figure's own
    strings: tuple[int, ...] = ()


def fits(keys: tuple[int, ...], strings: tuple[int, ...]) -> bool:
    """Whether these keys can be one stroke."""
    return len(keys) <= MOST_AT_ONCE and all(0 <= key <= 127 for key in keys) and max(strings, default=0) < MOST_ALIKE


@dataclass(frozen=True)
class Drone:
    """Strokes in their order; each lets go of its keys when they are struck again."""

    order: tuple[Stroke, ...]
    tempo: float = 60.0  # beats a minute
    swing: float = 0.0  # of a beat, by which every second one comes late
    spread: float = 0.0  # s from one key of a stroke to the next
    loose: float = 0.0  # s by which strokes are early or late at most
    velocity: int = 80

    def __post_init__(self) -> None:
        require("drone.tempo", self.tempo, minimum=SLOWEST, maximum=FASTEST)
        require("drone.swing", self.swing, minimum=0.0, maximum=MOST_SWING)
        require("drone.spread", self.spread, minimum=0.0, maximum=WIDEST)
        require("drone.loose", self.loose, minimum=0.0, maximum=WIDEST)

    @property
    def beats(self) -> float:
        """How long the figure is."""
        return sum(stroke.beats for stroke in self.order)

    def begins(self, number: int) -> float:
        """The beat on which a stroke begins, counted through all turns; no sum goes on, so errors do not add up."""
        turn, place = divmod(number, len(self.order))
        within = list(accumulate((stroke.beats for stroke in self.order), initial=0.0))
        return self._swung(turn * within[-1] + within[place])

    def _swung(self, beat: float) -> float:
        pair = 2.0 * floor(beat / 2.0)
        into = beat - pair
        late = self.swing * (into if into < 1.0 else 2.0 - into)
        return pair + into + late
