#!/usr/bin/env python3
"""Measure what a step of a string costs on this machine, part by part, as the table that engine/synth/budget.py keeps.

    python3 scripts/measure_budget.py [--seconds 0.2]

Each part is the slope between two strings that differ in it alone. Run it on a machine that does nothing else, and put
what it prints in the place of COSTS. PERFORMED is to be no less than any of what follows, of presets whose strings
stand on a body; how long a note is listened to depends on it, so another one is another pitch in its last digits.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")  # before numpy comes
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from engine.physics import finite_difference, modal
from engine.physics.designing import BAND
from engine.physics.dispersion import REACH
from engine.physics.network.weaving import weave
from engine.preset.loader import load_preset
from engine.study.couplings import seconds_a_step
from engine.study.ensemble import ensemble
from engine.study.played import LOUD, nearest_key
from engine.synth import budget
from engine.synth.keys import design_key
from engine.synth.rehearsal import REHEARSAL_RATE

RATE, KEY = 96_000.0, 48
STRING = {"length": 1.0, "density": 1e-3, "tension": 100.0, "stiffness": 1e-5}
PLAIN, WIDE = {"s0": 0.3, "s2": 1e-3}, {"s0": 0.6, "s1": 5e-3, "s2": 1e-3}
ON_A_BODY = ("sitar", "berimbau", "bray-harp", "shamisen", "banjo", "harpsichord")
LAWS = {"linear": 1.0, "quarter": 1.5, "half": 2.0, "general": 2.7}


def design(model: str, pitch: float = 130.8, loss: Any = PLAIN, rate: float = RATE, **preset: Any) -> budget.Design:
    """One key of a preset."""
    made = load_preset({"model": model, "string": {**STRING, "loss": loss}, **preset})
    key = design_key(made.problem, model, made.keys, pitch, rate)
    assert key.design is not None, key.silent_because
    return key.design


def hump(x: float, height: float) -> float:
    """A string that is pressed by this touches it everywhere; over a flat one it would rest on the ends alone."""
    return height + 1e-4 * (1.0 - ((x - 0.45) / 0.15) ** 2)


def surface(height: float, points: int = 40) -> dict[str, Any]:
    table = [[x, hump(x, height)] for x in np.linspace(0.3, 0.6, 61).tolist()]
    return {"profile": "table", "table": table, "points": points}


def pins(count: int) -> dict[str, Any]:
    return {"profile": "points", "at": [[x, hump(x, 1e-5)] for x in np.linspace(0.31, 0.59, count).tolist()]}


def step_time(made: budget.Design, seconds: float, metered: bool = False) -> float:
    """ns a step: the least of many blocks."""
    scheme: Any = modal if isinstance(made, modal.Design) else finite_difference
    c, state = made.coefficients, scheme.state(made.coefficients)
    steps = 256 if metered else 2048
    force, out = np.zeros(steps), np.zeros((steps, made.width))
    if metered:
        size = c.forward.size if isinstance(made, modal.Design) else c.rest.size
        book = scheme.log(steps, made.width, made.points.height.size, size, np.zeros(0, np.int64))
        work = lambda: scheme.observe(c, state, force, book)  # noqa: E731
    else:
        work = lambda: scheme.kernel(c, state, force, out)  # noqa: E731
    work()
    least, until = np.inf, time.perf_counter() + seconds
    while time.perf_counter() < until:
        began = time.perf_counter()
        work()
        least = min(least, time.perf_counter() - began)
    return float(least) * 1e9 / steps


def slope(few: budget.Design, many: budget.Design, part: str, seconds: float) -> float:
    """ns for each operation of a part by which two strings differ, when all that is known already is taken off."""
    small, large = (getattr(budget.operations(d), part) for d in (few, many))
    return max(0.0, step_time(many, seconds) - step_time(few, seconds)) / (large - small)


def kernels(seconds: float) -> dict[str, float]:
    """The parts of a step."""
    costs = {"nodes": slope(design("fd", 262), design("fd", 32.7), "nodes", seconds)}
    costs["wide"] = slope(design("fd", 262, WIDE), design("fd", 32.7, WIDE), "wide", seconds)
    far = design("fd", 65.4, WIDE, 4 * RATE)
    near = costs["wide"] * budget.operations(far).wide
    costs["far"] = max(0.0, step_time(far, seconds) - near) / budget.operations(far).far
    free = design("fd")
    costs["string"] = max(5.0, step_time(free, seconds) - costs["nodes"] * budget.operations(free).nodes)
    heard = [{"at": 0.1 + 0.02 * n} for n in range(16)]
    costs["entries"] = slope(design("modal", 65), design("modal", 65, pickups=heard), "entries", seconds)
    costs["watched"] = slope(free, design("fd", barrier=surface(-1.0)), "watched", seconds)
    for name, exponent in LAWS.items():
        pressed = design("fd", barrier=surface(1e-5), contact={"exponent": exponent, "stiffness": 1e7})
        alone = step_time(pressed, seconds) - step_time(free, seconds)
        costs[name] = max(0.0, alone / budget.operations(pressed).watched - costs["watched"])
    drag = {"exponent": 2.7, "stiffness": 1e7, "damping": 0.5}
    damped = design("fd", barrier=surface(1e-5), contact=drag)
    costs["damped"] = max(
        0.0,
        (step_time(damped, seconds) - step_time(free, seconds)) / budget.operations(damped).watched
        - costs["watched"]
        - costs["general"],
    )
    few, many = (design("fd", barrier=pins(n)) for n in (20, 200))
    rest = step_time(many, seconds) - step_time(few, seconds) - 180 * (costs["watched"] + costs["linear"])
    costs["pairs"] = max(0.01, rest / (budget.operations(many).pairs - budget.operations(few).pairs))
    return costs


def metered(seconds: float) -> dict[str, float]:
    """A step with its energies, per node or mode."""
    low, high = design("fd", 32.7), design("modal", 32.7)
    return {
        "metered_nodes": step_time(low, seconds, True) / budget.operations(low).nodes,
        "metered_modes": step_time(high, seconds, True) / high.coefficients.forward.size,
    }


def designs() -> dict[str, float]:
    """What is done once for a key, ns: all but contact, an entry of a modal table, a point pressed at rest cubed."""

    def once(*how: Any, **preset: Any) -> float:
        design(*how, **preset)
        took = []
        for _ in range(5):
            began = time.perf_counter()
            design(*how, **preset)
            took.append(time.perf_counter() - began)
        return min(took) * 1e9

    fitted = once("fd", 65.4, WIDE)
    reaching = design("fd", 32.7, WIDE, 4 * RATE)
    pairs = (reaching.coefficients.stencil.offset.size + REACH) ** 2
    far = (once("fd", 32.7, WIDE, 4 * RATE) - fitted) / (reaching.grid.intervals * pairs)
    free, many = once("modal", 65.4), once("modal", 65.4, barrier=surface(-1.0, 400))
    stiff = {"stiffness": 1e12, "exponent": 2.7}  # takes longest to balance
    pressed = once("modal", 65.4, barrier={"profile": "flat", "height": 1e-3, "points": 100}, contact=stiff)
    c = design("modal", 65.4, barrier=surface(-1.0, 400)).coefficients
    return {
        "key": free,
        "grid": fitted,
        "fitted": far,
        "tabled": (many - free) / (c.rows.size * c.height.size),
        "solved": (pressed - free) / 100**3,
    }


def performed() -> dict[str, float]:
    """ns a step for each byte of a network of a key's own strings on their body, in some presets."""
    found = {}
    for name in ON_A_BODY:
        preset = load_preset(name)
        assert preset.assembly is not None
        alone = replace(preset.assembly, sympathetic=())
        rate = preset.oversample * REHEARSAL_RATE
        network = ensemble(preset, alone, nearest_key(preset), LOUD, rate).network
        found[name] = 1e9 * seconds_a_step(network, rate) / weave(network, rate, min(BAND, 0.45 * rate)).block.nbytes
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.2, help="for each string (0.2)")
    seconds = parser.parse_args().seconds
    table = kernels(seconds) | metered(seconds) | designs()
    machine = f"{platform.processor() or platform.machine()}, Python {platform.python_version()}"
    print(f"# Measured by scripts/measure_budget.py, {datetime.date.today()}, {machine}.")
    print("COSTS = Costs(")
    for name, ns in table.items():
        print(f"    {name}={float(f'{ns:.3g}')},")
    print(")")
    each = performed()
    print(f"# PERFORMED is {budget.PERFORMED:g}; here " + ", ".join(f"{name} {ns:.2g}" for name, ns in each.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
