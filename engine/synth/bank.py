"""Design of a whole instrument: the strings of all keys and the memory of all voices, laid out for the renderer.

Everything is allocated here, once. The renderer changes entries, never the arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import pi
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import module
from engine.physics import finite_difference, modal
from engine.physics.contact import Law
from engine.physics.excitation import SHAPES
from engine.physics.grid import REACH
from engine.physics.retune import grid_tuning, modal_tuning
from engine.preset.loader import Preset
from engine.preset.tuning import Tuning
from engine.synth import decimate, output, strips
from engine.synth import fields as f
from engine.synth.budget import Budget
from engine.synth.keys import Design, Key, above, design_keys, gap, highest_tension, mildest_damping
from engine.synth.rehearsal import gains, pans
from engine.synth.zones import enrol
from engine.units import hz_to_key, t60_to_decay

LINE = 64  # bytes of a cache line, and of the widest vector
GLIDE_TIME = 4e-3  # s: time constant of moving parameters
FADE_TIME = 5e-3  # s: a stolen voice is gone after this
TARGETS = {
    "barrier.height": f.TO_HEIGHT,
    "excitation.position": f.TO_POSITION,
    "excitation.duration": f.TO_DURATION,
    "string.loss.s0": f.TO_LOSS,
    "gain": f.TO_GAIN,
}


class Setup(NamedTuple):
    """What an instrument is made for."""

    preset: Preset
    sample_rate: float
    oversample: int
    polyphony: int
    channels: int
    tuning: Tuning
    needed: int = 0  # strings that a piece strikes: so many there are, if memory lasts, or polyphony if that is more


@dataclass
class Bank:
    """The arrays behind one instrument and the table of their addresses."""

    keys: list[Key]
    table: NDArray[np.int64]
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    held: list[NDArray[Any]] = field(default_factory=list)  # arrays known only by address: kept alive here

    def at(self, array: NDArray[Any]) -> int:
        """The address of a copy that lives as long as the bank."""
        self.held.append(aligned(array))
        return int(self.held[-1].ctypes.data)


def aligned(array: NDArray[Any]) -> NDArray[Any]:
    """A copy on the border of a cache line.

    numpy begins arrays at multiples of 16 bytes: then every vector of 64 lies in two lines, and both are loaded.
    """
    room = np.zeros(array.nbytes + LINE, np.uint8)
    first = -room.ctypes.data % LINE
    copy = room[first : first + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def design_bank(setup: Setup) -> Bank:
    """All keys and voices of a preset at a sample rate."""
    preset, sample_rate, oversample = setup.preset, setup.sample_rate, setup.oversample
    rate = sample_rate * oversample
    module.tell_if_cold()
    budget = Budget(setup.polyphony + f.SPARE_VOICES)
    keys = design_keys(preset, setup.tuning, rate, budget)
    grown = budget.lasts_for(setup.needed + f.SPARE_VOICES) - f.SPARE_VOICES
    setup = setup._replace(polyphony=max(setup.polyphony, grown))
    bank = Bank(keys, np.zeros(f.TABLE, np.int64))
    ints, numbers = np.zeros((f.KEYS, f.KEY_INTS), np.int64), np.zeros((f.KEYS, f.KEY_FLOATS))
    for key, row, values in zip(keys, ints, numbers):
        if isinstance(key.design, modal.Design):
            _lay_modal(bank, key.design, row, values)
        elif key.design is not None:
            _lay_grid(bank, key.design, key.pitch or 0.0, row, values)
        values[f.Y_HIGHEST], values[f.Y_MILDEST], values[f.Y_GAP] = highest_tension(key), mildest_damping(key), gap(key)
        values[f.Y_PITCH] = hz_to_key(key.pitch) if key.pitch else 0.0
        if key.design is not None:
            _lay_pluck(key, preset, values)
    numbers[:, f.Y_GAIN] = gains([key.design for key in keys], preset, decimate.design(sample_rate, oversample))
    _lay_tables(bank, setup, ints, numbers)
    return bank


def _lay_common(bank: Bank, d: Design, law: Law, row: NDArray[np.int64], values: NDArray[np.float64]) -> None:
    """What both models keep for a key."""
    string = d.problem.string
    b1 = pi / string.length
    row[f.K_READY], row[f.K_POINTS], row[f.K_FORM] = 1, d.points.height.size, law.form
    row[f.K_SLOPE], row[f.K_HEIGHT] = bank.at(law.slope), bank.at(d.points.height)
    values[f.Y_TENSION], values[f.Y_STIFFENING] = string.tension, string.stiffness * b1**2
    values[f.Y_POWER], values[f.Y_SECANT], values[f.Y_DRAG] = law.power, law.secant, law.drag
    values[f.Y_STEP], values[f.Y_LENGTH] = 1.0 / d.rate, string.length


def _lay_pluck(key: Key, preset: Preset, values: NDArray[np.float64]) -> None:
    """What plucks a key's string, and how fast it stops."""
    assert key.design is not None
    problem = key.design.problem
    e, ratio = problem.excitation, above(preset.problem.string, key.pitch or 0.0)
    values[f.Y_FORCE], values[f.Y_DURATION], values[f.Y_POSITION] = e.force, e.duration, e.position
    values[f.Y_RELEASE] = t60_to_decay(preset.release * ratio**preset.tracking.release)


