"""How long a contact lasts in each scheme, over the moments of entry: what no paper shows of its own gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine.physics.reference.gradient import Rule, capped, entry_secant, onset_secant, plain
from engine.physics.reference.iterative_kernel import CONVERGED
from engine.physics.reference.lumped import LumpedCase, non_iterative
from engine.physics.reference.power_law import PowerLaw
from engine.physics.string import Array
from reproduction.lumped_kernel import EXPLICIT, mass, mass_halfway
from reproduction.registry import ITERATIVE, OURS, PLAIN, Outcome, Page, figure

RATE, SPEED, MASS, PHASES = 44_100.0, 1.0, 0.01, 32
SAMPLES = (2.4, 6.0, 12.0, 24.0, 76.0)
EXPONENTS = (1.0, 1.5)


def ruled(rule: Rule) -> Callable[[LumpedCase, int], Array]:
    return lambda case, steps: non_iterative(case, RATE, steps, rule).displacement


SCHEMES: dict[str, Callable[[LumpedCase, int], Array]] = {
    "paper 002's gradient": ruled(plain),
    "the cap alone": ruled(capped),
    "with the secant on entering": ruled(entry_secant),
    "with the secant at onset": ruled(onset_secant),
    "cap and entry": lambda case, steps: mass(case, RATE, steps, EXPLICIT)(),
    "iterative, three-point": lambda case, steps: mass(case, RATE, steps, CONVERGED)(),
    "iterative, two-point": lambda case, steps: mass_halfway(case, RATE, steps, CONVERGED)(),
}
COLOURS = (PLAIN, "tab:cyan", "tab:olive", "tab:brown", OURS, ITERATIVE, "tab:orange")


def errors(scheme: Callable[[LumpedCase, int], Array], exponent: float, samples: float) -> Array:
    """Relative errors of the duration, one for each moment of entry; between the free flights, so without grain."""
    stiffness = (PowerLaw(1.0, exponent).duration(MASS, SPEED) * RATE / samples) ** (exponent + 1.0)
    found = np.zeros(PHASES)
    for i in range(PHASES):
        start = -(3.0 + (i + 0.5) / PHASES) * SPEED / RATE
        u = scheme(LumpedCase(MASS, 0.0, 0.0, start, SPEED, stiffness, exponent), int(2.5 * samples) + 20)
        n = int(np.flatnonzero(u > 0.0)[-1]) + 2
        leaves = n + u[n] / (u[n - 1] - u[n])
        found[i] = (leaves + start * RATE / SPEED) / samples - 1.0
    return found


@figure(
    "cost.duration",
    "How long a contact lasts: rms error over the moments of entry",
    shows="(in no paper; 001 has the two iterative schemes for single contacts)",
)
def durations(page: Page) -> Outcome:
    _, axes = page.subplots(1, 2, size=(10.5, 4.4), sharey=True)
    numbers: dict[str, Any] = {"samples": SAMPLES}
    for ax, exponent in zip(axes, EXPONENTS, strict=True):
        found: dict[str, list[float]] = {}
        for (name, scheme), colour in zip(SCHEMES.items(), COLOURS, strict=True):
            page.say(f"exponent {exponent:g}, {name}")
            found[name] = [float(np.sqrt(np.mean(errors(scheme, exponent, n) ** 2))) for n in SAMPLES]
            ax.loglog(SAMPLES, 100.0 * np.array(found[name]), marker="o", markersize=4, color=colour, label=name)
        ax.set(title=f"exponent {exponent:g}", xlabel="samples in contact", xticks=SAMPLES)
        ax.set_xticklabels([f"{n:g}" for n in SAMPLES])
        ax.minorticks_off()
        numbers[f"{exponent:g}"] = found
    axes[0].set_ylabel("rms error of the duration (%)")
    axes[0].legend()
    said = [f"{name} {', '.join(f'{100.0 * e:.2g}' for e in found)}" for name, found in numbers["1"].items()]
    return f"% at {', '.join(f'{n:g}' for n in SAMPLES)} samples, exponent 1: {'; '.join(said)}", numbers
