"""What has become slower since an earlier report, as ratios."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from engine.profiling.report import Earlier
from engine.profiling.sweep import Point


class Change(NamedTuple):
    """New time / old time of a point's blocks."""

    point: Point
    p50: float
    p99: float

    @property
    def ratio(self) -> float:
        """The worse of the two."""
        return max(self.p50, self.p99)


def changes(now: Mapping[Point, Mapping[str, float]], earlier: Earlier) -> list[Change]:
    """Of every point that was measured both times, the slowest first; `now` has µs by name, as `earlier` has."""
    found = []
    for point, us in now.items():
        old = earlier.points.get(point)
        if old is not None:
            found.append(Change(point, us["p50"] / old["p50"], us["p99"] / old["p99"]))
    return sorted(found, key=lambda change: -change.ratio)


def differences(computer: Mapping[str, Any], played: Mapping[str, Any], earlier: Earlier) -> list[str]:
    """Why the ratios may mean something else than they seem to."""
    found = []
    for name in ("cpu", "cores", "system"):
        if computer.get(name) != earlier.computer.get(name):
            found.append(f"another machine: {name} {computer.get(name)}, there {earlier.computer.get(name)}")
    for name in ("python", "numba", "llvmlite", "numpy"):
        if computer.get(name) != earlier.computer.get(name):
            found.append(f"another {name}: {computer.get(name)}, there {earlier.computer.get(name)}")
    for name, value in played.items():
        if value != earlier.played.get(name):
            found.append(f"played otherwise: {name} {value}, there {earlier.played.get(name)}")
    return found
