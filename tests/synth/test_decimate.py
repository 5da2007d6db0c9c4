"""Decimation: the spectrum of its taps and of what it does to tones, its delay to the sample, its cuts to the bit."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import PresetError
from engine.physics.string import Array
from engine.synth import decimate
from engine.synth.decimate import Decimator

RATES = [22_050.0, 32_000.0, 44_100.0, 48_000.0, 88_200.0, 96_000.0, 192_000.0]
FACTORS = [2, 4, 8]
every = pytest.mark.parametrize(("rate", "oversample"), list(itertools.product(RATES, FACTORS)))
usual = pytest.mark.parametrize(("rate", "oversample"), list(itertools.product([44_100.0, 48_000.0], FACTORS)))
interpreted = pytest.mark.interpreted


def heard_up_to(rate: float) -> float:
    """Hz: all that is audible, or nine tenths of what the rate can hold."""
    return min(20_000.0, 0.45 * rate)


def decimated(d: Decimator, x: Array) -> Array:
    """All of x at once, from silence."""
    out = np.full((len(x) // d.oversample, x.shape[1]), np.nan)
    decimate.run(d, decimate.state(d, x.shape[1]), x, out)
    return out


def tone(rate: float, oversample: int, hertz: float, frames: int, phase: float = 0.0) -> Array:
    """Both channels of a sine at the model's rate."""
    time = np.arange(frames * oversample) / (rate * oversample)
    return np.repeat(np.sin(2.0 * np.pi * hertz * time + phase)[:, None], 2, axis=1)


def settled(d: Decimator) -> int:
    """Samples out after which the window is full."""
    return d.taps.size // d.oversample + 1


def decibels(gain: float) -> float:
    return float(20.0 * np.log10(gain))


@every
def test_spectrum_of_the_taps(rate: float, oversample: int) -> None:
    """+-0.05 dB (0.01 in fact) where it is heard, -100 dB wherever it would fold back into that: dense DFT."""
    taps = decimate.design(rate, oversample).taps[0]
    size = 1 << 19
    gain = np.abs(np.fft.rfft(taps, size))
    hertz = np.arange(gain.size) * (rate * oversample / size)
    passing = gain[hertz <= heard_up_to(rate)]
    assert decibels(passing.max()) <= 0.0101
    assert decibels(passing.min()) >= -0.0101
    assert decibels(gain[hertz >= rate - heard_up_to(rate)].max()) <= -99.99
    assert heard_up_to(rate) <= decimate.band(rate, oversample).pass_edge * rate * oversample <= 20_000.0


@pytest.mark.parametrize("oversample", FACTORS)
def test_at_44100_all_20_khz_pass(oversample: int) -> None:
    assert decimate.band(44_100.0, oversample).pass_edge * 44_100.0 * oversample == pytest.approx(20_000.0)


@every
def test_tones_that_are_heard_keep_level_and_phase(rate: float, oversample: int) -> None:
    """The fit's in-phase part is the gain; the other vanishes, because the delay is a whole number of samples."""
    d = decimate.design(rate, oversample)
    frames = settled(d) + 2_000
    for hertz in (20.0, 997.0, 0.3 * heard_up_to(rate), 0.8 * heard_up_to(rate), heard_up_to(rate)):
        out = decimated(d, tone(rate, oversample, hertz, frames, phase=0.4))[settled(d) :, 0]
        angle = 2.0 * np.pi * hertz * (np.arange(settled(d), frames) - d.latency) / rate + 0.4
        basis = np.stack([np.sin(angle), np.cos(angle)], axis=1)
        (inside, across), *_ = np.linalg.lstsq(basis, out)
        assert abs(decibels(inside)) < 0.0101
        assert abs(across) < 1e-9
        assert np.abs(basis @ (inside, across) - out).max() < 1e-9


