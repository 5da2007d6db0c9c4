"""A research run of any length into an .npz, piece by piece in little memory, and what there is to say about it."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import IO, Any

import numpy as np

from engine.physics.excitation import pulse
from engine.physics.grid import grid
from engine.physics.record import Run
from engine.physics.string import Array
from engine.study.simulate import STREAMED, Energy, Order, Simulation, columns
from engine.study.together import EnsembleOrder, EnsembleSimulation, Pieces

_CHUNK = 2**16  # bytes copied at a time
ORDER = (  # of the arrays of one string, as Simulation.save has them
    *(f"energy_{name}" for name in Energy._fields),
    *("snapshot_x", "snapshot_u", "time", "pickups", "contact_force", "contact_position", "snapshot_time"),
    *("scheme", "rate", "preset"),
)


@dataclass
class Summary:
    """A run in figures, gathered while its pieces go by; the same as those of the whole."""

    order: Order | EnsembleOrder
    steps: int = 0
    points: int = 0
    peaks: Array = field(default_factory=lambda: np.zeros(0))  # of each pickup
    most_energy: float = -np.inf
    least_force: float = np.inf
    most_force: float = -np.inf
    _balance: Any = None  # of the first step
    _departure: float = 0.0
    _largest: float = 0.0

    @property
    def drift(self) -> float:
        """Largest departure from the energy balance, relative to the most energy there was."""
        return self._departure / self._largest if self._largest > 0.0 else 0.0

    @property
    def loss_fit_error(self) -> float:
        """How far a grid is from the losses s1 and s3; modes are exact."""
        string, on_grid = self.order.preset.problem.string, self.order.scheme.startswith("fd")
        return grid(string, self.order.rate).loss.worst_error if on_grid else 0.0

    def add(self, piece: dict[str, Array]) -> None:
        """The next steps."""
        force, total, work = piece["contact_force"], piece["energy_total"], piece["energy_work"]
        balance = total + piece["energy_lost"] - work
        peaks = np.abs(piece["sound"] if "sound" in piece else piece["pickups"]).max(axis=0)
        if self._balance is None:
            self._balance, self.peaks, self.points = balance[0], peaks, force.shape[1]
        self.steps += len(total)
        self.peaks = np.maximum(self.peaks, peaks)
        self.most_energy = max(self.most_energy, float(total.max()))
        most = np.abs(work).max() if "sound" in piece else 0.0  # what a hammer brought may have gone again
        self._largest = max(self._largest, float(np.abs(total).max()), float(most))
        self._departure = max(self._departure, float(np.abs(balance - self._balance).max()))
        if force.size:
            self.least_force = min(self.least_force, float(force.min()))
            self.most_force = max(self.most_force, float(force.max()))


def summarise(order: Order | EnsembleOrder, sim: Simulation | EnsembleSimulation) -> Summary:
    """Of a run in memory."""
    summary, energy = Summary(order), {f"energy_{name}": value for name, value in sim.energy._asdict().items()}
    heard = {"sound": sim.sound} if isinstance(sim, EnsembleSimulation) else {"pickups": sim.pickups}
    summary.add(energy | heard | {"contact_force": sim.contact_force})
    return summary


def record(order: Order | EnsembleOrder, target: Path | None) -> Summary:
    """Run an order and write every array to `target`, as `Simulation.save` does, or nowhere.

    The file appears whole or not at all. Memory does not grow with the run, but for the slow reference schemes.
    """
    summary = Summary(order)

    def listen(run: Run) -> None:
        piece = columns(order.preset, run, summary.steps)
        summary.add(piece)
        if tape:
            tape.add(piece)

    if isinstance(order, EnsembleOrder):
        return _record_ensemble(order, target)
    with ExitStack() as stack:
        tape = stack.enter_context(_tape(target)) if target else None
        if order.scheme in STREAMED:
            run = order.run(_force(order), steps=order.steps, listener=listen)
        else:
            run = order.run(pulse(order.preset.problem.excitation, order.rate, order.steps))
            listen(run)
        if tape:
            which = np.searchsorted(run.log.at, order.snapshots)
            snapshots = {"snapshot_x": run.x, "snapshot_u": run.snapshots[which]}
            points = {"contact_position": run.points.position, "snapshot_time": order.snapshots / run.rate}
            tape.finish(ORDER, snapshots | points | _named(order))
    return summary


def _record_ensemble(order: EnsembleOrder, target: Path | None) -> Summary:
    """The same of an instrument of several strings."""
    summary, pieces = Summary(order), Pieces(order)
    with ExitStack() as stack:
        tape = stack.enter_context(_tape(target)) if target else None
        for piece in pieces:
            summary.add(piece)
            if tape:
                tape.add(piece)
        if tape:
            tape.finish((), pieces.small() | _named(order))
    return summary


def _named(order: Order | EnsembleOrder) -> dict[str, Array]:
    return {"scheme": np.array(order.scheme), "rate": np.array(order.rate), "preset": np.array(order.preset.name)}


def _force(order: Order) -> Array:
    """The excitation's force, as long as it lasts."""
    e = order.preset.problem.excitation
    return pulse(e, order.rate, min(order.steps, ceil((e.onset + e.duration) * order.rate) + 1))


class _Tape:
    """Columns on their way into an .npz: each in a file of its own until the last step is known."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: dict[str, IO[bytes]] = {}
        self._kinds: dict[str, tuple[np.dtype[Any], tuple[int, ...]]] = {}
        self._steps = 0

    def add(self, piece: dict[str, Array]) -> None:
        """More steps of every column."""
        for name, rows in piece.items():
            if name not in self._open:
                self._open[name] = (self._folder / name).open("w+b")
                self._kinds[name] = rows.dtype, rows.shape[1:]
            self._open[name].write(np.ascontiguousarray(rows).data)
        self._steps += len(piece["time"])

    def finish(self, order: tuple[str, ...], small: dict[str, Array]) -> None:
        """Everything into one archive, in this order: the bytes of numpy.savez_compressed."""
        with zipfile.ZipFile(self._folder / "run.npz", "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
            for name in order or (*self._open, *small):
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    if name in small:
                        np.lib.format.write_array(member, small[name], allow_pickle=False)
                    else:
                        self._copy(name, member)

    def _copy(self, name: str, member: IO[bytes]) -> None:
        kind, shape = self._kinds[name]
        header = {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False, "shape": (self._steps, *shape)}
        np.lib.format.write_array_header_1_0(member, header)
        source = self._open[name]
        source.seek(0)
        while chunk := source.read(_CHUNK):
            member.write(chunk)

    def close(self) -> None:
        """Of the files of the columns."""
        for file in self._open.values():
            file.close()


@contextmanager
def _tape(target: Path) -> Iterator[_Tape]:
    """A tape whose archive gets its name at the end of a `with` block; after an error nothing is left of it."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".jawari-") as folder:
        tape = _Tape(Path(folder))
        try:
            yield tape
        finally:
            tape.close()
        (Path(folder) / "run.npz").replace(target)
