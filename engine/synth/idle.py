"""Idleness: an instrument that has fallen silent is as one just made, and a new one may take its place.

Once no voice sounds and nothing but silence has come out for a whole tick, the filters are emptied: what they still
hold is nothing that could be heard. From then on blocks cost next to nothing, until a note begins. All this is decided
on the absolute clock, so blocks do not matter; and what an idle instrument will play depends on nothing but its clock
and what its channels have been told, which `adopt` hands over.
"""

from __future__ import annotations

from typing import Any

from engine.compiled import copy, entry, native
from engine.synth import circuit, decimate, strips
from engine.synth.memory import CHANNELS, CONTROLLERS, Machine, machine


@native
def fill(target: Any) -> None:
    """Silence."""
    for n in range(target.shape[0]):
        for c in range(target.shape[1]):
            target[n, c] = 0.0


@native
def hear(m: Machine, target: Any) -> None:
    """Note whether anything but silence came out."""
    if m.quiet == 0:
        return
    for n in range(target.shape[0]):
        for c in range(target.shape[1]):
            if target[n, c] != 0.0:
                m.quiet = 0
                return


@native
def look(m: Machine, sounding: int) -> None:
    """Once a tick: empty the filters if nobody sounds and nothing has come out since the last one."""
    if sounding == 0 and m.quiet:
        m.idle = 1
        decimate.reset(m.filtered)
        circuit.reset(m.passing)
        mean = m.finished.mean
        for c in range(mean.size):
            mean[c] = 0.0
    m.quiet = 1


@entry
def adopt(address: Any, clock: Any, other: Any) -> Any:
    """Have an idle instrument go on where another one is, as if it had heard all that this one was told.

    From here on it plays what it would if it had been there from the start, to the last bit; `clock` is the sample that
    it is to call now. It must be at the other's sample rate. 0 if it is not idle, and then it is left as it was.
    """
    m, theirs = machine(address), machine(other)
    if m.idle == 0:
        return 0
    m.clock = clock
    hear_of(m, theirs)
    return 1


@native
def hear_of(m: Machine, theirs: Machine) -> None:
    """All that another one was told."""
    for c in range(CHANNELS):
        mine, told = m.channels[c], theirs.channels[c]
        mine.bend, mine.range, mine.manager, mine.strip = told.bend, told.range, told.manager, told.strip
        for number in range(CONTROLLERS + 1):
            mine.position[number] = told.position[number]
    copy(theirs.tuned, m.tuned)
    strips.choose_path(m)
