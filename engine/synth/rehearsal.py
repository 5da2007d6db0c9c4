"""Every key of every preset is made equally loud: at design time each plays a note at velocity 100 and is listened to.

Loudness is that of its loudest 400 ms, in LUFS: the momentary loudness of EBU Tech 3341.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import elementwise
from engine.aligned import zeros
from engine.elementary import log10
from engine.layout import Rows, rows_of
from engine.physics import finite_difference, modal
from engine.physics.excitation import SHAPES, add_pulse
from engine.physics.linear import between, total
from engine.physics.string import Array
from engine.preset.loader import Preset
from engine.synth import decimate
from engine.synth.budget import NOTE, Design, piece, step_time, thinned
from engine.synth.listening import Listener, listen
from engine.synth.memory import KEYS, Ear
from engine.synth.weighting import OFFSET, k_weighting
from engine.units import db_to_gain

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
        if power > FAINTEST * FAINTEST:
            heard.append(number)
            decibels.append(LOUDNESS - OFFSET - 10.0 * log10(power))
    if not heard:
        return np.ones(KEYS)
    level = smoothed(between(np.arange(KEYS), np.array(heard), np.array(decibels)))
    return np.array([db_to_gain(float(own) + preset.gain) for own in level])


def smoothed(level: NDArray[np.float64]) -> NDArray[np.float64]:
    """Gains that follow the keys without their chance ups and downs, off by at most LEEWAY."""
    around = np.pad(level, 2, mode="edge")
    mean = sum(weight * around[at : at + level.size] for at, weight in enumerate((1 / 9, 2 / 9, 3 / 9, 2 / 9, 1 / 9)))
    return np.clip(mean, level - LEEWAY, level + LEEWAY)


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
    heard, pickups = places(ears(preset)), len(preset.problem.pickups)
    # One pickup is as loud wherever it is heard, since left and right share a power of 2: one side will do.
    sides = 1 if pickups == 1 else 2
    heard = np.array([[sqrt(2.0), 0.0, heard[0, 2]]]) if pickups == 1 else heard
    ear = Listener(
        places=heard,
        rate=rate,
        filtering=filtering,
        filtered=decimate.state(filtering, sides),
        weighting=k_weighting(rate / filtering.oversample),
        weighted=np.zeros((sides, 2, 2)),
        mixed=zeros((steps, sides)),
        sound=zeros((hop, sides)),
    )
    return Hall(zeros(REHEARSAL * steps), zeros((REHEARSAL * steps, pickups)), np.zeros(REHEARSAL), ear)


def loudest(d: Design, hall: Hall) -> float:
    """Weighted power of the loudest moment of a note, both channels together, as they leave the oversampling filter."""
    e = d.problem.excitation
    hall.force[:] = 0.0
    add_pulse(SHAPES.index(e.shape), e.force, max(e.duration, 2.0 / d.rate) * d.rate, -e.onset * d.rate, hall.force)
    _run(d, hall.force, hall.out)
    listen(hall.ear, hall.out, hall.power)
    moments = [total(hall.power[n : n + MOMENT]) for n in range(REHEARSAL - MOMENT + 1)]
    return max(moments) / (MOMENT * len(hall.ear.sound))


def _run(d: Design, force: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    """The string's motion under a force, heard by the pickups, in pieces between which an interrupt gets through."""
    scheme = modal if isinstance(d, modal.Design) else finite_difference
    state, span = scheme.state(d.coefficients), piece(step_time(d))
    for at in range(0, force.size, span):
        scheme.kernel(d.coefficients, state, force[at : at + span], out[at : at + span])


def ears(preset: Preset) -> Rows[Ear]:
    """Per pickup: equal-power gains left and right (1 and 1 in the middle), and whether it hears velocity."""
    pickups = preset.problem.pickups
    angle = (np.array([pickup.pan for pickup in pickups]) + 1.0) * (pi / 4.0)
    found = rows_of(Ear, angle.size)
    found.left, found.right = elementwise.cos(angle) * sqrt(2.0), elementwise.sin(angle) * sqrt(2.0)
    found.velocity = [pickup.kind == "velocity" for pickup in pickups]
    return found


def places(found: Rows[Ear]) -> Array:
    """The same as a table, for who listens at design time."""
    return np.stack([found.left, found.right, found.velocity.astype(np.float64)], axis=1)
