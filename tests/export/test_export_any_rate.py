"""Instruments that are designed when they are opened: at any rate each number of every string is what Python makes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export.exporting import NEEDED, SECONDS, Opened, music
from export.redesigned import at_any_rate, machine_of, plays_the_same_also_after_a_reset, same

from engine import cli
from engine.export import any_rate, image
from engine.export.memory import OTHER_RATE
from engine.layout import rebuilt
from engine.preset.loader import Preset, load_preset
from engine.preset.rack import bank
from engine.synth import decimate
from engine.synth.ensemble import Ensemble, design_part
from engine.synth.instrument import Instrument
from engine.synth.strings import GROUPS

STRING: dict[str, Any] = {
    "length": 0.9,
    "density": 6e-4,
    "tension": 60.0,
    "stiffness": 8e-5,
    "loss": {"s0": 0.5, "s1": 6e-3, "s3": 5e-6},
}
PULL = {"position": 0.2, "force": 1.5, "duration": 1.5e-3}
OWN: dict[str, dict[str, Any]] = {
    # It crosses the rest line, so that its points press; its law is no power that has a shorter way.
    "pressed": {
        "model": "modal",
        "string": STRING,
        "excitation": PULL,
        "barrier": {"profile": "table", "table": [[0.3, -1e-4], [0.35, 2e-4], [0.5, 1e-4]], "points": 9},
        "contact": {"stiffness": 1e7, "exponent": 1.7, "damping": 0.3},
        "pickups": [{"at": 0.1}, {"at": 1.0, "kind": "bridge_force"}, {"at": 1.0, "kind": "body_force"}],
        "circuit": {"inductance": 3.0, "resistance": 6e3, "capacitance": 5e-10, "load": 2e5},
        "oversample": 4,
        "polyphony": 4,
    },
    # Shorter keys lose their pins one after the other, and pickups and pluck go with the pitch.
    "pins": {
        "model": "modal",
        "string": {**STRING, "stiffness": 0.0, "keys": "length"},
        "excitation": PULL,
        "barrier": {"profile": "points", "at": [[0.6, -3e-4], [0.2, 1e-5], [0.05, -1e-4]]},
        "contact": {"stiffness": 1e6, "exponent": 1.5},
        "pickups": [{"at": 0.3, "kind": "velocity"}, {"at": 0.0, "kind": "body_force"}],
        "tracking": {"position": 0.5, "hearing": 0.5},
        "voicing": [["C3", "3 dB"], ["C5", "-4 dB"]],
        "room": {"share": 0.3, "decay": 0.4, "size": 5.0},
        "oversample": 1,
        "polyphony": 4,
    },
    "slope": {
        "model": "modal",
        "string": STRING,
        "excitation": PULL,
        "barrier": {"profile": "polynomial", "from": 0.01, "to": 0.06, "coefficients": [-2e-4, 1e-3, -0.4, 0.5]},
        "contact": {"stiffness": 1e8, "exponent": 2.0},
        "oversample": 2,
        "polyphony": 4,
    },
}
FRAMES = 6000
MORE = [  # rates, in the long run
    *(("sitar-string", 47_952.0), ("sitar-string", 88_200.0), ("plain", 44_100.0)),
    *(("pressed", 50_000.0), ("pins", 11_025.0), ("slope", 50_000.0)),
]


def preset(name: str) -> Preset:
    return load_preset(OWN.get(name, name))


def image_of(name: str) -> bytes:
    return at_any_rate(name, preset(name))


def arrays(value: Any) -> list[Any]:
    """All numbers of a string, one after the other."""
    if isinstance(value, tuple):
        return [number for part in value for number in arrays(part)]
    return [np.array(value)]


def designed(string: Any) -> Any:
    """A key's string without what every voice makes for itself."""
    return string._replace(s=(), c=string.c._replace(inject=0, grip=0), t=string.t._replace(strike=0))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("any-rate")


def same_keys(here: Any, there: Any) -> None:
    """Each number of every string of one machine is the other's."""
    assert np.array_equal(here.keys.ready, there.keys.ready)
    for number in np.flatnonzero(there.keys.ready).tolist():
        assert here.keys[number] == there.keys[number], number
        assert np.array_equal(here.resting[number], there.resting[number])
        one = rebuilt(GROUPS[there.model], here.address, here.key_words[number])
        other = rebuilt(GROUPS[there.model], there.address, there.key_words[number])
        assert [a.shape for a in arrays(one)] == [a.shape for a in arrays(other)], number
        for left, right in zip(arrays(designed(one)), arrays(designed(other)), strict=True):
            assert left.tobytes() == right.tobytes(), number


