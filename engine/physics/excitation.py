"""What sets the string into motion: a force that begins and ends at zero, of one of a few shapes."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np

from engine.compiled import DOUBLE, VECTOR, WORD, called_with, inlined
from engine.elementary import cos, sinh
from engine.errors import PhysicsError
from engine.physics.string import Array, require

# Presets name them; compiled code knows their places here.
SHAPES = ("raised-cosine", "drawn")
RAISED_COSINE, DRAWN = range(2)

EDGE = 0.01  # of the length: no nearer to an end do keys and controllers move what plucks
SUDDEN = 30.0  # of a drawn string: how much faster the finger leaves it than it has come


@dataclass(frozen=True)
class Excitation:
    """A force: position as a fraction of the string's length, peak in N, duration in s, onset in s, shape."""

    position: float = 0.85
    force: float = 1.0
    duration: float = 2e-3
    onset: float = 0.0
    shape: str = SHAPES[RAISED_COSINE]

    def __post_init__(self) -> None:
        require("excitation.position", self.position, above=0.0, below=1.0)
        require("excitation.force", self.force)
        require("excitation.duration", self.duration, above=0.0)
        require("excitation.onset", self.onset, minimum=0.0)
        if self.shape not in SHAPES:
            raise PhysicsError("excitation.shape", self.shape, f"must be one of {', '.join(SHAPES)}", "choose one")


def pulse(excitation: Excitation, rate: float, steps: int) -> Array:
    """The force at t = n / rate, n = 0 .. steps - 1, N."""
    e, force = excitation, np.zeros(steps)
    add_pulse(SHAPES.index(e.shape), e.force, e.duration * rate, -e.onset * rate, force)
    return force


@called_with(WORD, DOUBLE, DOUBLE, DOUBLE, VECTOR)
def add_pulse(shape: Any, peak: Any, length: Any, age: Any, force: Any) -> None:
    """Add a pulse of `length` steps to `force`, whose first entry is `age` steps after the pulse's onset.

    The renderer calls this too: chaos makes of a difference in the last digit another motion within milliseconds.
    """
    first, end = max(-age, 0.0), min(max(length - age + 1.0, 0.0), float(force.size))
    for t in range(int(min(first, end)), int(end)):
        if 0.0 <= age + t <= length:
            force[t] += peak * course(shape, age + t, length)


@inlined
def course(shape: Any, t: Any, length: Any) -> Any:
    """Share of the peak force, t of `length` steps after the onset: from zero to one and back to zero."""
    if shape == DRAWN:  # a finger that draws the string aside, slips and lets go (van Walstijn et al., DAFx-16)
        t = 0.5 * (t + length * sinh(SUDDEN * t / length) / sinh(SUDDEN))
    return 0.5 * (1.0 - cos(2.0 * pi / length * t))  # paper 002, section 3
