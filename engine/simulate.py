"""Research runs: any scheme on any preset, with every energy, force and shape; no sound-card words here."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import PhysicsWarning, SettingError
from engine.machine_code import tell_if_cold
from engine.physics import contact, finite_difference, modal
from engine.physics.excitation import pulse
from engine.physics.grid import grid
from engine.physics.problem import Problem
from engine.physics.record import Run
from engine.physics.reference import cholesky, iterative, newton_modal
from engine.physics.string import Array
from engine.preset.loader import Preset, load_preset
from engine.rendering.target import publish

Shape = Callable[[Array], Array]
MOST_STEPS = 50_000_000


def _fd(rule: int) -> Callable[..., Run]:
    def run(problem: Problem, rate: float, force: Array, *, dtype: Any, band: float, **how: Any) -> Run:
        if band < np.inf:
            raise SettingError("band", band, "finite differences have no modes to leave out", "use a modal scheme")
        d = finite_difference.design(problem, rate, dtype=dtype, rule=rule)
        tell_if_cold("finite_difference.observe")
        return finite_difference.run(d, force, **how)

    return run


def _modal(rule: int) -> Callable[..., Run]:
    def run(problem: Problem, rate: float, force: Array, *, dtype: Any, band: float, **how: Any) -> Run:
        d = modal.design(problem, rate, band=band, dtype=dtype, rule=rule)
        warn_if_indistinct(d)
        tell_if_cold("modal.observe")
        return modal.run(d, force, **how)

    return run


def _reference(scheme: Callable[..., Run]) -> Callable[..., Run]:
    def run(problem: Problem, rate: float, force: Array, *, dtype: Any, **how: Any) -> Run:
        if dtype is not np.float64:
            raise SettingError(
                "precision", np.dtype(dtype).name, "the reference schemes run in float64", "leave it out"
            )
        return scheme(problem, rate, force, **how)

    return run


def _cholesky(problem: Problem, rate: float, force: Array, *, band: float, **how: Any) -> Run:
    warn_if_indistinct(modal.design(problem, rate, band=band))
    return _reference(cholesky.run)(problem, rate, force, band=band, **how)


SCHEMES: dict[str, tuple[Callable[..., Run], str]] = {
    "fd": (_fd(contact.SHIPPED), "explicit finite differences, the engine's contact rule"),
    "modal": (_modal(contact.SHIPPED), "exact-pole modes, alternating sweep over contact points"),
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


class Snapshots(NamedTuple):
    """Displacement u[i, j] (m) at the i-th time asked for and x[j] (m)."""

    x: Array
    u: Array


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
    seconds: float = 0.05,
    sample_rate: float = 48_000.0,
    oversample: int | None = None,
    scheme: str | None = None,
    snapshots: Iterable[float] = (),
    initial: Shape | None = None,
    *,
    overrides: Mapping[str, Any] | Sequence[str] | None = None,
    band: float | None = None,
    precision: str = "float64",
) -> Simulation:
    """Run a preset's string and its excitation from t = 0, unfiltered, at sample_rate * oversample.

    `initial` gives the displacement over x from which the string is released at rest instead; the preset's force still
    acts (set excitation.force to 0 for none). `band` (Hz) drops modes above it; without it all modes below Nyquist run.
    """
    if not isinstance(preset, Preset):
        preset = load_preset(preset, overrides)
    elif overrides:
        raise SettingError("overrides", overrides, "apply to a preset's source", "pass them to load_preset")
    name = preset.model if scheme is None else scheme
    if name not in SCHEMES:
        raise SettingError("scheme", name, f"must be one of {', '.join(SCHEMES)}", "choose one")
    if precision not in ("float64", "float32"):
        raise SettingError("precision", precision, "must be float64 or float32", "choose one")
    rate = _rate(sample_rate, preset.oversample if oversample is None else oversample)
    steps = _steps(seconds, rate)
    wanted = _snapshot_steps(snapshots, rate, steps)
    at, order = np.unique(wanted, return_inverse=True)
    force = pulse(preset.problem.excitation, rate, steps)
    dtype = np.float64 if precision == "float64" else np.float32
    shape = None if initial is None else _checked_shape(initial, preset.problem.string.length)
    limit = np.inf if band is None else float(band)
    if not limit > 0.0:
        raise SettingError("band", limit, "must be above 0 Hz", "try 20000, or leave it out")
    run = SCHEMES[name][0](preset.problem, rate, force, at=at, initial=shape, band=limit, dtype=dtype)
    return _simulation(preset, name, run, order)


def warn_if_indistinct(d: modal.Design) -> None:
    """Contact points closer than about L/(M + 1) are dependent (NUMERICS section 3)."""
    least = d.problem.string.length / (d.modes.wavenumber.size + 1)
    gaps = np.diff(d.points.position)
    if gaps.size and gaps.min() < 0.85 * least:
        warnings.warn(
            f"contact points {gaps.min() * 1e3:.3g} mm apart, but {d.modes.wavenumber.size} modes tell apart only "
            f"{least * 1e3:.3g} mm: well for the sweep, which keeps energy and force exact; schemes that solve for "
            "all points at once need fewer points or more modes",
            PhysicsWarning,
            stacklevel=2,
        )


def _rate(sample_rate: float, oversample: int) -> float:
    if not np.isfinite(sample_rate) or not 1_000.0 <= sample_rate <= 10_000_000.0:
        raise SettingError("sample rate", float(sample_rate), "must be 1000 to 10000000 Hz", "try 48000")
    if not 1 <= oversample <= 256 or oversample != int(oversample):
        raise SettingError("oversample", oversample, "must be a whole number, 1 to 256", "try 1, 2, 4 or 8")
    return float(sample_rate) * int(oversample)


def _steps(seconds: float, rate: float) -> int:
    if not np.isfinite(seconds) or seconds <= 0.0:
        raise SettingError("seconds", float(seconds), "must be above 0", "give a duration such as 50 ms")
    steps = max(1, round(seconds * rate))
    if steps > MOST_STEPS:
        raise SettingError(
            "seconds", float(seconds), f"{steps} steps, the limit is {MOST_STEPS}", "shorten it or lower the rate"
        )
    return steps


def _snapshot_steps(times: Iterable[float], rate: float, steps: int) -> NDArray[np.int64]:
    wanted = np.asarray(list(times), float)
    for t in wanted:
        if not 0.0 <= t * rate <= steps - 0.5:
            raise SettingError(
                "snapshots", float(t), f"outside the run, 0 to {(steps - 1) / rate:g} s", "lengthen the run"
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


def _simulation(preset: Preset, scheme: str, run: Run, order: NDArray[np.int64]) -> Simulation:
    log, rate = run.log, run.rate
    heard = np.concatenate([run.start[None], log.out[:-1]]).astype(np.float64)
    for i, pickup in enumerate(preset.problem.pickups):
        if pickup.kind == "velocity":
            heard[:, i] = np.diff(heard[:, i], prepend=heard[0, i]) * rate
    total = log.kinetic + log.potential + log.contact
    return Simulation(
        preset=preset,
        scheme=scheme,
        rate=rate,
        time=np.arange(len(heard)) / rate,
        pickups=heard,
        energy=Energy(log.kinetic, log.potential, log.contact, total, log.lost, log.work),
        contact_force=log.force,
        contact_position=run.points.position,
        snapshots=Snapshots(run.x, run.snapshots[order]),
        snapshot_time=log.at[order] / rate,
    )
