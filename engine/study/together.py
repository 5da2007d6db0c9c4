"""Research runs of an instrument of several strings: the energy of every part, all forces, step by step."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import module
from engine.errors import SettingError
from engine.files.target import publish
from engine.physics.excitation import pulse
from engine.physics.linear import product
from engine.physics.modes import shape
from engine.physics.network.flock_meter import LATEST, sheets
from engine.physics.network.gathering import gather
from engine.physics.network.meetings import OBSTACLE, meetings
from engine.physics.network.metered import Ledger, ledger, meter, piece_of
from engine.physics.network.parts import Strung, seen_from
from engine.physics.network.weaving import Woven, planes_of, weave
from engine.physics.record import MOST_AT_ONCE, MOST_BYTES
from engine.physics.string import Array
from engine.preset.loader import Preset
from engine.study.ensemble import Gathered

SCHEME = "network"
PLACES = 201  # of each string, where its shape is kept


class PartsEnergy(NamedTuple):
    """Energies in J, step by step; total + lost - work stays constant."""

    strings: Array  # [n, S], with what the bridge's motion adds to each
    contact: Array  # [n, S] in obstacles and springs
    body: Array
    hammers: Array
    total: Array
    lost: Array
    work: Array

    def __repr__(self) -> str:
        return f"<PartsEnergy: {self.total.size} steps, at most {self.total.max(initial=0.0):.3g} J>"


@dataclass(frozen=True)
class EnsembleOrder:
    """What is to be simulated of an instrument of several strings, checked."""

    preset: Preset
    ensemble: Gathered
    rate: float
    steps: int
    snapshots: NDArray[np.int64]  # steps, in the order asked for
    band: float
    differs: str = ""
    as_played: bool = False  # from an instrument's first step on, in which something pushes already
    scheme: str = SCHEME

    def woven(self) -> Woven:
        """The network in memory."""
        own = self.ensemble
        flock = gather(own.abreast, own.network.body, self.rate, self.band) if own.abreast else None
        one_way, taken = own.coupling != "two-way", own.coupling == "one-way"
        return weave(own.network, self.rate, self.band, flock, one_way, taken)

    @property
    def strings(self) -> tuple[Strung, ...]:
        """All of them, those that lie side by side at the end."""
        return (*self.ensemble.network.strings, *self.ensemble.abreast)


@dataclass(frozen=True)
class EnsembleSimulation:
    """What a run found. Row n is time[n], after a step; forces act in this step, and energies lie within it.

    `sound` is what is heard: the body's channels, then the places on strings that pickups hear (m); of a body without
    modes, or with a crystal under its bridge, the force on it.
    """

    preset: Preset
    rate: float
    strings: tuple[str, ...]  # what they are called
    time: Array
    sound: Array  # [n, ..]
    energy: PartsEnergy
    bridge: Array  # [n, r] m, in each direction in which it moves
    body_force: Array  # [n, r] N
    string_force: Array  # [n, S, r] N: what each string does to the bridge
    contact_force: Array  # [n, K] N: at all points that only push, of all strings
    contact_string: NDArray[np.int64]  # [K]: on which string each is,
    contact_position: Array  # [K] and where, m
    port_force: Array  # [n, P] N: of what hangs on strings or rubs on them
    port_string: NDArray[np.int64]
    port_position: Array
    snapshot_x: Array  # [S, j] m
    snapshot_u: Array  # [i, S, j] m, upwards
    snapshot_time: Array
    differs: str = ""
    scheme: str = SCHEME

    def __repr__(self) -> str:
        return (
            f"<Simulation of {self.preset.name}: {len(self.strings)} strings at {self.rate:g} Hz, "
            f"{self.time.size} steps, contact points {self.contact_position.size}, snapshots {self.snapshot_time.size}>"
        )

    @property
    def energy_drift(self) -> float:
        """Largest departure from the energy balance, relative to the most energy or work there was."""
        balance = self.energy.total + self.energy.lost - self.energy.work
        most = max(float(self.energy.total.max(initial=0.0)), float(np.abs(self.energy.work).max(initial=0.0)))
        return float(np.abs(balance - balance[0]).max()) / most if most > 0.0 else 0.0

    def plot(self, path: str | PathLike[str] | None = None) -> Any:
        """Draw the strings, what is heard and the energies; returns the matplotlib Figure, as Simulation.plot does."""
        from engine.study.plot import plot_ensemble  # late: it is the only use of matplotlib

        return plot_ensemble(self, path)

    def save(self, path: str | PathLike[str]) -> None:
        """All arrays as a compressed .npz; the file appears whole or not at all."""
        arrays: dict[str, Any] = {f"energy_{name}": value for name, value in self.energy._asdict().items()}
        names = ("time", "sound", "bridge", "body_force", "string_force", "contact_force", "port_force")
        arrays |= {name: getattr(self, name) for name in (*names, *SMALL)}
        arrays |= {"strings": np.array(self.strings), "scheme": np.array(SCHEME), "rate": np.array(self.rate)}
        arrays["preset"] = np.array(self.preset.name)
        target = Path(path).resolve()
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".jawari-") as folder:
            whole = Path(folder) / "run.npz"
            np.savez_compressed(whole, **arrays)
            publish(whole, target, force=True)


SMALL = (
    *("contact_string", "contact_position", "port_string", "port_position"),
    *("snapshot_x", "snapshot_u", "snapshot_time"),
)


class Pieces:
    """A run, piece by piece: columns by their names; then what is not there for every step."""

    def __init__(self, order: EnsembleOrder) -> None:
        module.tell_if_cold()
        module.ready()  # it has the loop that meters: compiled by itself, that would take a minute more
        self.order, self.w = order, order.woven()
        self._shapes: dict[int, Array] = {}
        network, abreast = order.ensemble.network, order.ensemble.abreast
        self._book = ledger(self.w, 0, sheets(abreast, network.body, order.rate, order.band))
        self._points = [*self.w.points, *(meetings(strung) for strung in abreast)]
        self._pushing = np.array([point.kind == OBSTACLE for own in self._points for point in own], bool)
        self._pulses = [
            np.zeros(0) if strung.excitation is None else _pulse(strung.excitation, order) for strung in network.strings
        ]
        struck = network.struck
        self._striking = np.zeros(0) if struck is None else _pulse(struck, order)
        kinds = [pickup.kind for pickup in order.preset.problem.pickups]
        self._moving = np.array(
            [kind == "velocity" for strung in network.strings for kind, _ in zip(kinds, strung.listening)], bool
        )
        self._last = np.zeros(self._moving.size)

    def __iter__(self) -> Iterator[dict[str, Array]]:
        marks = sorted({*range(0, self.order.steps, MOST_AT_ONCE), self.order.steps})
        for first, end in pairwise(marks):
            yield self._columns(self._metered(first, end), first)

    def _metered(self, first: int, end: int) -> Ledger:
        """Steps first to end, which halt where the strings' shape is asked for."""
        book = ledger(self.w, end - first)._replace(sums=self._book.sums, lanes=self._book.lanes)
        force = np.zeros((end - first, len(self._pulses)))
        for n, pushing in enumerate(self._pulses):
            given = pushing[first:end]
            force[: given.size, n] = given
        knock = np.zeros((end - first, book.bridge.shape[1]))
        blow = np.zeros(end - first)
        given = self._striking[first:end]
        blow[: given.size] = given
        halts = sorted({first, end, *(int(at) for at in self.order.snapshots if first < at < end)})
        for start, halt in pairwise(halts):
            if start in self.order.snapshots:
                self._shapes[start] = self._shape(start)
            here = slice(start - first, halt - first)
            meter(self.w.base, force[here], knock[here], blow[here], piece_of(book, here))
        return book

    def _columns(self, book: Ledger, first: int) -> dict[str, Array]:
        directions = book.bridge.shape[1]
        total = book.total
        energy = PartsEnergy(book.strings, book.contact, book.body, book.hammers, total, book.lost, book.work)
        assembly = self.order.preset.assembly
        crystal = assembly is not None and assembly.crystal
        sound = book.out[:, directions:] if book.out.shape[1] > directions and not crystal else book.out[:, :directions]
        listened = slice(sound.shape[1] - self._moving.size, None)
        places = sound[:, listened].copy()
        before = np.concatenate([self._last[None], places[:-1]])
        self._last = places[-1]
        sound[:, listened] = np.where(self._moving, (places - before) * self.order.rate, places)
        return {
            **{f"energy_{name}": value for name, value in energy._asdict().items()},
            "time": np.arange(first + 1, first + 1 + total.size) / self.order.rate,
            "sound": sound,
            "bridge": book.bridge,
            "body_force": book.out[:, :directions],
            "string_force": book.felt,
            "contact_force": book.force[:, self._pushing],
            "port_force": book.force[:, ~self._pushing],
        }

    def _shape(self, at: int) -> Array:
        """The strings' displacement upwards, before step `at`: its modes, and the bridge that carries its end."""
        found, bridge = [], self.w.island.bridge
        for n, strung in enumerate(self.order.ensemble.network.strings):
            s, planes, x = self.w.strand(n), self.w.planes[n], self._x(strung)
            newest = s.bank.odd if at % 2 else s.bank.even
            share = np.array([seen_from(0.0, own) for own in planes.angles])
            upright = newest[: planes.plane.size] * share[planes.plane]
            u = product(shape(planes.modes.wavenumber, x), upright)
            moved = float(product(share, product(s.ends.weight, bridge.now)))
            found.append(u + moved * (1.0 - x / strung.string.length))
        for n, strung in enumerate(self.order.ensemble.abreast):
            planes = planes_of(strung, self.order.rate, min(self.order.band, strung.band))
            newest, x = self._book.lanes[LATEST, : planes.plane.size, n].copy(), self._x(strung)
            u = seen_from(0.0, planes.angles[0]) * product(shape(planes.modes.wavenumber, x), newest)
            moved = float(product(self.w.island.flock.weight[:, n].copy(), bridge.now))
            found.append(u + seen_from(0.0, planes.angles[0]) * moved * (1.0 - x / strung.string.length))
        return np.array(found)

    def _x(self, strung: Strung) -> Array:
        return np.linspace(0.0, strung.string.length, PLACES)

    def small(self) -> dict[str, Array]:
        """What there is once, when all pieces are through."""
        strings = self.order.strings
        shapes = [self._shapes[int(at)] for at in self.order.snapshots]
        string = np.array([n for n, own in enumerate(self._points) for _ in own], np.int64)
        position = np.array([point.at for own in self._points for point in own])
        return {
            "contact_string": string[self._pushing],
            "contact_position": position[self._pushing],
            "port_string": string[~self._pushing],
            "port_position": position[~self._pushing],
            "snapshot_x": np.array([self._x(strung) for strung in strings]),
            "snapshot_u": np.array(shapes) if shapes else np.zeros((0, len(strings), PLACES)),
            "snapshot_time": self.order.snapshots / self.order.rate,
            "strings": np.array(self.order.ensemble.names),
        }


