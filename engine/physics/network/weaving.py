"""Design: a described network made ready for a sample rate, all of it in one block of memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import elementwise
from engine.aligned import zeros
from engine.elementary import exp2, tan
from engine.layout import Arena, fields_of, lay, seen, size_of
from engine.pairs import whole
from engine.physics.aperture import averaged
from engine.physics.linear import product
from engine.physics.modes import Modes, modes, poles, shape
from engine.physics.network.hanging import hang
from engine.physics.network.loading import loaded
from engine.physics.network.meetings import Meeting, laid_out, meetings
from engine.physics.network.memory import Island, Strand
from engine.physics.network.parts import Body, Hammer, Network, Plane, Strung, seen_from
from engine.physics.network.resting import lay_to_rest
from engine.physics.network.yielding import stiffnesses
from engine.physics.responses import answers, in_vectors
from engine.physics.retune import HIGHEST
from engine.physics.string import Array, String, require
from engine.vectors import PADDING

Writers = list[Callable[[NDArray[np.uint8]], None]]


class Planes(NamedTuple):
    """All modes of a string: of one plane after the other, and which plane each is of."""

    strings: tuple[String, ...]
    angles: tuple[float, ...]
    modes: Modes
    plane: NDArray[np.int64]


@dataclass(frozen=True)
class Woven:
    """A network in memory, ready to run."""

    network: Network
    rate: float
    planes: tuple[Planes, ...]
    points: tuple[tuple[Meeting, ...], ...]
    block: NDArray[np.uint8]
    image: NDArray[np.uint8]  # the block as it was at first

    @property
    def base(self) -> int:
        """The block's address, which is the island's."""
        return int(self.block.ctypes.data)

    @property
    def island(self) -> Island:
        return seen(Island, self.base, self.block)

    def strand(self, n: int) -> Strand:
        """A string's memory."""
        return seen(Strand, self.base + int(self.island.strands[n]), self.block)

    def reset(self) -> None:
        """As at first."""
        self.block[:] = self.image


def weave(
    network: Network,
    rate: float,
    band: float = inf,
    flock: dict[str, Any] | None = None,
    one_way: bool = False,
    taken: bool = False,
) -> Woven:
    """A network's memory at a sample rate; no string has modes above `band`. A flock is from gathering.py.

    One-way, strings drive the bridge, which does nothing to them; `taken`: they lose from the start what it would take.
    """
    arena, writers = Arena(), Writers()
    start = arena.room(size_of(Island))
    found = [meetings(strung) for strung in network.strings]
    planes = [planes_of(strung, rate, min(band, strung.band)) for strung in network.strings]
    places = [arena.room(size_of(Strand)) for _ in network.strings]
    for n, strung in enumerate(network.strings):
        planes[n] = loaded(planes[n], strung, network.body) if taken else planes[n]
        put(arena, writers, Strand, places[n], strand_of(strung, planes[n], found[n], network.body, rate))
    fields = {
        **standing(network.body, network.hammers, rate, one_way),
        "members": np.arange(len(places)),
        "active": np.array([len(places)]),
        "strands": np.array(places),
        "flocks": int(flock is not None),
        "flock": flock or {},
    }
    put(arena, writers, Island, start, fields)
    block = arena.sealed()
    for write in writers:
        write(block)
    woven = Woven(network, rate, tuple(planes), tuple(tuple(points) for points in found), block, block)
    for n in range(len(places)):
        hang(woven.base + places[n])
    lay_to_rest(
        woven.island.frame if one_way else woven.island.bridge, [woven.strand(n) for n in range(len(places))], found
    )
    return replace(woven, image=block.copy())


def standing(body: Body, hammers: tuple[Hammer, ...], rate: float, one_way: bool) -> dict[str, Any]:
    """What strings stand on, by the fields of memory.Island."""
    if not one_way:
        return {"per_second": rate, "bridge": bridge_of(body, hammers, rate)}
    frame = bridge_of(Body(directions=body.directions), hammers, rate)
    return {"per_second": rate, "one_way": 1, "bridge": bridge_of(body, (), rate), "frame": frame}


