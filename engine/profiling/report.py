"""Measurements as JSON: everything that a later run needs to say what has become slower."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from engine.printable import printable
from engine.profiling.clocked import DURATION
from engine.profiling.errors import ReportError
from engine.profiling.limit import HOLDS
from engine.profiling.load import histogram
from engine.profiling.rig import BenchTake
from engine.profiling.sweep import Point, Results, Section, SweepPlan
from engine.reading import read_text

FORMAT = "jawari profile 1"
LARGEST = 1_000_000_000  # bytes of a report that is read: with every block in it, it may be long
NAMES = ("mean", "p50", "p99", "p99.9", "max")


@dataclass(frozen=True)
class Earlier:
    """What a comparison needs of a report."""

    name: str
    computer: dict[str, Any]
    played: dict[str, Any]
    points: dict[Point, dict[str, float]]  # µs by name


def played(plan: SweepPlan, overrides: list[str], live: bool) -> dict[str, Any]:
    """What has to be equal for points to be comparable, besides what names them."""
    setup = plan.setup
    return {
        "sample_rate": setup.sample_rate,
        "keys": list(setup.keys) if setup.keys else None,
        "polyphony": setup.polyphony,
        "sway": setup.sway,
        "set": overrides,
        "live": live,
    }


def make_report(
    plan: SweepPlan,
    results: Results,
    computer: dict[str, Any],
    conditions: dict[str, Any],
    *,
    blocks: bool,
    whole: bool,
) -> dict[str, Any]:
    """The report; with `blocks` every block's duration is in it. `conditions` are what `played` gives."""
    return {
        "format": FORMAT,
        "date": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "whole": whole,
        "computer": computer,
        "played": conditions,
        "seconds": plan.setup.seconds,
        "points": [_point(point, take, blocks) for point, take in results.points.items()],
        "limits": [
            {**section._asdict(), "holds": HOLDS, "voices": limit.voices, "p99.9": limit.p999}
            for section, limit in results.limits.items()
        ],
        "parts": [
            {**section._asdict(), "voices": voices, "us": parts._asdict()}
            for section, (voices, parts) in results.parts.items()
        ],
        "notes": results.notes,
    }


def _point(point: Point, take: BenchTake, blocks: bool) -> dict[str, Any]:
    load, rows, sounding = take.load, take.blocks.rows, take.blocks.sounding
    bins = histogram(rows)
    found = {
        **point.section._asdict(),
        "voices": point.voices,
        "sounding": [int(sounding.min()), int(sounding.max())] if sounding.size else None,
        "blocks": load.blocks,
        "late": load.late,
        "deadline_us": load.deadline,
        "us": dict(zip(NAMES, load.us)),
        "share": dict(zip(NAMES, load.share)),
        "preempted": take.blocks.preempted,
        "histogram": {"edges_us": bins.edges.tolist(), "counts": bins.counts.tolist()},
    }
    return found | ({"durations_ns": rows[:, DURATION].tolist()} if blocks else {})


def read_report(path: Path) -> Earlier:
    """A report for comparison; anything else is refused."""
    name = printable(str(path))
    try:
        found = json.loads(read_text(path, LARGEST, ReportError))
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise ValueError(f"has no format: {FORMAT}")
        computer, conditions = found["computer"], found["played"]
        if not isinstance(computer, dict) or not isinstance(conditions, dict):
            raise ValueError("computer and played are no objects")
        points = dict(map(_earlier_point, found["points"]))
    except ReportError as error:
        raise ReportError(f"{name}: {error}") from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        reason = printable(str(error))[:100]
        reason = f"{reason} is missing" if isinstance(error, KeyError) else reason
        raise ReportError(f"{name}: is not a report of jawari profile --json ({reason}); name one") from None
    return Earlier(name, computer, conditions, points)


def _earlier_point(entry: dict[str, Any]) -> tuple[Point, dict[str, float]]:
    numbers = {name: float(entry["us"][name]) for name in NAMES}
    if not all(isfinite(value) and value > 0.0 for value in numbers.values()):
        raise ValueError("a duration is not above 0")
    section = Section(str(entry["preset"]), str(entry["model"]), int(entry["oversample"]), int(entry["block"]))
    return Point(section, int(entry["voices"])), numbers
