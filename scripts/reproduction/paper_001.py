"""Paper 001 (with 000): how long a mass stays at a wall, and how long two schemes say it does."""

from __future__ import annotations

from dataclasses import replace
from math import pi
from typing import Any

import numpy as np

from engine.errors import PhysicsError
from engine.physics.reference import contact_duration as wall
from engine.physics.reference.contact_duration import MassWall
from engine.physics.reference.power_law import PowerLaw
from reproduction.registry import EXACT, ITERATIVE, PLAIN, Outcome, Page, figure

RATE = 50_000.0
TWO, THREE = {"color": PLAIN, "label": "two-point"}, {"color": ITERATIVE, "linestyle": "--", "label": "three-point"}
EXPONENTS, SAMPLES = (1.0, 1.5, 2.3), (4, 8, 16, 32, 64)  # of the order of accuracy
PHASES = (np.arange(24) + 0.5) / 24


def collision(axes: Any, case: MassWall, betas: tuple[float | None, float | None], detail: float) -> dict[str, Any]:
    """Draw one collision as the paper does; `detail` is how far below the wall the picture reaches, µm."""
    enter = -case.start / case.speed
    steps = int((enter + 2.0 * case.duration) * RATE) + 8
    t = np.linspace(0.0, steps / RATE, 2000)
    axes.plot(t * 1e6, wall.exact(case, t) * 1e6, color=EXACT, label="exact")
    numbers: dict[str, Any] = {"k_c": case.stiffness, "exact_us": case.duration * 1e6}
    runs = (("two-point", wall.two_point, betas[0], TWO), ("three-point", wall.three_point, betas[1], THREE))
    for name, scheme, beta, look in runs:
        run = scheme(case, RATE, steps, beta)
        axes.plot(run.time * 1e6, run.displacement * 1e6, marker="o", markersize=3, **look)
        numbers[name] = {
            "duration_us": wall.contact_duration(case, run) * 1e6,
            "samples_inside": wall.samples_inside(run),
            "displacement_um": run.displacement * 1e6,
        }
    axes.axhline(0.0, color="grey", linewidth=0.6)
    axes.set(xlabel="time (µs)", ylabel="displacement (µm)", ylim=(-detail, None))
    margin = detail / case.speed
    axes.set_xlim(enter * 1e6 - margin, (enter + case.duration) * 1e6 + 1.6 * margin)
    axes.legend(loc="upper left")
    return numbers


def times(numbers: dict[str, Any]) -> str:
    """The three durations in a row."""
    shown = (numbers["exact_us"], numbers["two-point"]["duration_us"], numbers["three-point"]["duration_us"])
    return " / ".join(f"{us:.1f}" for us in shown) + " µs"


@figure(
    "001.3",
    "Soft and hard collision of a mass and a wall",
    shows="two-point and three-point schemes stay in contact too long, the three-point scheme longest, the more so the "
    "harder the wall",
)
def displacement(page: Page) -> Outcome:
    _, axes = page.subplots(1, 2)
    numbers = {}
    for ax, name, power in zip(axes, ("soft", "hard"), (9, 10), strict=True):
        numbers[name] = collision(ax, MassWall(stiffness=10.0**power), (None, None), detail=60.0)
        ax.set_title(f"{name}: $k_c = 10^{{{power}}}$ N/m, 50 kHz")
    got = f"contact exact / two-point / three-point: soft {times(numbers['soft'])}, hard {times(numbers['hard'])}"
    return got, numbers


