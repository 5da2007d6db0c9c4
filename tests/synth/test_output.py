"""The last stage: what the limiter promises for every number there is, what the blocker takes, cuts to the bit."""

from __future__ import annotations

from itertools import pairwise
from math import inf, isfinite, nan, nextafter, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from engine.errors import EngineError
from engine.physics.string import Array
from engine.synth import output
from engine.synth.output import CEILING, KNEE, limit

LIMIT = 10.0 ** (-0.1 / 20.0)  # -0.1 dBFS
RATES = [22_050.0, 44_100.0, 48_000.0, 96_000.0, 192_000.0]
interpreted = pytest.mark.interpreted
numbers = st.floats(allow_nan=False, allow_infinity=False)
loud = st.one_of(numbers, st.floats(-4.0, 4.0))


def finished(x: Array, rate: float = 48_000.0, channels: int = 2, dtype: Any = np.float64) -> Array:
    """All of x at once, from silence; float64 unless asked, to see below a float32's rounding."""
    d = output.design(rate, channels)
    out = np.full((len(x), channels), np.nan, dtype)
    output.finish(d, output.state(d), x, out)
    return out


def stereo(left: Array) -> Array:
    return np.repeat(left[:, None], 2, axis=1)


# The limiter


@interpreted
@given(loud)
def test_never_above_the_ceiling(x: float) -> None:
    assert abs(float(np.float32(limit(x)))) <= LIMIT
    assert abs(limit(x)) <= CEILING <= LIMIT


@interpreted
@given(loud)
def test_odd(x: float) -> None:
    assert limit(-x) == -limit(x)


@interpreted
@given(loud, loud)
def test_monotone(x: float, y: float) -> None:
    assert limit(min(x, y)) <= limit(max(x, y))


@interpreted
@given(st.floats(-4.0, 4.0))
def test_monotone_to_the_last_bit(x: float) -> None:
    assert limit(nextafter(x, -inf)) <= limit(x) <= limit(nextafter(x, inf))


@interpreted
@given(st.floats(-KNEE, KNEE))
def test_below_the_knee_it_does_nothing(x: float) -> None:
    assert limit(x) == x


@interpreted
@pytest.mark.parametrize("bad", [nan, inf, -inf])
def test_what_is_no_number_is_silence(bad: float) -> None:
    assert limit(bad) == 0.0


@interpreted
def test_the_knee_has_no_corner() -> None:
    """Value, slope (1) and curvature (0) go on: the bend starts with the third power of the excess."""
    for excess in (1e-2, 1e-3, 1e-4):
        bend = (KNEE + excess) - limit(KNEE + excess)
        assert bend == pytest.approx(0.5 * excess**3 / (CEILING - KNEE) ** 2, rel=excess)
    x = np.linspace(KNEE, 4.0, 2_001)
    slope = np.diff([limit(v) for v in x]) / np.diff(x)
    assert slope[0] == pytest.approx(1.0, abs=1e-4)
    assert (np.diff(slope) < 0.0).all()
    assert limit(1e3) == pytest.approx(CEILING, abs=1e-6)


# The whole stage


singles = st.floats(width=32, allow_nan=True, allow_infinity=True) | st.floats(-2.0, 2.0, width=32)


@interpreted
@settings(max_examples=50)
@given(st.integers(1, 8).flatmap(lambda wide: arrays(np.float32, (20, wide), elements=singles)))
def test_a_block_is_limited_sample_by_sample_and_its_bent_frames_are_counted(block: Any) -> None:
    wanted = [[np.float32(limit(float(x))) for x in row] for row in block]
    bent = sum(any(not abs(x) <= KNEE for x in row) for row in block)
    assert output.limit_block(block.ctypes.data, *block.shape) == bent
    assert block.tobytes() == np.array(wanted, np.float32).tobytes()
    assert np.abs(block.astype(np.float64)).max() <= LIMIT


@settings(max_examples=50)
@given(arrays(np.float64, (40, 2), elements=st.floats(width=64)), st.integers(1, 2))
def test_whatever_comes_in_what_goes_out_is_a_number_and_limited_can_be_played(x: Array, channels: int) -> None:
    out = finished(x, channels=channels, dtype=np.float32)
    assert np.isfinite(out).all()
    output.limit_block(out.ctypes.data, *out.shape)
    assert np.abs(out.astype(np.float64)).max() <= LIMIT


@interpreted
@pytest.mark.parametrize("bad", [nan, inf, -inf, 1e300])
def test_a_bad_sample_is_silence_and_leaves_nothing_behind(bad: float) -> None:
    x = np.random.default_rng(4).uniform(-0.4, 0.4, (200, 2))
    silent, spoilt = x.copy(), x.copy()
    silent[50, 0], spoilt[50, 0] = 0.0, bad
    for channels in (1, 2):
        assert np.array_equal(finished(spoilt, channels=channels), finished(silent, channels=channels))


@pytest.mark.parametrize("rate", RATES)
def test_dc_is_taken_away(rate: float) -> None:
    out = finished(np.full((int(rate), 2), 0.4), rate)
    assert out[0, 0] == pytest.approx(0.4, rel=1e-3)
    # After five periods of the edge exp(-10 pi), or the last bit of the mean divided by what it takes up per sample.
    assert np.abs(out[-1]).max() < 0.4 * 2.0**-53 / output.design(rate).drift + 2.3e-14


