#!/usr/bin/env python3
"""Throw random presets, broken preset files and damaged MIDI files at the engine, and count what it makes of them.

    python3 scripts/robustness.py --presets 100000 --files 100000 --midi 100000 --jobs 2 --seed 1

presets: random valid presets over the whole schema, played at random for a moment. files: the shipped presets and files
beside them, mutated. midi: MIDI files of every kind, damaged. Every sample must be a number, no
energy may grow by itself, nothing but an EngineError may be raised, and a file may take at most 1 s of the processor
and 200 MB. Every fault is printed with the command that repeats it; the exit code is 1 if there was any.

    python3 scripts/robustness.py --replay presets:1:4711
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests"), str(HERE.parent)]  # from a clone, nothing need be installed
for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")  # before numpy comes: a case is to cost one processor

from robustness_parts.cases import KINDS, Result, run_case

GUARD = 2**30  # bytes beyond what a worker has when it begins: what asks for more gets a MemoryError, not the machine


def begin() -> None:
    """In a worker: everything compiled or loaded, and the guard set."""
    for kind in KINDS:
        run_case(f"{kind}:warm:0")
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + GUARD,) * 2)
    except (ImportError, OSError):
        pass  # no guard, but the figures still tell


def results(cases: list[str], jobs: int) -> Iterator[Result]:
    """All cases, on so many processors."""
    begin_here = jobs == 1 or len(cases) == 1
    if begin_here:
        yield from map(run_case, cases)
        return
    run_case("presets:warm:0")  # compiled once, here
    with multiprocessing.get_context("spawn").Pool(jobs, begin) as pool:
        yield from pool.imap_unordered(run_case, cases, chunksize=16)


def perform(cases: list[str], jobs: int) -> dict[str, object]:
    """Run the cases of one kind, telling faults as they come; figures for the report."""
    counts: Counter[str] = Counter()
    faults: dict[str, str] = {}
    seconds = worst = megabytes = 0.0
    slowest, began, told = "", time.monotonic(), time.monotonic()
    for done, result in enumerate(results(cases, jobs), 1):
        counts[result.outcome] += 1
        seconds, megabytes = seconds + result.seconds, max(megabytes, result.megabytes)
        if result.seconds > worst:
            worst, slowest = result.seconds, result.case
        if result.fault:
            faults[result.case] = result.fault
            print(f"{result.fault}\n    python3 scripts/robustness.py --replay {result.case}", flush=True)
        if time.monotonic() - told > 60.0:
            told = time.monotonic()
            print(f"{done} of {len(cases)}, {len(faults)} faults", flush=True)
    return {
        "cases": len(cases),
        "outcomes": dict(counts.most_common()),
        "faults": faults,
        "mean_ms": 1e3 * seconds / max(len(cases), 1),
        "slowest_s": worst,
        "slowest": slowest,
        "most_mb": megabytes,
        "minutes": (time.monotonic() - began) / 60.0,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for kind in KINDS:
        parser.add_argument(f"--{kind}", type=int, default=0, metavar="N", help=f"so many cases of {kind}")
    parser.add_argument("--seed", default="0", help="of all cases (0)")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="number of the first case (0)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--replay", action="append", default=[], metavar="CASE", help="run one case by its name")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    args = parser.parse_args()
    figures = {}
    wanted = {kind: [f"{kind}:{args.seed}:{args.first + n}" for n in range(getattr(args, kind))] for kind in KINDS}
    for case in args.replay:
        kind = case.partition(":")[0]
        if kind not in KINDS:
            parser.error(f"{case}: a case is named {'|'.join(KINDS)}:SEED:NUMBER")
        wanted[kind].append(case)
    for kind, cases in wanted.items():
        if cases:
            figures[kind] = perform(cases, args.jobs)
            print(f"{kind}: {json.dumps(figures[kind])}", flush=True)
    if not figures:
        parser.error("say how many cases, such as --presets 1000")
    if args.json:
        args.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return int(any(kind["faults"] for kind in figures.values()))


if __name__ == "__main__":
    sys.exit(main())
