#!/usr/bin/env python3
"""Throw random presets, broken preset files and damaged MIDI files at the engine, and count what it makes of them.

    python3 scripts/robustness.py --presets 100000 --rates 100000 --networks 10000 --files 100000 --midi 100000 --jobs 2

presets: random valid presets over the whole schema, played at random for a moment. rates: the same at every rate from 8
to 384 kHz, oversampled one to eight times. networks: random instruments of several strings on one bridge, played so.
files: the shipped presets and files beside them, mutated. midi: MIDI files
of every kind, damaged. Every sample must be a number, no energy may grow by itself, nothing but an EngineError may be
raised; a file may take at most 1 s of the processor and 200 MB, any other case 5 s and 300 MB, and the system ends what
takes a minute or a gigabyte. Every fault is printed with the command that repeats it, and may be kept as data; the exit
code is 1 if there was any.

    python3 scripts/robustness.py --replay presets:1:4711
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests"), str(HERE.parent)]  # from a clone, nothing need be installed
for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")  # before numpy comes: a case is to cost one processor

from robustness_parts.cases import KINDS, Result, kept, run_case
from robustness_parts.workers import results


class Tally:
    """What became of the cases of one kind."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.faults: dict[str, str] = {}
        self.seconds = self.worst = self.megabytes = 0.0
        self.slowest = ""

    def add(self, result: Result) -> None:
        """Count one, and tell a fault at once."""
        self.outcomes[result.outcome] += 1
        self.seconds, self.megabytes = self.seconds + result.seconds, max(self.megabytes, result.megabytes)
        if result.seconds > self.worst:
            self.worst, self.slowest = result.seconds, result.case
        if result.fault:
            self.faults[result.case] = result.fault
            print(f"{result.fault}\n    python3 scripts/robustness.py --replay {result.case}", flush=True)

    def figures(self) -> dict[str, Any]:
        """For the report."""
        count = sum(self.outcomes.values())
        return {
            "cases": count,
            "outcomes": dict(self.outcomes.most_common()),
            "faults": self.faults,
            "mean_ms": 1e3 * self.seconds / max(count, 1),
            "slowest_s": self.worst,
            "slowest": self.slowest,
            "most_mb": self.megabytes,
        }


def perform(cases: list[str], jobs: int) -> dict[str, Tally]:
    """Run all cases, telling faults as they come."""
    tallies: dict[str, Tally] = {}
    told = time.monotonic()
    alone = len(cases) == 1  # such as a replay, which a debugger may look at
    for done, result in enumerate(map(run_case, cases) if alone else results(cases, jobs), 1):
        tallies.setdefault(result.case.partition(":")[0], Tally()).add(result)
        if time.monotonic() - told > 60.0:
            told = time.monotonic()
            print(f"{done} of {len(cases)}, {sum(len(t.faults) for t in tallies.values())} faults", flush=True)
    return tallies


def keep(path: Path, faults: dict[str, str]) -> None:
    """Add what was found to a file of cases."""
    there = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    lines = [json.dumps(case) for case in [*there, *(kept(case, why) for case, why in faults.items())]]
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for kind in KINDS:
        parser.add_argument(f"--{kind}", type=int, default=0, metavar="N", help=f"so many cases of {kind}")
    parser.add_argument("--seed", default="0", help="of all cases (0)")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="number of the first case (0)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--replay", action="append", default=[], metavar="CASE", help="run one case by its name")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="add faults to these, as tests/robustness/kept.json")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    args = parser.parse_args()
    cases = [f"{kind}:{args.seed}:{args.first + n}" for kind in KINDS for n in range(getattr(args, kind))]
    for case in args.replay:
        if case.partition(":")[0] not in KINDS:
            parser.error(f"{case}: a case is named {'|'.join(KINDS)}:SEED:NUMBER")
        cases.append(case)
    if not cases:
        parser.error("say how many cases, such as --presets 1000")
    figures = {kind: tally.figures() for kind, tally in perform(cases, args.jobs).items()}
    for kind, told in figures.items():
        print(f"{kind}: {json.dumps(told)}", flush=True)
    if args.keep:
        keep(args.keep, {case: why for told in figures.values() for case, why in told["faults"].items()})
    if args.json:
        args.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return int(any(kind["faults"] for kind in figures.values()))


if __name__ == "__main__":
    sys.exit(main())
