"""Small instruments of several strings on one bridge, for tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from engine.physics.barrier import Barrier, Polynomial
from engine.physics.excitation import Excitation
from engine.physics.network.parts import Against, Body, Listening, Plane, Resonance, Strung
from engine.physics.problem import Contact, Pickup
from engine.physics.string import Loss, String
from engine.preset.assembly import Assembly, Blowing, Course, Felt, Played, Plucking, Rattle
from engine.preset.loader import Preset, load_preset
from engine.preset.playing import Controller
from engine.synth.instrument import Instrument

LOSS = Loss(0.6, 6.5e-3, 0.0, 5e-6)
PLUCK = Excitation(0.85, 1.0, 2e-3)
MODES = ((180.0, 12.0, 1.0), (515.0, 8.0, -1.0), (1122.0, 10.0, 1.0), (2610.0, 18.0, 0.7))
BODY = Body(tuple(Resonance(f, q, 0.25, (w,), (w, abs(w))) for f, q, w in MODES), radiates=300.0)
KEYS = (50, 70)
CONTROLLERS = (Controller("cc1", "barrier.height", 0.0, 5e-5), Controller("cc2", "gain", -20.0, 0.0))


def wire(length: float, pitch: float, diameter: float = 0.3e-3) -> String:
    """Of steel."""
    area = np.pi * diameter * diameter / 4.0
    tension = 7850.0 * area * (2.0 * length * pitch) * (2.0 * length * pitch)
    return String(length, 7850.0 * area, tension, 2e11 * np.pi * diameter**4 / 64.0, LOSS)


def jawari(to: float = 0.03, points: int = 5, **more: Any) -> Against:
    """A sitar's bridge."""
    return Against(Barrier(Polynomial((0.0, 0.0, -0.75)), 0.0, to, points), Contact(1e8), **more)


def baj(pitch: float = 185.0, band: float = 6e3, **more: Any) -> Strung:
    """A sitar's first string, with few modes."""
    return Strung(wire(0.88, pitch), ports=(jawari(),), band=band, **more)


def taraf(count: int = 5, points: int = 2, band: float = 5e3) -> tuple[Strung, ...]:
    """Sympathetic strings."""
    return tuple(
        Strung(
            wire(0.72 - 0.025 * n, 277.0 * 2.0 ** (n / 12.0), 0.23e-3), 0.8, ports=(jawari(0.012, points),), band=band
        )
        for n in range(count)
    )


def of(*played: Played, **more: Any) -> Preset:
    """A preset of such strings."""
    lowest, highest = KEYS
    parts = tuple(replace(part, lowest=max(part.lowest, lowest), highest=min(part.highest, highest)) for part in played)
    own = Assembly(**{"played": parts, "body": BODY, **more})
    made = load_preset({"string": {"length": "0.88 m", "diameter": "0.3 mm", "material": "steel", "tuned": "F#3"}})
    return replace(made, assembly=own, controllers=CONTROLLERS, polyphony=6)


def heard(preset: Preset) -> Preset:
    """By pickups on its strings."""
    return replace(preset, problem=replace(preset.problem, pickups=(Pickup(0.1, pan=-0.5), Pickup(0.4, "velocity"))))


FELT = Felt(0.15, resistance=2.0)
PLAYED = {
    "one": of(Played(baj(), exciter=PLUCK)),
    "hub": of(Played(baj(), exciter=PLUCK), sympathetic=taraf()),
    "felt": of(Played(baj(), exciter=PLUCK, felt=FELT, courses=(Course(), Course(1.0, 3.0, 2e-3, 0.7)))),
    "one-way": of(Played(baj(), exciter=PLUCK), sympathetic=taraf(), coupling="one-way"),
    "none": of(Played(baj(), exciter=PLUCK), coupling="none"),
    "twice": replace(of(Played(baj(), exciter=PLUCK, felt=FELT), sympathetic=taraf()), oversample=2),
    "hammer": of(
        Played(
            baj(),
            exciter=Blowing(0.12, 3e-3, 2.0, Contact(4.5e9, 2.5)),
            courses=(Course(), Course(detuned=1.0), Course(detuned=-1.0)),
            felt=FELT,
        )
    ),
    "rattle": of(
        Played(
            baj(),
            exciter=PLUCK,
            courses=(Course(), Course(2.0, 1.0, 1e-3, 0.5)),
            rattles=(Rattle(0.3, 1e-3, 2e-5), Rattle(0.7, 3e-4, 5e-5)),
        )
    ),
    "pickups": heard(of(Played(baj(listening=(Listening(0.1), Listening(0.4))), exciter=PLUCK, felt=FELT))),
    "plectrum": of(Played(baj(), exciter=Plucking(0.85, 3e-3, 5e-3, 1.5, Contact(2e4), 0.2))),
    "frets": of(
        Played(baj(), exciter=PLUCK, felt=FELT, keys="length", mono=True, lowest=57),
        Played(
            baj(123.5, planes=(Plane(0.3), Plane(0.3 + 0.5 * np.pi, 0.5, band=4e3))),
            exciter=PLUCK,
            keys="length",
            courses=(Course(), Course(2.0, 1.0, 1e-3, 0.5)),
            mono=True,
            highest=66,
        ),
        sympathetic=taraf(3),
    ),
    "pulled": of(Played(baj(), exciter=PLUCK, mono=True, legato="pedal", finger=1.0), coupling="one-way"),
    "all": of(
        Played(
            baj(planes=(Plane(0.3), Plane(0.3 + 0.5 * np.pi, 0.5, band=4e3)), stretching=1e4, stretched=8),
            exciter=PLUCK,
            felt=FELT,
            courses=(Course(), Course(2.0, 1.0, 1e-3, 0.5)),
            highest=60,
        ),
        Played(
            baj(370.0),
            exciter=Blowing(0.12, 3e-3, 2.0, Contact(4.5e9, 2.5)),
            courses=(Course(), Course(detuned=1.0)),
            lowest=58,
        ),
        sympathetic=taraf(),
    ),
}


def made_once(presets: Mapping[str, Preset], rate: float) -> Callable[[str], Instrument]:
    """Their instruments by name, as new each time, though each is designed only once."""

    @cache
    def designed(name: str) -> Instrument:
        return Instrument(presets[name], rate)

    def made(name: str) -> Instrument:
        instrument = designed(name)
        instrument.reset()
        return instrument

    return made
