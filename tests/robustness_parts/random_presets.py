"""Random valid presets over the whole schema: most of them plausible, a value here and there at an end of its range."""

from __future__ import annotations

from random import Random
from typing import Any

from engine.preset.materials import MATERIALS
from engine.preset.parameters import PARAMETERS
from engine.preset.playing import RESERVED
from engine.preset.scales import SCALES as NAMED
from engine.preset.schema import KEYS, PROFILES
from engine.preset.tuning import Tuning
from engine.units import key_to_note

EXTREME = 0.04  # share of the values that are taken from a key's whole range, its ends included
SCALES = ("equal", "just on D", "pythagorean, A4=415", "meantone on F, 432 Hz", "A4=30", "A4=7000", "just, C4=1")
TRACKING = ("duration", "force", "position", "release", "hearing")


def random_preset(chance: Random) -> dict[str, Any]:
    """A preset as a dict; the engine may still find its physics impossible, but never its form wrong."""
    string, model = _string(chance), chance.choice(("modal", "fd"))
    preset: dict[str, Any] = {
        "model": model,
        "string": string,
        "contact": _contact(chance),
        "excitation": {
            "position": number(chance, "excitation.position", 0.02, 0.98),
            "force": chance.choice((-1, 1)) * number(chance, "excitation.force", 1e-2, 50.0),
            "duration": number(chance, "excitation.duration", 1e-4, 2e-2),
        },
        "pickups": [_pickup(chance, model) for _ in range(chance.choice((1, 1, 1, 2, 3, 16)))],
        "oversample": chance.choice((1, 1, 1, 2, 4, 8)),
        "polyphony": chance.choice((1, 2, 4, 16)),
        "gain": chance.choice((0.0, chance.uniform(-60.0, 24.0))),
        "release": number(chance, "release", 1e-2, 5.0),
        "tuning": chance.choice(SCALES),
        "velocity": {"force": chance.uniform(0.0, 6.0), "duration": chance.uniform(-3.0, 3.0)},
    }
    if chance.random() < 0.8:
        preset["barrier"] = _barrier(chance, string["length"])
    if preset["model"] == "modal" and chance.random() < 0.2:
        preset["quality"] = chance.choice(KEYS["quality"].choices)
    preset["map"] = _map(chance, "barrier" in preset)
    preset["excitation"]["shape"] = chance.choice(KEYS["excitation.shape"].choices)
    if chance.random() < 0.3:
        preset["circuit"] = _circuit(chance)
    preset["tracking"] = {word: _power(chance, f"tracking.{word}") for word in TRACKING if chance.random() < 0.8}
    played = Random(repr(preset))  # the others stay as they were drawn before there were drones, and scales by name
    if played.random() < 0.3:
        preset["tuning"] = f"{played.choice(sorted(NAMED))} on {key_to_note(played.randint(36, 84))}"
    if played.random() < 0.3:
        preset["drone"] = _drone(played)
    if played.random() < 0.3:
        preset["strum"] = _strum(played)
    if played.random() < 0.2:
        preset["bend"] = played.uniform(-100.0, 100.0)
    if played.random() < 0.3:
        preset["intonation"] = played.choice(KEYS["intonation"].choices)
    preset["map"] += _later(played, "strum" in preset)
    voiced = Random(repr(preset))
    if voiced.random() < 0.2:
        keys = sorted(voiced.sample(range(24, 97), voiced.randint(1, 4)))
        preset["voicing"] = [[key_to_note(key), f"{voiced.uniform(-6.0, 6.0):.1f} dB"] for key in keys]
    return preset


def _strum(chance: Random) -> dict[str, Any]:
    return {
        "spread": number(chance, "strum.spread", 1e-3, 0.1),
        "window": number(chance, "strum.window", 5e-3, 0.1),
        "order": chance.choice(KEYS["strum.order"].choices),
        "accent": chance.randint(-30, 30),
    }


