"""How an instrument's keys are voiced: how much harder each is struck than the preset's stroke says (presets/README.md,
"From key to key").
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from engine.units import db_to_gain

MOST = 24.0  # dB


@dataclass(frozen=True)
class Voicing:
    """Keys and their dB, from the lowest up; on a line between two of them, and beyond them as the nearest."""

    points: tuple[tuple[int, float], ...] = ()

    def decibels(self, key: int) -> float:
        """By how much a key is struck harder."""
        if not self.points:
            return 0.0
        if key <= self.points[0][0]:
            return self.points[0][1]
        for (low, below), (high, above) in pairwise(self.points):
            if key <= high:
                return below + (above - below) * ((key - low) / (high - low))
        return self.points[-1][1]

    def harder(self, key: int) -> float:
        """The same as a factor on what strikes it."""
        db = self.decibels(key)
        return db_to_gain(db) if db != 0.0 else 1.0