def put(arena: Arena, writers: Writers, declaration: type, start: int, values: dict[str, Any]) -> None:
    """Lay a record with the records inside it, each from a dict of its fields."""
    own = {name: value for name, value in values.items() if not isinstance(value, dict)}
    writers.append(lay(arena, declaration, start, **own))
    for part in fields_of(declaration):
        if isinstance(values.get(part.name), dict):
            put(arena, writers, part.of, start + part.offset, values[part.name])


def planes_of(strung: Strung, rate: float, band: float) -> Planes:
    strings, parts = [], []
    for plane in strung.planes:
        strings.append(detuned(strung.string, plane))
        parts.append(modes(strings[-1], rate, min(band, plane.band)))
    which = np.concatenate([np.full(part.wavenumber.size, n) for n, part in enumerate(parts)])
    together = Modes(*(np.concatenate(columns) for columns in zip(*parts)))
    return Planes(tuple(strings), tuple(plane.angle for plane in strung.planes), together, which)


def detuned(string: String, plane: Plane) -> String:
    """The string as it is in one of its planes."""
    tension = string.tension * exp2(2.0 * plane.detuned / 1200.0) if plane.detuned else string.tension
    return String(string.length, string.density, tension, string.stiffness, plane.loss_of(string))


def place_row(planes: Planes, at: float, angle: float, width: float = 0.0) -> Array:
    """How much of each mode is seen at a place in a direction, on the mean over a width."""
    share, b = np.array([seen_from(angle, own) for own in planes.angles]), planes.modes.wavenumber
    return share[planes.plane] * shape(b, np.array([at]))[0] * averaged(b, width)


def _padded(array: Array) -> Array:
    made = zeros((*array.shape[:-1], max(array.shape[-1] + -array.shape[-1] % PADDING, PADDING)))
    made[..., : array.shape[-1]] = array
    return made


def bank(m: Modes, mass: Array, rows: Array, sources: int, rate: float) -> dict[str, Any]:
    """Modes of such masses (kg), seen by rows, the first of which forces act on."""
    k = 1.0 / rate
    r, o, a_star, _, c = poles(m, rate)
    heard, gain = _padded(rows), _padded(k * k / mass * c)
    return {
        "forward": _padded(2.0 * r * o),
        "backward": _padded(r * r),
        "spread": gain,
        "inject": zeros(gain.size),
        "rows": heard,
        "response": in_vectors(answers(heard, gain, sources), float),
        "ahead": in_vectors(answers(heard, gain * _padded(2.0 * r * o), sources), float),
        "inertia": _padded(0.5 * mass / (k * k)),
        "spring": _padded(0.5 * mass * a_star / (k * k)),
        "even": zeros(gain.size),
        "odd": zeros(gain.size),
        "latest": zeros(gain.size),
        "last": zeros(gain.size),
        "earlier": zeros(gain.size),
        "free": zeros(len(heard)),
        "both": zeros((2, whole(len(heard), float))),
        "weights": zeros((2, whole(sources, float))),
        "chosen": np.zeros(sources, np.int64),
    }


