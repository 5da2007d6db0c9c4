"""The table of what may move: every row is a key, is in the maps and in the documents, and keeps its meaning."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from math import inf, log10
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import PresetError
from engine.physics.string import Loss
from engine.preset.assembly import Assembly
from engine.preset.loader import Preset, load_preset
from engine.preset.parameters import ADDED, IN_DECIBELS, MULTIPLIED, PARAMETERS, SMOOTHING, Parameter
from engine.preset.playing import Controller
from engine.preset.schema import KEYS, render_text
from engine.preset.strum import Strum

ROOT = Path(__file__).parents[2]
STRING = {"string": {"length": 1.0, "density": 1e-3, "tension": 100.0}}
BARRED = STRING | {"barrier": {"profile": "parabola", "curvature": 0.5, "to": 0.05}}
every = pytest.mark.parametrize("parameter", PARAMETERS.values(), ids=lambda p: p.key)


def values(parameter: Parameter, least: float = -inf) -> st.SearchStrategy[float]:
    """Any that its key may have, but none below the least."""
    key = KEYS[parameter.key]
    low = max(key.low, least)
    return st.floats(low, key.high, exclude_min=parameter.inside and low == key.low, exclude_max=parameter.inside)


def of_its_own(parameter: Parameter, value: float) -> Preset:
    """A preset that has this value."""
    return load_preset(BARRED, {parameter.key: value})


def having(parameter: Parameter) -> dict[str, Any]:
    """A preset that has what the parameter needs."""
    needed = {"strum": {"order": "up"}, "registers": {"second": 0.5}}
    return BARRED | {group: needed[group] for group in [parameter.needs] if group in needed}


# --- rows -------------------------------------------------------------------------------------------------------------


def test_a_row_is_known_by_its_number_and_by_nothing_else() -> None:
    """Numbers are kept on disk: those given away stay whose they are."""
    assert {p.number: p.key for p in PARAMETERS.values()} == {
        0: "barrier.height",
        1: "excitation.position",
        2: "excitation.duration",
        3: "string.loss.s0",
        4: "gain",
        5: "strum.spread",
        6: "registers.first",
        7: "registers.second",
        8: "registers.third",
        9: "registers.fourth",
        10: "bend",
    }
    assert len({p.name for p in PARAMETERS.values()}) == len(PARAMETERS)


@every
def test_a_row_is_a_key_with_a_range(parameter: Parameter) -> None:
    key = KEYS[parameter.key]
    assert key.kind in ("number", "level", "cents")
    assert -float("inf") < key.low < key.high < float("inf")
    assert not parameter.needs or any(name.startswith(f"{parameter.needs}.") for name in KEYS)
    assert parameter.effect.endswith(".")
    assert parameter.smoothing in (0.0, SMOOTHING)  # the renderer has one pace


@every
@given(data=st.data())
def test_its_own_value_is_what_the_preset_says(parameter: Parameter, data: st.DataObject) -> None:
    value = data.draw(values(parameter))
    assert parameter.own(of_its_own(parameter, value)) == value


def test_without_a_barrier_there_is_no_height() -> None:
    assert PARAMETERS["barrier.height"].own(load_preset(STRING)) == 0.0


# --- what the renderer gets -------------------------------------------------------------------------------------------


def back(parameter: Parameter, number: float, own: float) -> float:
    """Which value a number of the renderer's stands for, by what the renderer does with it."""
    if parameter.conversion is ADDED:
        return own + number
    if parameter.conversion is MULTIPLIED:
        return own * number
    assert parameter.conversion is IN_DECIBELS
    return own + 20.0 * log10(number)


@every
@given(data=st.data())
def test_the_ends_of_a_map_come_back(parameter: Parameter, data: st.DataObject) -> None:
    """Within rounding; the preset's own value is neutral to the last bit; what is higher stays so."""
    least = 1e-9 if parameter.conversion is MULTIPLIED else -inf
    own, low, high = (data.draw(values(parameter, least)) for _ in range(3))
    preset = of_its_own(parameter, own)
    ends = parameter.ends(preset, low, high)
    for end, number in zip((low, high), ends, strict=True):
        assert back(parameter, number, own) == pytest.approx(end, rel=1e-12, abs=1e-15 * max(1.0, abs(own)))
    assert parameter.ends(preset, own, own) == (parameter.conversion.neutral,) * 2
    assert (low <= high) <= (ends[0] <= ends[1])
    assert (high <= low) <= (ends[1] <= ends[0])


@every
@given(data=st.data())
def test_a_map_takes_every_value_of_its_key(parameter: Parameter, data: st.DataObject) -> None:
    low, high = data.draw(values(parameter)), data.draw(values(parameter))
    item = {"source": "wheel", "to": parameter.key, "range": [low, high]}
    assert load_preset(having(parameter) | {"map": [item]}).controllers == (
        Controller("cc1", parameter.key, low, high),
    )


