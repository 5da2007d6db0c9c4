"""Random valid instruments of several strings, over all keys that random_presets.py leaves out."""

from __future__ import annotations

from random import Random
from typing import Any

from engine.preset.assembly import MANNERS, REGISTERS
from engine.preset.materials import MATERIALS
from engine.preset.network_keys import EXCITERS, HAMMER, PLECTRUM
from engine.preset.scales import SCALES
from engine.preset.schema import KEYS
from engine.units import key_to_note
from robustness_parts.random_presets import number, random_preset, source

MOST = 4  # strings


def random_instrument(chance: Random) -> dict[str, Any]:
    """A preset as a dict; the engine may still find its physics impossible, but never its form wrong."""
    preset = random_preset(chance)
    preset |= {"model": "modal", "quality": "normal", "map": []}
    # What a preset says for all must suit every entry.
    preset["string"] = _wire(chance) | {"tuned": chance.uniform(60.0, 600.0)}
    preset.pop("barrier", None)
    listening = [pickup for pickup in preset.pop("pickups", []) if pickup["kind"] != "air"]
    places = [pickup for pickup in listening if not pickup["kind"].endswith("force")]
    places = places or [pickup for pickup in listening if pickup["kind"] == "body_force" and pickup["at"] == 0]
    preset |= {"pickups": places} if places else {}
    preset["contact"] = {"exponent": chance.choice((1.0, 1.5, 2.5))}
    preset["excitation"] = {"position": chance.uniform(0.05, 0.95), "angle": chance.uniform(-180.0, 180.0)}
    for part, make in PARTS.items():
        if chance.random() < 0.5:
            preset[part] = make(chance)
    if chance.random() < 0.7:
        preset["strings"] = [_entry(chance, n) for n in range(chance.randint(1, MOST))]
    if chance.random() < 0.8:
        preset["body"] = body(chance)
    preset["coupling"] = chance.choice(KEYS["coupling"].choices)
    drawn = Random(repr(preset))  # the others stay as they were drawn before there were registers
    if drawn.random() < 0.4:
        _draw(drawn, preset)
    if drawn.random() < 0.4 and "body" in preset:
        _strike(drawn, preset)
    return preset


def _strike(chance: Random, preset: dict[str, Any]) -> None:
    """What strikes the body as well, and how its modes move there."""
    owner = chance.choice([preset, *(entry for entry in preset.get("strings", ()) if "sympathetic" not in entry)])
    owner["knock"] = {
        "force": chance.choice((-1, 1)) * number(chance, "knock.force", 0.1, 10.0),
        "duration": number(chance, "knock.duration", 3e-4, 5e-3),
        "after": number(chance, "knock.after", 0.1, 2.0),
    }
    for mode in preset["body"].get("modes", ()):
        mode["struck"] = chance.choice((-1, 1)) * number(chance, "body.modes.struck", 0.1, 2.0)


def _draw(chance: Random, preset: dict[str, Any]) -> None:
    """Registers, what moves them, and strings that are theirs, where no hammer hits them."""
    names = [name for name in REGISTERS if chance.random() < 0.7] or [REGISTERS[0]]
    preset["registers"] = {name: number(chance, f"registers.{name}", 0.1, 1.0) for name in names}
    preset["map"] = [
        {"source": source(chance), "to": f"registers.{name}", "range": [0, chance.choice((1, 0.5))]} for name in names
    ]
    owners = (preset, *preset.get("strings", ()))
    hammered = any(owner.get("exciter", {}).get("kind") == HAMMER for owner in owners)
    for course in [course for owner in owners if not hammered for course in owner.get("courses", ())]:
        if chance.random() < 0.7:
            course["stop"] = chance.choice(REGISTERS)


def _wire(chance: Random) -> dict[str, Any]:
    wire: dict[str, Any] = {"length": chance.uniform(0.2, 1.2), "keys": chance.choice(("tension", "length"))}
    wire |= {"diameter": chance.uniform(1e-4, 1e-3), "material": chance.choice(tuple(MATERIALS))}
    if chance.random() < 0.3:
        wire["stretching"] = chance.choice(("yes", "no", True))
    if chance.random() < 0.3:
        wire["elasticity"] = number(chance, "string.elasticity", 1e3, 1e5)
    if chance.random() < 0.3:
        wire["band"] = number(chance, "string.band", 3e3, 2e4)
    return wire


