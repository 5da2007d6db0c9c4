"""Research runs: any scheme on any preset, with every energy, force and shape; no sound-card words here."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from engine.errors import PhysicsWarning, SettingError
from engine.files.target import publish
from engine.machine_code import tell_if_cold
from engine.physics import contact, finite_difference, modal, two_point
from engine.physics.barrier import Barrier, Obstacles, enough
from engine.physics.designing import BAND
from engine.physics.excitation import pulse
from engine.physics.grid import grid
from engine.physics.hearing import heard
from engine.physics.problem import Problem
from engine.physics.record import MOST_AT_ONCE, Run
from engine.physics.reference import cholesky, iterative, newton_modal
from engine.physics.string import Array
from engine.preset.arguments import Quantity, si, whole, within
from engine.preset.complaints import shown
from engine.preset.loader import Preset, load_preset
from engine.study.ensemble import ensemble
from engine.study.played import LOUD, WantedNote, difference, key_of, nearest_key, played, struck, usual
from engine.study.together import SCHEME, EnsembleOrder, EnsembleSimulation, perform_ensemble
from engine.synth.budget import metered_time, piece
from engine.synth.keys import Design

Shape = Callable[[Array], Array]
MOST_STEPS = 50_000_000
CLOSE = 0.85  # of what modes tell apart: points that are as one
SPARSE = 2  # times as few points as would do
STREAMED = ("fd", "modal", "modal-best", "fd-plain", "modal-plain")  # schemes that can hand on a run piece by piece


def _metered(d: Design, force: Array, best: bool = False, **how: Any) -> Run:
    model: Any = two_point if best else modal if isinstance(d, modal.Design) else finite_difference
    tell_if_cold(f"{model.__name__.rpartition('.')[2]}.observe")
    run: Run = model.run(d, force, most=min(MOST_AT_ONCE, piece(metered_time(d, best=best))), **how)
    return run


def _fd(rule: int) -> Callable[..., Run]:
    def run(problem: Problem, rate: float, force: Array, *, dtype: Any, band: float, **how: Any) -> Run:
        if band < np.inf:
            raise SettingError("band", band, "finite differences have no modes to leave out", "use a modal scheme")
        return _metered(finite_difference.design(problem, rate, dtype=dtype, rule=rule), force, **how)

    return run


def _modal(rule: int) -> Callable[..., Run]:
    def run(problem: Problem, rate: float, force: Array, *, dtype: Any, band: float, **how: Any) -> Run:
        d = modal.design(problem, rate, band=band, dtype=dtype, rule=rule)
        warn_of_points(d)
        return _metered(d, force, **how)

    return run


def _best(problem: Problem, rate: float, force: Array, *, dtype: Any, band: float, **how: Any) -> Run:
    d = modal.design(problem, rate, band=band, dtype=dtype)
    warn_of_points(d)
    return _metered(d, force, best=True, **how)


def _reference(scheme: Callable[..., Run]) -> Callable[..., Run]:
    def run(problem: Problem, rate: float, force: Array, *, dtype: Any, **how: Any) -> Run:
        if dtype is not np.float64:
            raise SettingError(
                "precision", np.dtype(dtype).name, "the reference schemes run in float64", "leave it out"
            )
        return scheme(problem, rate, force, **how)

    return run


def _cholesky(problem: Problem, rate: float, force: Array, *, band: float, **how: Any) -> Run:
    warn_of_points(modal.design(problem, rate, band=band))
    return _reference(cholesky.run)(problem, rate, force, band=band, **how)


SCHEMES: dict[str, tuple[Callable[..., Run], str]] = {
    "fd": (_fd(contact.SHIPPED), "explicit finite differences, the engine's contact rule"),
    "modal": (_modal(contact.SHIPPED), "exact-pole modes, all contact points of a step at once"),
    "modal-best": (_best, "modes, all contact points at once by Newton's method, compiled: quality: best"),
    "fd-plain": (_fd(contact.PLAIN), "finite differences with the plain gradient of paper 002, for comparison"),
    "modal-plain": (_modal(contact.PLAIN), "modes with the plain gradient, for comparison"),
    "fd-iterative": (_reference(iterative.run), "finite differences solved by Newton (paper 002, slow)"),
    "modal-cholesky": (_cholesky, "modes, all contact points solved at once (slow)"),
    "modal-two-point": (_reference(newton_modal.run_two_point), "two-point modal scheme by Newton (paper 004, slow)"),
    "modal-three-point": (
        _reference(newton_modal.run_three_point),
        "three-point modal scheme by Newton (paper 004, slow)",
    ),
}


class Energy(NamedTuple):
    """Energies in J, step by step; total = kinetic + potential + contact; total + lost - work stays constant."""

    kinetic: Array
    potential: Array
    contact: Array
    total: Array
    lost: Array
    work: Array

    def __repr__(self) -> str:
        return f"<Energy: {self.total.size} steps, at most {self.total.max(initial=0.0):.3g} J>"


class Snapshots(NamedTuple):
    """Displacement u[i, j] (m) at the i-th time asked for and x[j] (m)."""

    x: Array
    u: Array

    def __repr__(self) -> str:
        return f"<Snapshots: {len(self.u)} of {self.x.size} points>"


@dataclass(frozen=True)
class Simulation:
    """What a run of `simulate` found. Row n is time[n]; the energies of row n lie between time[n] and time[n + 1]."""

    preset: Preset
    scheme: str
    rate: float
    time: Array
    pickups: Array  # [n, i] in m, m/s or N
    energy: Energy
    contact_force: Array  # [n, points] in N
    contact_position: Array  # [points] in m
    snapshots: Snapshots
    snapshot_time: Array  # s, on the grid of steps
    differs: str = ""  # how an instrument's own string is another

    def __repr__(self) -> str:
        return (
            f"<Simulation of {self.preset.name}: {self.scheme} at {self.rate:g} Hz, {self.time.size} steps, "
            f"pickups {self.pickups.shape[1]}, contact points {self.contact_position.size}, "
            f"snapshots {self.snapshot_time.size}>"
        )

    @property
    def loss_fit_error(self) -> float:
        """How far a grid is from the losses s1 and s3, at worst over the audible band; modes are exact."""
        return grid(self.preset.problem.string, self.rate).loss.worst_error if self.scheme.startswith("fd") else 0.0

    @property
    def energy_drift(self) -> float:
        """Largest departure from the energy balance, relative to the most energy there was."""
        balance = self.energy.total + self.energy.lost - self.energy.work
        most = float(np.abs(self.energy.total).max(initial=0.0))
        return float(np.abs(balance - balance[0]).max()) / most if most > 0.0 else 0.0

    def plot(self, path: str | PathLike[str] | None = None) -> Any:
        """Draw the string over its barrier, the pickups and the energies; returns the matplotlib Figure.

        With a path it is written there, its ending choosing the format; a notebook shows what is returned.
        """
        from engine.study.plot import plot  # late: it is the only use of matplotlib

        return plot(self, path)

    def save(self, path: str | PathLike[str]) -> None:
        """All arrays as a compressed .npz; the file appears whole or not at all."""
        arrays: dict[str, Any] = {f"energy_{name}": value for name, value in self.energy._asdict().items()}
        arrays |= {f"snapshot_{name}": value for name, value in self.snapshots._asdict().items()}
        for name in ("time", "pickups", "contact_force", "contact_position", "snapshot_time"):
            arrays[name] = getattr(self, name)
        arrays |= {"scheme": np.array(self.scheme), "rate": np.array(self.rate), "preset": np.array(self.preset.name)}
        target = Path(path).resolve()
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".jawari-") as folder:
            whole = Path(folder) / "run.npz"
            np.savez_compressed(whole, **arrays)
            publish(whole, target, force=True)


def simulate(
    preset: str | PathLike[str] | Mapping[str, Any] | Preset,
    seconds: Quantity = 0.05,
    sample_rate: Quantity = 48_000.0,
    oversample: int | None = None,
    scheme: str | None = None,
    snapshots: Iterable[Quantity] | Quantity = (),
    initial: Shape | None = None,
    *,
    overrides: Mapping[str, Any] | Sequence[str] | None = None,
    band: Quantity | None = None,
    precision: str = "float64",
    **note: Unpack[WantedNote],
) -> Simulation | EnsembleSimulation:
    """Run a preset's string and its excitation from t = 0, unfiltered, at sample_rate * oversample.

    `initial` gives the displacement over x from which the string is released at rest instead; the preset's force still
    acts (set excitation.force to 0 for none). `band` (Hz) drops modes above it; without it all modes below Nyquist run.
    Times and frequencies are numbers in s and Hz, or text such as "20 ms".

    `key` (a MIDI key or a note's name) takes the string of that key, `velocity` its pluck. An instrument's own note is
    still another: it keeps the modes below 20 kHz, or a grid that can be bent. `as_played=True` gives exactly that,
    before any gain; without it `Simulation.differs` says what is different.

    An instrument of several strings is run as the network that it is: the strings of `key` with all that answers, or,
    without one, all of them as they lie, the first one struck.
    """
    how = (seconds, sample_rate, oversample, scheme, snapshots, initial, overrides, band, precision)
    return perform(make_order(preset, *how, **note))


@dataclass(frozen=True)
class Order:
    """What is to be simulated, checked."""

    preset: Preset
    scheme: str
    rate: float
    steps: int
    snapshots: NDArray[np.int64]  # steps, in the order asked for
    initial: Shape | None
    band: float
    dtype: Any
    design: Design | None = None  # the instrument's own string, if that is to be heard

    def run(self, force: Array, **how: Any) -> Run:
        """Run the scheme; its snapshots come in rising order."""
        run, problem = SCHEMES[self.scheme][0], self.preset.problem
        how |= {"at": np.unique(self.snapshots), "initial": self.initial}
        if self.design is not None:
            return _metered(self.design, force, best=self.preset.quality == "best", **how)
        return run(problem, self.rate, force, band=self.band, dtype=self.dtype, **how)

    @property
    def differs(self) -> str:
        """How an instrument's own string is another; "" if it is this."""
        return "" if self.design else difference(self.preset, self.scheme, self.rate, self.band)


def perform(order: Order | EnsembleOrder) -> Simulation | EnsembleSimulation:
    """Run an order in memory."""
    if isinstance(order, EnsembleOrder):
        return perform_ensemble(order)
    return _simulation(order, order.run(pulse(order.preset.problem.excitation, order.rate, order.steps)))


def warm_up(order: Order | EnsembleOrder) -> None:
    """Compile or load what the order needs, and find out whether it can be run: a single step of it."""
    if isinstance(order, EnsembleOrder):
        perform_ensemble(replace(order, steps=1, snapshots=order.snapshots[:0]))
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PhysicsWarning)  # the run itself will tell
        replace(order, steps=1, snapshots=order.snapshots[:0]).run(np.zeros(1))


