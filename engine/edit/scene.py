"""What a page shows of a preset: its string over the barrier, to be drawn, all in metres; and the keys that it has."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.physics.barrier import Barrier, Obstacles
from engine.preset.check import Values
from engine.preset.key import Key
from engine.preset.loader import Preset
from engine.preset.schema import TABLE, plain

FINE = 97  # places at which a profile is drawn


def scene(preset: Preset) -> dict[str, Any]:
    """For the page's canvas."""
    p = preset.problem
    found: dict[str, Any] = {
        "model": preset.model,
        "length": p.string.length,
        "keys": preset.keys,
        "pluck": p.excitation.position,
        "force": p.excitation.force,
        "pickups": [{"at": pickup.at, "kind": pickup.kind, "pan": pickup.pan} for pickup in p.pickups],
        "barrier": None,
    }
    barrier = p.barrier
    if isinstance(barrier, Obstacles):
        tops = barrier.tops()
        found["barrier"] = {
            "kind": "points",
            "height": barrier.height,
            "x": list(barrier.positions),
            "h": [float(top) for top in tops],
            "points": list(barrier.positions),
        }
    elif isinstance(barrier, Barrier):
        x = np.linspace(barrier.start, barrier.stop, FINE)
        found["barrier"] = {
            "kind": "surface",
            "height": barrier.height,
            "x": [float(place) for place in x],
            "h": [float(height) for height in barrier.surface(x)],
            "points": [float(place) for place in p.modal_points().position],
        }
    return found


def rows() -> list[dict[str, Any]]:
    """The schema's own table, for the inspector: a key that is added there appears on the page."""
    return [
        {
            "name": key.name,
            "kind": key.kind,
            "unit": key.unit,
            "low": _finite(key.low),
            "high": _finite(key.high),
            "default": key.default if isinstance(key.default, str | int | float | None) else None,
            "choices": list(key.choices),
            "profiles": list(key.profiles),
            "usual": [_finite(end) for end in key.usual],
            "units": list(key.units),
            "required": key.required,
            "meaning": key.meaning,
        }
        for key in TABLE
    ]


def paths(preset: Preset, values: Values) -> list[tuple[str, str]]:
    """Every path that a preset has, or could have as it stands, with its key: those of lists once for each item."""
    found: dict[str, str] = {}
    for key in TABLE:
        if _belongs(key, values):
            found |= dict.fromkeys(_instances(key.name, values, len(preset.problem.pickups)), key.name)
    for path in values.texts:  # what one of several has of its own
        found.setdefault(path, plain(path))
    return list(found.items())


def _instances(name: str, values: Values, pickups: int) -> list[str]:
    *groups, word = name.split(".")
    found = [""]
    for group in groups:
        here = [f"{path}.{group}" if path else group for path in found]
        found = [item for path in here for item in values.instances(path)]
        if group == "pickups" and not found:  # the one that there is where none is given
            found = [f"pickups.{number}" for number in range(pickups)]
    return [f"{path}.{word}" if path else word for path in found]


def _belongs(key: Key, values: Values) -> bool:
    """Whether a key belongs to what was chosen in its group: to the barrier's profile."""
    group = key.name.rpartition(".")[0]
    for other in TABLE if key.profiles else ():
        if other is not key and other.name.rpartition(".")[0] == group and set(key.profiles) <= set(other.choices):
            return values[other.name] in key.profiles
    return True


def _finite(value: float) -> float | None:
    return value if abs(value) < np.inf else None
