"""Every key of every preset is made equally loud: at design time each plays a note at velocity 100 and is listened to.

Loudness is that of its loudest 400 ms, in LUFS: the momentary loudness of EBU Tech 3341.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log10, pi

import numpy as np
from numpy.typing import NDArray

from engine.layout import Rows, zeros
from engine.physics import finite_difference, modal
from engine.physics.excitation import pulse
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
    for number, design in thinned(ready).items():
        power = loudest(design, preset, filtering)
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


def loudest(d: Design, preset: Preset, filtering: decimate.Decimator) -> float:
    """Weighted power of the loudest moment of a note, both channels together, as they leave the oversampling filter."""
    rate = d.rate / filtering.oversample
    hop, e = round(HOP * rate), d.problem.excitation
    pluck = replace(e, duration=max(e.duration, 2.0 / d.rate))  # no voice's is shorter
    force = pulse(pluck, d.rate, REHEARSAL * hop * filtering.oversample)
    out = np.zeros((force.size, len(d.problem.pickups)))
    _run(d, force, out)
    sound, filters = np.zeros((REHEARSAL * hop, 2)), k_weighting(rate)
    decimate.run(filtering, decimate.state(filtering), _sides(out, d.rate, preset), sound)
    memory, power = np.zeros((2, 2, 2)), np.zeros((REHEARSAL, 1))
    for n in range(REHEARSAL):
        weigh(sound[n * hop : (n + 1) * hop], filters, memory, power[n])
    moments = [float(power[n : n + MOMENT].sum()) for n in range(REHEARSAL - MOMENT + 1)]
    return max(moments) / (MOMENT * hop)


def _run(d: Design, force: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    """The string's motion under a force, heard by the pickups, in pieces between which an interrupt gets through."""
    scheme = modal if isinstance(d, modal.Design) else finite_difference
    state, span = scheme.state(d.coefficients), piece(step_time(d))
    for at in range(0, force.size, span):
        scheme.kernel(d.coefficients, state, force[at : at + span], out[at : at + span])


def _sides(out: NDArray[np.float64], rate: float, preset: Preset) -> NDArray[np.float64]:
    """What pickups heard as left and right, away from rest."""
    out -= out[0]
    places = ears(preset)
    for p in range(out.shape[1]):
        if places[p].velocity:
            out[:, p] = np.diff(out[:, p], prepend=0.0) * rate
    # Products and sums one by one: a matrix product may round differently from one process to the next, and each bit of
    # the gain is heard in every bit of the output.
    both = [sum(out[:, p] * side[p] for p in range(out.shape[1])) for side in (places.left, places.right)]
    return np.stack(both, axis=1)


def ears(preset: Preset) -> Rows[Ear]:
    """Per pickup: equal-power gains left and right (1 and 1 in the middle), and whether it hears velocity."""
    pickups = preset.problem.pickups
    angle = (np.array([pickup.pan for pickup in pickups]) + 1.0) * (pi / 4.0)
    found = zeros(Ear, angle.size)
    found.left, found.right = np.cos(angle) * 2**0.5, np.sin(angle) * 2**0.5
    found.velocity = [pickup.kind == "velocity" for pickup in pickups]
    return found