def make_order(
    preset: str | PathLike[str] | Mapping[str, Any] | Preset,
    seconds: Quantity,
    sample_rate: Quantity,
    oversample: int | None,
    scheme: str | None,
    snapshots: Iterable[Quantity] | Quantity,
    initial: Shape | None,
    overrides: Mapping[str, Any] | Sequence[str] | None,
    band: Quantity | None,
    precision: str,
    **note: Unpack[WantedNote],
) -> Order | EnsembleOrder:
    """The arguments of `simulate`, checked before anything is computed."""
    if not isinstance(preset, Preset):
        preset = load_preset(preset, overrides)
    elif overrides:
        raise SettingError("overrides", overrides, "apply to a preset's source", "pass them to load_preset")
    if preset.assembly is not None and scheme is None:
        scheme = SCHEME
    name = usual(preset) if scheme is None else scheme
    if (name == SCHEME) != (preset.assembly is not None):
        known = SCHEME if preset.assembly else f"one of {', '.join(SCHEMES)}"
        raise SettingError("scheme", name, f"must be {known}", "leave it out")
    if name not in SCHEMES and name != SCHEME:
        raise SettingError("scheme", name, f"must be one of {', '.join(SCHEMES)}", "choose one")
    if precision not in ("float64", "float32"):
        raise SettingError("precision", precision, "must be float64 or float32", "choose one")
    rate = _rate(sample_rate, preset.oversample if oversample is None else oversample)
    steps = _steps(seconds, rate)
    wanted = _snapshot_steps(snapshots, rate, steps)
    dtype = np.float64 if precision == "float64" else np.float32
    shape = None if initial is None else _checked_shape(initial, preset.problem.string.length)
    limit = np.inf if band is None else si(band, "Hz")
    if not limit > 0.0:
        raise SettingError("band", shown(band), "must be above 0 Hz", "try 20000, or leave it out")
    if name == SCHEME:
        for what, asked in {"initial": shape is not None, "precision": dtype is not np.float64}.items():
            if asked:
                raise SettingError(what, "(given)", "strings on a bridge begin at rest, in float64", "leave it out")
        return _of_ensemble(preset, rate, steps, wanted, limit, **note)
    order = Order(preset, name, rate, steps, wanted, shape, limit, dtype)
    return _of_note(order, **note) if note else order