class TestWithCode:
    pytestmark = NEEDED

    @pytest.mark.parametrize(
        ("name", "rate"),
        [
            *(("sitar-string", rate) for rate in (32_000.0, 176_400.0)),
            *(("plain", rate) for rate in (8_000.0, 384_000.0)),
            ("tanpura-string", 96_000.0),
            ("prepared", 22_050.0),
            ("wave-bridge", 48_000.0),
            *(("pressed", 11_025.0), ("pins", 50_000.0), ("slope", 11_025.0)),
            *(MORE if SECONDS >= 20 else ()),
        ],
    )
    def test_every_number_is_what_python_designs(self, name: str, rate: float, folder: Path) -> None:
        made, wanted = Opened(folder, image_of(name), rate), Instrument(preset(name), rate)
        assert made.result == 0
        here, there = machine_of(made), wanted.machine
        for scalar in ("rate", "latency", "glide", "fade", "turn", "strip", "oversample"):
            assert getattr(here, scalar) == getattr(there, scalar), scalar
        assert np.array_equal(here.filter.taps, there.filter.taps)
        assert (here.finish, here.wiring) == (there.finish, there.wiring)
        same(here.room, there.room, "room")
        same_keys(here, there)

    @pytest.mark.parametrize(("name", "rate"), [("sitar-string", 47_952.0), ("pressed", 32_000.0), ("pins", 88_200.0)])
    def test_it_plays_the_same_bits_also_after_a_reset(self, name: str, rate: float, folder: Path) -> None:
        made, wanted = Opened(folder, image_of(name), rate), Instrument(preset(name), rate)
        events = [event for event in music(FRAMES) if event[0] < FRAMES]
        plays_the_same_also_after_a_reset(made, wanted, events, FRAMES, 1e-3)

    def test_several_are_heard_together(self, folder: Path) -> None:
        """One filters and so is late, the other waits for it."""
        names, rate = ("plain", "prepared"), 47_000.0
        rack = bank([preset(name) for name in names])
        parts = [design_part(part, rate, 128, None, None, None, False) for part in rack.parts]
        wanted = Ensemble(rack, parts.__getitem__, rate)
        made = Opened(folder, image.image(rack, ()), rate)
        assert made.code.jawari_latency(made.at) == wanted.latency > 0
        out = np.zeros((3000, 2), np.float32)
        for program, key in enumerate((50, 62)):
            for data in ([0xC0, program], [0x90, key, 100]):
                assert wanted.schedule(0, data)
                assert made.send(0, *data) == 1
        wanted.run(out)
        assert np.array_equal(made.run(len(out)), out)

    def test_rates_that_no_instrument_has_are_refused(self, folder: Path) -> None:
        whole = image_of("plain")
        for rate in (0.0, 7_999.0, 384_001.0, float("nan"), float("inf"), -48_000.0):
            assert Opened(folder, whole, rate).result == OTHER_RATE


def test_it_is_small() -> None:
    """What is left are rows of keys and what controllers begin from, not a number of any mode."""
    for name in ("sitar-string", "plain", "wave-bridge"):
        assert len(image_of(name)) < 45_000, name


def test_no_rate_has_a_longer_filter_than_there_is_room_for() -> None:
    for factor in decimate.FACTORS:
        assert max(decimate.design(rate, factor).taps.size for rate in (8e3, 44_099.0, *decimate.RATES, 384e3)) == (
            decimate.design(any_rate.LONGEST_FILTER, factor).taps.size
        )


@pytest.mark.parametrize(("name", "why"), [("slap-bass", "grid"), ("plain", ""), ("sitar-string", ""), ("sitar", "")])
def test_what_cannot_be_had_at_any_rate_says_why(name: str, why: str) -> None:
    said = any_rate.bound(bank([load_preset(name)]))
    assert (why in said) if why else said == ""


def test_a_grid_is_refused_at_any_rate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = cli.main(["export", "slap-bass", "--format", "c", "--rates", "any", "-o", str(tmp_path / "made")])
    said = capsys.readouterr().err
    assert done == 2
    assert said.count("\n") == 1
    assert "grid" in said
    assert "44100,48000" in said
    assert not (tmp_path / "made").exists()
