"""Every key of every preset is made equally loud: at design time each plays a note at velocity 100 and is listened to.

Loudness is that of its loudest 400 ms, in LUFS: the momentary loudness of EBU Tech 3341.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log10, pi
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.compiled import called_by_python, inlined
from engine.layout import Rows, rows_of
from engine.physics import finite_difference, modal
from engine.physics.excitation import SHAPES, add_pulse
from engine.physics.string import Array
from engine.preset.loader import Preset
from engine.synth import decimate
from engine.synth.budget import NOTE, Design, piece, step_time, thinned
from engine.synth.memory import KEYS, Ear
from engine.synth.weighting import OFFSET, k_weighting, weigh

# LUFS of one note at velocity 100. Of ten at velocity 127, struck together on any shipped preset, the limiter bends
# less than 1 % of the frames of the first two seconds (tests/synth/test_rehearsal.py); of 2 LU more, 1.5 %.
LOUDNESS = -26.0
REHEARSED = range(24, 109)  # keys
HOP, MOMENT = 0.1, 4  # s; hops that loudness is the mean of
REHEARSAL = round(NOTE / HOP)  # hops of a note that are listened to
LEEWAY = 0.5  # dB from one key's own loudness
FAINTEST = 1e-12  # m, m/s or N: below that a sound is rounding, on a string that nothing strikes


def gains(designs: Sequence[Design | None], preset: Preset, filtering: decimate.Decimator) -> NDArray[np.float64]:
    """Of every key; those that are not rehearsed are as their neighbours."""
    heard, decibels = [], []
    ready = {number: design for number in REHEARSED if (design := designs[number]) is not None}
    chosen = thinned(ready)
    if not chosen:
        return np.ones(KEYS)
    hall = make_hall(preset, next(iter(chosen.values())).rate, filtering)
    for number, design in chosen.items():
        power = loudest(design, hall)
        if power > FAINTEST**2:
            heard.append(number)
            decibels.append(LOUDNESS - OFFSET - 10.0 * log10(power))
    if not heard:
        return np.ones(KEYS)
    level = smoothed(np.interp(np.arange(KEYS), heard, decibels))
    return np.asarray(10.0 ** ((level + preset.gain) / 20.0))


def smoothed(level: NDArray[np.float64]) -> NDArray[np.float64]:
    """Gains that follow the keys without their chance ups and downs, off by at most LEEWAY."""
    around = np.pad(level, 2, mode="edge")
    mean = sum(weight * around[at : at + level.size] for at, weight in enumerate((1 / 9, 2 / 9, 3 / 9, 2 / 9, 1 / 9)))
    return np.clip(mean, level - LEEWAY, level + LEEWAY)


class Listener(NamedTuple):
    """What listens to the pickups, and its memory."""

    places: Array  # a row for each pickup: gains left and right, and whether it hears velocity
    rate: float  # Hz, of the string
    filtering: decimate.Decimator
    filtered: decimate.State
    weighting: Array
    weighted: Array
    mixed: Array  # [steps of a hop, sides]
    sound: Array  # [frames of a hop, sides]


class Hall(NamedTuple):
    """Where one key after the other plays its note: room that is made once."""

    force: Array  # N, of every step
    out: Array  # what each pickup hears
    power: Array  # of every hop
    ear: Listener


def make_hall(preset: Preset, rate: float, filtering: decimate.Decimator) -> Hall:
    """For strings that are all computed at `rate`."""
    hop = round(HOP * rate / filtering.oversample)
    steps = hop * filtering.oversample
    ear = Listener(
        places=places(ears(preset)),
        rate=rate,
        filtering=filtering,
        filtered=decimate.state(filtering),
        weighting=k_weighting(rate / filtering.oversample),
        weighted=np.zeros((2, 2, 2)),
        mixed=np.zeros((steps, 2)),
        sound=np.zeros((hop, 2)),
    )
    pickups = len(preset.problem.pickups)
    return Hall(np.zeros(REHEARSAL * steps), np.zeros((REHEARSAL * steps, pickups)), np.zeros(REHEARSAL), ear)


def loudest(d: Design, hall: Hall) -> float:
    """Weighted power of the loudest moment of a note, both channels together, as they leave the oversampling filter."""
    e = d.problem.excitation
    hall.force[:] = 0.0
    add_pulse(SHAPES.index(e.shape), e.force, max(e.duration, 2.0 / d.rate) * d.rate, -e.onset * d.rate, hall.force)
    _run(d, hall.force, hall.out)
    listen(hall.ear, hall.out, hall.power)
    moments = [float(hall.power[n : n + MOMENT].sum()) for n in range(REHEARSAL - MOMENT + 1)]
    return max(moments) / (MOMENT * len(hall.ear.sound))


def _run(d: Design, force: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    """The string's motion under a force, heard by the pickups, in pieces between which an interrupt gets through."""
    scheme = modal if isinstance(d, modal.Design) else finite_difference
    state, span = scheme.state(d.coefficients), piece(step_time(d))
    for at in range(0, force.size, span):
        scheme.kernel(d.coefficients, state, force[at : at + span], out[at : at + span])


@called_by_python
def listen(ear: Listener, out: Any, power: Any) -> None:
    """Weighted power of every hop of a note, both sides together, from what the pickups heard."""
    decimate.reset(ear.filtered)
    for side in range(ear.weighted.shape[0]):
        for i in range(2):
            ear.weighted[side, i, 0] = ear.weighted[side, i, 1] = 0.0
    steps = ear.mixed.shape[0]
    for n in range(power.size):
        mix(ear, out, n * steps)
        decimate.run(ear.filtering, ear.filtered, ear.mixed, ear.sound)
        power[n] = 0.0
        weigh(ear.sound, ear.weighting, ear.weighted, power[n : n + 1])


@inlined
def mix(ear: Listener, out: Any, first: Any) -> None:
    """A hop of what the pickups heard, from step `first` on, as left and right."""
    for t in range(ear.mixed.shape[0]):
        for side in range(ear.mixed.shape[1]):
            total = 0.0
            for p in range(out.shape[1]):
                heard = out[first + t, p] - out[0, p]
                if ear.places[p, 2] != 0.0:
                    before = out[first + t - 1, p] - out[0, p] if first + t > 0 else 0.0
                    heard = (heard - before) * ear.rate
                total += heard * ear.places[p, side]
            ear.mixed[t, side] = total


def ears(preset: Preset) -> Rows[Ear]:
    """Per pickup: equal-power gains left and right (1 and 1 in the middle), and whether it hears velocity."""
    pickups = preset.problem.pickups
    angle = (np.array([pickup.pan for pickup in pickups]) + 1.0) * (pi / 4.0)
    found = rows_of(Ear, angle.size)
    found.left, found.right = np.cos(angle) * 2**0.5, np.sin(angle) * 2**0.5
    found.velocity = [pickup.kind == "velocity" for pickup in pickups]
    return found


def places(found: Rows[Ear]) -> Array:
    """The same as a table, for who listens at design time."""
    return np.stack([found.left, found.right, found.velocity.astype(np.float64)], axis=1)