def _of_note(order: Order, key: int | str | None = None, velocity: int | None = None, as_played: bool = False) -> Order:
    """The same of a note; as an instrument plays it, if the rest of the order can be that."""
    preset, number = order.preset, None if key is None else key_of(key)
    loud = LOUD if velocity is None else whole("velocity", velocity, 1, 127, f"try {LOUD}")
    if not as_played:
        return replace(order, preset=struck(preset, number, loud, order.rate))
    own = {
        "scheme": order.scheme == usual(preset),
        "band": order.band == np.inf,
        "precision": order.dtype is np.float64,
    }
    for what, same in own.items():
        if not same:
            raise SettingError("as_played", what, "is the instrument's own then", f"leave {what} out")
    if order.initial:
        raise SettingError("as_played", "initial", "an instrument's note begins at rest", "leave the shape out")
    made, design = played(preset, nearest_key(preset) if number is None else number, loud, order.rate)
    return replace(order, preset=made, design=design)


def _of_ensemble(
    preset: Preset,
    rate: float,
    steps: int,
    snapshots: NDArray[np.int64],
    band: float,
    key: int | str | None = None,
    velocity: int | None = None,
    as_played: bool = False,
) -> EnsembleOrder:
    """The same of an instrument of several strings: a key's, or all as they lie."""
    assert preset.assembly is not None
    number = None if key is None else key_of(key)
    loud = LOUD if velocity is None else whole("velocity", velocity, 1, 127, f"try {LOUD}")
    heard = min(BAND, 0.45 * rate)
    if as_played:
        if band < np.inf:
            raise SettingError("as_played", "band", "is the instrument's own then", "leave band out")
        number = nearest_key(preset) if number is None else number
        band = heard
    made = ensemble(preset, preset.assembly, number, loud, rate, as_played)
    differs = "" if band == heard else f"an instrument keeps the modes below {heard:g} Hz"
    return EnsembleOrder(preset, made, rate, steps, snapshots, band, differs, as_played)


