"""Presets that would eat the machine are refused before they do; those that come near to it are designed in time."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from one_string import ONE_STRING

from engine.errors import PhysicsError
from engine.physics import contact, finite_difference, grid, spots
from engine.physics.barrier import ContactPoints
from engine.preset.loader import load_preset
from engine.study.simulate import SCHEMES, simulate
from engine.synth import budget
from engine.synth.instrument import Instrument
from engine.synth.rehearsal import REHEARSED

ROOT = Path(__file__).parents[2]
RATE = 8_000
STRING = {"length": 1.0, "density": 1e-3, "tension": 100.0, "stiffness": 3e-4, "loss": {"s0": 0.3, "s2": 1e-3}}
IDEAL = {**STRING, "stiffness": 0.0}


def flat(height: float, points: int = 500) -> dict[str, Any]:
    return {"profile": "flat", "height": height, "points": points}


def pins(height: float, count: int = 500) -> dict[str, Any]:
    return {"profile": "points", "at": [[(n + 0.5) / (count + 1), height] for n in range(count)]}


HUGE: dict[str, dict[str, Any]] = {
    "many points": {"string": STRING, "barrier": flat(-1e-3)},
    "many points pressed": {"string": STRING, "barrier": flat(1e-3, 200)},
    "many pins": {"string": STRING, "barrier": pins(-1e-3)},
    "many pins on a grid": {"model": "fd", "string": STRING, "barrier": pins(-1e-3)},
    "many voices": {"string": STRING, "barrier": flat(-1e-3, 300), "polyphony": 256},
    "very low": {"string": IDEAL, "barrier": flat(-1e-3, 400), "tuning": "A4=1"},
}
LARGE: dict[str, dict[str, Any]] = {
    "many points": {"string": STRING, "barrier": flat(-1e-3, 150)},
    "many points pressed": {"string": STRING, "barrier": flat(1e-3, 60)},
    "pressed beyond hope": {"string": STRING, "barrier": flat(1e-3)},
    "a barrier all along a grid": {"model": "fd", "string": STRING, "barrier": flat(-1e-3)},
    "pressed all along a grid": {"model": "fd", "string": STRING, "barrier": flat(1e-4)},
    "very low": {"model": "fd", "string": IDEAL, "barrier": flat(1e-3), "tuning": "A4=1"},
    "many voices": {"string": STRING, "polyphony": 256},
    "everything": {"string": STRING, "polyphony": 64, "pickups": [{"at": 0.1}] * 16, "barrier": pins(-1e-3, 30)},
}


ORDINARY = {"string": STRING}
MOST_ORDINARY = 30.0  # times as long as ORDINARY takes: a second where that takes 0.03 s; 15 were seen

# Designs each preset up to three times (the machine has other work), or until it took no longer than it may, and tells
# the least CPU seconds, the most MB, and what was said; what is ordinary, three times. On one processor: the idle
# threads of a linear algebra library would be counted too.
MEASURE = f"""
import json, os, sys, time
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "tests")!r}]
from robustness_parts.cases import fresh_memory, most_memory
from engine import EngineError, Instrument

def design(preset):
    before, began, said = fresh_memory(), time.process_time(), ""
    try:
        Instrument(preset, {RATE})
    except EngineError as error:
        said = str(error)
    return time.process_time() - began, most_memory() - before, said

def measure(preset, enough):
    tries = []
    while len(tries) < 3 and (not tries or min(tries)[0] >= enough):
        tries.append(design(preset))
    return min(tries)[0], max(mb for _, mb, _ in tries), tries[0][2]

design("plain"), design("slap-bass")  # everything loaded
ordinary, *presets = json.load(sys.stdin)
usual = measure(ordinary, 0.0)
print(json.dumps([usual, *(measure(preset, {MOST_ORDINARY} * usual[0]) for preset in presets)]))
"""
Measured = dict[str, tuple[float, float, str]]


def measure(presets: dict[str, dict[str, Any]]) -> Measured:
    """How long each preset is designed for, as multiples of ORDINARY, its MB, and what is said about it."""
    command = [sys.executable, "-c", MEASURE]
    done = subprocess.run(
        command,
        input=json.dumps([ORDINARY, *presets.values()]),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (ordinary, *_), *measured = json.loads(done.stdout)
    return {name: (seconds / ordinary, mb, said) for name, (seconds, mb, said) in zip(presets, measured, strict=True)}


@pytest.fixture(scope="module")
def both() -> list[Measured]:
    """Beside each other: what is counted is each program's own time and memory."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(measure, (HUGE, LARGE)))


@pytest.fixture(scope="module")
def huge(both: list[Measured]) -> Measured:
    return both[0]


@pytest.fixture(scope="module")
def large(both: list[Measured]) -> Measured:
    return both[1]


@pytest.mark.alone
@pytest.mark.parametrize("name", HUGE)
def test_what_is_too_large_is_refused_in_time(name: str, huge: Measured) -> None:
    times, megabytes, said = huge[name]
    assert said.startswith("instrument = ")
    assert any(remedy in said for remedy in ("lower barrier.points", "fewer obstacles", "lower polyphony"))
    assert said.isprintable()
    assert times < MOST_ORDINARY
    assert megabytes < 1.2e-6 * budget.MOST_BYTES


