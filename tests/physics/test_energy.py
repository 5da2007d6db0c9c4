"""The laws no scheme of the engine may break, on random problems: energy, F >= 0, psi = 0 out of contact (T11)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from physics.problems import problems

from engine.errors import PhysicsError
from engine.physics import contact, finite_difference, modal
from engine.physics.barrier import Barrier, Polynomial
from engine.physics.excitation import Excitation, pulse
from engine.physics.grid import ORIGIN
from engine.physics.problem import Contact, Pickup, Problem
from engine.physics.string import Loss, String

RATE = 48_000.0
MODELS = {"fd": finite_difference, "modal": modal}
RANDOM = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
AT = np.array([], np.int64)


def balance(problem: Problem, model: str, steps: int, rule: int = contact.SHIPPED, dtype: type = np.float64):
    """Worst error of the energy balance relative to the most energy seen, and the log."""
    d = MODELS[model].design(problem, RATE, rule=rule, dtype=dtype)
    log = MODELS[model].run(d, pulse(problem.excitation, RATE, steps), at=AT).log
    total = log.kinetic + log.potential + log.contact
    kept = total + log.lost - log.work
    return float(np.abs(kept - kept[0]).max()) / max(float(total.max()), 1e-30), log, total


@pytest.mark.parametrize("model", MODELS)
@RANDOM
@given(problem=problems())
def test_balance_with_losses_and_forcing(model: str, problem: Problem) -> None:
    error, log, total = balance(problem, model, 1500)
    assert error <= 1e-10
    assert log.force.min(initial=0.0) >= 0.0
    assert np.diff(log.lost, prepend=0.0).min() >= -1e-13 * total.max()  # every loss loses
    assert np.isfinite(log.out).all()


LIFTED = Problem(  # a low barrier under 257 nodes of a grid that only a string without stiffness makes so fine
    String(length=1.0, density=0.01, tension=64.0, stiffness=0.0, loss=Loss()),
    Barrier(Polynomial((3.0517578125e-05, 0.0)), start=0.0, stop=0.4375, points=1),
    Contact(1e5, 1.0),
    Excitation(0.5, 0.0, 0.01),
    (Pickup(0.5), Pickup(0.0, "bridge_force")),
)


def test_a_grid_that_is_lifted_at_too_many_nodes_is_refused_and_fewer_are_not() -> None:
    with pytest.raises(PhysicsError, match="presses the resting string at 257 contact points, at most 256"):
        finite_difference.design(LIFTED, RATE)
    shorter = replace(LIFTED, barrier=replace(LIFTED.barrier, stop=0.435))
    _, log, total = balance(shorter, "fd", 200)
    assert np.abs(total - total[0]).max() <= 1e-11 * total[0]
    assert log.contact.min() >= 0.0


@pytest.mark.parametrize("model", MODELS)
@RANDOM
@given(problem=problems(lossless=True))
def test_no_drift_without_loss_once_the_force_has_gone(model: str, problem: Problem) -> None:
    _, log, total = balance(problem, model, 2000)
    free = total[int(problem.excitation.duration * RATE) + 2 :]
    assert np.abs(free - free[0]).max() <= 1e-11 * free[0]
    assert log.contact.min() >= 0.0


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("force", [1e-2, 1.0, 1e2])
@settings(max_examples=35, deadline=None, suppress_health_check=list(HealthCheck))
@given(problem=problems(), seed=st.integers(0, 2**32 - 1))
def test_a_point_above_the_barrier_that_recedes_holds_nothing(
    model: str, force: float, problem: Problem, seed: int
) -> None:
    """Whatever a contact stored goes back as soon as it is over.

    A node on its own: eta^n <= 0 and eta^{n+1} < eta^{n-1} mean psi = 0. What a modal string's point holds belongs to
    the middle of two steps: it lets go once both were above. Points of a grid that push each other may be sent away by
    one that comes later in the sweep, and then let go a step later: three receding steps above the barrier for them.
    """
    m = MODELS[model]
    d = m.design(problem, RATE)
    c, s = d.coefficients, m.state(d.coefficients)
    out, push = np.zeros((1, 2)), np.zeros(1)
    noise = np.random.default_rng(seed).standard_normal(300)
    alone = d.points.height.size == 1 or (model == "fd" and isinstance(problem.barrier, Barrier))
    eta = [d.points.height - newest(d, s)] * 4
    for n in range(300):
        push[0] = force * noise[n] * (n < 100)
        m.kernel(c, s, push, out)
        psi = s.touch.psi[: d.points.height.size]
        eta = [*eta[1:], d.points.height - newest(d, s)]
        assert (psi >= 0.0).all()
        if alone:
            receding = (
                (eta[2] <= 0.0) & (eta[3] < eta[1] - 1e-12 * np.abs(eta[1])) & ((eta[1] <= 0.0) | (model == "fd"))
            )
        else:
            receding = (eta[0] <= 0.0) & (eta[1] < eta[0]) & (eta[2] < eta[1]) & (eta[3] < eta[2])
        assert psi[receding].max(initial=0.0) <= 1e-15


def newest(d: finite_difference.Design | modal.Design, s: finite_difference.State | modal.State) -> np.ndarray:
    """String displacement at the contact points after the last step."""
    if isinstance(d, finite_difference.Design) and isinstance(d.problem.barrier, Barrier):
        level = (s.level1, s.level2, s.level0)[s.clock[0] % 3]
        first = d.coefficients.surface.first_node + ORIGIN
        return level[first : first + d.points.height.size].copy()
    return s.touch.now[: d.points.height.size].copy()


@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(problem=problems(lossless=True))
def test_the_plain_gradient_conserves_energy_too(model: str, problem: Problem) -> None:
    """Its defects are others: energy left in the contact, forces that pull (§2.1)."""
    error, _, _ = balance(problem, model, 1000, contact.PLAIN)
    assert error <= 1e-9
