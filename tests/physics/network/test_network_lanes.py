"""Strings side by side in lanes: the samples of the network with the same strings one after the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from physics.networks import baj, random_body

from engine.compiled import called_by_python
from engine.errors import PhysicsError
from engine.lanes import LANES, advance_lanes, answer_lanes, bent, reached_lanes
from engine.physics.barrier import Barrier, Polynomial
from engine.physics.excitation import Excitation, pulse
from engine.physics.network.gathering import gather
from engine.physics.network.parts import Against, Body, Network, Plane, Strung
from engine.physics.network.stepping import run
from engine.physics.network.weaving import weave
from engine.physics.problem import Contact
from engine.physics.string import Loss, String

LOSS = Loss(0.6, 6.5e-3, 0.0, 5e-6)


def taraf(points: int, count: int) -> tuple[Strung, ...]:
    over = (Against(Barrier(Polynomial((0.0, 0.0, -0.75)), 0.0, 0.012, points), Contact(1e8)),) if points else ()
    strings = []
    for n in range(count):
        length, pitch = 0.72 - 0.025 * n, 277.0 * 2.0 ** (n / 12.0)
        tension = 3.26e-4 * (2.0 * length * pitch) ** 2
        strings.append(Strung(String(length, 3.26e-4, tension, 2.7e-5, LOSS), 0.8, ports=over, band=6e3))
    return tuple(strings)


@pytest.mark.parametrize(("points", "count", "directions"), [(0, 13, 1), (1, 16, 1), (2, 13, 1), (3, 5, 2), (4, 3, 3)])
def test_lanes_give_what_strings_by_themselves_give(points: int, count: int, directions: int) -> None:
    """Contact and all, until rounding has grown: 2000 steps, driven by a played string hard enough to touch."""
    rng = np.random.default_rng(2)
    while len((body := random_body(rng)).directions) != directions or not body.modes:
        pass
    body = replace(body, modes=tuple(replace(mode, mass=0.2) for mode in body.modes))
    played = Strung(baj(loss=LOSS), 1.0, excitation=Excitation(0.85, 20.0, 2e-3))
    others, rate, steps = taraf(points, count), 48e3, 2000
    force, knock = np.zeros((steps, 1 + count)), np.zeros((steps, directions))
    force[:, 0] = pulse(played.excitation, rate, steps)  # type: ignore[arg-type]
    outs = []
    for strings, flock in (((played, *others), None), ((played,), gather(others, body, rate))):
        w = weave(Network(strings, body), rate, 8e3, flock)
        out = np.zeros((steps, directions + body.channels))
        run(w.base, force, knock, np.zeros(steps), out)
        outs.append(out)
        if flock is not None and points:
            assert w.island.flock.psi.any() or w.island.flock.lost[0] >= 0.0
        if flock is None and points:
            assert any(w.strand(n).points.psi.any() or w.strand(n).points.force.any() for n in range(1, 1 + count))
    scale = np.abs(outs[0]).max(axis=0)
    assert (np.abs(outs[1] - outs[0]) / scale).max() <= 1e-10


@called_by_python
def compiled_pass(f, b, r, p, reach, n, a, out, first):  # type: ignore[no-untyped-def]
    advance_lanes(f, b, r, p, reach, n, a, out, first)


@called_by_python
def compiled_rows(start, table, pend, first, newest, now, level, psi, out, drawn):  # type: ignore[no-untyped-def]
    answer_lanes(start, table, pend, first, out)
    bent(newest, now, start, 3.0, drawn)
    return reached_lanes(level, now, out, psi)


def test_the_compiled_pass_has_the_bits_of_the_plain_one() -> None:
    """Which is two steps of the recursion, with what pushed before them; beyond their reach modes are left alone."""
    rng = np.random.default_rng(1)
    for count in (1, 2, 5):
        for first in {0, count - 1}:
            f, b, now, before = (rng.normal(size=(24, LANES)) for _ in range(4))
            rows, pend = rng.normal(size=(count, 24, LANES)), rng.normal(size=(2, count, LANES))
            both, reach, start, earlier = np.zeros((2, count * LANES)), np.array([24, 7]), now.copy(), before.copy()
            others = now.copy(), before.copy(), both.copy()
            advance_lanes(f, b, rows, pend, reach, now, before, both, first)
            compiled_pass(f, b, rows, pend, reach, *others, first)
            for plain, made in zip((now, before, both), others):
                assert (plain == made).all()
            one, two = np.einsum("hqs,qms->hms", pend[:, first:], rows[first:])
            old, y = earlier + one, start + f * one + two
            u1 = f * y - b * old
            assert np.allclose(before[:, :8], u1[:, :8])
            assert np.allclose(now[:7], (f * u1 - b * y)[:7])
            assert (before[7:, 8:] == earlier[7:, 8:]).all()
            assert np.allclose(both[1].reshape(count, LANES)[:, :8], np.einsum("qms,ms->qs", rows, now)[:, :8])


def test_rows_of_lanes_have_the_bits_of_the_plain_ones() -> None:
    rng = np.random.default_rng(2)
    for count in (1, 2, 5):
        size, points = count * LANES, (count - 1) * LANES
        start, newest, now, level, psi = (rng.normal(size=size) for _ in range(5))
        table, pend = rng.normal(size=(count, count, LANES)), rng.normal(size=(count, LANES))
        level, psi = level[:points] - 1.0, np.maximum(psi[:points] - 2.0, 0.0)
        for first in {0, count - 1}:
            out, made, drawn, bow = np.zeros(size), np.zeros(size), np.zeros(LANES), np.zeros(LANES)
            answer_lanes(start, table, pend, first, out)
            bent(newest, now, start, 3.0, drawn)
            near = compiled_rows(start, table, pend, first, newest, now, level, psi, made, bow)
            assert (out == made).all()
            assert (drawn == bow).all()
            assert np.allclose(drawn, 3.0 * (newest - 2.0 * now + start)[:LANES])
            chosen = [*range(first, count - 1), count - 1]
            exact = start + np.einsum("qps,qs->ps", table[chosen], pend[chosen]).ravel()
            assert np.allclose(out, exact)
            assert near & (2**64 - 1) == reached_lanes(level, now, out, psi)
            held = (level > now[:points]) | (level > out[:points]) | (psi > 0.0)
            assert [bool(near >> k & 1) for k in range(points)] == held.tolist()


def test_strings_that_differ_too_much_are_refused() -> None:
    two, one = taraf(2, 2), taraf(1, 1)
    for strings in ((*two, *one), (replace(two[0], planes=(Plane(), Plane(1.0))),), taraf(5, 2)):
        with pytest.raises(PhysicsError, match="let them be by themselves"):
            gather(strings, Body(), 48e3)
    with pytest.raises(PhysicsError, match="at most 16 lie side by side"):
        gather(taraf(0, 17), Body(), 48e3)
