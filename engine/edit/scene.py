"""What a page shows of a preset: its strings over their barriers, to be drawn, all in metres; and every key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from engine.physics.barrier import Barrier, Obstacles
from engine.physics.excitation import Excitation
from engine.physics.network.meetings import OBSTACLE, meetings
from engine.physics.network.parts import Against, Strung
from engine.preset.assembly import Assembly, Played
from engine.preset.check import Values
from engine.preset.loader import Preset
from engine.preset.schema import OWN, REPEATED, TABLE
from engine.preset.scope import Scope, parts

FINE = 97  # places at which a profile is drawn
DRAGGED = (
    *(f"barrier.{word}" for word in ("profile", "height", "to", "curvature", "table", "at")),
    "excitation.position",
)


def scene(preset: Preset, values: Values | None = None) -> dict[str, Any]:
    """For the page's canvas; `values` tell where what is drawn stands in the preset, so that it can be dragged."""
    p = preset.problem
    found: dict[str, Any] = {
        "model": preset.model,
        "length": p.string.length,
        "keys": preset.keys,
        "pluck": p.excitation.position,
        "force": p.excitation.force,
        "pickups": [{"at": pickup.at, "kind": pickup.kind, "pan": pickup.pan} for pickup in p.pickups],
        "barrier": _drawn(p.barrier, [float(place) for place in p.modal_points().position] if p.barrier else []),
    }
    if preset.assembly is not None:
        listed = any(part.strung.listening for part in preset.assembly.played)
        found["pickups"] = found["pickups"] if listed else []
        found["strings"] = list(_strings(preset.assembly, values))
    return found


def _drawn(barrier: Barrier | Obstacles | None, points: list[float]) -> dict[str, Any] | None:
    """What stands under a string; `points` are where it may push."""
    if isinstance(barrier, Obstacles):
        x, tops, kind = np.array(barrier.positions), np.array(barrier.tops()), "points"
    elif isinstance(barrier, Barrier):
        x, kind = np.linspace(barrier.start, barrier.stop, FINE), "surface"
        tops = barrier.surface(x)
    else:
        return None
    found = {"kind": kind, "height": barrier.height, "points": points}
    return {**found, "x": [float(place) for place in x], "h": [float(top) for top in tops]}


def _strings(assembly: Assembly, values: Values | None) -> Iterator[dict[str, Any]]:
    """Each entry of a preset's strings: who plays it, or at what pitches it answers, and what is drawn of it."""
    scopes: list[Scope | None] = [] if values is None else [Scope(values, own) for own in parts(values)]
    played, answering = iter(assembly.played), iter(assembly.sympathetic)
    for scope in scopes or [None] * len(assembly.played):
        if scope is not None and scope.sympathetic:
            own = [next(answering) for _ in scope.pitches]
            answers = [{"hz": strung.string.pitch, "length": strung.string.length} for strung in own]
            yield {"answers": answers, **_string(own[0], None), **_standing(scope)}
        else:
            part = next(played)
            found = {"keys": [part.lowest, part.highest], "mono": part.mono, "courses": len(part.courses)}
            standing = {} if scope is None else _standing(scope)
            yield {**found, **_string(part.strung, part), **standing}
    if not scopes and assembly.sympathetic:
        own = list(assembly.sympathetic)
        answers = [{"hz": strung.string.pitch, "length": strung.string.length} for strung in own]
        yield {"answers": answers, **_string(own[0], None)}


def _string(strung: Strung, part: Played | None) -> dict[str, Any]:
    """Its length, what it stands over, where it is struck, and what hangs on it."""
    length = strung.string.length
    against = next((port for port in strung.ports if isinstance(port, Against)), None)
    points = [point.at for point in meetings(strung) if point.kind == OBSTACLE]
    if part is not None and not isinstance(part.exciter, Excitation):
        points.append(part.exciter.position * length)
    points += [rattle.at for rattle in part.rattles] if part is not None else []
    return {
        "length": length,
        "barrier": _drawn(against.barrier if against else None, points),
        "pluck": None if part is None else part.exciter.position,
    }


def _standing(scope: Scope) -> dict[str, Any]:
    """Where keys that can be dragged stand, for all strings or for this one, and what hangs at a place of its own."""
    hung = [(path, "at", _thing(scope, path)) for path in scope.instances("ports")]
    if scope.given("damper"):
        hung.append((scope.path("damper"), "at", "damper"))
    return {
        "own": scope.own,
        "where": {name: scope.path(name) for name in DRAGGED},
        "hung": [{"path": f"{path}.{word}", "at": scope[f"{path}.{word}"], "what": what} for path, word, what in hung],
    }


def _thing(scope: Scope, path: str) -> str:
    """What an item of `ports` is, in a word."""
    weighs = [word for word in ("rattle", "mass", "stiffness", "resistance") if scope[f"{path}.{word}"]]
    names = {"rattle": "rattle", "mass": "bolt", "stiffness": "rubber", "resistance": "felt"}
    return names[weighs[0]] if weighs else "thing"


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


def groups() -> dict[str, Any]:
    """What the page needs to know of groups: those that come several times, and those that a string may have itself."""
    return {
        "repeated": {name: {"most": most, "what": what} for name, (_, most, what, _) in REPEATED.items()},
        "own": list(OWN),
    }


def _finite(value: float) -> float | None:
    return value if abs(value) < np.inf else None
