"""Loudness against the tables of ITU-R BS.1770-4 and the test signals of EBU Tech 3341."""

from __future__ import annotations

from math import inf
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import signal

from engine.files.formats import FULL_SCALE
from engine.offline.levels import LevelMeter, Spool, Wanted, level, limited
from engine.offline.loudness import Loudness
from engine.synth.output import CEILING, KNEE, limit
from engine.synth.weighting import k_weighting


def tone(rate: int, *parts: tuple[float, float], hz: float = 997.0, channels: int = 2) -> NDArray[np.float32]:
    """Stretches (dBFS of a sine's peak, seconds) after one another, the same in all channels."""
    level = np.concatenate([np.full(round(seconds * rate), 10.0 ** (db / 20.0)) for db, seconds in parts])
    sine = level * np.sin(2.0 * np.pi * hz * np.arange(level.size) / rate)
    return np.repeat(sine.astype(np.float32)[:, None], channels, axis=1)


def loudness(audio: NDArray[np.float32], rate: int, chunk: int = 4096) -> float | None:
    meter = Loudness(rate, audio.shape[1])
    for at in range(0, len(audio), chunk):
        meter.add(audio[at : at + chunk])
    return meter.integrated()


def test_the_filters_at_48_khz_are_those_of_the_recommendation() -> None:
    shelf = [1.53512485958697, -2.69169618940638, 1.19839281085285, -1.69065929318241, 0.73248077421585]
    high_pass = [1.0, -2.0, 1.0, -1.99004745483398, 0.99007225036621]
    np.testing.assert_allclose(k_weighting(48_000), [shelf, high_pass], rtol=0, atol=2e-9)


@pytest.mark.parametrize("rate", [8_000, 22_050, 44_100, 96_000, 192_000])
def test_the_filters_weigh_alike_at_every_rate(rate: int) -> None:
    hz = np.array([30.0, 100.0, 500.0, 997.0, 2000.0])  # bilinear transforms differ near half the rate

    def gain(at: int) -> NDArray[np.float64]:
        response = np.ones(hz.size, complex)
        for b0, b1, b2, a1, a2 in k_weighting(at):
            response *= signal.freqz([b0, b1, b2], [1.0, a1, a2], hz, fs=at)[1]
        return 20.0 * np.log10(np.abs(response))

    np.testing.assert_allclose(gain(rate), gain(48_000), atol=0.25 if rate < 20_000 else 0.025)


@pytest.mark.parametrize("rate", [44_100, 48_000, 96_000])
def test_a_full_sine_of_997_hz_in_one_channel_is_3_01_below_full_scale(rate: int) -> None:
    assert loudness(tone(rate, (0.0, 5.0), channels=1), rate) == pytest.approx(-3.01, abs=0.01)
    assert loudness(tone(rate, (-20.0, 5.0), channels=1), rate) == pytest.approx(-23.01, abs=0.01)
    assert loudness(tone(rate, (-20.0, 5.0)), rate) == pytest.approx(-20.0, abs=0.01)
    one_of_two = tone(rate, (-20.0, 5.0))
    one_of_two[:, 1] = 0.0
    assert loudness(one_of_two, rate) == pytest.approx(-23.01, abs=0.01)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([(-23.0, 20.0)], -23.0),  # Tech 3341, 1
        ([(-33.0, 20.0)], -33.0),  # 2
        ([(-36.0, 10.0), (-23.0, 60.0), (-36.0, 10.0)], -23.0),  # 3: the relative gate
        ([(-72.0, 10.0), (-36.0, 10.0), (-23.0, 60.0), (-36.0, 10.0), (-72.0, 10.0)], -23.0),  # 4: both gates
        ([(-26.0, 20.0), (-20.0, 20.1), (-26.0, 20.0)], -23.0),  # 5
    ],
)
def test_the_signals_of_the_broadcasters_read_as_they_should(parts: list[tuple[float, float]], expected: float) -> None:
    assert loudness(tone(48_000, *parts, hz=1000.0), 48_000) == pytest.approx(expected, abs=0.1)


def test_what_is_short_or_silent_has_no_loudness() -> None:
    assert loudness(np.zeros((48_000, 2), np.float32), 48_000) is None
    assert loudness(tone(48_000, (0.0, 0.39)), 48_000) is None
    assert loudness(tone(48_000, (0.0, 0.41)), 48_000) is not None
    assert loudness(tone(48_000, (-75.0, 2.0)), 48_000) is None
    assert loudness(np.zeros((0, 2), np.float32), 48_000) is None


@given(st.integers(1, 9_000))
def test_chunks_do_not_matter(chunk: int) -> None:
    audio = np.random.default_rng(1).standard_normal((16_000, 2)).astype(np.float32) * np.float32(0.1)
    assert loudness(audio, 8_000, chunk) == pytest.approx(loudness(audio, 8_000, 16_000), abs=1e-9)


