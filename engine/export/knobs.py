"""The parameters that an exported instrument has: what its presets' maps move, by the one table of such parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.export.memory import ADDED, IN_DECIBELS, MULTIPLIED, Knob
from engine.layout import Rows, rows_of
from engine.preset import parameters
from engine.preset.parameters import PARAMETERS
from engine.preset.playing import Controller
from engine.preset.rack import Rack
from engine.preset.schema import KEYS
from engine.synth.memory import PRESSURE

SHOWN = {"m": ("mm", 1e-3), "s": ("ms", 1e-3)}  # units that hosts and READMEs show instead, and what one is
CONVERSIONS = {parameters.ADDED: ADDED, parameters.MULTIPLIED: MULTIPLIED, parameters.IN_DECIBELS: IN_DECIBELS}


@dataclass(frozen=True)
class Dial:
    """A parameter as a host shows it, in the unit of the preset's key."""

    number: int  # from 0, in the order of the table
    key: str
    name: str
    effect: str
    unit: str
    low: float
    high: float
    own: float  # what it is where nobody has moved it

    @property
    def shown(self) -> tuple[str, float]:
        """The unit that people read, and what one of it is in the preset's."""
        return SHOWN.get(self.unit, (self.unit, 1.0))

    @property
    def symbol(self) -> str:
        """Its name for machines."""
        return self.key.replace(".", "_")


def moved(controllers: Sequence[Controller]) -> dict[str, Controller]:
    """What a preset's map moves, each by the last controller that does: it has the last word while it sounds, too."""
    return {controller.to: controller for controller in controllers}


def dials(rack: Rack) -> list[Dial]:
    """All that any part's map moves; where several do, over the ranges of them all and from where the first stands."""
    found: list[Dial] = []
    for key, parameter in PARAMETERS.items():
        parts = [part.preset for part in rack.parts if key in moved(part.preset.controllers)]
        if not parts:
            continue
        ends = [end for p in parts for end in (moved(p.controllers)[key].low, moved(p.controllers)[key].high)]
        low, high = min(ends), max(ends)
        own = min(max(parameter.own(parts[0]), low), high)
        unit = KEYS[key].unit
        found.append(Dial(len(found), key, parameter.name, parameter.effect, unit, low, high, own))
    return found


def rows(rack: Rack, shown: Sequence[Dial]) -> Rows[Knob]:
    """The same for the renderer: a row for each part that has the parameter."""
    wanted = [
        (dial, number, moved(part.preset.controllers)[dial.key], part.preset)
        for dial in shown
        for number, part in enumerate(rack.parts)
        if dial.key in moved(part.preset.controllers)
    ]
    made = rows_of(Knob, len(wanted))
    for row, (dial, number, controller, preset) in zip(made, wanted):
        parameter = PARAMETERS[dial.key]
        row.parameter, row.part = dial.number, number
        row.controller = PRESSURE if controller.number is None else controller.number
        row.conversion, row.own = CONVERSIONS[parameter.conversion], parameter.own(preset)
        row.low, row.high = parameter.ends(preset, controller.low, controller.high)
    return made
