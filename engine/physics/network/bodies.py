"""Bodies: a few by name, and the modes that nobody has counted, drawn at random with a plate's mean mobility.

A plate of mass M with n modes a hertz has Re Y = n/4M on the mean (Langley); listed modes take the place of the lowest.
Figures and their sources: README.md beside this file, section 9.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf, pi, sqrt

from engine.elementary import cos, log, power
from engine.errors import PhysicsError
from engine.physics.network.parts import AS_LOUD, Body, Resonance
from engine.physics.string import require

MOST_MODES = 256
COMMON = 200.0  # Hz: what is lower sounds alike on both sides
ROOM = 0.45  # of the rate: no mode lies above


@dataclass(frozen=True)
class Plate:
    """Modes at random: how many a hertz, of what mass (kg) and loss factor, from where to where (Hz)."""

    density: float
    mass: float
    loss: float
    low: float
    high: float
    seed: int = 0

    def __post_init__(self) -> None:
        require("body.density", self.density, above=0.0)
        require("body.mass", self.mass, above=0.0)
        require("body.loss", self.loss, above=0.0, below=2.0)
        require("body.low", self.low, above=0.0)
        require("body.high", self.high, above=self.low)
        if self.density * (self.high - self.low) > MOST_MODES:
            count, limit = self.density * (self.high - self.low), f"a body has at most {MOST_MODES} modes"
            raise PhysicsError("body.density", round(count), limit, "lower the density, or where its modes end")


def chances(seed: int) -> Iterator[float]:
    """Numbers between 0 and 1, the same on every machine (Steele, Lea and Flood's splitmix64)."""
    state, mask = seed, (1 << 64) - 1
    while True:
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        yield ((z ^ (z >> 31)) + 0.5) / (mask + 1)


def modes(plate: Plate, directions: int = 1) -> tuple[Resonance, ...]:
    """A plate's modes: spaced by Rayleigh's law, as those of an irregular plate are, normal in their motion."""
    chance = chances(plate.seed)

    def normal() -> float:
        return sqrt(-2.0 * log(next(chance))) * cos(2.0 * pi * next(chance))

    found, frequency = [], plate.low
    while (frequency := frequency + sqrt(-4.0 / pi * log(next(chance))) / plate.density) < plate.high:
        shape = tuple(normal() for _ in range(directions))
        right = 1.0 if frequency < COMMON or next(chance) < 0.5 else -1.0
        found.append(Resonance(frequency, 1.0 / plate.loss, plate.mass, shape, (1.0, right)))
    return tuple(found)


@dataclass(frozen=True)
class Named:
    """A body that somebody has measured: its resonances, the modal mass at the bridge, what radiates."""

    peaks: tuple[tuple[float, float], ...]  # Hz, quality
    mass: float  # kg
    levels: tuple[tuple[float, float], ...] = ()  # Hz, dB: what is heard of a newton, where that is known
    radiates: float = 0.0  # Hz, from where on; what is heard of a newton says it already


TANPURA = (
    *((180.0, 12.0), (515.0, 8.0), (715.0, 15.0), (1122.0, 10.0), (1330.0, 14.0), (1547.0, 20.0), (1660.0, 30.0)),
    *((1803.0, 16.0), (2154.0, 21.0), (2471.0, 14.0), (2610.0, 18.0), (2821.0, 30.0), (3059.0, 27.0), (3250.0, 60.0)),
    *((3596.0, 28.0), (4153.0, 36.0), (4395.0, 35.0), (4554.0, 60.0), (4875.0, 55.0), (5093.0, 34.0), (5905.0, 25.0)),
)
BRIDGE_TO_EAR = (
    *((200.0, -33.0), (280.0, -31.0), (400.0, -20.0), (565.0, -19.0), (800.0, -6.0), (1130.0, -6.5), (1600.0, 0.0)),
    *((2260.0, -4.0), (3200.0, -9.5), (4500.0, -11.5), (6400.0, -14.0), (9000.0, -14.0), (12800.0, -16.0)),
)
SITAR = (  # a gourd and a thinner, smaller plate: it radiates lower, and its plate goes on above
    *((105.0, 12.0), (180.0, 12.0), (265.0, 12.0), (350.0, 12.0), (430.0, 12.0)),
    *TANPURA[1:],
    *((6700.0, 25.0), (7600.0, 25.0), (8600.0, 25.0)),
)
SITAR_TO_EAR = (
    *((100.0, -9.0), (180.0, -7.0), (265.0, 0.0), (500.0, 5.0), (800.0, 6.0), (1200.0, 2.0), (1800.0, -1.0)),
    *((2400.0, -5.0), (3600.0, -5.0), (4400.0, 3.0), (6000.0, 5.0), (9000.0, 0.0)),
)
BODIES = {
    "tanpura": Named(TANPURA, 0.25, BRIDGE_TO_EAR),
    "sitar": Named(SITAR, 0.25, SITAR_TO_EAR),
    "guitar": Named(
        ((104.0, 29.0), (219.0, 26.0), (286.0, 25.0), (370.0, 25.0), (436.0, 25.0), (510.0, 25.0), (645.0, 25.0)),
        0.112,
        radiates=100.0,
    ),
    "harp": Named(((54.8, 9.0), (80.9, 10.0), (123.0, 20.0), (152.0, 22.0), (168.5, 36.0)), 0.3, radiates=140.0),
    "skin": Named(
        ((220.0, 15.0), (234.0, 9.0), (509.0, 15.0), (803.0, 20.0), (850.0, 20.0), (1593.0, 25.0), (2055.0, 25.0)),
        0.02,
        radiates=200.0,
    ),
    "biwa": Named(((300.0, 20.0), (700.0, 20.0), (1200.0, 20.0)), 0.5, radiates=250.0),
    "violin": Named(((275.0, 20.0), (400.0, 30.0), (450.0, 40.0), (540.0, 40.0), (2500.0, 3.0)), 0.06, radiates=250.0),
    "harpsichord": Named(((110.0, 25.0),), 0.16, radiates=80.0),
    "piano": Named(((66.0, 50.0), (95.0, 50.0), (114.0, 50.0)), 9.0, radiates=66.0),
}
PLATES = {  # what lies above the listed modes
    "guitar": Plate(0.02, 0.112, 0.03, 645.0, 3000.0),
    "harpsichord": Plate(0.06, 1.9, 0.03, 110.0, 700.0),
    "piano": Plate(0.05, 9.0, 0.02, 114.0, 1100.0),
}


def named(name: str, scale: float = 1.0, weight: float = 1.0) -> Body:
    """A body by its name, with all its frequencies and its mass times these."""
    if name not in BODIES:
        raise PhysicsError("body", name, f"must be one of {', '.join(BODIES)}", "choose one, or list its modes")
    require("body.scale", scale, above=0.0)
    require("body.weight", weight, above=0.0)
    about, found = BODIES[name], list[Resonance]()
    plate = PLATES.get(name)
    above: tuple[Resonance, ...] = ()
    if plate:  # of another size the same one, as a knob has it (engine/export): not another plate of its kind
        own = modes(replace(plate, mass=plate.mass * weight))
        above = tuple(replace(mode, frequency=mode.frequency * scale) for mode in own)
    for n, (frequency, quality) in enumerate(about.peaks):
        # Neighbours sound against each other, so that above them all little is left, as of a body that is no mass.
        sign = -1.0 if n % 2 else 1.0
        heard = gain(about, frequency) * about.mass / quality * weight if about.levels else 1.0
        right = heard if frequency * scale < COMMON or n % 3 else -heard
        mode = Resonance(frequency * scale, quality, about.mass * weight, (sign,), (heard, right))
        found.append(replace(mode, weighed=AS_LOUD) if about.levels else mode)
    return Body((*found, *above), radiates=about.radiates * scale)


def playable(body: Body, rate: float) -> Body:
    """The body without the modes that a sample rate has no room for; refused if that is all of them."""
    if not body.modes:
        return body
    kept = tuple(mode for mode in body.modes if mode.frequency < ROOM * rate)
    if not kept:
        lowest = min(mode.frequency for mode in body.modes)
        limit = f"no mode lies below {ROOM * rate:g} Hz, {ROOM:g} of the rate"
        raise PhysicsError("body.modes", lowest, limit, "lower their frequencies, or raise the rate or oversample")
    return replace(body, modes=kept)


def gain(about: Named, frequency: float) -> float:
    """What is heard at a frequency of a newton: decibels even between those that are known."""
    last_f, last = 0.0, about.levels[0][1]
    for f, level in (*about.levels, (inf, about.levels[-1][1])):
        if frequency < f:
            share = (frequency - last_f) / (f - last_f) if f < inf else 0.0
            return power(10.0, (last + share * (level - last)) / 20.0)
        last_f, last = f, level
    return 1.0
