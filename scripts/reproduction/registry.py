"""The figures that can be reproduced, and the page each of them draws on."""

from __future__ import annotations

import json
import re
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

# The papers' own colours where they have them: exact black, iterative (benchmark) red, plain non-iterative blue.
EXACT, ITERATIVE, PLAIN, OURS = "black", "tab:red", "tab:blue", "tab:green"

STYLE = {
    "figure.dpi": 110,
    "font.size": 9,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.1,
}

Outcome = tuple[str, dict[str, Any]]  # "what we get" in a line; the numbers


class Page:
    """Makes figures and keeps them; says what is being computed."""

    def __init__(self, say: Callable[[str], None] = lambda _: None) -> None:
        self.say = say
        self.figures: list[Any] = []

    def subplots(self, rows: int = 1, columns: int = 1, size: tuple[float, float] | None = None, **options: Any) -> Any:
        """`plt.subplots` at the house size; the figure is saved when its function returns."""
        size = size or (4.2 * columns if columns > 1 else 6.5, 2.6 * rows + 0.6)
        made = plt.subplots(rows, columns, figsize=size, layout="constrained", **options)
        self.figures.append(made[0])
        return made


@dataclass(frozen=True)
class Figure:
    """A figure or table of a paper: its id ("002.1", "003.table1"), title, what the paper shows, who draws it."""

    id: str
    title: str
    shows: str
    draw: Callable[[Page], Outcome]


@dataclass(frozen=True)
class Result:
    """What came out; `files` are names in the folder, `got` holds the error's text if the figure failed.

    `numbers` are as they stand in the JSON.
    """

    figure: Figure
    got: str
    seconds: float
    files: tuple[str, ...]
    failed: bool = False
    numbers: dict[str, Any] = field(default_factory=dict)


FIGURES: dict[str, Figure] = {}


def figure(id: str, title: str, shows: str) -> Callable[[Callable[[Page], Outcome]], Callable[[Page], Outcome]]:
    """Register the function below as the figure `id`."""

    def register(draw: Callable[[Page], Outcome]) -> Callable[[Page], Outcome]:
        if id in FIGURES:
            raise ValueError(f"figure {id} is registered twice")
        FIGURES[id] = Figure(id, title, shows, draw)
        return draw

    return register


def select(wanted: list[str]) -> list[Figure]:
    """The figures named ("002.1") or all of a paper ("002"); everything if nothing is named. KeyError: no such name."""
    for name in wanted:
        if not any(_matches(id, name) for id in FIGURES):
            raise KeyError(name)
    chosen = [f for f in FIGURES.values() if not wanted or any(_matches(f.id, name) for name in wanted)]
    return sorted(chosen, key=lambda f: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", f.id)])


def _matches(id: str, name: str) -> bool:
    return id == name or id.startswith(name + ".")


def run(figure: Figure, folder: Path, say: Callable[[str], None] = lambda _: None) -> Result:
    """Draw one figure and write its PNGs and its JSON into `folder`."""
    page, start = Page(say), time.perf_counter()
    try:
        with plt.rc_context(STYLE):
            got, numbers = figure.draw(page)
            pictures = [f"{figure.id}{f'-{i + 1}' if i else ''}.png" for i in range(len(page.figures))]
            for drawn, name in zip(page.figures, pictures, strict=True):
                width = int(13 * drawn.get_figwidth())
                drawn.suptitle(textwrap.fill(f"{figure.id}  {figure.title}", width), fontsize=10)
                drawn.savefig(folder / name)
    finally:
        for drawn in page.figures:
            plt.close(drawn)
    seconds = time.perf_counter() - start
    record = {"id": figure.id, "title": figure.title, "paper shows": figure.shows, "we get": got}
    record |= {"seconds": round(seconds, 2), "numbers": plain(numbers)}
    (folder / f"{figure.id}.json").write_text(json.dumps(record, indent=1, allow_nan=False, ensure_ascii=False) + "\n")
    return Result(figure, got, seconds, (*pictures, f"{figure.id}.json"), numbers=record["numbers"])


def plain(value: Any) -> Any:
    """Numbers as JSON has them: numpy unpacked, not-a-number and infinity as null."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value
