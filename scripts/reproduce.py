#!/usr/bin/env python3
"""Reproduce the papers' figures and tables: a PNG and a JSON each, a table of what they show and what we get, and a
verdict on each claim.
"""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import shutil
import sys
import textwrap
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]  # from a clone, nothing need be installed

import reproduction
from reproduction.claims import judged
from reproduction.registry import Figure, Result, run, select

from engine.terminal import Line


class Bar:
    """A progress bar on a terminal, one line per figure elsewhere."""

    WIDTH = 24

    def __init__(self, total: int) -> None:
        self.total, self.done, self.line = total, 0, Line(sys.stderr, goes_on=True)

    def show(self, text: str) -> None:
        filled = self.WIDTH * self.done // self.total
        self.line.show(f"[{'#' * filled}{'.' * (self.WIDTH - filled)}] {self.done:2d}/{self.total}  {text}")

    def close(self) -> None:
        self.show("done")
        self.line.end()


def main(arguments: list[str] | None = None) -> int:
    """Run what was asked for; 0 if every figure was made, 1 if one failed, 2 if a name is unknown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("reproduced"), help="folder to write to (default: reproduced)")
    parser.add_argument("--only", nargs="+", default=[], metavar="ID", help="figures (002.1) or papers (002)")
    parser.add_argument("--list", action="store_true", help="list the figures and stop")
    options = parser.parse_args(arguments)
    for module in pkgutil.iter_modules(reproduction.__path__):
        importlib.import_module(f"reproduction.{module.name}")
    try:
        figures = select(options.only)
    except KeyError as unknown:
        known = ", ".join(f.id for f in select([]))
        print(f"--only {unknown.args[0]}: no such figure; choose from {known}", file=sys.stderr)
        return 2
    if options.list:
        for figure in figures:
            print(f"{figure.id:12s} {figure.title}")
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    results = [*draw_all(figures, options.out)]
    print(as_text(results))
    claims = judged(results)
    (options.out / "README.md").write_text(as_markdown(results) + claims_as_markdown(claims))
    (options.out / "claims.json").write_text(json.dumps(claims, indent=1, ensure_ascii=False) + "\n")
    print(f"\n{len(results)} figures and tables, their numbers, and this table (README.md) are in {options.out}/")
    return int(any(result.failed for result in results))


def draw_all(figures: list[Figure], folder: Path) -> list[Result]:
    """Run every figure; one that fails is reported and does not stop the others."""
    bar, results = Bar(len(figures)), []
    for figure in figures:
        name = f"{figure.id} {figure.title}"
        bar.show(name)
        try:
            results.append(run(figure, folder, say=lambda text, name=name: bar.show(f"{name}: {text}")))  # type: ignore[misc]
        except Exception as error:
            traceback.print_exc()
            results.append(Result(figure, f"FAILED: {error}", 0.0, (), failed=True))
        bar.done += 1
    bar.close()
    return results


def as_text(results: list[Result]) -> str:
    """The final table, wrapped to the terminal."""
    columns = max(60, min(shutil.get_terminal_size().columns, 160))
    width = (columns - 18) // 2
    rows = [("", "what the paper shows", "what we get"), ("-" * 12, "-" * width, "-" * width)]
    rows += [(r.figure.id, r.figure.shows, r.got) for r in results]
    lines = []
    for id, shows, got in rows:
        left, right = textwrap.wrap(shows, width) or [""], textwrap.wrap(got, width) or [""]
        for i in range(max(len(left), len(right))):
            cells = id if i == 0 else "", left[i] if i < len(left) else "", right[i] if i < len(right) else ""
            lines.append(f"{cells[0]:12s}  {cells[1]:{width}s}  {cells[2]}".rstrip())
    return "\n".join(lines)


def as_markdown(results: list[Result]) -> str:
    """The same table with links to the pictures and the numbers."""
    lines = ["# The papers' figures and tables, reproduced", "", "Written by `python3 scripts/reproduce.py`.", ""]
    lines += ["| figure | what the paper shows | what we get | files |", "|---|---|---|---|"]
    for r in results:
        links = " ".join(f"[{Path(name).suffix[1:]}]({name})" for name in r.files)
        cells = (f"{r.figure.id} {r.figure.title}", r.figure.shows, r.got, links)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def claims_as_markdown(claims: list[dict[str, str]]) -> str:
    """What the papers claim of the figures that were drawn."""
    rows = [f"| {c['place']} | {c['claim']} | **{c['verdict']}**: {c['measured']} | {c['figure']} |" for c in claims]
    return "\n".join(["\n## Claims\n", "| where | claim | verdict | figure |", "|---|---|---|---|", *rows]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