def _entry(chance: Random, n: int) -> dict[str, Any]:
    entry: dict[str, Any] = {"weight": number(chance, "strings.weight", 0.1, 2.0)}
    if n and chance.random() < 0.4:
        entry["sympathetic"] = [chance.choice(("C4", "F#4", 330.0, "220 Hz")) for _ in range(chance.randint(1, 4))]
        named = Random(repr(entry))  # the others stay as they were drawn before scales had names
        if named.random() < 0.5:
            scale = f"{named.choice(sorted(SCALES))} on {key_to_note(named.randint(54, 66))}"
            low = named.randint(54, 66)
            span = f"from {key_to_note(low)} to {key_to_note(low + named.randint(4, 6))}"
            entry["sympathetic"] = named.choice((f"{named.randint(1, 4)} of {scale}", f"{scale} {span}"))
    else:
        low = chance.randint(36, 60)
        entry["played"] = f"{key_to_note(low)}-{key_to_note(low + chance.randint(0, 24))}"
        entry["mono"] = chance.choice(("yes", "no"))
        slurred = Random(repr(entry))  # the others stay as they were drawn before there were slurs
        if entry["mono"] == "yes" and slurred.random() < 0.5:
            entry["legato"], entry["finger"] = slurred.choice(MANNERS), number(slurred, "strings.finger", 0.05, 2.0)
        for part in ("courses", "damper", "exciter"):
            if chance.random() < 0.3:
                entry[part] = PARTS[part](chance)
    if chance.random() < 0.6:
        entry["string"] = _wire(chance) | {"tuned": chance.uniform(60.0, 600.0)}
    if chance.random() < 0.4:
        entry["barrier"] = {
            "profile": "parabola",
            "curvature": chance.uniform(0.1, 2.0),
            "to": chance.uniform(0.005, 0.03),
            "stands": chance.choice(("bridge", "frame")),
        }
        if chance.random() < 0.5:
            entry["planes"] = [{"angle": 0}, {"angle": 90}]
            entry["barrier"]["friction"] = number(chance, "barrier.friction", 0.05, 0.5)
        both = Random(repr(entry))  # the others stay as they were drawn before there were gaps
        if both.random() < 0.4:
            entry["barrier"]["mirrored"] = both.choice(("yes", "no"))
    for part in ("ports", "planes"):
        if part not in entry and "barrier" not in entry and chance.random() < 0.3:
            entry[part] = PARTS[part](chance)
    return entry


def _exciter(chance: Random) -> dict[str, Any]:
    made: dict[str, Any] = {"kind": chance.choice(EXCITERS)}
    if made["kind"] == PLECTRUM:
        made["by"] = number(chance, "exciter.by", 1e-4, 1e-2)
        made["duration"] = number(chance, "exciter.duration", 1e-3, 0.1)
        made["slip"] = number(chance, "exciter.slip", 0.1, 10.0)
        made["damping"] = number(chance, "exciter.damping", 1e-2, 1.0)
    if made["kind"] == HAMMER:
        made["mass"] = number(chance, "exciter.mass", 1e-3, 1e-2)
        made["speed"] = number(chance, "exciter.speed", 0.5, 5.0)
        made["hysteresis"] = number(chance, "exciter.hysteresis", 1e-3, 1.0)
    if made["kind"] != EXCITERS[0]:
        made["exponent"] = number(chance, "exciter.exponent", 1.0, 3.0)
        made["stiffness"] = number(chance, "exciter.stiffness", 1e3, 1e9)
    return made


