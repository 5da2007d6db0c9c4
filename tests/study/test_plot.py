"""Figures of load: every number on an axis can be read, whatever was measured."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from engine.profiling.load import load
from engine.profiling.rig import BenchTake, Blocks
from engine.profiling.sweep import Point, Section
from engine.study.plot import plot_loads

RATE, BLOCK = 48_000.0, 64


def takes(fastest: float, slowest: float, voices: tuple[int, ...]) -> dict[Point, BenchTake]:
    """Blocks that take from `fastest` to `slowest` µs, evenly in their logarithm."""
    found = {}
    for n in voices:
        took = np.geomspace(fastest * 1e3, slowest * 1e3, 500) * (n / max(voices)) ** 0.1
        rows = np.stack([np.arange(500) * 1_333_000, took, np.full(500, BLOCK)], axis=1).astype(np.int64)
        point = Point(Section("sitar-string", "modal", 2, BLOCK), n)
        found[point] = BenchTake(load(rows, RATE), Blocks(rows, np.zeros(0, np.int64)))
    return found


@pytest.mark.parametrize("span", [1.02, 1.3, 1.9, 2.2, 3.9, 5.0, 7.9, 9.0, 20.0, 29.0, 99.0, 400.0, 5e4])
@pytest.mark.parametrize("fastest", [0.9, 7.0, 110.0, 820.0])
def test_numbers_on_an_axis_do_not_meet(
    fastest: float, span: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: drawn.append(figure))
    monkeypatch.setattr(Path, "replace", lambda *_: None)
    plot_loads(takes(fastest, fastest * span, (8,) if span < 2.0 else (1, 8, 16, 32)), RATE, tmp_path / "load.png")
    (figure,) = drawn
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    for axes in figure.axes:
        for axis, along in ((axes.xaxis, "x"), (axes.yaxis, "y")):
            low, high = sorted(axis.get_view_interval())
            ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            labels = [tick.label1 for tick in ticks if low <= tick.get_loc() <= high and tick.label1.get_text()]
            boxes = sorted((label.get_window_extent() for label in labels), key=lambda box: getattr(box, f"{along}0"))
            assert len(boxes) >= (1 if axes.get_xlabel() == "voices" and along == "x" else 2), (
                f"{axes.get_title()}, {along}"
            )
            for one, other in pairwise(boxes):
                gap = getattr(other, f"{along}0") - getattr(one, f"{along}1")
                assert gap > 1.0, f"{axes.get_title()}, {along}: {[label.get_text() for label in labels]}"
        if axes.get_xlabel() == "voices":
            assert all(label.get_text().isdecimal() for label in axes.get_xticklabels() if label.get_text()[:1] != "−")
