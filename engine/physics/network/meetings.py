"""Ports of a string, point by point: where each stands, what law it obeys, when it is there."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, pi, sqrt
from typing import Any

import numpy as np

from engine.aligned import zeros
from engine.errors import PhysicsError
from engine.physics import contact
from engine.physics.barrier import Barrier, ContactPoints, cell_points, obstacle_points
from engine.physics.network.memory import NOBODY, THERE, WAITING
from engine.physics.network.parts import BRIDGE, Against, Blow, Finger, Link, PortLike, Strung, Travel
from engine.physics.problem import Contact
from engine.physics.string import Array

OBSTACLE, RUB, LINK = range(3)  # in this order they lie
FORMS = {0.0: contact.LINEAR, 0.25: contact.QUARTER, 0.5: contact.HALF}
STIFF = 1e5  # N/m: two contacts stiffer than this, one of which presses the string on the other, lose their force


@dataclass(eq=False)
class Meeting:
    """One point: numbers as parts.py has them, in SI units."""

    kind: int
    at: float
    angle: float = 0.0
    on_bridge: bool = False
    stiffness: float = 0.0  # of an obstacle N/m^exponent, of a link N/m
    exponent: float = 1.0
    damping: float = 0.0  # of an obstacle s/m, of a link kg/s
    mass: float = 0.0
    friction: float = 0.0
    low: float = 0.0
    travel: Travel = Travel()
    slip: float = inf
    hammer: int = NOBODY
    partner: Meeting | None = None


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
            found = [
                Meeting(OBSTACLE, x, port.angle, port.stands == BRIDGE, k, port.contact.exponent,
                        port.contact.damping, low=h, travel=port.travel)
                for x, h, k in zip(*_spots(port, strung.string.length))
            ]  # fmt: skip
            if port.friction > 0.0:
                across = port.angle + 0.5 * pi
                found += [
                    Meeting(RUB, over.at, across, over.on_bridge, friction=port.friction, partner=over)
                    for over in tuple(found)
                ]
            return found
        case Finger():
            own = Meeting(OBSTACLE, port.at, port.angle, **_law(port.contact), low=port.height, travel=port.travel,
                          slip=port.slip)  # fmt: skip
            if port.damping == 0.0:
                return [own]
            own.partner = Meeting(LINK, port.at, port.angle, damping=port.damping, travel=_sudden(port.travel))
            return [own, own.partner]
        case Blow():
            return [Meeting(OBSTACLE, port.at, port.angle, **_law(port.contact), hammer=port.hammer)]
        case Link():
            return [
                Meeting(LINK, port.at, port.angle, stiffness=port.stiffness, damping=port.resistance, mass=port.mass,
                        travel=port.travel)
            ]  # fmt: skip


def _law(law: Contact) -> dict[str, float]:
    return {"stiffness": law.stiffness, "exponent": law.exponent, "damping": law.damping}


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
            limit = (
                f"stays, and with a barrier beside it may be no stiffer than {STIFF:g} N/m: their forces would drift"
            )
            raise PhysicsError("finger.stiffness", finger.contact.stiffness, limit, "lower it, or make it a spring")


def laid_out(found: list[Meeting], ends: int, rate: float) -> dict[str, Any]:
    """The points' memory, by the fields of memory.Points."""
    number = {id(point): n for n, point in enumerate(found)}

    def each(values: list[float]) -> Array:
        made = zeros(len(found))
        made[:] = values
        return made

    kinds = [point.kind for point in found]
    power = each([0.5 * (p.exponent - 1.0) for p in found])
    elastic = each([p.stiffness if p.kind == OBSTACLE else 0.0 for p in found])
    moving = [p.hammer != NOBODY or p.slip < inf or p.travel != Travel() for p in found]
    low = each([p.low for p in found])
    count = len(found)
    return dict(
        obstacles=kinds.count(OBSTACLE),
        rubs=kinds.count(RUB),
        links=kinds.count(LINK),
        timed=int(any(moving)),
        slope=0.5 * np.sqrt(elastic * (power + 1.0)),  # (al + 1)/2 = power + 1
        power=power,
        form=np.array([FORMS.get(float(p), contact.GENERAL) for p in power], np.int64),
        secant=2.0 / (power + 1.0),
        drag=each([0.5 * p.damping * rate if p.kind == OBSTACLE else 0.0 for p in found]),
        root=each([0.5 * sqrt(p.stiffness) if p.kind == LINK else 0.0 for p in found]),
        resist=each([0.5 * p.damping * rate if p.kind == LINK else 0.0 for p in found]),
        heft=each([p.mass * rate * rate for p in found]),
        limit=each([p.friction for p in found]),
        partner=np.array([number[id(p.partner)] if p.partner else NOBODY for p in found], np.int64),
        hammer=np.array([p.hammer for p in found], np.int64),
        low=low,
        by=each([p.travel.by for p in found]),
        begin=each([p.travel.start * rate for p in found]),
        span=each([p.travel.duration * rate for p in found]),
        end=each([p.travel.end * rate for p in found]),
        slip=each([p.slip for p in found]),
        state=np.array([starting(p) for p in found], np.int64),
        grip=each([0.0 if p.travel.duration > 0.0 or p.travel.start > 0.0 else 1.0 for p in found]),
        next=low.copy(),
        level=low.copy(),
        last=low.copy(),
        now=zeros(count),
        before=zeros(count),
        psi=zeros(count),
        force=zeros(count + ends),
        pushed=np.zeros(count + ends, np.int64),
        lost=zeros(2),
    )


def starting(point: Meeting) -> int:
    """Whether it is there from the first step on."""
    return WAITING if point.hammer != NOBODY or point.travel.start > 0.0 else THERE
