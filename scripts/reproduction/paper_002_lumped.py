"""Paper 002, section 2: the oscillator under a barrier, iterative, non-iterative, and with this engine's rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.physics.reference.gradient import capped, entry_secant, onset_secant, plain
from engine.physics.reference.lumped import LumpedCase, Trajectory, first_bounce, iterative, non_iterative
from engine.physics.reference.lumped_exact import exact_bounce, exact_displacement
from reproduction.lumped_kernel import trajectory
from reproduction.registry import EXACT, ITERATIVE, OURS, PLAIN, Outcome, Page, figure

AUDIO = 44_100.0
SECONDS = 0.5
LOOKS = {
    "iterative": {"color": ITERATIVE, "linewidth": 2.0, "label": "iterative, 20 iterations"},
    "plain": {"color": PLAIN, "linewidth": 1.4, "linestyle": "--", "label": "non-iterative, plain"},
    "ours": {"color": OURS, "linewidth": 0.9, "label": "non-iterative, ours"},
}


def experiment(page: Page, case: LumpedCase, rate: float) -> dict[str, Any]:
    """The six panels of the paper: displacement, potential and energy variation, early (left) and late (right)."""
    steps = int(SECONDS * rate)
    runs = {
        "iterative": iterative(case, rate, steps, iterations=20),
        "plain": non_iterative(case, rate, steps, plain),
        "ours": trajectory(case, rate, steps),  # the compiled contact that plays
    }
    exact = exact_bounce(case)
    figure, axes = page.subplots(3, 2, size=(9.5, 8.4))
    for column, start in enumerate((0.0, SECONDS - 0.1)):
        displacement, potential, variation = axes[:, column]
        t = np.linspace(start, start + 0.1, 100_000)
        u = exact_displacement(case, t)
        displacement.plot(t * 1e3, u, color=EXACT, linewidth=4, alpha=0.2, label="exact")
        displacement.axhline(case.height, color="grey", linewidth=0.6)
        for name, run in runs.items():
            part = (run.time >= start) & (run.time < start + 0.1)
            between = (run.time[part] + 0.5 / rate) * 1e3
            displacement.plot(run.time[part] * 1e3, run.displacement[part], **LOOKS[name])
            potential.plot(between, run.contact[part], marker="o", markersize=2, **LOOKS[name])
            drift = (run.total[part] - run.total[0]) / run.total[0]
            variation.plot(between, drift, ".", markersize=1.0, color=LOOKS[name]["color"])
        middle = t[np.argmax(u)] * 1e3
        width = 1e3 * (exact.duration + 6.0 / rate)
        potential.set(xlim=(middle - width, middle + width), title="around one contact")
        for ax in axes[:, column]:
            ax.set_xlabel("time (ms)")
    for row, label in enumerate(("displacement u (m)", "contact potential (J)", "energy variation (-)")):
        axes[row, 0].set_ylabel(label)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    runs |= {"capped": non_iterative(case, rate, steps, capped)}
    runs |= {"entry-secant": non_iterative(case, rate, steps, entry_secant)}
    runs |= {"onset-secant": non_iterative(case, rate, steps, onset_secant)}
    return {"exact": exact._asdict(), "rate": rate} | {name: measure(case, run) for name, run in runs.items()}


def measure(case: LumpedCase, run: Trajectory) -> dict[str, Any]:
    """The first contact, what is left in it, and the error of the whole trajectory."""
    exact, bounce = exact_bounce(case), first_bounce(case, run)
    after = int((exact.time + exact.duration) / run.time[1]) + 4
    error = run.displacement - exact_displacement(case, run.time)
    return bounce._asdict() | {
        "speed_loss": 1.0 - bounce.speed_out / bounce.speed_in,
        "duration_error": bounce.duration / exact.duration - 1.0,
        "compression_error": bounce.compression / exact.compression - 1.0,
        "psi_after": run.psi[after],
        "stuck_energy": run.contact[after] / run.total[0],
        "rms_error_m": np.sqrt(np.mean(error**2)),
        "energy_drift": np.max(np.abs(run.total / run.total[0] - 1.0)),
        "lowest_force_N": run.force.min(),
    }


def compare(numbers: dict[str, Any], key: str, form: str, factor: float = 1.0) -> str:
    """One measure of the three schemes in a row."""
    return " / ".join(form.format(factor * numbers[name][key]) for name in LOOKS)


@figure(
    "002.1",
    "Oscillator under a soft barrier (K = 5e4, 44.1 kHz)",
    shows="iterative and non-iterative solutions coincide for a long time, in displacement and in potential; energy "
    "constant to rounding",
)
def soft(page: Page) -> Outcome:
    numbers = experiment(page, LumpedCase(stiffness=5e4), AUDIO)
    got = f"iterative / plain / ours: rms error {compare(numbers, 'rms_error_m', '{:.2f}', 1e3)} mm over 0.5 s, "
    return got + f"energy constant to {compare(numbers, 'energy_drift', '{:.0e}')}", numbers


@figure(
    "002.2",
    "Oscillator under a hard barrier (K = 7e7, 44.1 kHz)",
    shows="the non-iterative scheme converts kinetic energy into contact potential that stays there: it rebounds too "
    "slowly, and the solutions part",
)
def hard(page: Page) -> Outcome:
    numbers = experiment(page, LumpedCase(stiffness=7e7), AUDIO)
    got = f"iterative / plain / ours: {compare(numbers, 'stuck_energy', '{:z.1f}', 100)} % of the energy stays in the "
    got += f"contact, {compare(numbers, 'speed_loss', '{:z.1f}', 100)} % of the speed is lost, rms error "
    return got + f"{compare(numbers, 'rms_error_m', '{:.3g}', 1e3)} mm", numbers


@figure(
    "002.3",
    "The same at five times the rate (K = 7e7, 220.5 kHz)",
    shows="with the rate raised five times the solutions of both schemes coincide again",
)
def hard_oversampled(page: Page) -> Outcome:
    numbers = experiment(page, LumpedCase(stiffness=7e7), 5.0 * AUDIO)
    got = f"iterative / plain / ours: {compare(numbers, 'stuck_energy', '{:z.2f}', 100)} % of the energy stays in the "
    return got + f"contact, rms error {compare(numbers, 'rms_error_m', '{:.3f}', 1e3)} mm over 0.5 s", numbers
