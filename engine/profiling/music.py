"""What is played while the clock runs: a fixed number of strings, struck over and over at samples that look random."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine import messages as midi
from engine.preset.loader import Preset
from engine.synth.memory import CHANNELS
from engine.units import hz_to_key

Integers = NDArray[np.int64]
Strings = list[tuple[int, int]]  # channel and key of each: a key sounds once on a channel

WARM_UP = 0.3  # s that are played first and not looked at: the first strokes, cold caches, a slow clock
EVERY = 1.0  # s: each string is struck once in any such stretch, so that none falls asleep
VELOCITY = 100
OCTAVE = 12
SWAY = 5e-3  # s between moves of the pitch wheel, more often than the strings take to follow
VIBRATO, DEPTH = 5.0, 2000  # Hz; of the wheel's 8192


def usual_range(preset: Preset) -> range:
    """The keys within an octave of the preset's own string."""
    own = round(hz_to_key(preset.problem.string.pitch))
    return range(max(own - OCTAVE, 0), min(own + OCTAVE, 127) + 1)


def spread(keys: Sequence[int], voices: int) -> Strings:
    """So many strings, spread evenly over the keys; what is more than the keys goes round on further channels."""
    count = len(keys)
    strings = []
    for channel in range(CHANNELS):
        left = min(voices - channel * count, count)
        strings += [(channel, keys[(2 * i + 1) * count // (2 * left)]) for i in range(left)]
    return strings


def events(strings: Strings, sample_rate: float, seconds: float, sway: bool = False) -> Integers:
    """(sample, packed message) in time order: every string is struck while warming up, then once in any EVERY seconds.

    `sway` moves the pitch wheel of every channel all the time, which retunes all strings: the dearest way to play.
    """
    rounds = 1 + max(int(np.ceil((seconds - WARM_UP) / EVERY)), 0)
    chance = np.random.RandomState(1).random_sample((rounds, len(strings)))  # no version of numpy changes its numbers
    start = WARM_UP + EVERY * (np.arange(rounds) - 1.0)
    at = start[:, None] + EVERY * chance
    at[0] = 0.5 * WARM_UP * chance[0]
    messages = [midi.packed(midi.NOTE_ON | channel, key, VELOCITY) for channel, key in strings]
    rows = [np.stack([at.ravel() * sample_rate, np.tile(messages, rounds)], axis=1)]
    if sway:
        rows += [_wheel(channel, sample_rate, seconds) for channel in {channel for channel, _ in strings}]
    found = np.concatenate(rows).astype(np.int64)
    found = found[found[:, 0] < seconds * sample_rate]
    return np.ascontiguousarray(found[np.argsort(found[:, 0], kind="stable")])


def _wheel(channel: int, sample_rate: float, seconds: float) -> NDArray[np.float64]:
    at = np.arange(0.0, seconds, SWAY) + SWAY * channel / CHANNELS
    bends = np.rint(DEPTH * np.sin(2.0 * np.pi * VIBRATO * at)).astype(np.int64)
    return np.stack([at * sample_rate, midi.bent(channel, bends)], axis=1)
