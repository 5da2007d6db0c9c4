"""Where a block's time goes: strings, contact, oversampling, output.

The clock is read around the renderer's parts. What contact costs is the difference to the same notes on strings whose
barrier is taken away, played in turn with them so that both meet the machine in the same mood.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from engine.preset.loader import Preset
from engine.profiling import clocked
from engine.profiling.music import Integers
from engine.profiling.rig import Rig
from engine.synth.memory import TICK

ROUNDS = 5
SECONDS = 0.3  # of each
TOGETHER = 16  # ticks in a stretch: blocks may be shorter than what is done once a tick


class Parts(NamedTuple):
    """µs a block; strings include events, mixing and looking after the voices."""

    strings: float
    contact: float
    oversampling: float
    output: float

    @property
    def shares(self) -> tuple[float, ...]:
        """Of their sum."""
        return tuple(part / sum(self) for part in self)


def without_barrier(preset: Preset) -> Preset:
    """The same strings, touching nothing."""
    return replace(preset, problem=replace(preset.problem, barrier=None))


def parts(rig: Rig, free: Rig | None, voices: int, block: int) -> Parts:
    """Medians over short runs; `free` is the same without barrier, None if there is none anyway."""
    with_all, alone = [], []
    for _ in range(ROUNDS):
        with_all.append(_stretch(rig, voices, block))
        alone.append(with_all[-1] if free is None else _stretch(free, voices, block))
    whole, strings = np.array(with_all), np.array(alone)[:, clocked.STRINGS]
    contact = max(float(np.median(whole[:, clocked.STRINGS] - strings)), 0.0)
    oversampling, output = (float(np.median(whole[:, part])) for part in (clocked.OVERSAMPLING, clocked.OUTPUT))
    return Parts(float(np.median(whole[:, clocked.STRINGS])) - contact, contact, oversampling, output)


def _stretch(rig: Rig, voices: int, block: int) -> list[float]:
    """The median stretch's parts, in µs a block."""
    spent: Integers = rig.play_parts(voices, block, SECONDS, TOGETHER)
    blocks = -(-TOGETHER * TICK // block)
    return [float(part) for part in np.median(spent, axis=0) * 1e-3 / blocks]
