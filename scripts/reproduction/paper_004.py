"""Paper 004: the modal string with implicit contact, two-point against three-point, over a flat and a bent barrier.

What the paper leaves open is chosen here and written into every JSON: the flat barrier lies 0.5 mm below the string;
the sitar's string is released from a 1 mm triangle at 0.7 L on top of its static equilibrium; E17: its stiffness is
7.95e-5 N m^2 (the exponent's sign is lost in print).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from engine.errors import PhysicsWarning
from engine.physics.barrier import Barrier, Polynomial
from engine.physics.modes import modes, shape
from engine.physics.problem import Contact, Pickup, Problem
from engine.physics.record import Run
from engine.physics.reference.closed_forms import FLAT_PERIOD
from engine.physics.reference.implicit_contact import Tally
from engine.physics.reference.modal_string import at_rest, modal_string
from engine.physics.reference.newton_modal import TwoPoint, run_three_point, run_two_point
from engine.physics.string import Array, Loss, String
from reproduction.registry import ITERATIVE, Outcome, Page, figure

AUDIO = 44_100.0
BAND = 20_000.0
# The order of colours in the captions of Figs. 1 and 3.
COLOURS = ("#00008b", "#d62728", "#e8b500", "#7e2f8e", "#2e8b2e", "#4dbeee", "#8b0000", "black")

HEIGHT = 0.5e-3
IDEAL = String(0.5, 5e-4, 64.0)
PERIOD = 1.0 / IDEAL.pitch

SITAR = Problem(
    String(0.5, 5.55e-4, 50.0, 7.95e-5, Loss(0.6, 6.5e-3, 0.0, 5e-6)),
    Barrier(Polynomial((0.0, 0.25 * 0.03, -0.25)), 0.0, 0.03, 10),
    Contact(1e9),
    pickups=(Pickup(1.0, "bridge_force"),),
)
SCHEMES = {"two-point": run_two_point, "three-point": run_three_point}
CHOICES = {
    "flat_barrier": "0.5 mm below the string, first mode released at 1 mm (neither is given in the paper)",
    "sitar_start": "static equilibrium plus a 1 mm triangle at 0.7 L, at rest (not given in the paper)",
    "E17": "EI = 7.95e-5 N m^2",
}


def flat(rate: float, band: float = np.inf) -> Problem:
    """As many contact points as modes, as in the paper."""
    count = modes(IDEAL, rate, band).wavenumber.size
    return Problem(IDEAL, Barrier(Polynomial((-HEIGHT,)), 0.0, 0.5, count), Contact(1e9), pickups=(Pickup(0.5),))


def first_mode(x: Array) -> Array:
    return np.asarray(2.0 * HEIGHT * np.sin(np.pi * x / 0.5), np.float64)


def release(
    scheme: str, problem: Problem, rate: float, seconds: float, start: Callable[[Array], Array], **options: Any
) -> tuple[Run, Tally]:
    """A run from a shape at rest, and what its solver went through."""
    tally, steps = Tally(), round(seconds * rate)
    times = options.pop("times", np.zeros(0))
    at = np.rint(times * rate).astype(np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PhysicsWarning)  # Fig. 3 has more points than its modes can tell apart
        run = SCHEMES[scheme](problem, rate, np.zeros(steps), at=at, initial=start, tally=tally, **options)
    return run, tally


def drift(run: Run) -> float:
    """Largest error of the energy balance."""
    energy = run.log.kinetic + run.log.potential + run.log.contact
    kept = energy + run.log.lost
    return float(np.abs(kept - kept[0]).max() / energy.max())


def high_part(signal: Array, rate: float, above: float) -> float:
    """The part of a signal's power above a frequency."""
    power = np.abs(np.fft.rfft((signal - signal.mean()) * np.hanning(signal.size))) ** 2
    return float(power[np.fft.rfftfreq(signal.size, 1.0 / rate) > above].sum() / power.sum())


def snapshots(ax: Any, run: Run, times: Array, scale: float = 1e3) -> None:
    for u, t, colour in zip(run.snapshots, times, COLOURS, strict=True):
        ax.plot(1e3 * run.x, scale * u, color=colour, label=f"{1e3 * t:.3f} ms")


