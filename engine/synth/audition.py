"""How loud an instrument is whose strings share a body: some of its keys are played, and it has one gain for all.

A key's own gain, as of strings by themselves (rehearsal.py), would have to be that of its strokes: the body is heard,
not the string. So keys differ as those of the instrument do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from engine import messages as midi
from engine.elementary import log10
from engine.layout import Arena, lay, seen, size_of
from engine.physics.linear import total
from engine.synth.booth import Booth, attend
from engine.synth.budget import NOTE
from engine.synth.rehearsal import HOP, LOUDNESS, MOMENT, REHEARSAL, REHEARSED
from engine.synth.ring import push
from engine.synth.weighting import OFFSET, k_weighting

APART = 4  # keys from one that is played to the next
LOUDER = 3.0  # dB above the mean that none may be


def loudness(machine: int, reset: Callable[[], None], ready: Sequence[int], rate: float, sides: int) -> float:
    """dB that an instrument of gain 1 lacks of LOUDNESS, on the mean of some of its keys."""
    chosen = [number for number in ready if number in REHEARSED][::APART] or list(ready)[::APART]
    levels = []
    for number in chosen:
        reset()
        power = _attended(machine, number, rate, sides)
        loudest = max(total(power[n : n + MOMENT]) for n in range(REHEARSAL - MOMENT + 1))
        if loudest > 0.0:
            levels.append(OFFSET + 10.0 * log10(loudest / (MOMENT * round(HOP * rate))))
    reset()
    if not levels:
        return 0.0
    return LOUDNESS - max(total(np.array(levels)) / len(levels), max(levels) - LOUDER)


def _attended(machine: int, number: int, rate: float, sides: int) -> Any:
    """Of a note at velocity 100."""
    arena = Arena()
    start, hop = arena.room(size_of(Booth)), round(HOP * rate)
    write = lay(
        arena,
        Booth,
        start,
        machine=machine,
        sides=sides,
        sound=(hop * sides,),
        filters=k_weighting(rate),
        weighted=(sides, 2, 2),
        power=(round(NOTE / HOP),),
    )
    block = arena.sealed()
    write(block)
    push(machine, 0, midi.packed(midi.NOTE_ON, number, 100))
    attend(int(block.ctypes.data))
    return seen(Booth, int(block.ctypes.data), block).power
