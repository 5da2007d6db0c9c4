"""One string, what it may touch, what strikes it, where it is heard: what every scheme is asked to solve."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from engine.errors import PhysicsError
from engine.physics.barrier import (
    Barrier,
    ContactPoints,
    Obstacles,
    cell_points,
    no_contact,
    node_points,
    obstacle_points,
)
from engine.physics.excitation import Excitation
from engine.physics.string import String, require

PICKUP_KINDS = ("displacement", "velocity", "bridge_force", "body_force", "air")
AT_AN_END = ("bridge_force", "body_force")
TWICE = ("body_force", "air")  # heard by second differences


@dataclass(frozen=True)
class Contact:
    """Power-law contact: force stiffness * eta^exponent * (1 + damping * d eta/dt) at penetration eta >= 0.

    Stiffness is N/m^(1+exponent) under a distributed barrier, N/m^exponent at an obstacle; damping is
    Hunt and Crossley's mu in s/m (paper 003 eq. 1).
    """

    stiffness: float = 1e8
    exponent: float = 1.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        require("contact.stiffness", self.stiffness, minimum=0.0)
        require("contact.exponent", self.exponent, minimum=1.0)
        require("contact.damping", self.damping, minimum=0.0)


@dataclass(frozen=True)
class Pickup:
    """Where the string is heard: position as a fraction of its length, and the quantity.

    displacement (m), velocity (m/s), or a force (N) at x = 0 or x = L: bridge_force, the string's pull on its support
    alone; body_force, that on a body which carries this end and the barrier, too. air is what a microphone has of the
    string itself, its acceleration (m/s^2) as seen from `distance` m beside it. `pan` is where a listener has it: -1
    left, 0 in the middle, 1 right. Of the string, `width` m are heard, on the mean.
    """

    at: float = 0.1
    kind: str = "displacement"
    pan: float = 0.0
    width: float = 0.0
    distance: float = 0.02

    def __post_init__(self) -> None:
        require("pickups.pan", self.pan, minimum=-1.0, maximum=1.0)
        require("pickups.width", self.width, minimum=0.0)
        require("pickups.distance", self.distance, above=0.0)
        if self.kind not in PICKUP_KINDS:
            raise PhysicsError("pickups.kind", self.kind, f"must be one of {', '.join(PICKUP_KINDS)}", "choose one")
        if self.kind in AT_AN_END:
            if self.at not in (0.0, 1.0):
                raise PhysicsError(
                    "pickups.at", self.at, f"a {self.kind} is felt at an end of the string", "give 0 or 1"
                )
            if self.width:
                raise PhysicsError("pickups.width", self.width, f"a {self.kind} is felt at one place", "remove it")
        elif not 0.0 < self.at < 1.0:
            raise PhysicsError("pickups.at", self.at, "must lie on the string, between 0 and 1", "move it")


@dataclass(frozen=True)
class Problem:
    """A string over a barrier (or nothing), in SI units."""

    string: String
    barrier: Barrier | Obstacles | None = None
    contact: Contact = field(default_factory=Contact)
    excitation: Excitation = field(default_factory=Excitation)
    pickups: tuple[Pickup, ...] = (Pickup(),)

    def modal_points(self, modes: int | None = None) -> ContactPoints:
        """Contact points of the modal schemes, for so many modes; without them, as many as the profile asks for."""
        apart = inf if modes is None else self.string.apart(modes)
        match self.barrier:
            case Barrier():
                return cell_points(self.barrier, self.contact.stiffness, self.string.length, apart)
            case Obstacles():
                return obstacle_points(self.barrier, self.contact.stiffness, self.string.length)
        return no_contact()

    def grid_points(self, intervals: int) -> ContactPoints:
        """Contact points of the finite-difference schemes on a grid of `intervals` cells."""
        match self.barrier:
            case Barrier():
                return node_points(self.barrier, self.contact.stiffness, self.string.length, intervals)
            case Obstacles():
                return obstacle_points(self.barrier, self.contact.stiffness, self.string.length)
        return no_contact()
