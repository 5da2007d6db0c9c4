"""What the instrument's tests share: small presets, MIDI messages as bytes, rendering, measuring pitch and clicks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from engine.layout import rebuilt
from engine.physics.string import Array
from engine.synth import memory, strings
from engine.synth.instrument import Instrument
from engine.synth.output import limit_block
from engine.synth.renderer import play

RATE = 48_000
Event = tuple[int, list[int]]  # absolute sample, bytes

STRING = {"length": 1.0, "density": "1.17 g/m", "tension": "180.5 N", "stiffness": 3e-4}
MAP = [
    {"source": "wheel", "to": "gain", "range": ["-40 dB", "0 dB"]},
    {"source": "pressure", "to": "string.loss.s0", "range": [0.3, 20]},
    {"source": "cc74", "to": "excitation.duration", "range": ["8 ms", "2 ms"]},
]
# A soft pluck on a string that loses its high partials: whatever is heard far above them is a click.
PLAIN: dict[str, Any] = {
    "string": {**STRING, "loss": {"s0": 0.3, "s1": 0.02, "s3": 1e-5}},
    "excitation": {"position": 0.3, "force": 1, "duration": "8 ms"},
    "pickups": [{"at": 0.1}],
    "release": "0.2 s",
    "map": MAP,
}
GRID: dict[str, Any] = {**PLAIN, "model": "fd", "string": {**STRING, "loss": {"s0": 0.3, "s2": 1e-3}}}
# Strings that touch something; two pickups of different kinds to the left and the right.
TOUCHING: dict[str, Any] = {
    "excitation": {"position": 0.7, "force": 2, "duration": "1 ms"},
    "pickups": [{"at": 0.1, "pan": -0.6}, {"at": 0.37, "kind": "velocity", "pan": 0.5}],
    "release": "0.2 s",
    "map": [
        {"source": "wheel", "to": "barrier.height", "range": ["-0.2 mm", "0.2 mm"]},
        {"source": "cc20", "to": "gain", "range": ["-30 dB", "6 dB"]},
        {"source": "cc74", "to": "excitation.duration", "range": ["3 ms", "0.5 ms"]},
        {"source": "pressure", "to": "string.loss.s0", "range": [0.3, 50]},
    ],
}
BRIDGE = {"profile": "parabola", "to": "60 mm", "curvature": 0.75, "points": 6}
FRETS = {"profile": "points", "at": [["0.2 m", "-0.3 mm"], ["0.5 m", "-0.5 mm"], ["0.55 m", "-0.4 mm"]]}
RIGID = {"stiffness": 1e7, "exponent": 1.5, "damping": 0.5}
SMALL: dict[str, dict[str, Any]] = {
    "modal": PLAIN,
    "grid": GRID,
    "bridge": {**PLAIN, **TOUCHING, "barrier": BRIDGE},
    "frets": {**PLAIN, **TOUCHING, "barrier": FRETS, "contact": RIGID},
    "grid bridge": {**GRID, **TOUCHING, "barrier": BRIDGE},
    "grid frets": {**GRID, **TOUCHING, "barrier": FRETS, "contact": RIGID, "oversample": 2},
}


@cache
def _made(name: str) -> Instrument:
    return Instrument(SMALL.get(name, name), RATE)


def instrument(name: str) -> Instrument:
    """One of the small presets or of the shipped ones, as good as new."""
    made = _made(name)
    made.reset()
    return made


def on(key: int, velocity: int = 100, channel: int = 0) -> list[int]:
    return [0x90 | channel, key, velocity]


def off(key: int, channel: int = 0) -> list[int]:
    return [0x80 | channel, key, 64]


def cc(number: int, value: int, channel: int = 0) -> list[int]:
    return [0xB0 | channel, number, value]


def pressure(value: int, channel: int = 0) -> list[int]:
    return [0xD0 | channel, value]


def bend(wheel: int, channel: int = 0) -> list[int]:
    """The wheel from -8192 to 8191."""
    return [0xE0 | channel, (wheel + 8192) & 0x7F, (wheel + 8192) >> 7]


def bend_range(semitones: int, cents: int = 0, channel: int = 0) -> list[list[int]]:
    """RPN 0."""
    settings = ((101, 0), (100, 0), (6, semitones), (38, cents))
    return [cc(number, value, channel) for number, value in settings]


def schedule(inst: Instrument, events: Iterable[Event]) -> None:
    for sample, data in sorted(events, key=lambda event: event[0]):
        assert inst.schedule(sample, data)


def render(inst: Instrument, events: Iterable[Event], frames: int, cuts: Sequence[int] = ()) -> Array:
    """The output, with blocks that end at `cuts`."""
    schedule(inst, events)
    out = np.full((frames, inst.channels), np.nan, np.float32)
    for start, stop in pairwise([0, *cuts, frames]):
        inst.run(out[start:stop])
    return out


def limited(out: Array) -> Array:
    """The same sound as a card would play it."""
    copy = np.array(out, np.float32, order="C")
    limit_block(copy.ctypes.data, *copy.shape)
    return copy


def raw(inst: Instrument, events: Iterable[Event], frames: int) -> Array:
    """The sound before the output stage, at the model's rate, [frames * oversample, 2].

    The renderer forgets it from one span to the next, so it is played span by span: to the next event or tick.
    """
    schedule(inst, events)
    m, per, done = inst.machine, inst.oversample, 0
    out, ring, stereo = np.full((frames * per, 2), np.nan), m.ring, m.stereo
    sound = np.zeros((memory.TICK, inst.channels), np.float32)
    while done < frames:
        clock = m.clock
        waiting = ring.rows[np.arange(ring.read[0], ring.written[0]) & (memory.RING_SIZE - 1), 0]
        due = waiting[waiting > clock]
        span = min(frames - done, memory.TICK - clock % memory.TICK, int(due[0]) - clock if due.size else frames)
        play(inst.address, span, sound.ctypes.data)
        out[done * per : (done + span) * per] = 0.0 if m.idle else stereo[: span * per]
        done += span
    return out


def blocks(size: int, frames: int) -> list[int]:
    return list(range(size, frames, size))


def digest(name: str, events: list[Event], frames: int, size: int) -> bytes:
    """The output's bits, for another thread or process to compare."""
    made = Instrument(SMALL.get(name, name), RATE)
    return render(made, events, frames, blocks(size, frames)).tobytes()