def strand_of(strung: Strung, planes: Planes, found: list[Meeting], body: Body, rate: float) -> dict[str, Any]:
    string, b = strung.string, planes.modes.wavenumber
    count, ends, directions = len(found), len(planes.angles), len(body.directions)
    touching = [place_row(planes, point.at, point.angle) for point in found]
    hanging = [np.where(planes.plane == n, string.density / b, 0.0) for n in range(ends)]
    heard = [place_row(planes, place.at, place.angle, place.width) for place in strung.listening]
    rows = np.array(touching + hanging + heard)
    mass = np.full(b.size, 0.5 * string.density * string.length)
    own = bank(planes.modes, mass, rows, count + ends, rate)
    blow = np.zeros(b.size)
    if strung.excitation is not None:
        blow = place_row(planes, strung.excitation.position * string.length, strung.struck)
    own["inject"] = _padded(own["spread"][: b.size] * blow)
    hangs = _ends(strung, planes, found, body)
    elastic = stiffnesses(found, planes.strings, planes.angles, rows, 8.0 * own["spring"][: b.size])
    fold = {
        "answer": zeros((count, count)),
        "lean": zeros((directions, whole(count, float))),
        "load": zeros((directions, directions)),
        "held": zeros(count),
        "base": zeros(count),
        "column": zeros((count, count)),
        "slant": zeros((count, directions)),
        "ease": zeros(count),
        "stale": np.ones(1, np.int64),
    }
    return {
        "bank": own,
        "recipe": recipe(strung, planes, float(mass[0]), blow, rate),
        "ends": hangs,
        "points": laid_out(found, elastic, ends, rate),
        "fold": fold,
        "stretch": _stretch(strung, planes, own, directions),
        "now": zeros(ends),
        "before": zeros(ends),
        "blow": zeros(1),
        "felt": zeros(directions),
        "rest": zeros(own["spread"].size),
        "rest_psi": zeros(count),
    }


def _ends(strung: Strung, planes: Planes, found: list[Meeting], body: Body) -> dict[str, Array]:
    """How the string hangs on the bridge (README.md, 2)."""
    length, count = strung.string.length, len(found)
    weight = np.array([[strung.weight * seen_from(d, own) for d in body.directions] for own in planes.angles])
    places = [(point.at, point.angle, 0.0 if point.on_bridge else 1.0) for point in found]
    places += [(place.at, place.angle, 1.0) for place in strung.listening]
    lever = np.array(
        [[seen_from(angle, own) * (base - at / length) for own in planes.angles] for at, angle, base in places]
    ).reshape(len(places), len(planes.angles))
    carried, struck = product(lever, weight), np.zeros(weight.shape[1])
    rows = np.concatenate([carried[:count], np.zeros((len(planes.angles), weight.shape[1])), carried[count:]])
    reach = product(np.array([seen_from(strung.struck, own) for own in planes.angles]), weight)
    if strung.excitation is not None:
        struck = (1.0 - strung.excitation.position) * reach
    inertia = np.full(len(planes.angles), strung.string.density * length / 3.0)
    tension = np.array([own.tension / length for own in planes.strings])
    return {
        "weight": weight,
        "inertia": inertia,
        "tension": tension,
        "ratio": np.array([own.tension / strung.string.tension for own in planes.strings]),
        "carried": in_vectors(rows.T, float),
        "lean": zeros((weight.shape[1], whole(count, float))),  # these two by `hang`
        "load": zeros((weight.shape[1], weight.shape[1])),
        "reach": reach,
        "struck": struck,
    }


def recipe(strung: Strung, planes: Planes, mass: float, strike: Array, rate: float) -> dict[str, Any]:
    """What the bank is made of again by retune.tune_poles."""
    string, b, k = strung.string, planes.modes.wavenumber, 1.0 / rate
    share = np.array([own.tension / string.tension for own in planes.strings])[planes.plane]
    facing = np.array([seen_from(strung.struck, own) for own in planes.angles])[planes.plane]
    bend = _padded(string.stiffness * (b * b * (b * b)) / string.density)
    bend[b.size :] = 4.0 * HIGHEST / (k * k)  # padding lies above Nyquist
    return {
        "bend": bend,
        "pull": _padded(b * b / string.density * share),
        "decay": _padded(planes.modes.decay),
        "shrink": _padded(elementwise.exp(-planes.modes.decay * k)),
        "strike": _padded(strike),
        "wave": _padded(b),
        "facing": _padded(facing),
        "mass": mass,
        "step": k,
        "length": string.length,
        "tension": string.tension,
        "stiffening": string.stiffness * (np.pi / string.length * (np.pi / string.length)),
        "scratch": zeros(bend.size),
        "gain": zeros(bend.size),
        "late": np.zeros(1, np.int64),
        "asked": zeros(2),
    }


