"""All points of a string at once: what any block must keep, and what a linear contact's own gradient promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.compiled import called_by_python
from engine.physics import block, contact, modal, rank, statics
from engine.physics.barrier import Barrier, ContactPoints, Polynomial
from engine.physics.contact import PLAIN, SHIPPED
from engine.physics.excitation import Excitation, pulse
from engine.physics.hearing import heard
from engine.physics.problem import Contact, Pickup, Problem
from engine.physics.string import Array, Loss, String

RATE = 48_000.0


@called_by_python
def solve(law: Any, height: Any, response: Any, touch: Any, push: Any, work: Any, count: Any, forward: Any) -> Any:
    return block.solve(law, height, response, touch, push, work, count, forward)


class Block:
    """Random points that move each other, in contact, entering, leaving or away."""

    def __init__(
        self, seed: int, count: int, exponent: float, stiffness: float, damping: float, rule: int, near: bool = False
    ) -> None:
        random = np.random.default_rng(seed)
        depth = random.standard_normal((count, min(count, 1 + int(random.integers(8))))) * 1e-3
        depth = np.abs(depth) if near else depth  # points near each other go the same way
        self.response = depth @ depth.T + np.diag(random.random(count) * 1e-6)
        points = ContactPoints(np.zeros(count), random.standard_normal(count) * 1e-5, np.full(count, stiffness))
        self.law = contact.law(
            points, Contact(stiffness, exponent, damping), RATE, rule=rule, response=np.diag(self.response)
        )
        self.height, self.touch = points.height, contact.touch(count, np.float64)
        self.touch.now[:], self.touch.before[:] = random.standard_normal((2, count)) * 1e-5
        inside = points.height - 0.5 * (self.touch.now + self.touch.before)
        held = contact.psi_at(inside, points, exponent) * random.choice([1.0, 1.0, 1.0, 1.3], count)
        self.psi = held * (random.random(count) < 0.8)
        self.touch.psi[:], self.touch.pushed[:] = self.psi, np.arange(count)
        self.push = random.standard_normal(count) * 1e-5

    def solve(self, forward: bool = True) -> tuple[Array, Array]:
        """Forces, and eta+ - eta-."""
        size = min(self.height.size, block.MOST_AT_ONCE)
        work, count = np.zeros((block.ROWS + size, size)), self.height.size
        solve(self.law, self.height, self.response, self.touch, self.push.copy(), work, count, forward)
        force = self.touch.force.copy()
        return force, self.push - self.response @ force


rules = st.sampled_from([(1.0, SHIPPED), (1.0, SHIPPED), (1.3, SHIPPED), (1.5, SHIPPED), (2.5, SHIPPED), (1.0, PLAIN)])


@pytest.mark.interpreted
@settings(max_examples=300)
@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(1, 60),
    rule=rules,
    stiffness=st.floats(2.0, 12.0).map(lambda e: 10.0**e),
    damping=st.sampled_from([0.0, 0.0, 0.3, 20.0]),
    forward=st.booleans(),
)
def test_no_block_pulls_or_makes_energy(
    seed: int, count: int, rule: tuple[float, int], stiffness: float, damping: float, forward: bool
) -> None:
    """F >= 0, psi >= 0, and the work is what psi gained and what was lost, whatever meets whatever how hard."""
    b = Block(seed, count, rule[0], stiffness, damping if rule[1] != PLAIN else 0.0, rule[1])
    force, shift = b.solve(forward)
    gained = 0.5 * (b.touch.psi**2 - b.psi**2).sum() + b.touch.lost[0]
    scale = 0.5 * (b.touch.psi**2 + b.psi**2).sum() + np.abs(force) @ (np.abs(b.push) + b.response @ np.abs(force))
    assert abs(0.5 * force @ shift - gained) <= 1e-11 * scale
    assert b.touch.lost[0] >= 0.0
    if rule[1] != PLAIN:
        assert force.min() >= 0.0
        assert b.touch.psi.min() >= 0.0


@settings(max_examples=200)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 24), stiffness=st.floats(2.0, 6.0).map(lambda e: 10.0**e))
def test_a_linear_contact_holds_what_its_middle_says(seed: int, count: int, stiffness: float) -> None:
    """psi+ = psi((eta+ + eta)/2), of points for which psi was so: as a contact begins, lasts and ends."""
    b = Block(seed, count, 1.0, stiffness, 0.0, SHIPPED, near=True)
    eta, before = b.height - b.touch.now, b.height - b.touch.before
    known = np.abs(b.psi - np.sqrt(stiffness) * np.clip(0.5 * (eta + before), 0.0, None)) <= 1e-12
    before_after = b.psi.copy()
    _, shift = b.solve()
    middle = np.sqrt(stiffness) * np.clip(0.5 * (eta + before + shift), 0.0, None)
    size = np.sqrt(stiffness) * np.abs(b.push).max()
    lasting = known & (before_after > 0.0) & (b.touch.psi > 0.0)
    assert np.abs(b.touch.psi - middle)[lasting].max(initial=0.0) <= 1e-9 * size
    beginning = known & (before_after == 0.0)
    assert np.abs(b.touch.psi - middle)[beginning].max(initial=0.0) <= 1e-6 * size
    ending = known & (before_after > 0.0) & (b.touch.psi == 0.0) & ((eta > 0.0) | (before > 0.0))
    assert middle[ending].max(initial=0.0) <= 1e-5 * size


@given(seed=st.integers(0, 2**32 - 1))
def test_one_point_by_itself_is_the_two_point_law(seed: int) -> None:
    """F = (phi(m+) - phi(m)) / (m+ - m), m the middle of two steps: no search, no error."""
    b = Block(seed, 1, 1.0, 1e5, 0.0, SHIPPED)
    m = 0.5 * float((2.0 * b.height - b.touch.now - b.touch.before)[0])
    b.touch.psi[:] = b.psi = np.sqrt(1e5) * np.clip(np.array([m]), 0.0, None)
    inside = bool(((b.height > b.touch.now) | (b.height > b.touch.before))[0])
    force, shift = b.solve()
    after = m + 0.5 * float(shift[0])
    phi = [0.5e5 * max(x, 0.0) ** 2 for x in (m, after)]
    if inside or b.psi[0] == 0.0:
        assert float(force[0]) * (after - m) == pytest.approx(phi[1] - phi[0], abs=1e-12 * (max(phi) + 1e-12))


@called_by_python
def at_once(law: Any, height: Any, response: Any, touch: Any, push: Any, work: Any, size: Any) -> Any:
    return block.at_once(law, height, response, touch, push, work, 0, size)


def meeting(b: Block, k: int, moved: float) -> tuple[float, float]:
    """Force and s of a point that would move by `moved`, of a linear law: roots of quadratic equations (2.8)."""
    a, psi, w = float(b.law.slope[k]), float(b.psi[k]), float(b.response[k, k])
    if psi == 0.0:
        gap = max(-float(2.0 * b.height[k] - b.touch.now[k] - b.touch.before[k]), 0.0)
        if moved <= gap:
            return 0.0, moved
        s = max(np.roots([1.0 + a * a * w, -moved - 2.0 * a * a * w * gap, a * a * w * gap * gap]).real)
        return (moved - s) / w, s
    s = (moved - 2.0 * w * a * psi) / (1.0 + w * a * a)
    if psi + a * s < 0.0:  # it ends: F s = -psi^2
        s = min(np.roots([1.0, -moved, -w * psi * psi]))
    return (moved - s) / w, s


@pytest.mark.parametrize("stiffness", [1e3, 1e5, 1e7, 1e9])
def test_a_block_is_where_forces_and_string_meet(stiffness: float) -> None:
    """To what points come to that are solved one by one until none moves any more: there is one such place."""
    for seed in range(25):
        b = Block(seed, 2 + seed % 7, 1.0, stiffness, 0.0, SHIPPED, near=True)
        inside = (b.height > b.touch.now) | (b.height > b.touch.before)
        b.psi *= inside  # what is left of a contact that is over has a law of its own
        b.touch.psi[:], count = b.psi, b.height.size
        force = np.zeros(count)
        for _ in range(20_000):
            before = force.copy()
            for k in range(count):
                others = b.response[k] @ force - b.response[k, k] * force[k]
                force[k] = meeting(b, k, float(b.push[k] - others))[0]
            if np.abs(force - before).max() <= 1e-12 * np.abs(force).max(initial=0.0):
                break
        else:
            raise AssertionError(f"seed {seed}: {np.abs(force - before).max()}")
        assert at_once(b.law, b.height, b.response, b.touch, b.push.copy(), np.zeros((36, 24)), count), seed
        assert np.abs(b.touch.force - force).max() <= 2e-5 * np.abs(force).max(initial=0.0), seed


def test_blocks_go_one_after_the_other_where_there_are_many() -> None:
    """Forwards and backwards are both exact and not the same; few points know no direction."""
    forces = []
    for count in (20, 60):
        both = [Block(5, count, 1.0, 1e5, 0.0, SHIPPED).solve(forward)[0] for forward in (True, False)]
        forces.append(np.abs(both[0] - both[1]).max() / both[0].max())
    assert forces[0] == 0.0
    assert forces[1] > 1e-6


# --- rank and statics -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 7, 12, 30, 200])
def test_rows_near_an_end_are_sums_of_few(count: int) -> None:
    x, b = (np.arange(count) + 0.5) * 0.03 / count, np.arange(1, 100) * np.pi / 0.88
    rows = np.sin(np.outer(x, b))
    kept, mix = rank.skeleton(rows)
    assert np.abs(mix @ rows[kept] - rows).max() <= 2e-4
    assert (mix[kept] == np.eye(kept.size)).all()
    assert kept.size <= 8
    assert np.abs(mix).max() <= 3.0


def test_rows_that_depend_on_nothing_are_kept_as_they_are() -> None:
    rows = np.random.default_rng(1).standard_normal((9, 40))
    kept, mix = rank.skeleton(rows)
    assert (kept == np.arange(9)).all()
    assert (mix == np.eye(9)).all()
    kept, mix = rank.skeleton(np.concatenate([rows, 2.0 * rows[:3]]))
    assert kept.size == 9


@pytest.mark.parametrize("length", [0.1, 0.44, 0.88, 2.5])
@pytest.mark.parametrize("count", [1, 3, 10, 24])
def test_few_rows_do_where_the_rest_is_made_up_for(length: float, count: int) -> None:
    d = modal.design(over_a_bridge(length, count), RATE, band=20_000.0)
    mix, left = d.coefficients.mix[:, :count], d.coefficients.remainder[:, :count]
    assert len(mix) <= min(count, d.modes.wavenumber.size, 6)
    assert np.linalg.eigvalsh(left).min() > 0.0
    stiffness = 8.0 * d.coefficients.spring[: d.modes.wavenumber.size]
    touching = mix.T @ d.coefficients.rows[: len(mix), : stiffness.size]
    answer = touching / stiffness @ touching.T + left
    exact = statics.compliance(d.problem.string, d.points.position, d.points.position)
    assert np.abs(answer - exact).max() <= 1.1 * statics.MARGIN * exact.max()


@pytest.mark.parametrize("count", [10, 24])
def test_few_rows_sound_as_many_do(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for height in (rank.PLUCKED, 1e-9):
        monkeypatch.setattr(rank, "PLUCKED", height)
        d = modal.design(over_a_bridge(0.88, count), 2.0 * RATE, band=20_000.0)
        force = pulse(d.problem.excitation, d.rate, 3000)
        run = modal.run(d, force, at=np.zeros(0, np.int64))
        found.append((len(d.coefficients.mix), heard(d.problem.pickups, run)[:, 0]))
    (few, got), (many, wanted) = found
    assert few < many - 2
    assert np.abs(run.log.force).max() > 0.01
    assert np.std(got - wanted) <= 3e-3 * np.std(wanted)


def over_a_bridge(length: float, count: int) -> Problem:
    """A sitar's string of some length over so many points, heard by its body."""
    string = String(length, 5.55e-4, 58.8, 7.95e-5, Loss(0.6, 6.5e-3, 0.0, 5e-6))
    bridge = Barrier(Polynomial((0.0, 0.0, -0.75)), 0.0, 0.03, count)
    return Problem(string, bridge, Contact(1e8), Excitation(0.15, 1.0, 2e-3), (Pickup(0.0, "body_force"),))


@pytest.mark.parametrize("stiffness", [0.0, 7.95e-5, 1.0])
def test_static_answers_are_the_sum_over_all_modes(stiffness: float) -> None:
    string, x = String(0.88, 5.55e-4, 58.8, stiffness), np.array([0.001, 0.02, 0.5])
    b = string.wavenumbers(400_000)
    rows = np.sin(np.outer(x, b))
    hard = 0.5 * string.length * (string.tension * b**2 + string.stiffness * b**4)
    exact = statics.compliance(string, x, x)
    assert np.allclose((rows / hard) @ rows.T, exact, rtol=2e-3 if stiffness == 0.0 else 1e-7)
    assert (statics.heard(string, x, Pickup(0.25)) == statics.compliance(string, x, np.array([0.22]))[:, 0]).all()
    ends = [statics.heard(string, x, Pickup(at, "bridge_force")) for at in (0.0, 1.0)]
    assert ends[0] + ends[1] == pytest.approx(np.ones(3))
