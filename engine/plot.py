"""One figure of a simulation: the string over its barrier, the pickups, the energies."""

from __future__ import annotations

import tempfile
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import EngineError
from engine.physics.barrier import Barrier, Obstacles
from engine.simulate import Simulation

UNITS = {"displacement": "m", "velocity": "m/s", "bridge_force": "N"}


class PlotError(EngineError):
    """No figure can be drawn here."""

    exit_code = 5


def check(path: str | PathLike[str]) -> None:
    """Refuse a figure that could not be drawn, before there is anything to draw."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
    except ImportError:
        raise PlotError("figures need matplotlib: pip install 'jawari[plot]'") from None
    kinds = FigureCanvasAgg.filetypes
    if Path(path).suffix.lstrip(".").lower() not in kinds:
        known = ", ".join("." + kind for kind in sorted(kinds))
        raise PlotError(f"{path}: a figure's name must end in one of {known}")


def plot(sim: Simulation, path: str | PathLike[str]) -> None:
    """Draw `sim` into a file, whole or not at all; its ending chooses the format (.png, .pdf, .svg)."""
    check(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 9), layout="constrained")
    shapes, pickups, energies = figure.subplots(3, 1)
    figure.suptitle(f"{sim.preset.name}: {sim.scheme} at {sim.rate:g} Hz")
    _draw_shapes(shapes, sim)
    _draw_pickups(pickups, sim)
    _draw_energies(energies, sim)
    target = Path(path)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".jawari-") as folder:
        whole = Path(folder) / target.name
        figure.savefig(whole, dpi=130)
        whole.replace(target)


def _draw_shapes(axes: Any, sim: Simulation) -> None:
    problem = sim.preset.problem
    match problem.barrier:
        case Barrier(profile=profile, start=start, stop=stop):
            x = np.linspace(start, stop, 400)
            height = profile(x) * 1e3
            floor = min(float(height.min()), 1e3 * float(sim.snapshots.u.min(initial=0.0)))
            axes.fill_between(x * 1e3, height, floor, color="0.8", label="barrier")
        case Obstacles(positions=positions, heights=heights):
            axes.plot(np.array(positions) * 1e3, np.array(heights) * 1e3, "k^", label="obstacles")
    for time, u in zip(sim.snapshot_time, sim.snapshots.u, strict=True):
        axes.plot(sim.snapshots.x * 1e3, u * 1e3, lw=1, label=f"{time * 1e3:.3g} ms")
    axes.set(xlabel="x (mm)", ylabel="u (mm)", title="the string over its barrier")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=7, ncols=4)


def _draw_pickups(axes: Any, sim: Simulation) -> None:
    for i, pickup in enumerate(sim.preset.problem.pickups):
        label = f"{pickup.kind} at {pickup.at:g} L ({UNITS[pickup.kind]})"
        twin = axes if i == 0 else axes.twinx()
        twin.plot(sim.time * 1e3, sim.pickups[:, i], lw=0.7, color=f"C{i}")
        twin.set_ylabel(label, color=f"C{i}")
    axes.set(xlabel="t (ms)", title="pickups")


def _draw_energies(axes: Any, sim: Simulation) -> None:
    middle = (sim.time + 0.5 / sim.rate) * 1e3
    for name, value in sim.energy._asdict().items():
        if name == "work" or not np.any(value):
            continue
        axes.plot(middle, value * 1e3, lw=1.5 if name == "total" else 0.8, label=name)
    axes.set(xlabel="t (ms)", ylabel="energy (mJ)", title=f"energies; balance kept to {sim.energy_drift:.1e}")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=7)