@figure(
    "001.4",
    "Detail of a very hard collision (k_c = 10¹¹ N/m)",
    shows="only the two-point scheme can hold an impact of a single time step; the three-point scheme needs two",
)
def single_step(page: Page) -> Outcome:
    _, ax = page.subplots()
    numbers = collision(ax, MassWall(stiffness=1e11), (None, None), detail=30.0)
    inside = [numbers[name]["samples_inside"] for name in ("two-point", "three-point")]
    fewest = {}
    for name, scheme in (("two-point", wall.two_point), ("three-point", wall.three_point)):
        cases = [MassWall(stiffness=1e15, start=-(2.0 + phase) / RATE) for phase in PHASES]
        fewest[name] = min(wall.samples_inside(scheme(case, RATE, 20)) for case in cases)
    numbers["fewest_samples_inside_any_wall"] = fewest
    got = f"samples in the wall: two-point {inside[0]}, three-point {inside[1]}; fewest for any stiffness and phase: "
    return got + f"{fewest['two-point']} against {fewest['three-point']}", numbers


@figure(
    "001.5",
    "Corrected contact duration (ω_c = 44 700 rad/s)",
    shows="with beta2*, beta3* both schemes leave the wall at the right time",
)
def corrected(page: Page) -> Outcome:
    angular = 44_700.0
    case = MassWall(stiffness=angular**2)
    betas = wall.two_point_beta(angular, RATE), wall.three_point_beta(angular, RATE)
    _, ax = page.subplots()
    numbers = collision(ax, case, betas, detail=30.0)
    ax.set_title(f"$k_c = 2\\cdot 10^9$ N/m, {case.duration * RATE:.2f} samples per contact")
    numbers["relative_error_over_phases"] = errors = {}
    for name, scheme, beta in (("two-point", wall.two_point, betas[0]), ("three-point", wall.three_point, betas[1])):
        for kind, value in (("corrected", beta), ("uncorrected", None)):
            runs = [replace(case, start=-(2.0 + phase) / RATE) for phase in PHASES]
            error = [wall.contact_duration(c, scheme(c, RATE, 40, value)) / case.duration - 1.0 for c in runs]
            errors[f"{name} {kind}"] = {"mean": np.mean(error), "worst": error[int(np.argmax(np.abs(error)))]}
    worst = [100.0 * errors[f"{name} corrected"]["worst"] for name in ("two-point", "three-point")]
    mean = [100.0 * errors[f"{name} uncorrected"]["mean"] for name in ("two-point", "three-point")]
    got = f"duration error, two- and three-point: {worst[0]:+.2f} % and {worst[1]:+.2f} % at the worst moment of entry "
    return got + f"({mean[0]:+.1f} % and {mean[1]:+.1f} % uncorrected)", numbers


def best_duration(points: int, case: MassWall, rate: float) -> np.ndarray:
    """Durations over the moments of entry with the corrected coefficient, or a huge one where that does not exist."""
    star, scheme = (wall.two_point_beta, wall.two_point) if points == 2 else (wall.three_point_beta, wall.three_point)
    try:
        beta = star(case.angular, rate)
    except PhysicsError:
        beta = 1e8
    cases = [replace(case, start=-(2.0 + phase) / rate) for phase in PHASES]
    return np.array([wall.contact_duration(c, scheme(c, rate, 30, beta)) for c in cases])


