"""What random presets brought to light in the engine, each by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.physics.dispersion import courant
from engine.physics.losses import backward_loss
from engine.preset.loader import load_preset
from engine.synth import memory
from engine.synth.instrument import Instrument
from engine.synth.keys import design_key, mildest_damping
from engine.units import key_to_hz

RATE = 16_000
STRING = {"length": 0.6, "density": 1e-3, "tension": 60.0, "stiffness": 1e-4}
FITTED = {"s0": 80.0, "s1": 2e-2, "s3": 3e-6}  # a grid has to fit s1 and s3


def without_s0(model: str) -> dict[str, Any]:
    to_nothing = {"source": "cc1", "to": "string.loss.s0", "range": [0, 0]}
    return {"model": model, "string": {**STRING, "loss": FITTED}, "map": [to_nothing]}


@pytest.mark.parametrize("key", [40, 52, 64, 76])
def test_a_grid_relieved_of_its_s0_still_takes_energy_from_every_wave(key: int) -> None:
    preset = load_preset(without_s0("fd"))
    made = design_key(preset.problem, "fd", "tension", key_to_hz(key), RATE)
    design: Any = made.design
    b = design.problem.string.wavenumbers(design.grid.intervals)
    rest = design.grid.loss.s0 + backward_loss(design.grid.loss, b, design.grid.spacing)
    assert -FITTED["s0"] * 1.2 < mildest_damping(made) < 0.0
    assert (rest + mildest_damping(made)).min() >= 0.0


@pytest.mark.parametrize("model", ["modal", "fd"])
def test_a_controller_may_take_all_of_s0_away(model: str) -> None:
    player = Instrument(without_s0(model), RATE, polyphony=1)
    out = np.zeros((RATE, 2), np.float32)
    for key in range(40, 88, 4):
        player.reset()
        player.schedule(0, [0xB0, 1, 127])
        player.schedule(0, [0x90, key, 60])
        player.run(out)
        assert np.abs(out[-2000:]).max() < np.abs(out[:4000]).max()
        assert player.report()["watchdog"] == 0


@pytest.mark.parametrize("model", ["modal", "fd"])
def test_a_pitch_that_no_length_reaches_is_silent(model: str) -> None:
    """A string tuned so low that its high notes would ask for less than a millimetre, and one that is damped so much
    that no length sounds so high."""
    slow = {"length": 0.1, "density": 0.015, "tension": 3.0, "loss": {"s0": 0.3}}
    preset = load_preset({"model": model, "string": {**slow, "keys": "length"}})
    low, high = (design_key(preset.problem, model, "length", hz, 192_000) for hz in (3000.0, 13_000.0))
    assert low.design is not None
    assert high.design is None
    assert "is reached by no length from 1 mm to 1 km; play nearer" in high.silent_because


@pytest.mark.parametrize("model", ["modal", "fd"])
@pytest.mark.parametrize("by", ["tension", "length"])
def test_every_grid_bears_its_tension(model: str, by: str) -> None:
    preset = load_preset({"model": model, "string": {**STRING, "keys": by}})
    for key in range(128):
        made = design_key(preset.problem, model, by, key_to_hz(key), 8_000)
        if model == "fd" and made.design is not None:
            design: Any = made.design
            b = design.problem.string.wavenumbers(design.grid.intervals)
            a = 4.0 * np.sin(0.5 * b * design.grid.spacing) ** 2
            load = courant(design.grid.elastic, design.problem.string.tension, a)
            assert load.min() >= 0.0
            assert load.max() <= 1.0


@pytest.mark.parametrize("model", ["modal", "fd"])
def test_a_barrier_that_arrives_between_two_looks_is_no_uprising(model: str) -> None:
    """It presses a string at rest, at every place between the renderer's looks; damping is strong, so that the hand's
    last work is more than what the string loses meanwhile."""
    preset = {
        "model": model,
        "string": {**STRING, "loss": {"s0": 1500.0, "s2": 1e-3}},
        "barrier": {"profile": "flat", "to": "0.2 m", "points": 12},
        "contact": {"stiffness": 6e13, "exponent": 2.0},
        "excitation": {"force": 1e-7},
        "map": [{"source": "cc1", "to": "barrier.height", "range": ["-6 um", "3 um"]}],
    }
    player, out = Instrument(preset, RATE, polyphony=1), np.zeros((4_000, 2), np.float32)
    for offset in range(memory.TICK):
        player.reset()
        player.schedule(0, [0xB0, 1, 0])
        player.schedule(0, [0x90, 80, 1])
        player.schedule(2_000 + offset, [0xB0, 1, 127])
        player.run(out)
        assert player.report()["watchdog"] == 0, offset
