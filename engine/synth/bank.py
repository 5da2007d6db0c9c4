"""Design of a whole instrument: the strings of all keys and the memory of all voices, laid out in one block.

Everything is allocated here, once. The renderer changes entries, never where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, pi
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import messages as midi
from engine import module
from engine.elementary import exp, power
from engine.errors import PhysicsError
from engine.layout import Arena, Rows, fields_of, lay, rows_of, seen, size_of
from engine.physics.excitation import SHAPES
from engine.physics.network.weaving import Writers
from engine.physics.problem import Problem
from engine.preset.loader import Preset
from engine.preset.parameters import PARAMETERS, SMOOTHING
from engine.preset.strum import ORDERS
from engine.preset.tuning import Tuning
from engine.synth import circuit, decimate, memory, output, room, strings, strips, zones
from engine.synth.audition import loudness
from engine.synth.budget import Budget, dearest, spend_together
from engine.synth.choirs import design_choirs
from engine.synth.keys import Retuned, TunedKey, above, design_keys, gap, go_on, highest_tension, mildest_damping
from engine.synth.memory import KEYS, Machine
from engine.synth.rehearsal import REHEARSAL_RATE, REHEARSED, gains
from engine.synth.standing import ears_of, lay_joint
from engine.units import db_to_gain, hz_to_key, t60_to_decay

FADE_TIME = 5e-3  # s: a stolen voice is gone after this


class Setup(NamedTuple):
    """What an instrument is made for."""

    preset: Preset
    sample_rate: float
    oversample: int
    polyphony: int
    channels: int
    tuning: Tuning
    needed: int = 0  # strings that a piece strikes: so many there are, if memory lasts, or polyphony if that is more
    widest: float = 0.0  # Hz: a room has lines for this rate, if that is higher


class Designed(NamedTuple):
    """All that takes long to make."""

    keys: Rows[memory.KeyRow]
    strings: strings.KeyStrings
    resting: NDArray[np.float64]  # [KEYS, columns]: what the kernel gives of each key's string at rest
    silent: dict[int, str]  # keys that have no string, and why
    dearest: float  # ns that a step of any string takes at most
    polyphony: int
    retuned: Retuned  # strings that are not tuned to their pitch by themselves


@dataclass
class Bank:
    """The memory of one instrument."""

    setup: Setup
    designed: Designed
    block: NDArray[np.uint8]  # all of it; a Machine stands at its start
    image: NDArray[np.uint8]  # as much of it as changes, as it was at first

    @cached_property
    def address(self) -> int:
        return int(self.block.ctypes.data)

    @property
    def machine(self) -> Machine:
        return seen(Machine, self.address, self.block)

    @property
    def rings(self) -> bool:
        """Whether something moves that voices stand on, or is left in the room that they are in."""
        where = int(self.machine.joint)
        standing = where != 0 and bool(seen(memory.Joint, self.address + where, self.block).awake)
        return standing or bool(self.machine.room.awake or self.machine.room.falling)

    @cached_property
    def keys(self) -> list[TunedKey]:
        """The keys' designs, made again: the memory alone does not tell them."""
        s = self.setup
        return design_keys(
            s.preset, s.tuning, s.sample_rate * s.oversample, Budget(s.polyphony, s.preset.quality == "best")
        )

    def reset(self) -> None:
        """As if just made: clock at zero, no voice sounding, controllers never moved, no zones, filters empty."""
        self.block[: self.image.size] = self.image


