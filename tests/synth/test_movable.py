"""What the renderer makes of the table of movable parameters; what is replaced in a preset brings its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from synth.playing import PLAIN, RATE, TOUCHING, cc, on, render

from engine.physics.barrier import Barrier, Polynomial
from engine.physics.problem import Pickup
from engine.physics.string import Array
from engine.preset.assembly import REGISTERS
from engine.preset.loader import load_preset
from engine.preset.parameters import PARAMETERS, Parameter
from engine.synth import movable
from engine.synth.instrument import Instrument

BONE = {"profile": "parabola", "to": "60 mm", "curvature": 0.75, "points": 6}
OTHER: dict[str, Any] = {  # than what the preset below says
    "barrier.height": "-1 mm",
    "excitation.position": 0.4,
    "excitation.duration": "3 ms",
    "string.loss.s0": 30,
    "gain": "-6 dB",
    "strum.spread": "40 ms",
    "registers.first": 0.3,
    "registers.second": 0,
    "registers.third": "30 %",
    "registers.fourth": 0.5,
    "bend": "35 cents",
}
NEEDED: dict[str, dict[str, Any]] = {
    "strum": {"strum": {"order": "down"}},
    "registers": {
        "registers": {"first": 0.9},
        "courses": [{"stop": name, "detuned": n} for n, name in enumerate(REGISTERS)],
    },
}


def test_the_renderer_asks_for_every_row() -> None:
    known = {target.number: target.neutral for target in vars(movable).values() if isinstance(target, movable.Target)}
    assert known == {p.number: p.conversion.neutral for p in PARAMETERS.values()}


@pytest.mark.parametrize("parameter", PARAMETERS.values(), ids=lambda p: p.key)
def test_what_glides_moves_a_string_that_sounds_and_the_rest_the_next(parameter: Parameter) -> None:
    item = {"source": "wheel", "to": parameter.key, "range": [OTHER[parameter.key]] * 2}
    needed = NEEDED.get(parameter.needs, {})
    inst = Instrument({**PLAIN, **TOUCHING, **needed, "barrier": BONE, "map": [item]}, RATE, polyphony=3)

    def played(*wheel: int) -> Array:
        """A note, and a chord of other keys half way; the wheel is moved at these samples."""
        inst.reset()
        events = [(0, on(60)), *((at, cc(1, 64)) for at in wheel), (4800, on(67)), (4800, on(72))]
        return render(inst, events, 9600)

    still, early, late = played(), played(2400), played(7200)
    assert (early[:2400] == still[:2400]).all()
    assert bool((early[2400:4800] != still[2400:4800]).any()) == bool(parameter.smoothing)
    assert bool((late[7200:] != still[7200:]).any()) == bool(parameter.smoothing)
    assert (early[4800:] != still[4800:]).any()


def test_a_barrier_that_replaces_another_is_moved_from_its_own_height() -> None:
    """Numbers that a computer holds exactly: raised by its height, or in its shape, it is the same barrier."""
    up, low, high = 2.0**-13, -(2.0**-12), 2.0**-11
    span = {"source": "wheel", "to": "barrier.height", "range": [low, high]}
    preset = load_preset({**PLAIN, **TOUCHING, "barrier": {**BONE, "height": "-0.7 mm"}, "map": [span]})
    moved = [(0, cc(1, 100)), (0, on(60)), (1200, cc(1, 30))]

    def played(barrier: Barrier, by: float) -> Array:
        (controller,) = preset.controllers
        other = replace(controller, low=low + by, high=high + by)
        problem = replace(preset.problem, barrier=barrier)
        return render(
            Instrument(replace(preset, problem=problem, controllers=(other,)), RATE, polyphony=1), moved, 2400
        )

    raised = played(Barrier(Polynomial((0.0, 0.0, -0.75)), 0.0, 0.06, 6, -up), 0.0)
    shaped = played(Barrier(Polynomial((-up, 0.0, -0.75)), 0.0, 0.06, 6), up)
    assert (raised == shaped).all()
    assert (raised != played(Barrier(Polynomial((-up, 0.0, -0.75)), 0.0, 0.06, 6), 0.0)).any()


def test_pickups_that_replace_others_are_heard_where_they_are() -> None:
    preset = load_preset({**PLAIN, "map": []})
    pickups = (Pickup(0.1, pan=-1.0), Pickup(0.2, "velocity", -1.0), Pickup(0.0, "bridge_force", -1.0))
    left = render(
        Instrument(replace(preset, problem=replace(preset.problem, pickups=pickups)), RATE), [(0, on(60))], 2400
    )
    turned = tuple(replace(pickup, pan=1.0) for pickup in pickups)
    right = render(
        Instrument(replace(preset, problem=replace(preset.problem, pickups=turned)), RATE), [(0, on(60))], 2400
    )
    assert np.abs(left[:, 0]).max() > 0.01
    assert np.abs(left[:, 1]).max() < 1e-12
    assert left[:, 0] == pytest.approx(right[:, 1], rel=1e-6, abs=1e-9)