def _lay_modal(bank: Bank, d: modal.Design, row: NDArray[np.int64], values: NDArray[np.float64]) -> None:
    c, t = d.coefficients, modal_tuning(d)
    _lay_common(bank, d, c.law, row, values)
    row[f.K_SIZE], row[f.K_ROWS] = c.forward.size, bank.at(c.rows)
    row[f.K_REST], row[f.K_REST_PSI] = bank.at(c.rest), bank.at(c.rest_psi)
    row[f.K_REST_HEARD] = bank.at((c.rows[c.height.size :] * c.rest).sum(axis=1))
    row[f.K_BEND], row[f.K_PULL], row[f.K_DECAY] = bank.at(t.bend), bank.at(t.pull), bank.at(t.decay)
    row[f.K_SHRINK], row[f.K_STRIKE] = bank.at(t.shrink), bank.at(t.strike)
    row[f.K_WAVE] = bank.at(np.pad(d.modes.wavenumber, (0, c.forward.size - d.modes.wavenumber.size)))
    row[f.K_FORWARD], row[f.K_BACKWARD_TAPS] = bank.at(c.forward), bank.at(c.backward)
    row[f.K_SPREAD], row[f.K_SPRING] = bank.at(c.spread), bank.at(c.spring)
    row[f.K_RESPONSE] = bank.at(c.response)
    values[f.Y_MASS], values[f.Y_INERTIA] = t.mass, c.inertia[0]


def _lay_grid(
    bank: Bank, d: finite_difference.Design, pitch: float, row: NDArray[np.int64], values: NDArray[np.float64]
) -> None:
    c, t = d.coefficients, grid_tuning(d)
    surface, ports = c.surface, c.ports
    _lay_common(bank, d, surface.law, row, values)
    row[f.K_SIZE], row[f.K_INTERVALS], row[f.K_WIDE] = c.rest.size, d.grid.intervals, c.stencil.wide
    row[f.K_FIRST] = surface.first_node
    row[f.K_OBSTACLES] = surface.obstacle_node.size
    row[f.K_OBSTACLE_NODE], row[f.K_OBSTACLE] = bank.at(surface.obstacle_node), bank.at(surface.obstacle)
    row[f.K_REST], row[f.K_REST_PSI] = bank.at(c.rest), bank.at(c.rest_psi)
    reach = ports.pickup_node[:, None] + REACH + np.arange(finite_difference.TAPS)
    row[f.K_REST_HEARD] = bank.at((ports.pickup * c.rest[reach]).sum(axis=1))
    row[f.K_PULL], row[f.K_BEND], row[f.K_LOSS] = bank.at(t.pull), bank.at(t.bend), bank.at(t.loss)
    row[f.K_WEIGHTS] = bank.at(t.weights)
    row[f.K_PICKUP_NODE], row[f.K_PICKUP] = bank.at(ports.pickup_node), bank.at(ports.pickup)
    row[f.K_BACKWARD] = bank.at(c.meter.backward)
    row[f.K_FORWARD], row[f.K_BACKWARD_TAPS] = bank.at(c.stencil.now), bank.at(c.stencil.before)
    row[f.K_RESPONSE] = bank.at(surface.response)
    values[f.Y_DESIGNED_ANSWER] = surface.answer
    values[f.Y_DECAY], values[f.Y_ANSWER] = t.decay, t.answer
    values[f.Y_INERTIA], values[f.Y_BEND], values[f.Y_CENTRED] = c.meter.inertia, c.meter.bend, c.meter.centred
    values[f.Y_STRETCH] = c.meter.stretch / d.problem.string.tension
    values[f.Y_ANGLE] = pi * pitch / d.rate


