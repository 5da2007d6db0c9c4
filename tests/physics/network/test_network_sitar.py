"""Instruments as a whole: a sitar with thirteen sympathetic strings, a piano's course."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from physics.networks import from_rest, plucked, released

from engine.physics.barrier import Barrier, Polynomial
from engine.physics.excitation import Excitation
from engine.physics.network.bodies import TANPURA
from engine.physics.network.metered import Ledger, run
from engine.physics.network.parts import Against, Body, Network, Resonance, Strung
from engine.physics.network.weaving import weave
from engine.physics.problem import Contact
from engine.physics.string import Loss, String

SA = 277.18  # Hz
YAMAN = (0, -1, 0, 2, 4, 6, 7, 7, 9, 11, 12, 14, 16)  # semitones above it
RATE = 96_000.0


def wire(length: float, diameter: float, pitch: float) -> String:
    area = np.pi * diameter**2 / 4.0
    tension = 7850.0 * area * (2.0 * length * pitch) ** 2
    return String(length, 7850.0 * area, tension, 2e11 * np.pi * diameter**4 / 64.0, Loss(0.6, 6.5e-3, 0.0, 5e-6))


def jawari(to: float, points: int) -> Against:
    return Against(Barrier(Polynomial((0.0, 0.0, -0.75)), 0.0, to, points), Contact(1e8))


def body() -> Body:
    """The sixteen modes that the figures were found with."""
    chance = np.random.default_rng(5)
    signs = chance.choice([-1, 1], 16)
    shapes = signs * np.clip(np.abs(chance.normal(1.0, 0.4, 16)), 0.3, 2.0)
    shapes[0] = 0.4
    peaks = [p for p in TANPURA if p[0] not in (2610.0, 3250.0, 4395.0, 4554.0, 4875.0)]
    return Body(tuple(Resonance(f, q, 0.25, (float(w),)) for (f, q), w in zip(peaks, shapes)))


def sitar(pitch: float) -> Network:
    played = Strung(wire(0.88, 0.3e-3, pitch), 1.0, ports=(jawari(0.03, 7),), excitation=Excitation(0.85, 1.0, 2e-3))
    taraf = (
        Strung(wire(0.72 - 0.025 * n, 0.23e-3, SA * 2.0 ** (step / 12.0)), 0.8, ports=(jawari(0.012, 3),), band=10e3)
        for n, step in enumerate(YAMAN)
    )
    return Network((played, *taraf), body())


def answered(book: Ledger) -> list[float]:
    """Energy of the sympathetic strings re the pluck at .05, .2, .5, 1 s, dB."""
    pluck = book.total[round(0.01 * RATE)]
    others = book.strings[:, 1:].sum(axis=1)
    return [float(10.0 * np.log10(others[round(t * RATE) - 1] / pluck)) for t in (0.05, 0.2, 0.5, 1.0)]


# What a program of its own found, whose contacts began by a guess; and what is found where they are exact to their law.
SEEN = {
    "Sa, in the raga": (SA, (-22.0, -15.0, -15.0, -16.0), (-21.9, -13.3, -12.8, -14.7)),
    "Ma, not in it": (SA * 2.0 ** (5.0 / 12.0), (-37.0, -36.0, -39.0, -44.0), (-37.7, -37.1, -40.8, -43.8)),
    "open": (185.0, (-28.0, -21.0, -24.0, -31.0), (-27.9, -20.8, -22.4, -29.6)),
}


@pytest.mark.parametrize("name", SEEN)
def test_thirteen_strings_answer_what_is_theirs(name: str) -> None:
    pitch, other, decibels = SEEN[name]
    book = run(weave(sitar(pitch), RATE, 20e3), 1.0)
    assert book.balance <= 1e-9
    assert book.force.min() >= 0.0
    assert answered(book) == pytest.approx(other, abs=2.5)
    assert answered(book) == pytest.approx(decibels, abs=0.5)


def test_strings_that_do_not_move_the_bridge_are_not_answered() -> None:
    """Coupling off: the played string's own, and silence."""
    network = sitar(SA)
    strings = (replace(network.strings[0], weight=0.0), *network.strings[1:])
    book = run(weave(replace(network, strings=strings), RATE, 20e3), 0.05)
    assert not book.strings[:, 1:].any()
    assert not book.body.any()


def resistive(resistance: float, pitch: float) -> Body:
    """A bridge that resists all partials nearby alike."""
    return Body((Resonance(pitch, 0.51, resistance * 0.51 / (2.0 * np.pi * pitch)),))


def decay(network: Network, rate: float = 48e3) -> float:
    """Of the first partial, all strings in phase, dB/s."""
    w = weave(network, rate, 900.0)
    for n in range(len(network.strings)):
        released(w, n, np.array([1e-4]))
    book = from_rest(w, 0.4)
    level = 10.0 * np.log10(book.total)
    return float((level[round(0.05 * rate)] - level[-1]) / (0.4 - 0.05))


def test_a_course_of_three_in_phase_decays_three_times_as_fast() -> None:
    """Piano C4 over 720 kg/s: 13 dB/s for one string, 39 for three."""
    string = String(0.62, 3.93e-3 / 0.62, 670.0)
    one, three = (decay(Network((Strung(string),) * count, resistive(720.0, string.pitch))) for count in (1, 3))
    assert one == pytest.approx(13.0, abs=0.5)
    assert three == pytest.approx(39.0, abs=1.5)


@pytest.mark.parametrize(("resistance", "seconds"), [(125.0, 6.1), (700.0, 9.9)])
def test_a_bridge_shortens_a_sitars_note(resistance: float, seconds: float) -> None:
    """T60 of the first string's first partial, 11.5 s by itself."""
    string = replace(wire(0.88, 0.3e-3, 185.0), loss=Loss(0.6))
    found = 60.0 / decay(Network((Strung(string),), resistive(resistance, 185.0)))
    assert 60.0 / decay(Network((Strung(string),))) == pytest.approx(11.5, abs=0.1)
    assert found == pytest.approx(seconds, rel=0.03)


def test_a_plucked_course_sounds_longer_than_its_strings_together() -> None:
    """Double decay: what is in phase goes first, what is against it stays."""
    strings = (Strung(wire(0.65, 0.3e-3, 220.0)), Strung(wire(0.65, 0.3e-3, 220.0 * 2.0 ** (0.5 / 1200.0))))
    w = weave(Network(strings, resistive(15.0, 220.0)), 48e3, 900.0)
    released(w, 0, plucked(3, 1e-3, 0.3))
    level = 10.0 * np.log10(from_rest(w, 2.5).total)
    early, late = (level[0] - level[4800]) / 0.1, (level[-48_001] - level[-1]) / 1.0
    assert early > 4.0 * late > 0.0
