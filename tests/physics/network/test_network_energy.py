"""The laws that no network may break, on random ones with everything on; and what a string brings when it comes.

JAWARI_CASES=100000 tries so many instead, as for presets and files (tests/robustness).
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from physics.networks import baj, from_rest, laws, plucked, random_body, random_network, released, steel

from engine.physics.barrier import Barrier, Polynomial
from engine.physics.excitation import Excitation
from engine.physics.network.coming import bend, enter, withdraw
from engine.physics.network.metered import observe, run
from engine.physics.network.parts import Against, Body, Finger, Network, Plane, Resonance, Strung, Travel
from engine.physics.network.weaving import weave
from engine.physics.problem import Contact

NETWORKS = int(os.environ.get("JAWARI_CASES") or 60)


@pytest.mark.parametrize("part", range(3))
def test_energy_is_kept_and_nothing_pulls_whatever_is_on(part: int) -> None:
    for seed in range(part, NETWORKS, 3):
        rng = np.random.default_rng(seed)
        worst, least = laws(rng, random_network(rng), 48_000.0 * rng.choice([1, 2]))
        assert worst <= 1e-9, f"seed {seed}"
        assert least >= 0.0, f"seed {seed}"


def test_alone_each_kind_keeps_energy_to_rounding() -> None:
    """A body in one to three directions, and strings in two planes: no stiff link costs digits here."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        planes = (Plane(rng.uniform(0.0, np.pi)), Plane(rng.uniform(0.0, np.pi), 1.0))
        strings = tuple(
            Strung(steel(rng), rng.uniform(-1.5, 1.5), planes, excitation=Excitation(0.3, 1.0, 2e-3), band=8e3)
            for _ in range(rng.integers(1, 5))
        )
        book = run(weave(Network(strings, random_body(rng)), 48_000.0), 0.05)
        assert book.balance <= 5e-12, seed


def test_what_a_string_does_to_the_bridge_is_what_the_bridge_feels() -> None:
    """String by string from what it has become, against one number from before the step."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        network = random_network(rng)
        network = Network(network.strings, network.body, network.hammers)
        book = run(weave(network, 48_000.0), 0.02)
        count = book.bridge.shape[1]
        felt, force = book.felt.sum(axis=1), book.out[:, :count]
        assert np.abs(felt - force).max() <= 1e-8 * max(np.abs(book.felt).max(), 1e-9)


def test_a_pluck_moves_the_bridge_as_a_finger_does_that_pushes_as_hard() -> None:
    """A force on a string is one on the bridge, too: a soft finger's, given as a pulse, does what the finger does."""
    body = Body((Resonance(140.0, 20.0, 0.01),))
    finger = Finger(0.6 * 0.88, Contact(2e3), Travel(2e-3, 0.0, 5e-3, 6e-3))
    by_finger = run(weave(Network((Strung(baj(), ports=(finger,)),), body), 48_000.0, 3e3), 0.02)
    w = weave(Network((Strung(baj(), excitation=Excitation(0.6)),), body), 48_000.0, 3e3)
    by_force = observe(w, by_finger.force.shape[0], by_finger.force)
    assert by_finger.force.max() > 0.5
    scale = np.abs(by_finger.bridge).max()
    assert np.abs(by_force.bridge - by_finger.bridge).max() <= 1e-9 * scale
    assert np.abs(by_force.out[:, 0] - by_finger.out[:, 0]).max() <= 1e-8 * np.abs(by_finger.out[:, 0]).max()
    assert by_force.total[-1] == pytest.approx(by_finger.total[-1], rel=1e-9)
    assert by_force.balance <= 1e-10


def test_the_body_moves_as_the_bridge_does() -> None:
    rng = np.random.default_rng(3)
    w = weave(random_network(rng), 48_000.0)
    book = run(w, 0.02)
    b = w.island.bridge
    newest = b.bank.odd if int(b.clock[0]) & 1 else b.bank.even
    assert np.abs(b.bank.rows[: b.now.size] @ newest - b.now).max() <= 1e-10 * np.abs(book.bridge).max()


def test_a_string_that_comes_brings_what_its_end_weighs_and_no_more() -> None:
    """Exactly mu/2 z'^2 + tau/2 z^2, and one that goes takes away what is its own."""
    ratios = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        modes = tuple(
            Resonance(rng.uniform(80.0, 4e3), 20.0, 10 ** rng.uniform(-3.0, -0.5), (rng.normal(),))
            for _ in range(rng.integers(1, 12))
        )
        strings = tuple(Strung(steel(rng), band=3e3) for _ in range(3))
        w = weave(Network(strings, Body(modes)), 48_000.0)
        withdraw(w.base, 2)
        released(w, 0, plucked(4, 1e-3, 0.3))
        observe(w, 200)
        b, late = w.island.bridge, w.strand(2)
        speed, mean = (b.now[0] - b.before[0]) * w.rate, 0.5 * (b.now[0] + b.before[0])
        brought = 0.5 * late.ends.inertia[0] * speed**2 + 0.5 * late.ends.tension[0] * mean**2
        kept = w.block.copy()
        without = observe(w, 1)
        w.block[:] = kept
        enter(w.base, 2)
        joined = observe(w, 1)
        before, after = without.total + without.lost, joined.total + joined.lost
        if brought > 1e-8 * before[0]:  # else it drowns in rounding
            ratios.append(float((after - before)[0] / brought))
        assert observe(w, 200).balance <= 1e-9
    assert len(ratios) > 10
    assert np.abs(np.array(ratios) - 1.0).max() <= 1e-5


def test_while_it_is_bent_energy_never_rises_between_the_bends() -> None:
    strings = (Strung(baj()), Strung(baj(3.0), ports=(Against(Barrier(Polynomial((0.0, 0.0, -0.75)), 0.0, 0.03, 4)),)))
    w = weave(Network(strings, Body((Resonance(300.0, 10.0, 0.02),))), 48_000.0, 6e3)
    released(w, 1, plucked(20, 2e-3, 0.85))
    for n in range(40):
        bend(w.base, n % 2, 58.8 * (1.0 + 0.003 * n), 0.0)
        book = from_rest(w, 0.002)
        assert np.diff(book.total).max() <= 1e-12 * book.total[0]
        assert book.total[-1] > 0.0


def test_homogeneous_networks_give_the_same_bits_times_a_power_of_two() -> None:
    """Linear contact at rest height knows no scale; height, exponent and stretching do, so they are felt."""

    def louder(height: float = 0.0, exponent: float = 1.0, stretching: float = 0.0, factor: float = 4.0) -> bool:
        def play(force: float) -> np.ndarray:
            over = Against(Barrier(Polynomial((0.0,)), 0.0, 0.03, 4, height), Contact(1e8, exponent))
            struck = Strung(baj(), ports=(over,), excitation=Excitation(0.85, force, 2e-3), stretching=stretching)
            network = Network((struck, Strung(baj(5.0), 0.8)), Body((Resonance(200.0, 20.0, 0.2),)))
            return run(weave(network, 48_000.0, 8e3), 0.05).out

        return bool((play(0.25 * factor) == factor * play(0.25)).all())

    assert louder()
    assert not louder(factor=3.0)
    assert not louder(height=-1e-6)
    assert not louder(exponent=1.5)
    assert not louder(stretching=1.4e4)
