"""The sound of an ensemble: its instruments one after the other, each with its gain, in the order of their parts.

A sum in another order would be another sound in its last bits; so who came first decides nothing.
"""

from __future__ import annotations

from typing import Any

from engine.compiled import entry, native, single_rows, store_release
from engine.synth.fields import *
from engine.synth.renderer import play
from engine.synth.routing import Desk, desk, idle, routed, welcome


@entry
def play_together(address: Any, frames: Any, out: Any) -> None:
    """The next `frames` samples of the ensemble at `address`, float32 [frames, channels] at `out`, not limited."""
    d = desk(address)
    welcome(d)
    mix(d, frames, out)


@native
def mix(d: Desk, frames: Any, out: Any) -> None:
    """One instrument as it is plays straight into `out`, and gives the samples that it gives alone."""
    channels, playing, last = d.settings[D_CHANNELS], 0, 0
    for s in range(PARTS):
        if d.parts[s, U_STATE] == PLAYING:
            playing, last = playing + 1, s
    untouched = d.gains[last, 0] == 1.0 and d.gains[last, 1] == 1.0
    if playing == 1 and untouched and d.parts[last, U_CHANNELS] == channels:
        play(d.parts[last, U_TABLE], frames, out)
    else:
        target = single_rows(out, frames, channels)
        for n in range(frames):
            for c in range(channels):
                target[n, c] = 0.0
        for s in range(PARTS):
            if d.parts[s, U_STATE] == PLAYING:
                add(d, s, target)
    d.settings[D_CLOCK] += frames


@native
def add(d: Desk, s: Any, target: Any) -> None:
    """Add an instrument to the others; one that was asked to goes as soon as nobody could hear whether it is there."""
    part, frames, done = d.parts[s], target.shape[0], 0
    wide, left, right = part[U_CHANNELS], d.gains[s, 0], d.gains[s, 1]
    while done < frames:
        span = min(MIXED, frames - done)
        play(part[U_TABLE], span, d.mix_address)
        for n in range(span):
            one, other = left * d.mix[n * wide], right * d.mix[n * wide + wide - 1]
            if target.shape[1] == 1:
                target[done + n, 0] += 0.5 * (one + other)
            else:
                target[done + n, 0] += one
                target[done + n, 1] += other
        done += span
    if part[U_ASKED] and not routed(d, s) and idle(part[U_TABLE]):
        store_release(part, U_STATE, ABSENT)  # from here on it is Python's
