"""How the keys of a chord are struck: by one hand, string after string."""

from __future__ import annotations

from dataclasses import dataclass

from engine.physics.string import require

ORDERS = ("down", "up", "alternate")
WIDEST = 1.0  # s from one string to the next
LATEST = 0.5  # s after its first key that one still belongs to a chord
MOST_ACCENT = 30  # of velocity, from one string to the next


@dataclass(frozen=True)
class Strum:
    """Keys that come within `window` of the first are a chord: that one sounds at once, the others wait their turn."""

    spread: float = 0.015  # s from one string to the next
    window: float = 0.03  # s
    order: str = ORDERS[0]
    accent: int = 0  # of velocity, by which each further string is struck more softly

    def __post_init__(self) -> None:
        require("strum.spread", self.spread, minimum=0.0, maximum=WIDEST)
        require("strum.window", self.window, minimum=0.0, maximum=LATEST)
