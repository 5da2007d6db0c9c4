"""Declared memory: what Python lays out, compiled code finds by the same names, wherever the block lies; and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from declared import (
    KERNELS,
    WHOLES,
    InPython,
    Kernel,
    Law,
    Pair,
    Point,
    Whole,
    answer,
    change_at,
    changed,
    laid,
    places,
    same,
    tell_at,
    tell_kernel,
    whole_at,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import aligned
from engine.compiled import called_by_python
from engine.layout import (
    LINE,
    Arena,
    Singles,
    count_of,
    fields_of,
    inside,
    own_arrays,
    rebuilt,
    record,
    rows_of,
    seen,
    size_of,
    store,
    words_of,
)
from engine.machine_code import INTERPRETED
from engine.opened import address, at

pytestmark = pytest.mark.interpreted

# --- random layouts ---------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(st.integers(0, 200), WHOLES)
def test_python_finds_what_it_laid_out(before: int, values: dict[str, Any]) -> None:
    block, start = laid(before, values)
    found = seen(Whole, block.ctypes.data + start)
    for name, value in values.items():
        assert same(getattr(found, name), value), name


@settings(max_examples=60)
@given(WHOLES)
def test_compiled_code_finds_the_same_as_python(values: dict[str, Any]) -> None:
    block, start = laid(70, values)
    with pytest.MonkeyPatch.context() as patched:
        assert answer(tell_at, block.ctypes.data + start) == InPython(patched).told(block[start:])


@settings(max_examples=60)
@given(values=WHOLES)
def test_compiled_code_changes_what_python_changes(values: dict[str, Any]) -> None:
    """To the last byte of the block, so nothing beside it either."""
    values["count"] //= 2
    one, start = laid(0, values)
    other = aligned.zeros(one.size, np.uint8)
    other[:] = one
    change_at(one.ctypes.data + start)
    InPython.plain(changed)(seen(Whole, other.ctypes.data + start))
    assert one.tobytes() == other.tobytes()


@settings(max_examples=30)
@given(st.integers(0, 300), WHOLES, st.integers(0, 20))
def test_a_block_that_is_copied_elsewhere_is_the_same(before: int, values: dict[str, Any], away: int) -> None:
    """Also where no cache line begins; and once the first is gone, it is no matter what is written over it."""
    block, start = laid(before, values)
    wanted, room = answer(tell_at, block.ctypes.data + start), np.zeros(block.size + 8 * away, np.uint8)
    copy = room[8 * away :]
    copy[:] = block
    block[:] = 0xFF
    assert answer(tell_at, copy.ctypes.data + start) == wanted


@settings(max_examples=60)
@given(st.integers(0, 300), KERNELS)
def test_groups_come_back_from_their_words(before: int, kernel: Kernel) -> None:
    arena = Arena()
    arena.room(before)
    row = store(arena, kernel)
    assert row.shape == (count_of(Kernel),)
    block = arena.sealed()
    assert same(rebuilt(Kernel, block.ctypes.data, row), kernel)
    with pytest.MonkeyPatch.context() as patched:
        wanted = InPython(patched).kernel(kernel)
    assert answer(tell_kernel, block.ctypes.data, row.ctypes.data) == wanted


@settings(max_examples=30)
@given(st.integers(0, 300), WHOLES)
def test_arrays_begin_on_the_border_of_a_cache_line(before: int, values: dict[str, Any]) -> None:
    block, start = laid(before, values)
    assert block.ctypes.data % LINE == start % LINE == 0
    found = seen(Whole, block.ctypes.data + start)
    for array in (found.vector, found.matrix, found.rows, found.singles, found.points, found.kernel.law.taps):
        assert address(array) % LINE == 0 or array.size == 0
        assert block.ctypes.data <= address(array) <= block.ctypes.data + block.size - array.nbytes


# --- closed forms -----------------------------------------------------------------------------------------------------


def test_a_record_is_as_large_as_its_fields() -> None:
    assert [(part.name, part.offset) for part in fields_of(Point)] == [
        ("height", 0), ("number", 8), ("on", 16), ("ages", 24), ("weights", 40),
    ]  # fmt: skip
    assert size_of(Point) == 88 == rows_of(Point, 1).dtype.itemsize
    assert [(part.name, part.offset) for part in fields_of(Pair)] == [
        ("first", 0), ("point", 8), ("points", 96), ("last", 96 + 3 * 88),
    ]  # fmt: skip
    assert size_of(Pair) == 96 + 3 * 88 + 8


def test_an_array_elsewhere_is_its_place_and_its_shape() -> None:
    found = {part.name: part.offset for part in fields_of(Whole)}
    assert found["vector"] == 24 + 3 * 8
    assert found["matrix"] - found["vector"] == 8 * (1 + 1)
    assert found["integers"] - found["matrix"] == 8 * (1 + 2)
    assert found["kernel"] - found["points"] == 8 * (1 + 1)
    assert found["pair"] - found["kernel"] == 8 * count_of(Kernel)
    assert found["after"] - found["pair"] == size_of(Pair)


def test_words_are_counted_by_their_paths() -> None:
    assert count_of(Law) == 1 + 1 + 1 + 2
    assert count_of(Kernel) == 1 + 5 + 3 + 2 + 5 + 3 + 1
    assert words_of(Kernel) == {
        "gain": 0, "law": 1, "law.slope": 1, "law.steps": 2, "law.up": 3, "law.taps": 4, "table": 6, "order": 9,
        "other": 11, "other.slope": 11, "other.steps": 12, "other.up": 13, "other.taps": 14, "rows": 16, "count": 19,
    }  # fmt: skip
    assert own_arrays(Kernel, ["order", "other.taps", "table"]) == [(6, 2), (9, 1), (14, 1)]
    assert own_arrays(Kernel, ["law"]) == [(4, 1)]
    assert own_arrays(Kernel, []) == []


@record
class Narrow:
    """Entries of four bytes."""

    before: int
    thin: Singles = inside(3)
    after: int


def test_single_floats_inside_take_whole_words() -> None:
    assert [part.offset for part in fields_of(Narrow)] == [0, 8, 24]
    assert size_of(Narrow) == 32


SOME: dict[str, Any] = {
    "kernel": Kernel(
        1.0, Law(2.0, 3, True, np.ones(3)), np.ones((2, 2)), np.arange(3), Law(0.5, -1, False, np.ones(1)),
        np.ones((2, 2), np.int64), 9,
    ),
    "vector": np.arange(5.0),
    "points": rows_of(Point, 3),
}  # fmt: skip


def test_compiled_code_and_python_see_things_at_the_same_addresses() -> None:
    block, _ = laid(0, SOME)
    found, w = np.zeros(5, np.int64), seen(Whole, block.ctypes.data)
    places(block.ctypes.data, found)
    wanted = (w, w.vector, w.pair, w.pair.points[2], w.points[2])
    assert found.tolist() == [
        block.ctypes.data,
        address(w.vector),
        block.ctypes.data + next(part.offset for part in fields_of(Whole) if part.name == "pair"),
        address(w.pair.points) + 2 * size_of(Point),
        address(w.points) + 2 * size_of(Point),
    ]
    assert address(wanted[0]) == block.ctypes.data


def test_what_is_not_given_is_zero_and_has_no_entries() -> None:
    block, _ = laid(0, {})
    found = seen(Whole, block.ctypes.data)
    assert (found.on, found.count, found.level, found.after) == (0, 0, 0.0, 0)
    assert not found.short.any()
    assert [getattr(found, name).shape for name in ("vector", "matrix", "integers", "rows", "singles", "points")] == [
        (0,), (0, 0), (0,), (0, 0), (0,), (0,),
    ]  # fmt: skip
    assert found.kernel.table.shape == (0, 0)
    assert found.kernel.law[:3] == (0.0, 0, False)
    assert not block.any()
    ints, floats = answer(tell_at, block.ctypes.data)
    assert not any(ints)
    assert not any(floats)


def test_a_shape_is_an_array_of_zeros() -> None:
    block, _ = laid(0, {"vector": (7,), "matrix": (2, 3), "points": (4,)})
    found = seen(Whole, block.ctypes.data)
    assert (found.vector.shape, found.matrix.shape, found.points.shape) == ((7,), (2, 3), (4,))
    assert not found.vector.any()
    found.vector[:], found.matrix[:], found.points.number = 1.0, 2.0, 3
    assert (found.vector.sum(), found.matrix.sum(), found.points.number.sum()) == (7.0, 12.0, 12)


def test_a_field_of_all_records_is_an_array_of_the_memory_itself() -> None:
    block, _ = laid(0, SOME)
    found = seen(Whole, block.ctypes.data)
    found.points.height[1], found.points[2].number, found.pair.points.on = 2.5, 7, 1
    found.points[0].ages[1], found.pair.point.weights[1, 1] = 8, 9.0
    again = seen(Whole, block.ctypes.data)
    assert again.points.height.tolist() == [0.0, 2.5, 0.0]
    assert again.points.number.tolist() == [0, 0, 7]
    assert (again.points.ages[0, 1], again.pair.point.weights[1, 1], again.pair.points[2].on) == (8, 9.0, 1)
    found.count, found.level, found.on = 5, 1.5, True
    assert (again.count, again.level, again.on) == (5, 1.5, 1)


def test_the_same_array_is_placed_once_and_copied_when_the_arena_is_sealed() -> None:
    arena, shared = Arena(), np.arange(3.0)
    row = store(arena, Law(0.0, 0, False, shared))
    size = arena.size
    assert (store(arena, Law(0.0, 0, False, shared)) == row).all()
    assert arena.size == size
    assert store(arena, Law(0.0, 0, False, np.arange(3.0)))[3] == size
    shared[1] = 9.0
    block = arena.sealed()
    shared[1] = 8.0
    assert rebuilt(Law, block.ctypes.data, row).taps.tolist() == [0.0, 9.0, 2.0]


def test_arrays_are_laid_out_row_by_row_however_they_stood_before() -> None:
    arena, table = Arena(), np.arange(12.0).reshape(3, 4)
    kernel = SOME["kernel"]._replace(table=table.T[::-1])
    row = store(arena, kernel)
    block = arena.sealed()
    assert (rebuilt(Kernel, block.ctypes.data, row).table == table.T[::-1]).all()


def test_an_arena_may_lie_behind_another() -> None:
    front, back = Arena(), Arena()
    front.room(100)
    row = store(back, SOME["kernel"])
    start = front.append(back)
    assert start == 128
    for word, _ in own_arrays(Kernel, ["law", "table", "order", "other", "rows"]):
        row[word] += start
    block = front.sealed()
    assert same(rebuilt(Kernel, block.ctypes.data, row), SOME["kernel"])


def test_of_what_is_blank_only_the_shape_is_kept() -> None:
    for blank, kept in ((("table", "law.taps"), {"order", "other", "rows"}), (("law", "other", "order"), {"rows"})):
        arena, whole = Arena(), Arena()
        row, full = store(arena, SOME["kernel"], blank), store(whole, SOME["kernel"])
        words = words_of(Kernel)
        left_out = {word for word, _ in own_arrays(Kernel, blank)}
        assert [row[word] for word in left_out] == [0] * len(left_out)
        assert all(row[n] == full[n] for n in range(len(row)) if n not in left_out | set(own(row, full)))
        assert arena.size == whole.size - LINE * len(left_out)
        assert kept <= set(words)


def own(row: Any, full: Any) -> list[int]:
    """Places that moved up because something before them is not there."""
    return [n for n in range(len(row)) if row[n] != full[n] and row[n] % LINE == full[n] % LINE == 0]


def test_memory_is_aligned_and_written() -> None:
    for size in (1, 63, 64, 1000):
        found = aligned.zeros(size, np.uint8)
        assert (found.size, found.ctypes.data % LINE) == (size, 0)
        assert not found.any()


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "value", "path"),
    [
        ("table", np.ones((2, 2), np.float32), "table: float32 in 2 dimensions"),
        ("table", np.ones(4), "table: float64 in 1 dimensions"),
        ("order", np.ones(3), "order: float64 in 1 dimensions"),
        ("order", np.ones((1, 3), np.int64), "order: int64 in 2 dimensions"),
        ("law", Law(0.0, 0, False, np.arange(3)), r"law\.taps: int64 in 1 dimensions"),
        ("other", Law(0.0, 0, False, np.float64(3.0)), r"other\.taps: float64 in 0 dimensions"),  # type: ignore[arg-type]
    ],
)
def test_a_group_s_array_is_what_is_declared_or_refused(field: str, value: Any, path: str) -> None:
    with pytest.raises(TypeError, match=f"^{path} is not what is declared$"):
        store(Arena(), SOME["kernel"]._replace(**{field: value}))
    with pytest.raises(TypeError, match=path):
        laid(0, {**SOME, "kernel": SOME["kernel"]._replace(**{field: value})})


def test_what_is_not_declared_is_not_laid_out() -> None:
    with pytest.raises(TypeError, match=r"^Whole has no cuont, levle$"):
        laid(0, {**SOME, "cuont": 3, "levle": 1.0})


@pytest.mark.parametrize("name", ["all", "flags", "size", "real", "mean", "address"])
def test_a_field_may_not_be_called_like_something_that_records_have(name: str) -> None:
    """Python would read that in its place, and say nothing."""
    declaration = type("Wrong", (), {"__annotations__": {"right": int, name: int}, "__module__": __name__})
    with pytest.raises(TypeError, match=rf"Wrong\.{name}"):
        record(declaration)


@pytest.mark.parametrize("kind", [str, complex, list, None])
def test_a_field_that_no_memory_can_hold_is_refused(kind: Any) -> None:
    declaration = type("Wrong", (), {"__annotations__": {"right": int, "wrong": kind}, "__module__": __name__})
    with pytest.raises(TypeError, match=r"Wrong\.wrong: memory has no"):
        record(declaration)


def test_an_array_is_not_replaced_by_name() -> None:
    """Its entries are: whoever holds it would not notice."""
    block, _ = laid(0, SOME)
    for name in ("vector", "short", "points", "kernel", "pair"):
        with pytest.raises(TypeError, match=f"{name} is not replaced"):
            setattr(seen(Whole, block.ctypes.data), name, np.zeros(3))


def test_records_of_one_name_are_not_taken_for_each_other() -> None:
    """Two rooms may both have a Clock."""

    def made(first: str, second: str) -> Any:
        kinds = {first: int, second: int}
        return record(type("Clock", (), {"__annotations__": kinds, "__module__": first, "__qualname__": "Clock"}))

    one, other = at(made("early", "late")), at(made("late", "early"))

    @called_by_python
    def late(place: Any) -> Any:
        return one(place).late - 10 * other(place).late

    words = np.array([3, 5])
    assert late(words.ctypes.data) == 5 - 10 * 3


@pytest.mark.skipif(INTERPRETED, reason="compiled code only")
def test_compiled_code_refuses_names_that_are_not_declared() -> None:
    @called_by_python
    def wrong(place: Any) -> Any:
        return whole_at(place).levle

    block, _ = laid(0, SOME)
    with pytest.raises(Exception, match="levle"):
        wrong(block.ctypes.data)
