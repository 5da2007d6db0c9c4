#!/usr/bin/env python3
"""What the modal string's contact costs and how near it comes: error per nanosecond, on the sitar's F#3.

    python3 scripts/measure_contact.py [--seconds S] [--plucks N]

Error: rms of the force on the body over the first 50 ms below 20 kHz, against the same string with 24 points, modes to
90 kHz and sixteen times the rate, and the level in two bands against its; mean over plucks of 0.5 to 2.2 N. Time: ns of
a step while it rings. `explicit` has the gradients of other laws than the linear one; `alone` lacks the static answer
of what the band leaves out.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from engine.physics import modal
from engine.physics.contact import GENERAL
from engine.physics.excitation import pulse
from engine.physics.hearing import heard
from engine.physics.problem import Pickup, Problem
from engine.physics.string import Array
from engine.preset.loader import load_preset

LONG, BAND, RATE = 0.05, 20_000.0, 48_000.0
CONVERGED = (24, 16, 90_000.0)  # points, oversampling, band
FORCES = (1.0, 0.5, 2.2, 0.8, 1.7, 1.3)
VARIANTS = ("shipped", "alone", "explicit", "explicit alone")


def problem(points: int, force: float) -> Problem:
    """The sitar's string, heard by its body."""
    given = load_preset("sitar-string").problem
    return replace(
        given,
        barrier=replace(given.barrier, points=points),  # type: ignore[type-var]
        excitation=replace(given.excitation, force=force),
        pickups=(Pickup(0.0, "body_force"),),
    )


def designed(asked: Problem, rate: float, band: float, variant: str) -> modal.Design:
    """With whatever the variant takes away."""
    d = modal.design(asked, rate, band=band, made_up="alone" not in variant)
    c = d.coefficients
    if "explicit" in variant:
        c = c._replace(law=c.law._replace(form=GENERAL, power=0.0))
    return replace(d, coefficients=c)


def spectrum(d: modal.Design) -> Array:
    """Of the force on the body, up to the band."""
    run = modal.run(d, pulse(d.problem.excitation, d.rate, round(LONG * d.rate)), at=np.zeros(0, np.int64))
    return np.fft.rfft(heard(d.problem.pickups, run)[: round(LONG * d.rate), 0])[: round(BAND * LONG)] / d.rate


def compared(found: Array, wanted: Array) -> tuple[float, float, float]:
    """Error, and level from 10 to 14 and from 14 to 20 kHz in dB."""

    def power(x: Array, low: float, high: float) -> float:
        return float((np.abs(x[round(low * LONG) : round(high * LONG)]) ** 2).sum())

    levels = [10.0 * np.log10(power(found, *b) / power(wanted, *b)) for b in ((10e3, 14e3), (14e3, 20e3))]
    return float(np.sqrt(power(found - wanted, 0.0, BAND) / power(wanted, 0.0, BAND))), *levels


def step_time(designs: list[modal.Design], seconds: float) -> float:
    """ns, of strings that take turns: no processor learns what is to come."""
    block, silence, voices = 256, np.zeros(256), []
    for d in designs:
        s, out = modal.state(d.coefficients), np.zeros((2048, d.width))
        modal.kernel(d.coefficients, s, pulse(d.problem.excitation, d.rate, 2048), out)
        voices.append((d.coefficients, s))
    least, out, until = np.inf, np.zeros((block, designs[0].width)), time.perf_counter() + seconds
    while time.perf_counter() < until:
        began = time.perf_counter()
        for c, s in voices:
            modal.kernel(c, s, silence, out)
        least = min(least, time.perf_counter() - began)
    return float(least) * 1e9 / (block * len(voices))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.3, help="of timing for each (0.3)")
    parser.add_argument("--plucks", type=int, default=len(FORCES), help=f"how many, at most {len(FORCES)}")
    args = parser.parse_args()
    forces = FORCES[: args.plucks]
    points, factor, band = CONVERGED
    wanted = [spectrum(designed(problem(points, f), factor * RATE, band, "alone")) for f in forces]
    print(
        "| rate | points | rows | scheme | ns/step | error | 10-14 kHz | 14-20 kHz |\n|---|--:|--:|---|--:|--:|--:|--:|"
    )
    for over in (1, 2, 4):
        for points in (7, 8, 12, 16, 24):
            for variant in VARIANTS if points in (8, 16) else VARIANTS[:1]:
                made: list[Any] = [designed(problem(points, f), over * RATE, BAND, variant) for f in forces]
                found = [compared(spectrum(d), w) for d, w in zip(made, wanted, strict=True)]
                error, low, high = np.mean(found, axis=0)
                ns, rank = step_time(made, args.seconds), len(made[0].coefficients.mix)
                size = f"| x{over} | {points} | {rank} | {variant} | {ns:.0f} |"
                print(f"{size} {error:.3f} | {low:+.1f} dB | {high:+.1f} dB |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
