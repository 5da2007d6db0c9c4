"""Networks that are designed anew: a new note has the bits that Python plays with those values, others go on."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from export.exporting import NEEDED, RATE, Opened
from export.redesigned import beyond_their_range_at_its_end, goes_on_as_in_live_play, machine_of, told
from export.test_export_any_network import image_of, preset, same_network

from engine.export import designs
from engine.physics.problem import Problem
from engine.preset.loader import Preset, load_preset
from engine.preset.rack import bank
from engine.synth import choirs
from engine.synth.bank import Setup
from engine.synth.bank import design as design_all
from engine.synth.instrument import Instrument
from engine.synth.sounded import asked_of, pitch_of

BLOCK = 128
NAMED = ("sitar", "tanpura", "bray-harp")  # their bodies have a name, and so the preset's own key of their weight
DETUNED, SCALE, WEIGHT, QUALITY = RATIOS = ("courses.detuned", "body.scale", "body.weight", "body.quality")
CHANGED: list[tuple[str, dict[str, float]]] = [
    ("sitar", {"barrier.curvature": 0.9, "contact.stiffness": 3e7, "string.loss.s3": 8e-6, "release": 0.4}),
    ("sitar", {SCALE: 1.3, WEIGHT: 0.6, QUALITY: 2.0, "barrier.curvature": 0.2}),
    ("bray-harp", {WEIGHT: 0.6, SCALE: 0.9}),
    ("tanpura", {"contact.damping": 0.4, "contact.stiffness": 1e7, "string.loss.s1": 3e-3, QUALITY: 0.4}),
    ("piano", {DETUNED: 3.0, "excitation.position": 0.2, "string.loss.s2": 4e-5, WEIGHT: 3.0}),
    ("koto", {"string.stiffness": 6e-5, "excitation.force": 9.0, "string.loss.s3": 2e-6}),
]


def values(name: str, changes: dict[str, float]) -> list[float]:
    """By their numbers; of all others none."""
    return told(preset(name), changes)


def with_ratios(found: Preset, changes: dict[str, float]) -> Preset:
    """A preset whose strings are so many times as far apart, on such a body."""
    a = found.assembly
    assert a is not None
    apart, scale, weight, quality = (changes.get(key, 1.0) for key in RATIOS)
    modes = tuple(
        replace(m, frequency=m.frequency * scale, mass=m.mass * weight, quality=m.quality * quality)
        for m in a.body.modes
    )
    body = replace(a.body, modes=modes, radiates=a.body.radiates * scale)
    played = tuple(
        replace(part, courses=tuple(replace(c, detuned=apart * c.detuned) for c in part.courses)) for part in a.played
    )
    return replace(found, assembly=replace(a, played=played, body=body))


@cache
def gains(name: str) -> Any:
    return Instrument(preset(name), RATE).design.keys.gain


def python(name: str, changes: dict[str, float], patched: pytest.MonkeyPatch) -> Instrument:
    """The preset with these values, as loud and as tuned as it is by itself: neither is heard anew in an export."""
    by_key = {WEIGHT} if name in NAMED else set[str]()
    own, said = preset(name), {key: value for key, value in changes.items() if key not in {*RATIOS} - by_key}
    ratios = {key: value for key, value in changes.items() if key not in by_key}
    made, heard = with_ratios(load_preset(name, said), ratios), choirs.own_pitch
    assert own.assembly is not None
    assert made.assembly is not None
    first, changed = own.assembly.played, made.assembly.played

    def pitched(_: Preset, part: Any, course: Any, asked: Problem, hz: float) -> float:
        n = next(n for n, other in enumerate(changed) if other is part)
        before = first[n].courses[next(c for c, other in enumerate(part.courses) if other is course)]
        harder = own.voicing.harder(own.tuning.frequencies.index(hz))
        tuned = heard(own, first[n], before, asked_of(first[n], harder), hz)
        if changes.get(DETUNED, 1.0) == 1.0:
            return tuned
        return pitch_of(course, hz) * (tuned / pitch_of(before, hz))

    loud = gains(name)
    with patched.context() as patch:
        patch.setattr(choirs, "own_pitch", pitched)
        setup = Setup(made, RATE, made.oversample, made.polyphony, 2, made.tuning)
        return Instrument.of(setup, design_all(setup, None, loud))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("network-designs")


class TestWithCode:
    pytestmark = NEEDED

    @pytest.mark.parametrize(("name", "changes"), CHANGED, ids=str)
    def test_every_number_is_what_python_designs(
        self, name: str, changes: dict[str, float], folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made, wanted = Opened(folder, image_of(name), RATE, values(name, changes)), python(name, changes, monkeypatch)
        assert made.result == 0
        same_network(machine_of(made), wanted.machine)

    @pytest.mark.parametrize("name", ["sitar", "piano"])
    def test_values_beyond_their_range_are_at_its_end(self, name: str, folder: Path) -> None:
        beyond_their_range_at_its_end(folder, image_of(name), preset(name), 60)

    @pytest.mark.parametrize(("name", "changes"), [CHANGED[1], CHANGED[3]], ids=str)
    def test_what_sounds_goes_on_as_in_live_play(
        self, name: str, changes: dict[str, float], folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        old, new = Opened(folder, image_of(name)), Opened(folder, image_of(name), RATE, values(name, changes))
        goes_on_as_in_live_play(old, new, Instrument(preset(name), RATE), python(name, changes, monkeypatch), 1e-4)


def test_what_is_said_for_all_is_of_those_that_say_nothing_else() -> None:
    found = {own.key: own for own in designs.owned(load_preset("sitar"))}
    assert found["barrier.curvature"].played == (0, 1, 2, 3, 4, 5)
    assert not found["barrier.curvature"].answering  # they have a bridge of their own
    assert found["contact.stiffness"].answering
    assert found["excitation.force"].played == (0, 2, 3, 4, 5)
    assert "string.stiffness" not in found  # each has a wire of its own
    assert found["barrier.height"].span[1] == 0.0  # what presses at rest would be silent


def test_ratios_begin_where_the_preset_is_and_stay_within_reason() -> None:
    for name in ("piano", "sitar"):
        dials = {dial.key: dial for dial in designs.designed(bank([load_preset(name)]))}
        assert (DETUNED in dials) == (name == "piano")
        for key in RATIOS:
            if key in dials:
                assert dials[key].low <= 1.0 <= dials[key].high
                assert (dials[key].own, dials[key].unit) == (1.0, "")
    a = load_preset("piano").assembly
    assert a is not None
    widest = max(abs(course.detuned) for part in a.played for course in part.courses)
    assert widest * {d.key: d for d in designs.designed(bank([load_preset("piano")]))}[DETUNED].high <= designs.WIDEST
