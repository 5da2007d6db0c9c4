"""What of a preset may move while it sounds, each once: schema, maps, renderer and documents are made from this table.

A row says what moves; what unit and range its values have says the key of the schema by that name. Of the preset comes
in here only what a row asks for its own value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from engine.physics.problem import Problem
from engine.units import db_to_gain

REGISTERS = ("first", "second", "third", "fourth")  # stops that a player draws
SMOOTHING = 4e-3  # s: time constant with which a string that sounds follows the player


class Drawn(Protocol):
    """Of strings that stops decide on."""

    @property
    def registers(self) -> tuple[float, ...]: ...


class Strummed(Protocol):
    """Of chords that are strummed."""

    @property
    def spread(self) -> float: ...


class PresetLike(Protocol):
    """A preset, as far as rows look at it."""

    @property
    def problem(self) -> Problem: ...

    @property
    def gain(self) -> float: ...

    @property
    def bend(self) -> float: ...

    @property
    def assembly(self) -> Drawn | None: ...

    @property
    def strum(self) -> Strummed | None: ...


class Conversion(NamedTuple):
    """What the renderer makes of every key's own value: `of(value, own)`, where a preset's `own` comes out neutral."""

    of: Callable[[float, float], float]
    neutral: float


ADDED = Conversion(lambda value, own: value - own, 0.0)
MULTIPLIED = Conversion(lambda value, own: value / own, 1.0)
IN_DECIBELS = Conversion(lambda value, own: db_to_gain(value - own), 1.0)


@dataclass(frozen=True)
class Parameter:
    """One row."""

    key: str
    number: int  # what the renderer, and whatever is kept on disk, knows it by: never given to another one
    name: str
    effect: str
    own: Callable[[PresetLike], float]  # the preset's value
    conversion: Conversion
    smoothing: float = SMOOTHING  # 0: strings that sound keep what they began with, the next pluck has it
    needs: str = ""  # the group of keys without which there is nothing to move
    inside: bool = False  # the ends of the key's range are no values for it

    def ends(self, preset: PresetLike, low: float, high: float) -> tuple[float, float]:
        """What a map's range from `low` to `high` is to the renderer."""
        own, of = self.own(preset), self.conversion.of
        return of(low, own), of(high, own)


def _height(preset: PresetLike) -> float:
    barrier = preset.problem.barrier
    return barrier.height if barrier else 0.0


def _register(n: int) -> Parameter:
    name = REGISTERS[n]
    return Parameter(
        f"registers.{name}",
        6 + n,
        f"{name.capitalize()} register",
        f"Whether strings of the {name} register are plucked.",
        lambda preset: preset.assembly.registers[n] if preset.assembly else 1.0,
        ADDED,
        smoothing=0.0,
        needs="registers",
    )


_ROWS = (
    Parameter(
        "barrier.height", 0, "Barrier height",
        "Raises or lowers the barrier under the string.",
        _height, ADDED, needs="barrier",
    ),
    Parameter(
        "excitation.position", 1, "Pluck position",
        "Where the string is plucked; each key makes its own of it.",
        lambda preset: preset.problem.excitation.position, MULTIPLIED, smoothing=0.0, inside=True,
    ),
    Parameter(
        "excitation.duration", 2, "Pluck duration",
        "How long the pluck takes; each key makes its own of it.",
        lambda preset: preset.problem.excitation.duration, MULTIPLIED, smoothing=0.0,
    ),
    Parameter(
        "string.loss.s0", 3, "Damping",
        "How fast all partials of the string decay.",
        lambda preset: preset.problem.string.loss.s0, ADDED,
    ),
    Parameter(
        "gain", 4, "Gain",
        "How loud the string is.",
        lambda preset: preset.gain, IN_DECIBELS,
    ),
    Parameter(
        "strum.spread", 5, "Strum",
        "How slowly a chord is struck, from one string to the next.",
        lambda preset: preset.strum.spread if preset.strum else 0.0, ADDED, smoothing=0.0, needs="strum",
    ),
    *map(_register, range(len(REGISTERS))),
    Parameter(
        "bend", 10, "Bend",
        "Raises or lowers the string's pitch, as a finger that pulls it or a key that presses on it does.",
        lambda preset: preset.bend, ADDED,
    ),
)  # fmt: skip

PARAMETERS = {parameter.key: parameter for parameter in _ROWS}
