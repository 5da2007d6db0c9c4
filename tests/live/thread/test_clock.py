"""The card's clock behind blocks that begin late: events a constant time after they come, and every lost block."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from live.driving import START, Card, late, packed, play_through

from engine.live.player import Player
from engine.live.thread.clock import WINDOW

SETTLED = 1600  # blocks


def cc(n: int, channel: int = 0) -> list[int]:
    """The n-th of a row of controllers that nobody maps."""
    return [0xB0 | channel, 3, n % 128]


def stray(rate: int, block: int, ppm: int, burst: int, share: float = 0.8, measured: int = 1600) -> Any:
    """By how many ms events are placed away from their arrival plus the delay, with the time of each in blocks."""
    rng = np.random.default_rng([rate, block, ppm + 10_000, burst])
    player, frame = Player(rate, block, delay=block), 1e9 / rate * (1.0 + ppm * 1e-6)
    player.pause_over(2.0 * burst * block / rate)
    begun = START + late(rng, SETTLED + measured, share, burst) * (block * frame)
    came = np.sort(rng.uniform(START, begun[-1] - block * frame, 2500)).astype(np.int64)
    journal = play_through(player, begun, block, [(int(t), 2, cc(n)) for n, t in enumerate(came)])
    assert [int(m) for m in journal[:, 1]] == [packed(cc(n)) for n in range(len(came))][: len(journal)]
    assert len(journal) > len(came) - 20
    assert player.gauges.lost == 0
    came = came[: len(journal)] - START
    return (journal[:, 0] - block) * frame * 1e-6 - came * 1e-6, came / (block * frame)


@pytest.mark.parametrize("rate", [44_100, 48_000, 96_000])
@pytest.mark.parametrize("block", [64, 128, 256, 512, 1024])
def test_events_sound_the_same_time_after_they_came(rate: int, block: int) -> None:
    """Blocks begin up to 0.8 of their length late, in pairs or one by one, and the card's clock is wrong."""
    for burst in (1, 2):
        for ppm in (-200, 200):
            by, when = stray(rate, block, ppm, burst)
            by = by[when > SETTLED]
            assert len(by) > 500
            assert np.ptp(by) / 2.0 < 1.0
            assert abs(by.mean()) < 0.1 * 1e3 * block / rate  # and it is the delay that was asked for


@pytest.mark.parametrize("block", [64, 128, 256])
def test_small_blocks_are_followed_from_the_first_second_on(block: int) -> None:
    by, when = stray(48_000, block, 200, 1)
    assert np.ptp(by[when > 2 * WINDOW]) / 2.0 < 1.0


def test_a_card_on_time_places_events_to_the_sample() -> None:
    by, _ = stray(48_000, 128, 0, 1, share=0.0)
    assert np.abs(by + 0.5e3 / 48_000).max() < 0.51e3 / 48_000  # whole samples, rounded down


def test_virtual_cards_whose_clock_is_far_off_are_followed_too() -> None:
    for ppm in (-2000, 2000):
        by, when = stray(48_000, 128, ppm, 1)
        assert np.ptp(by[when > SETTLED]) / 2.0 < 1.0