@every
def test_tones_that_would_fold_back_are_gone(rate: float, oversample: int) -> None:
    """Both quadratures, so that no alias can hide by falling on zeros."""
    d = decimate.design(rate, oversample)
    edge, nyquist = rate - heard_up_to(rate), 0.5 * rate * oversample
    for hertz in (edge, edge + 0.05 * heard_up_to(rate), 0.5 * (edge + nyquist), 0.999 * nyquist):
        for phase in (0.0, 0.5 * np.pi):
            out = decimated(d, tone(rate, oversample, hertz, settled(d) + 500, phase))[settled(d) :]
            assert decibels(np.abs(out).max()) <= -99.99


@every
def test_delay_is_a_whole_number_of_samples(rate: float, oversample: int) -> None:
    """A click at sample n * oversample comes out mirror-symmetric about n + latency; a ramp comes out late by it."""
    d = decimate.design(rate, oversample)
    n, frames = 3, 2 * d.latency + 20
    click = np.zeros((frames * oversample, 2))
    click[n * oversample] = 1.0
    out = decimated(d, click)[:, 0]
    centre = n + d.latency
    assert out.argmax() == centre
    reach = np.arange(1, d.latency + 1)
    assert np.array_equal(out[centre + reach], out[centre - reach])
    assert (out[: centre - d.latency] == 0.0).all()
    assert (out[centre + d.latency + 1 :] == 0.0).all()
    first = settled(d)
    late = decimated(d, np.repeat(np.arange((first + 50.0) * oversample)[:, None] / oversample, 2, axis=1))[first:, 0]
    gain = d.taps.sum()
    assert late == pytest.approx(gain * (np.arange(first, first + 50) - d.latency), rel=1e-12)


@every
def test_delay_is_short(rate: float, oversample: int) -> None:
    """The table in decimate.py: at most 25 samples, 0.6 ms from 44.1 kHz on."""
    latency = decimate.design(rate, oversample).latency
    assert latency <= 25
    if rate >= 44_100.0:
        assert latency / rate < 0.6e-3


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32), rate=st.sampled_from(RATES), oversample=st.sampled_from(FACTORS))
def test_a_band_limited_signal_comes_back(seed: int, rate: float, oversample: int) -> None:
    """Moved back by the latency, the output is the signal at the base rate, within the ripple of each partial."""
    random = np.random.default_rng(seed)
    d = decimate.design(rate, oversample)
    hertz, level = random.uniform(0.0, heard_up_to(rate), 30), random.standard_normal(30)
    frames = settled(d) + 300

    def wave(time: Array) -> Array:
        return np.asarray(np.sin(2.0 * np.pi * np.outer(time, hertz)) @ level)

    x = np.repeat(wave(np.arange(frames * oversample) / (rate * oversample))[:, None], 2, axis=1)
    out = decimated(d, x)[settled(d) :, 0]
    wanted = wave((np.arange(settled(d), frames) - d.latency) / rate)
    assert np.abs(out - wanted).max() <= 1.01 * decimate.PASS_RIPPLE * np.abs(level).sum()


@interpreted
@pytest.mark.parametrize("oversample", FACTORS)
def test_it_is_a_convolution_of_which_only_what_is_kept_is_computed(oversample: int) -> None:
    d = decimate.design(96_000.0, oversample)
    x = np.random.default_rng(oversample).standard_normal((120 * oversample, 2))
    out = decimated(d, x)
    for c in range(2):
        whole = np.convolve(x[:, c], d.taps[0, ::-1])
        kept = whole[oversample - 1 :: oversample][: len(out)]
        assert out[:, c] == pytest.approx(kept, abs=1e-14 * np.abs(x).max() * d.taps.size)