@every
def test_what_is_out_of_range_is_refused(parameter: Parameter) -> None:
    key = KEYS[parameter.key]
    for wrong in (key.low - 1.0, key.high + 1.0, *((key.low, key.high) if parameter.inside else ())):
        fine = 0.5 * (key.low + key.high)
        for span in ([wrong, fine], [fine, wrong]):
            with pytest.raises(PresetError, match=r"map\.0\.range"):
                load_preset(having(parameter) | {"map": [{"source": "wheel", "to": parameter.key, "range": span}]})


@every
def test_what_needs_a_group_is_refused_without_it(parameter: Parameter) -> None:
    middle = 0.5 * (KEYS[parameter.key].low + KEYS[parameter.key].high)
    document = STRING | {"map": [{"source": "wheel", "to": parameter.key, "range": [middle, middle]}]}
    if not parameter.needs:
        assert load_preset(document).controllers
        return
    with pytest.raises(PresetError, match=f"there is no {parameter.needs} to move; remove it, or add a"):
        load_preset(document)


def test_what_is_replaced_brings_its_own_value() -> None:
    """A height of 1 mm, a pluck in the middle and so on, given from Python."""
    preset = load_preset(BARRED, {"barrier.height": "-2 mm"})
    problem = preset.problem
    assert problem.barrier is not None
    other = replace(
        problem,
        string=replace(problem.string, loss=Loss(2.0)),
        barrier=replace(problem.barrier, height=1e-3),
        excitation=replace(problem.excitation, position=0.5, duration=4e-3),
    )
    drawn = Assembly((), registers=(1.0, 0.25, 1.0, 0.0))
    changed = replace(preset, problem=other, gain=-6.0, strum=Strum(0.2), assembly=drawn, bend=25.0)
    assert {key: p.own(changed) for key, p in PARAMETERS.items()} == {
        "barrier.height": 1e-3,
        "excitation.position": 0.5,
        "excitation.duration": 4e-3,
        "string.loss.s0": 2.0,
        "gain": -6.0,
        "strum.spread": 0.2,
        "registers.first": 1.0,
        "registers.second": 0.25,
        "registers.third": 1.0,
        "registers.fourth": 0.0,
        "bend": 25.0,
    }


# --- one more ---------------------------------------------------------------------------------------------------------

ONE_MORE = """\
    Parameter(
        "contact.damping", 99, "Softness",
        "How much a touch takes from the string.",
        lambda preset: preset.problem.contact.damping, ADDED, needs="barrier",
    ),
)  # fmt: skip
"""
PROGRAM = """
import engine
from engine.preset.parameters import PARAMETERS
from engine.preset.schema import render_markdown, render_text
string, barrier = {"length": 1, "density": 1e-3, "tension": 100}, {"profile": "flat", "height": -1e-3}
item = {"source": "wheel", "to": "contact.damping", "range": ["0.5 s/m", 3]}
document = {"string": string, "barrier": barrier, "contact": {"damping": 0.25}}
preset = engine.load_preset(document | {"map": [item]})
print(preset.controllers)
print(PARAMETERS["contact.damping"].ends(preset, 0.5, 3.0))
for wrong in (document | {"map": [item | {"range": [0, "2 N"]}]}, {"string": string, "map": [item]}):
    try:
        engine.load_preset(wrong)
    except engine.PresetError as error:
        print(error)
print(render_text(10_000), render_markdown())
import runpy
print(runpy.run_path("scripts/make_tables.py")["made"]("<!-- made: parameters -->\\n<!-- end -->"))
"""


def test_one_row_is_all_that_a_further_one_takes(tmp_path: Path) -> None:
    """Schema, maps, conversion, `jawari presets keys` and documents have it; only the renderer must learn to ask."""
    for room in ("engine", "presets", "scripts"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    file = tmp_path / "engine" / "preset" / "parameters.py"
    text = file.read_text(encoding="utf-8")
    assert text.count(")  # fmt: skip\n") == 1
    file.write_text(text.replace(")  # fmt: skip\n", ONE_MORE), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONIOENCODING": "utf-8", "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout
    assert "Controller(source='cc1', to='contact.damping', low=0.5, high=3.0)" in said
    assert "(0.25, 2.75)" in said
    assert "the second, 2 N, must be a damping per speed in s/m" in said
    assert "there is no barrier to move" in said
    choices = ", ".join([*PARAMETERS, "contact.damping"])
    assert f"map.to  ({choices}; required)" in said
    assert f"| `map.to` |  | {choices} | required |" in said
    assert "| Softness | `contact.damping` | How much a touch takes from the string. | glides, 4 ms |" in said


def test_the_documents_and_the_terminal_have_every_row() -> None:
    document = (ROOT / "presets" / "README.md").read_text(encoding="utf-8")
    for p in PARAMETERS.values():
        assert f"| {p.name} | `{p.key}` | {p.effect} |" in document
        assert p.key in render_text().split("map.to  (")[1].split(")")[0]
