"""What listens to a whole instrument while it plays to nobody (audition.py): weighted power, hop by hop."""

from __future__ import annotations

from typing import Any

from engine.compiled import entry, single_rows
from engine.layout import Cube, Matrix, Singles, Vector, record
from engine.opened import address, at
from engine.synth.renderer import play
from engine.synth.weighting import weigh


@record
class Booth:
    """What listens to an instrument: its sound, hop by hop, through the ear's weighting."""

    machine: int  # its address
    sides: int
    sound: Singles
    filters: Matrix
    weighted: Cube
    power: Vector


booth_at = at(Booth)


@entry
def attend(where: Any) -> None:
    """Listen to what an instrument plays next: weighted power of every hop, all sides together."""
    b = booth_at(where)
    frames = b.sound.size // b.sides
    block = single_rows(address(b.sound), frames, b.sides)
    for n in range(b.power.size):
        play(b.machine, frames, address(b.sound))
        b.power[n] = 0.0
        weigh(block, b.filters, b.weighted, b.power[n : n + 1])
