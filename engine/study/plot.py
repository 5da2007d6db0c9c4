"""Figures: of a simulation the string over its barrier, pickups and energies; of a profile the load of blocks."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import EngineError, Exit, MissingPart
from engine.files.target import publish
from engine.physics.barrier import Barrier, Obstacles
from engine.profiling.clocked import DURATION, FRAMES
from engine.profiling.limit import HOLDS
from engine.profiling.load import histogram
from engine.profiling.rig import BenchTake
from engine.profiling.sweep import Point, Section
from engine.study.simulate import Simulation
from engine.study.together import EnsembleSimulation

# Which multiples of powers of ten are named on an axis whose ends are less than so far apart; none: equal steps.
_STEPS: dict[float, tuple[int, ...]] = {2.0: (), 4.0: tuple(range(1, 10)), 8.0: (1, 2, 3, 5, 7), 100.0: (1, 2, 5)}
UNITS = {"displacement": "m", "velocity": "m/s", "bridge_force": "N", "body_force": "N", "air": "m/s²"}


class PlotError(EngineError):
    """No figure can be drawn here."""

    exit_code = Exit.FIGURE


def check(path: str | PathLike[str] | None) -> None:
    """Refuse a figure that could not be drawn, before there is anything to draw."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
    except ImportError:
        raise MissingPart("figures need matplotlib: pip install 'jawari[plot]'") from None
    kinds = FigureCanvasAgg.filetypes
    if path is not None and Path(path).suffix.lstrip(".").lower() not in kinds:
        known = ", ".join("." + kind for kind in sorted(kinds))
        raise PlotError(f"{path}: a figure's name must end in one of {known}")


def plot(sim: Simulation, path: str | PathLike[str] | None = None) -> Any:
    """Draw `sim`, as a matplotlib Figure and into a file if one is named: its ending chooses the format."""
    check(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 9), layout="constrained")
    shapes, pickups, energies = figure.subplots(3, 1)
    figure.suptitle(f"{sim.preset.name}: {sim.scheme} at {sim.rate:g} Hz")
    _draw_shapes(shapes, sim)
    _draw_pickups(pickups, sim)
    _draw_energies(energies, sim)
    if path is not None:
        _save(figure, path)
    vars(figure)["_repr_png_"] = lambda: _png(figure)  # what notebooks ask for
    return figure


def plot_ensemble(sim: EnsembleSimulation, path: str | PathLike[str] | None = None) -> Any:
    """The same of an instrument of several strings: the struck one's shape, what is heard, the energy of every part."""
    check(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 9), layout="constrained")
    shapes, sound, energies = figure.subplots(3, 1)
    figure.suptitle(f"{sim.preset.name}: {len(sim.strings)} strings at {sim.rate:g} Hz")
    for time, u in zip(sim.snapshot_time, sim.snapshot_u, strict=True):
        shapes.plot(sim.snapshot_x[0] * 1e3, u[0] * 1e3, lw=1, label=f"{time * 1e3:.3g} ms")
    own = sim.contact_position[sim.contact_string == 0]
    shapes.plot(own * 1e3, np.zeros(own.size), "k^", ms=3)
    shapes.set(xlabel="x (mm)", ylabel="u (mm)", title=f"{sim.strings[0]}, and where it may be touched")
    sound.plot(sim.time * 1e3, sim.sound, lw=0.7)
    sound.set(xlabel="t (ms)", title="what is heard")
    each = {f"{n + 1} {name}": sim.energy.strings[:, n] for n, name in enumerate(sim.strings)}
    parts = {"contact": sim.energy.contact.sum(axis=1), "body": sim.energy.body, "hammers": sim.energy.hammers}
    for name, value in (each | parts | {"lost": sim.energy.lost, "total": sim.energy.total}).items():
        if (value > 0.0).any():
            energies.plot(sim.time * 1e3, np.maximum(value, 0.0) * 1e3, lw=1.5 if name == "total" else 0.8, label=name)
    title = f"energies; balance kept to {sim.energy_drift:.1e}"
    energies.set(xlabel="t (ms)", ylabel="energy (mJ)", yscale="log", title=title)
    energies.set_ylim(bottom=1e-9 * max(1e3 * float(sim.energy.total.max()), 1e-12))
    for axes in (shapes, energies):
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=7, ncols=4)
    if path is not None:
        _save(figure, path)
    vars(figure)["_repr_png_"] = lambda: _png(figure)
    return figure