def design(
    setup: Setup,
    only: Collection[int] | None = None,
    loud: NDArray[np.float64] | None = None,
    retuned: Retuned | None = None,
    between: Callable[[], None] = go_on,
) -> Designed:
    """All keys of a preset at a sample rate; or `only` some, where the others have to wait.

    Without `loud`, the gain of each key, they are rehearsed, and without `retuned`, how far each is off its pitch by
    itself, they are listened to: that takes most of the time. Between two keys, `between` may raise to give it all up.
    """
    module.ready()  # it plays them later, and has what designs them: compiled by itself, that would take seconds
    preset, rate = setup.preset, setup.sample_rate * setup.oversample
    if preset.assembly is not None:
        return _design_together(setup, only, loud, retuned, between)
    best = preset.quality == "best"
    around = room.size_in_bytes(preset.room, setup.sample_rate)
    budget = Budget(setup.polyphony + memory.SPARE_VOICES, best, around)
    keys = design_keys(preset, setup.tuning, rate, budget, only, retuned, between)
    grown = budget.lasts_for(setup.needed + memory.SPARE_VOICES) - memory.SPARE_VOICES
    if loud is None:
        loud = _loud(setup, keys, only, retuned)
    rows = rows_of(memory.KeyRow, KEYS)
    rows.gain = loud
    for number, (key, row) in enumerate(zip(keys, rows)):
        if only is None or number in only:
            _fill_key(row, key, preset)
    model = model_of(preset)
    designs = {number: key.design for number, key in enumerate(keys) if key.design is not None}
    resting = np.zeros((KEYS, strings.columns(model, preset.problem.pickups)))
    for number, made in designs.items():
        resting[number] = strings.FILES[model].resting(made)
    return Designed(
        rows,
        strings.kept(model, designs),
        resting,
        {number: key.silent_because for number, key in enumerate(keys) if key.design is None},
        dearest(list(designs.values()), best=best),
        max(setup.polyphony, grown),
        {(number, 0, 0): key.retuned for number, key in enumerate(keys) if key.retuned != 1.0},
    )


def _loud(
    setup: Setup, keys: list[TunedKey], only: Collection[int] | None, retuned: Retuned | None
) -> NDArray[np.float64]:
    """The gain of each key: it is rehearsed at one sample rate, so that an instrument is as loud at any other.

    At its own, if what it is made of is too much at that one.
    """
    preset, rate = setup.preset, REHEARSAL_RATE
    rehearsed = set(REHEARSED) if only is None else set(REHEARSED).intersection(only)
    if setup.sample_rate != rate:
        try:
            budget = Budget(setup.polyphony, preset.quality == "best")
            there = design_keys(preset, setup.tuning, rate * setup.oversample, budget, rehearsed, retuned)
            if any(key.design is not None for key in there):
                return gains([key.design for key in there], preset, decimate.design(rate, setup.oversample))
        except PhysicsError:  # nor is there an export for any rate then
            if setup.sample_rate > rate:
                raise
    return gains([key.design for key in keys], preset, decimate.design(setup.sample_rate, setup.oversample))


def _design_together(
    setup: Setup,
    only: Collection[int] | None,
    loud: NDArray[np.float64] | None,
    retuned: Retuned | None,
    between: Callable[[], None],
) -> Designed:
    """The same of strings that share a bridge: they are loud together, by one gain."""
    preset, rate = setup.preset, setup.sample_rate * setup.oversample
    keys = design_choirs(preset, setup.tuning, rate, only, retuned, between)
    designs = {number: key.design for number, key in enumerate(keys) if key.design is not None}
    rows = rows_of(memory.KeyRow, len(keys))
    rows.gain = 1.0 if loud is None else loud[0]
    for key, row in zip(keys, rows):
        row.line, row.other = key.line, key.other
        row.pitch = hz_to_key(key.pitch) if key.pitch else 0.0
        if key.design is not None and key.first is not None:
            _fill_string(row, key.first, key.pitch or 0.0, preset)
            row.highest, row.mildest, row.gap = inf, -inf, key.gap
    silent = {number: key.silent_because for number, key in enumerate(keys) if key.design is None}
    own = strings.kept(strings.NETWORK, designs, len(keys))
    resting = np.zeros((len(keys), columns_of(preset)))
    around = room.size_in_bytes(preset.room, setup.sample_rate)
    dear = spend_together(list(designs.values()), setup.polyphony + memory.SPARE_VOICES, around)
    tuned = {name: times for key in keys for name, times in key.retuned.items() if times != 1.0}
    found = Designed(rows, own, resting, silent, dear, setup.polyphony, tuned)
    if loud is None and designs:
        rows.gain = db_to_gain(_lacking(setup, found, only, retuned, between) + preset.gain)
    return found


