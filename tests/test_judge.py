"""scripts/judge_presets.py hears what it says, on sounds that are known; and two of the shipped presets pass."""

from __future__ import annotations

import numpy as np
import pytest
from judge_presets import HEAD, RATE, Key, Verdict, above, centroid, conclude, departure, judged, momentary, row

from engine.physics import pitch as told

TIME = np.arange(RATE) / RATE


def stereo(x: np.ndarray) -> np.ndarray:
    return np.stack([x, x], axis=1).astype(np.float32)


def test_loudness_is_the_standard_s() -> None:
    """EBU Tech 3341, case 1: a stereo sine of 1 kHz at -23 dBFS has -23 LUFS."""
    assert momentary(stereo(10.0 ** (-23.0 / 20.0) * np.sin(2 * np.pi * 1e3 * TIME))) == pytest.approx(-23.0, abs=0.1)


def test_brightness_is_in_harmonics() -> None:
    even = sum(np.sin(2 * np.pi * 220.0 * n * TIME) for n in (1, 3, 5))
    assert centroid(stereo(np.asarray(even)), 220.0) == pytest.approx(3.0, rel=0.01)


@pytest.mark.parametrize("cents", [-19.0, 0.0, 1.5])
def test_a_pitch_is_the_mean_of_partials_by_their_power(cents: float) -> None:
    """In their places those of a stiff string are in tune; the first counts as much as it is heard."""
    places = np.array(told.places(440.0, 1e-4))
    times, share = np.full(8, 2.0 ** (cents / 1200.0)), 1.0 / np.arange(1.0, 9.0) ** 2
    times[0] = 1.0
    sound = sum(np.exp(-3.0 * TIME) * a * np.sin(2 * np.pi * f * TIME) for f, a in zip(places * times, np.sqrt(share)))
    found = departure(stereo(np.asarray(sound)), 440.0, 1e-4)
    assert found == pytest.approx(cents * share[1:].sum() / share.sum(), abs=0.1)


def test_what_is_touched_may_be_harmonic() -> None:
    """As a tanpura's string, which is periodic however stiff it is."""
    sound = stereo(np.asarray(sum(np.sin(2 * np.pi * 110.0 * n * TIME) for n in range(1, 9))))
    assert departure(sound, 110.0, 1e-3, touched=True) == pytest.approx(0.0, abs=0.02)
    assert departure(sound, 110.0, 1e-3) < -5.0
    assert departure(sound, 111.0, 1e-3, touched=True) == pytest.approx(-15.7, abs=0.5)


def test_a_step_is_a_click_and_a_fade_is_none() -> None:
    """A fade of 10 ms, without corners."""
    cut = RATE // 2 + 57
    tone, along = 0.1 * np.sin(2 * np.pi * 200.3 * TIME), np.clip((TIME * RATE - cut) / 480.0, 0.0, 1.0)
    step, fade = tone * (along == 0.0), tone * (0.5 + 0.5 * np.cos(np.pi * along))
    assert above(stereo(step), cut) > above(stereo(tone), cut) + 20.0
    assert above(stereo(fade), cut) < above(stereo(tone), cut) + 6.0


def test_what_is_wrong_is_told() -> None:
    bad = Verdict("bad", [Key(36, -30.0, -20.0, 2.0, 0.0, -90.0), Key(60, -20.0, -28.0, 9.0, 19.0, -40.0)])
    bad.buzz, bad.velocity, bad.chord, bad.click = [0.0], (20.0, 1.0), (5.0, 2.0), 9.0
    bad.energy, bad.rises, bad.same_bits = 1e-6, 1e-3, False
    conclude(bad)
    assert len(bad.wrong) == 13
    assert any("+19.0 cents" in line for line in bad.wrong)
    assert len(row(bad)) == len(HEAD)


@pytest.mark.parametrize("name", ["plain", "tanpura-string"])
def test_shipped_presets_hold_what_does_not_hang_on_taste(name: str) -> None:
    """A sample of what the script asks of all of them."""
    v = judged(name, quick=True)
    assert v.same_bits
    assert v.energy <= 1e-9
    assert v.rises <= 1e-12
    assert v.click <= 6.0
    assert v.chord[0] <= 1.0
    assert max(key.offset for key in v.keys) <= -60.0
    assert v.velocity[0] >= 28.0
