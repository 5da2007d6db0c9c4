"""Accuracy against cost, which no paper shows: the paper's gradient, this engine's rule and the iterative schemes.

All of it is compiled, iterative schemes included; times are the best of several passes on one core, errors are against
the exact motion (lumped) or against the iterative scheme at 64 times the audio rate (string).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from math import cos, sin
from typing import Any, NamedTuple

import numpy as np
from matplotlib.ticker import LogLocator, NullFormatter

from engine.errors import PhysicsWarning
from engine.physics import contact, finite_difference, modal
from engine.physics.excitation import pulse
from engine.physics.grid import grid
from engine.physics.problem import Problem
from engine.physics.reference import iterative_kernel
from engine.physics.reference.iterative_kernel import CONVERGED
from engine.physics.reference.lumped import LumpedCase
from engine.physics.reference.lumped_exact import exact_displacement
from engine.physics.string import Array
from reproduction.lumped_kernel import EXPLICIT, mass, mass_halfway
from reproduction.paper_002_strings import AUDIO, BENT, at_nodes
from reproduction.registry import ITERATIVE, OURS, PLAIN, Outcome, Page, figure

FACTORS = (1, 2, 4, 8, 16)
PAPERS_ITERATIONS = 20
PASSES = 25


class Curve(NamedTuple):
    """Error and cost of a scheme at each of FACTORS."""

    error: list[float]
    nanoseconds: list[float]  # per sample
    load: list[float]  # seconds of one core per second of motion


LOOKS: dict[str, dict[str, Any]] = {
    "plain": {"color": PLAIN, "marker": "s"},
    "this engine's rule": {"color": OURS, "marker": "o"},
    "iterative, 20 iterations": {"color": ITERATIVE, "marker": "^"},
    "iterative, to convergence": {"color": "tab:orange", "marker": "v"},
    "iterative, two-point": {"color": "tab:brown", "marker": "D"},
    "modal, plain": {"color": PLAIN, "marker": "s", "linestyle": "--", "fillstyle": "none"},
    "modal, this engine's rule": {"color": OURS, "marker": "o", "linestyle": "--", "fillstyle": "none"},
}


class Work(NamedTuple):
    """A compiled scheme: `rest` makes it ready, `run` moves it for `steps` and gives the output."""

    rest: Callable[[], Any]
    run: Callable[[], Array]
    steps: int


def best_times(works: dict[str, Work], passes: int = PASSES) -> dict[str, float]:
    """Seconds of each one's fastest run, in turns, after one that compiles and warms up."""
    best = dict.fromkeys(works, np.inf)
    for warm in range(passes + 1):
        for name, work in works.items():
            work.rest()
            start = time.perf_counter()
            work.run()
            seconds = time.perf_counter() - start
            if warm:
                best[name] = min(best[name], seconds)
    return best


def draw(page: Page, curves: dict[str, dict[str, Curve]], error_unit: str) -> None:
    """A column for each case: error against load, and nanoseconds per sample against the rate."""
    drawing, axes = page.subplots(2, len(curves), size=(max(5.6 * len(curves), 7.5), 8.0), squeeze=False)
    for column, (title, schemes) in enumerate(curves.items()):
        upper, lower = axes[:, column]
        for name, curve in schemes.items():
            upper.loglog(1e3 * np.array(curve.load), curve.error, markersize=5, label=name, **LOOKS[name])
            lower.loglog(FACTORS, curve.nanoseconds, markersize=5, **LOOKS[name])
        for name in ("this engine's rule", "iterative, 20 iterations"):
            for factor, x, y in zip(FACTORS, schemes[name].load, schemes[name].error, strict=True):
                place = {"textcoords": "offset points", "xytext": (6, 3), "color": LOOKS[name]["color"]}
                upper.annotate(f"x{factor}", (1e3 * x, y), fontsize=7, **place)
        upper.set(title=title, xlabel="ms of one core per second of motion", ylabel=f"rms error ({error_unit})")
        lower.set(xlabel="sample rate / 44.1 kHz", ylabel="ns per sample", xticks=FACTORS, xticklabels=FACTORS)
        lower.minorticks_off()
        plain_numbers(upper.xaxis)
        plain_numbers(lower.yaxis)
    drawing.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)


def plain_numbers(axis: Any) -> None:
    """1, 2, 5, 10 ... on a logarithmic axis."""
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def cheapest(curve: Curve, error: float) -> float | None:
    """Load at which a scheme reaches an error, on the straight lines of the picture; None if it does not."""
    pairs = list(zip(curve.error, curve.load, strict=True))
    if pairs[0][0] <= error:
        return pairs[0][1]
    for (e, x), (f, y) in pairwise(pairs):
        if f <= error < e:
            return float(np.exp(np.interp(np.log(error), [np.log(f), np.log(e)], [np.log(y), np.log(x)])))
    return None