def _pulse(excitation: Any, order: EnsembleOrder) -> Array:
    """An excitation's force, as long as it lasts. At its onset it is zero: an instrument leaves that step out."""
    lasting = int((excitation.onset + excitation.duration) * order.rate) + 2
    return pulse(excitation, order.rate, min(order.steps, lasting) + 1)[int(order.as_played) :]


def columns_of(order: EnsembleOrder) -> int:
    """Numbers that a step leaves behind."""
    w = order.woven()
    row = ledger(w, 1)
    return sum(column.size for column in row[:-2]) + 6


def perform_ensemble(order: EnsembleOrder) -> EnsembleSimulation:
    """Run an order in memory."""
    needed = 8 * order.steps * columns_of(order)
    if needed > MOST_BYTES:
        limit = f"{needed >> 20} MiB in memory, the limit is {MOST_BYTES >> 20} MiB"
        raise SettingError("seconds", f"{order.steps} steps", limit, "shorten it, or write it: jawari simulate -o")
    pieces = Pieces(order)
    parts = list(pieces)
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    energy = PartsEnergy(*(whole.pop(f"energy_{name}") for name in PartsEnergy._fields))
    arrays: Any = whole | pieces.small() | {"strings": order.ensemble.names}
    return EnsembleSimulation(order.preset, order.rate, energy=energy, differs=order.differs, **arrays)