def _stretch(strung: Strung, planes: Planes, own: dict[str, Any], directions: int) -> dict[str, Any]:
    b = planes.modes.wavenumber
    on = strung.stretching > 0.0
    number = np.concatenate([np.arange((planes.plane == n).sum()) for n in range(len(planes.angles))])
    square = np.where(number < strung.stretched, b * b, 0.0)
    size = own["spread"].size if on else 0
    return {
        "square": _padded(square) if on else zeros(0),
        "gain": strung.stretching * strung.string.length / 16.0,
        "shape": zeros((1, size)),
        "moved": zeros((1, size)),
        "sway": zeros(own["free"].size),
        "lean": zeros(directions),
        "sums": zeros(4),
        "length": zeros(1),
    }


def _body(body: Body, rate: float) -> dict[str, Any]:
    """The body's modes; one that does not move where there are none."""
    if not body.modes:
        rows = np.zeros((len(body.directions), PADDING))
        none = np.zeros(0)
        m, mass, rows = Modes(none, none, none), none, rows[:, :0]
    else:
        m, mass, rows = body_modes(body)
    own = bank(m, mass, rows, len(body.directions), rate)
    own["inject"] = _padded(own["spread"][: mass.size] * np.array([mode.blow for mode in body.modes]))
    return {"bank": own}


def body_modes(body: Body) -> tuple[Modes, Array, Array]:
    """Frequencies and decays, masses, and rows: the bridge's directions, then the channels."""
    undamped = 2.0 * np.pi * np.array([mode.frequency for mode in body.modes])
    decay = undamped / (2.0 * np.array([mode.quality for mode in body.modes]))
    m = Modes(np.zeros(undamped.size), np.sqrt(undamped * undamped - decay * decay), decay)
    rows = np.array([[*mode.shape, *mode.heard] for mode in body.modes]).T
    return m, np.array([mode.mass for mode in body.modes]), np.ascontiguousarray(rows)


def high_pass(frequency: float, rate: float) -> Array:
    """Butterworth's of second order by two integrators and the trapezoidal rule: a1, a2, a3, its damping."""
    if frequency == 0.0:
        return zeros(0)
    require("body.radiates", frequency, below=0.45 * rate, unit=" Hz")
    g, damping = tan(np.pi * frequency / rate), sqrt(2.0)
    a1 = 1.0 / (1.0 + g * (g + damping))
    return np.array([a1, g * a1, g * g * a1, damping])


def bridge_of(body: Body, hammers: tuple[Hammer, ...], rate: float) -> dict[str, Any]:
    count, k = len(body.directions), 1.0 / rate
    throwing = [
        np.array([getattr(hammer, name) for hammer in hammers]) for name in ("mass", "weight", "start", "speed")
    ]
    mass, weight, start, speed = throwing
    height = np.array([hammer.height for hammer in hammers])
    vectors = {name: zeros(count) for name in ("now", "before", "ahead", "surge", "pull", "swept", "force")}
    squares = {name: zeros((count, count)) for name in ("load", "mixed", "give", "answer")}
    return {
        **_body(body, rate),
        **squares,
        **vectors,
        "blow": zeros(1),
        "heard": zeros((3, body.channels)),
        "passing": high_pass(body.radiates, rate),
        "passed": zeros((body.channels, 2)),
        "mobility": k * k / mass,
        "weight": weight.astype(float),
        "begin": start * rate,
        "speed": speed * k,
        "height": height.astype(float),
        "flying": np.zeros(len(hammers), np.int64),
        "pace": zeros(len(hammers)),
        "next": zeros(len(hammers)),
        "level": zeros(len(hammers)),
        "last": zeros(len(hammers)),
        "hit": zeros(len(hammers)),
        "work": zeros(1),
        "which": np.arange(count),
        "stale": np.ones(1, np.int64),
        "clock": np.zeros(1, np.int64),
    }
