#!/usr/bin/env python3
"""Time until an instrument can play: from a clone, from a wheel that brings machine code along, and ever after.

    python3 scripts/bench_start.py [--only {warm,render,wheel,cold} ...] [--rounds N] [--json FILE]

Warm: `Instrument(name)` of each shipped preset in a process of its own, once it is kept on disk, without what Python
takes to import the engine, which is told beside it. Render: the whole command for a short file. Wheel: the first start
with a module as a wheel has it and nothing else. Cold: the first start from a clone. Of both the time of processors,
which others disturb least, and by the clock. The best of some rounds; a cold start is taken once. It compiles on all
processors: never give it a real-time priority.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from engine.preset.files import shipped

WARM = """
import time
begun = time.perf_counter()
from engine import module
from engine.synth.instrument import Instrument
module.ready()
ready = time.perf_counter()
Instrument({name!r})
print(ready - begun, time.perf_counter() - ready)
"""
FIRST = "import engine; engine.Instrument('sitar-string'); print('ready', flush=True)"
SHIP = "import sys; from engine.module import ship; ship(sys.argv[1])"
BEST = "from engine.processor import usual; print(usual()[-1])"
RENDER = ("-m", "engine.start", "render", "plain", "--notes", "C3:0:.2", "--force", "-o")


class Start(NamedTuple):
    """How long a program took until it could play."""

    processors: float
    clock: float


def around(kept: Path, tree: Path = ROOT, **more: str) -> dict[str, str]:
    """The environment of a program that keeps in one folder what it makes, and runs another's engine."""
    return {**os.environ, "PYTHONPATH": str(tree), "JAWARI_CACHE_DIR": str(kept), **more}


def started(kept: Path, tree: Path = ROOT) -> Start:
    """A program that makes a sitar's string."""
    before, begun = os.times(), time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", FIRST],
        env=around(kept, tree),
        cwd=kept,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as program:
        assert program.stdout
        assert program.stdout.readline() == b"ready\n"
        clock = time.perf_counter() - begun
    after = os.times()
    return Start(after.children_user + after.children_system - before.children_user - before.children_system, clock)


def cold_and_warm() -> tuple[Start, Start]:
    """The first start of all, and the next one."""
    with tempfile.TemporaryDirectory() as folder:
        return started(Path(folder)), started(Path(folder))


def from_wheel(rounds: int) -> Start:
    """The first start of an engine that a wheel brought, with nothing kept."""
    with tempfile.TemporaryDirectory() as folder:
        tree, kept = Path(folder, "tree"), Path(folder, "kept")
        shutil.copytree(ROOT / "engine", tree / "engine", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ROOT / "presets", tree / "presets")
        shutil.copy(ROOT / "pyproject.toml", tree)
        brought = tree / "engine" / "shipped"
        kept.mkdir()
        best = said(BEST, around(kept)).strip()
        said(SHIP, around(kept, JAWARI_CPU=best), str(brought.parent))
        brought.mkdir()
        for file in brought.parent.glob("*.module"):
            file.rename(brought / file.name)
        found = []
        for n in range(rounds + 1):  # the first of them has Python's own code to compile
            empty = Path(folder, f"empty{n}")
            empty.mkdir()
            found.append(started(empty, tree))
        return min(found[1:])


def said(program: str, environment: dict[str, str], *arguments: str) -> str:
    """What a program prints."""
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], env=environment, check=True, capture_output=True, text=True
    ).stdout


def warm(rounds: int) -> dict[str, dict[str, float]]:
    """For each preset, seconds until the engine is imported, and from there until an instrument is made."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in shipped():
            rows = []
            for _ in range(rounds + 1):  # the first makes it, which is kept
                text = said(WARM.format(name=name), around(Path(folder)))
                rows.append([float(word) for word in text.split()])
            imports, instrument = (min(column) for column in zip(*rows[1:], strict=True))
            found[name] = {"imports_s": imports, "instrument_s": instrument}
            print(f"{name:16} {instrument:.3f} s, after {imports:.2f} s of imports", flush=True)
    return found


def render(rounds: int) -> float:
    """Seconds of the whole command for a short file."""
    times = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds + 1):
            begun = time.perf_counter()
            subprocess.run(
                [sys.executable, *RENDER, str(Path(folder, "short.wav"))],
                env=around(Path(folder)),
                check=True,
                capture_output=True,
            )
            times.append(time.perf_counter() - begun)
    return min(times[1:])


def told_warm(rounds: int) -> dict[str, Any]:
    """All presets."""
    found = warm(rounds)
    slowest = max(found, key=lambda name: found[name]["instrument_s"])
    print(f"the slowest, {slowest}: {found[slowest]['instrument_s']:.3f} s")
    return {"presets": found}


def told_render(rounds: int) -> dict[str, Any]:
    """The command."""
    seconds = render(rounds)
    print(f"a short render, from the command to its end: {seconds:.2f} s")
    return {"seconds": seconds}


def told_wheel(rounds: int) -> dict[str, Any]:
    """With a module."""
    found = from_wheel(rounds)
    print(f"the first start from a wheel: processors {found.processors:.1f} s, by the clock {found.clock:.1f} s")
    return found._asdict()


def told_cold(_: int) -> dict[str, Any]:
    """Without anything."""
    first, later = cold_and_warm()
    print(f"the first start from a clone: processors {first.processors:.1f} s, by the clock {first.clock:.1f} s")
    print(f"the next one: processors {later.processors:.2f} s, by the clock {later.clock:.2f} s")
    return {"first": first._asdict(), "next": later._asdict()}


PARTS: dict[str, Callable[[int], dict[str, Any]]] = {
    "warm": told_warm,
    "render": told_render,
    "wheel": told_wheel,
    "cold": told_cold,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="these of them")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="of which the best counts (3)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    args = parser.parse_args()
    report = {part: PARTS[part](max(args.rounds, 1)) for part in args.only}
    if args.json:
        args.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
