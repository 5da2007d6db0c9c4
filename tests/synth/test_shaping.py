"""What a preset became while it was played, told and told again; however it was told, it is that or an error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.synth.shaping import Making, Reshaping, Shaped, Teller, applied, difference, retold

texts = st.text("ab\n: é", max_size=12)


@given(texts, texts)
def test_a_difference_makes_the_one_text_of_the_other(before: str, after: str) -> None:
    found = difference(before, after)
    assert applied(before, *found) == after
    assert len(found[2]) <= len(after)


some = st.lists(st.integers(0, 127), max_size=3).map(tuple)
others = st.none() | st.builds(Making, texts, some, st.none(), st.none() | st.builds(Making, texts, some))
makings = st.builds(Making, texts, some, others, others)


@given(texts, st.lists(makings, min_size=1, max_size=8), st.randoms())
def test_what_was_told_is_what_was(first: str, told: list[Making], random: Any) -> None:
    """Also where those that came at once are told in another order."""
    teller = Teller(first)
    said = [(0.5 * n, teller.tell(making, n, n + 2)) for n, making in enumerate(told)]
    said = json.loads(json.dumps(said))
    random.shuffle(said)
    assert retold(said) == (first, tuple(Reshaping(0.5 * n, n, n + 2, making) for n, making in enumerate(told)))


ONE = {"number": 1, "new": [[0, 0, "a"]], "text": 0, "keys": [], "seat": 0, "heir": 2}


@pytest.mark.parametrize(
    "wrong",
    [
        *({key: value} for key in ONE for value in (None, -1, "x", [1], {}, 1e999, [[1]]) if value != ONE[key]),
        {"new": [[0, 1, "a"]]},
        {"new": [[0, 0, 5]]},
        {"like": [5, []]},
        {"like": 5},
        {"like": [0, [128]]},
        {"tuned": [0]},
        {"tuned": [0, [], [1, []]]},
        {"tuned": [0, [], [0, [], [0, []]]]},
        {"keys": [True]},
    ],
    ids=str,
)
def test_what_makes_no_sense_is_an_error(wrong: dict[str, Any]) -> None:
    assert retold([(0.0, ONE)])[0] == "a"
    if wrong in ({"number": -1}, {"keys": [1]}):  # which may be
        return
    with pytest.raises(ValueError, match=r"."):
        retold([(0.0, {**ONE, **wrong})])
    for odd in (None, [], "x", 5):
        with pytest.raises(ValueError, match=r"."):
            retold([(0.0, odd)])  # type: ignore[list-item]


def test_later_it_begins_with_the_last_whole_design() -> None:
    changes = tuple(Reshaping(float(n), n, n + 2, Making(f"{n}", (60,) * (n % 2))) for n in range(6))
    shaped = Shaped("a", "b", Path(), 0, "first", changes)
    later = shaped.later(3.5)
    assert [(change.seconds, change.making.text) for change in later.changes] == [(0.0, "2"), (0.5, "4"), (1.5, "5")]
    assert shaped.later(0.0) == shaped