@figure(
    "001.6",
    "Shortest exact contact against sampling rate, and the error below it",
    shows="the limit is one step for the two-point, two steps for the three-point scheme; below it the three-point "
    "error is much the larger",
)
def shortest(page: Page) -> Outcome:
    case = MassWall(stiffness=1e10)
    rates = np.arange(15e3, 100.1e3, 2.5e3)
    _, (top, bottom) = page.subplots(2, 1, sharex=True)
    top.axhline(case.duration * 1e6, color=EXACT, linestyle="--", label=f"target, {case.duration * 1e6:.1f} µs")
    numbers: dict[str, Any] = {"target_us": case.duration * 1e6, "rate": rates}
    for points, look in ((2, TWO), (3, THREE)):
        least = (points - 1) / rates
        runs = np.array([best_duration(points, case, rate) for rate in rates])
        top.plot(rates / 1e3, least * 1e6, **look)
        bottom.plot(rates / 1e3, np.maximum(least - case.duration, 0.0) * 1e6, **look)
        error = (runs - case.duration) * 1e6
        spread = [error.mean(axis=1) - error.min(axis=1), error.max(axis=1) - error.mean(axis=1)]
        name = f"{look['label']} simulated"
        dots = {"fmt": ".", "color": look["color"], "linewidth": 0.8, "label": f"{name}, all moments of entry"}
        bottom.errorbar(rates / 1e3, error.mean(axis=1), spread, **dots)
        numbers[look["label"]] = {"limit_us": least * 1e6, "lowest_rate": (points - 1) * case.angular / pi}
        numbers[name] = {"mean_error_us": error.mean(axis=1), "worst_error_us": np.abs(error).max(axis=1)}
    top.set(ylabel="shortest exact contact (µs)", ylim=(0, None))
    bottom.set(xlabel="sampling rate (kHz)", ylabel="duration error (µs)")
    top.legend()
    bottom.legend(ncols=2)
    limits = [numbers[name]["lowest_rate"] / 1e3 for name in ("two-point", "three-point")]
    at = int(np.argmin(np.abs(rates - 30e3)))
    errors = [numbers[f"{name} simulated"]["mean_error_us"][at] for name in ("two-point", "three-point")]
    got = f"31.4 µs is exact from {limits[0]:.1f} kHz (two-point) and {limits[1]:.1f} kHz (three-point); at 30 kHz the "
    got += f"mean errors are {errors[0]:.1f} and {errors[1]:.1f} µs (two steps are a bound on samples inside: measured "
    return got + "between the lines of free flight, the three-point contact lasts 1.6 to 2 steps at the limit)", numbers


def duration_errors(points: int, exponent: float) -> np.ndarray:
    """The rms relative error of the duration over the moments of entry, for contacts of SAMPLES steps."""
    scheme, errors = wall.two_point if points == 2 else wall.three_point, []
    for samples in SAMPLES:
        stiffness = (PowerLaw(1.0, exponent).duration(1.0, 1.0) * RATE / samples) ** (exponent + 1.0)
        cases = [MassWall(1.0, stiffness, exponent, -(2.0 + phase) / RATE, 1.0) for phase in PHASES[::2]]
        runs = [wall.contact_duration(case, scheme(case, RATE, int(1.5 * samples) + 12)) for case in cases]
        errors.append(np.array(runs) / cases[0].duration - 1.0)
    return np.sqrt(np.mean(np.square(errors), axis=1))


@figure(
    "001.order",
    "Order of accuracy of the contact's duration",
    shows="second order for α > 1; for α = 1 only first order can be inferred",
)
def order(page: Page) -> Outcome:
    _, axes = page.subplots(1, 2, sharey=True)
    numbers: dict[str, Any] = {"samples": SAMPLES}
    for ax, points in zip(axes, (2, 3), strict=True):
        name = f"{'two' if points == 2 else 'three'}-point"
        found = {exponent: duration_errors(points, exponent) for exponent in EXPONENTS}
        for exponent, error in found.items():
            ax.loglog(SAMPLES, 100.0 * error, marker="o", markersize=4, label=f"α = {exponent:g}")
        ax.loglog(SAMPLES, 300.0 / np.square(SAMPLES), color=EXACT, linestyle=":", label="second order")
        ax.set(title=name, xlabel="samples in contact", xticks=SAMPLES, xticklabels=SAMPLES)
        ax.minorticks_off()
        orders = {f"{exponent:g}": np.log(error[2] / error[-1]) / np.log(4.0) for exponent, error in found.items()}
        numbers[name] = {"rms_error": {f"{e:g}": error for e, error in found.items()}, "order": orders}
    axes[0].set_ylabel("rms error of the duration (%)")
    axes[1].legend()
    said = [f"{name} {', '.join(f'{o:.1f}' for o in numbers[name]['order'].values())}" for name in list(numbers)[1:]]
    return f"orders from 16 to 64 samples, for α = 1, 1.5, 2.3: {'; '.join(said)}", numbers
