"""Every key of every preset is equally loud, by the standard's own numbers, and ten notes at once have room."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from one_string import ONE_STRING
from scipy.signal import sosfilt
from synth.playing import RATE, SMALL, instrument, limited, on, render

from engine.physics.string import Array
from engine.synth import budget, decimate, modal_string, rehearsal
from engine.synth.instrument import Instrument
from engine.synth.output import KNEE
from engine.synth.rehearsal import LEEWAY, LOUDNESS, smoothed

# ITU-R BS.1770-4, tables 1 and 2: the two filters at 48 kHz.
K_WEIGHTING = [
    [1.53512485958697, -2.69169618940638, 1.19839281085285, 1.0, -1.69065929318241, 0.73248077421585],
    [1.0, -2.0, 1.0, 1.0, -1.99004745483398, 0.99007225036621],
]
HOP = RATE // 10
CHORDS = {
    "in the bass": [28, 31, 35, 36, 40, 43, 47, 48, 52, 55],
    "over three octaves": [36, 43, 48, 52, 55, 60, 64, 67, 72, 76],
    "side by side": list(range(60, 70)),
}


def momentary(sound: Array) -> float:
    """LUFS of the loudest 400 ms, in steps of 100 ms."""
    squares = (sosfilt(K_WEIGHTING, sound.astype(float), axis=0) ** 2).sum(axis=1)
    hops = squares[: len(squares) // HOP * HOP].reshape(-1, HOP).mean(axis=1)
    return float(-0.691 + 10.0 * np.log10(np.convolve(hops, np.full(4, 0.25), "valid").max()))


def loudness(inst: Instrument, key: int, velocity: int = 100) -> float:
    inst.reset()
    return momentary(render(inst, [(0, on(key, velocity))], 8 * HOP))


def test_one_note_of_every_shipped_preset_is_as_loud_as_any_other() -> None:
    """On all keys from C1 to C7: within 1.5 LU of the neighbours, on average within 0.5 LU of the other presets; within
    1 LU of what a key is voiced to."""
    found = {name: [loudness(instrument(name), key) for key in range(24, 97)] for name in ONE_STRING}
    for name, loud in found.items():
        steps = np.abs(np.diff(loud))
        assert steps.max() <= 1.5, f"{name}, key {25 + int(steps.argmax())}"
        voiced = [LOUDNESS + instrument(name).preset.voicing.decibels(key) for key in range(24, 97)]
        assert np.abs(np.array(loud) - voiced).max() <= 1.0, name
    means = [float(np.mean(loud)) for loud in found.values()]
    assert max(means) - min(means) <= 0.5


@pytest.mark.parametrize("name", SMALL)
def test_pickups_of_every_kind_and_place_are_heard_as_they_sound(name: str) -> None:
    inst = instrument(name)
    for key in (36, 60, 84):
        assert loudness(inst, key) == pytest.approx(LOUDNESS, abs=1.0)


@pytest.mark.parametrize("rate", [44_100, 96_000])
def test_loudness_does_not_depend_on_the_sample_rate(rate: int) -> None:
    """Of a string that touches nothing; the shortest plucks of the highest keys are a few samples long."""
    there, here = (Instrument("plain", rate) for rate in (rate, RATE))
    gains = [20.0 * np.log10(inst.machine.keys.gain[24:97]) for inst in (there, here)]
    assert np.abs(gains[0] - gains[1]).max() < 0.5


@pytest.mark.parametrize("chord", CHORDS)
@pytest.mark.parametrize("name", ONE_STRING)
def test_a_chord_of_ten_is_hardly_bent(name: str, chord: str) -> None:
    """At velocity 127, all at once: below full scale, and at most 1 % of the frames of two seconds above the knee."""
    inst = Instrument(name, RATE, polyphony=10)
    out = render(inst, [(0, on(key, 127)) for key in CHORDS[chord]], 2 * RATE)
    assert (np.abs(out) > KNEE).any(axis=1).mean() <= 0.01
    assert np.abs(limited(out)).max() < 1.0
    assert momentary(out) > LOUDNESS + 6.0


levels = st.integers(1, 100).flatmap(lambda n: arrays(np.float64, n, elements=st.floats(-100.0, 100.0)))


@given(levels)
def test_smooth_gains_are_near_each_key_s_own(level: Array) -> None:
    found = smoothed(level)
    assert np.abs(found - level).max() <= LEEWAY * (1.0 + 1e-12)
    assert np.abs(np.diff(found - level)).max(initial=0.0) <= 2.0 * LEEWAY + 1e-9


@given(st.floats(-10.0, 10.0), st.floats(-100.0, 100.0))
def test_a_slope_is_smooth_already(slope: float, start: float) -> None:
    level = start + slope * np.arange(20)
    assert smoothed(level)[2:-2] == pytest.approx(level[2:-2], abs=1e-10)


def test_one_key_that_is_off_by_chance_is_taken_back() -> None:
    level = np.zeros(9)
    level[4] = 0.6
    assert np.ptp(smoothed(level)) < 0.25


def test_a_lone_pickup_is_as_loud_wherever_it_is_heard() -> None:
    """It is listened to on one side only; two in one place are listened to on both, and are twice as strong."""
    rate = 8_000
    alone, left, both = (
        Instrument({**SMALL["modal"], "pickups": heard}, rate).machine.keys.gain[24:97]
        for heard in ([{"at": 0.1}], [{"at": 0.1, "pan": -1.0}], [{"at": 0.1}, {"at": 0.1}])
    )
    assert np.array_equal(alone, left)
    np.testing.assert_allclose(both, 0.5 * alone, rtol=1e-12)


@pytest.mark.parametrize("name", ["bridge", "grid frets"])
def test_rehearsals_in_pieces_are_the_same_to_the_last_bit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Instrument(SMALL[name], 8_000)
    monkeypatch.setattr(budget, "PIECE", 3e-5)
    pieces = Instrument(SMALL[name], 8_000)
    assert (whole.machine.keys == pieces.machine.keys).all()


def test_no_piece_keeps_an_interrupt_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the budget's own estimate of what a step takes."""
    spans: list[int] = []

    played = modal_string.rehearse

    def rehearse(podium: int, base: int, row: int, first: int, steps: int) -> None:
        assert first == sum(spans)
        spans.append(steps)
        played(podium, base, row, first, steps)

    inst = instrument("bridge")
    design = inst._bank.keys[60].design
    assert design is not None
    monkeypatch.setattr(budget, "PIECE", 1e-4)
    monkeypatch.setattr(modal_string, "rehearse", rehearse)
    made = rehearsal.make_hall(inst.preset, design.rate, decimate.design(inst.sample_rate, inst.oversample))
    assert rehearsal.loudest(design, made) > 0.0
    assert sum(spans) == len(made.podium.podium.force)
    assert max(spans) * rehearsal.step_time(design) <= 1e5
