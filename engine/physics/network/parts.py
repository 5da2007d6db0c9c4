"""What a network is made of: strings, what touches them, hammers, a body under their bridge. SI units, radians.

A string vibrates in planes. An angle says how far a direction is turned away from upright, the direction in which
barriers stand: that of a plane, of a port, of the bridge's motion. What belongs to a place sees of a plane the cosine
of the angle between them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from engine.elementary import cos
from engine.errors import PhysicsError
from engine.physics.barrier import Barrier, Obstacles
from engine.physics.excitation import Excitation
from engine.physics.problem import Contact
from engine.physics.string import Loss, String, require

ACROSS = 1e-12  # cosine below which two directions do not see each other
MOST_DIRECTIONS = 3  # in which a bridge moves: up, sideways, and rocking
BRIDGE, FRAME = "bridge", "frame"  # where what touches a string stands
FIXED, HEAVIER, AS_LOUD = range(3)  # what a mode is of a body of another weight: the same, heavier, and heard as before


def seen_from(angle: float, other: float) -> float:
    """How much of one direction lies in another."""
    cosine = cos(angle - other)
    return 0.0 if abs(cosine) < ACROSS else cosine


@dataclass(frozen=True)
class Plane:
    """One of a string's planes of vibration: what differs in it from the string's own tension, loss and band."""

    angle: float = 0.0
    detuned: float = 0.0  # cents
    lossy: float = 1.0  # its loss, of the string's own
    band: float = inf  # Hz

    def loss_of(self, string: String) -> Loss:
        """Of a string in this plane."""
        return string.loss if self.lossy == 1.0 else string.loss.times(self.lossy)


@dataclass(frozen=True)
class Travel:
    """A way `by` (m) that a counterpart goes from `start` on, within `duration`, smoothly; it is there until `end`."""

    by: float = 0.0
    start: float = 0.0
    duration: float = 0.0
    end: float = inf

    def __post_init__(self) -> None:
        require("travel.by", self.by)
        require("travel.start", self.start, minimum=0.0)
        require("travel.duration", self.duration, minimum=0.0)
        if not self.end > self.start:
            raise PhysicsError("travel.end", self.end, f"must be after its start, {self.start:g} s", "raise it")


@dataclass(frozen=True)
class Against:
    """A barrier, which stands on the bridge or on the frame; where it presses, it rubs on the plane across."""

    barrier: Barrier | Obstacles
    contact: Contact = field(default_factory=Contact)
    stands: str = BRIDGE
    angle: float = 0.0
    friction: float = 0.0  # coefficient of dry friction
    travel: Travel = Travel()

    def __post_init__(self) -> None:
        require("friction", self.friction, minimum=0.0)
        if self.stands not in (BRIDGE, FRAME):
            raise PhysicsError("stands", self.stands, f"must be {BRIDGE} or {FRAME}", "choose one")


@dataclass(frozen=True)
class Finger:
    """A finger or a plectrum that takes the string along, and lets it slip at a force (N) or when its time is over."""

    at: float  # m
    contact: Contact
    travel: Travel
    slip: float = inf  # N
    damping: float = 0.0  # kg/s, as long as it touches
    height: float = 0.0  # m, where it begins
    angle: float = 0.0

    def __post_init__(self) -> None:
        require("finger.damping", self.damping, minimum=0.0)
        if not self.slip > 0.0:
            raise PhysicsError("finger.slip", self.slip, "must be above 0 N", "raise it")


@dataclass(frozen=True)
class Blow:
    """Where a hammer of the network meets a string, and the felt between them."""

    at: float  # m
    hammer: int  # number of the network's hammer
    contact: Contact
    angle: float = 0.0


@dataclass(frozen=True)
class Link:
    """A spring with a dashpot and a mass, which all hang on one point of a string: any of them may be zero.

    The spring's far end goes the way of `travel`; the dashpot takes hold within its duration.
    """

    at: float  # m
    stiffness: float = 0.0  # N/m
    resistance: float = 0.0  # kg/s
    mass: float = 0.0  # kg
    angle: float = 0.0
    travel: Travel = Travel()

    def __post_init__(self) -> None:
        require("link.stiffness", self.stiffness, minimum=0.0)
        require("link.resistance", self.resistance, minimum=0.0)
        require("link.mass", self.mass, minimum=0.0)


PortLike = Against | Finger | Blow | Link


@dataclass(frozen=True)
class Listening:
    """A place on a string that is heard: its displacement in m, on the mean over a width (m)."""

    at: float  # m
    angle: float = 0.0
    width: float = 0.0


@dataclass(frozen=True)
class Strung:
    """A string of a network: how strongly it moves the bridge, in which planes it vibrates, what touches it.

    `stretching` is the stiffness EA (N) by which its tension grows with its length: zero leaves the tension as it is.
    """

    string: String
    weight: float = 1.0
    planes: tuple[Plane, ...] = (Plane(),)
    ports: tuple[PortLike, ...] = ()
    excitation: Excitation | None = None
    struck: float = 0.0  # angle of the excitation
    stretching: float = 0.0
    stretched: int = 10**6  # modes of each plane that feel it
    band: float = inf  # Hz
    listening: tuple[Listening, ...] = ()

    def __post_init__(self) -> None:
        require("string.weight", self.weight)
        require("string.stretching", self.stretching, minimum=0.0)
        if not 1 <= len(self.planes) <= 2:
            raise PhysicsError(
                "string.planes", len(self.planes), "a string vibrates in one or two planes", "give as many"
            )


@dataclass(frozen=True)
class Hammer:
    """A free mass (kg) that flies at a speed (m/s) from a height (m) on, from a moment (s) on, under a weight (N)."""

    mass: float
    speed: float
    height: float = 0.0
    start: float = 0.0
    weight: float = 0.0  # upwards

    def __post_init__(self) -> None:
        require("hammer.mass", self.mass, above=0.0)
        require("hammer.speed", self.speed)
        require("hammer.start", self.start, minimum=0.0)


@dataclass(frozen=True)
class Resonance:
    """A mode of the body: frequency (Hz), quality, modal mass (kg), its motion at the bridge in each direction, how
    much its acceleration is heard in each channel, its motion where the body is struck (None: as at the bridge), and
    what it is of a body of another weight."""

    frequency: float
    quality: float
    mass: float
    shape: tuple[float, ...] = (1.0,)
    heard: tuple[float, ...] = (1.0,)
    struck: float | None = None
    weighed: int = HEAVIER

    @property
    def blow(self) -> float:
        """Its motion where the body is struck."""
        return self.shape[0] if self.struck is None else self.struck

    def __post_init__(self) -> None:
        require("body.frequency", self.frequency, above=0.0)
        require("body.quality", self.quality, above=0.5)
        require("body.mass", self.mass, above=0.0)


@dataclass(frozen=True)
class Body:
    """What the bridge stands on. Without modes it does not move; its directions are angles, one or up to three.

    It radiates from some frequency (Hz) on, if that is given: what is lower is heard less, by 12 dB an octave.
    """

    modes: tuple[Resonance, ...] = ()
    directions: tuple[float, ...] = (0.0,)
    radiates: float = 0.0

    def __post_init__(self) -> None:
        require("body.radiates", self.radiates, minimum=0.0)
        if not 1 <= len(self.directions) <= MOST_DIRECTIONS:
            limit = f"a bridge moves in 1 to {MOST_DIRECTIONS} directions"
            raise PhysicsError("body.directions", len(self.directions), limit, "give as many")
        for mode in self.modes:
            if len(mode.shape) != len(self.directions):
                limit = f"one number for each of {len(self.directions)} directions"
                raise PhysicsError("body.shape", len(mode.shape), limit, "give as many")
        if len({len(mode.heard) for mode in self.modes}) > 1:
            raise PhysicsError(
                "body.heard", "different lengths", "all modes are heard in the same channels", "even them"
            )

    @property
    def channels(self) -> int:
        """In how many channels its modes are heard."""
        return len(self.modes[0].heard) if self.modes else 0


@dataclass(frozen=True)
class Network:
    """Strings on one bridge, the hammers that hit them, the body below, what knocks on the bridge itself, and what
    strikes the body elsewhere."""

    strings: tuple[Strung, ...]
    body: Body = Body()
    hammers: tuple[Hammer, ...] = ()
    knock: Excitation | None = None  # its position means nothing
    struck: Excitation | None = None  # likewise

    def __post_init__(self) -> None:
        if not self.strings:
            raise PhysicsError("strings", 0, "a network has at least one string", "add one")
        for strung in self.strings:
            for port in strung.ports:
                if isinstance(port, Blow) and not 0 <= port.hammer < len(self.hammers):
                    limit = f"the network has {len(self.hammers)} hammers"
                    raise PhysicsError("blow.hammer", port.hammer, limit, "number them from 0")