def warn_of_points(d: modal.Design) -> None:
    """Tell where contact points are closer than the modes can tell apart, or so sparse that each is an obstacle."""
    barrier, modes = d.problem.barrier, d.modes.wavenumber.size
    least, count = d.problem.string.apart(modes), d.points.position.size
    gap = float(np.diff(d.points.position).min(initial=inf))
    close = f"contact points {gap * 1e3:.3g} mm apart, but {modes} modes tell apart only {least * 1e3:.3g} mm"
    if isinstance(barrier, Obstacles) and gap < CLOSE * least:
        needed = d.problem.string.length / gap
        warnings.warn(f"{close}: they are as one; {needed:.0f} modes would do", PhysicsWarning, stacklevel=2)
    if not isinstance(barrier, Barrier) or barrier.points is None:
        return
    wanted, auto = enough(barrier, least), "(barrier.points: auto)"
    if gap < CLOSE * least and count > wanted:
        warnings.warn(f"{close}: {wanted} would do {auto}", PhysicsWarning, stacklevel=2)
    elif SPARSE * count < wanted:
        width = (barrier.stop - barrier.start) / count
        sparse = f"contact points {width * 1e3:.3g} mm apart are obstacles of their own to {modes} modes, which "
        sparse += f"tell apart {least * 1e3:.3g} mm: the string falls in between, {wanted} would be one barrier {auto}"
        warnings.warn(sparse, PhysicsWarning, stacklevel=2)


