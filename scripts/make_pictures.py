#!/usr/bin/env python3
"""Draw the pictures of the documents into scripts/pictures/: the same ones every time.

    python3 scripts/make_pictures.py [--out FOLDER]

Needs matplotlib: pip install '.[plot]'.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from matplotlib import colormaps, rc_context
from matplotlib.figure import Figure

import engine

INK, PAPER, BONE = "#22262b", "#ffffff", "#c9b99b"
STYLE = {
    "font.size": 9,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}
RATE = 48_000
INSTANTS = 9
NOTE = engine.Note(key=54, velocity=100, start=0.0, duration=4.0)  # F#3, the sitar's own string


def string() -> Figure:
    """The sitar's string over one period, and the same shapes where it wraps around its bridge."""
    preset = engine.load_preset("sitar-string")
    problem = preset.problem
    period = 1.0 / problem.string.pitch
    run = {"seconds": 4.0 * period, "sample_rate": RATE, "oversample": 4}
    during = 2.0 * period + np.linspace(0.0, period, INSTANTS, endpoint=False)
    felt = engine.simulate(preset, **run)
    pressed = felt.time[(felt.time > during[0]) & (felt.contact_force > 0.0).any(axis=1)]
    touching = np.linspace(pressed[0], pressed[pressed < pressed[0] + 0.5 * period][-1], INSTANTS)
    bridge = np.linspace(problem.barrier.start, problem.barrier.stop, 200)
    height = 1e3 * problem.barrier.surface(bridge)
    figure = Figure(figsize=(9.0, 3.6), layout="constrained", facecolor=PAPER)
    whole, near = figure.subplots(1, 2, width_ratios=(3, 2))
    for axes, times in ((whole, during), (near, touching)):
        shapes = engine.simulate(preset, **run, snapshots=times).snapshots
        axes.fill_between(1e3 * bridge, height, height.min() - 10.0, color=BONE, linewidth=0)
        for i, shape in enumerate(shapes.u):
            colour = colormaps["viridis"](0.9 * i / (INSTANTS - 1))
            axes.plot(1e3 * shapes.x, 1e3 * shape, color=colour, linewidth=1.3)
        axes.set(xlabel="mm from the end")
    whole.set(xlim=(0, 1e3 * problem.string.length), ylim=(-2.3, 2.3), ylabel="mm")
    whole.set(title="a sitar's string during one period …")
    near.set(xlim=(0, 45), ylim=(-0.62, 0.1), title="… and as it wraps around its bridge")
    near.annotate("jawari", (4, -0.4), fontstyle="italic")
    return figure


def spectrograms() -> Figure:
    """One note with and without the bridge."""
    preset = engine.load_preset("sitar-string")
    free = replace(preset, problem=replace(preset.problem, barrier=None), controllers=())
    figure = Figure(figsize=(9.0, 3.2), layout="constrained", facecolor=PAPER)
    for axes, one, title in zip(figure.subplots(1, 2, sharey=True), (preset, free), ("over its bridge", "without")):
        axes.set(title=f"F#3 {title}", xlabel="s")
        drawn = spectrogram(axes, engine.render(one, [NOTE], RATE, tail=0.0)[:, 0])
    figure.axes[0].set_ylabel("kHz")
    figure.colorbar(drawn, ax=figure.axes, label="dB", pad=0.01)
    return figure


def spectrogram(axes: Any, sound: NDArray[np.float32]) -> Any:
    """Levels below the loudest, up to 12 kHz; coarse enough for a small file."""
    size, hop, top = 2048, 1024, 12_000
    frames = np.lib.stride_tricks.sliding_window_view(sound.astype(float), size)[::hop] * np.hanning(size)
    power = np.abs(np.fft.rfft(frames)[:, : top * size // RATE]) ** 2
    power = power[:, : power.shape[1] // 2 * 2].reshape(len(power), -1, 2).max(axis=2)
    level = 10.0 * np.log10(power / power.max() + 1e-12)
    extent = (0.0, sound.size / RATE, 0.0, top / 1e3)
    return axes.imshow(
        level.T, origin="lower", aspect="auto", extent=extent, cmap="magma", vmin=-90, vmax=0, interpolation="nearest"
    )


PICTURES = {"string": string, "spectrogram": spectrograms}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "scripts" / "pictures", metavar="FOLDER")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        with rc_context(STYLE):
            draw().savefig(args.out / f"{name}.png", dpi=100, metadata={"Software": None})
        print(f"{args.out / name}.png: {(args.out / f'{name}.png').stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
