"""What an export is asked for, and what all formats put into their folders."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from engine.export.code import renderer
from engine.export.designs import designed
from engine.export.image import ALL_KEYS, KeyRange, image
from engine.export.knobs import Dial, dials
from engine.export.targets import System
from engine.preset.arguments import HIGHEST_RATE, LOWEST_RATE
from engine.preset.rack import Rack
from engine.units import key_to_note
from engine.versions import VERSION

ROOM = Path(__file__).parent
IMAGE, CODE = "jawari.image", "jawari.o"


@dataclass(frozen=True)
class Export:
    """A rack at sample rates for a system, with the strings of some keys; `tell` is told what takes long."""

    rack: Rack
    rates: tuple[float, ...]  # none: all of them
    target: System
    tell: Callable[[str], None]
    keys: KeyRange = ALL_KEYS
    shown: bool = False  # whether there is room for pictures of strings

    @cached_property
    def dials(self) -> list[Dial]:
        """What can be moved."""
        return dials(self.rack)

    @cached_property
    def designs(self) -> list[Dial]:
        """What it can be designed anew for."""
        return [] if self.rates else designed(self.rack)

    @property
    def at(self) -> str:
        """Its sample rates in words."""
        listed = ", ".join(f"{rate:g}" for rate in self.rates)
        return f"{listed or f'{LOWEST_RATE:g} to {HIGHEST_RATE:g}'} Hz"

    @cached_property
    def code(self) -> bytes:
        """The renderer."""
        return renderer(self.target, self.tell)

    @cached_property
    def image(self) -> bytes:
        """The instruments."""
        return image(self.rack, self.rates, self.keys, self.shown)

    def facts(self, form: str) -> dict[str, Any]:
        """What is kept with it."""
        return {
            "jawari": VERSION,
            "format": form,
            "name": self.rack.name,
            "presets": [part.preset.name for part in self.rack.parts],
            "rates": list(self.rates),
            "target": self.target.name,
            "keys": list(self.keys),
        }


def slug(order: Export) -> str:
    """A name for machines: the same presets, the same name."""
    return re.sub(r"[^a-z0-9]+", "-", order.rack.name.lower()).strip("-") or "instrument"


def programs(order: Export) -> dict[int, str]:
    """Parts that a program stands for, by number; the only part of a rack is no choice."""
    parts = order.rack.parts
    return {n: part.preset.name for n, part in enumerate(parts) if part.program is not None} if len(parts) > 1 else {}


def first_program(order: Export) -> int:
    """Where the choice stands at first: the part that all channels begin on, or -1: each where the rack says."""
    routes = set(order.rack.routes)
    return routes.pop() if len(routes) == 1 else -1


def licence() -> str:
    """What may be done with all of it."""
    places = ROOM / "LICENSE", ROOM.parent.parent / "LICENSE"  # of a wheel, of a clone
    return next(place for place in places if place.is_file()).read_text(encoding="utf-8")


def described(order: Export, chosen_by_midi: bool = True, called: bool = False) -> str:
    """What the READMEs of all formats say: sound, rates, parameters, and whether MIDI chooses programs.

    Parameters are in the units that hosts show, or that of functions which are `called` with their values.
    """
    rack = order.rack
    lines = ["## What is in it", ""]
    for number, part in enumerate(rack.parts):
        program = "" if part.program is None else f", program {part.program + 1}"
        lines.append(f"- part {number}: {_plain(part.preset.name)}{program}. {_plain(part.preset.about)}".rstrip())
    keys = f"Keys: {between(order.keys)}."
    if order.rates:
        lines += ["", f"Sample rates: {order.at}, and no others: strings are designed for a rate. The option `--rates`"]
        lines += [f"of `jawari export` takes as many as wanted. {keys}"]
    else:
        lines += ["", f"Sample rates: any from {order.at}: strings are designed when it is opened. {keys}"]
    lines += [
        "",
        "| parameter | unit | from | to | at first | does |",
    ]
    lines += ["|---|---|---|---|---|---|"]
    for dial in (*order.dials, *order.designs):
        unit, one = (dial.unit, 1.0) if called else dial.shown
        row = (dial.name, unit, *(f"{value / one:g}" for value in (dial.low, dial.high, dial.own)), dial.effect)
        lines.append(f"| {' | '.join(row)} |")
    if order.designs:
        names = " to ".join(dict.fromkeys((order.designs[0].name, order.designs[-1].name)))
        lines += ["", f"{names}: for these all strings are designed anew, in some ten milliseconds, by another thread"]
        lines += ["than the one that plays, and what sounds rings on; of a knob that moves the newest value counts."]
        lines += ["Keys stay as loud and as tuned as they were exported."]
    wired = sorted({f"{c.source} moves {c.to}" for part in rack.parts for c in part.preset.controllers})
    others = "".join(f"; {wire}" for wire in wired)
    heard = "notes, pitch wheel, pedals, volume, expression, pan, MPE" + ", program changes" * chosen_by_midi
    lines += ["", f"By MIDI: {heard}{others}."]
    return "\n".join(lines)


def between(keys: KeyRange) -> str:
    """In words."""
    return "all" if keys == ALL_KEYS else f"{key_to_note(keys[0])} to {key_to_note(keys[1])}"


def _plain(text: str) -> str:
    return " ".join(text.replace("|", "/").replace("`", "'").split())