@settings(max_examples=30)
@given(st.lists(st.integers(1, 3000), min_size=1, max_size=60))
def test_blocks_of_any_length(sizes: list[int]) -> None:
    """The host may ask for as much as it likes: events stay on their sample, and nothing counts as lost."""
    player = Player(48_000, 128, delay=3000)
    card = Card(player)
    start, wanted = card.time, []
    for n, size in enumerate(sizes):
        stamp = int(card.time) - n  # just before the block
        assert player.send(cc(n), stamp)
        wanted.append(3000 + int((stamp - start) // card.frame))
        card.run(1, size)
    card.run(4, 3000)
    assert [int(s) for s in player.new_events()[:, 0]] == pytest.approx(wanted, abs=1)
    assert player.gauges.lost == 0
    assert player.gauges.blocks == len(sizes) + 4
    assert abs(player.gauges.worst_late) < 1000


# --- lost blocks ------------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(1, 400), st.integers(1, 90)), min_size=1, max_size=8),
    st.sampled_from([0.0, 0.3, 0.8]),
    st.sampled_from([0.0, 4.0]),
    st.sampled_from([1, 2]),
    st.integers(0, 1 << 30),
)
def test_gaps_are_counted_to_the_block(
    gaps: list[tuple[int, int]], share: float, slack: float, burst: int, seed: int
) -> None:
    """However late the blocks before and after a gap, and even if the host's buffers hide it at first."""
    rng, player = np.random.default_rng(seed), Player(48_000, 128)
    slack = max(slack, 2.0 * (burst - 1))
    player.pause_over(slack * 128 / 48_000)
    count, lost, missing = 4 * WINDOW, 0, []
    for apart, gap in gaps:
        lost += gap * burst
        missing.append((count, gap * burst))
        count += (2 * WINDOW + apart) // burst * burst
    begun = late(rng, count + 3 * WINDOW, share, burst)
    for at, gap in missing:
        begun[at // burst * burst :] += gap
    play_through(player, START + begun * (128 / 48_000 * 1e9), 128, [])
    assert player.gauges.lost == lost


def test_gaps_one_after_another_are_all_counted() -> None:
    """A host that loses every other block, as under a busy interpreter."""
    rng, player = np.random.default_rng(1), Player(48_000, 128)
    steps = rng.choice([1, 2, 5], 3000, p=[0.4, 0.4, 0.2])
    steps[: 3 * WINDOW], steps[-2 * WINDOW :] = 1, 1
    begun = np.cumsum(steps) + rng.uniform(0.0, 0.5, 3000)
    play_through(player, START + begun * (128 / 48_000 * 1e9), 128, [])
    lost = int((steps - 1).sum())
    assert abs(player.gauges.lost - lost) <= 0.001 * lost


def test_a_block_that_is_late_but_caught_up_with_is_not_lost() -> None:
    """The host had buffers for it: five blocks come at once after five blocks' time."""
    player = Player(48_000, 128)
    player.pause_over(6 * 128 / 48_000)
    begun = np.arange(20 * WINDOW, dtype=float)
    for at in range(3 * WINDOW, 18 * WINDOW, 41):
        begun[at : at + 5] = begun[at + 5]
    play_through(player, START + begun * (128 / 48_000 * 1e9), 128, [])
    assert player.gauges.lost == 0
    assert player.gauges.worst_late == pytest.approx(5 * 128 / 48_000 * 1e9, rel=0.1)


def test_blocks_that_come_early_again_are_followed_at_once() -> None:
    """A host that was behind for a while and then catches up, when it looked as if the sound had been lost."""
    player, period = Player(48_000, 128), 128 / 48_000 * 1e9
    player.pause_over(6 * 128 / 48_000)
    begun = np.arange(700.0)
    begun[300:400] += 3.0
    came = [START + (n + 0.5) * period for n in range(480, 690)]
    journal = play_through(player, START + begun * period, 128, [(int(t), 2, cc(0)) for t in came])
    by = journal[:, 0] - 128 - (np.array(came[: len(journal)]) - START) / period * 128
    assert len(by) > 200
    assert np.abs(by).max() < 1.5


def test_a_suspend_counts_once_and_events_are_in_time_again_at_once() -> None:
    player = Player(48_000, 128)
    card = Card(player)
    card.run(200)
    card.time += 10_000_000_000
    clock = 200 * 128
    assert player.send(cc(1), int(card.time) - 10)
    card.run(300)
    assert player.gauges.lost == round(10 * 48_000 / 128)
    assert player.new_events()[0, 0] == pytest.approx(clock + 128, abs=1)
    assert player.send(cc(1), int(card.time) - 10)
    card.run(2)
    assert player.new_events()[0, 0] == pytest.approx(clock + 300 * 128 + 128, abs=1)


def test_a_stream_that_is_opened_again_has_lost_nothing() -> None:
    """Its clock is new, and so is its phase; samples go on being counted."""
    player = Player(48_000, 128)
    card = Card(player)
    card.run(100)
    for pause in (0.1, 3.3, 7200.0):
        player.pause_over()
        card.time += pause * 1e9
        assert player.send(cc(1), int(card.time) - 1000)
        clock = card.player.gauges.blocks * 128
        card.run(100)
        assert player.new_events()[0, 0] == pytest.approx(clock + 128, abs=1)
    assert player.gauges.lost == 0
    assert player.gauges.blocks == 400


def test_a_stream_that_starts_by_fits_has_lost_nothing() -> None:
    """Some hosts ask for several blocks at once, and for more only when the card runs."""
    player = Player(48_000, 128)
    begun = np.arange(200.0)
    begun[:4] = 0.0
    begun[4:] += 40.0
    play_through(player, START + begun * (128 / 48_000 * 1e9), 128, [])
    assert player.gauges.lost == 0


def test_a_machine_that_has_run_for_years_and_a_session_of_months() -> None:
    """Nanoseconds beyond what a float can count one by one."""
    player = Player(48_000, 128)
    card = Card(player, start=10**17)
    for _ in range(2):
        card.run(200)
        assert player.send(cc(1), int(card.time) - 1000)
        clock = player.gauges.blocks * 128
        card.run(3)
        assert player.new_events()[0, 0] == pytest.approx(clock + 128, abs=1)
        card.time += 100 * 86_400 * 1e9
    card.run(64)
    assert player.gauges.lost == pytest.approx(2 * 100 * 86_400 * 48_000 / 128, rel=1e-5)
