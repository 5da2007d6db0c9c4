"""A voice's pickups: what they hear of what the string's kernel gives, away from rest and before any gain.

A gain that moves would be heard as such behind the differences that make of displacement a velocity, and of momentum a
force.
"""

from __future__ import annotations

from typing import Any

from engine.compiled import native
from engine.physics.hearing import AS_GIVEN, REACTION, derived
from engine.synth.memory import Machine


@native
def begin(m: Machine, v: int) -> None:
    """A string that has been at rest for two steps at least."""
    heard = m.heard[v]
    for p in range(m.pickups):
        heard[p, 0] = heard[p, 1] = 0.0


@native
def hear(m: Machine, v: int, out: Any) -> None:
    """From what the kernel gave to what is heard, both in `out`."""
    steps, heard, resting, rate = out.shape[0], m.heard[v], m.resting[m.voices[v].key], m.rate
    for p in range(m.pickups):
        way, column, rest = m.ears[p].way, m.ears[p].column, resting[p]
        if way == AS_GIVEN:
            for t in range(steps):
                out[t, p] -= rest
            continue
        one, two = heard[p, 0], heard[p, 1]
        for t in range(steps):
            newest = out[t, p] - rest
            carried = out[t, column] - resting[column] if way == REACTION else 0.0
            out[t, p] = derived(way, newest, one, two, carried, rate)
            two, one = one, newest
        heard[p, 0], heard[p, 1] = one, two