def plot_loads(points: Mapping[Point, BenchTake], sample_rate: float, path: str | PathLike[str]) -> None:
    """Draw what a profile has measured: load over voices, times of blocks, every block of the heaviest point."""
    check(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 12), layout="constrained")
    loads, times, blocks = figure.subplots(3, 1)
    figure.suptitle(f"load of every block at {sample_rate:g} Hz")
    sections = list(dict.fromkeys(point.section for point in points))
    for i, section in enumerate(sections):
        own = {point.voices: take for point, take in points.items() if point.section == section}
        _draw_loads(loads, section, own, f"C{i % 10}")
        _draw_times(times, Point(section, max(own)), own[max(own)], f"C{i % 10}")
    for level, name in ((1.0, "deadline"), (HOLDS, f"{HOLDS:.0%}")):
        loads.axhline(100.0 * level, color="0.4", lw=0.8, ls="-" if level == 1.0 else "--")
        place = {"xycoords": ("axes fraction", "data"), "xytext": (3, 0), "textcoords": "offset points", "va": "center"}
        loads.annotate(name, (1.0, 100.0 * level), fontsize=7, **place)
    loads.set(xlabel="voices", ylabel="% of the deadline", yscale="log", title="load: p50 ─, p99.9 ╌, max ·")
    counts = {point.voices for point in points}
    if len(counts) > 1:
        loads.locator_params(axis="x", integer=True)
    else:
        loads.set_xticks(list(counts))
    _plain_ticks(loads.yaxis)
    loads.legend(fontsize=7)
    times.set(xlabel="time of a block (µs)", ylabel="blocks", xscale="log", yscale="log", title="how long blocks take")
    _plain_ticks(times.xaxis)
    times.legend(fontsize=7)
    heaviest = max(points, key=lambda point: points[point].load.share.p999)
    _draw_blocks(blocks, heaviest, points[heaviest], sample_rate)
    _save(figure, path)


def _png(figure: Any) -> bytes:
    image = BytesIO()
    figure.savefig(image, format="png")
    return image.getvalue()


def _save(figure: Any, path: str | PathLike[str]) -> None:
    target = Path(path).resolve()
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".jawari-") as folder:
        whole = Path(folder) / target.name
        figure.savefig(whole, dpi=130)
        publish(whole, target, force=True)


def _draw_shapes(axes: Any, sim: Simulation) -> None:
    problem = sim.preset.problem
    match problem.barrier:
        case Barrier() as barrier:
            x = np.linspace(barrier.start, barrier.stop, 400)
            height = barrier.surface(x) * 1e3
            floor = min(float(height.min()), 1e3 * float(sim.snapshots.u.min(initial=0.0)))
            axes.fill_between(x * 1e3, height, floor, color="0.8", label="barrier")
        case Obstacles() as obstacles:
            axes.plot(np.array(obstacles.positions) * 1e3, obstacles.tops() * 1e3, "k^", label="obstacles")
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


def _draw_loads(axes: Any, section: Section, takes: Mapping[int, BenchTake], color: str) -> None:
    voices = sorted(takes)
    for name, style, width in (("p50", "o-", 1.2), ("p999", "s--", 0.9), ("most", ".", 0.0)):
        share = [100.0 * getattr(takes[n].load.share, name) for n in voices]
        label = str(section) if name == "p50" else None
        axes.plot(voices, share, style, color=color, lw=width, ms=3.5, label=label)


def _draw_times(axes: Any, point: Point, take: BenchTake, color: str) -> None:
    edges, counts = histogram(take.blocks.rows)
    axes.stairs(counts, edges, color=color, label=str(point), baseline=0.5)
    axes.axvline(take.load.deadline, color=color, lw=0.8, ls=":")


def _draw_blocks(axes: Any, point: Point, take: BenchTake, sample_rate: float) -> None:
    """In the order in which they were played, along the time of the sound."""
    rows = take.blocks.rows
    end = np.cumsum(rows[:, FRAMES]) / sample_rate
    took = rows[:, DURATION] * 1e-3
    late = took > rows[:, FRAMES] * (1e6 / sample_rate)
    axes.plot(end[~late], took[~late], ".", ms=2, color="C0")
    axes.plot(end[late], took[late], "x", ms=4, color="C3", label=f"{late.sum()} of {late.size} late")
    axes.axhline(take.load.deadline, color="0.4", lw=0.8, label="deadline")
    axes.set_yscale("log")
    _plain_ticks(axes.yaxis)
    axes.set(xlabel="time in the sound (s)", ylabel="time of the block (µs)", title=f"every block: {point}")
    axes.legend(fontsize=7)


def _plain_ticks(axis: Any) -> None:
    """Numbers instead of powers of ten on a logarithmic axis, so many that there are some and none meet."""
    from matplotlib.ticker import LogLocator, MaxNLocator

    low, high = axis.get_view_interval()
    steps = next((steps for span, steps in _STEPS.items() if high < span * low), (1,))
    axis.set_major_locator(LogLocator(subs=steps, numticks=20) if steps else MaxNLocator(5))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter("")
