"""Paper 002, section 3: a stiff string against a point barrier and a bent one; iterative, finite-difference, modal.

What the paper leaves open is chosen here and written into every JSON: the force acts at 0.4 L; E7: the point barrier
lies 0.1 mm below the string (b = -1e-4 m, as in Fig. 8, not +1e-4); E8: 6.3 g/m, a tenth of what is printed, is the
density that goes with a radius of 0.5 mm; E9: the point barrier's K is lumped, N/m^1.4, so that no result depends on
the grid. Modes have exact poles here;
the paper's own modal scheme is in paper_002_modal.py.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from engine.errors import PhysicsWarning
from engine.physics import contact, finite_difference, modal
from engine.physics.barrier import Barrier, Obstacles, Polynomial
from engine.physics.excitation import Excitation, pulse
from engine.physics.grid import Grid, grid
from engine.physics.problem import Contact, Pickup, Problem
from engine.physics.record import Run
from engine.physics.reference import iterative
from engine.physics.reference.plain_grid import plain_grid
from engine.physics.string import Array, Loss, String
from reproduction.registry import Outcome, Page, figure

AUDIO = 44_100.0
RADIUS = 5e-4
STRING = String(1.0, 6.3e-3, 500.0, 2e11 * np.pi * RADIUS**4 / 4.0, Loss())
PLUCK = Excitation(0.4, 10.0, 1e-3)
POINT = Problem(STRING, Obstacles((0.5,), (-1e-4,)), Contact(5e6, 1.4), PLUCK, (Pickup(0.9), Pickup(0.5)))
BENT = replace(POINT, barrier=Barrier(Polynomial((-1e-4, -1e-4, -1e-3)), 0.0, 1.0))
CHOICES = {
    "force_position": "0.4 L (not given in the paper)",
    "E7": "barrier at -1e-4 m",
    "E8": "density 6.3e-3 kg/m",
    "E9": "point stiffness 5e6 N/m^1.4, lumped",
}

# The paper's colours. `rule` is the gradient of the non-iterative schemes: the paper's own, or the engine's.
LOOKS: dict[str, dict[str, Any]] = {
    "iterative": {"color": "tab:red", "linewidth": 2.4, "alpha": 0.8, "label": "iterative"},
    "fd": {"color": "tab:blue", "linewidth": 1.3, "label": "finite differences"},
    "modal": {"color": "tab:green", "linewidth": 1.1, "linestyle": (0, (4, 2)), "label": "modal"},
}
CONVERGED = {"color": "black", "linewidth": 4.0, "alpha": 0.2, "label": "converged (modes, x32)"}
RULES = {"plain": contact.PLAIN, "ours": contact.SHIPPED}
ROWS = {"plain": "the paper's gradient", "ours": "this engine's rule"}
NOWHERE = np.zeros(0, np.int64)


class Experiment(NamedTuple):
    """Runs of the three schemes: the paper's gradient on its grid, this engine's rule on its own; one iterative run."""

    rate: float
    runs: dict[str, dict[str, Run]]


def experiment(problem: Problem, rate: float, seconds: float, times: Array | None = None) -> Experiment:
    """All schemes, with snapshots at `times` (s)."""
    force = pulse(problem.excitation, rate, round(seconds * rate))
    at = NOWHERE if times is None else np.rint(times * rate).astype(np.int64)
    grids = {"plain": plain_grid(problem.string, rate), "ours": grid(problem.string, rate)}
    reference = iterative.run(problem, rate, force, at=at, on=grids["plain"])
    runs: dict[str, dict[str, Run]] = {}
    for name, rule in RULES.items():
        fd = finite_difference.run(finite_difference.design(problem, rate, rule=rule, on=grids[name]), force, at=at)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PhysicsWarning)  # as many points as nodes: the sweep does not mind
            on_modes = at_nodes(problem, grids[name])
            modes = modal.run(modal.design(on_modes, rate, rule=rule), force, at=at)
        runs[name] = {"iterative": reference, "fd": fd, "modal": modes}
    return Experiment(rate, runs)


def at_nodes(problem: Problem, over: Grid) -> Problem:
    """The modal scheme's barrier: point obstacles where the grid has its nodes (caption of Fig. 8)."""
    if not isinstance(problem.barrier, Barrier):
        return problem
    points = problem.grid_points(over.intervals)
    obstacles = Obstacles(tuple(points.position), tuple(points.height))
    return replace(problem, barrier=obstacles, contact=replace(problem.contact, stiffness=float(points.stiffness[0])))


