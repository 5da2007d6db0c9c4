"""Events handed over: in order, each before its block is played, never more than there is room for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.synth.feed import Feed

pytestmark = pytest.mark.interpreted


class Ring:
    """A ring of a few places whose events are taken out when their time has come."""

    def __init__(self, places: int) -> None:
        self.places, self.clock = places, 0
        self.waiting: list[tuple[int, int]] = []
        self.obeyed: list[tuple[int, int, int]] = []  # when it was due, its number, when it was obeyed

    def room(self) -> int:
        return self.places - len(self.waiting)

    def put(self, sample: int, number: int) -> None:
        assert len(self.waiting) < self.places
        self.waiting.append((sample, number))

    def play(self, out: NDArray[np.float32]) -> None:
        end = self.clock + len(out)
        while self.waiting and self.waiting[0][0] < end:
            sample, number = self.waiting.pop(0)
            self.obeyed.append((sample, number, max(sample, self.clock)))
        self.clock = end


@given(
    st.lists(st.integers(0, 60)).map(sorted),
    st.integers(1, 5),
    st.lists(st.integers(0, 30), min_size=1, max_size=6),
)
def test_every_event_is_obeyed_in_order_and_on_its_sample_where_there_is_room(
    samples: list[int], places: int, blocks: list[int]
) -> None:
    ring, feed = Ring(places), Feed((sample, n) for n, sample in enumerate(samples))
    for size in blocks:
        feed.fill(np.zeros((size, 1), np.float32), ring.clock, ring.room, ring.put, ring.play)
    assert ring.clock == sum(blocks)
    assert [number for _, number, _ in ring.obeyed] == list(range(len(ring.obeyed)))
    assert all(obeyed >= sample for sample, _, obeyed in ring.obeyed)
    if max(samples, default=0) < ring.clock and len(set(samples)) == len(samples):
        assert [(sample, at) for sample, _, at in ring.obeyed] == [(sample, sample) for sample in samples]
        assert feed.empty


def test_what_is_refused_comes_first_the_next_time() -> None:
    feed, taken = Feed([(1, "a"), (2, "b"), (2, "c"), (5, "d")]), []

    def put(sample: int, name: str) -> bool:
        taken.append((sample, name))
        return name != "b" or taken.count((2, "b")) > 1

    assert feed.hand_over(5, put) == 2
    assert feed.hand_over(5, put) == 5
    assert not feed.empty
    assert feed.hand_over(6, put) == 6
    assert feed.empty
    assert taken == [(1, "a"), (2, "b"), (2, "b"), (2, "c"), (5, "d")]


def test_an_event_may_take_more_places_than_one() -> None:
    played: list[tuple[int, list[int]]] = []
    put: list[int] = []

    def play(out: NDArray[np.float32]) -> None:
        played.append((len(out), put.copy()))
        put.clear()

    feed = Feed([(0, 2), (1, 2), (3, 2), (9, 2)])
    feed.fill(np.zeros((8, 1), np.float32), 0, lambda: 3, lambda _, data: put.append(data), play, lambda data: data)
    assert played == [(3, [2, 2]), (5, [2])]