@figure(
    "004.1",
    "An ideal string collides with a flat barrier (two-point, 44.1 kHz)",
    shows="snapshots over 1.1 ms; the string flattens on the barrier and is compressed by micrometres",
)
def flat_snapshots(page: Page) -> Outcome:
    times = np.array([0.0, 0.272, 0.408, 0.544, 0.680, 0.816, 0.952, 1.088]) * 1e-3
    problem = flat(AUDIO)
    run, tally = release("two-point", problem, AUDIO, 1.2e-3, first_mode, times=times)
    drawing, (whole, zoom) = page.subplots(1, 2, size=(11.0, 4.0))
    snapshots(whole, run, times)
    whole.axhspan(-1.1, -1e3 * HEIGHT, color="0.85", zorder=0)
    whole.set(xlabel="x (mm)", ylabel="y (mm)", ylim=(-0.62, 1.05), xlim=(0, 500))
    b = modal_string(problem, AUDIO).modes.wavenumber
    fine = np.linspace(0.0, 0.5, 4001)
    six = run.log.shapes[6]  # the modes at 0.952 ms
    zoom.plot(1e3 * fine, 1e6 * (shape(b, fine) @ six + HEIGHT), color=COLOURS[6])
    zoom.plot(1e3 * run.points.position, 1e6 * (shape(b, run.points.position) @ six + HEIGHT), "k.", markersize=5)
    zoom.axhspan(-20.0, 0.0, color="0.85", zorder=0)
    zoom.set(xlabel="x (mm)", ylabel="height over the barrier (\u00b5m)", ylim=(-4.0, 8.0), xlim=(150, 350))
    zoom.set_title("0.952 ms; dots: contact points")
    drawing.legend(*whole.get_legend_handles_labels(), loc="outside lower center", ncols=8)
    depth = -1e6 * min(float((shape(b, run.points.position) @ six).min()) + HEIGHT, 0.0)
    deepest = 1e6 * float((run.log.force / run.points.stiffness).max())
    numbers = {"choices": CHOICES, "times_s": times, "points": run.points.height.size, "modes": b.size}
    numbers |= {"compression_at_0.952_ms_um": depth, "largest_force_over_stiffness_um": deepest}
    numbers |= {"energy_drift": drift(run), "most_newton_iterations": tally.most}
    got = f"compression {depth:.2f} \u00b5m at 0.952 ms with {b.size} modes and points; energy constant to "
    return got + f"{drift(run):.0e}, at most {tally.most} Newton iterations", numbers


@figure(
    "004.2",
    "Displacement of the middle over a flat barrier (44.1 kHz)",
    shows="period 1.5 times the free one, slightly longer for a barrier not quite rigid; the three-point scheme shows "
    "growing high-frequency oscillation, cured by keeping modes below 20 kHz",
)
def flat_periods(page: Page) -> Outcome:
    seconds = 6.0 * PERIOD
    cases = {"two-point": ("two-point", np.inf), "three-point": ("three-point", np.inf)}
    cases["three-point below 20 kHz"] = ("three-point", BAND)
    runs, tallies = {}, {}
    for name, (scheme, band) in cases.items():
        page.say(name)
        runs[name], tallies[name] = release(scheme, flat(AUDIO, band), AUDIO, seconds, first_mode, band=band)
    _, axes = page.subplots(2, 1, size=(9.5, 5.6), sharex=True, sharey=True)
    t = (np.arange(round(seconds * AUDIO)) + 1.0) / AUDIO
    for ax, scheme in zip(axes, ("two-point", "three-point"), strict=True):
        ax.plot(1e3 * t, 1e3 * runs[scheme].log.out[:, 0], color=ITERATIVE, label=scheme)
        ax.plot(1e3 * t, 2e3 * HEIGHT * np.cos(2.0 * np.pi * t / PERIOD), "b--", linewidth=0.8, label="free string")
        ax.axhspan(-1.2, -1e3 * HEIGHT, color="0.85", zorder=0)
        ax.set(ylabel="y(L/2) (mm)", ylim=(-1.1, 1.6), title=f"{scheme} scheme")
    cured = runs["three-point below 20 kHz"].log.out[:, 0]
    axes[1].plot(1e3 * t, 1e3 * cured, "k--", linewidth=0.9, label="modes below 20 kHz")
    axes[1].set_xlabel("time (ms)")
    for ax in axes:
        ax.legend(loc="upper right", ncols=3)
    high = {name: high_part(run.log.out[:, 0], AUDIO, BAND) for name, run in runs.items()}
    late = {name: first_return(run) for name, run in runs.items()}
    numbers = {"choices": CHOICES, "power_above_20_kHz": high, "first_return_in_periods": late}
    numbers |= {"rigid": FLAT_PERIOD, "energy_drift": {name: drift(run) for name, run in runs.items()}}
    numbers["most_newton_iterations"] = {name: tally.most for name, tally in tallies.items()}
    numbers["two_point_return_as_rate_and_stiffness_rise"] = returns = rigid_limit()
    got = f"first return after {late['two-point']:.4f} T, tending to 1.5 as rate and stiffness rise "
    got += (
        f"({', '.join(f'{r:.4f}' for r in returns.values())}); power above 20 kHz: two-point {high['two-point']:.0e}, "
    )
    got += f"three-point {high['three-point']:.0e}, below 20 kHz {high['three-point below 20 kHz']:.0e}"
    return got, numbers


