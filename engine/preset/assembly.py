"""An instrument of several strings on one bridge: what each key plays, what answers, what all of it stands on.

A preset without `strings`, `body` and the like has none of this: one string a key, on a frame that does not move.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.physics.excitation import Excitation
from engine.physics.network.parts import Body, Strung
from engine.physics.problem import Contact
from engine.physics.string import require
from engine.preset.parameters import REGISTERS

COUPLINGS = ("two-way", "one-way", "none")
GRAVITY = 9.81  # m/s^2
MANNERS = OVERLAP, _PEDAL = "overlap", "pedal"  # when a key of a string of many frets is slurred
RATTLING = 1e5  # N/m, of something loose: two contacts stiffer than this that last would drift (network/meetings.py)


@dataclass(frozen=True)
class Course:
    """One of the strings that a key sounds together: relative to the key's pitch, to its moment, to its force.

    Its register says whether it is plucked: 1 to 4, or 0 of one that always is.
    """

    ratio: float = 1.0
    detuned: float = 0.0  # cents
    onset: float = 0.0  # s
    force: float = 1.0
    register: int = 0

    def __post_init__(self) -> None:
        require("courses.ratio", self.ratio, above=0.0)
        require("courses.onset", self.onset, minimum=0.0)


@dataclass(frozen=True)
class Blowing:
    """A hammer: where it meets the string (of its length), its mass, its speed at velocity 100, its felt."""

    position: float = 0.12
    mass: float = 0.01  # kg
    speed: float = 2.0  # m/s
    felt: Contact = field(default_factory=lambda: Contact(1e9, 2.5))


@dataclass(frozen=True)
class Plucking:
    """A finger or plectrum that takes the string along `by` m within `duration` s, and lets it slip at a force (N)."""

    position: float = 0.12
    by: float = 3e-3
    duration: float = 0.02
    slip: float = 2.0  # N, at velocity 100
    tip: Contact = field(default_factory=lambda: Contact(2e4, 1.0))
    damping: float = 0.0  # kg/s


Exciter = Excitation | Blowing | Plucking


@dataclass(frozen=True)
class Knock:
    """What strikes the body as a string is plucked: its peak (N) at velocity 100, how long, and when: after a share of
    the pluck's duration."""

    force: float = -1.0
    duration: float = 1e-3
    after: float = 1.0

    def __post_init__(self) -> None:
        require("knock.force", self.force)
        require("knock.duration", self.duration, above=0.0)
        require("knock.after", self.after, minimum=0.0)


@dataclass(frozen=True)
class Felt:
    """What ends a note: a damper that comes down on the string within `duration` s of the key's release."""

    at: float = 0.15  # of the string's length
    stiffness: float = 0.0  # N/m
    resistance: float = 2.0  # kg/s
    mass: float = 0.0  # kg
    duration: float = 0.02


@dataclass(frozen=True)
class Rattle:
    """Something loose that its weight brings to a place of the string: its mass, its gap at first, how hard it is."""

    at: float  # m
    mass: float  # kg
    gap: float = 1e-4  # m
    contact: Contact = field(default_factory=lambda: Contact(RATTLING, 1.0))

    @property
    def weight(self) -> float:
        """N, which brings it to the string from below, as if the instrument stood on its head."""
        return GRAVITY * self.mass


@dataclass(frozen=True)
class Played:
    """Strings that keys play. `keys` says how a key's pitch is reached, as `string.keys` of a preset; `mono`: one
    string with many frets, on which a new note takes the old one's string.

    Such a note is slurred, hammered or pulled instead of plucked, as `legato` says, and `finger` times as hard.

    `strung` is the string itself, at its own pitch, without what plucks it. What touches it stays where it is on other
    keys, too.
    """

    strung: Strung
    lowest: int = 0  # MIDI keys
    highest: int = 127
    keys: str = "tension"
    courses: tuple[Course, ...] = (Course(),)
    mono: bool = False
    exciter: Exciter = field(default_factory=Excitation)
    felt: Felt | None = None
    rattles: tuple[Rattle, ...] = ()
    legato: str = OVERLAP
    finger: float = 0.5
    knock: Knock | None = None
    tuned: float | None = None  # the pitch (Hz) that the string's tension follows from, if that was not given


@dataclass(frozen=True)
class Assembly:
    """All of an instrument. A key is played by all entries of `played` whose range holds it, or one of many frets.

    Without places on strings that listen, the body is heard, or, with a `crystal` under its bridge, the force on it.
    Registers are drawn so far: at 1 they pluck, at 0 they do not.
    """

    played: tuple[Played, ...]
    sympathetic: tuple[Strung, ...] = ()
    body: Body = field(default_factory=Body)
    coupling: str = COUPLINGS[0]
    crystal: bool = False
    registers: tuple[float, ...] = (1.0,) * len(REGISTERS)

    def drawn(self, course: Course) -> float:
        """How much of its force a course is plucked with."""
        return self.registers[course.register - 1] if course.register else 1.0

    def places(self, key: int) -> list[list[Played]]:
        """Where a key may be played: on all its strings, or on any one of many frets, the nearest open string first."""
        parts = [part for part in self.played if part.lowest <= key <= part.highest]
        fretted = sorted((part for part in parts if part.mono), key=lambda part: key - part.lowest)
        return [[part] for part in fretted] or [parts] * bool(parts)
