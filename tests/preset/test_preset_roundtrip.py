"""Presets through YAML and pickle and back, and the shipped ones."""

from __future__ import annotations

import pickle
import re
from dataclasses import FrozenInstanceError, replace
from math import pi
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from engine.physics.barrier import Barrier
from engine.preset.loader import load_preset, shipped
from engine.preset.materials import MATERIALS

numbers = st.floats(0.05, 5.0)
wires = st.fixed_dictionaries({"diameter": st.floats(1e-4, 1e-3), "material": st.sampled_from(sorted(MATERIALS))})
bodies = st.fixed_dictionaries({"density": st.floats(1e-4, 0.1)}) | wires
pitches = st.sampled_from(["F#3", "A2", {"pitch": "C4"}, "110 Hz", 123.4])
pulls = st.fixed_dictionaries({"tension": st.floats(1.0, 500.0)}) | st.fixed_dictionaries({"tuned": pitches})
losses = st.fixed_dictionaries({"s0": numbers, "s3": st.floats(0, 1e-3)})
details = st.fixed_dictionaries(
    {"length": st.floats(0.3, 3.0)}, optional={"keys": st.sampled_from(["tension", "length"]), "loss": losses}
)
strings = st.builds(lambda *parts: {k: v for part in parts for k, v in part.items()}, details, bodies, pulls)
pairs = st.lists(st.tuples(st.floats(0.01, 0.04), st.floats(-1, 0)).map(list), min_size=1, max_size=3)
terms = st.lists(st.floats(-1, 1), min_size=1, max_size=4)
surfaces = st.one_of(
    st.just({"profile": "flat"}),
    st.fixed_dictionaries({"profile": st.just("parabola"), "curvature": st.floats(-2, 2)}),
    st.fixed_dictionaries({"profile": st.just("polynomial"), "coefficients": terms}),
    st.fixed_dictionaries({"profile": st.just("points"), "at": pairs}),
    st.just({"profile": "table", "table": [[0.0, 1e-5], [0.02, 0.0], [0.05, "-1 mm"]]}),
)
contacts = st.fixed_dictionaries({}, optional={"stiffness": st.floats(0, 1e12), "exponent": st.floats(1, 3)})
forces = st.fixed_dictionaries({}, optional={"force": st.floats(-50, 50), "duration": st.floats(1e-5, 0.1)})
words = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1, max_size=20)
documents = st.fixed_dictionaries(
    {"string": strings},
    optional={
        "name": words,
        "about": words,
        "model": st.sampled_from(["modal", "fd"]),
        "barrier": surfaces,
        "contact": contacts,
        "excitation": forces,
        "pickups": st.lists(st.fixed_dictionaries({}, optional={"at": st.floats(0.01, 0.99)}), min_size=1, max_size=3),
        "oversample": st.sampled_from([1, 2, 4, 8]),
        "polyphony": st.integers(1, 256),
    },
)


@given(documents, st.booleans())
def test_a_dict_and_its_yaml_are_the_same_preset(
    tmp_path_factory: pytest.TempPathFactory, document: dict[str, Any], flow: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "roundtrip.yaml"
    path.write_text(yaml.safe_dump(document, default_flow_style=flow, allow_unicode=True), encoding="utf-8")
    expected = load_preset(document)
    assert load_preset(path) == expected
    assert pickle.loads(pickle.dumps(expected)) == expected


def test_presets_are_frozen_comparable_and_travel() -> None:
    preset = load_preset("sitar-string")
    assert pickle.loads(pickle.dumps(preset)) == preset
    assert hash(preset) == hash(load_preset("sitar-string"))
    assert preset != load_preset("sitar-string", {"string.length": 0.9})
    assert replace(preset, source="elsewhere") == preset
    with pytest.raises(FrozenInstanceError):
        preset.name = "other"  # type: ignore[misc]


def test_the_shipped_presets_cover_the_models_and_profiles() -> None:
    assert {"sitar-string", "tanpura-string", "slap-bass", "prepared", "plain"} <= set(shipped())
    assert {load_preset(name).model for name in shipped()} == {"modal", "fd"}


@pytest.mark.parametrize("name", shipped())
def test_a_shipped_preset_is_sane(name: str) -> None:
    preset = load_preset(name)
    assert preset.source == str(shipped()[name])
    assert preset.name != "Unnamed"
    assert 20 <= len(preset.about) <= 90
    string = preset.problem.string
    assert 40 < string.pitch < 600
    assert string.inharmonicity < 1e-3
    points = preset.problem.modal_points()
    assert np.all(points.height <= 0.0)  # clear of the resting string: nothing is pressed in before it is played


@pytest.mark.parametrize("name", shipped())
def test_points_of_a_shipped_preset_are_told_apart_by_its_modes(name: str) -> None:
    """§2.11, at 48 kHz times the preset's oversampling: points that are given are at least about L/(M + 1) apart, those
    of `points: auto` half of that, for a string gets better up to there; and no farther than the whole of it.
    """
    preset = load_preset(name)
    string = preset.problem.string
    top = string.wavenumber_at(24_000.0 * preset.oversample)
    modes = int(top * string.length / pi)
    position, barrier, told = preset.problem.modal_points(modes).position, preset.problem.barrier, string.apart(modes)
    auto = isinstance(barrier, Barrier) and barrier.points is None
    if position.size > 1:
        assert np.diff(position).min() >= 0.95 * (0.5 if auto else 1.0) * told
        assert not auto or np.diff(position).max() <= told


def test_every_shipped_preset_says_where_its_values_are_from() -> None:
    """A paper, a year, what makers sell; or that they are estimated."""
    for path in shipped().values():
        text = path.read_text(encoding="utf-8")
        assert re.search(r"# .*(et al|\d{4}|DAFx|sold|makers|estimated)", text), path