def first_return(run: Run) -> float:
    """When the middle is back at its top, in free periods: halfway between the crossings of half its amplitude."""
    t = (np.arange(len(run.log.out)) + 1.0) / run.rate / PERIOD
    u = run.log.out[:, 0] - HEIGHT
    crossing = np.flatnonzero((u[:-1] < 0.0) != (u[1:] < 0.0))
    crossing = crossing[t[crossing] > 1.0][:2]
    return float(np.mean(t[crossing] + u[crossing] / (u[crossing] - u[crossing + 1]) * (t[1] - t[0])))


def rigid_limit() -> dict[str, float]:
    """First return of the two-point scheme while the rate doubles and the stiffness rises tenfold."""
    found = {}
    for factor, stiffness in ((1, 1e7), (2, 1e8), (4, 1e9)):
        rate = factor * AUDIO
        problem = Problem(IDEAL, flat(rate).barrier, Contact(stiffness), pickups=(Pickup(0.5),))
        run, _ = release("two-point", problem, rate, 1.8 * PERIOD, first_mode)
        found[f"{stiffness:.0e} N/m^2 at {rate / 1e3:g} kHz"] = first_return(run)
    return found


def plucked(problem: Problem, rate: float) -> Callable[[Array], Array]:
    """The static equilibrium over the barrier, pulled up 1 mm at 0.7 L."""
    s = modal_string(problem, rate, BAND)
    y = at_rest(s, TwoPoint(s).spring)
    apex, length = 0.7 * problem.string.length, problem.string.length

    def start(x: Array) -> Array:
        triangle = 1e-3 * np.minimum(x / apex, (length - x) / (length - apex))
        return np.asarray(shape(s.modes.wavenumber, x) @ y + triangle, np.float64)

    return start


