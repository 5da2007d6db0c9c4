"""What sets the string into motion: the raised cosine of paper 002, section 3."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np

from engine.compiled import native
from engine.physics.string import Array, require


@dataclass(frozen=True)
class Excitation:
    """A raised-cosine force: position as a fraction of the string's length, peak in N, duration in s, onset in s."""

    position: float = 0.85
    force: float = 1.0
    duration: float = 2e-3
    onset: float = 0.0

    def __post_init__(self) -> None:
        require("excitation.position", self.position, above=0.0, below=1.0)
        require("excitation.force", self.force)
        require("excitation.duration", self.duration, above=0.0)
        require("excitation.onset", self.onset, minimum=0.0)


def raised_cosine(excitation: Excitation, rate: float, steps: int) -> Array:
    """The force at t = n / rate, n = 0 .. steps - 1, N."""
    force = np.zeros(steps)
    add_raised_cosine(excitation.force, excitation.duration * rate, -excitation.onset * rate, force)
    return force


@native
def add_raised_cosine(peak: Any, length: Any, age: Any, force: Any) -> None:
    """Add a pulse of `length` steps to `force`, whose first entry is `age` steps after the pulse's onset.

    The renderer calls this too: chaos makes of a difference in the last digit another motion within milliseconds.
    """
    turn = 2.0 * pi / length
    for t in range(force.size):
        if 0.0 <= age + t <= length:
            force[t] += 0.5 * peak * (1.0 - np.cos(turn * (age + t)))
