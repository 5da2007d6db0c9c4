"""What plucks a string strikes the body, too, as a bachi does the skin: when, how hard, and when not."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from synth.playing import RATE, blocks, off, on, raw, render
from synth.test_bridged import joint

from engine import simulate
from engine.errors import PresetError
from engine.physics.string import Array
from engine.preset.loader import load_preset
from engine.study.together import EnsembleSimulation
from engine.synth.instrument import Instrument

MODES: list[dict[str, Any]] = [
    {"frequency": 400, "quality": 6, "mass": "20 g", "struck": 0.7},
    {"frequency": 560, "quality": 8, "mass": "20 g", "moves": [-1], "struck": -0.2},
    {"frequency": 980, "quality": 12, "mass": "20 g"},
]
SHAMISEN: dict[str, Any] = {
    "string": {"length": "63 cm", "density": "0.43 g/m", "stiffness": 1e-5, "tuned": "E3", "keys": "length"},
    "excitation": {"position": 0.16, "force": "-3 N", "duration": "6 ms", "shape": "drawn"},
    "strings": [{"played": "E3-E4", "mono": "yes"}],
    "knock": {"force": "-2 N", "duration": "1 ms"},
    "body": {"modes": MODES},
}
# Strings that are hardly touched, and that take nothing from the body: what is heard is the body.
SKIN: dict[str, Any] = {
    **SHAMISEN,
    "excitation": {**SHAMISEN["excitation"], "force": "1e-9 N"},
    "coupling": "one-way",
    "tracking": {"duration": 0},
    "velocity": {"duration": 0},
}


@cache
def _made(name: str) -> Instrument:
    return Instrument({"shamisen": SHAMISEN, "skin": SKIN}[name], RATE, polyphony=2)


def instrument(name: str) -> Instrument:
    made = _made(name)
    made.reset()
    return made


def skin(*events: Any, frames: int = 4800) -> Array:
    """What the body does of these, without gain."""
    inst = instrument("skin")
    return raw(inst, events, frames) / float(joint(inst).gain)


@pytest.mark.parametrize("coupling", ["two-way", "one-way", "none"])
def test_it_is_what_the_physics_does_and_energy_is_kept(coupling: str) -> None:
    preset = {**SHAMISEN, "coupling": coupling}
    inst = Instrument(preset, RATE, polyphony=1)
    sim = simulate(preset, 0.04, RATE, key="G3", velocity=70, as_played=True)
    assert isinstance(sim, EnsembleSimulation)
    sound = raw(inst, [(0, on(55, 70))], sim.time.size) / float(joint(inst).gain)
    assert np.abs(sound - sim.sound).max() < 1e-12 * np.abs(sim.sound).max()
    assert sim.energy_drift < 1e-11
    bare = simulate({**preset, "knock": None}, 0.04, RATE, key="G3", velocity=70, as_played=True)
    assert np.abs(sim.sound - bare.sound).max() > 0.01 * np.abs(bare.sound).max()


def test_it_begins_as_the_string_is_let_go_and_goes_with_velocity() -> None:
    """6 ms after the onset, and as velocity's law has it; nothing of it depends on the key."""
    heard = skin((0, on(52)))
    start = round(6e-3 * RATE)
    assert np.abs(heard[: start - 2]).max() < 1e-6 * np.abs(heard).max()
    assert np.abs(heard[start : start + 48]).max() > 0.1 * np.abs(heard).max()
    for velocity in (20, 64, 127):
        wanted = (velocity / 100.0) ** 1.75 * heard
        assert skin((0, on(52, velocity))) == pytest.approx(wanted, rel=1e-6, abs=1e-7 * np.abs(wanted).max())
    assert np.abs(skin((0, on(52))) - skin((0, on(57)))).max() < 1e-6 * np.abs(heard).max()


def test_two_strokes_are_their_sum() -> None:
    """Also where the second comes before the first is over."""
    both = skin((0, on(52)), (20, on(52)))
    alone = skin((0, on(52))) + np.concatenate([np.zeros((20, 2)), skin((0, on(52)))[:-20]])
    assert np.abs(both - alone).max() < 1e-6 * np.abs(alone).max()


def test_a_note_that_is_slurred_strikes_nothing() -> None:
    struck = skin((0, on(52)), (9600, on(55)), frames=14_400)
    lifted = skin((0, on(52)), (2400, off(52)), (9600, on(55)), frames=14_400)
    early, late = np.abs(struck[:2400]).max(), slice(9600, None)
    assert np.abs(struck[late]).max() < 1e-4 * early
    assert np.abs(lifted[late]).max() > 0.3 * early


def test_blocks_decide_nothing() -> None:
    events = [(0, on(52)), (300, on(55)), (2000, off(55)), (2001, on(59, 30))]
    whole = render(instrument("shamisen"), events, 4000)
    for size in (1, 37, 512):
        assert (render(instrument("shamisen"), events, 4000, blocks(size, 4000)) == whole).all()


def test_what_is_refused() -> None:
    with pytest.raises(PresetError, match=r"knock.*there is no body to strike; add one"):
        load_preset({**SHAMISEN, "body": None})
    entries = [{"played": "E3-E4"}, {"sympathetic": ["E4"], "knock": {"force": 1}}]
    with pytest.raises(PresetError, match=r"strings\.1\.knock.*these only answer"):
        load_preset({**SHAMISEN, "strings": entries})