@figure(
    "004.3",
    "A stiff, damped string over a 30 mm parabolic barrier (two-point, 44.1 kHz)",
    shows="snapshots over 1.3 ms; the string wraps round the barrier and leaves it",
)
def sitar_snapshots(page: Page) -> Outcome:
    times = np.array([0.0, 0.317, 0.476, 0.635, 0.793, 0.952, 1.111, 1.270]) * 1e-3
    start = plucked(SITAR, AUDIO)
    run, tally = release("two-point", SITAR, AUDIO, 1.4e-3, start, times=times, band=BAND)
    s = modal_string(SITAR, AUDIO, BAND)
    drawing, (whole, zoom) = page.subplots(1, 2, size=(11.0, 4.0))
    fine = np.linspace(0.0, 0.5, 4001)
    equilibrium = shape(s.modes.wavenumber, fine) @ at_rest(s, TwoPoint(s).spring)
    barrier = SITAR.barrier.profile(fine[fine <= 0.03])  # type: ignore[union-attr]
    for ax, unit in ((whole, 1e3), (zoom, 1e6)):
        for y, t, colour in zip(run.log.shapes, times, COLOURS, strict=True):
            line = shape(s.modes.wavenumber, fine) @ y
            ax.plot(1e3 * fine, unit * line, color=colour, label=f"{1e3 * t:.3f} ms")
        ax.plot(1e3 * fine, unit * equilibrium, "k--", linewidth=0.9, label="equilibrium")
        ax.fill_between(1e3 * fine[fine <= 0.03], unit * barrier, -1e4, color="0.8", zorder=0)
        ax.set_xlabel("x (mm)")
    whole.set(ylabel="y (mm)", xlim=(0, 500), ylim=(-1.15, 1.15))
    zoom.set(ylabel="y (\u00b5m)", xlim=(0, 40), ylim=(-20, 160))
    zoom.plot(1e3 * run.points.position, 1e6 * run.points.height, "k.", markersize=4)
    drawing.legend(*whole.get_legend_handles_labels(), loc="outside lower center", ncols=9)
    condition = float(np.linalg.cond(TwoPoint(s).response))
    numbers = {"choices": CHOICES, "times_s": times, "modes": s.modes.wavenumber.size, "condition_of_W": condition}
    numbers |= {"energy_drift": drift(run), "most_newton_iterations": tally.most, "unconverged": tally.failed}
    got = f"{s.modes.wavenumber.size} modes, 10 points: cond(W) = {condition:.0e}, so W is not positive definite in "
    return got + f"practice (E16), yet the balance holds to {drift(run):.0e}", numbers


@figure(
    "004.4",
    "String force at x = L (44.1 kHz against 705.6 kHz)",
    shows="compared with heavily oversampled results the two-point scheme has less spurious oscillation than the "
    "three-point one",
)
def sitar_force(page: Page) -> Outcome:
    seconds, fine = 0.02, 16.0 * AUDIO
    start = plucked(SITAR, AUDIO)
    _, axes = page.subplots(2, 1, size=(9.5, 5.6), sharex=True, sharey=True)
    numbers: dict[str, Any] = {"choices": CHOICES, "fine_rate": fine}
    for ax, scheme in zip(axes, SCHEMES, strict=True):
        page.say(scheme)
        run, tally = release(scheme, SITAR, AUDIO, seconds, start, band=BAND)
        reference, _ = release(scheme, SITAR, fine, seconds, start, band=BAND)
        slow, fast = run.log.out[:, 0], reference.log.out[:, 0]
        ax.plot(1e3 * (np.arange(fast.size) + 1.0) / fine, fast, "k", linewidth=0.8, label="705.6 kHz")
        ax.plot(1e3 * (np.arange(slow.size) + 1.0) / AUDIO, slow, color=ITERATIVE, linewidth=0.9, label="44.1 kHz")
        ax.set(ylabel="force (N)", title=f"{scheme} scheme")
        same = fast[15::16][: slow.size]
        numbers[scheme] = {
            "power_above_10_kHz": high_part(slow, AUDIO, 1e4),
            "power_above_10_kHz_oversampled": high_part(fast, fine, 1e4),
            "rms_error": float(np.sqrt(np.mean((slow - same) ** 2) / np.mean(same**2))),
            "energy_drift": drift(run),
            "most_newton_iterations": tally.most,
        }
    axes[0].legend(loc="upper right", ncols=2)
    axes[1].set_xlabel("time (ms)")
    two, three = numbers["two-point"], numbers["three-point"]
    got = f"power above 10 kHz: two-point {100 * two['power_above_10_kHz']:.2f} % (oversampled "
    got += f"{100 * two['power_above_10_kHz_oversampled']:.2f}), three-point {100 * three['power_above_10_kHz']:.2f} % "
    got += (
        f"(oversampled {100 * three['power_above_10_kHz_oversampled']:.2f}); at most {two['most_newton_iterations']} "
    )
    return got + f"and {three['most_newton_iterations']} Newton iterations", numbers
