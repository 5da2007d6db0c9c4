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
from engine.physics.reference.contact_duration import MassWall, two_point
from engine.physics.reference.gradient import entry_secant, plain
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
    for name in ("paper_002_strings", "paper_002_modal", "paper_004"):
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


def test_which_grid_or_modes_keep_more_depends_on_where_the_force_acts(draw: Draw) -> None:
    """002 Fig. 5 again, with the paper's own modal scheme: the grid is worse at .4 L, modes at .1 and .45."""
    numbers = draw("002.5.struck")
    for places in numbers["differences_worse_at"].values():
        assert 0.4 in places
        assert not {0.1, 0.45} & set(places)
    for name in ("finite differences, ours", "exact poles, ours", "iterative"):
        assert max(numbers["stuck_energy"][name]) < 1e-12


def test_string_outputs_converge_with_the_rate(draw: Draw) -> None:
    """002 Fig. 7."""
    numbers = draw("002.7")
    audio, five = numbers["error_at_44100_Hz"], numbers["error_at_220500_Hz"]
    for scheme in audio:  # this engine's grid is nearer from the start, and gains less
        assert five[scheme] < (0.6 if scheme == "fd ours" else 0.4) * audio[scheme] < 0.02
    own = numbers["on_this_engines_grid_at_44100_Hz"]
    assert own["iterative"] < own["plain"] < 0.3 * audio["iterative"]


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


@pytest.mark.parametrize("stiffness", [5e4, 7e7])
def test_what_is_drawn_as_ours_is_the_contact_that_plays(module: Callable[[str], ModuleType], stiffness: float) -> None:
    case, rate, steps = LumpedCase(stiffness=stiffness), 44_100.0, 2500
    found = module("lumped_kernel").trajectory(case, rate, steps)
    wanted = non_iterative(case, rate, steps, entry_secant)
    for name, scale in (("displacement", 1.0), ("force", wanted.force.max()), ("psi", wanted.psi.max())):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), rtol=0.0, atol=1e-8 * scale)
    assert np.abs(found.total / found.total[0] - 1.0).max() < 1e-12


@pytest.mark.parametrize("exponent", [1.0, 1.5])
def test_the_compiled_two_point_mass_is_the_reference(module: Callable[[str], ModuleType], exponent: float) -> None:
    """001 (8), and in flight the exact one."""
    wall = MassWall(0.01, 1e6, exponent, -1e-4, 1.0)
    free = LumpedCase(wall.mass, 0.0, 0.0, wall.start, wall.speed, wall.stiffness, exponent)
    kernel, rate = module("lumped_kernel"), 44_100.0
    wanted = two_point(wall, rate, 200).displacement
    np.testing.assert_allclose(kernel.mass_halfway(free, rate, 200, 0)(), wanted, rtol=0.0, atol=1e-10)
    swinging = LumpedCase(frequency=300.0, height=1e3, start=-0.2, exponent=exponent)
    flight = [swinging.flight(n / rate) for n in range(200)]
    np.testing.assert_allclose(kernel.mass_halfway(swinging, rate, 200, 0)(), flight, rtol=0.0, atol=1e-11)


def test_two_points_halve_what_three_are_late_and_a_secant_does_as_well(module: Callable[[str], ModuleType]) -> None:
    durations = module("durations")

    def rms(name: str, samples: float) -> float:
        return float(np.sqrt(np.mean(durations.errors(durations.SCHEMES[name], 1.0, samples) ** 2)))

    for samples in (2.4, 6.0):
        two, three = rms("iterative, two-point", samples), rms("iterative, three-point", samples)
        assert rms("with the secant at onset", samples) < two < 0.5 * three
    assert rms("the cap alone", 6.0) == pytest.approx(0.099, abs=0.001)


def test_durations_are_of_second_order(module: Callable[[str], ModuleType]) -> None:
    """001 section 2.1, for exponent 1 as well."""
    paper = module("paper_001")
    for points, exponent in ((2, 1.0), (2, 2.3), (3, 1.5)):
        errors = paper.duration_errors(points, exponent)
        assert np.log(errors[2] / errors[-1]) / np.log(4.0) == pytest.approx(2.0, abs=0.1)


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
