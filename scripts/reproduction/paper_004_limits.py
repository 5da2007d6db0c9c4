"""Paper 004, sections IV-A and V: where Newton's method fails, and where the three-point scheme needs fewer modes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from engine.physics.problem import Contact
from engine.physics.record import Run
from reproduction.paper_004 import AUDIO, BAND, CHOICES, SCHEMES, SITAR, drift, plucked, release
from reproduction.registry import ITERATIVE, OURS, PLAIN, Outcome, Page, figure

STIFFNESSES = (1e9, 1e10, 1e11)  # N/m^2
SECONDS = 0.01
CUTS = {"Nyquist": 0.499 * AUDIO, "20 kHz": BAND, "$f_s/4$": 0.25 * AUDIO}
CUT_SECONDS, FINE = 0.01, 8


@figure(
    "004.newton",
    "Newton's method on the sitar's string, plain and damped (44.1 kHz)",
    shows="no convergence from k_b = 1e10 N/m² on; a damped Newton's method helps; else about 9 iterations for the "
    "two-point scheme and 12 for the three-point one",
)
def newton(page: Page) -> Outcome:
    _, axes = page.subplots(1, 2, size=(10.0, 3.8))
    numbers: dict[str, Any] = {"choices": CHOICES, "stiffness": STIFFNESSES}
    for scheme, colour in zip(SCHEMES, (PLAIN, ITERATIVE), strict=True):
        for damped, dash in ((False, "-"), (True, "--")):
            name = f"{scheme}, {'damped' if damped else 'plain'}"
            page.say(name)
            failed, most, drifts = [], [], []
            for stiffness in STIFFNESSES:
                problem = replace(SITAR, contact=Contact(stiffness))
                start = plucked(problem, AUDIO)
                run, tally = release(scheme, problem, AUDIO, SECONDS, start, band=BAND, damped=damped)
                failed.append(tally.failed / tally.steps)
                most.append(tally.most)
                drifts.append(drift(run) if np.isfinite(run.log.out).all() else np.inf)
            numbers[name] = {"failed_steps": failed, "most_iterations": most, "energy_drift": drifts}
            axes[0].semilogx(STIFFNESSES, 100.0 * np.array(failed), dash, marker="o", color=colour, label=name)
            axes[1].semilogx(STIFFNESSES, most, dash, marker="o", color=colour)
    axes[0].set(xlabel="$k_b$ (N/m²)", ylabel="steps that do not converge (%)")
    axes[1].set(xlabel="$k_b$ (N/m²)", ylabel="most iterations in a step")
    axes[0].legend()
    said = []
    for name in (f"{scheme}, {kind}" for kind in ("plain", "damped") for scheme in SCHEMES):
        shares = ", ".join(f"{100.0 * share:.1f}" for share in numbers[name]["failed_steps"])
        said.append(f"{name} {shares}")
    return f"% of the steps that fail at k_b = 1e9, 1e10, 1e11: {'; '.join(said)}", numbers


def power_in(run: Run, low: float, high: float) -> float:
    """Power of the force at x = L between two frequencies."""
    signal = run.log.out[:, 0]
    power = np.abs(np.fft.rfft((signal - signal.mean()) * np.hanning(signal.size))) ** 2
    f = np.fft.rfftfreq(signal.size, 1.0 / run.rate)
    return float(power[(f > low) & (f <= high)].sum() / run.rate**2)


@figure(
    "004.cut",
    "Spurious oscillation by where the modes are cut off (44.1 kHz)",
    shows="the three-point scheme's oscillation goes with modes below 20 kHz, in some cases only with a cut at f_s/4",
)
def cut(page: Page) -> Outcome:
    _, ax = page.subplots(size=(8.0, 3.8))
    numbers: dict[str, Any] = {"choices": CHOICES, "cuts_Hz": list(CUTS.values())}
    places = np.arange(len(CUTS))
    for i, (scheme, colour) in enumerate(zip(SCHEMES, (PLAIN, ITERATIVE), strict=True)):
        for j, stiffness in enumerate((1e9, 1e10)):
            name, excess = f"{scheme}, $k_b$ = {stiffness:.0e}", []
            page.say(name)
            problem = replace(SITAR, contact=Contact(stiffness))
            start = plucked(problem, AUDIO)
            for band in CUTS.values():
                slow, fast = (release(scheme, problem, n * AUDIO, CUT_SECONDS, start, band=band)[0] for n in (1, FINE))
                excess.append(10.0 * np.log10(power_in(slow, 0.75 * band, band) / power_in(fast, 0.75 * band, band)))
            numbers[f"{scheme}, {stiffness:.0e}"] = excess
            ax.bar(places + 0.2 * (2 * i + j - 1.5), excess, 0.18, color=colour, alpha=1.0 - 0.5 * j, label=name)
    ax.axhline(0.0, color=OURS, linewidth=0.8)
    ax.set(xticks=places, xticklabels=list(CUTS), ylabel="top quarter of the modes,\ndB against 8 times the rate")
    ax.legend()
    said = []
    for name, excess in list(numbers.items())[2:]:
        said.append(f"{name} {', '.join(f'{level:+.1f}' for level in excess)}")
    got = "power in the top quarter of the modes kept, dB against the same at x8, cut at Nyquist, 20 kHz, f_s/4: "
    return got + "; ".join(said), numbers
