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


# --- a blow on the body -----------------------------------------------------------------------------------------------

BLOW = Excitation(force=-3.0, duration=1e-3, onset=2e-3)


def test_a_blow_on_the_body_is_in_the_account() -> None:
    """Its work is the exciter's: of any body, under any strings, energy is kept to rounding."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        strings = (Strung(baj(), rng.uniform(-1.5, 1.5), excitation=Excitation(0.3, 1.0, 2e-3), band=8e3),)
        book = run(weave(Network(strings, random_body(rng, True), struck=BLOW), 48_000.0), 0.05)
        assert book.balance <= 5e-12, seed


def test_a_body_that_is_struck_as_the_bridge_moves_is_a_bridge_that_is_knocked() -> None:
    """The modes are pushed before the bridge is known, or through it: the same motion of all."""
    rng = np.random.default_rng(7)
    for directions in (1, 2):
        shapes = [tuple(rng.normal(size=directions)) for _ in range(5)]
        body = Body(
            tuple(Resonance(150.0 * 2.1**n, 15.0, 0.05, s) for n, s in enumerate(shapes)), (0.3, 1.2)[:directions]
        )
        string = Strung(baj(), excitation=Excitation(0.3, 1.0, 2e-3), band=8e3)
        struck = run(weave(Network((string,), body, struck=BLOW), 48_000.0), 0.03)
        knocked = run(weave(Network((string,), body, knock=BLOW), 48_000.0), 0.03)
        scale = np.abs(knocked.bridge).max()
        assert np.abs(struck.bridge - knocked.bridge).max() <= 1e-9 * scale
        assert np.abs(struck.strings - knocked.strings).max() <= 1e-9 * knocked.strings.max()
        assert np.abs(struck.work - knocked.work).max() <= 1e-9 * np.abs(knocked.work).max()


def test_a_mode_that_does_not_move_where_it_is_struck_stays_at_rest() -> None:
    """And one that moves there and not at the bridge is driven and felt by no string: an oscillator by itself."""
    still = Resonance(300.0, 20.0, 0.1, (1.0,), (1.0,), 0.0)
    aside = Resonance(500.0, 1e4, 0.1, (0.0,), (1.0,), 1.0)
    string = Strung(baj(), band=8e3)
    none = run(weave(Network((string,), Body((still,)), struck=BLOW), 48_000.0), 0.03)
    assert np.abs(none.bridge).max() == 0.0
    assert none.total.max() == 0.0
    book = run(weave(Network((string,), Body((still, aside)), struck=BLOW), 48_000.0), 0.03)
    assert np.abs(book.bridge).max() == 0.0
    assert book.strings.max() == 0.0
    assert book.body.max() > 0.0
    # What so short a force gives is its momentum squared over twice the mass, less what the mode turns in its time.
    w, push = 2.0 * np.pi * 500.0, BLOW.force * BLOW.duration / 2.0
    half = 0.5 * w * BLOW.duration
    spread = np.sin(half) / half / (1.0 - (half / np.pi) ** 2)  # of a raised cosine, at its frequency
    assert book.body.max() == pytest.approx((push * spread) ** 2 / 0.2, rel=1e-2)
