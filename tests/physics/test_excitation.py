"""The force: its shapes against their formulas, from zero to its peak and back to zero, cut anywhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from synth.playing import on, raw

from engine import Instrument, PhysicsError, load_preset
from engine.physics import modal
from engine.physics.excitation import SHAPES, Excitation, add_pulse, pulse

RATE = 48_000.0


def test_a_raised_cosine_is_that_of_the_paper() -> None:
    t = np.arange(200) / RATE
    wanted = np.where(t <= 2e-3, 0.5 * 3.0 * (1.0 - np.cos(2.0 * np.pi * t / 2e-3)), 0.0)
    assert np.abs(pulse(Excitation(0.5, 3.0, 2e-3), RATE, 200) - wanted).max() <= 1e-14


def test_a_drawn_string_is_that_of_the_paper() -> None:
    """F = a sin²(pi h / tau), h = (t + tau sinh(beta t / tau) / sinh beta) / 2, a = 0.4 N, tau = 50 ms, beta = 30."""
    t, tau, beta = np.arange(2400) / RATE, 50e-3, 30.0
    h = 0.5 * (t + tau * np.sinh(beta * t / tau) / np.sinh(beta))
    found = pulse(Excitation(0.5, 0.4, tau, shape="drawn"), RATE, 2400)
    assert np.abs(found - 0.4 * np.sin(np.pi * h / tau) ** 2).max() <= 1e-14
    assert np.argmax(found) > 0.9 * 2400  # slowly aside, quickly back


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_goes_from_zero_to_its_peak_and_back(shape: str) -> None:
    force = pulse(Excitation(0.5, 2.0, 20_000 / RATE, shape=shape), RATE, 20_200)
    assert force[0] == 0.0  # the renderer leaves out the onset's step
    assert np.abs(force[19_999:]).max() < 1e-4
    assert not force[20_001:].any()
    assert force.min() >= 0.0
    assert force.max() == pytest.approx(2.0, rel=1e-4)


@pytest.mark.parametrize("shape", range(len(SHAPES)))
def test_a_pulse_in_pieces_is_the_same_pulse(shape: int) -> None:
    whole, pieces = np.zeros(300), np.zeros(300)
    add_pulse(shape, 1.5, 250.3, 0.0, whole)
    for start in range(0, 300, 37):
        add_pulse(shape, 1.5, 250.3, float(start), pieces[start : start + 37])
    assert np.array_equal(whole, pieces)


def test_an_unknown_shape_is_refused() -> None:
    with pytest.raises(PhysicsError, match=r"^excitation\.shape = square: must be one of raised-cosine, drawn; choose"):
        Excitation(shape="square")


def test_a_note_has_the_shape_that_the_preset_gives() -> None:
    """Step by step the motion of the same design under the same force, after the onset's step, whose force is zero."""
    preset = load_preset("plain", {"excitation.shape": "drawn", "excitation.duration": "20 ms"})
    instrument, frames = Instrument(preset, RATE, polyphony=1), 2400
    design = instrument._bank.keys[60].design
    assert isinstance(design, modal.Design)
    heard = raw(instrument, [(0, on(60))], frames)
    excitation = design.problem.excitation  # the key's own, which follows the pitch
    force = pulse(excitation, RATE, frames + 1)
    assert not np.array_equal(force, pulse(replace(excitation, shape="raised-cosine"), RATE, frames + 1))
    wanted = modal.run(design, force, at=np.zeros(0, np.int64)).log.out[1:, 0]
    found = heard[:, 0] / instrument.machine.keys.gain[60]
    assert np.abs(found - wanted).max() <= 1e-9 * np.abs(wanted).max()
