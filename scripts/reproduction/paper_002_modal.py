"""Paper 002, section 3.2: its own modal scheme (57)-(60) beside exact poles, and its Fig. 5 wherever the force acts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from engine.physics import contact, modal
from engine.physics.excitation import pulse
from engine.physics.modes import modes
from engine.physics.problem import Problem
from engine.physics.record import Run
from engine.physics.reference import leapfrog_modal, newton_modal
from engine.physics.string import Array
from reproduction.paper_002_strings import AUDIO, CHOICES, NOWHERE, POINT, drift, error, experiment, settled, stuck
from reproduction.registry import ITERATIVE, OURS, PLAIN, Outcome, Page, figure

SECONDS = 0.02
FACTORS, FEW = (1, 2, 4, 8), (1, 2, 4)  # Newton's method in Python: few
POSITIONS = (0.1, 0.2, 0.3, 0.4, 0.45)
PRINTED, POLES, SHIPPED = "(57)-(60)", "exact poles, plain", "exact poles, ours"
LOOKS: dict[str, dict[str, Any]] = {
    PRINTED: {"color": "tab:purple", "marker": "s"},
    POLES: {"color": PLAIN, "marker": "s"},
    SHIPPED: {"color": OURS, "marker": "o"},
    "two-point, iterative": {"color": ITERATIVE, "marker": "^"},
    "three-point, iterative": {"color": "tab:orange", "marker": "v"},
}


def moved(name: str, problem: Problem, rate: float) -> Run:
    """The string of Fig. 4 by one of the modal schemes."""
    force = pulse(problem.excitation, rate, round(SECONDS * AUDIO) * round(rate / AUDIO))
    if name == PRINTED:
        return leapfrog_modal.run(problem, rate, force, at=NOWHERE)
    if name in (POLES, SHIPPED):
        rule = contact.PLAIN if name == POLES else contact.SHIPPED
        return modal.run(modal.design(problem, rate, rule=rule), force, at=NOWHERE)
    newton = newton_modal.run_two_point if name.startswith("two") else newton_modal.run_three_point
    return newton(problem, rate, force, at=NOWHERE)


def sharpness() -> tuple[Array, Array]:
    """The frequencies of the modes of (57), Hz, and by how many cents they are sharp at 44.1 kHz."""
    w = modes(POINT.string, AUDIO, leapfrog_modal.MARGIN * AUDIO / np.pi).frequency
    return w / (2.0 * np.pi), 1200.0 * np.log2(leapfrog_modal.sounding(w, AUDIO) / w)


@figure(
    "002.modal",
    "The modal scheme (57)-(60), exact poles, and iterative contact, against the point barrier of Fig. 4",
    shows="(57)-(60), with modes below f_s / π; no error is given",
)
def own_scheme(page: Page) -> Outcome:
    known = settled(POINT, SECONDS)
    _, (left, right) = page.subplots(1, 2, size=(10.5, 4.2))
    errors: dict[str, dict[int, float]] = {}
    for name, look in LOOKS.items():
        page.say(name)
        factors = FEW if "iterative" in name else FACTORS
        errors[name] = {factor: error(moved(name, POINT, factor * AUDIO), known) for factor in factors}
        left.loglog(factors, [100.0 * e for e in errors[name].values()], label=name, **look)
    left.set(xlabel="sample rate / 44.1 kHz", ylabel="rms error at 0.9 L (%)", xticks=FACTORS, xticklabels=FACTORS)
    left.minorticks_off()
    left.legend()
    frequency, cents = sharpness()
    right.plot(frequency / 1e3, cents, color=LOOKS[PRINTED]["color"], label=PRINTED)
    right.axhline(0.0, color=OURS, label="exact poles")
    right.set(xlabel="frequency of a mode (kHz)", ylabel="sharp by (cents, 44.1 kHz)", ylim=(-20.0, 400.0))
    right.legend()
    own = moved(PRINTED, POINT, AUDIO)
    at_5k = float(np.interp(5e3, frequency, cents))
    numbers = {"choices": CHOICES, "errors": errors, "frequency_Hz": frequency, "sharp_cents": cents}
    numbers |= {"sharp_at_5_kHz": at_5k, "energy_drift": drift(own), "highest_mode_Hz": frequency[-1]}
    said = ", ".join(f"{name} {100.0 * e[1]:.2f}" for name, e in errors.items())
    got = f"rms error in % at 44.1 kHz: {said}. (57)-(60) is {at_5k:.0f} cents sharp at 5 kHz and ends at "
    return got + f"{frequency[-1] / 1e3:.1f} kHz; its energy is constant to {drift(own):.0e}", numbers


@figure(
    "002.5.struck",
    "What is left in the contact of Fig. 5, by where the force acts (44.1 kHz)",
    shows="finite differences keep more than modes; x_F is not given",
)
def struck(page: Page) -> Outcome:
    left: dict[str, list[float]] = {}
    for position in POSITIONS:
        page.say(f"x_F = {position} L")
        problem = replace(POINT, excitation=replace(POINT.excitation, position=position))
        runs = experiment(problem, AUDIO, SECONDS).runs
        cases = {"finite differences, plain": runs["plain"]["fd"], "finite differences, ours": runs["ours"]["fd"]}
        cases |= {PRINTED: moved(PRINTED, problem, AUDIO), POLES: runs["plain"]["modal"]}
        cases |= {SHIPPED: runs["ours"]["modal"], "iterative": runs["plain"]["iterative"]}
        for name, run in cases.items():
            left.setdefault(name, []).append(stuck(run))
    _, ax = page.subplots(size=(8.0, 3.8))
    where = np.arange(len(POSITIONS))
    shown = ("finite differences, plain", PRINTED, POLES)
    for i, (name, colour) in enumerate(zip(shown, ("tab:cyan", "tab:purple", PLAIN), strict=True)):
        ax.bar(where + 0.27 * (i - 1), [100.0 * part for part in left[name]], 0.25, label=name, color=colour)
    ax.set(xticks=where, xticklabels=POSITIONS, xlabel="$x_F / L$", ylabel="% of the energy still in the contact")
    ax.legend()
    worse = {name: [grid > own for grid, own in zip(left[shown[0]], left[name], strict=True)] for name in shown[1:]}
    holds = {name: [x for x, true in zip(POSITIONS, found, strict=True) if true] for name, found in worse.items()}
    numbers = {"positions": POSITIONS, "stuck_energy": left, "differences_worse_at": holds}
    places = "; ".join(f"than {name} at {', '.join(f'{x:g}' for x in found)} L" for name, found in holds.items())
    got = f"finite differences keep more {places}, of {', '.join(f'{x:g}' for x in POSITIONS)} L. "
    most = max(max(left[name]) for name in (SHIPPED, "finite differences, ours", "iterative"))
    return got + f"This engine's rule and the iterative scheme keep at most {100.0 * most:.3f} %", numbers
