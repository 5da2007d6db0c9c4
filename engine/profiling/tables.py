"""Measurements as aligned text, at most 100 columns wide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.profiling.compare import Change
from engine.profiling.limit import HOLDS, MOST, Limit
from engine.profiling.parts import Parts
from engine.profiling.rig import BenchTake
from engine.profiling.sweep import Point, Section

COLUMNS = ("mean", "p50", "p99", "p99.9", "max")
_PRESET = 16  # characters
_WIDTHS = {"strings": 9, "contact": 9, "hub": 6, "body": 6, "oversampling": 14, "output": 8}
_SHARED = ("hub", "body")


def heading(section: Section, sample_rate: float, blocks: int) -> Iterator[str]:
    """What stands over the rows of a section."""
    deadline = section.block / sample_rate * 1e6
    yield f"{section} at {sample_rate:g} Hz: deadline {deadline:.1f} µs, {blocks} blocks each"
    yield "voices" + "".join(f"{name:>16}" for name in COLUMNS) + f"{'late':>10}"
    yield " " * 6 + f"{'µs':>10}{'%':>6}" * len(COLUMNS) + f"{'blocks':>10}"


def row(point: Point, take: BenchTake) -> str:
    """A point's load: microseconds and percent of the deadline; blocks that took longer than it, of how many."""
    load = take.load
    cells = "".join(f"{us:10.1f}{100.0 * share:6.1f}" for us, share in zip(load.us, load.share))
    return f"{point.voices:6}{cells}{load.late:10}"


def summary(
    sections: Sequence[Section], limits: dict[Section, Limit], parts: dict[Section, tuple[int, Parts]]
) -> Iterator[str]:
    """A line for each section: the largest polyphony, and where the time goes."""
    told = [section for section in sections if section in limits or section in parts]
    if not told:
        return
    yield (
        f"{'':{_PRESET}}{'':16}"
        + f"{f'voices within {HOLDS:.0%}':>20}" * bool(limits)
        + (f"{'where the time goes, %':>{7 + sum(_widths(parts))}}" * bool(parts))
    )
    line = f"{'preset':{_PRESET}}{'model':>5}{'x':>4}{'block':>7}"
    line += f"{'largest':>12}{'p99.9 %':>8}" if limits else ""
    heads = [f"{name:>{width}}" for name, width in zip(_WIDTHS, _widths(parts)) if width]
    line += f"{'at':>7}{''.join(heads)}" if parts else ""
    yield line
    for section in told:
        yield _names(section) + _limit(limits, section) + _parts(parts, section)


def _names(section: Section) -> str:
    name = section.preset if len(section.preset) < _PRESET else section.preset[: _PRESET - 4] + "..."
    return f"{name:{_PRESET}}{section.model:>5}{section.oversample:4}{section.block:7}"


def _limit(limits: dict[Section, Limit], section: Section) -> str:
    if section not in limits:
        return " " * 20 * bool(limits)
    limit = limits[section]
    many = f"{limit.voices}{'+' * (limit.voices == MOST)}" if limit.voices else "none"
    share = f"{100.0 * limit.p999:.1f}" if limit.p999 is not None else ""
    return f"{many:>12}{share:>8}"


def _parts(parts: dict[Section, tuple[int, Parts]], section: Section) -> str:
    if section not in parts:
        return ""
    voices, found = parts[section]
    cells = (f"{100.0 * share:{width}.1f}" for share, width in zip(found.shares, _widths(parts)) if width)
    return f"{voices:7}{''.join(cells)}"


def _widths(parts: dict[Section, tuple[int, Parts]]) -> tuple[int, ...]:
    """Of the columns of all parts; 0 of those that no preset has but one of several strings, if there is none."""
    shared = any(found.hub or found.body for _, found in parts.values())
    return tuple(0 if name in _SHARED and not shared else width for name, width in _WIDTHS.items())


def comparison(found: Sequence[Change], tolerance: float) -> Iterator[str]:
    """New / old of every point, the slowest first; those beyond the tolerance are marked."""
    yield f"{'preset':{_PRESET}}{'model':>5}{'x':>4}{'block':>7}{'voices':>8}{'p50':>9}{'p99':>9}"
    for change in found:
        mark = "  slower" if change.ratio > tolerance else ""
        yield f"{_names(change.point.section)}{change.point.voices:8}{change.p50:9.3f}{change.p99:9.3f}{mark}"
