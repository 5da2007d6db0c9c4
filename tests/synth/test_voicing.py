"""Keys that are voiced are struck harder, by as much as is said, and louder; all others are what they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from synth.playing import RATE, on, raw
from synth.test_bridged import joint
from synth.test_knock import SHAMISEN
from synth.test_tracking import IDEAL

from engine import simulate
from engine.errors import PresetError
from engine.physics.string import Array
from engine.preset.loader import load_preset
from engine.preset.voicing import Voicing
from engine.synth.instrument import Instrument

# Middle C alone.
ONE = [["B3", "0 dB"], ["C4", "6 dB"], ["C#4", "0 dB"]]
TWICE = 10.0 ** (6.0 / 20.0)
LINEAR: dict[str, Any] = {
    **SHAMISEN,
    "strings": [{"played": "E3-E4"}],
    "excitation": {"position": 0.16, "force": "-3 N", "duration": "6 ms"},
    "intonation": "string",
}


def heard(inst: Instrument, key: int, frames: int = 4800) -> Array:
    """A note before the output stage, with its gain."""
    inst.reset()
    return raw(inst, [(0, on(key))], frames)


def test_between_two_keys_it_is_on_a_line_and_beyond_them_as_the_nearest() -> None:
    voicing = load_preset({**IDEAL, "voicing": [["C3", "-3 dB"], ["G3", 4], ["C4", "4 dB"]]}).voicing
    assert [voicing.decibels(key) for key in (0, 48, 52, 55, 57, 60, 127)] == [-3.0, -3.0, 1.0, 4.0, 4.0, 4.0, 4.0]
    assert voicing.harder(60) == pytest.approx(10.0 ** (4.0 / 20.0), rel=1e-15)
    assert Voicing().harder(60) == Voicing(((60, 0.0),)).harder(60) == 1.0


def test_a_key_of_one_string_is_struck_harder_and_is_as_much_louder() -> None:
    plain, voiced = Instrument(IDEAL, RATE), Instrument({**IDEAL, "voicing": ONE}, RATE)
    force, before = voiced.machine.keys.force, plain.machine.keys.force
    assert force[60] == pytest.approx(TWICE * before[60], rel=1e-15)
    assert (np.delete(force, 60) == np.delete(before, 60)).all()
    assert np.abs(heard(voiced, 60)).max() == pytest.approx(TWICE * np.abs(heard(plain, 60)).max(), rel=1e-9)
    assert heard(voiced, 72).tobytes() == heard(plain, 72).tobytes()


def test_keys_on_one_bridge_are_struck_harder_and_the_body_is_knocked_at_as_much() -> None:
    plain, voiced = Instrument(LINEAR, RATE, polyphony=1), Instrument({**LINEAR, "voicing": ONE}, RATE, polyphony=1)
    for key, times in ((60, TWICE), (61, 1.0)):
        before, now = (heard(inst, key) / float(joint(inst).gain) for inst in (plain, voiced))
        assert np.abs(now - times * before).max() < 1e-12 * np.abs(now).max()


@pytest.mark.parametrize("preset", [{**LINEAR, "voicing": ONE}, {**IDEAL, "voicing": ONE}], ids=["bridge", "string"])
def test_what_is_simulated_is_struck_as_hard(preset: dict[str, Any]) -> None:
    even = {**preset, "voicing": [["C4", 0]]}
    loud, usual = (simulate(own, 0.02, RATE, key="C4", as_played=True) for own in (preset, even))
    name = "sound" if hasattr(loud, "sound") else "pickups"
    now, before = getattr(loud, name), getattr(usual, name)
    assert np.abs(now - TWICE * before).max() < 1e-12 * np.abs(now).max()


@pytest.mark.parametrize(
    ("more", "wrong"),
    [
        ({"voicing": [["C4", "1 dB"], ["C4", "2 dB"]]}, "keys must be in their order, but C4 follows C4"),
        ({"voicing": [[60, "1 dB"]]}, "must be a key; write it like C4"),
        ({"voicing": [["C4"]]}, "must be .key, dB.; write it like"),
        ({"voicing": [["C4", "1 N"]]}, "a level in dB; write it like -6 dB"),
        ({"voicing": [["C4", "40 dB"]]}, "24 dB in item 1"),
        ({"voicing": [["G#9", "1 dB"]]}, "from C-1 to G9; move it"),
        ({"compass": "D3-E4"}, "ends at D3, which plays no string; take keys of strings.played"),
        ({"compass": "E4-E3"}, "must be keys that go up"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(more: dict[str, Any], wrong: str) -> None:
    with pytest.raises(PresetError, match=wrong) as told:
        load_preset({**LINEAR, **more})
    assert len(str(told.value).splitlines()) == 1
