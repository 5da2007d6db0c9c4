"""`jawari simulate`: a string for research, with its trajectories, energies and contact forces."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from engine.commands.common import EPILOG, Commands, Help, quantity
from engine.ending import carefree
from engine.errors import SettingError
from engine.files.errors import FileError
from engine.files.target import check_target, named
from engine.interrupts import stoppable
from engine.physics.record import MOST_BYTES
from engine.physics.string import Array
from engine.preset.loader import load_preset
from engine.study.recording import Summary, record, summarise
from engine.study.simulate import SCHEMES, Order, Shape, make_order, perform, warm_up
from engine.study.together import EnsembleOrder

MEMORY = f"""a run of fd or modal is summed up, and written, piece by piece: memory does not grow with it. What
--plot and the slow schemes have to keep is at most {MOST_BYTES >> 20} MiB."""

EXAMPLE = """example:
  jawari simulate sitar-string --seconds '20 ms' --snapshots '1 ms' '2 ms' --set string.length=.6 --plot sitar.png"""


def add(commands: Commands[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    schemes = "\n".join(f"  {name:18} {what}" for name, (_, what) in SCHEMES.items())
    p = commands.add_parser(
        "simulate",
        help="run a string for research: trajectories, energies, contact forces",
        description="Run a preset's string and excitation from t = 0, unfiltered, at SAMPLE_RATE x OVERSAMPLE.",
        epilog=f"{MEMORY}\n\nschemes:\n{schemes}\n\n{EXAMPLE}\n\n{EPILOG}",
        formatter_class=Help,
    )
    p.add_argument("preset", help="a shipped preset's name or a YAML file")
    p.add_argument("--seconds", default="50 ms", metavar="T", help="duration")
    p.add_argument("--sample-rate", type=float, default=48_000.0, metavar="HZ", help="base rate")
    p.add_argument("--oversample", type=int, metavar="N", help="model steps per sample; default: the preset's")
    p.add_argument("--scheme", metavar="NAME", help="see below; default: the preset's model")
    p.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a preset key; repeatable")
    p.add_argument("--snapshots", nargs="+", default=[], metavar="T", help="times at which to keep the string's shape")
    p.add_argument(
        "--release",
        metavar="SHAPE",
        help="release the string at rest from a shape: 'triangle POSITION HEIGHT' (fraction of length: "
        "'triangle 0.5 1 mm') or 'mode N HEIGHT'; no force acts then",
    )
    p.add_argument("--band", metavar="HZ", help="drop modes above this frequency; default: keep all below Nyquist")
    p.add_argument(
        "--key",
        metavar="NOTE",
        help="the strings of a key: a note or a MIDI key; default: the preset's own, and of several strings all as "
        "they lie, the first one struck",
    )
    p.add_argument("--velocity", type=int, metavar="N", help="the pluck of a velocity; default: the preset's own")
    p.add_argument(
        "--as-played",
        action="store_true",
        help="exactly the string that an instrument plays: its modes or its grid, on the key next to the preset's own "
        "string unless --key names one",
    )
    p.add_argument("--precision", default="float64", help="float64 or float32")
    p.add_argument("-o", "--output", type=Path, metavar="FILE.npz", help="write every array, as the run goes on")
    p.add_argument("--plot", type=Path, metavar="FILE.png", help="draw snapshots over the barrier, pickups, energies")
    p.set_defaults(run=_run)


@stoppable()
def _run(args: argparse.Namespace) -> int:
    output, figure = (None if path is None else check_target(path, force=True) for path in (args.output, args.plot))
    if figure:
        from engine.study.plot import check

        check(figure)
    started = time.perf_counter()
    with carefree():
        order = _order(args)
        warm_up(order)
    if figure:
        sim = perform(order)
        summary = summarise(order, sim)
        if output:
            with _writing(args.output):
                sim.save(output)
    else:
        with _writing(args.output):
            summary = record(order, output)
    _print_summary(summary, time.perf_counter() - started)
    if output:
        print(f"wrote {named(args.output)}")
    if figure:
        with _writing(args.plot):
            sim.plot(figure)
        print(f"wrote {named(args.plot)}")
    return 0


@contextmanager
def _writing(path: Path | None) -> Iterator[None]:
    """What the system refuses, as the error of this file."""
    try:
        yield
    except OSError as error:
        where = named(Path(error.filename or path or "a file"))
        raise FileError(f"{where}: {error.strerror or error}; choose another place") from None


def _order(args: argparse.Namespace) -> Order | EnsembleOrder:
    overrides = list(args.set)
    preset = load_preset(args.preset, overrides)
    if args.release and preset.assembly:
        raise SettingError("--release", args.release, "strings on a bridge begin at rest", "leave it out")
    if args.release:
        preset = load_preset(args.preset, [*overrides, "excitation.force=0 N"])
    initial = _shape(args.release, preset.problem.string.length) if args.release else None
    seconds = quantity("--seconds", args.seconds, "s")
    times = [quantity("--snapshots", t, "s") for t in args.snapshots]
    if not times and args.plot:
        times = [seconds * i / 6 for i in range(6)]
    told = {"key": args.key, "velocity": args.velocity, "as_played": args.as_played or None}
    note: Any = {name: value for name, value in told.items() if value is not None}
    band = None if args.band is None else quantity("--band", args.band, "Hz")
    return make_order(
        preset,
        seconds,
        args.sample_rate,
        args.oversample,
        args.scheme,
        times,
        initial,
        overrides=None,
        band=band,
        precision=args.precision,
        **note,
    )


def _print_summary(run: Summary, took: float) -> None:
    preset, order = run.order.preset, run.order
    print(f"{preset.name}: {order.scheme}, {run.steps} steps at {order.rate:g} Hz in {took:.2f} s")
    if isinstance(order, EnsembleOrder):
        print(f"  strings        {', '.join(order.ensemble.names)}")
        for n, peak in enumerate(run.peaks, 1):
            print(f"  {f'heard, {n}':14} peak {peak:.4g}")
    for pickup, peak in () if isinstance(order, EnsembleOrder) else zip(preset.problem.pickups, run.peaks, strict=True):
        print(f"  {pickup.kind:14} at {pickup.at:<6g} peak {peak:.4g}")
    print(f"  energy         at most {run.most_energy:.4g} J, balance kept to {run.drift:.1e}")
    if run.loss_fit_error > 0.0:
        print(f"  losses         s1 and s3 realised within {run.loss_fit_error:.1%} over the audible band")
    if run.points:
        print(f"  contact force  {run.least_force:.4g} to {run.most_force:.4g} N over {run.points} points")
    if order.differs:
        print(f"  as played      {order.differs}; --as-played takes that")


def _shape(text: str, length: float) -> Shape:
    """'triangle 0.5 1 mm' or 'mode 1 2 mm' as a function of x."""
    words = text.split(None, 2)
    remedy = "write 'triangle 0.5 1 mm' or 'mode 1 1 mm'"
    try:
        kind, where, height = words[0], float(words[1]), quantity("--release", words[2], "m")
    except (IndexError, ValueError):
        raise SettingError("--release", text, "not understood", remedy) from None
    if kind == "triangle" and 0.0 < where < 1.0:
        peak = where * length
        return lambda x: height * np.minimum(x / peak, (length - x) / (length - peak))
    if kind == "mode" and where >= 1.0 and where.is_integer():

        def mode(x: Array) -> Array:
            return np.asarray(height * np.sin(where * np.pi * x / length))

        return mode
    raise SettingError("--release", text, "no such shape", remedy)
