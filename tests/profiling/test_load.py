"""Statistics of blocks, and how many voices they leave room for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from engine.errors import EngineError
from engine.profiling.limit import HOLDS, TRIES, Limit, largest_polyphony
from engine.profiling.load import Spread, histogram, load, spread

RATE = 48_000.0
DURATIONS = arrays(np.int64, st.integers(1, 300), elements=st.integers(0, 10**9))


def rows(durations: np.ndarray, frames: int = 64) -> np.ndarray:
    """A log of blocks that begin one after the other."""
    start = np.cumsum(durations) - durations
    return np.stack([start, durations, np.full(len(durations), frames)], axis=1)


def in_order(values: np.ndarray, share: float) -> float:
    """A percentile, from the definition: between the neighbours in order."""
    ordered = sorted(values.tolist())
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


@given(DURATIONS, st.sampled_from([1, 64, 100, 4096]))
def test_statistics_are_what_their_names_say(durations: np.ndarray, frames: int) -> None:
    found, us = load(rows(durations, frames), RATE), durations / 1e3
    deadline = frames / RATE * 1e6
    assert found.blocks == len(durations)
    assert found.deadline == pytest.approx(deadline)
    assert found.late == sum(duration * RATE > frames * 1e9 * (1 + 1e-12) for duration in durations.tolist())
    expected = [sum(us) / len(us), in_order(us, 0.5), in_order(us, 0.99), in_order(us, 0.999), max(us)]
    np.testing.assert_allclose(found.us, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.share, np.array(expected) / deadline, rtol=1e-9, atol=1e-15)


def test_blocks_of_a_live_stream_have_a_deadline_each() -> None:
    log = np.array([[0, 500_000, 48], [10, 1_500_000, 96], [20, 900_000, 24]], np.int64)  # 1 ms, 2 ms, 0.5 ms
    found = load(log, RATE)
    assert found.late == 1
    assert found.share.most == pytest.approx(1.8)
    assert found.share.p50 == pytest.approx(0.75)
    assert found.us.most == pytest.approx(1500.0)
    assert found.deadline == pytest.approx(1000.0)
    four = np.column_stack([log, np.zeros(3, np.int64)])  # with lateness, as a stream logs it
    assert load(four, RATE) == found


def test_nothing_measured_is_told() -> None:
    with pytest.raises(EngineError, match="no block was measured"):
        load(np.zeros((0, 3), np.int64), RATE)


@given(DURATIONS)
def test_a_histogram_counts_every_block_once_where_it_belongs(durations: np.ndarray) -> None:
    edges, counts = histogram(rows(durations))
    us = np.maximum(durations / 1e3, 1e-3)
    assert counts.sum() == len(durations)
    assert len(edges) == len(counts) + 1
    assert counts[0] > 0
    assert counts[-1] > 0
    for low, high, count in zip(edges, edges[1:], counts):
        near = ((us >= low * (1 + 1e-9)) & (us < high * (1 - 1e-9))).sum()
        wide = ((us >= low * (1 - 1e-9)) & (us < high * (1 + 1e-9))).sum()
        assert near <= count <= wide  # a duration may lie on an edge, to the last digit


def test_histograms_share_their_edges() -> None:
    low, high = (histogram(rows(np.array(durations))) for durations in ([1000, 30_000], [9000, 200_000]))
    shared = set(low.edges.tolist()) & set(high.edges.tolist())
    assert len(shared) == sum((low.edges >= high.edges[0]) & (low.edges <= high.edges[-1]))
    assert len(shared) > 10


# --- the largest polyphony --------------------------------------------------------------------------------------------


def steady(share: float) -> Spread:
    return Spread(share, share, share, share, share)


def counted(cost: Callable[[int, bool], Spread]) -> tuple[Callable[[int, bool], Spread], list[tuple[int, bool]]]:
    asked: list[tuple[int, bool]] = []

    def measure(voices: int, whole: bool) -> Spread:
        asked.append((voices, whole))
        return cost(voices, whole)

    return measure, asked


@given(st.floats(1e-4, 2.0), st.floats(0.0, 1.0), st.integers(1, 256))
def test_the_largest_polyphony_of_a_known_cost_is_found(each: float, base: float, most: int) -> None:
    measure, asked = counted(lambda voices, _: steady(base + each * voices))
    found = largest_polyphony(measure, most)
    fits = [voices for voices in range(1, most + 1) if base + each * voices <= HOLDS]
    assert found.voices == max(fits, default=0)
    if fits:
        assert found.p999 == base + each * found.voices
        assert asked[-1] == (found.voices, True)  # told because it was played, for the full time
    else:
        assert found == Limit(0, None)
    assert len(asked) <= 2 + 2 * np.log2(256)
    assert all(1 <= voices <= most for voices, _ in asked)


@given(st.integers(1, 255), st.sets(st.integers(1, 256), max_size=6))
def test_what_is_known_is_not_played_again(limit: int, told: set[int]) -> None:
    def cost(voices: int, _: bool = True) -> Spread:
        return steady(HOLDS * voices / (limit + 0.5))

    measure, asked = counted(cost)
    found = largest_polyphony(measure, 256, {voices: cost(voices) for voices in told})
    assert found.voices == limit
    assert not {voices for voices, whole in asked if not whole} & told
    first = max((voices for voices in told if voices <= limit), default=0)
    assert all(voices > first for voices, whole in asked if not whole)


@pytest.mark.parametrize("spoiled", range(TRIES))
def test_bad_luck_is_forgiven_but_not_for_ever(spoiled: int) -> None:
    """The first tries of every number of voices meet a busy machine, which shows in the percentiles and not in p50."""
    tries: dict[tuple[int, bool], int] = {}

    def measure(voices: int, whole: bool) -> Spread:
        tries[voices, whole] = tries.get((voices, whole), 0) + 1
        share = voices / 100.0
        return steady(share) if tries[voices, whole] > spoiled else Spread(share, share, 3.0, 3.0, 3.0)

    assert largest_polyphony(measure).voices == 70
    assert max(tries.values()) <= TRIES
    assert tries[71, False] == 1  # p50 is beyond: no bad luck


def test_a_machine_that_is_always_busy_lets_nothing_hold() -> None:
    assert largest_polyphony(lambda voices, _: Spread(0.1, 0.1, 3.0, 3.0, 3.0)) == Limit(0, None)


def test_what_holds_only_for_a_while_is_not_told() -> None:
    """Long runs meet rare long blocks that short ones do not: fewer voices are tried until one holds."""
    measure, asked = counted(lambda voices, whole: Spread(*(voices / s for s in (200.0, 200.0, 100.0, 80.0, 80.0))))
    found = largest_polyphony(measure)
    assert (70, True) in asked
    assert 54 <= found.voices <= 56
    assert found.p999 == found.voices / 80.0 <= HOLDS


def test_spread_of_one_value() -> None:
    assert spread(np.array([3.0])) == steady(3.0)
