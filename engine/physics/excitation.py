"""What sets the string into motion: the raised cosine of paper 002, section 3."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, pi

import numpy as np

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
    first = ceil(excitation.onset * rate)
    t = np.arange(first, steps) / rate - excitation.onset
    t = t[t <= excitation.duration]
    force[first : first + t.size] = 0.5 * excitation.force * (1.0 - np.cos(2.0 * pi * t / excitation.duration))
    return force
