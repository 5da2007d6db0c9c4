"""Keys are heard at their pitch, whatever touches their strings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judge_presets import departure, lowest, played

from engine.preset.loader import load_preset
from engine.synth import choirs, intonation
from engine.synth.bank import Setup, design
from engine.synth.instrument import Instrument
from engine.synth.keys import design_key, preset_key
from engine.units import key_to_hz

ROOT, RATE = Path(__file__).parents[2], 48_000
WIRE = {"length": "65 cm", "diameter": "0.3 mm", "material": "steel", "tuned": "A3", "keys": "length"}
GRAZED = {
    "name": "Grazed",
    "string": WIRE,
    "barrier": {"profile": "points", "at": [["5 mm", "0 mm"]]},
    "contact": {"stiffness": "3e7 N/m"},
    "excitation": {"position": 0.2, "force": "1 N", "duration": "1 ms"},
}
ON_A_BOX = {
    "name": "Three strings on a box",
    "string": WIRE,
    "strings": [{"played": "A2-A4"}],
    "courses": [{"detuned": "-0.5 cents"}, {}, {"detuned": "0.5 cents", "onset": "3 ms"}],
    "excitation": {"position": 0.2, "force": "1 N", "duration": "1 ms"},
    "body": {"modes": [{"frequency": "230 Hz", "quality": 12, "mass": "150 g"}]},
}


def cents(inst: Instrument, key: int) -> float:
    """By which a note is sharp."""
    return departure(played(inst, [key], 100, 1.0), *lowest(inst.preset, key))


@pytest.mark.parametrize("key", [28, 45, 69, 96, 105])
@pytest.mark.parametrize("off", [0.0, 7.0, -30.0])
def test_a_pitch_is_told_to_a_tenth_of_a_cent(key: int, off: float) -> None:
    """Of a string that touches nothing."""
    p, hz = load_preset("plain"), key_to_hz(key)
    design = design_key(p.problem, "modal", "tension", hz * 2.0 ** (off / 1200.0), RATE).design
    assert design is not None
    assert 1200.0 * np.log2(1.0 + intonation.bent(design, hz)) == pytest.approx(off, abs=0.1)


@pytest.mark.parametrize(
    ("preset", "keys", "least", "most"),
    [
        ("tanpura-string", (24, 48, 72, 96), 2.0, 1.0),
        ("bray-harp", (41, 48), 3.0, 1.0),
        (ON_A_BOX, (46, 57, 69), 1.2, 0.3),
    ],
)
def test_what_is_bent_is_heard_at_its_pitch(preset: Any, keys: tuple[int, ...], least: float, most: float) -> None:
    """By an edge, by an edge on a body, by a body beside it: strings by themselves would be off by more."""
    given = preset if isinstance(preset, dict) else str(ROOT / "presets" / f"{preset}.yaml")
    heard, string = (Instrument(load_preset(given, {"intonation": how}), RATE) for how in ("heard", "string"))
    assert max(abs(cents(string, key)) for key in keys) > least
    assert max(abs(cents(heard, key)) for key in keys) < most


def test_who_touches_nothing_is_not_rehearsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor who takes long, or is too high or low to be heard bent: those are the strings by themselves."""
    p = load_preset(GRAZED)
    free = load_preset({**GRAZED, "barrier": {"profile": "points", "at": [["5 mm", "-100 mm"]]}})

    def refused(*_: object) -> float:
        raise AssertionError("rehearsed")

    monkeypatch.setattr(intonation, "bent", refused)
    for preset, hz in ((free, 220.0), (p, 20.0), (p, 6000.0)):
        assert preset_key(preset, hz, RATE).design is not None
    with pytest.raises(AssertionError, match="rehearsed"):
        preset_key(p, 220.0, RATE)
    monkeypatch.setattr(intonation, "TUNING", 1e-7)
    assert preset_key(p, 221.0, RATE).design is not None


@pytest.mark.parametrize(("given", "key"), [(GRAZED, 57), (ON_A_BOX, 50), ("tanpura-string", 48)])
def test_who_is_known_is_not_listened_to(given: Any, key: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another design of the same strings is tuned as the one before."""

    def made(changes: dict[str, object], retuned: Any = None) -> Any:
        preset = load_preset(given if isinstance(given, dict) else str(ROOT / "presets" / f"{given}.yaml"), changes)
        return design(Setup(preset, RATE, 1, 4, 2, preset.tuning), {key}, np.ones(128), retuned)

    heard, string = made({}), made({"intonation": "string"})
    assert heard.retuned
    assert not string.retuned

    def refused(*_: object) -> float:
        raise AssertionError("listened to")

    monkeypatch.setattr(intonation, "bent", refused)
    monkeypatch.setattr(choirs, "by_ear", refused)
    known = made({}, heard.retuned)
    assert known.retuned == pytest.approx(heard.retuned, abs=1e-15)
    assert known.keys.tension[key] == pytest.approx(heard.keys.tension[key], rel=1e-14)
    assert known.keys.length[key] == pytest.approx(heard.keys.length[key], rel=1e-14)
    assert known.keys.length[key] != string.keys.length[key] or known.keys.tension[key] != string.keys.tension[key]
    assert made({"intonation": "string"}, heard.retuned).keys.tobytes() == string.keys.tobytes()
