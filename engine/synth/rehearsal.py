"""Every key of every preset is made equally loud: at design time each plays a note at velocity 100 and is listened to.

Loudness is that of its loudest 400 ms, in LUFS: the momentary loudness of EBU Tech 3341.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.elementary import cos, log10, sin
from engine.layout import Arena, Rows, lay, rows_of, seen, size_of, store
from engine.physics.excitation import SHAPES
from engine.physics.hearing import columns, ways
from engine.physics.linear import between, total
from engine.physics.string import Array
from engine.preset.loader import Preset
from engine.synth import circuit, decimate, strings
from engine.synth.budget import NOTE, Design, piece, step_time, thinned
from engine.synth.listening import Hall, Listener, Podium, listen, pluck
from engine.synth.memory import KEYS, Ear
from engine.synth.weighting import OFFSET, k_weighting
from engine.units import db_to_gain

# LUFS of one note at velocity 100. Of ten at velocity 127, struck together on any shipped preset, the limiter bends
# less than 1 % of the frames of the first two seconds (tests/synth/test_rehearsal.py); of 2 LU more, 1.5 %.
LOUDNESS = -26.0
REHEARSED = range(24, 109)  # keys
REHEARSAL_RATE = 48_000.0  # Hz, whatever an instrument's own
HOP, MOMENT = 0.1, 4  # s; hops that loudness is the mean of
REHEARSAL = round(NOTE / HOP)  # hops of a note that are listened to
LEEWAY = 0.5  # dB from one key's own loudness
FAINTEST = 1e-12  # m, m/s or N: below that a sound is rounding, on a string that nothing strikes


def gains(designs: Sequence[Design | None], preset: Preset, filtering: decimate.Decimator) -> NDArray[np.float64]:
    """Of every key; those that are not rehearsed are as their neighbours. A voiced key is louder by what is said."""
    heard, decibels = [], []
    ready = {number: design for number in REHEARSED if (design := designs[number]) is not None}
    chosen = thinned(ready)
    if not chosen:
        return np.ones(KEYS)
    hall = make_hall(preset, next(iter(chosen.values())).rate, filtering)
    for number, design in chosen.items():
        power = loudest(design, hall)
        if power > FAINTEST * FAINTEST:
            heard.append(number)
            decibels.append(LOUDNESS - OFFSET - 10.0 * log10(power) + preset.voicing.decibels(number))
    if not heard:
        return np.ones(KEYS)
    level = smoothed(between(np.arange(KEYS), np.array(heard), np.array(decibels)))
    return np.array([db_to_gain(float(own) + preset.gain) for own in level])


def smoothed(level: NDArray[np.float64]) -> NDArray[np.float64]:
    """Gains that follow the keys without their chance ups and downs, off by at most LEEWAY."""
    around = np.pad(level, 2, mode="edge")
    mean = sum(weight * around[at : at + level.size] for at, weight in enumerate((1 / 9, 2 / 9, 3 / 9, 2 / 9, 1 / 9)))
    return np.clip(mean, level - LEEWAY, level + LEEWAY)


class Raised(NamedTuple):
    """A podium, in memory for as long as it is needed."""

    block: NDArray[np.uint8]
    podium: Podium

    @property
    def address(self) -> int:
        return int(self.block.ctypes.data)

    def perform(self, d: Design) -> None:
        """A string's note at velocity 100, heard by the pickups, in pieces between which an interrupt gets through."""
        e, podium, model, arena = d.problem.excitation, self.podium, strings.file_of(d), Arena()
        podium.shape, podium.peak = SHAPES.index(e.shape), e.force
        podium.length, podium.age = max(e.duration, 2.0 / d.rate) * d.rate, -e.onset * d.rate
        pluck(self.address)
        row = arena.place(store(arena, model.laid_out(d)))
        block, steps, span = arena.sealed(), len(podium.force), piece(step_time(d))
        base = int(block.ctypes.data)
        for at in range(0, steps, span):
            model.rehearse(self.address, base, base + row, at, min(span, steps - at))


class Rehearsals(NamedTuple):
    """A podium and a hall before it."""

    podium: Raised
    block: NDArray[np.uint8]
    hall: Hall

    @property
    def address(self) -> int:
        return int(self.block.ctypes.data)


def make_podium(steps: int, width: int) -> Raised:
    """For notes of so many steps, of strings that give so many numbers each."""
    arena = Arena()
    start = arena.room(size_of(Podium))
    write = lay(arena, Podium, start, force=(steps,), out=(steps, width))
    block = arena.sealed()
    write(block)
    return Raised(block, seen(Podium, int(block.ctypes.data), block))


def make_hall(preset: Preset, rate: float, filtering: decimate.Decimator) -> Rehearsals:
    """For strings that are all computed at `rate`."""
    hop = round(HOP * rate / filtering.oversample)
    steps = hop * filtering.oversample
    heard, pickups = places(ears(preset)), len(preset.problem.pickups)
    width = strings.columns(strings.MODELS[preset.model], preset.problem.pickups)
    # One pickup is as loud wherever it is heard, since left and right share a power of 2: one side will do.
    sides = 1 if pickups == 1 else 2
    heard = np.array([[sqrt(2.0), 0.0, *heard[0, 2:]]]) if pickups == 1 else heard
    ear = Listener(
        places=heard,
        rate=rate,
        wiring=circuit.design(preset.circuit, rate),
        passing=circuit.state(sides),
        filtering=filtering,
        filtered=decimate.state(filtering, sides),
        weighting=k_weighting(rate / filtering.oversample),
        weighted=np.zeros((sides, 2, 2)),
        mixed=np.zeros((steps, sides)),
        sound=np.zeros((hop, sides)),
    )
    arena = Arena()
    start = arena.room(size_of(Hall))
    write = lay(arena, Hall, start, power=(REHEARSAL,), ear=ear)
    block = arena.sealed()
    write(block)
    return Rehearsals(make_podium(REHEARSAL * steps, width), block, seen(Hall, int(block.ctypes.data), block))


def loudest(d: Design, made: Rehearsals) -> float:
    """Weighted power of the loudest moment of a note, both channels together, as they leave the oversampling filter."""
    made.podium.perform(d)
    listen(made.podium.address, made.address)
    power = made.hall.power
    moments = [total(power[n : n + MOMENT]) for n in range(REHEARSAL - MOMENT + 1)]
    return max(moments) / (MOMENT * len(made.hall.ear.sound))


def ears(preset: Preset) -> Rows[Ear]:
    """Per pickup: equal-power gains left and right (1 and 1 in the middle), and what it hears."""
    pickups = preset.problem.pickups
    angles = [(pickup.pan + 1.0) * (pi / 4.0) for pickup in pickups]
    found = rows_of(Ear, len(angles))
    found.left, found.right = [cos(a) * sqrt(2.0) for a in angles], [sin(a) * sqrt(2.0) for a in angles]
    found.way, found.column = ways(pickups, preset.model == "modal"), columns(pickups)
    found.end = [pickup.at for pickup in pickups]
    return found


def places(found: Rows[Ear]) -> Array:
    """The same as a table, for who listens at design time."""
    return np.stack([found.left, found.right, *(part.astype(np.float64) for part in (found.way, found.column))], axis=1)
