"""Instruments that are designed when they are opened, for any sample rate: what an image has of them.

Their memory is laid out for the largest that any rate makes of them, and has no string in it; beside it lie the recipes
(synth/recipes.py) and a bench to design them on. Modal strings that stand by themselves can be had so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.aligned import LINE
from engine.export.designs import Own, Target, by_rule, largest
from engine.layout import Arena, fields_of, lay, memory, size_of
from engine.pairs import whole
from engine.physics import contact
from engine.physics.barrier import Barrier, Obstacles
from engine.physics.block import MOST_AT_ONCE
from engine.physics.block import ROWS as WORK_ROWS
from engine.physics.designing import BAND, Bench, heard_simply, profile, sizes
from engine.physics.hearing import on_body
from engine.physics.modes import modes
from engine.physics.network.parts import Against, Strung
from engine.physics.pressed import Press
from engine.physics.pressed import sizes as press_sizes
from engine.physics.problem import PICKUP_KINDS, Problem
from engine.preset.arguments import HIGHEST_RATE, LOWEST_RATE
from engine.preset.loader import Preset
from engine.preset.parameters import SMOOTHING
from engine.preset.rack import Rack
from engine.synth import decimate
from engine.synth.bank import FADE_TIME
from engine.synth.instrument import Instrument
from engine.synth.keyed import MOST_EARS, Blueprint
from engine.synth.keys import tuned_to
from engine.synth.memory import KEYS
from engine.synth.recipes import OWNED, SHAPES, WORDS
from engine.synth.rehearsal import REHEARSAL_RATE
from engine.synth.strings import MODELS, KeyStrings, words_in
from engine.vectors import PADDING

LONGEST_FILTER = decimate.CD_RATE  # Hz: no rate has a longer one
MOST_POINTS = 128  # of a string that is designed so: tables grow as their square
Numbers = tuple[float, ...]
Sizes = tuple[int, int]  # modes, contact points


def bound(rack: Rack) -> str:
    """Why a rack can be had for some sample rates only; or nothing, if it can be had for all."""
    for part in rack.parts:
        if why := _bound(part.preset):
            return f"{part.preset.name} {why}"
    return ""


def _bound(preset: Preset) -> str:
    if preset.assembly is not None:
        return _bound_together(preset)
    if preset.model != "modal":
        return "has strings on a grid"
    if preset.quality == "best":
        return "is of quality: best"
    try:
        profile(preset.problem)
    except LookupError as error:
        return f"has {error.args[0]}"
    if not heard_simply(preset.problem.pickups):
        return "is heard over a width or through air"
    if preset.problem.modal_points(_most_modes(preset.problem)).height.size > MOST_POINTS:
        return f"has more than {MOST_POINTS} contact points"
    return ""


def _bound_together(preset: Preset) -> str:
    """The same of strings that share a bridge."""
    assert preset.assembly is not None
    a, lowest = preset.assembly, 0.45 * LOWEST_RATE
    if (a.body.modes and not min(mode.frequency for mode in a.body.modes) < lowest) or a.body.radiates >= lowest:
        return f"has a body that sounds above {lowest:g} Hz only"
    if any(mode.frequency >= 0.45 * REHEARSAL_RATE for mode in a.body.modes):
        return "has modes of a body that few rates have room for"
    if any(not _known(strung) for strung in (*(part.strung for part in a.played), *a.sympathetic)):
        return "has a barrier that was made in Python"
    return ""


def _known(strung: Strung) -> bool:
    """Whether compiled code knows all that touches a string."""
    for port in strung.ports:
        if isinstance(port, Against):
            try:
                profile(Problem(strung.string, port.barrier))
            except LookupError:
                return False
    return True


def _most_modes(problem: Problem) -> int:
    """Of a string, at any rate."""
    return int(modes(problem.string, 8.0 * BAND, BAND).wavenumber.size)


@dataclass
class Recipes:
    """What an image has of all its instruments, in the order of the records in synth/recipes.py."""

    recipes: list[Numbers] = field(default_factory=list)
    made: list[Numbers] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)

    def tell(self, numbers: list[float]) -> int:
        """Where these numbers are."""
        self.numbers += numbers
        return len(self.numbers) - len(numbers)


class Unstrung:
    """An instrument without its strings, for keys from the first to the last."""

    def __init__(self, whole_one: Instrument, keys: tuple[int, int], book: Recipes) -> None:
        self.preset, self._book = whole_one.preset, book
        strung: dict[int, Sizes] = {}
        recipes: list[Numbers] = []
        for number, hz in enumerate(whole_one.tuning.frequencies):
            if hz is None or not keys[0] <= number <= keys[1]:
                continue
            harder = self.preset.voicing.harder(number)
            own = tuned_to(self.preset, hz, harder)
            if (most := largest(self.preset, own))[0]:
                strung[number] = most
                recipes.append((number, hz, own, harder))
        strings = self._room_for(strung)
        rows = whole_one.design.keys.copy()
        rows.ready, rows.gap = 0, inf
        setup = whole_one.setup._replace(sample_rate=LONGEST_FILTER, widest=HIGHEST_RATE)
        empty = whole_one.design._replace(keys=rows, strings=strings, resting=np.zeros_like(whole_one.design.resting))
        self.instrument = Instrument.of(setup, empty)
        self.first = len(book.recipes)
        book.recipes += recipes
        self.bench = self._bench()
        self.room = strings.block.size

    def block(self) -> NDArray[np.uint8]:
        """Its memory."""
        m = self.instrument.machine
        m.key_words[:] = 0
        m.own_words[2:] = 0  # they go on as the first two do
        m.filter.taps[:] = 0.0
        found: NDArray[np.uint8] = memory(self.instrument.address, np.uint8, (self.instrument.nbytes,)).copy()
        return found

    def targets(self, _: Own) -> list[Target]:
        """Where that lies which has it."""
        return [(0, self._plan)]

    def made(self, machine: int, bench: int) -> Numbers:
        """The record of it, where its machine and its bench lie there."""
        places = (
            machine,
            bench,
            bench + self._plan,
            0,
            self.instrument.changing,
            self.room,
            self.first,
            self.first + self.count,
        )
        return finished(self.instrument, self._book, places)

    def _room_for(self, strung: dict[int, Sizes]) -> KeyStrings:
        """Keys' strings as large as they can be, all of zeros."""
        words, size = np.zeros((KEYS, words_in(MODELS["modal"])), np.int64), 0
        ears, bodies = len(self.preset.problem.pickups), len(on_body(self.preset.problem.pickups))
        self.count, self.modes, self.points = len(strung), 1, 0
        for number, (found, points) in strung.items():
            self.modes, self.points = max(self.modes, found), max(self.points, points)
            extents = _extents(found + -found % PADDING, points, points, ears, bodies)
            for path, shape in SHAPES.items():
                large = [extents[name] for name in shape]
                words[number, WORDS[path] + 1 : WORDS[path] + 1 + len(shape)] = large
                size += -(-8 * prod(large) // LINE) * LINE if path in OWNED else 0
        return KeyStrings(words, np.zeros(size, np.uint8))

    def _bench(self) -> NDArray[np.uint8]:
        """With all that keys have in common; behind it the plan."""
        problem = self.preset.problem
        string, touch, under, pickups = problem.string, problem.contact, problem.barrier, problem.pickups
        kind, origin, numbers = profile(problem)
        arena = Arena()
        start = arena.room(size_of(Bench))
        shapes: dict[str, Any] = sizes(self.modes, self.points, len(pickups), len(numbers))
        shapes["numbers"] = np.array(numbers or [0.0], float)
        shapes["kinds"] = np.array([PICKUP_KINDS.index(p.kind) for p in pickups] or [0])
        write = lay(
            arena, Bench, start, **shapes,
            density=string.density, stiffness=string.stiffness,
            s0=string.loss.s0, s1=string.loss.s1, s2=string.loss.s2, s3=string.loss.s3,
            surface=kind, origin=origin, begin=under.start if isinstance(under, Barrier) else 0.0,
            height=under.height if under is not None else 0.0,
            hard=touch.stiffness, exponent=touch.exponent, damping=touch.damping,
            lasting=contact.lasting(touch.exponent),
            pickups=len(pickups), bodies=len(on_body(pickups)),
        )  # fmt: skip
        inner = start + next(part.offset for part in fields_of(Bench) if part.name == "press")
        pressing = lay(arena, Press, inner, **press_sizes(self.points))
        self._plan = arena.room(size_of(Blueprint))
        planned = lay(arena, Blueprint, self._plan, **planned_as(self.preset))
        block = arena.sealed()
        for own in (write, pressing, planned):
            own(block)
        return block


def finished(made: Instrument, book: Recipes, places: Numbers) -> Numbers:
    """The record of an instrument whose places are these, with what all of its strings go through."""
    circuit, oversample, strum = made.preset.circuit, made.oversample, made.preset.strum
    filters: list[float] = [len(decimate.RATES) if oversample > 1 else 0]
    for rate in decimate.RATES if oversample > 1 else ():
        one = decimate.design(rate, oversample)
        filters += [rate, one.latency, one.taps.size, *one.taps[0].tolist()]
    edge = circuit.edge if circuit else 0.0
    quality = circuit.quality if circuit and circuit.resonates else 0.0
    window, around = strum.window if strum else 0.0, made.preset.room
    room = (around.share, around.decay, around.across) if around else (0.0, 0.0, 0.0)
    return (*places, book.tell(filters), edge, quality, BAND, SMOOTHING, FADE_TIME, window, *room)


def planned_as(preset: Preset) -> dict[str, Any]:
    """By the fields of Blueprint."""
    problem, power = preset.problem, preset.tracking
    string, pluck, under = problem.string, problem.excitation, problem.barrier
    ears = np.zeros(MOST_EARS)
    ears[: len(problem.pickups)] = [pickup.at for pickup in problem.pickups]
    points = len(under.positions) if isinstance(under, Obstacles) else (under.points or 0) if under else -1
    return {
        "by_length": preset.keys == "length",
        "length": string.length,
        "tension": string.tension,
        "tuned": preset.tuned or 0.0,
        "steel": by_rule(string),
        "surface": profile(problem)[0],
        "stop": under.stop if isinstance(under, Barrier) else 0.0,
        "points": points,
        "position": pluck.position,
        "force": pluck.force,
        "duration": pluck.duration,
        "release": preset.release,
        **{f"tracking_{word}": value for word, value in vars(power).items()},
        "harder": 1.0,
        "ears": ears,
    }


def _extents(room: int, rank: int, points: int, ears: int, bodies: int) -> dict[str, int]:
    """What arrays are as large as (recipes.measure)."""
    at_once, wide = min(points, MOST_AT_ONCE), {"wide": points, "wide_rank": rank, "wide_rows": rank + ears}
    return {
        "modes": room,
        "rank": rank,
        "points": points,
        "ears": ears,
        "bodies": bodies,
        "rows": rank + ears,
        **{name: whole(count, float) for name, count in wide.items()},
        "one": 1,
        "two": 2,
        "three": 3,
        "work": WORK_ROWS + at_once,
        "together": at_once,
    }
