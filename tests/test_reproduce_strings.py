"""The figures of papers 002 (strings) and 004 and the cost pages say what they are claimed to say."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib.image
import numpy as np
import pytest

from engine.physics import contact
from engine.physics.reference.gradient import plain
from engine.physics.reference.lumped import LumpedCase, iterative, non_iterative

SCRIPTS = Path(__file__).parent.parent / "scripts"
Draw = Callable[[str], dict[str, Any]]


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return lambda name: importlib.import_module(f"reproduction.{name}")


@pytest.fixture
def draw(module: Callable[[str], ModuleType], tmp_path: Path) -> Draw:
    """Draw a figure; its numbers as they stand in its JSON."""
    for name in ("paper_002_strings", "paper_004"):
        module(name)
    registry = module("registry")

    def numbers(id: str) -> dict[str, Any]:
        registry.run(registry.FIGURES[id], tmp_path)
        picture = matplotlib.image.imread(tmp_path / f"{id}.png")
        assert np.ptp(picture[..., :3]) > 0.9
        return json.loads((tmp_path / f"{id}.json").read_text())["numbers"]

    return numbers


def test_plain_gradient_leaves_energy_in_a_point_contact_and_pulls(draw: Draw) -> None:
    """002 Fig. 5, and that this engine's rule does neither."""
    numbers = draw("002.5")
    stuck, force, drift = (numbers[key] for key in ("stuck_energy", "lowest_force_N", "energy_drift"))
    assert stuck["fd plain"] > 5 * stuck["modal plain"] > 1e-3  # "particularly evident" with finite differences
    assert max(stuck["fd ours"], stuck["modal ours"]) < 1e-5
    assert force["fd plain"] < -1.0
    assert min(force["fd ours"], force["modal ours"], force["iterative"]) >= 0.0
    assert max(drift.values()) < 1e-11
    whole = list(numbers["total_energy_J"].values())
    assert max(whole) < 1.01 * min(whole)  # the same for all


def test_string_outputs_converge_with_the_rate(draw: Draw) -> None:
    """002 Fig. 7."""
    numbers = draw("002.7")
    audio, five = numbers["error_at_44100_Hz"], numbers["error_at_220500_Hz"]
    for scheme in audio:
        assert five[scheme] < 0.4 * audio[scheme] < 0.02


def test_three_point_oscillates_and_the_flat_barriers_period_is_right(draw: Draw) -> None:
    """004 Fig. 2."""
    numbers = draw("004.2")
    high = numbers["power_above_20_kHz"]
    assert high["two-point"] < 1e-7
    assert high["three-point"] > 1e-3 > 1e2 * high["three-point below 20 kHz"]
    late = [period - 1.5 for period in numbers["two_point_return_as_rate_and_stiffness_rise"].values()]
    assert 0.0 < late[2] < 0.6 * late[1] < 0.36 * late[0]
    assert numbers["most_newton_iterations"]["two-point"] <= 9  # "typically about 9"
    assert max(numbers["energy_drift"].values()) < 1e-12


def test_sitar_points_are_dependent_and_the_string_is_compressed_by_micrometres(draw: Draw) -> None:
    """004 Figs. 3 and 1."""
    sitar = draw("004.3")
    assert sitar["condition_of_W"] > 1e15
    assert sitar["modes"] == 60
    assert sitar["energy_drift"] < 1e-11
    assert sitar["unconverged"] == 0
    assert 1.0 < draw("004.1")["compression_at_0.952_ms_um"] < 5.0


@pytest.mark.parametrize("stiffness", [5e4, 7e7])
def test_the_compiled_lumped_mass_is_the_reference(module: Callable[[str], ModuleType], stiffness: float) -> None:
    """Up to the second contact, after which roundings have grown."""
    kernel, case, rate, steps = module("lumped_kernel"), LumpedCase(stiffness=stiffness), 44_100.0, 2500
    for run, reference in (
        (kernel.mass(case, rate, steps, kernel.EXPLICIT, contact.PLAIN), non_iterative(case, rate, steps, plain)),
        (kernel.mass(case, rate, steps, 20), iterative(case, rate, steps, 20)),
        (kernel.mass(case, rate, steps, 0), iterative(case, rate, steps)),
    ):
        np.testing.assert_allclose(run(), reference.displacement, atol=1e-9)


def test_load_at_an_error_is_read_off_the_line(module: Callable[[str], ModuleType]) -> None:
    cost = module("accuracy_cost")
    curve = cost.Curve([1.0, 0.1, 0.01], [1.0, 1.0, 1.0], [1.0, 10.0, 100.0])
    assert cost.cheapest(curve, 0.01**0.75) == pytest.approx(10.0**1.5)
    assert cost.cheapest(curve, 2.0) == 1.0
    assert cost.cheapest(curve, 0.001) is None


def test_a_later_start_is_the_same_motion(module: Callable[[str], ModuleType]) -> None:
    case = LumpedCase()
    shifted = module("accuracy_cost").later(case, 3e-3)
    assert shifted.flight(5e-3) == pytest.approx(case.flight(8e-3), rel=1e-12)