def each(e: Experiment, measure: Callable[[Run], float]) -> dict[str, float]:
    """A measure of every distinct run."""
    values = {"iterative": measure(e.runs["plain"]["iterative"])}
    for rule, runs in e.runs.items():
        values |= {f"{scheme} {rule}": measure(runs[scheme]) for scheme in ("fd", "modal")}
    return values


def row(values: dict[str, float], form: str, factor: float = 1.0) -> str:
    """Values as they are quoted."""
    said = {name: form.format(factor * value) for name, value in values.items()}
    pairs = [f"{rule} {said[f'fd {rule}']} FD, {said[f'modal {rule}']} modal" for rule in RULES]
    return f"iterative {said['iterative']}; " + "; ".join(pairs)


def total(run: Run) -> Array:
    log = run.log
    return np.asarray(log.kinetic + log.potential + log.contact, np.float64)


def after_forcing(run: Run) -> slice:
    return slice(int((PLUCK.onset + PLUCK.duration) * run.rate) + 2, None)


def drift(run: Run) -> float:
    """Largest departure of the whole energy once the force has gone."""
    energy = total(run)[after_forcing(run)]
    return float(np.abs(energy / energy[0] - 1.0).max())


def stuck(run: Run) -> float:
    """Most contact energy, as a part of the whole, while the string's middle is clear of a point barrier."""
    middle = run.log.out[:, 1]
    clear = np.minimum(middle, np.append(run.start[1], middle[:-1])) > -0.9e-4  # at both ends of a step
    return float((run.log.contact[clear] / total(run)[-1]).max())


def measures(e: Experiment) -> dict[str, Any]:
    numbers = {"rate": e.rate, "choices": CHOICES, "energy_drift": each(e, drift)}
    numbers["lowest_force_N"] = each(e, lambda run: float(run.log.force.min()))
    numbers["total_energy_J"] = each(e, lambda run: float(total(run)[-1]))
    return numbers


def converged(problem: Problem, seconds: float, factor: int = 16) -> Array:
    """The first pickup of the iterative scheme at a much higher rate, at the audio rate's instants."""
    force = pulse(problem.excitation, factor * AUDIO, round(seconds * AUDIO) * factor)
    out = iterative.run(problem, factor * AUDIO, force, at=NOWHERE).log.out[:, 0]
    return np.asarray(out[factor - 1 :: factor], np.float64)


def settled(problem: Problem, seconds: float, factor: int = 32) -> Array:
    """The same of the engine's modes against a point barrier, whose own distance from half that rate is 0.04 %."""
    rate = factor * AUDIO
    force = pulse(problem.excitation, rate, round(seconds * AUDIO) * factor)
    out = modal.run(modal.design(problem, rate), force, at=NOWHERE).log.out[:, 0]
    return np.asarray(out[factor - 1 :: factor], np.float64)


def error(run: Run, reference: Array) -> float:
    """rms distance of the first pickup from the converged one, relative to its rms."""
    every = round(run.rate / AUDIO)
    out = run.log.out[every - 1 :: every, 0]
    known = reference[: out.size]
    return float(np.sqrt(np.mean((out - known) ** 2) / np.mean(known**2)))