def test_the_filter_is_the_one_scipy_computes() -> None:
    audio = np.random.default_rng(2).standard_normal((48_000, 1))
    sections = [[b0, b1, b2, 1.0, a1, a2] for b0, b1, b2, a1, a2 in k_weighting(48_000)]
    weighted = signal.sosfilt(sections, audio[:, 0].astype(np.float32).astype(float))
    blocks = [np.mean(weighted[at : at + 19_200] ** 2) for at in range(0, 48_000 - 19_200 + 1, 4_800)]
    expected = -0.691 + 10.0 * np.log10(np.mean(blocks))  # noise of one level: the gates leave all of it
    assert loudness(audio.astype(np.float32), 48_000) == pytest.approx(expected, abs=1e-6)


def test_the_meter_finds_frames_and_peak() -> None:
    meter = LevelMeter(48_000, 2)
    assert meter.peak_dbfs is None
    meter.add(np.array([[0.1, -0.5], [0.2, 0.3]], np.float32))
    meter.add(np.array([[0.25, 0.0]], np.float32))
    assert meter.frames == 3
    assert meter.peak_dbfs == pytest.approx(20.0 * np.log10(0.5))
    assert meter.loudness_lufs is None


def test_sound_that_waits_comes_back_as_it_was_and_measured(tmp_path: Path) -> None:
    chunks = [np.array([[0.1, -0.4]], np.float32), np.array([[0.2, 0.3], [0.0, 0.1]], np.float32)]
    with Spool(tmp_path / "a.wav", 48_000, 2) as spool:
        spool.fill(chunks)
        assert (spool.meter.frames, spool.meter.peak) == (3, np.float32(0.4))
        for _ in range(2):
            np.testing.assert_array_equal(np.concatenate(list(spool.chunks())), np.concatenate(chunks))
    assert not list(tmp_path.iterdir())


PEAKS = st.floats(1e-6, 1e3)
DECIBELS = st.floats(-60.0, 60.0)


@given(PEAKS, DECIBELS, st.sampled_from([*FULL_SCALE.values()]))
def test_a_gain_is_what_was_asked_for_unless_something_would_be_cut_off(peak: float, db: float, full: float) -> None:
    wanted = 10.0 ** (db / 20.0)
    found = level(peak, -20.0, Wanted(gain=db), full)
    assert found.gain <= wanted * (1.0 + 1e-12)  # never amplified
    assert found.gain * peak <= full * (1.0 + 1e-12)
    if wanted * peak < full:
        assert found == (pytest.approx(wanted), "")
    elif wanted * peak > 1.001:
        assert found.gain * peak == pytest.approx(CEILING)
        lowered = 20.0 * np.log10(wanted / found.gain)
        assert f"peak {20.0 * np.log10(wanted * peak):+.1f} dBFS, lowered by {lowered:.1f} dB" in found.remark


@given(PEAKS, st.floats(-60.0, 0.0))
def test_a_peak_is_what_was_asked_for(peak: float, dbfs: float) -> None:
    for full in FULL_SCALE.values():
        found = level(peak, None, Wanted(peak=dbfs), full)
        assert found == (pytest.approx(10.0 ** (dbfs / 20.0) / peak, rel=2e-4), "")
        assert found.gain * peak <= full * (1.0 + 1e-12)
    assert level(peak, None, Wanted(peak=6.0), inf).gain == pytest.approx(10.0**0.3 / peak)
    assert "lowered by 6.1 dB" in level(peak, None, Wanted(peak=6.0), FULL_SCALE["24"]).remark


def test_silence_and_what_has_no_loudness_are_left_as_they_are() -> None:
    assert level(0.0, None, Wanted(peak=-1.0), 1.0) == (1.0, "")
    gain, remark = level(0.5, None, Wanted(loudness=-16.0), 1.0)
    assert gain == 1.0
    assert "it has no loudness" in remark


@pytest.mark.parametrize("lufs", [-40.0, -23.0, -16.0])
def test_a_loudness_is_what_was_asked_for(lufs: float) -> None:
    audio = tone(48_000, (-30.0, 2.0), (-24.0, 3.0), (-50.0, 1.0))
    measured = loudness(audio, 48_000)
    assert measured is not None
    chosen = level(float(np.abs(audio).max()), measured, Wanted(loudness=lufs), FULL_SCALE["24"])
    assert loudness(audio * np.float32(chosen.gain), 48_000) == pytest.approx(lufs, abs=0.01)
    assert chosen.remark == ""
    loud = level(0.9, -20.0, Wanted(loudness=-10.0), FULL_SCALE["16"])
    assert loud.gain * 0.9 == pytest.approx(CEILING)
    assert "+9.1 dBFS" in loud.remark


@given(st.integers(0, 2**32))
def test_limited_sound_is_bent_where_it_is_loud(seed: int) -> None:
    audio = (np.random.default_rng(seed).standard_normal((50, 2)) * 0.7).astype(np.float32)
    bent = audio.copy()
    count = limited(bent)
    assert count == (np.abs(audio) > KNEE).any(axis=1).sum()
    assert (bent == np.array([[np.float32(limit(float(x))) for x in row] for row in audio], np.float32)).all()