# --- lumped -----------------------------------------------------------------------------------------------------------

SECONDS, PHASES = 0.1, 32


def later(case: LumpedCase, t: float) -> LumpedCase:
    """The same motion, begun t seconds into its first flight."""
    w = case.angular
    return replace(case, start=case.flight(t), speed=case.speed * cos(w * t) - case.start * w * sin(w * t))


def lumped(stiffness: float) -> dict[str, Curve]:
    """The oscillator of 002 Figs. 1 and 2; errors are rms over 0.1 s and over the moments at which contact begins.

    Where in a sample the contact begins decides much of the error, so runs begin up to a sample later in the flight.
    """
    first = LumpedCase(stiffness=stiffness)
    cases = [later(first, phase / PHASES / AUDIO) for phase in range(PHASES)]
    schemes: dict[str, Callable[[LumpedCase, float, int], Callable[[], Array]]] = {
        "plain": lambda *how: mass(*how, EXPLICIT, contact.PLAIN),
        "this engine's rule": lambda *how: mass(*how, EXPLICIT),
        "iterative, 20 iterations": lambda *how: mass(*how, PAPERS_ITERATIONS),
        "iterative, to convergence": lambda *how: mass(*how, CONVERGED),
        "iterative, two-point": lambda *how: mass_halfway(*how, CONVERGED),
    }
    curves = {name: Curve([], [], []) for name in schemes}
    for factor in FACTORS:
        rate, steps = factor * AUDIO, round(SECONDS * factor * AUDIO)
        exact = [exact_displacement(case, np.arange(steps) / rate) for case in cases]
        for name, scheme in schemes.items():
            wrong = [scheme(case, rate, steps)() - u for case, u in zip(cases, exact, strict=True)]
            curves[name].error.append(float(np.sqrt(np.mean(np.square(wrong)))) * 1e3)
        works = {name: Work(tuple, scheme(first, rate, steps), steps) for name, scheme in schemes.items()}
        for name, seconds in best_times(works).items():
            curves[name].nanoseconds.append(1e9 * seconds / steps)
            curves[name].load.append(seconds / SECONDS)
    return curves


@figure(
    "cost.lumped",
    "Accuracy against cost: the lumped oscillator under a soft and a hard barrier",
    shows="(in no paper; 002 says that the non-iterative scheme needs a higher rate, and that it is much faster)",
)
def lumped_page(page: Page) -> Outcome:
    curves = {}
    for name, stiffness in (("soft, K = 5e4", 5e4), ("hard, K = 7e7", 7e7)):
        page.say(name)
        curves[name] = lumped(stiffness)
    draw(page, curves, "mm")
    numbers = {case: {name: c._asdict() for name, c in schemes.items()} for case, schemes in curves.items()}
    said = []
    for case, schemes in curves.items():
        names = ("plain", "this engine's rule", "iterative, to convergence", "iterative, two-point")
        said.append(f"{case}: {' / '.join(f'{schemes[name].error[0]:.2g}' for name in names)} mm")
    got = f"rms error at 44.1 kHz, plain / ours / iterative, three-point / two-point: {'; '.join(said)}"
    return got, {"factors": FACTORS, "audio_rate": AUDIO, "error_unit": "mm"} | numbers


# --- string -----------------------------------------------------------------------------------------------------------

STRING_SECONDS = 0.02
REFERENCE_FACTOR = 64


def fd_voice(problem: Problem, rate: float, rule: int = contact.SHIPPED, iterations: int = EXPLICIT) -> Work:
    c = finite_difference.design(problem, rate, rule=rule).coefficients
    force, out = drive(problem, rate)
    state = finite_difference.state(c)

    def run() -> Array:
        if iterations == EXPLICIT:
            finite_difference.kernel(c, state, force, out)
        else:
            iterative_kernel.kernel(c, state, iterations, force, out)
        return out[:, 0]

    return Work(lambda: finite_difference.reset(c, state), run, force.size)


