"""The last stage, at the sound card's rate: DC blocker, gain, float32; and the soft limiter for what a card plays.

Nothing here knows of blocks. In each sample's arithmetic there is no sum whose order a compiler could choose and no
product it could fuse in two ways, so the samples are the same however they are cut. The limiter has no memory: it takes
samples that are written already, one by one, live always and in a render only where it is asked for.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any, NamedTuple

import numpy as np

from engine.compiled import called_by_python, entry, inlined, native, single_rows
from engine.elementary import tan
from engine.errors import EngineError
from engine.layout import Vector
from engine.units import db_to_gain

DC_EDGE = 5.0  # Hz, -3 dB: 20 Hz loses 0.26 dB, and a step has gone to -60 dB after 0.22 s
KNEE = 0.5  # -6.02 dBFS: up to here the limiter does nothing
# -0.1 dBFS, rounded down to a float32 so that no rounding of a sample can pass it.
CEILING = float(np.nextafter(np.float32(db_to_gain(-0.1)), np.float32(0.0)))
SPAN = CEILING - KNEE  # exact, and so is KNEE + SPAN
FAINTEST = 1e-30  # a sample below this is silence: a float32 below 1e-38 would be on some threads and not on others
LARGEST = 1e6  # a sample beyond this (or not a number) is a fault, and silence


class Output(NamedTuple):
    """What the kernel reads."""

    drift: float  # share of the rest that the blocker's running mean takes up per sample
    gain: float  # of the blocker, and of the sum if mono
    channels: int


class State(NamedTuple):
    """What the kernel changes."""

    mean: Vector  # [channels], and how much of it is left while it is drained (1 or more: all)


def design(sample_rate: float, channels: int = 2) -> Output:
    """Stereo, or mono as the sum at equal power: a note panned to the middle is as loud in either."""
    if channels not in (1, 2):
        raise EngineError(f"channels = {channels}: must be 1 (mono) or 2 (stereo); give further ones copies")
    # (1 - 1/z) / (1 + t - (1 - t)/z) is at -3 dB where tan(w / 2) = t, exactly, and at 0 dB at Nyquist.
    t = tan(pi * DC_EDGE / sample_rate)
    return Output(2.0 * t / (1.0 + t), (1.0 if channels == 2 else sqrt(0.5)) / (1.0 + t), channels)


def state(d: Output) -> State:
    """Memory of silence."""
    return State(np.zeros(d.channels + 1))


@native
def drain(s: State, drop: Any) -> None:
    """Before a sample: take the running mean down in a straight line, with the fade of all that it is the mean of.

    It would be heard otherwise: for 0.2 s, as the opposite of what has gone.
    """
    last = s.mean.size - 1
    left = s.mean[last]
    after = max(left - drop, 0.0)
    share = min(after, 1.0) / min(left, 1.0) if left > 0.0 else 0.0
    for c in range(last):
        s.mean[c] *= share
    s.mean[last] = after


@inlined
def sound(x: Any) -> Any:
    """The sample, or silence if it is none: one bad sample must not stay in the blocker for ever."""
    return x if abs(x) <= LARGEST else 0.0


@called_by_python
def limit(x: Any) -> Any:
    """x up to the knee, then KNEE + SPAN u / sqrt(1 + u^2) of the excess u: slope and curvature are continuous.

    In 1/u every operation rounds monotonically, and therefore the whole, to the last bit.
    """
    size = abs(x)
    if size <= KNEE:
        return x
    if not size < np.inf:
        return 0.0
    inverse = SPAN / (size - KNEE)
    bent = KNEE + SPAN / sqrt(1.0 + inverse * inverse)
    return bent if x > 0.0 else -bent


@called_by_python
def finish(d: Output, s: State, x: Any, out: Any) -> None:
    """Fill out[n, channels] from the stereo signal x[n, 2]."""
    for n in range(out.shape[0]):
        for c in range(out.shape[1]):
            heard = sound(x[n, c]) if out.shape[1] == 2 else sound(x[n, 0]) + sound(x[n, 1])
            rest = heard - s.mean[c]
            s.mean[c] += d.drift * rest
            sample = d.gain * rest
            out[n, c] = sample if abs(sample) > FAINTEST else 0.0


@entry
def limit_block(address: Any, frames: Any, channels: Any) -> Any:
    """Limit the float32 samples [frames, channels] at `address` where they lie; in how many frames one was bent."""
    block, bent = single_rows(address, frames, channels), 0
    for n in range(frames):
        above = 0
        for c in range(channels):
            x = np.float64(block[n, c])
            if not abs(x) <= KNEE:
                block[n, c] = limit(x)
                above = 1
        bent += above
    return bent
