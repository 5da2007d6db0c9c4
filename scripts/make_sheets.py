#!/usr/bin/env python3
"""Draw a contact sheet of each preset into scripts/pictures/sheets/: what its phrase sounds like, and how its string
meets its barrier.

    python3 scripts/make_sheets.py [PRESET ...] [--out FOLDER]

Without names: those of all shipped presets, and none of others. Needs matplotlib: pip install '.[plot]'.
"""

from __future__ import annotations

import argparse
import io
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from make_pictures import BONE, INK, PAPER, RATE, STYLE, spectrogram
from matplotlib import colormaps, rc_context
from matplotlib.figure import Figure
from PIL import Image

import engine
from engine.music.note import PHRASE
from engine.preset.files import shipped
from engine.preset.loader import Preset, load_preset
from engine.units import hz_to_key

SHEETS = ROOT / "scripts" / "pictures" / "sheets"
SIZE, DPI = (9.0, 3.6), 80
COLOURS = 96  # of a picture's palette: small files
LARGEST = 60_000  # bytes
INSTANTS = 9
NEAR = 0.25  # share of the string that a barrier may take to be shown by itself
AIR = 1.6  # of what the barrier takes
FLOOR = 3e-4  # of full scale: what is softer at the end of a phrase is left out


def drawn(preset: Preset) -> Figure:
    """The sheet of a preset."""
    figure = Figure(figsize=SIZE, layout="constrained", facecolor=PAPER)
    grid = figure.add_gridspec(2, 2, width_ratios=(3, 2), height_ratios=(1, 2))
    sound = heard(preset)
    wave, below = figure.add_subplot(grid[0, 0]), figure.add_subplot(grid[1, 0])
    draw_wave(wave, sound)
    spectrogram(below, sound.astype(np.float32))
    below.set(xlabel="s", ylabel="kHz")
    draw_string(figure, grid, preset)
    return figure


def heard(preset: Preset) -> NDArray[np.float64]:
    """A preset's phrase, until it has died away."""
    sound = engine.render(preset, preset.phrase or PHRASE, RATE, tail=2.0).mean(axis=1, dtype=float)
    loud = np.flatnonzero(np.abs(sound) > FLOOR)
    return sound[: loud[-1] + 1] if loud.size else sound


def draw_wave(axes: Any, sound: NDArray[np.float64]) -> None:
    """The largest and the smallest sample of each column of the picture."""
    columns = np.array_split(sound, min(400, sound.size))
    time = np.linspace(0.0, sound.size / RATE, len(columns))
    axes.fill_between(time, [c.min() for c in columns], [c.max() for c in columns], color=INK, linewidth=0)
    axes.set(xlim=(0.0, sound.size / RATE), xticks=[], yticks=[])
    axes.spines[["left", "bottom"]].set_visible(False)


def draw_string(figure: Figure, grid: Any, preset: Preset) -> None:
    """The preset's own string over one period, and near its barrier where that stands at an end."""
    x, shapes = moving(preset)
    barrier, whole = preset.problem.barrier, (0.0, float(x[-1]))
    near = None if barrier is None else around(barrier, whole[1])
    panels = [figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])] if near else []
    for axes, window in zip(panels or [figure.add_subplot(grid[:, 1])], (whole, near)):
        begin, end = window or whole
        within = (x >= begin * 0.9999) & (x <= end * 1.0001)
        for i, shape in enumerate(shapes):
            colour = colormaps["viridis"](0.9 * i / (INSTANTS - 1))
            axes.plot(1e3 * x[within], 1e3 * shape[within], color=colour, linewidth=1.0)
        low, high = 1e3 * shapes[:, within].min(), 1e3 * shapes[:, within].max()
        room = 0.15 * max(high - low, 1e-6)
        if barrier is not None:
            draw_barrier(axes, barrier, low - 10.0)
            low = low if near and window is whole else min(low, 1e3 * float(heights(barrier).min()))
        axes.set(xlim=(1e3 * begin, 1e3 * end), ylim=(low - room, high + room), ylabel="mm")
    figure.axes[-1].set_xlabel("mm from the end")


def moving(preset: Preset) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Places on the string, and where they are at some instants of the second period after the pluck."""
    problem = preset.problem
    period = 1.0 / problem.string.pitch
    begin = min(problem.excitation.duration, 10.0 * period) + period
    instants = begin + np.linspace(0.0, period, INSTANTS, endpoint=False)
    run: dict[str, Any] = {"seconds": float(instants[-1]) + period, "sample_rate": RATE, "snapshots": instants}
    if preset.assembly is None:
        sim = engine.simulate(preset, **run)
        return sim.snapshots.x, sim.snapshots.u
    played = preset.assembly.played[0]
    key = min(max(round(hz_to_key(problem.string.pitch)), played.lowest), played.highest)
    both = engine.simulate(preset, key=key, **run)
    return both.snapshot_x[0], both.snapshot_u[:, 0]


def around(barrier: Any, length: float) -> tuple[float, float] | None:
    """From where to where a string is shown near its barrier; None where all of it is."""
    first, last = float(np.min(places(barrier))), float(np.max(places(barrier)))
    if 0.0 < last < NEAR * length:
        return 0.0, AIR * last
    if (1.0 - NEAR) * length < first < length:
        return length - AIR * (length - first), length
    return None


def places(barrier: Any) -> NDArray[np.float64]:
    """Where a barrier stands, m."""
    if hasattr(barrier, "positions"):
        return np.array(barrier.positions)
    return np.linspace(barrier.start, barrier.stop, 200)


def heights(barrier: Any) -> NDArray[np.float64]:
    """How high it is there, m."""
    if hasattr(barrier, "positions"):
        return np.array(barrier.heights) + barrier.height
    return np.asarray(barrier.surface(places(barrier)), float)


def draw_barrier(axes: Any, barrier: Any, bottom: float) -> None:
    """A surface filled from below, or points."""
    at, high = 1e3 * places(barrier), 1e3 * heights(barrier)
    if hasattr(barrier, "positions"):
        axes.plot(at, high, "^", color=BONE, markeredgecolor=INK, markersize=5, markeredgewidth=0.5)
    else:
        axes.fill_between(at, high, np.minimum(bottom, high.min()), color=BONE, linewidth=0)


def saved(figure: Figure, path: Path) -> int:
    """Write a figure with few colours; its size."""
    raw = io.BytesIO()
    figure.savefig(raw, dpi=DPI, format="png")
    picture = Image.open(raw).convert("RGB")
    for colours in (COLOURS, COLOURS // 2, COLOURS // 4):
        picture.quantize(colours, dither=Image.Dither.NONE).save(path, optimize=True)
        if path.stat().st_size <= LARGEST:
            break
    return path.stat().st_size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("presets", nargs="*", metavar="PRESET", help="default: all that are shipped")
    parser.add_argument("--out", type=Path, default=SHEETS, metavar="FOLDER")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")  # what a preset is warned of is not the pictures' matter
    for name in args.presets or shipped():
        with rc_context(STYLE):
            size = saved(drawn(load_preset(name)), args.out / f"{Path(name).stem}.png")
        print(f"{args.out / Path(name).stem}.png: {size / 1e3:.0f} kB", flush=True)
    for left in [] if args.presets else args.out.glob("*.png"):
        if left.stem not in shipped():
            left.unlink()


if __name__ == "__main__":
    main()