def modal_voice(problem: Problem, rate: float, rule: int = contact.SHIPPED) -> Work:
    """All modes below Nyquist, contact points at the nodes of the grid of the same rate."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PhysicsWarning)  # as many points as nodes: the sweep does not mind
        c = modal.design(at_nodes(problem, grid(problem.string, rate)), rate, rule=rule).coefficients
    force, out = drive(problem, rate)
    state = modal.state(c)

    def run() -> Array:
        modal.kernel(c, state, force, out)
        return out[:, 0]

    return Work(lambda: modal.reset(c, state), run, force.size)


def drive(problem: Problem, rate: float) -> tuple[Array, Array]:
    """The force of every step, and where the pickups go."""
    steps = round(STRING_SECONDS * AUDIO) * round(rate / AUDIO)
    return pulse(problem.excitation, rate, steps), np.zeros((steps, len(problem.pickups)))


def string_voices(problem: Problem, rate: float) -> dict[str, Work]:
    return {
        "plain": fd_voice(problem, rate, contact.PLAIN),
        "this engine's rule": fd_voice(problem, rate),
        "iterative, 20 iterations": fd_voice(problem, rate, iterations=PAPERS_ITERATIONS),
        "iterative, to convergence": fd_voice(problem, rate, iterations=CONVERGED),
        "modal, plain": modal_voice(problem, rate, contact.PLAIN),
        "modal, this engine's rule": modal_voice(problem, rate),
    }


def at_audio_instants(out: Array, factor: int) -> Array:
    return out[factor - 1 :: factor]


def string_curves(page: Page, problem: Problem) -> tuple[dict[str, Curve], float]:
    """The curves, and how far the reference is from itself at half its rate."""
    page.say("reference")
    references = []
    for factor in (REFERENCE_FACTOR // 2, REFERENCE_FACTOR):
        voice = fd_voice(problem, factor * AUDIO, iterations=CONVERGED)
        references.append(at_audio_instants(voice.run(), factor).copy())
    half, reference = references
    size = np.sqrt(np.mean(reference**2))
    curves: dict[str, Curve] = {}
    for factor in FACTORS:
        page.say(f"x{factor}")
        voices = string_voices(problem, factor * AUDIO)
        for name, voice in voices.items():
            wrong = at_audio_instants(voice.run(), factor) - reference
            curve = curves.setdefault(name, Curve([], [], []))
            curve.error.append(float(np.sqrt(np.mean(wrong**2)) / size) * 100.0)
        for name, seconds in best_times(voices, PASSES if factor <= 4 else 5).items():
            curves[name].nanoseconds.append(1e9 * seconds / voices[name].steps)
            curves[name].load.append(seconds / STRING_SECONDS)
    return curves, float(np.sqrt(np.mean((half - reference) ** 2)) / size) * 100.0


@figure(
    "cost.string",
    "Accuracy against cost: the string against the bent barrier of 002 Fig. 8",
    shows="(in no paper; 002 says that at five times the rate the non-iterative scheme still takes less time than the "
    "iterative one with 20 iterations at audio rate, and that time gains reach an order of magnitude)",
)
def string_page(page: Page) -> Outcome:
    curves, own_error = string_curves(page, BENT)
    draw(page, {"string over a bent barrier, K = 5e6, exponent 1.4": curves}, "% of the output's rms")
    errors = page.figures[-1].axes[0]
    errors.axhline(own_error, color="grey", linewidth=0.8, linestyle=":")
    errors.annotate("how far the reference is from itself at half its rate", (10.0, 1.05 * own_error), fontsize=7)
    ours, twenty, converged = (
        curves[n] for n in ("this engine's rule", "iterative, 20 iterations", "iterative, to convergence")
    )
    page.say("x5")
    side_by_side = best_times(
        {
            "x5": fd_voice(BENT, 5.0 * AUDIO),
            "x1": fd_voice(BENT, AUDIO, iterations=PAPERS_ITERATIONS),
        }
    )
    gain = {
        "of_20_iterations": [t / o for t, o in zip(twenty.nanoseconds, ours.nanoseconds, strict=True)],
        "of_convergence": [t / o for t, o in zip(converged.nanoseconds, ours.nanoseconds, strict=True)],
        "audio_20_iterations_over_x5_ours": side_by_side["x1"] / side_by_side["x5"],
    }
    target = twenty.error[0]
    same = {name: cheapest(curve, target) for name, curve in curves.items()}
    numbers = {"factors": FACTORS, "audio_rate": AUDIO, "error_unit": "% of the output's rms", "time_gain": gain}
    numbers |= {"reference_against_itself_at_half_its_rate": own_error}
    numbers |= {"load_for_the_error_of_the_iterative_scheme_at_audio_rate": same}
    numbers |= {name: curve._asdict() for name, curve in curves.items()}
    got = f"at 44.1 kHz iterating 20 times takes {gain['of_20_iterations'][0]:.1f} times as long as not iterating "
    got += f"({gain['of_convergence'][0]:.1f} if it stops at convergence); x5 without iterating takes "
    got += f"{1.0 / gain['audio_20_iterations_over_x5_ours']:.2f} of the time of x1 with 20. rms error at x1: plain "
    got += f"{curves['plain'].error[0]:.2f}, ours {ours.error[0]:.2f}, iterative {twenty.error[0]:.2f}, modal ours "
    modes = curves["modal, this engine's rule"]
    return got + f"{modes.error[0]:.2f} %", numbers
