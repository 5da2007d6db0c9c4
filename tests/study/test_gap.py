"""A barrier that stands below and above the string."""

from __future__ import annotations

import numpy as np
import pytest

from engine.study.simulate import simulate

WIRE = {"length": 0.65, "diameter": 4e-4, "material": "steel", "tuned": "A3"}


def test_in_a_gap_up_is_as_down() -> None:
    """What strikes upwards does what struck downwards, with its sign turned; a barrier on one side tells them apart."""
    gap = {
        "profile": "flat",
        "from": 0.2,
        "to": 0.3,
        "height": -1e-4,
        "points": 1,
        "mirrored": "yes",
        "stands": "frame",
    }
    heard = []
    for force in (2.0, -2.0):
        pluck = {"position": 0.3, "force": force, "duration": 1e-3}
        found = simulate({"string": WIRE, "barrier": gap, "contact": {"stiffness": 1e7}, "excitation": pluck}, 0.01)
        assert found.contact_force.shape[1] == 2
        assert found.contact_force.max(axis=0).min() > 0.1
        assert found.energy_drift < 1e-9
        heard.append(found.sound)
    assert heard[0] == pytest.approx(-heard[1], abs=1e-4 * np.abs(heard[0]).max())
    one = {"string": WIRE, "barrier": gap | {"mirrored": "no"}, "excitation": {"position": 0.3, "force": 2.0}}
    assert simulate(one | {"contact": {"stiffness": 1e7}}, 0.001).contact_force.shape[1] == 1
