"""Undo, redo, two sides, the file: a path through texts, compared with the plainest thing that remembers them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.edit.history import History

STEPS = st.lists(st.one_of(st.just("undo"), st.just("redo"), st.just("revert"), st.integers(0, 5)), max_size=40)


@given(STEPS)
def test_undo_and_redo_walk_over_all_that_was(steps: list[str | int]) -> None:
    history, past, future = History("0"), ["0"], []
    for step in steps:
        if step == "undo":
            assert bool(history.undo()) == (len(past) > 1)
            if len(past) > 1:
                future.append(past.pop())
        elif step == "redo":
            assert bool(history.redo()) == bool(future)
            if future:
                past.append(future.pop())
        else:
            text = "0" if step == "revert" else str(step)
            if step == "revert":
                history.revert()
            else:
                history.push(text, "set")
            if text != past[-1]:
                past.append(text)
                future = []
        assert history.text == past[-1]
        assert history.changed == (past[-1] != "0")
        assert (bool(history.undoes), bool(history.redoes)) == (len(past) > 1, bool(future))


def test_a_gesture_is_one_entry() -> None:
    history = History("a")
    for text in ("b", "c", "d"):
        history.push(text, "height", gesture=7)
    history.push("e", "height", gesture=8)
    assert history.undo() == "height"
    assert history.text == "d"
    history.undo()
    assert history.text == "a"
    assert history.undo() == ""
    history.redo()
    assert history.text == "d"


def test_a_hand_that_goes_back_leaves_nothing() -> None:
    history = History("a")
    history.push("b", "height", gesture=7)
    history.push("a", "height", gesture=7)
    assert (history.undoes, history.text) == ("", "a")


def test_two_sides_are_compared_and_undo_knows_of_it() -> None:
    history = History("a")
    history.push("b", "set")
    history.switch()
    assert (history.side, history.text) == ("B", "b")
    history.push("c", "set")
    history.switch()
    assert (history.side, history.text) == ("A", "b")
    history.switch()
    assert (history.side, history.text) == ("B", "c")
    history.undo()
    assert history.text == "b"


def test_what_is_saved_is_the_file() -> None:
    history = History("a")
    history.push("b", "set")
    history.saved("b")
    assert not history.changed
    history.undo()
    assert history.changed
    history.revert()
    assert history.text == "b"