def _drone(chance: Random) -> dict[str, Any]:
    keys = (chance.randint(24, 96) for _ in range(100))
    order = [
        f"{'+'.join(key_to_note(next(keys)) for _ in range(chance.randint(1, 4)))} {chance.choice((1, 0.5, 2, 3.25))}"
        for _ in range(chance.randint(1, 8))
    ]
    return {
        "order": [*order, *chance.choice(([], ["-"], ["- 2"], ["C3:1:90"], ["C3' 2"]))],
        "tempo": number(chance, "drone.tempo", 30.0, 200.0),
        "swing": number(chance, "drone.swing", 0.1, 0.6),
        "spread": number(chance, "drone.spread", 1e-3, 0.1),
        "loose": number(chance, "drone.loose", 1e-3, 0.05),
        "velocity": chance.randint(1, 127),
    }


def _power(chance: Random, key: str) -> float:
    least, most = KEYS[key].low, KEYS[key].high
    return float(chance.choice((0.0, -1.0, 1.0, least, most, chance.uniform(least, most))))


def number(chance: Random, key: str, low: float, high: float) -> float:
    """A value of a key: between `low` and `high`, each decade as likely; now and then from all that the key allows."""
    if chance.random() >= EXTREME:
        return float(low * (high / low) ** chance.random())
    least, most = KEYS[key].low, KEYS[key].high
    positive = max(least, 1e-9 * most)
    return float(chance.choice((least, most, positive * (most / positive) ** chance.random())))


def _string(chance: Random) -> dict[str, Any]:
    string: dict[str, Any] = {
        "length": number(chance, "string.length", 0.1, 3.0),
        "keys": chance.choice(("tension", "length")),
    }
    if chance.random() < 0.5:
        string["density"] = number(chance, "string.density", 1e-5, 1e-1)
        if chance.random() < 0.7:
            string["stiffness"] = number(chance, "string.stiffness", 1e-8, 1e-2)
    else:
        string["diameter"] = number(chance, "string.diameter", 1e-4, 3e-3)
        string["material"] = chance.choice(tuple(MATERIALS))
    if chance.random() < 0.6:
        string["tuned"] = number(chance, "string.tuned", 30.0, 2000.0)
    else:
        string["tension"] = number(chance, "string.tension", 1.0, 1e3)
    if chance.random() < 0.7:
        terms = {"s0": (1e-2, 1e2), "s1": (1e-4, 1e-1), "s2": (1e-6, 1e-1), "s3": (1e-8, 1e-3)}
        chosen = chance.sample(sorted(terms), chance.randint(0, 4))
        string["loss"] = {term: number(chance, f"string.loss.{term}", *terms[term]) for term in chosen}
    return string


def _barrier(chance: Random, length: float) -> dict[str, Any]:
    profile = chance.choice(PROFILES)
    start, stop = sorted((chance.uniform(0.0, 1.0), chance.uniform(0.0, 1.0)))
    if chance.random() < 0.5:  # a bridge at the end
        start, stop = 0.0, chance.uniform(0.01, 0.2)
    start, stop = start * length, stop * length
    barrier: dict[str, Any] = {"profile": profile, "height": height(chance, "barrier.height")}
    if profile == "points":
        count = chance.choice((1, 2, 5, 20, 100))
        at = sorted(chance.uniform(0.01, 0.99) * length for _ in range(count))
        return {**barrier, "at": [[x, height(chance)] for x in at]}
    if profile == "table":
        rows = chance.choice((2, 3, 30))
        barrier["table"] = [[start + (stop - start) * row / (rows - 1), height(chance)] for row in range(rows)]
    else:
        barrier |= {"from": start, "to": stop}
    if profile == "parabola":
        barrier["curvature"] = chance.choice((-1, 1)) * number(chance, "barrier.curvature", 1e-3, 10.0)
    if profile == "polynomial":
        barrier["coefficients"] = [height(chance) for _ in range(chance.choice((1, 3, 6, 16)))]
    barrier["points"] = chance.choice((1, 2, 7, 12, 30, 100))
    return barrier


def height(chance: Random, key: str = "") -> float:
    """A height in metres: below the string, level with it, or pressing it up."""
    if key and chance.random() < EXTREME:
        return chance.choice((-1.0, 1.0, chance.uniform(-1.0, 1.0)))
    return chance.choice((0.0, -1.0, -1.0, -1.0, 1.0)) * 10.0 ** chance.uniform(-6.0, -2.0)