def _lay_tables(bank: Bank, setup: Setup, key_ints: NDArray[np.int64], key_floats: NDArray[np.float64]) -> None:
    preset, pickups = setup.preset, len(setup.preset.problem.pickups)
    voices, longest = setup.polyphony + f.SPARE_VOICES, f.TICK * setup.oversample
    scratch = max(int(key_ints[:, f.K_SIZE].max()), 1)
    maps = [(c.number if c.number is not None else f.C_PRESSURE, c) for c in preset.controllers]
    filtering = decimate.design(setup.sample_rate, setup.oversample)
    filtered = decimate.state(filtering)
    finishing = output.design(setup.sample_rate, setup.channels)
    finished = output.state(finishing)
    settings = np.zeros(f.SETTINGS, np.int64)
    settings[f.S_MODEL] = f.MODAL if preset.model == "modal" else f.GRID
    settings[f.S_VOICES], settings[f.S_POLYPHONY], settings[f.S_PICKUPS] = voices, setup.polyphony, pickups
    settings[f.S_OVERSAMPLE], settings[f.S_MAPS], settings[f.S_SCRATCH] = setup.oversample, len(maps), scratch
    settings[f.S_TAPS], settings[f.S_LATENCY] = filtering.taps.size, filtering.latency
    settings[f.S_CHANNELS] = setup.channels
    settings[f.S_SHAPE] = SHAPES.index(preset.problem.excitation.shape)
    settings[f.S_STRIP] = _strip(preset, setup.channels)
    bank.arrays = {  # in the order of the table
        "settings": settings,
        "numbers": _numbers(setup, finishing),
        "key_ints": key_ints,
        "key_floats": key_floats,
        "voice_ints": _voice_rows(bank, voices, key_ints, pickups),
        "voice_floats": np.zeros((voices, f.VOICE_FLOATS)),
        "channels": np.zeros((f.CHANNELS, f.CHANNEL_INTS), np.int64),
        "tuned": np.full(f.KEYS, f.AS_DESIGNED, np.int64),
        "map_ints": np.array([(number, TARGETS[c.to]) for number, c in maps], np.int64).reshape(-1, 2),
        "map_floats": np.array([_range(preset, c.to, c.low, c.high) for _, c in maps], float).reshape(-1, 2),
        "ring": np.zeros(f.R_ROWS + 2 * f.RING_SIZE, np.int64),
        "late": np.zeros(f.LATE, np.int64),
        "meters": np.zeros(f.METERS, np.int64),
        "force": np.zeros(longest),
        "out": np.zeros((longest, pickups)),
        "bus": np.zeros((longest, pickups)),
        "last": np.zeros(pickups),
        "pans": np.ascontiguousarray(pans(preset)),
        "scratch": np.zeros(scratch),
        "stereo": np.zeros((longest, 2)),
        "base": np.zeros((f.TICK, 2)),
        "taps": filtering.taps,
        "history": filtered.history,
        "oldest": filtered.oldest,
        "mean": finished.mean,
        "volume": finished.gain,
        "wanted": finished.wanted,
    }
    assert len(bank.arrays) == f.TABLE
    # Written, too: the audio thread must not be the first to touch a page.
    bank.arrays = {name: aligned(array) for name, array in bank.arrays.items()}
    bank.table[:] = [array.ctypes.data for array in bank.arrays.values()]
    reset_bank(bank)


def reset_bank(bank: Bank) -> None:
    """As if just made: clock at zero, no voice sounding, controllers never moved, no zones, filters empty."""
    a = bank.arrays
    a["settings"][[f.S_CLOCK, f.S_BORN]] = 0
    a["settings"][[f.S_IDLE, f.S_QUIET, f.S_APART]] = 1, 1, 0
    a["channels"][:, f.C_STRIP] = 0
    a["tuned"][:] = f.AS_DESIGNED
    a["voice_ints"][:, : f.V_FORWARD] = 0
    for name in ("voice_floats", "ring", "late", "meters", "last", "history", "oldest", "mean"):
        a[name][...] = 0
    a["wanted"][0] = a["numbers"][f.N_VOLUME]
    a["volume"][0] = a["numbers"][f.N_VOLUME] * a["numbers"][f.N_SCALE]
    for channel, own in enumerate(a["channels"]):
        enrol(own, channel, channel)


