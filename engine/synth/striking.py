"""How strongly each of a string's first partials is struck: what a note is tuned by (physics/pitch.py)."""

from __future__ import annotations

from functools import lru_cache
from math import pi, sqrt
from typing import NamedTuple

import numpy as np

from engine import elementwise
from engine.elementary import cos, sin
from engine.physics.excitation import Excitation, pulse
from engine.physics.linear import total
from engine.physics.network.thrown import thrown
from engine.physics.pitch import PARTIALS
from engine.physics.string import String
from engine.preset.assembly import Blowing, Exciter, Plucking

SEEN = 256  # values of a pulse: what is drawn lets go within a thirtieth of it


class Struck(NamedTuple):
    """Of each partial, how strongly it is struck, and how strongly the end of the string is pushed where it lies; their
    common scale is anybody's.
    """

    strings: tuple[float, ...]
    body: tuple[float, ...]


@lru_cache(maxsize=64)  # all strings of a course ask for the same
def stroke(exciter: Exciter, struck: Excitation, string: String, together: int, rate: float) -> Struck:
    """Where a key's exciter meets its strings, so many `together`, in steps of a rate.

    What pushes has a spectrum; a plectrum that slips leaves a string that is bent at one place.
    """
    match exciter:
        case Blowing(mass=mass, felt=felt):
            pushed = thrown(string, struck.position, mass / together, struck.force, felt, PARTIALS, rate)
        case Plucking():
            pushed = [1.0 / n for n in range(1, PARTIALS + 1)]
        case _:
            pushed = list(_spectrum(struck.shape, struck.duration * string.pitch))
    at = struck.position
    there = [(sin(n * pi * at), (1.0 - at) * cos(n * pi * at)) for n in range(1, PARTIALS + 1)]
    strings, body = zip(*((own * by, end * by) for (own, end), by in zip(there, pushed)))
    return Struck(strings, body)


@lru_cache(maxsize=1024)
def _spectrum(shape: str, periods: float) -> tuple[float, ...]:
    """Of a pulse that takes so many periods, at their first multiples."""
    force = pulse(Excitation(0.5, 1.0, 1.0, 0.0, shape), SEEN - 1.0, SEEN)
    found = list[float]()
    for n in range(1, PARTIALS + 1):
        turning = (2.0 * pi * n * periods / (SEEN - 1.0)) * np.arange(SEEN)
        a, b = total(force * elementwise.cos(turning)), total(force * elementwise.sin(turning))
        found.append(sqrt(a * a + b * b))
    return tuple(found)