def _rate(sample_rate: Quantity, oversample: int) -> float:
    rate = within("sample rate", sample_rate, 1_000.0, 10_000_000.0, "Hz", "try 48000")
    return rate * whole("oversample", oversample, 1, 256, "try 1, 2, 4 or 8")


def _steps(seconds: Quantity, rate: float) -> int:
    duration = si(seconds, "s")
    if not duration > 0.0:
        raise SettingError("seconds", shown(seconds), "must be above 0", "give a duration such as 50 ms")
    steps = max(1.0, np.rint(duration * rate))
    if steps > MOST_STEPS:
        raise SettingError(
            "seconds", shown(seconds), f"{steps:.0f} steps, the limit is {MOST_STEPS}", "shorten it or lower the rate"
        )
    return int(steps)


def _snapshot_steps(times: Iterable[Quantity] | Quantity, rate: float, steps: int) -> NDArray[np.int64]:
    given = [times] if isinstance(times, str | float | int) else list(times)
    wanted = np.array([si(t, "s") for t in given])
    for t, found in zip(given, wanted, strict=True):
        if not 0.0 <= found * rate <= steps - 0.5:
            raise SettingError(
                "snapshots", shown(t), f"outside the run, 0 to {(steps - 1) / rate:g} s", "lengthen the run"
            )
    return np.rint(wanted * rate).astype(np.int64)


def _checked_shape(initial: Shape, length: float) -> Shape:
    """`initial` made to take and give arrays, and refused where it is not finite."""

    def shape(x: Array) -> Array:
        try:
            u = np.broadcast_to(np.asarray(initial(x), float), x.shape)
        except (TypeError, ValueError):
            u = np.array([float(initial(v)) for v in x])
        if not np.isfinite(u).all():
            where = float(x[~np.isfinite(u)][0])
            raise SettingError("initial", "shape", f"not finite at x = {where:g} m of {length:g} m", "mend it there")
        return u

    return shape


def columns(preset: Preset, run: Run, first: int = 0) -> dict[str, Array]:
    """The steps of a run, or of a piece of it, which begins at step `first`."""
    log = run.log
    total = log.kinetic + log.potential + log.contact
    energy = Energy(log.kinetic, log.potential, log.contact, total, log.lost, log.work)
    return {
        **{f"energy_{name}": value for name, value in energy._asdict().items()},
        "time": np.arange(first, first + total.size) / run.rate,
        "pickups": heard(preset.problem.pickups, run),
        "contact_force": log.force,
    }


def _simulation(order: Order, run: Run) -> Simulation:
    steps, which = columns(order.preset, run), np.searchsorted(run.log.at, order.snapshots)
    return Simulation(
        preset=order.preset,
        scheme=order.scheme,
        rate=run.rate,
        time=steps["time"],
        pickups=steps["pickups"],
        energy=Energy(*(steps[f"energy_{name}"] for name in Energy._fields)),
        contact_force=steps["contact_force"],
        contact_position=run.points.position,
        snapshots=Snapshots(run.x, run.snapshots[which]),
        snapshot_time=order.snapshots / run.rate,
        differs=order.differs,
    )
