"""Contact at the nodes of a grid: vector code against its twin, bit by bit, and against the law one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine import nodes
from engine.compiled import called_by_python
from engine.nodes import power_of_single
from engine.pairs import whole
from engine.physics import contact
from engine.physics.barrier import ContactPoints
from engine.physics.problem import Contact
from engine.physics.responses import deep, in_vectors

ANSWER = 8e-7  # m/N: of a node at 48 kHz
both = pytest.mark.parametrize("dtype", [np.float64, np.float32])


@called_by_python
def press(
    height: Any, now: Any, before: Any, after: Any, psi: Any, slope: Any, force: Any, law: Any, answer: Any
) -> None:
    powers = law.form, law.power, law.secant
    nodes.press(height, now, before, after, psi, slope, force, powers, law.grain, answer)


@called_by_python
def reached(height: Any, now: Any, after: Any, psi: Any, force: Any) -> Any:
    return nodes.reached(height, now, after, psi, force)


@called_by_python
def respond(law: Any, k: Any, eta: Any, eta_before: Any, push: Any, psi: Any, answer: Any) -> Any:
    return contact.respond(law, law.slope[k], eta, eta_before, push, psi, answer)


def stirred(count: int, exponent: float, dtype: Any) -> tuple[Any, list[Any]]:
    """A law, and nodes that do all that they may: height, three levels and psi."""
    random = np.random.default_rng(count)
    stiffness = random.uniform(1e4, 1e9, count)
    law = contact.law(ContactPoints(stiffness, stiffness, stiffness), Contact(1.0, exponent), 48e3, dtype)
    height, room = random.normal(0.0, 1e-5, count), whole(count, dtype)
    levels = random.normal(0.0, 1e-5, (3, room))
    psi = np.where(random.random(count) < 0.5, random.uniform(0.0, 3e-2, count), 0.0)
    arrays = [deep(height, dtype), *levels.astype(dtype), in_vectors(psi, dtype)]
    return law._replace(slope=in_vectors(law.slope, dtype)), arrays


@both
@pytest.mark.parametrize("exponent", [1.0, 1.3, 1.5, 2.0, 2.7])
@pytest.mark.parametrize("count", [1, 8, 13, 40, 200])
def test_nodes_in_vectors(count: int, exponent: float, dtype: Any) -> None:
    law, (height, now, before, after, psi) = stirred(count, exponent, dtype)
    start, held = after.copy(), psi.copy()
    force, twins = np.full(height.size, np.nan, dtype), [after.copy(), psi.copy(), np.full(height.size, np.nan, dtype)]
    press(height, now, before, after, psi, law.slope, force, law, dtype(ANSWER))
    powers = law.form, law.power, law.secant
    nodes.press(height, now, before, twins[0], twins[1], law.slope, twins[2], powers, law.grain, dtype(ANSWER))
    for one, other in zip((after, psi, force), twins, strict=True):
        assert (one == other).all()
    # Behind the last node nothing happens; at each the law is the law.
    assert (after[count:] == start[count:]).all()
    assert not psi[count:].any()
    assert not force[count:].any()
    assert count < 100 or (force > 0.0).any()
    accurate = 1e-9 if dtype is np.float64 else 1e-3
    wanted = np.zeros((count, 2))
    for k in range(count):
        eta, eta_before, push = height[k] - now[k], height[k] - before[k], before[k] - start[k]
        wanted[k] = respond(law, k, eta, eta_before, push, held[k], dtype(ANSWER))[:2]
    for found, one_by_one in zip((force, psi), wanted.T, strict=True):
        assert np.abs(found[:count] - one_by_one).max() <= accurate * max(np.abs(one_by_one).max(), 1e-12)
    assert (after[:count] == start[:count] + dtype(ANSWER) * force[:count]).all()


@both
@pytest.mark.parametrize("count", [1, 8, 13, 40])
def test_one_node_that_is_reached_is_found(count: int, dtype: Any) -> None:
    """Inside, about to be or holding energy: in any place, and none where nothing is."""
    room = whole(count, dtype)
    for way in range(4):
        for k in range(count):
            height = deep(np.zeros(count), dtype)
            now, after, psi, force = np.ones(room, dtype), np.ones(room, dtype), np.zeros(room, dtype), np.ones(room)
            force = force.astype(dtype)
            if way < 3:
                (now, after, psi)[way][k] = 1.0 if way == 2 else -1.0
            assert nodes.reached(height, now, after, psi, force.copy()) == (way < 3)
            assert reached(height, now, after, psi, force) == (way < 3)
            assert not force.any()


def test_powers_in_single_precision() -> None:
    """The law's own need no more: energy is exact whatever the gradient."""
    x = (10.0 ** np.random.default_rng(1).uniform(-9.0, 0.0, 2000)).astype(np.float32)
    for exponent in (0.05, 0.15, 0.65):
        y = np.float32(exponent)
        found = power_of_single(x, y, lambda x: x.view(np.int32), lambda bits: bits.view(np.float32))
        assert found.dtype == np.float32
        assert np.abs(found / x.astype(float) ** float(y) - 1.0).max() < 2e-6