def snapshots(page: Page, e: Experiment, times: Array, barrier: Callable[[Any], None]) -> None:
    """Rows: the rules; columns: times; three schemes in each panel."""
    fig, axes = page.subplots(2, times.size, size=(2.6 * times.size, 5.4), sharex=True, sharey=True)
    for axis_row, (rule, runs) in zip(axes, e.runs.items(), strict=True):
        for i, ax in enumerate(axis_row):
            for scheme, run in runs.items():
                ax.plot(run.x, 1e3 * run.snapshots[i], **LOOKS[scheme])
            barrier(ax)
            ax.set_title(f"{1e3 * times[i]:.2f} ms")
        axis_row[0].set_ylabel(f"{ROWS[rule]}\nu (mm)")
    for ax in axes[-1]:
        ax.set_xlabel("x (m)")
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)


def energies(page: Page, e: Experiment) -> None:
    """Kinetic, contact, potential and whole energy; the contact's on a logarithmic scale, where what is stuck shows."""
    fig, axes = page.subplots(2, 4, size=(11.5, 5.4), sharex=True, sharey="col")
    names = ("kinetic $H_k$", "contact $H_c$", "potential $H_p$", "whole $H$")
    for axis_row, (rule, runs) in zip(axes, e.runs.items(), strict=True):
        for scheme, run in runs.items():
            t = 1e3 * (np.arange(total(run).size) + 0.5) / e.rate
            shown = (run.log.kinetic, run.log.contact, run.log.potential, total(run))
            for ax, value in zip(axis_row, shown, strict=True):
                ax.plot(t, 1e3 * value, **LOOKS[scheme])
        axis_row[1].set_yscale("log")
        axis_row[1].set_ylim(1e-5, 5.0)
        axis_row[0].set_ylabel(f"{ROWS[rule]}\nenergy (mJ)")
    for ax, name in zip(axes[0], names, strict=True):
        ax.set_title(name)
    for ax in axes[1]:
        ax.set_xlabel("time (ms)")
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)


def point_barrier(ax: Any) -> None:
    ax.plot([0.5], [-0.1], marker="^", color="black", markersize=5, zorder=3)


def bent_barrier(ax: Any) -> None:
    x = np.linspace(0.0, 1.0, 50)
    height = 1e3 * BENT.barrier.profile(x)  # type: ignore[union-attr]
    ax.fill_between(x, height, -2.0, color="0.85", zorder=0)
    ax.plot(x, height, color="0.5", linewidth=0.7)
    ax.set_ylim(-1.9, 1.5)


@figure(
    "002.4",
    "Snapshots of a string against a point barrier (44.1 kHz)",
    shows="before, during and after contact the three schemes are consistent, with some differences",
)
def point_snapshots(page: Page) -> Outcome:
    times = np.array([0.8, 3.5, 4.4, 5.2, 10.9, 18.2]) * 1e-3
    e = experiment(POINT, AUDIO, 0.02, times)
    snapshots(page, e, times, point_barrier)
    x = np.linspace(0.0, 1.0, 400)

    def apart(run: Run) -> float:
        reference = e.runs["plain"]["iterative"]
        shapes = [np.array([np.interp(x, r.x, u) for u in r.snapshots]) for r in (run, reference)]
        return float(np.abs(shapes[0] - shapes[1]).max() / np.abs(shapes[1]).max())

    distances = each(e, apart)
    numbers = measures(e) | {"times_s": times, "largest_distance_from_iterative": distances}
    got = f"largest distance from the iterative scheme in % of the amplitude: {row(distances, '{:.1f}', 100)}"
    return got, numbers


def point_energies(page: Page, rate: float) -> Outcome:
    e = experiment(POINT, rate, 0.02)
    energies(page, e)
    left, pull, drifts = each(e, stuck), each(e, lambda run: -float(run.log.force.min())), each(e, drift)
    numbers = measures(e) | {"stuck_energy": left}
    got = f"% of the energy still in the contact when the string is clear: {row(left, '{:z.3f}', 100)}. "
    got += f"Strongest pull in N: {row(pull, '{:z.1f}')}. The whole is constant to {max(drifts.values()):.0e}"
    return got, numbers


@figure(
    "002.5",
    "Energies of the string against a point barrier (44.1 kHz)",
    shows="non-iterative schemes turn excess kinetic into contact energy, finite differences more than modal; the "
    "whole is constant once the force has gone, and the same for all",
)
def point_energies_audio(page: Page) -> Outcome:
    return point_energies(page, AUDIO)


