"""The movable parameters as compiled code knows them: constants, made from the table."""

from __future__ import annotations

from typing import NamedTuple

from engine.preset.parameters import PARAMETERS, REGISTERS


class Target(NamedTuple):
    """What a map points at, and what it is where nothing has moved it."""

    number: int
    neutral: float


def _target(key: str) -> Target:
    return Target(PARAMETERS[key].number, PARAMETERS[key].conversion.neutral)


TO_HEIGHT = _target("barrier.height")
TO_POSITION = _target("excitation.position")
TO_DURATION = _target("excitation.duration")
TO_LOSS = _target("string.loss.s0")
TO_GAIN = _target("gain")
TO_BEND = _target("bend")
TO_SPREAD = _target("strum.spread")
TO_FIRST, TO_SECOND, TO_THIRD, TO_FOURTH = (_target(f"registers.{name}") for name in REGISTERS)
