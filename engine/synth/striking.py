"""How strongly each of a string's first partials is struck: what a note is tuned by (physics/pitch.py)."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import pi, sqrt

import numpy as np

from engine import elementwise
from engine.elementary import sin
from engine.physics.excitation import DRAWN, SHAPES, Excitation, pulse
from engine.physics.linear import total
from engine.physics.network.thrown import left
from engine.physics.pitch import PARTIALS
from engine.physics.string import String
from engine.preset.assembly import Blowing, Exciter, Plucking

SEEN = 256  # values of a pulse: what is drawn lets go within a thirtieth of it


@lru_cache(maxsize=64)  # all strings of a course ask for the same
def strokes(exciter: Exciter, struck: Excitation, string: String, together: int) -> tuple[float, ...]:
    """Of each partial, where a key's exciter meets its strings, so many `together`; their common scale is anybody's.

    What pushes has a spectrum; a plectrum that slips leaves a string that is bent at one place.
    """
    there = [sin(n * pi * struck.position) for n in range(1, PARTIALS + 1)]
    match exciter:
        case Blowing(mass=mass, felt=felt):
            return tuple(left(string, struck.position, mass / together, struck.force, felt, PARTIALS))
        case Plucking():
            return tuple(s / n for n, s in enumerate(there, 1))
    spectrum = _spectrum(struck.shape, struck.duration * string.pitch)
    return tuple(s * by for s, by in zip(there, spectrum))


def as_pushed(exciter: Exciter, struck: Excitation, string: String, together: int) -> Excitation:
    """The pulse of force that does to a string by itself what its exciter does: for who listens to what it touches.

    A hammer leaves the first partial swinging as far; a plectrum draws the string and lets it slip.
    """
    match exciter:
        case Blowing(mass=mass, felt=felt):
            swings = left(string, struck.position, mass / together, struck.force, felt, 1)[0]
            there = sin(pi * struck.position) * struck.duration
            return replace(struck, force=swings * string.density * string.length / there)
        case Plucking():
            return replace(struck, shape=SHAPES[DRAWN])
    return struck


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
