"""Where a key plays its note before anybody hears it, and what listens to its loudness, a hop at a time.

All of it is called with addresses, so that it lies in the engine's module with the strings that play.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from engine.compiled import entry, inlined
from engine.layout import Cube, Matrix, Vector, record
from engine.opened import at
from engine.physics.excitation import add_pulse
from engine.physics.hearing import AS_GIVEN, REACTION, derived
from engine.synth import circuit, decimate
from engine.synth.weighting import weigh


class Listener(NamedTuple):
    """What listens to the pickups, and its memory."""

    places: Matrix  # a row for each pickup: gains left and right, what it hears, and the column of what is carried
    rate: float  # Hz, of the string
    wiring: circuit.Wiring
    passing: circuit.State
    filtering: decimate.Decimator
    filtered: decimate.State
    weighting: Matrix
    weighted: Cube
    mixed: Matrix  # [steps of a hop, sides]
    sound: Matrix  # [frames of a hop, sides]


@record
class Podium:
    """Where one key after the other plays its note."""

    shape: int  # of the pluck; its peak and length, and how long ago it began, in N and steps
    peak: float
    length: float
    age: float
    force: Vector  # N, of every step
    out: Matrix  # what the kernel gives for each pickup, and what is carried


@record
class Hall:
    """Who listens to all of them, and what is heard."""

    power: Vector  # of every hop
    ear: Listener


podium_at, hall_at = at(Podium), at(Hall)


@entry
def pluck(podium: Any) -> None:
    """The force of a note, from its beginning."""
    s = podium_at(podium)
    force = s.force
    for n in range(force.size):
        force[n] = 0.0
    add_pulse(s.shape, s.peak, s.length, s.age, force)


@entry
def listen(podium: Any, hall: Any) -> None:
    """Weighted power of every hop of a note, both sides together, from what the pickups heard."""
    h, out = hall_at(hall), podium_at(podium).out
    ear, power = h.ear, h.power
    decimate.reset(ear.filtered)
    circuit.reset(ear.passing)
    for side in range(ear.weighted.shape[0]):
        for i in range(2):
            ear.weighted[side, i, 0] = ear.weighted[side, i, 1] = 0.0
    steps = ear.mixed.shape[0]
    for n in range(power.size):
        mix(ear, out, n * steps)
        circuit.run(ear.wiring, ear.passing, ear.mixed)
        decimate.run(ear.filtering, ear.filtered, ear.mixed, ear.sound)
        power[n] = 0.0
        weigh(ear.sound, ear.weighting, ear.weighted, power[n : n + 1])


@inlined
def mix(ear: Listener, out: Any, first: Any) -> None:
    """A hop of what the pickups heard, from step `first` on, as left and right."""
    for t in range(ear.mixed.shape[0]):
        for side in range(ear.mixed.shape[1]):
            both, n = 0.0, first + t
            for p in range(ear.places.shape[0]):
                heard, way = out[n, p] - out[0, p], int(ear.places[p, 2])
                if way != AS_GIVEN:
                    one, two = out[max(n - 1, 0), p] - out[0, p], out[max(n - 2, 0), p] - out[0, p]
                    column = int(ear.places[p, 3])
                    carried = out[n, column] - out[0, column] if way == REACTION else 0.0
                    heard = derived(way, heard, one, two, carried, ear.rate)
                both += heard * ear.places[p, side]
            ear.mixed[t, side] = both