def _lacking(
    setup: Setup,
    found: Designed,
    only: Collection[int] | None,
    retuned: Retuned | None,
    between: Callable[[], None],
) -> float:
    """By how much strings on one bridge are to be louder, dB, as they are heard at one sample rate, like all others."""
    if setup.sample_rate != REHEARSAL_RATE:
        there = setup._replace(sample_rate=REHEARSAL_RATE)
        try:
            made = _design_together(there, only, np.ones(KEYS), retuned, between)
        except PhysicsError:
            if setup.sample_rate > REHEARSAL_RATE:  # nor is there an export for any rate then
                raise
        else:
            setup, found = (there, made) if made.keys.ready.any() else (setup, found)
    played = lay_out(setup._replace(preset=replace(setup.preset, room=None, strum=None, bend=0.0)), found)
    keys = [int(number) for number in np.flatnonzero(found.keys.ready) if number < KEYS]
    return loudness(played.address, played.reset, keys, setup.sample_rate, setup.channels)


def _fill_key(row: memory.KeyRow, key: TunedKey, preset: Preset) -> None:
    """What the renderer knows of a key beside its string."""
    row.highest, row.mildest, row.gap = highest_tension(key), mildest_damping(key), gap(key)
    row.pitch = hz_to_key(key.pitch) if key.pitch else 0.0
    d = key.design
    if d is None:
        return
    _fill_string(row, d.problem, key.pitch or 0.0, preset)


def _fill_string(row: memory.KeyRow, problem: Problem, pitch: float, preset: Preset) -> None:
    """Of its string, or the first of its strings."""
    string, e = problem.string, problem.excitation
    row.ready, row.length, row.tension = 1, string.length, string.tension
    row.stiffening = string.stiffness * (pi / string.length * (pi / string.length))
    row.force, row.duration, row.position = e.force, e.duration, e.position
    ratio = above(preset.problem.string, pitch)
    row.release = t60_to_decay(preset.release * power(ratio, preset.tracking.release))


def model_of(preset: Preset) -> int:
    """The model of its strings."""
    return strings.model_of(preset.model, preset.quality, preset.assembly is not None)


def pickups_of(preset: Preset) -> int:
    """How many there are: of strings that share a body, if none hears them, its channels."""
    return ears_of(preset).size


def columns_of(preset: Preset) -> int:
    """How many numbers are kept for each key of what it gives at rest."""
    if preset.assembly is not None:
        return pickups_of(preset) + len(preset.assembly.body.directions)
    return strings.columns(model_of(preset), preset.problem.pickups)


def lay_out(setup: Setup, designed: Designed) -> Bank:
    """An instrument's memory: what changes comes first, then what is only read."""
    preset = setup.preset
    slots, longest = designed.polyphony + memory.SPARE_VOICES, memory.TICK * setup.oversample
    model, words = model_of(preset), designed.strings.words
    heard, pickups = ears_of(preset), pickups_of(preset)
    filtering = decimate.design(setup.sample_rate, setup.oversample)
    finishing = output.design(setup.sample_rate, setup.channels)
    arena = Arena()
    start = arena.room(size_of(Machine))
    rows, writers = strings.lay_out(arena, model, words, slots), Writers()
    joint = 0
    if preset.assembly is not None:
        gain, rate = float(designed.keys.gain[0]), setup.sample_rate * setup.oversample
        largest = int(words[:, 1].max())
        joint = lay_joint(arena, writers, preset, rate, designed.strings, slots, longest, gain, largest)
    writers += _lay_inside(arena, start, setup)
    key_words = np.zeros_like(words)
    write = lay(
        arena,
        Machine,
        start,
        **rows,
        **_settings(setup, filtering),
        model=model,
        polyphony=designed.polyphony,
        slots=slots,
        keys=designed.keys,
        channels=_channels(),
        tuned=np.full(KEYS, memory.AS_DESIGNED),
        idle=1,
        quiet=1,
        joint=joint,
        voices=(slots + bool(joint),),  # the last one is the body that they share
        maps=_maps(preset),
        ears=heard,
        resting=designed.resting,
        key_words=key_words,
        scratch=(slots, strings.longest(model, words)),
        force=(1 + slots, longest),
        out=(1 + slots, longest, designed.resting.shape[1]),
        heard=(slots, pickups, 2),
        bus=(longest, pickups),
        stereo=(longest, 2),
        base=(memory.TICK, 2),
        passing=circuit.state(),
        filter=filtering,
        filtered=decimate.state(filtering),
        finish=finishing,
        finished=output.state(finishing),
    )
    changing = arena.size
    key_words[:] = strings.placed(arena, model, designed.strings)
    block = arena.sealed()
    for own in (write, *writers):
        own(block)
    there = block[changing : changing + designed.strings.block.size]  # what is only read need not be kept twice
    kept = designed._replace(strings=designed.strings._replace(block=there))
    return Bank(setup, kept, block, block[:changing].copy())


