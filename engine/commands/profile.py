"""`jawari profile`: the load of every block, how many voices that leaves room for, and where the time goes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from engine.commands.common import EPILOG, Commands, Help, UsageError, key_range, quantity
from engine.errors import PresetError
from engine.files.target import check_target, named
from engine.interrupts import stoppable
from engine.offline.report import write_report
from engine.preset.arguments import HIGHEST_RATE, LOWEST_RATE
from engine.preset.complaints import shown
from engine.preset.files import shipped
from engine.preset.loader import Preset, load_preset
from engine.printable import printable
from engine.profiling.compare import Change, changes, differences
from engine.profiling.computer import computer, computer_line, disturbance, disturbance_notes
from engine.profiling.errors import SlowerThanBefore
from engine.profiling.limit import MOST
from engine.profiling.report import NAMES, Earlier, make_report, played, read_report
from engine.profiling.rig import BenchSetup, BenchTake, Blocks, Recorder, record_blocks
from engine.profiling.sweep import Point, Results, Section, SweepListener, SweepPlan, sweep
from engine.profiling.tables import comparison, heading, row, summary
from engine.synth.instrument import Instrument
from engine.terminal import Line, tell

LARGEST_BLOCK = 16_384
ENOUGH = 1000  # blocks, for a p99.9
MODELS = ("preset", "modal", "fd")

DESCRIPTION = """Measure how long every block takes: against voices, block sizes, oversampling and models; how many
voices hold 70 % of the deadline, and where the time goes."""

EXAMPLES = """examples:
  jawari profile sitar
  jawari profile sitar slap-bass --models modal,fd --oversample 1,2 --plot load.png
  jawari profile sitar --voices 32 --json before.json          and after a change:
  jawari profile sitar --voices 32 --compare before.json       exit code 8 if anything is slower