@pytest.mark.alone
@pytest.mark.parametrize("name", LARGE)
def test_what_is_only_large_is_designed_in_time(name: str, large: Measured) -> None:
    times, megabytes, said = large[name]
    assert said == ""
    assert times < MOST_ORDINARY
    assert megabytes < 1.2e-6 * budget.MOST_BYTES


@pytest.mark.alone
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_string_of_too_many_modes_or_nodes_is_not_simulated(scheme: str) -> None:
    for _ in range(2):  # the second time nothing is compiled
        began = time.process_time()
        with pytest.raises(PhysicsError, match=r"makes a grid of 4.36e\+09 intervals|make tables of 4.8e\+09 numbers"):
            simulate({"string": {"length": 100.0, "density": 1e3, "tension": 1e-3}}, 0.001, scheme=scheme)
    assert time.process_time() - began < 0.5


@pytest.mark.parametrize("name", ONE_STRING)
def test_no_limit_is_near_the_shipped_presets(name: str) -> None:
    """All their keys are rehearsed, so that their loudness is what it always was."""
    made = Instrument(name)
    ready = {n: d for n in REHEARSED if (d := made._bank.keys[n].design) is not None}
    assert budget.thinned(ready) == ready
    assert sum(budget.step_time(d) * d.rate for d in ready.values()) * budget.NOTE < 0.25e9 * budget.REHEARSING
    assert kept(made) < 0.1 * budget.MOST_BYTES


def kept(made: Instrument) -> int:
    """Bytes: the memory itself, and how it was at first; strings that may be saved lie in it."""
    bank = made._bank
    assert np.shares_memory(bank.designed.strings.block, bank.block)
    return bank.block.nbytes + bank.image.nbytes + bank.designed.strings.words.nbytes


def test_memory_is_not_underestimated() -> None:
    """What the budget counts is at least what the bank keeps."""
    for preset in ("sitar-string", "slap-bass", LARGE["many points"], LARGE["everything"]):
        made = Instrument(preset, RATE)
        counted = budget.Budget(made.polyphony + 8)
        for key in made._bank.keys:
            counted.spend(key.design)
        assert kept(made) / 8 <= counted._keys + counted._voices * counted._voice


def test_large_presets_are_rehearsed_at_fewer_keys() -> None:
    made = Instrument({"string": STRING, "barrier": flat(-1e-3, 150)}, 8 * RATE)
    ready = {n: d for n in REHEARSED if (d := made._bank.keys[n].design) is not None}
    chosen = budget.thinned(ready)
    assert 5 < len(chosen) < len(ready)
    assert sum(budget.step_time(d) * d.rate for d in chosen.values()) * budget.NOTE <= 1e9 * budget.REHEARSING
    apart = np.diff([list(ready).index(n) for n in chosen])
    assert (apart == apart[0]).all()


def test_points_below_the_rest_line_carry_nothing() -> None:
    """The equilibrium is solved only where the barrier is above the line: the others would not have touched."""
    rng = np.random.default_rng(3)
    string = load_preset({"string": STRING}).problem.string
    g = grid.grid(string, 24_000)
    x = np.sort(rng.choice(np.arange(1, g.intervals), 30, replace=False)) * g.spacing
    height = rng.uniform(-1e-3, 1e-3, 30)
    points = ContactPoints(x, height, np.full(30, 1e7))
    _, compliance = spots.compliance(finite_difference.restoring(string, g, 24_000), g, spots.contact_spots(points, g))
    assert (compliance > 0.0).all()
    for exponent in (1.0, 1.5, 2.5):
        force = contact.equilibrium(compliance, points, exponent)
        eta = np.clip(height - compliance @ force, 0.0, None)
        assert (eta[height <= 0.0] == 0.0).all()
        assert force == pytest.approx(1e7 * eta**exponent, rel=1e-7, abs=1e-9 * force.max())


@pytest.mark.parametrize("stiffness", [1e2, 1e8, 1e14, 1e18])
def test_an_equilibrium_of_any_stiffness_ends_soon_and_holds(stiffness: float) -> None:
    """Work and stored energy: no force is pulled, none is left where there is air, and the string is not crossed."""
    string = load_preset({"string": STRING}).problem.string
    g = grid.grid(string, 24_000)
    x = np.arange(1, min(g.intervals, 100)) * g.spacing
    points = ContactPoints(x, np.full(x.size, 1e-3), np.full(x.size, stiffness))
    _, compliance = spots.compliance(finite_difference.restoring(string, g, 24_000), g, spots.contact_spots(points, g))
    began = time.process_time()
    force = contact.equilibrium(compliance, points, 1.0)
    assert time.process_time() - began < 1.0
    left = points.height - compliance @ force
    assert force.min() >= -1e-6 * force.max()
    assert left.max() <= max(1e-3, force.max() / stiffness) * (1.0 + 1e-6)
    assert np.abs(force[left < -1e-9]).max(initial=0.0) <= 1e-6 * force.max()
