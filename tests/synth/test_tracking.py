"""What a key does to the pluck: the same wave at every key, hands that stay where they are, controllers on top."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from synth.playing import GRID, PLAIN, RATE, cc, off, on, raw, render

from engine.errors import PresetError
from engine.physics.excitation import EDGE, Excitation
from engine.physics.string import Array
from engine.preset.loader import load_preset
from engine.preset.playing import Tracking
from engine.synth.instrument import Instrument
from engine.synth.keys import SAME, design_key, tracked
from engine.units import key_to_hz

pytestmark = pytest.mark.usefixtures("shared_designs")

POWERS = st.floats(-2.0, 2.0)
# No stiffness and the same loss at all frequencies: keys differ in nothing but their pitch.
IDEAL = {
    "string": {"length": 1.0, "density": "1 g/m", "tuned": "A3", "loss": {"s0": 1e-3}},
    "excitation": {"position": 0.3, "force": "1 N", "duration": "2 ms"},
    "pickups": [{"at": 0.1}],
}


def made(tracking: dict[str, float], base: dict[str, Any] = IDEAL, rate: int = RATE, **more: Any) -> Instrument:
    return Instrument({**base, "tracking": tracking, **more}, rate)


def plain_note(inst: Instrument, key: int, frames: int, *events: list[int]) -> Array:
    """A note's left channel before the output stage, without its key's gain."""
    sound = raw(inst, [*((0, event) for event in events), (0, on(key))], frames)[:, 0]
    return sound / inst.machine.keys.gain[key]


def test_a_preset_that_says_nothing_follows_the_period() -> None:
    assert load_preset(IDEAL).tracking == Tracking(-1.0, 0.0, 0.0, 0.0)
    assert load_preset(IDEAL, ["tracking.force=1", "tracking.duration=0"]).tracking == Tracking(0.0, 1.0, 0.0, 0.0)
    for word in ("duration", "force", "position", "release"):
        with pytest.raises(PresetError, match=rf"tracking.{word} = 9: must be"):
            load_preset(IDEAL, [f"tracking.{word}=9"])


@given(POWERS, POWERS, POWERS, st.floats(0.01, 100.0), st.floats(0.02, 0.98))
def test_each_power_acts_on_its_own_value(
    duration: float, force: float, position: float, ratio: float, at: float
) -> None:
    e = Excitation(at, -3.0, 2e-3)
    found = tracked(e, Tracking(duration, force, position), ratio)
    assert found.force == pytest.approx(-3.0 * ratio**force)
    assert found.duration == pytest.approx(min(max(2e-3 * ratio**duration, 1e-6), 10.0))
    assert found.position == pytest.approx(min(max(at * ratio**position, EDGE), 1.0 - EDGE))
    assert tracked(e, SAME, ratio) == e
    assert tracked(e, Tracking(duration, force, position), 1.0) == e


@pytest.mark.parametrize("at", [0.001, 0.999])
def test_a_hand_nearer_to_the_end_than_keys_may_move_it_stays_there(at: float) -> None:
    e = Excitation(at)
    assert tracked(e, Tracking(position=1.0), 1.0).position == at
    assert 0.0 < tracked(e, Tracking(position=2.0), 1e3).position < 1.0
    assert 0.0 < tracked(e, Tracking(position=-2.0), 1e3).position < 1.0


@pytest.mark.parametrize("octaves", [-2, -1, 1, 2])
def test_the_same_share_of_the_period_is_the_same_wave(octaves: int) -> None:
    """An ideal string an octave higher, at twice the rate, with the force that swings it as far: the same samples."""
    low = made({"duration": -1, "force": 2}, rate=32_000)
    high = made({"duration": -1, "force": 2}, rate=32_000 * 2 ** max(octaves, 0) // 2 ** max(-octaves, 0))
    wanted, found = plain_note(low, 57, 600), plain_note(high, 57 + 12 * octaves, 600)
    assert np.abs(found - wanted).max() <= 0.03 * np.abs(wanted).max()  # but for loss, which follows time


def test_high_keys_are_not_dull_any_more() -> None:
    """At C6 a pluck of 2 ms is silent: its spectrum is zero there. One that follows the period is as bright as A3's."""

    def fundamental(tracking: float, key: int) -> float:
        wave, hertz = plain_note(made({"duration": tracking}), key, 4800), key_to_hz(key)
        phase = np.exp(-2j * np.pi * hertz * np.arange(wave.size) / RATE)
        area = made({"duration": tracking}).machine.keys.duration[key]
        return float(abs((wave * phase * np.hanning(wave.size)).mean()) / area)

    dull, bright = fundamental(0.0, 84), fundamental(-1.0, 84)
    assert 20.0 * np.log10(bright / dull) > 20.0


@pytest.mark.parametrize("base", [PLAIN, GRID])
@pytest.mark.parametrize("value", [0, 40, 127])
def test_a_mapped_duration_is_that_of_the_string_s_own_pitch(base: dict[str, Any], value: int) -> None:
    """The controller says what the pluck would be there, and the key makes its own of it."""
    ends = (8e-3, 2e-3)
    duration = ends[0] + (ends[1] - ends[0]) * value / 127
    mapped = {"map": [{"source": "cc74", "to": "excitation.duration", "range": list(ends)}]}
    given, fixed = (
        Instrument({**base, **mapped}),
        Instrument({**base, "map": [], "excitation": {**base["excitation"], "duration": duration}}),
    )
    for key in (41, 67):
        found, wanted = plain_note(given, key, 2400, cc(74, value)), plain_note(fixed, key, 2400)
        assert np.abs(found - wanted).max() <= 1e-9 * np.abs(wanted).max()
        given.reset()
        fixed.reset()


def test_a_mapped_position_moves_with_the_key_and_stays_on_the_string() -> None:
    mapped = {"map": [{"source": "wheel", "to": "excitation.position", "range": [0.1, 0.9]}]}
    given = made({"position": 1}, **mapped)
    fixed = made({"position": 1}, excitation={**IDEAL["excitation"], "position": 0.1})
    assert plain_note(given, 69, 2400, cc(1, 0)) == pytest.approx(plain_note(fixed, 69, 2400), rel=1e-9, abs=1e-15)
    given.reset()
    edge = made({}, excitation={**IDEAL["excitation"], "position": 1.0 - EDGE})
    found = plain_note(given, 93, 2400, cc(1, 127))
    assert found == pytest.approx(plain_note(edge, 93, 2400), rel=1e-9, abs=1e-15)


def test_the_release_follows_the_key() -> None:
    inst = made({"release": -1}, release="0.4 s")
    for key, seconds in ((45, 0.8), (57, 0.4), (69, 0.2)):
        inst.reset()
        out = render(inst, [(0, on(key)), (2400, off(key))], RATE)
        at = 2400 + round(0.1 * RATE), 2400 + round(0.1 * RATE + 0.5 * seconds * RATE)
        loud = [np.sqrt((out[t : t + 960] ** 2).mean()) for t in at]
        assert 20.0 * np.log10(loud[0] / loud[1]) == pytest.approx(30.0, abs=1.5)


def test_the_string_itself_is_plucked_as_the_preset_says() -> None:
    preset = load_preset({**IDEAL, "tracking": {"duration": -2, "force": 3, "position": 2, "release": 1}})
    key = design_key(preset.problem, "modal", "tension", 220.0, RATE, preset.tracking)
    assert key.design is not None
    e, own = key.design.problem.excitation, preset.problem.excitation
    found = (e.duration, e.force, e.position)
    assert found == pytest.approx((own.duration, own.force, own.position), rel=1e-9)
