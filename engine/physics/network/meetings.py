"""Ports of a string, point by point: where each stands, what law it obeys, when it is there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from math import inf, pi, sqrt
from typing import Any

import numpy as np

from engine.aligned import zeros
from engine.errors import PhysicsError
from engine.physics import contact
from engine.physics.barrier import Barrier, ContactPoints, cell_points, obstacle_points
from engine.physics.network.memory import NOBODY, THERE, WAITING
from engine.physics.network.parts import BRIDGE, Against, Blow, Finger, Link, PortLike, Strung, Travel, seen_from
from engine.physics.problem import Contact
from engine.physics.string import Array

OBSTACLE, RUB, LINK = range(3)  # in this order they lie
FORMS = {0.0: contact.LINEAR, 0.25: contact.QUARTER, 0.5: contact.HALF}
STIFF = 1e5  # N/m: two contacts stiffer than this, one of which presses the string on the other, lose their force


STAYING, NOTHING = Travel(), Contact(0.0)


@dataclass(eq=False)
class Meeting:
    """One point: numbers as parts.py has them, in SI units."""

    kind: int
    at: float
    angle: float = 0.0
    on_bridge: bool = False
    law: Contact = NOTHING  # of an obstacle
    stiffness: float = 0.0  # of a link N/m,
    damping: float = 0.0  # and kg/s
    mass: float = 0.0
    friction: float = 0.0
    low: float = 0.0
    travel: Travel = STAYING
    slip: float = inf
    hammer: int = NOBODY
    partner: Meeting | None = None

    @property
    def moves(self) -> bool:
        """Whether it comes, goes or is moved by something."""
        return self.hammer != NOBODY or self.slip < inf or self.travel != STAYING

    @property
    def stands(self) -> bool:
        """Whether it is an obstacle of a barrier."""
        return self.kind == OBSTACLE and self.hammer == NOBODY and self.slip == inf


def meetings(strung: Strung) -> list[Meeting]:
    """The points of a string: obstacles, then rubs, then links, each kind in the order of its ports."""
    found: list[Meeting] = []
    for port in strung.ports:
        found += _met(port, strung)
    for point in found:
        if not 0.0 < point.at < strung.string.length:
            limit = f"must lie inside the string, 0 to {strung.string.length:g} m"
            raise PhysicsError("ports.at", point.at, limit, "move it")
    _refuse_drift(strung)
    return sorted(found, key=lambda point: point.kind)


def _met(port: PortLike, strung: Strung) -> list[Meeting]:
    match port:
        case Against():
            law, on_bridge = partial(replace, port.contact), port.stands == BRIDGE
            over = [
                Meeting(OBSTACLE, x, port.angle, on_bridge, law(stiffness=k), low=h, travel=port.travel)
                for x, h, k in zip(*_spots(port, strung.string.length))
            ]
            return over + (_rubs(port, strung, over) if port.friction > 0.0 else [])
        case Finger():
            own = Meeting(OBSTACLE, port.at, port.angle, law=port.contact, low=port.height, slip=port.slip)
            own.travel = port.travel
            if port.damping == 0.0:
                return [own]
            own.partner = Meeting(LINK, port.at, port.angle, damping=port.damping, travel=_sudden(port.travel))
            return [own, own.partner]
        case Blow():
            return [Meeting(OBSTACLE, port.at, port.angle, law=port.contact, hammer=port.hammer)]
        case Link():
            hung = Meeting(LINK, port.at, port.angle, stiffness=port.stiffness, damping=port.resistance, mass=port.mass)
            hung.travel = port.travel
            return [hung]


def _rubs(port: Against, strung: Strung, over: list[Meeting]) -> list[Meeting]:
    """Friction on the plane across, at every point of a barrier."""
    across = port.angle + 0.5 * pi
    if not any(seen_from(across, plane.angle) for plane in strung.planes):
        limit = "the string has no plane across the barrier for it to rub on"
        raise PhysicsError("friction", port.friction, limit, "add a plane, or leave friction out")
    return [Meeting(RUB, own.at, across, own.on_bridge, friction=port.friction, partner=own) for own in over]


def _sudden(travel: Travel) -> Travel:
    return Travel(0.0, travel.start, 0.0, travel.end)


def _spots(port: Against, length: float) -> ContactPoints:
    barrier, stiffness = port.barrier, port.contact.stiffness
    if isinstance(barrier, Barrier):
        return cell_points(barrier, stiffness, length)
    return obstacle_points(barrier, stiffness, length)


def _refuse_drift(strung: Strung) -> None:
    """At most one of the contacts that last may be one-sided and stiff: others than that lose their force in a second.

    What lasts is a finger that neither slips nor leaves, and what it presses the string on.
    """
    stays = [p for p in strung.ports if isinstance(p, Finger) and p.slip == inf and p.travel.end == inf]
    hard = [p for p in strung.ports if isinstance(p, Against) and p.contact.stiffness > STIFF]
    for finger in stays:
        if finger.contact.stiffness > STIFF and hard:
            limit = f"stays, and beside a barrier may be no stiffer than {STIFF:g} N/m: their forces would drift"
            raise PhysicsError("finger.stiffness", finger.contact.stiffness, limit, "lower it, or make it a spring")


def laid_out(found: list[Meeting], elastic: Array, ends: int, rate: float) -> dict[str, Any]:
    """The points' memory, by the fields of memory.Contacts; `elastic` is how stiff their laws are."""
    number = {id(point): n for n, point in enumerate(found)}

    def each(values: list[float]) -> Array:
        made = zeros(len(found))
        made[:] = values
        return made

    kinds = [point.kind for point in found]
    power = each([0.5 * (p.law.exponent - 1.0) for p in found])
    low = each([p.low for p in found])
    count = len(found)
    return {
        "obstacles": kinds.count(OBSTACLE),
        "rubs": kinds.count(RUB),
        "links": kinds.count(LINK),
        "timed": int(any(p.moves for p in found)),
        "at": each([p.at for p in found]),
        "slope": 0.5 * np.sqrt(elastic * (power + 1.0)),  # (al + 1)/2 = power + 1
        "power": power,
        "form": np.array([FORMS.get(float(p), contact.GENERAL) for p in power], np.int64),
        "secant": 2.0 / (power + 1.0),
        "drag": each([0.5 * p.law.damping * rate for p in found]),
        "root": each([0.5 * sqrt(p.stiffness) for p in found]),
        "resist": each([0.5 * p.damping * rate for p in found]),
        "heft": each([p.mass * rate * rate for p in found]),
        "limit": each([p.friction for p in found]),
        "partner": np.array([number[id(p.partner)] if p.partner else NOBODY for p in found], np.int64),
        "hammer": np.array([p.hammer for p in found], np.int64),
        "low": low,
        "by": each([p.travel.by for p in found]),
        "begin": each([p.travel.start * rate for p in found]),
        "span": each([p.travel.duration * rate for p in found]),
        "end": each([p.travel.end * rate for p in found]),
        "slip": each([p.slip for p in found]),
        "state": np.array([starting(p) for p in found], np.int64),
        "grip": each([0.0 if p.travel.duration > 0.0 or p.travel.start > 0.0 else 1.0 for p in found]),
        "next": low.copy(),
        "level": low.copy(),
        "last": low.copy(),
        "now": zeros(count),
        "before": zeros(count),
        "open": zeros(count),
        "psi": zeros(count),
        "force": zeros(count + ends),
        "pushed": np.zeros(count + ends, np.int64),
        "near": np.zeros(count, np.int64),
        "lost": zeros(2),
    }


def starting(point: Meeting) -> int:
    """Whether it is there from the first step on."""
    return WAITING if point.hammer != NOBODY or point.travel.start > 0.0 else THERE
