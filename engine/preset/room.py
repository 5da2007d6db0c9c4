"""A short room around an instrument, whatever it is made of: heard, and no part of its physics."""

from __future__ import annotations

from dataclasses import dataclass

from engine.physics.string import require

SPEED = 343.0  # m/s, of sound
SHORTEST, LONGEST = 0.01, 30.0  # s
SMALLEST, LARGEST = 0.5, 100.0  # m


@dataclass(frozen=True)
class Room:
    """How much of the power that is heard is the room's: of 0 nothing, of 1 all."""

    share: float = 0.2
    decay: float = 0.3  # s to -60 dB
    size: float = 4.0  # m

    def __post_init__(self) -> None:
        require("room.share", self.share, minimum=0.0, maximum=1.0)
        require("room.decay", self.decay, minimum=SHORTEST, maximum=LONGEST)
        require("room.size", self.size, minimum=SMALLEST, maximum=LARGEST)

    @property
    def across(self) -> float:
        """s that sound takes from one end to the other."""
        return self.size / SPEED