def _damper(chance: Random) -> dict[str, Any]:
    return {
        "at": number(chance, "damper.at", 0.05, 0.95),
        "resistance": number(chance, "damper.resistance", 0.1, 5.0),
        "stiffness": number(chance, "damper.stiffness", 1.0, 1e4),
        "mass": number(chance, "damper.mass", 1e-4, 1e-2),
        "duration": number(chance, "damper.duration", 1e-3, 0.1),
    }


def _ports(chance: Random) -> list[dict[str, Any]]:
    made = []
    for _ in range(chance.randint(1, 3)):
        made.append({"at": number(chance, "ports.at", 0.05, 0.95), "angle": chance.uniform(-180.0, 180.0)})
        made[-1] |= {
            "mass": number(chance, "ports.mass", 1e-4, 1e-2),
            "stiffness": number(chance, "ports.stiffness", 1.0, 1e5),
            "resistance": number(chance, "ports.resistance", 1e-2, 10.0),
        }
        if chance.random() < 0.5:
            made[-1]["rattle"] = number(chance, "ports.rattle", 1e-4, 1e-2)
            if made[-1]["rattle"] > 0.0:
                made[-1]["gap"] = number(chance, "ports.gap", 1e-5, 1e-3)
    return made


def _planes(chance: Random) -> list[dict[str, Any]]:
    return [
        {
            "angle": chance.uniform(-180.0, 180.0),
            "detuned": f"{chance.uniform(-5.0, 5.0)} cents",
            "loss": number(chance, "planes.loss", 0.3, 3.0),
            "band": number(chance, "planes.band", 3e3, 2e4),
        }
        for _ in range(chance.randint(1, 2))
    ]


def _courses(chance: Random) -> list[dict[str, Any]]:
    return [
        {
            "ratio": chance.choice((1, 2, "1/2", "3/2", 0.5)),
            "detuned": chance.uniform(-20.0, 20.0),
            "onset": number(chance, "courses.onset", 1e-3, 0.1),
            "force": number(chance, "courses.force", 0.5, 1.0),
        }
        for _ in range(chance.randint(1, 3))
    ]


def _room(chance: Random) -> dict[str, Any]:
    return {
        "share": number(chance, "room.share", 0.05, 0.5),
        "decay": number(chance, "room.decay", 0.1, 2.0),
        "size": number(chance, "room.size", 2.0, 20.0),
    }


PARTS = {
    "exciter": _exciter,
    "damper": _damper,
    "ports": _ports,
    "planes": _planes,
    "courses": _courses,
    "room": _room,
}


def body(chance: Random) -> dict[str, Any]:
    """A body with a name, or of listed and of random modes."""
    if chance.random() < 0.4:
        named: dict[str, Any] = {"name": chance.choice(KEYS["body.name"].choices)}
        named["scale"] = number(chance, "body.scale", 0.5, 2.0)
        named["weight"] = number(chance, "body.weight", 0.5, 2.0)
        return named
    directions = chance.randint(1, 3)
    made: dict[str, Any] = {
        "directions": [f"{chance.uniform(-180.0, 180.0)}°" for _ in range(directions)],
        "radiates": number(chance, "body.radiates", 50.0, 500.0),
        "modes": [
            {
                "frequency": number(chance, "body.modes.frequency", 80.0, 3e3),
                "quality": number(chance, "body.modes.quality", 3.0, 100.0),
                "mass": number(chance, "body.modes.mass", 0.02, 5.0),
                "moves": [chance.uniform(-1.0, 1.0) for _ in range(directions)],
                "left": number(chance, "body.modes.left", 0.1, 2.0),
                "right": number(chance, "body.modes.right", 0.1, 2.0),
            }
            for _ in range(chance.randint(1, 5))
        ],
    }
    if chance.random() < 0.5:
        low = number(chance, "body.plate.from", 100.0, 1e3)
        made["plate"] = {
            "density": number(chance, "body.plate.density", 1e-3, 0.05),
            "mass": number(chance, "body.plate.mass", 0.1, 5.0),
            "loss": number(chance, "body.plate.loss", 0.01, 0.1),
            "from": low,
            "to": number(chance, "body.plate.to", 1.1 * low, 3.0 * low),
            "seed": chance.randrange(1000),
        }
    return made
