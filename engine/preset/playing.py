"""How a preset answers the player: what velocity and the key do to a pluck, and what controllers move."""

from __future__ import annotations

from dataclasses import dataclass

from engine import messages as midi

MAX_CONTROLLERS = 16
INTONATIONS = HEARD, STRING = "heard", "string"  # what is brought to a key's pitch

# Controllers that mean something to the instrument itself, or to no instrument.
RESERVED = {
    **dict.fromkeys((midi.BANK, midi.BANK_FINE), "selects a bank"),
    **dict.fromkeys(midi.PARAMETERS, "sets the range of the pitch bend"),
    **{pedal: f"is the {midi.CONTROLLERS[pedal]}" for pedal in midi.PEDALS},
}


@dataclass(frozen=True)
class Velocity:
    """Powers of velocity / 100 that multiply the force and the duration of the excitation."""

    force: float = 1.75
    duration: float = -0.4


@dataclass(frozen=True)
class Tracking:
    """Powers of pitch / the string's own pitch that multiply force, duration and position of the excitation, the time
    of the release, and the places of pickups. The default is a hand that is quicker on higher strings: a note is the
    same wave, transposed.
    """

    duration: float = -1.0
    force: float = 0.0
    position: float = 0.0
    release: float = 0.0
    hearing: float = 0.0


@dataclass(frozen=True)
class Controller:
    """A source ("pressure", "cc1" ... "cc119") that moves the key `to` from `low` to `high`, in the key's unit."""

    source: str
    to: str
    low: float
    high: float

    @property
    def number(self) -> int | None:
        """The MIDI controller; None for pressure."""
        return int(self.source[2:]) if self.source.startswith("cc") else None
