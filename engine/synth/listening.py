"""What a note's pickups heard, as loudness: mixed, brought down to the sample rate and weighted, a hop at a time."""

from __future__ import annotations

from typing import Any, NamedTuple

from engine.compiled import called_by_python, inlined
from engine.physics.string import Array
from engine.synth import decimate
from engine.synth.weighting import weigh


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
            both = 0.0
            for p in range(out.shape[1]):
                heard = out[first + t, p] - out[0, p]
                if ear.places[p, 2] != 0.0:
                    before = out[first + t - 1, p] - out[0, p] if first + t > 0 else 0.0
                    heard = (heard - before) * ear.rate
                both += heard * ear.places[p, side]
            ear.mixed[t, side] = both
