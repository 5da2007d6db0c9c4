"""What is drawn of a preset: its string, the barrier under it, where it is plucked and heard; all in metres."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.physics.barrier import Barrier, Obstacles
from engine.preset.loader import Preset
from engine.preset.schema import TABLE

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


def _finite(value: float) -> float | None:
    return value if abs(value) < np.inf else None