@pytest.mark.parametrize("rate", RATES)
def test_the_blocker_is_at_3_db_where_it_says_and_flat_above(rate: float) -> None:
    """From the response to a click, which is known for as long as it lasts."""
    click = np.zeros((int(rate), 2))
    click[0] = 0.4
    heard = finished(click, rate)[:, 0] / 0.4
    time = np.arange(heard.size) / rate

    def level(hertz: float) -> float:
        return 20.0 * np.log10(abs(np.exp(-2j * np.pi * hertz * time) @ heard))

    assert level(output.DC_EDGE) == pytest.approx(-20.0 * np.log10(sqrt(2.0)), abs=1e-6)
    assert -0.27 < level(20.0) < -0.25
    assert -0.02 < level(82.4) < 0.0
    for hertz in (1_000.0, 0.2 * rate, 0.5 * rate):
        assert level(hertz) == pytest.approx(0.0, abs=2e-4)


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.integers(1, 2))
def test_below_the_knee_all_is_linear(seed: int, channels: int) -> None:
    """Halves are exact; sums are up to the rounding of the blocker."""
    x, y = np.random.default_rng(seed).uniform(-0.1, 0.1, (2, 300, 2))
    assert np.array_equal(finished(0.5 * x, channels=channels), 0.5 * finished(x, channels=channels))
    together = finished(x, channels=channels) + finished(y, channels=channels)
    assert finished(x + y, channels=channels) == pytest.approx(together, abs=1e-15)


@interpreted
def test_mono_is_the_sum_at_equal_power() -> None:
    x = np.random.default_rng(5).uniform(-0.3, 0.3, 100)
    middle = finished(stereo(x * sqrt(0.5)), channels=1)[:, 0]
    assert middle == pytest.approx(finished(stereo(x))[:, 0], abs=1e-15)
    left = np.stack([x, np.zeros_like(x)], axis=1)
    assert finished(left, channels=1)[:, 0] == pytest.approx(sqrt(0.5) * finished(left)[:, 0], abs=1e-15)
    assert (finished(np.stack([x, -x], axis=1), channels=1) == 0.0).all()


@interpreted
def test_loud_sound_is_not_held_back() -> None:
    """As linear as soft sound: what is above full scale stays there until it is limited."""
    x = stereo(np.random.default_rng(6).uniform(-2.7, 2.7, 80))
    rest = finished(x * 1e-3) * 1e3
    assert finished(x) == pytest.approx(rest, abs=1e-12)
    assert np.abs(finished(x)).max() > 1.0


def in_pieces(x: Array, channels: int, cuts: list[int]) -> Array:
    """Output with cuts at some samples."""
    d = output.design(44_100.0, channels)
    s, out = output.state(d), np.full((len(x), channels), np.nan, np.float32)
    for start, end in pairwise(sorted({0, len(x), *cuts})):
        output.finish(d, s, x[start:end], out[start:end])
    return out


@settings(max_examples=60)
@given(
    cuts=st.lists(st.integers(0, 600), max_size=15),
    channels=st.integers(1, 2),
    seed=st.integers(0, 2**32),
)
def test_cuts_leave_no_trace(cuts: list[int], channels: int, seed: int) -> None:
    x = np.random.default_rng(seed).standard_normal((600, 2))
    assert in_pieces(x, channels, cuts).tobytes() == in_pieces(x, channels, []).tobytes()


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("block", [1, 37, 64, 512])
def test_blocks_leave_no_trace(block: int, channels: int) -> None:
    x = np.random.default_rng(block).standard_normal((1_500, 2))
    whole = in_pieces(x, channels, [])
    assert in_pieces(x, channels, list(range(0, 1_500, block))).tobytes() == whole.tobytes()


@interpreted
@pytest.mark.parametrize("channels", [1, 2])
def test_a_state_made_anew_is_a_new_start(channels: int) -> None:
    d = output.design(48_000.0, channels)
    s, x = output.state(d), np.random.default_rng(9).standard_normal((50, 2))
    first, again = np.empty((50, channels), np.float32), np.empty((50, channels), np.float32)
    output.finish(d, s, x, first)
    output.finish(d, s, x, again)
    assert first.tobytes() != again.tobytes()
    output.finish(d, output.state(d), x, again)
    assert first.tobytes() == again.tobytes()


@interpreted
@pytest.mark.parametrize("channels", [0, 3, -1])
def test_other_channel_counts_are_refused_in_one_line(channels: int) -> None:
    with pytest.raises(EngineError, match=rf"^channels = {channels}: must be 1 \(mono\) or 2 \(stereo\); [^\n]+$"):
        output.design(48_000.0, channels)


@interpreted
def test_the_ceiling_is_a_float32_and_as_high_as_one_can_be() -> None:
    assert float(np.float32(CEILING)) == CEILING <= LIMIT
    assert float(np.nextafter(np.float32(CEILING), np.float32(1.0))) > LIMIT
    assert isfinite(limit(1.7e308))