def _settings(setup: Setup, filtering: decimate.Decimator) -> dict[str, Any]:
    preset, sample_rate, rate = setup.preset, setup.sample_rate, setup.sample_rate * setup.oversample
    return {
        "pickups": pickups_of(preset),
        "oversample": setup.oversample,
        "latency": filtering.latency,
        "outputs": setup.channels,
        "shape": SHAPES.index(preset.problem.excitation.shape),
        "strip": _strip(preset, setup.channels),
        "rate": rate,
        "wiring": circuit.design(preset.circuit, rate),
        "force_power": preset.velocity.force,
        "duration_power": preset.velocity.duration,
        "bend": preset.bend,
        "registers": preset.assembly.registers if preset.assembly else np.ones(memory.REGISTERS),
        "glide": 1.0 - exp(-memory.GLIDE / (SMOOTHING * sample_rate)),
        "fade": 1.0 / (FADE_TIME * rate),
        "turn": max(round(strips.TURN * sample_rate), 1) * setup.oversample,
    }


def _lay_inside(arena: Arena, start: int, setup: Setup) -> Writers:
    """Records within the Machine that begins there."""
    places, preset = {part.name: start + part.offset for part in fields_of(Machine)}, setup.preset
    around = room.design(preset.room, max(setup.sample_rate, setup.widest))
    return [
        lay(arena, room.Echoes, places["room"], **around),
        lay(arena, memory.Hand, places["hand"], **_hand(preset, setup.sample_rate)),
    ]


def _hand(preset: Preset, sample_rate: float) -> dict[str, Any]:
    """By the fields of Hand: how chords are struck, if string after string."""
    s = preset.strum
    if s is None:
        return {"strums": 0}
    window, order = round(s.window * sample_rate), ORDERS.index(s.order)
    return {"strums": 1, "order": order, "accent": s.accent, "window": window, "spread": s.spread}


def _channels() -> Rows[memory.Channel]:
    """All channels as if nothing had been heard, in no zone."""
    rows = rows_of(memory.Channel, memory.CHANNELS)
    rows.position[:] = memory.UNMOVED
    rows.range, rows.manager = zones.BEND_RANGE, np.arange(memory.CHANNELS)
    return rows


def listener() -> NDArray[np.uint8]:
    """A machine without strings: it hears all messages, and knows where the channels stand."""
    arena = Arena()
    start = arena.room(size_of(Machine))
    tuned = np.full(KEYS, memory.AS_DESIGNED)
    write = lay(arena, Machine, start, channels=_channels(), tuned=tuned, keys=rows_of(memory.KeyRow, KEYS))
    block = arena.sealed()
    write(block)
    return block


def _maps(preset: Preset) -> Rows[memory.Map]:
    rows = rows_of(memory.Map, len(preset.controllers))
    for row, c in zip(rows, preset.controllers):
        row.controller = c.number if c.number is not None else memory.PRESSURE
        row.target = PARAMETERS[c.to].number
        row.low, row.high = PARAMETERS[c.to].ends(preset, c.low, c.high)
    return rows


def _strip(preset: Preset, channels: int) -> int:
    """Which of volume, expression and pan are left to channel strips; to one loudspeaker nothing is panned."""
    parts = {midi.VOLUME: memory.BY_VOLUME, midi.EXPRESSION: memory.BY_EXPRESSION}
    if channels == 2:
        parts[midi.PAN] = memory.BY_PAN
    mapped = {c.number for c in preset.controllers}
    return sum(part for number, part in parts.items() if number not in mapped)