def in_pieces(d: Decimator, x: Array, lengths: list[int]) -> Array:
    """The same signal in blocks of the given lengths, the last one being what is left."""
    s, out, at = decimate.state(d, x.shape[1]), np.full((len(x) // d.oversample, x.shape[1]), np.nan), 0
    for length in [*lengths, len(out)]:
        end = min(at + length, len(out))
        decimate.run(d, s, x[at * d.oversample : end * d.oversample], out[at:end])
        at = end
    return out


@usual
@pytest.mark.parametrize("block", [1, 37, 64, 512])
def test_blocks_leave_no_trace(rate: float, oversample: int, block: int) -> None:
    d = decimate.design(rate, oversample)
    x = np.random.default_rng(block).standard_normal((1_500 * oversample, 2))
    assert in_pieces(d, x, [block] * (1_500 // block)).tobytes() == decimated(d, x).tobytes()


@settings(max_examples=60)
@given(
    lengths=st.lists(st.integers(0, 90), max_size=12),
    oversample=st.sampled_from([1, *FACTORS]),
    channels=st.integers(1, 3),
    seed=st.integers(0, 2**32),
)
def test_cuts_leave_no_trace(lengths: list[int], oversample: int, channels: int, seed: int) -> None:
    d = decimate.design(48_000.0, oversample)
    x = np.random.default_rng(seed).standard_normal((400 * oversample, channels))
    assert in_pieces(d, x, lengths).tobytes() == decimated(d, x).tobytes()


@interpreted
@pytest.mark.parametrize("oversample", [1, *FACTORS])
def test_cuts_leave_no_trace_when_interpreted(oversample: int) -> None:
    d = decimate.design(96_000.0, oversample)
    x = np.random.default_rng(oversample).standard_normal((60 * oversample, 2))
    assert in_pieces(d, x, [1, 0, 7, 20]) == pytest.approx(decimated(d, x), abs=1e-14)


@interpreted
@pytest.mark.parametrize("oversample", [1, *FACTORS])
def test_reset_is_a_new_start(oversample: int) -> None:
    d = decimate.design(192_000.0, oversample)
    x = np.random.default_rng(7).standard_normal((53 * oversample, 2))
    s, first, again = decimate.state(d), np.empty((53, 2)), np.empty((53, 2))
    decimate.run(d, s, x, first)
    decimate.reset(s)
    decimate.run(d, s, x, again)
    assert first.tobytes() == again.tobytes()


@interpreted
def test_without_oversampling_it_is_a_copy_without_delay() -> None:
    d = decimate.design(48_000.0, 1)
    x = np.random.default_rng(1).standard_normal((64, 2))
    assert d.latency == 0
    assert decimated(d, x).tobytes() == x.tobytes()


@interpreted
def test_channels_do_not_mix() -> None:
    d = decimate.design(96_000.0, 2)
    x = np.random.default_rng(2).standard_normal((80, 2))
    alone = x.copy()
    alone[:, 1] = 0.0
    assert np.array_equal(decimated(d, alone)[:, 0], decimated(d, x)[:, 0])
    assert (decimated(d, alone)[:, 1] == 0.0).all()


@usual
def test_a_bad_sample_is_forgotten_as_soon_as_it_has_left_the_window(rate: float, oversample: int) -> None:
    d = decimate.design(rate, oversample)
    x = np.random.default_rng(3).standard_normal((600 * oversample, 2))
    spoilt = x.copy()
    spoilt[100 * oversample, 0] = np.nan
    clean, out = decimated(d, x), decimated(d, spoilt)
    after = 100 + settled(d)
    assert np.isnan(out[100 + d.latency, 0])
    assert out[after:].tobytes() == clean[after:].tobytes()
    assert out[:, 1].tobytes() == clean[:, 1].tobytes()


@interpreted
@pytest.mark.parametrize("oversample", [0, 3, 16, -2])
def test_other_factors_are_refused_in_one_line(oversample: int) -> None:
    with pytest.raises(PresetError, match=rf"^oversample = {oversample}: must be 1, 2, 4 or 8; [^\n]+$"):
        decimate.design(48_000.0, oversample)
