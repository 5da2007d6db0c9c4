"""Everything to be measured, one after the other: voices, block sizes, oversampling, models and presets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from engine.errors import EngineError
from engine.preset.loader import Preset
from engine.profiling.limit import Limit, largest_polyphony
from engine.profiling.load import Spread
from engine.profiling.parts import Parts, parts, without
from engine.profiling.rig import BenchSetup, BenchTake, Recorder, Rig, record_blocks

QUICK = 0.25  # of the time of a point: enough to search with


class Section(NamedTuple):
    """What is equal in a table of loads."""

    preset: str
    model: str
    oversample: int
    block: int

    def __str__(self) -> str:
        return f"{self.preset}, {self.model}, x{self.oversample}, {self.block} frame{'s' * (self.block != 1)}"


class Point(NamedTuple):
    """One row of it."""

    section: Section
    voices: int

    def __str__(self) -> str:
        return f"{self.section}, {self.voices} voice{'s' * (self.voices != 1)}"


@dataclass(frozen=True)
class SweepPlan:
    """What to measure, and how."""

    presets: tuple[tuple[str, Preset], ...]  # by name, which may come again with another model
    oversamples: tuple[int, ...]  # none: as each preset says
    blocks: tuple[int, ...]
    voices: tuple[int, ...]
    setup: BenchSetup = field(default_factory=BenchSetup)
    limits: bool = True
    parts: bool = True

    def rigs(self) -> Iterator[tuple[str, Preset, int]]:
        """What is designed: preset and oversampling."""
        for name, preset in self.presets:
            yield from ((name, preset, factor) for factor in self.oversamples or (preset.oversample,))

    def points(self) -> Iterator[Point]:
        """What is played."""
        for name, preset, factor in self.rigs():
            for block in self.blocks:
                yield from (Point(Section(name, preset.model, factor, block), voices) for voices in self.voices)


@dataclass
class Results:
    """What has been measured so far."""

    points: dict[Point, BenchTake] = field(default_factory=dict)
    limits: dict[Section, Limit] = field(default_factory=dict)
    parts: dict[Section, tuple[int, Parts]] = field(default_factory=dict)  # with the number of voices
    notes: list[str] = field(default_factory=list)


class SweepListener:
    """Who is told of the sweep's course; does nothing."""

    def begins(self, what: str) -> None:
        """This is going to be measured."""

    def measured(self, point: Point, take: BenchTake) -> None:
        """A point was."""

    def note(self, text: str) -> None:
        """Something the reader should know."""


def sweep(plan: SweepPlan, results: Results, listener: SweepListener, record: Recorder = record_blocks) -> None:
    """Measure everything into `results`, which are whole at any moment; what cannot be played is noted."""

    def note(text: str) -> None:
        results.notes.append(text)
        listener.note(text)

    for name, preset, factor in plan.rigs():
        what = f"{name}, {preset.model}, x{factor}"
        listener.begins(f"{what}: being set up")
        try:
            rig = Rig(preset, factor, plan.setup, record)
            others = without(preset) if plan.parts else {}
            fewer = {lost: Rig(other, factor, plan.setup, record) for lost, other in others.items()}
        except EngineError as error:
            note(f"{what}: left out, {' '.join(str(error).splitlines())}")
            continue
        if rig.mute:
            note(f"{what}: {rig.mute}")
        for block in plan.blocks:
            _section(plan, Section(name, preset.model, factor, block), (rig, fewer), results, listener, note)


def _section(
    plan: SweepPlan,
    section: Section,
    rigs: tuple[Rig, dict[str, Rig]],
    results: Results,
    listener: SweepListener,
    note: Callable[[str], None],
) -> None:
    rig, fewer = rigs
    for voices in plan.voices:
        point = Point(section, voices)
        listener.begins(str(point))
        take = rig.play(voices, section.block, plan.setup.seconds)
        results.points[point] = take
        listener.measured(point, take)
        for text in take.notes:
            note(f"{point}: {text}")
    if plan.limits:

        def measure(voices: int, whole: bool) -> Spread:
            listener.begins(f"{section}: do {voices} voices hold?")
            return rig.play(voices, section.block, plan.setup.seconds * (1.0 if whole else QUICK)).load.share

        known = {voices: results.points[Point(section, voices)].load.share for voices in plan.voices}
        results.limits[section] = largest_polyphony(measure, rig.most, known)
    if plan.parts:
        voices = min(max(plan.voices), rig.most)
        listener.begins(f"{section}: where does the time go?")
        results.parts[section] = voices, parts(rig, fewer, voices, section.block)
