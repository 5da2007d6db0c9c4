"""Where a block's time goes: strings, contact, what answers, the body, oversampling, output.

The clock is read around the renderer's parts. What one of those costs that are played together is the difference to the
same notes without it, played in turn so that all meet the machine in the same mood: without barriers, without the
strings that answer, without the body.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from engine.physics.network.parts import Against, Body, Strung
from engine.preset.loader import Preset
from engine.profiling import clocked
from engine.profiling.music import Integers
from engine.profiling.rig import Rig
from engine.synth.memory import TICK

ROUNDS = 5
SECONDS = 0.3  # of each
TOGETHER = 16  # ticks in a stretch: blocks may be shorter than what is done once a tick


class Parts(NamedTuple):
    """µs a block; strings include events, mixing and looking after the voices, output a room."""

    strings: float
    contact: float
    hub: float  # the strings that answer
    body: float
    oversampling: float
    output: float

    @property
    def shares(self) -> tuple[float, ...]:
        """Of their sum."""
        return tuple(part / sum(self) for part in self)


def without(preset: Preset) -> dict[str, Preset]:
    """The same preset, by the part that it has lost of the one before; what it does not have is left out."""
    a = preset.assembly
    if a is None:
        bare = replace(preset, problem=replace(preset.problem, barrier=None))
        return {"contact": bare} if preset.problem.barrier is not None else {}
    found = {}
    played = tuple(replace(part, strung=_untouched(part.strung), rattles=()) for part in a.played)
    lost = replace(a, played=played, sympathetic=tuple(map(_untouched, a.sympathetic)))
    if lost != a:
        found["contact"] = replace(preset, assembly=lost)
    if a.sympathetic:
        lost = replace(lost, sympathetic=())
        found["hub"] = replace(preset, assembly=lost)
    if a.body.modes:
        lost = replace(lost, body=Body(directions=a.body.directions))
        found["body"] = replace(preset, assembly=lost)
    return found


def _untouched(strung: Strung) -> Strung:
    return replace(strung, ports=tuple(port for port in strung.ports if not isinstance(port, Against)))


def parts(rig: Rig, fewer: Mapping[str, Rig], voices: int, block: int) -> Parts:
    """Medians over short runs; `fewer` are the rigs of what `without` gives."""
    runs: dict[str, list[list[float]]] = {name: [] for name in ("", *fewer)}
    for _ in range(ROUNDS):
        runs[""].append(_stretch(rig, voices, block))
        for name, other in fewer.items():
            runs[name].append(_stretch(other, voices, block))
    whole = np.array(runs[""])
    costs, before = dict.fromkeys(("contact", "hub", "body"), 0.0), whole[:, clocked.STRINGS]
    left = float(np.median(before))
    for name in fewer:
        after = np.array(runs[name])[:, clocked.STRINGS]
        costs[name] = min(max(float(np.median(before - after)), 0.0), left)
        left, before = left - costs[name], after
    oversampling, output = (float(np.median(whole[:, part])) for part in (clocked.OVERSAMPLING, clocked.OUTPUT))
    return Parts(left, **costs, oversampling=oversampling, output=output)


def _stretch(rig: Rig, voices: int, block: int) -> list[float]:
    """The median stretch's parts, in µs a block."""
    spent: Integers = rig.play_parts(voices, block, SECONDS, TOGETHER)
    blocks = -(-TOGETHER * TICK // block)
    return [float(part) for part in np.median(spent, axis=0) * 1e-3 / blocks]