@figure(
    "002.6",
    "The same energies at five times the rate (220.5 kHz)",
    shows="with the rate raised the energy components are much more consistent",
)
def point_energies_oversampled(page: Page) -> Outcome:
    return point_energies(page, 5.0 * AUDIO)


@figure(
    "002.7",
    "Output at 0.9 L, at 44.1 kHz and five times that",
    shows="at five times the rate the outputs have converged; the iterative scheme converges faster",
)
def outputs(page: Page) -> Outcome:
    seconds = 0.02
    reference = settled(POINT, seconds)
    fig, axes = page.subplots(2, 2, size=(11.0, 5.6), sharex=True, sharey=True)
    numbers: dict[str, Any] = {"choices": CHOICES}
    for column, rate in enumerate((AUDIO, 5.0 * AUDIO)):
        e = experiment(POINT, rate, seconds)
        for ax, (rule, runs) in zip(axes[:, column], e.runs.items(), strict=True):
            ax.plot(1e3 * (np.arange(reference.size) + 1.0) / AUDIO, 1e3 * reference, **CONVERGED)
            for scheme, run in runs.items():
                t = 1e3 * (np.arange(len(run.log.out)) + 1.0) / rate
                ax.plot(t, 1e3 * run.log.out[:, 0], **LOOKS[scheme])
            ax.set_title(f"({'ab'[column]}) {rate / 1e3:g} kHz, {ROWS[rule]}")
        numbers[f"error_at_{rate:g}_Hz"] = each(e, lambda run: error(run, reference))
        force = pulse(PLUCK, rate, round(seconds * rate))
        own = {"iterative": iterative.run(POINT, rate, force, at=NOWHERE)}
        own["plain"] = finite_difference.run(
            finite_difference.design(POINT, rate, rule=contact.PLAIN), force, at=NOWHERE
        )
        numbers[f"on_this_engines_grid_at_{rate:g}_Hz"] = {name: error(run, reference) for name, run in own.items()}
    for ax in axes[:, 0]:
        ax.set_ylabel("u(0.9 L) (mm)")
    for ax in axes[-1]:
        ax.set_xlabel("time (ms)")
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    audio, five = (numbers[f"error_at_{rate:g}_Hz"] for rate in (AUDIO, 5.0 * AUDIO))
    numbers["times_less_at_x5"] = gain = {name: audio[name] / five[name] for name in audio}
    got = f"rms error in % against modes at x32: at 44.1 kHz {row(audio, '{:.1f}', 100)}; "
    got += f"at 220.5 kHz {row(five, '{:.2f}', 100)}: {gain['iterative']:.1f} times less for the iterative scheme, "
    return got + f"{gain['fd plain']:.1f} for the non-iterative one on the same grid", numbers


@figure(
    "002.8",
    "Snapshots of a string against a bent distributed barrier (220.5 kHz)",
    shows="the three schemes give consistent solutions after multiple collisions",
)
def bent_snapshots(page: Page) -> Outcome:
    times, seconds = np.array([0.8, 2.4, 4.0, 5.6, 8.0, 14.0]) * 1e-3, 0.015
    e = experiment(BENT, 5.0 * AUDIO, seconds, times)
    snapshots(page, e, times, bent_barrier)
    reference = converged(BENT, seconds)
    errors = each(e, lambda run: error(run, reference))
    numbers = measures(e) | {"times_s": times, "error_at_0.9_L": errors}
    touched = e.runs["ours"]["fd"].log.force > 0.0
    numbers["nodes"], numbers["most_nodes_in_contact"] = touched.shape[1], touched.sum(axis=1).max()
    numbers["nodes_ever_in_contact"] = touched.any(axis=0).sum()
    got = f"rms error in % at 0.9 L over {1e3 * seconds:g} ms against the iterative scheme at x16: "
    return got + row(errors, "{:.2f}", 100), numbers
