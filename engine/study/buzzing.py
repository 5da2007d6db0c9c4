"""How much of the time strings touch what they may, as an instrument plays them: of a low, a middle and a high key."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

from engine.errors import EngineError, PhysicsWarning
from engine.preset.loader import Preset
from engine.study.simulate import simulate
from engine.study.together import EnsembleSimulation
from engine.units import key_to_note

Told = TypeVar("Told")
LOWEST, HIGHEST = 24, 96  # C1 to C7
STRUCK, HEARD = 0.05, 0.2  # s: when what strikes has gone, and for how long its string is then looked at


class Buzz(NamedTuple):
    """A key, and the share of the time in which its strings touch."""

    note: str
    share: float


def compass(preset: Preset) -> tuple[int, int]:
    """The lowest and the highest key that a preset is made for: its own, or of its strings those from C1 to C7."""
    if preset.compass is not None:
        return preset.compass
    if preset.assembly is None:
        return LOWEST, HIGHEST
    lowest = min(part.lowest for part in preset.assembly.played)
    highest = max(part.highest for part in preset.assembly.played)
    return max(lowest, LOWEST), max(min(highest, HIGHEST), lowest)


def of_three_keys(preset: Preset, tell: Callable[[int], Told]) -> Iterator[tuple[str, Told]]:
    """What there is to tell of a low, a middle and a high key; those without a string are told of elsewhere."""
    low, high = compass(preset)
    for key in (low, (low + high) // 2, high):
        try:
            told = tell(key)
        except EngineError:
            continue
        yield key_to_note(key), told


def buzzing(preset: Preset, sample_rate: float = 48_000.0) -> tuple[Buzz, ...]:
    """Of three keys, those left out that have no string; none where nothing is there to be touched."""
    found = list(of_three_keys(preset, lambda key: touched(preset, key, sample_rate)))
    there = any(share is not None for _, share in found)
    return tuple(Buzz(note, share or 0.0) for note, share in found) if there else ()


def touched(preset: Preset, key: int, sample_rate: float) -> float | None:
    """The share of the time in which something pushes a key's strings, once they are struck; None if nothing can."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PhysicsWarning)
        sim = simulate(preset, STRUCK + HEARD, sample_rate, key=key, as_played=True)
    force = sim.contact_force[sim.time > STRUCK]
    if isinstance(sim, EnsembleSimulation) and preset.assembly is not None:
        force = force[:, sim.contact_string < len(sim.strings) - len(preset.assembly.sympathetic)]
    return float((force > 0.0).any(axis=1).mean()) if force.shape[1] else None
