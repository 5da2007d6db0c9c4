"""`simulate` of a key and a velocity, as an instrument plays it or with all modes; test_instrument.py compares them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from synth.playing import RATE, bend, cents, instrument, on, pitch, raw

import engine
from engine.cli import main
from engine.synth.instrument import Instrument
from engine.units import key_to_hz

pytestmark = pytest.mark.filterwarnings("ignore::engine.errors.PhysicsWarning")


def test_without_a_key_it_is_the_one_next_to_the_preset_s_own_string() -> None:
    for preset, key in (("sitar-string", 54), ("tanpura-string", "C3"), ("slap-bass", 43)):
        own, named = (engine.simulate(preset, 0.01, as_played=True, **how) for how in ({}, {"key": key}))  # type: ignore[arg-type]
        assert (own.pickups == named.pickups).all()
        assert own.differs == ""


def test_all_modes_of_a_key_and_those_that_are_played() -> None:
    every, some = (
        engine.simulate("tanpura-string", 0.05, key="G3", velocity=60, as_played=played) for played in (False, True)
    )
    assert every.preset.problem == some.preset.problem
    all_of_them, kept = ((sim.snapshots.x.size - 1) // 2 for sim in (every, some))
    assert every.differs == f"an instrument keeps the {kept} modes below 20000 Hz, here are {all_of_them}"
    tracked, voiced = 0.4 * (key_to_hz(55) / 130.8128), 10.0 ** (every.preset.voicing.decibels(55) / 20.0)
    assert every.preset.problem.excitation.force == pytest.approx(tracked * voiced * 0.6**1.8, rel=1e-2)
    again = engine.simulate("tanpura-string", 0.05, key="G3", velocity=60, band=20_000.0)
    assert (again.pickups == some.pickups).all()
    assert again.differs == ""


def test_what_differs_is_said() -> None:
    assert (
        engine.simulate("sitar-string", 0.001).differs
        == "an instrument keeps the 99 modes below 20000 Hz, here are 199"
    )
    assert (
        engine.simulate("sitar-string", 0.001, scheme="modal-cholesky").differs
        == "an instrument plays modal, not modal-cholesky"
    )
    found = engine.simulate("slap-bass", 0.001).differs
    assert found.startswith("an instrument has room on its grid for 2 semitones upwards: ")
    # With differences as they stand it would be 308: that its partials come out right makes this grid coarser by 3 %.
    assert found.endswith(": 288 intervals, here 299")


def test_the_preset_s_own_pluck_is_that_of_velocity_100() -> None:
    plain, loud = (engine.simulate("sitar-string", 0.02, **how) for how in ({}, {"velocity": 100}))  # type: ignore[arg-type]
    assert (plain.pickups == loud.pickups).all()
    soft = engine.simulate("sitar-string", 0.02, velocity=50).preset.problem.excitation
    assert (soft.force, soft.duration) == pytest.approx((-(0.5**2.0), 2e-3 * 0.5**-0.4))


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"key": 128}, "key = 128: must be a whole number, 0 to 127"),
        ({"key": "H3"}, "key = H3: 'H3' is not a note"),
        ({"velocity": 0}, "velocity = 0: must be a whole number, 1 to 127"),
        ({"as_played": True, "scheme": "fd"}, "as_played = scheme: is the instrument's own"),
        ({"as_played": True, "band": 5e3}, "as_played = band: is the instrument's own"),
        ({"as_played": True, "precision": "float32"}, "as_played = precision: is the instrument's own"),
        ({"as_played": True, "initial": np.sin}, "as_played = initial: an instrument's note begins at rest"),
        ({"as_played": True, "key": 127, "overrides": {"string.keys": "length", "barrier.to": "40 mm"}}, ""),
    ],
)
def test_refusals(how: dict[str, Any], told: str) -> None:
    if told:
        with pytest.raises(engine.EngineError) as caught:
            engine.simulate("sitar-string", 0.001, **how)
        assert str(caught.value).startswith(told)
    else:
        engine.simulate("sitar-string", 0.001, **how)


def test_a_key_without_a_string_is_refused_with_its_reason() -> None:
    with pytest.raises(engine.EngineError, match=r"Slap bass, G9: .*grid intervals"):
        engine.simulate("slap-bass", 0.001, key="G9", as_played=True)


def test_the_command_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "sitar-string", "--seconds", "1 ms"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("here are 199; --as-played takes that")
    assert (
        main(["simulate", "sitar-string", "--seconds", "5 ms", "--key", "C#5", "--velocity", "120", "--as-played"]) == 0
    )
    out = capsys.readouterr().out
    sim = engine.simulate("sitar-string", 0.005, key="C#5", velocity=120, as_played=True)
    assert f"peak {np.abs(sim.pickups).max():.4g}" in out
    assert "--as-played" not in out
    assert main(["simulate", "sitar-string", "--as-played", "--scheme", "fd"]) == 2
    assert "leave scheme out" in capsys.readouterr().err


def test_the_wheel_pulls_a_string_that_frets_have_shortened() -> None:
    """Meend: with keys by length a bend is by tension, so the string's length stays that of its fret."""
    free = Instrument({"string": {"length": 0.88, "density": 5.55e-4, "tuned": "F#3", "keys": "length"}}, RATE)
    x = raw(free, [(0, on(73)), (0, bend(8191))], RATE // 2)[:, 0][RATE // 20 :]
    ratio = 2.0 ** (2.0 * 8191 / 8192 / 12)
    assert cents(pitch(x, key_to_hz(73) * ratio), key_to_hz(73) * ratio) == pytest.approx(0.0, abs=0.5)
    sitar = instrument("sitar-string")
    raw(sitar, [(0, on(73)), (0, bend(8191))], RATE // 4)
    voice, key = sitar.machine.voices[0], sitar.machine.keys[73]
    assert key.length == pytest.approx(0.88 * 2.0 ** (-19 / 12), rel=1e-3)
    assert voice.tension / key.tension == pytest.approx(ratio**2, rel=1e-3)
