"""Random instruments of several strings on one bridge: all that is played, in any mixture."""

from __future__ import annotations

from dataclasses import replace
from math import pi
from random import Random

from engine.physics.barrier import Barrier, Obstacles, Polynomial
from engine.physics.excitation import Excitation
from engine.physics.network.parts import Against, Body, Link, Plane, PortLike, Resonance, Strung, Travel
from engine.physics.problem import Contact
from engine.physics.string import Loss, String
from engine.preset.assembly import (
    COUPLINGS,
    MANNERS,
    Assembly,
    Blowing,
    Course,
    Exciter,
    Felt,
    Played,
    Plucking,
    Rattle,
)
from engine.preset.loader import Preset, load_preset
from engine.preset.playing import Controller

TARGETS = (("barrier.height", -1e-4, 1e-4), ("gain", -20.0, 6.0), ("string.loss.s0", 0.3, 50.0))


def wire(chance: Random, pitch: float) -> String:
    """Of steel, of any gauge."""
    length, diameter = chance.uniform(0.3, 1.0), chance.uniform(0.2e-3, 0.8e-3)
    density = 7850.0 * pi * diameter * diameter / 4.0
    loss = Loss(chance.uniform(0.0, 3.0), chance.uniform(0.0, 2e-2), 0.0, chance.uniform(0.0, 1e-5))
    tension = density * (2.0 * length * pitch) ** 2
    return String(length, density, tension, 2e11 * pi * diameter**4 / 64.0, loss)


def barrier(chance: Random, length: float, points: int | None = None, law: Contact | None = None) -> Against:
    """A bridge or frets, at or below the rest line."""
    contact = law or Contact(10 ** chance.uniform(5.0, 9.0), chance.choice([1.0, 1.5, 2.5]), chance.choice([0.0, 0.5]))
    count = points or chance.randint(1, 6)
    if chance.random() < 0.7:
        profile = Polynomial((0.0, 0.0, -chance.uniform(0.1, 2.0)))
        return Against(Barrier(profile, 0.0, chance.uniform(0.02, 0.1) * length, count), contact)
    places = tuple(sorted(chance.uniform(0.05, 0.6) * length for _ in range(count)))
    return Against(
        Obstacles(places, (-chance.uniform(0.0, 1e-3),) * count), contact, chance.choice(["bridge", "frame"])
    )


def ports(chance: Random, length: float) -> tuple[PortLike, ...]:
    found: list[PortLike] = [barrier(chance, length)] if chance.random() < 0.8 else []
    if chance.random() < 0.3:
        at = chance.uniform(0.1, 0.4) * length
        way = Travel(0.0, chance.uniform(0.0, 0.05), chance.uniform(0.0, 0.02)) if chance.random() < 0.5 else Travel()
        stiffness, mass = chance.choice([0.0, 1e3, 1e5]), chance.choice([0.0, 1e-4, 2e-3])
        found.append(Link(at, stiffness, chance.uniform(0.0, 2.0), mass, travel=way))
    return tuple(found)


def exciter(chance: Random) -> Exciter:
    place, kind = chance.uniform(0.1, 0.9), chance.randrange(4)
    if kind == 0:
        return Blowing(place, 10 ** chance.uniform(-3.0, -1.8), chance.uniform(0.2, 5.0), Contact(1e9, 2.5))
    if kind == 1:
        tip = Contact(10 ** chance.uniform(3.0, 5.0))
        return Plucking(
            place, 3e-3, chance.uniform(1e-3, 2e-2), chance.uniform(0.1, 3.0), tip, chance.choice([0.0, 0.2])
        )
    return Excitation(
        place, chance.choice([-1.0, 1.0]) * 10 ** chance.uniform(-1.0, 0.7), 10 ** chance.uniform(-3.3, -2.0)
    )


def played(chance: Random) -> Played:
    """Strings that keys play."""
    string, planes = wire(chance, chance.uniform(80.0, 400.0)), (Plane(),)
    if chance.random() < 0.3:
        turned = chance.uniform(0.0, pi)
        planes = (Plane(turned), Plane(turned + 0.5 * pi, chance.uniform(-2.0, 2.0), band=5e3))
    courses = tuple(
        Course(
            chance.choice([1.0, 2.0]), chance.uniform(-5.0, 5.0), chance.choice([0.0, 3e-3]), chance.uniform(0.3, 1.0)
        )
        for _ in range(chance.randint(1, 3))
    )
    stretching = 2e4 if chance.random() < 0.2 else 0.0
    strung = Strung(string, chance.uniform(-1.2, 1.2), planes, ports(chance, string.length), stretching=stretching)
    strung = replace(strung, band=chance.uniform(3e3, 9e3))
    damper = Felt(
        chance.uniform(0.05, 0.3), chance.choice([0.0, 1e3]), chance.uniform(0.1, 5.0), chance.choice([0.0, 1e-3])
    )
    felt = damper if chance.random() < 0.5 else None
    loose = tuple(
        Rattle(chance.uniform(0.1, 0.9) * string.length, 10 ** chance.uniform(-4.0, -2.5), chance.uniform(0.0, 2e-4))
        for _ in range(chance.choice([0, 0, 0, 1, 2]))
    )
    return Played(strung, 0, 127, "tension", courses, False, exciter(chance), felt, loose)


def fretted(chance: Random, part: Played) -> Played:
    """The same as one string of many frets."""
    legato, keys = chance.choice(MANNERS), chance.choice(["length", "length", "tension"])
    return replace(part, keys=keys, mono=True, legato=legato, rattles=(), finger=chance.uniform(0.0, 1.0))


def body(chance: Random) -> Body:
    """Any that can be heard."""
    directions = tuple(chance.uniform(0.0, pi) for _ in range(chance.randint(1, 3)))
    sides = chance.randint(1, 2)
    modes = tuple(
        Resonance(
            chance.uniform(60.0, 3e3),
            chance.uniform(5.0, 100.0),
            10 ** chance.uniform(-3.0, 0.0),
            tuple(chance.gauss(0.0, 1.0) for _ in directions),
            tuple(chance.gauss(0.0, 1.0) for _ in range(sides)),
        )
        for _ in range(chance.randrange(12))
    )
    return Body(modes, directions, chance.choice([0.0, 200.0]))


def random_assembly(chance: Random) -> Preset:
    """An instrument; its pulses have one shape, as one instrument's have."""
    parts = tuple(played(chance) for _ in range(chance.randint(1, 2)))
    if chance.random() < 0.4:
        parts = tuple(fretted(chance, part) for part in parts)
    coupling = chance.choice([*COUPLINGS, "two-way", "two-way"])
    points, law = chance.randint(1, 2), Contact(10 ** chance.uniform(5.0, 8.0))
    answering = []
    for _ in range(0 if coupling == "none" else chance.randrange(4)):
        string = wire(chance, chance.uniform(200.0, 600.0))
        over = (Against(barrier(Random(1), string.length, points, law).barrier, law),)
        answering.append(Strung(string, chance.uniform(0.3, 1.0), ports=over, band=4e3))
    made = load_preset({"string": {"length": "0.9 m", "diameter": "0.3 mm", "material": "steel", "tuned": "A3"}})
    moved = tuple(Controller(f"cc{n + 1}", *chance.choice(TARGETS)) for n in range(chance.randrange(3)))
    own = Assembly(parts, tuple(answering), body(chance), coupling)
    return replace(
        made, assembly=own, controllers=moved, polyphony=chance.randint(1, 6), oversample=chance.choice([1, 1, 2])
    )