def _numbers(setup: Setup, finishing: output.Output) -> NDArray[np.float64]:
    preset, sample_rate = setup.preset, setup.sample_rate
    n = np.zeros(f.NUMBERS)
    n[f.N_RATE] = sample_rate * setup.oversample
    n[f.N_DRIFT], n[f.N_OUTPUT_GLIDE] = finishing.drift, finishing.glide
    n[f.N_SCALE], n[f.N_VOLUME] = finishing.scale, finishing.gain
    n[f.N_FORCE_POWER], n[f.N_DURATION_POWER] = preset.velocity.force, preset.velocity.duration
    n[f.N_GLIDE] = 1.0 - np.exp(-f.GLIDE / (GLIDE_TIME * sample_rate))
    n[f.N_FADE] = 1.0 / (FADE_TIME * sample_rate * setup.oversample)
    n[f.N_TURN] = max(round(strips.TURN * sample_rate), 1) * setup.oversample
    return n


def _strip(preset: Preset, channels: int) -> int:
    """Which of volume, expression and pan are left to channel strips; to one loudspeaker nothing is panned."""
    parts = {strips.VOLUME: f.BY_VOLUME, strips.EXPRESSION: f.BY_EXPRESSION}
    if channels == 2:
        parts[strips.PAN] = f.BY_PAN
    mapped = {c.number for c in preset.controllers}
    return sum(part for number, part in parts.items() if number not in mapped)


def _range(preset: Preset, to: str, low: float, high: float) -> tuple[float, float]:
    """A mapping's ends as the renderer wants them: differences from the preset; factors where keys have their own."""
    if to == "barrier.height":
        return low - preset.height, high - preset.height
    if to == "string.loss.s0":
        s0 = preset.problem.string.loss.s0
        return low - s0, high - s0
    if to in ("excitation.duration", "excitation.position"):
        own = getattr(preset.problem.excitation, to.removeprefix("excitation."))
        return low / own, high / own
    if to == "gain":
        return 10.0 ** ((low - preset.gain) / 20.0), 10.0 ** ((high - preset.gain) / 20.0)
    raise ValueError(f"{to} is not moved")


def _voice_rows(bank: Bank, voices: int, key_ints: NDArray[np.int64], pickups: int) -> NDArray[np.int64]:
    """Arrays for each voice, as large as the largest key needs."""
    size = max(int(key_ints[:, f.K_SIZE].max()), REACH + 1, finite_difference.TAPS)
    points = max(int(key_ints[:, f.K_POINTS].max()), 1)
    # Nodes over a barrier do not move each other: of a grid's points only obstacles need an answer to each other.
    on_grid = key_ints[:, f.K_INTERVALS] > 0
    coupled = max(int(np.where(on_grid, key_ints[:, f.K_OBSTACLES], key_ints[:, f.K_POINTS]).max()), 1)
    rows = np.zeros((voices, f.VOICE_INTS), np.int64)
    floats = {
        f.V_FORWARD: size,
        f.V_BACKWARD: size,
        f.V_SPREAD: size,
        f.V_INJECT: size,
        f.V_SPRING: size,
        f.V_STRIKE: size,
        f.V_RESPONSE: coupled * (coupled + pickups),
        f.V_HEIGHT: points,
        f.V_LEVEL0: size,
        f.V_LEVEL1: size,
        f.V_LEVEL2: size,
        f.V_FREE: points + pickups,
        f.V_NOW: points,
        f.V_BEFORE: points,
        f.V_PSI: points,
        f.V_PUSH: points,
        f.V_LOST: 1,
        f.V_HEARD: pickups,
    }
    for row in rows:
        for column, count in floats.items():
            row[column] = bank.at(np.full(count, 0.0))  # filled: a note must not be the first to touch a page
        row[f.V_PUSHED], row[f.V_CLOCK] = bank.at(np.zeros(points, np.int64)), bank.at(np.zeros(1, np.int64))
    return rows