method: so many strings are kept sounding, notes arrive at samples that look random but are always the same, and one
compiled function plays block after block on a thread of its own and times each; 0.3 s are played before that. The
largest polyphony is searched by playing, and is one that held for the whole time, p99.9 at 70 % of the deadline.
Parts: the clock is read around strings, oversampling and output stage; contact is the difference to the same notes on
the same strings without barrier, played in turn, and everything is a median. Of an instrument of several strings the
hub is the difference to the same without what answers, the body that to the same without it. Other programs disturb
the larger percentiles: close them, or trust p50."""


def add(commands: Commands[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    p = commands.add_parser(
        "profile",
        help="measure the load of every block",
        description=DESCRIPTION,
        epilog=f"{EXAMPLES}\n\n{EPILOG}",
        formatter_class=Help,
    )
    p.add_argument("presets", nargs="*", metavar="PRESET", help="a shipped preset's name or a YAML file; or several")
    p.set_defaults(run=_run)
    _add_sweep(p.add_argument_group("what is measured"))
    _add_playing(p.add_argument_group("how it is played"))
    _add_results(p.add_argument_group("what becomes of it"))


def _add_sweep(p: argparse._ArgumentGroup) -> None:
    p.add_argument("--voices", default="1,8,16,32", metavar="N,N", help=f"strings that sound, 1 to {MOST}")
    p.add_argument("--block-sizes", default="64,128", metavar="N,N", help=f"frames, 1 to {LARGEST_BLOCK}")
    p.add_argument("--oversample", metavar="N,N", help="of 1, 2, 4, 8; default: as each preset says")
    p.add_argument("--models", default="preset", metavar="M,M", help="of modal, fd, preset (as each preset says)")
    p.add_argument("--no-limit-search", action="store_true", help="do not search for the largest polyphony")
    p.add_argument("--no-parts", action="store_true", help="do not find out where the time goes")


def _add_playing(p: argparse._ArgumentGroup) -> None:
    p.add_argument("--seconds", default="3 s", metavar="T", help="of sound for each number of voices")
    p.add_argument("--sample-rate", default="48000 Hz", metavar="HZ", help="of the sound")
    p.add_argument(
        "--key-range", metavar="LOW:HIGH", help="like C2:C4; default: an octave around the preset's own string"
    )
    p.add_argument("--polyphony", metavar="N", help="strings there are, sounding or not; default: the preset's")
    p.add_argument("--sway", action="store_true", help="move the pitch wheel all the time, which retunes every string")
    p.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a preset key; repeatable")
    p.add_argument("--live", action="store_true", help="in the stream of the sound card instead of as fast as it goes")
    p.add_argument(
        "--device", metavar="NAME", help="with --live: part of its name, or its number; default: the system's"
    )


def _add_results(p: argparse._ArgumentGroup) -> None:
    p.add_argument("--plot", type=Path, metavar="FILE.png", help="draw load over voices, histogram and every block")
    p.add_argument("--json", type=Path, metavar="FILE", help="write all figures, to be compared with later")
    p.add_argument("--blocks", action="store_true", help="with --json: every block's duration as well")
    p.add_argument("--compare", type=Path, metavar="OLD.json", help="tell what is slower than in an earlier --json")
    p.add_argument("--tolerance", default="1.15", metavar="RATIO", help="new / old that --compare lets pass")


@stoppable()
def _run(args: argparse.Namespace) -> int:
    plan = _plan(args)
    tolerance = quantity("--tolerance", args.tolerance, "")
    if not tolerance >= 1.0:
        raise UsageError(f"--tolerance = {args.tolerance}: must be 1 or more, new / old; try 1.15")
    report, figure = (None if path is None else check_target(path, force=True) for path in (args.json, args.plot))
    if figure:
        from engine.study.plot import check

        check(figure)
    earlier = None if args.compare is None else read_report(args.compare)
    if earlier and report == args.compare.resolve():
        raise UsageError(f"--json {named(args.json)}: is what --compare reads; choose another name")
    if earlier and not set(plan.points()) & set(earlier.points):
        raise UsageError(f"--compare {earlier.name}: has none of these points; measure the same ones")
    recorder = _live(args) if args.live else record_blocks
    return _measure(args, plan, recorder, report, figure, earlier, tolerance)


def _measure(
    args: argparse.Namespace,
    plan: SweepPlan,
    recorder: Recorder,
    report: Path | None,
    figure: Path | None,
    earlier: Earlier | None,
    tolerance: float,
) -> int:
    """The sweep and all that is made of it; after an interrupt, of what was measured until then."""
    found = computer()
    noise = disturbance()
    results, listener = Results(), _Screen(plan.setup.sample_rate)
    print(computer_line(found), flush=True)
    for text in [*disturbance_notes(noise), *_shortness(plan)]:
        listener.note(text)
    stopped: BaseException | None = None
    try:
        sweep(plan, results, listener, recorder)
    except (KeyboardInterrupt, SystemExit) as stop:
        stopped = stop
    listener.clear()
    _tell(results)
    conditions = played(plan, args.set, args.live)
    if report:
        facts = {**found, "disturbance": noise}
        content = make_report(plan, results, facts, conditions, blocks=args.blocks, whole=stopped is None)
        write_report(report, content, force=True)
        print(f"wrote {named(args.json)}")
    if figure and results.points and stopped is None:
        from engine.study.plot import plot_loads

        plot_loads(results.points, plan.setup.sample_rate, figure)
        print(f"wrote {named(args.plot)}")
    if stopped is not None:
        raise stopped
    if not results.points:
        raise PresetError("nothing could be measured; see the notes")
    if earlier:
        _compare(results, earlier, tolerance, found, conditions)
    return 0


def _shortness(plan: SweepPlan) -> list[str]:
    """A word where there are too few blocks for one in a thousand."""
    needed = ENOUGH * max(plan.blocks) / plan.setup.sample_rate
    if plan.setup.seconds >= needed:
        return []
    return [f"p99.9 of fewer than {ENOUGH} blocks is hardly below their max; --seconds {needed:.1f} gives as many"]


def _tell(results: Results) -> None:
    sections = list(dict.fromkeys(point.section for point in results.points))
    lines = list(summary(sections, results.limits, results.parts))
    if lines:
        print("\n" + "\n".join(lines))
    disturbed = [take.blocks.preempted for take in results.points.values() if take.blocks.preempted]
    if disturbed:
        print(
            f"\nthe system took the core away {sum(disturbed)} times, in {len(disturbed)} of {len(results.points)} "
            "measurements: what stands under max may be its own"
        )


def _compare(
    results: Results, earlier: Earlier, tolerance: float, found: dict[str, Any], conditions: dict[str, Any]
) -> None:
    now = {point: dict(zip(NAMES, take.load.us)) for point, take in results.points.items()}
    ratios = changes(now, earlier)
    print(f"\ntime now / time in {earlier.name}")
    for text in differences(found, conditions, earlier):
        print(f"  {printable(text)}")
    print("\n".join(comparison(ratios, tolerance)))
    missing = len(now) - len(ratios)
    if missing:
        print(f"{missing} of {len(now)} points are not in it")
    slower: list[Change] = [change for change in ratios if change.ratio > tolerance]
    if slower:
        raise SlowerThanBefore(
            f"{len(slower)} of {len(ratios)} points are slower than {tolerance:g} times {earlier.name}, "
            f"{slower[0].point} the most: {slower[0].ratio:.2f} times"
        )


class _Screen(SweepListener):
    """Rows on standard output as they are measured; what is being measured, where somebody watches."""

    def __init__(self, sample_rate: float) -> None:
        self._sample_rate, self._line = sample_rate, Line(sys.stderr)
        self._section: Section | None = None

    def begins(self, what: str) -> None:
        self._line.show(what)

    def clear(self) -> None:
        self._line.clear()

    def measured(self, point: Point, take: BenchTake) -> None:
        self.clear()
        if point.section != self._section:
            self._section = point.section
            print("\n" + "\n".join(heading(point.section, self._sample_rate, take.load.blocks)))
        print(row(point, take), flush=True)

    def note(self, text: str) -> None:
        tell(f"note: {text}")


def _live(args: argparse.Namespace) -> Recorder:
    """The recorder of the live stream."""
    from engine.live.measured import live_blocks

    return _recorder(partial(live_blocks, device=args.device))


def _recorder(live_blocks: Callable[[Instrument, Any, int, int], Any]) -> Recorder:
    """A recorder of what gives rows only: start and duration (ns), frames, and perhaps more."""

    def record(instrument: Instrument, music: Any, block: int, count: int) -> Blocks:
        rows = np.asarray(live_blocks(instrument, music, block, count), np.int64)
        return Blocks(rows, np.zeros(0, np.int64))

    return record


# --- arguments --------------------------------------------------------------------------------------------------------


def _plan(args: argparse.Namespace) -> SweepPlan:
    if not args.presets:
        raise UsageError(f"no preset is named; name one ({', '.join(shipped())}) or a YAML file")
    voices = _numbers("--voices", args.voices, range(1, MOST + 1))
    blocks = _numbers("--block-sizes", args.block_sizes, range(1, LARGEST_BLOCK + 1))
    oversamples = () if args.oversample is None else _numbers("--oversample", args.oversample, (1, 2, 4, 8))
    seconds = _within("--seconds", args.seconds, "s", 0.0, 600.0)
    rate = _within("--sample-rate", args.sample_rate, "Hz", LOWEST_RATE, HIGHEST_RATE)
    polyphony = None if args.polyphony is None else _whole("--polyphony", args.polyphony, range(1, MOST + 1))
    setup = BenchSetup(rate, seconds, key_range(args.key_range), polyphony, args.sway)
    limits, parts = not args.no_limit_search, not args.no_parts
    return SweepPlan(_presets(args), oversamples, blocks, voices, setup, limits, parts)


def _presets(args: argparse.Namespace) -> tuple[tuple[str, Preset], ...]:
    """Every preset with every model; what a preset refuses is told and left out."""
    models = list(dict.fromkeys(word.strip() for word in args.models.split(",")))
    for model in models:
        if model not in MODELS:
            raise UsageError(f"--models = {shown(args.models)}: {shown(model)} is none of {', '.join(MODELS)}")
    found: dict[tuple[str, str], Preset] = {}
    for source in dict.fromkeys(args.presets):
        own, name = load_preset(source, args.set), Path(source).stem
        if any(name == other for other, _ in found):
            raise UsageError(f"two presets are called {shown(name)}, which the report could not tell apart; rename one")
        for model in models:
            try:
                preset = own if model == "preset" else load_preset(source, [*args.set, f"model={model}"])
            except PresetError as error:
                tell(f"note: {name}, {model}: left out, {error}")
                continue
            found.setdefault((name, preset.model), preset)
    return tuple((name, preset) for (name, _), preset in found.items())


def _numbers(name: str, text: str, allowed: Sequence[int]) -> tuple[int, ...]:
    """Whole numbers between commas, each once, from the lowest up."""
    return tuple(sorted({_whole(name, word, allowed) for word in text.split(",")}))


def _whole(name: str, text: str, allowed: Sequence[int]) -> int:
    number = int(text) if text.strip().isdecimal() and len(text) < 10 else -1
    if number not in allowed:
        limits = f"{allowed[0]} to {allowed[-1]}" if isinstance(allowed, range) else ", ".join(map(str, allowed))
        raise UsageError(f"{name} = {shown(text)}: must be a whole number, {limits}")
    return number


def _within(name: str, text: str, unit: str, low: float, high: float = inf) -> float:
    value = quantity(name, text, unit)
    if not (low <= value <= high and value > 0.0):
        limits = f"{low:g} to {high:g}" if low else f"above 0, at most {high:g}"
        raise UsageError(f"{name} = {shown(text)}: must be {limits} {unit}")
    return value
