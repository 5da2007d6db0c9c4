"""A short room around an instrument, whatever it is made of: heard, and no part of its physics."""

from __future__ import annotations

from dataclasses import dataclass

SPEED = 343.0  # m/s, of sound


@dataclass(frozen=True)
class Room:
    """How much of the power that is heard is the room's: of 0 nothing, of 1 all."""

    share: float = 0.2
    decay: float = 0.3  # s to -60 dB
    size: float = 4.0  # m

    @property
    def across(self) -> float:
        """s that sound takes from one end to the other."""
        return self.size / SPEED
