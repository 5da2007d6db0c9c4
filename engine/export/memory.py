"""What an exported instrument's memory and image look like, declared once (engine/layout.py).

An image is a file: a head, then for each sample rate the memory of an instrument at rest, without what is zero in it,
and without what opening makes again from a few numbers (synth/unfolding.py); or one for all rates, without any string
(synth/recipes.py). Opened, it becomes one, behind which lie
the ensemble's desk, its listener and the machines of its parts.
"""

from __future__ import annotations

from engine import sources
from engine.layout import IntegerRows, Integers, Rows, Singles, Vector, fields_of, fingerprint, inside, record, size_of
from engine.opened import at
from engine.physics.designing import Bench
from engine.physics.pressed import Press
from engine.synth import image
from engine.synth.keyed import Blueprint
from engine.synth.memory import MIXED, Desk
from engine.synth.recipes import KeyRecipe, Made
from engine.synth.unfolding import Column, Wire

MAGIC = int.from_bytes(b"jawari 1", "little")
ANY = 0.0  # Hz: of what is designed when it is opened
DAMAGED, OTHER_VERSION, OTHER_RATE, MISPLACED = -1, -2, -3, -4  # why nothing is opened
ADDED, MULTIPLIED, IN_DECIBELS = range(3)  # what a knob's value is to its string's own


@record
class AtRate:
    """An instrument at one sample rate."""

    rate: float  # Hz; or ANY
    memory: int  # bytes
    begin: int  # the first of its runs that playing changes,
    fixed: int  # of those that it does not,
    end: int  # the one after its last,
    word: int  # and its first word
    span: int  # the first of its spans,
    last: int  # the one after its last
    column: int  # the same of its columns
    folded: int
    kept: int  # words that are kept twice, behind the memory: what playing changes, where no image has it


@record
class Head:
    """How an image begins."""

    magic: int
    total: int  # bytes
    layout: int  # of the memory, as this version of the engine has it
    check: int  # sum of all that follows
    sections: Rows[AtRate]
    wires: Rows[Wire]
    columns: Rows[Column]
    made: Rows[Made]  # instruments that are designed when they are opened,
    recipes: Rows[KeyRecipe]  # what from,
    numbers: Vector  # and what these refer to
    spans: IntegerRows  # [spans, 2]: where words that playing changes begin in the memory, how many they are
    # [runs, 2]: where words that are not all zero begin in the memory, how many they are; below zero: so many times one
    runs: IntegerRows
    words: Integers


@record
class Knob:
    """A movable parameter of a part, by the controller that the part's preset maps to it."""

    parameter: int
    part: int
    controller: int
    conversion: int
    own: float  # the preset's value
    low: float  # the converted values at the ends of the controller's way
    high: float


@record
class Turnable:
    """A parameter that a part is designed anew for."""

    parameter: int
    part: int
    what: int  # of synth/keyed.py
    bench: int  # where what it changes lies: a bench and a plan; or a Bridgework
    plan: int
    low: float
    high: float


@record
class Exported:
    """An instrument that was opened. Places within its memory count from its start."""

    image: int  # its address
    section: int
    latency: int  # samples
    desk: int
    pictures: int  # a Capture of strings in motion, for whoever shows them, or 0
    knobs: Rows[Knob]
    wishes: Rows[Turnable]
    both: Singles = inside(2 * MIXED)  # left and right, side by side


head, exported = at(Head), at(Exported)
HEAD = size_of(Head)
CHECKED = next(part.offset for part in fields_of(Head) if part.name == "sections")  # bytes before what is summed up
PRIME, BASIS = 0x100000001B3, 0x4BF29CE484222325  # FNV-1a's for 64 bits; the second without its highest one
# Images are opened by code of the very sources that they were made with.
_RECORDS = (Head, Exported, Knob, Turnable, AtRate, Wire, Column, Desk, Made, KeyRecipe, Bench, Blueprint, Press)
LAYOUT = int(fingerprint(*_RECORDS)[:8] + image.layout()[:4] + sources.digest()[:3], 16)