def _contact(chance: Random) -> dict[str, Any]:
    return {
        "stiffness": number(chance, "contact.stiffness", 1e2, 1e14),
        "exponent": chance.choice(
            (1.0, 1.5, 2.0, 2.5, 3.0, chance.uniform(1.0, 4.0), number(chance, "contact.exponent", 1.0, 4.0))
        ),
        "damping": chance.choice((0.0, number(chance, "contact.damping", 1e-3, 1e2))),
    }


def _pickup(chance: Random, model: str) -> dict[str, Any]:
    pan = chance.choice((0.0, -1.0, 1.0, chance.uniform(-1.0, 1.0)))
    kind = chance.choice(("displacement", "velocity", "bridge_force", "body_force", *["air"][: model == "modal"]))
    at = chance.choice((0, 1)) if kind.endswith("force") else chance.uniform(1e-3, 1.0 - 1e-3)
    more: dict[str, Any] = {}
    if kind == "air":
        more = {"distance": number(chance, "pickups.distance", 5e-3, 0.2)}
    elif model == "modal" and not kind.endswith("force") and chance.random() < 0.5:
        more = {"width": number(chance, "pickups.width", 1e-3, 0.1)}
    return {"at": at, "kind": kind, "pan": pan, **more}


def _circuit(chance: Random) -> dict[str, Any]:
    kind = chance.choice(KEYS["circuit.kind"].choices)
    coil = {"inductance": (0.5, 10.0), "resistance": (1e3, 2e4), "capacitance": (1e-10, 1e-9), "load": (1e5, 1e7)}
    ranges = coil if kind == "coil" else {"capacitance": (5e-10, 5e-9), "load": (1e6, 1e7)}
    chosen = [word for word in ranges if chance.random() < 0.7]
    return {"kind": kind, **{word: number(chance, f"circuit.{word}", *ranges[word]) for word in chosen}}


def _map(chance: Random, barrier: bool) -> list[dict[str, Any]]:
    ranges = {
        "barrier.height": lambda: height(chance, "barrier.height"),
        "excitation.position": lambda: chance.uniform(1e-3, 1.0 - 1e-3),
        "excitation.duration": lambda: number(chance, "excitation.duration", 1e-4, 2e-2),
        "string.loss.s0": lambda: number(chance, "string.loss.s0", 1e-2, 1e2),
        "gain": lambda: chance.uniform(-60.0, 24.0),
    }
    targets = [to for to in ranges if chance.random() < 0.6 and (barrier or PARAMETERS[to].needs != "barrier")]
    return [{"source": source(chance), "to": to, "range": [ranges[to](), ranges[to]()]} for to in targets]


def _later(chance: Random, strum: bool) -> list[dict[str, Any]]:
    """Of what may move since then."""
    ranges = {
        "strum.spread": lambda: number(chance, "strum.spread", 1e-3, 0.1),
        "bend": lambda: chance.uniform(-300.0, 300.0),
    }
    targets = [to for to in ranges if chance.random() < 0.6 and (strum or PARAMETERS[to].needs != "strum")]
    return [{"source": source(chance), "to": to, "range": [ranges[to](), ranges[to]()]} for to in targets]


def source(chance: Random) -> str:
    """What may move a key: few different ones, so that the random music finds them."""
    number = chance.choice((1, 1, 74, 20, chance.randrange(120)))
    return "pressure" if chance.random() < 0.3 or number in RESERVED else f"cc{number}"


def few_keys(tuning: Tuning, chance: Random, count: int) -> Tuning:
    """A tuning of which only some keys are left: designing 128 strings for a few notes would take most of the time."""
    there = [key for key, hz in enumerate(tuning.frequencies) if hz is not None and hz >= 15.0]
    kept = set(chance.sample(there, min(count, len(there))))
    return Tuning(tuning.name, tuple(hz if key in kept else None for key, hz in enumerate(tuning.frequencies)))


def keys_of(tuning: Tuning) -> list[int]:
    """The keys that sound."""
    return [key for key, hz in enumerate(tuning.frequencies) if hz is not None]
