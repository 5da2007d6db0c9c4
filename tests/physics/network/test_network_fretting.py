"""A string goes on at another length: which modes it has then, and that no energy comes from it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.physics.network.fretting import hand_over
from engine.physics.network.memory import Strand
from engine.physics.network.parts import Network, Plane, Strung
from engine.physics.network.weaving import Woven, weave
from engine.physics.string import Array, Loss, String

RATE, LONG = 48_000.0, 0.65
PLANES = (Plane(0.3), Plane(0.3 + 0.5 * np.pi, 2.0, band=4e3))


class Moved(NamedTuple):
    """Two strings, of which the second has gone on as the first one did."""

    woven: Woven
    old: Strand
    new: Strand
    before: tuple[Array, Array]  # potential and kinetic energy of all modes of the old one
    shape: Array  # its modes, as its energy knows them
    motion: Array  # of a step
    met: Array
    purse: Array


def strung(length: float, stiffness: float, planes: tuple[Plane, ...] = (Plane(),), band: float = 8e3) -> Strung:
    """A wire, cut to some length."""
    return Strung(String(length, 5.55e-4, 50.0, stiffness, Loss(0.6, 6.5e-3, 0.0, 5e-6)), planes=planes, band=band)


def stiffness_of(s: Strand) -> Array:
    """m w^2 of each mode, N/m: what is not of the scheme."""
    r = s.recipe
    tension = s.ends.tension[0] * r.length / s.ends.ratio[0]
    return r.mass * (r.bend + r.pull * tension)  # type: ignore[no-any-return]


def shape_of(s: Strand) -> tuple[Array, Array]:
    """Where its modes are between the last two steps, as potential energy knows them, and how far they go in one."""
    mean = 0.5 * (s.bank.even + s.bank.odd)
    return mean * np.sqrt(8.0 * s.bank.spring / stiffness_of(s)), s.bank.even - s.bank.odd


def energies(s: Strand) -> tuple[Array, Array]:
    b = s.bank
    return b.spring * (b.even + b.odd) ** 2, b.inertia * (b.even - b.odd) ** 2


def moved(of: Strung, to: Strung, even: Array, odd: Array) -> Moved:
    """One that was in such a state."""
    w = weave(Network((of, to)), RATE)
    old, new = w.strand(0), w.strand(1)
    old.bank.even[:], old.bank.odd[:] = even[: old.bank.even.size], odd[: old.bank.odd.size]
    silent = old.bank.spring == 0.0
    old.bank.even[silent] = old.bank.odd[silent] = 0.0
    before, (shape, motion) = energies(old), shape_of(old)
    met, purse = np.zeros((2, 4)), np.zeros(3)
    hand_over(w.base, 0, 1, met, purse)
    return Moved(w, old, new, before, shape, motion, met, purse)


def planes_of(s: Strand) -> list[Array]:
    """The modes of each plane: their wavenumbers rise."""
    wave = s.recipe.wave[s.recipe.wave > 0.0]
    return np.split(np.arange(wave.size), np.flatnonzero(np.diff(wave) < 0.0) + 1)


def test_a_string_that_is_halved_has_every_second_mode_and_a_series_of_the_others() -> None:
    """sin(pi x/L) less its straight line is, over half of it, l, 2/pi sum (-1)^(j+1) sin(j pi x/l) / j (4 j^2 - 1)."""
    number = np.arange(1, 1000)
    for mode in (2, 1):
        state = np.zeros(1000)
        state[mode - 1] = 1e-3
        m = moved(strung(LONG, 0.0), strung(0.5 * LONG, 0.0), state, state)
        count = int((m.new.bank.spring > 0.0).sum())
        found = shape_of(m.new)[0][:count] / m.shape[mode - 1]
        series = 2.0 / np.pi * (-1.0) ** (number + 1) / (number * (4.0 * number * number - 1.0))
        wanted = series[:count] if mode == 1 else np.eye(1, count)[0]
        assert np.abs(found - wanted).max() < 1e-12
        assert m.met[0, 0] == pytest.approx(m.shape[mode - 1] * np.sin(0.5 * np.pi * mode), rel=1e-12, abs=1e-17)
        assert m.met[0, 1] == 0.0


@pytest.mark.parametrize("stiffness", [0.0, 1e-4])
@pytest.mark.parametrize("ratio", [0.5, 2.0 ** (-1 / 12), 0.749, 1.0, 1.26, 2.0])
def test_modes_are_what_the_integrals_of_energy_say(ratio: float, stiffness: float) -> None:
    """By Gauss and Legendre's sums over the shorter length: of T f' g' + EI f'' g'' for the shape; of f g for what a
    longer string takes over of a motion, and of the energy's for a shorter one, whose straight line is the finger's.
    """
    chance = np.random.default_rng(5)
    state = chance.standard_normal((2, 1000)) * 1e-4 / np.tile(np.arange(1, 101), 10)
    m = moved(strung(LONG, stiffness, PLANES), strung(LONG * ratio, stiffness, PLANES), *state)
    over = LONG * min(ratio, 1.0)
    node, weight = np.polynomial.legendre.leggauss(1500)
    x, weight = 0.5 * over * (node + 1.0), 0.5 * over * weight
    shape, motion = shape_of(m.new)
    for plane, (own, other) in enumerate(zip(planes_of(m.old), planes_of(m.new))):
        tension = m.new.ends.tension[plane] * m.new.recipe.length
        b, c = m.old.recipe.wave[own], m.new.recipe.wave[other]

        def product(f: Array, b: Array = b, c: Array = c, t: float = tension) -> Array:
            slope, bend = np.cos(np.outer(x, b)) @ (b * f), np.sin(np.outer(x, b)) @ (b * b * f)
            first = np.cos(np.outer(x, c)).T @ (weight * slope) * c * t
            return first + np.sin(np.outer(x, c)).T @ (weight * bend) * c * c * stiffness

        whole = 0.5 * m.new.recipe.length
        norm = whole * (tension * c * c + stiffness * c**4)
        wanted = product(m.shape[own]) / norm
        if ratio > 1.0:  # modes that a force holds are as much stiffer as the scheme has them
            wanted *= np.sqrt(stiffness_of(m.new)[other] / (8.0 * m.new.bank.spring[other]))
        assert np.abs(shape[other] - wanted).max() < 1e-9 * np.abs(wanted).max()
        plain = np.sin(np.outer(x, c)).T @ (weight * (np.sin(np.outer(x, b)) @ m.motion[own])) / whole
        wanted = plain if ratio > 1.0 else product(m.motion[own]) / norm
        assert np.abs(motion[other] - wanted).max() < 1e-9 * np.abs(wanted).max()
        held = {True: np.sin(b * over), False: (tension * b + stiffness * b**3) * np.cos(b * over)}[ratio < 1.0]
        at, speed = held @ m.shape[own] * (ratio != 1.0), held @ m.motion[own] * (ratio != 1.0)
        assert m.met[plane, :2] == pytest.approx((at + 0.5 * speed, speed * RATE), rel=1e-9)
        assert m.met[plane, 3] == (LONG if ratio > 1.0 else 0.0)


@settings(max_examples=60, deadline=None)
@given(
    ratio=st.floats(0.3, 3.0), stiffness=st.floats(1e-9, 1e-3), seed=st.integers(0, 10**6), band=st.floats(1e3, 20e3)
)
def test_no_energy_comes_from_another_length(ratio: float, stiffness: float, seed: int, band: float) -> None:
    """Of the shape never; of the motion not where a finger leaves; what the finger owes or is owed is in its purse."""
    state = np.random.default_rng(seed).standard_normal((2, 1000)) * 1e-4
    m = moved(strung(LONG, stiffness, band=band), strung(LONG * ratio, stiffness, band=band), *state)
    (strained, moving), (first, second) = energies(m.new), m.before
    assert strained.sum() <= first.sum() * (1.0 + 1e-12)
    if ratio >= 1.0:
        assert moving.sum() <= second.sum() * (1.0 + 1e-12)
    lost = first.sum() + second.sum() - strained.sum() - moving.sum()
    assert m.purse[0] == pytest.approx(lost, rel=1e-9, abs=1e-12 * first.sum())


def test_the_same_length_changes_nothing() -> None:
    state = np.random.default_rng(1).standard_normal((2, 1000)) * 1e-4
    m = moved(strung(LONG, 1e-4, PLANES), strung(LONG, 1e-4, PLANES), *state)
    for found, wanted in ((m.new.bank.even, m.old.bank.even), (m.new.bank.odd, m.old.bank.odd)):
        assert np.abs(found - wanted).max() < 1e-12 * np.abs(wanted).max()
