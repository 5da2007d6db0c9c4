"""The sound of an ensemble: its instruments one after the other, each with its gain, in one order.

A sum in another order would be another sound in its last bits. Instruments of a rack come in the order of their parts,
whoever came first; designs that followed each other in theirs, wherever there was room.
"""

from __future__ import annotations

from typing import Any

from engine.compiled import entry, inlined, native, single_rows, store_release
from engine.opened import address
from engine.synth.memory import ABSENT, MIXED, PARTS, PLAYING, Desk, desk
from engine.synth.renderer import play
from engine.synth.routing import idle, routed, welcome


@entry
def play_together(where: Any, frames: Any, out: Any) -> None:
    """The next `frames` samples of the ensemble at an address, float32 [frames, channels] at `out`, not limited."""
    d = desk(where)
    welcome(d)
    mix(d, frames, out)


@native
def mix(d: Desk, frames: int, out: int) -> None:
    """One instrument as it is plays straight into `out`, and gives the samples that it gives alone."""
    playing, last = 0, 0
    for s in range(PARTS):
        if d.parts[s].state[0] == PLAYING:
            playing, last = playing + 1, s
    only = d.parts[last]
    if playing == 1 and only.left == 1.0 and only.right == 1.0 and only.outputs == d.outputs:
        play(only.machine, frames, out)
    else:
        target = single_rows(out, frames, d.outputs)
        for n in range(frames):
            for c in range(d.outputs):
                target[n, c] = 0.0
        s = next_part(d, -1)
        while s >= 0:
            after = next_part(d, s)
            add(d, s, target)
            s = after
    d.clock += frames


@native
def next_part(d: Desk, last: int) -> int:
    """The part that is added after the last one, or -1."""
    found = -1
    for s in range(PARTS):
        part = d.parts[s]
        if part.state[0] == PLAYING and (last < 0 or follows(d, last, s)) and (found < 0 or follows(d, s, found)):
            found = s
    return found


@inlined
def follows(d: Desk, one: int, other: int) -> bool:
    """Whether one part comes before another."""
    first, second = d.parts[one].heir, d.parts[other].heir
    return first < second or (first == second and one < other)


@native
def add(d: Desk, s: int, target: Any) -> None:
    """Add an instrument to the others; one that was asked to goes as soon as nobody could hear whether it is there."""
    part, mix, frames, done = d.parts[s], d.mix, target.shape[0], 0
    wide = part.outputs
    while done < frames:
        span = min(MIXED, frames - done)
        play(part.machine, span, address(mix))
        for n in range(span):
            one, other = part.left * mix[n * wide], part.right * mix[n * wide + wide - 1]
            if target.shape[1] == 1:
                target[done + n, 0] += 0.5 * (one + other)
            else:
                target[done + n, 0] += one
                target[done + n, 1] += other
        done += span
    if part.asked and not routed(d, s) and idle(part.machine):
        store_release(part.state, 0, ABSENT)  # from here on it is Python's