def states(inst: Instrument) -> list[int]:
    """The states of all voices."""
    return [int(s) for s in inst.machine.voices.state]


def ringing(inst: Instrument) -> int:
    """Voices that sound and are not fading."""
    return sum(s in (memory.HELD, memory.RELEASED) for s in states(inst))


def string(inst: Instrument, voice: int) -> Any:
    """What a voice's string is made of, as its model has it; for as long as the instrument lives."""
    m = inst.machine
    return rebuilt(strings.GROUPS[m.model], inst.address, m.voice_words[voice])


def levels(inst: Instrument, voice: int) -> list[Array]:
    """Where a voice's string is and was: its displacements of the last time steps."""
    state = string(inst, voice).s
    return [state.even, state.odd] if inst.preset.model == "modal" else [state.level0, state.level1, state.level2]


def decibels(x: Array) -> float:
    """Of the peak."""
    return float(20.0 * np.log10(np.abs(x).max() + 1e-30))


def pitch(x: Array, near: float, rate: float = RATE) -> float:
    """Frequency of the partial `near`: how far its phase goes from the first half of x to the second."""
    half = x.size // 2
    window, t, found = np.hanning(half), np.arange(2 * half) / rate, near
    for _ in range(4):
        turned = np.exp(-2j * np.pi * found * t) * x[: 2 * half]
        first, second = (turned[:half] * window).sum(), (turned[half:] * window).sum()
        found += float(np.angle(second / first)) / (2.0 * np.pi * half / rate)
    return found


def cents(frequency: float, wanted: float) -> float:
    return float(1200.0 * np.log2(frequency / wanted))
