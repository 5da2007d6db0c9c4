"""A rack as a file: for each sample rate the memory that the renderer plays, designed and at rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.export.any_rate import LONGEST_FILTER, Recipes, Unstrung
from engine.export.designs import designed, wishes
from engine.export.emptied import Emptied
from engine.export.errors import ExportError
from engine.export.folding import Folded, Folder, Numbers
from engine.export.knobs import dials, rows
from engine.export.memory import ANY, BASIS, CHECKED, HEAD, LAYOUT, MAGIC, PRIME, AtRate, Exported, Head, Turnable
from engine.layout import Arena, Rows, lay, memory, rebuilt, rows_of, seen, size_of
from engine.preset.rack import Rack
from engine.synth import unfolding as u
from engine.synth.bank import listener
from engine.synth.capture import darkroom
from engine.synth.ensemble import Seats, design_part
from engine.synth.instrument import Instrument
from engine.synth.memory import KEYS, Desk, Machine
from engine.synth.recipes import KeyRecipe, Made
from engine.synth.rehearsal import REHEARSAL_RATE
from engine.synth.strings import GROUPS
from engine.synth.unfolding import Column, Wire

MOST_BYTES = 1 << 30  # of an image and of an instrument's memory: sizes have 31 bits
KeyRange = tuple[int, int]
T = TypeVar("T")
ALL_KEYS = (0, KEYS - 1)
_LINE = 8  # words that are kept or left out together
_REPEATED = 16  # times that a word is there to be kept once


def image(rack: Rack, rates: Sequence[float], keys: KeyRange = ALL_KEYS, shown: bool = False) -> bytes:
    """The file: of these keys, from the first to the last. With `shown` there is room for pictures of strings.

    Without rates it is for all of them, which is not to be had of every rack (any_rate.bound).
    """
    sections, wires, columns = rows_of(AtRate, max(len(rates), 1)), list[Numbers](), list[Numbers]()
    spans, runs, words = list[tuple[int, int]](), list[tuple[int, int]](), list[NDArray[np.int64]]()
    book = Recipes()
    for row, rate in zip(sections, rates or [ANY]):
        rest = at_rest(rack, rate, keys, shown) if rates else unstrung(rack, keys, shown, book)
        kept, changes = rest.block.view(np.int64), rest.changing
        changing, fixed = _repeats(kept, _runs(kept, changes)), _repeats(kept, _runs(kept, ~changes))
        row.rate, row.memory, row.begin, row.fixed = rate, rest.block.size, len(runs), len(runs) + len(changing)
        row.end, row.word = row.fixed + len(fixed), sum(part.size for part in words)
        row.span, row.column = len(spans), len(columns)
        spans += _runs(changes.astype(np.int64), changes)
        columns += [(kind, len(wires) + n if kind < u.COPY else n, *more) for kind, n, *more in rest.folded.columns]
        wires += rest.folded.wires
        row.last, row.folded = len(spans), len(columns)
        row.kept = 0 if rates else int(changes.sum())
        runs += changing + fixed
        words += [kept[begin : begin + max(count, 1)] for begin, count in changing + fixed]
    arena = Arena()
    start = arena.room(HEAD)
    tables = {"runs": runs, "spans": spans}
    write = lay(
        arena, Head, start, magic=MAGIC, layout=LAYOUT, sections=sections, words=np.concatenate(words),
        wires=_rows(Wire, wires), columns=_rows(Column, columns),
        made=_rows(Made, book.made), recipes=_rows(KeyRecipe, book.recipes), numbers=np.array(book.numbers, float),
        **{name: np.array(table, np.int64).reshape(-1, 2) for name, table in tables.items()},
    )  # fmt: skip
    whole = arena.sealed()
    if max(whole.size, *(sections.memory + 8 * sections.kept)) > MOST_BYTES:
        raise ExportError(f"{rack.name}: would be larger than {MOST_BYTES >> 20} MB; take fewer presets or rates")
    write(whole)
    front = seen(Head, whole.ctypes.data, whole)
    front.total = whole.size
    front.check = _sum(whole[CHECKED:])
    return whole.tobytes()


class AtRest(NamedTuple):
    """An instrument's memory, without what opening makes again; and which of its words playing changes."""

    block: NDArray[np.uint8]
    changing: NDArray[np.bool_]
    folded: Folded


def at_rest(rack: Rack, rate: float, keys: KeyRange, shown: bool) -> AtRest:
    """Of such an instrument at a sample rate; what will be addresses counts from its start."""
    made = [design_part(part, rate, 128, None, None, None, False) for part in rack.parts]
    within = [_within(one, keys) for one in made]
    block, changing, places = _together(rack, rate, made, within, shown, rows_of(Turnable, 0))
    folder = Folder(block)
    for place, one in zip(places, made):
        folder.take(one, place, keys)
    return AtRest(block, changing, folder.cleared())


def unstrung(rack: Rack, keys: KeyRange, shown: bool, book: Recipes) -> AtRest:
    """The same without any string, to be designed when it is opened; how is written into the book."""
    whole = [design_part(part, REHEARSAL_RATE, 128, None, None, None, False) for part in rack.parts]
    parts = [(Emptied if one.preset.assembly else Unstrung)(one, keys, book) for one in whole]
    made, benches = [one.instrument for one in parts], [one.bench for one in parts]
    blocks = [one.block() for one in parts]
    changed = wishes(rack, designed(rack), [part.targets for part in parts])
    block, changing, places = _together(rack, LONGEST_FILTER, made, [*blocks, *benches], shown, changed)
    for wish in seen(Exported, block.ctypes.data, block).wishes:
        wish.plan = 0 if wish.plan < 0 else wish.plan + places[len(parts) + wish.part]
        wish.bench += places[len(parts) + wish.part]
    for part, machine, bench in zip(parts, places, places[len(parts) :]):
        book.made.append(part.made(machine, bench))
        changing[bench // 8 : (bench + part.bench.size) // 8] = False
    return AtRest(block, changing, Folded([], []))


def _together(
    rack: Rack,
    rate: float,
    made: list[Instrument],
    blocks: list[NDArray[np.uint8]],
    shown: bool,
    changed: Rows[Turnable],
) -> tuple[NDArray[np.uint8], NDArray[np.bool_], list[int]]:
    """A memory with instruments, whose blocks come first, and other blocks; which of it playing changes; the places."""
    seats = Seats.of(rack, rate)
    for number, instrument in enumerate(made):
        seats.put_on(number, instrument)
    arena = Arena()
    start = arena.room(size_of(Exported))
    desk = arena.place(memory(seats.address, np.uint8, (size_of(Desk),)).copy())
    ears = arena.place(listener())
    places = [arena.place(one) for one in blocks]
    pictures = arena.place(darkroom()) if shown else 0
    facts = {"latency": seats.latency or 0, "desk": desk, "pictures": pictures, "knobs": rows(rack, dials(rack))}
    facts["wishes"] = changed
    write = lay(arena, Exported, start, **facts)
    block = arena.sealed()
    write(block)
    d = seen(Desk, block.ctypes.data + desk, block)
    d.listener = ears
    for number, _ in enumerate(made):
        d.parts[number].machine = places[number]
    changing = np.ones(block.size // 8, bool)
    for place, one in zip(places, made):
        changing[(place + one.changing) // 8 : (place + one.nbytes) // 8] = False
    return block, changing, places


def _rows(declaration: type[T], numbers: list[Numbers]) -> Rows[T]:
    made: Any = rows_of(declaration, len(numbers))
    for n, values in enumerate(numbers):
        made[n] = values
    return made  # type: ignore[no-any-return]


def _within(made: Instrument, keys: KeyRange) -> NDArray[np.uint8]:
    """An instrument's memory, in which other keys than these have no string."""
    m, whole = made.machine, memory(made.address, np.uint8, (made.nbytes,))
    block = whole.copy()
    low, high = keys
    ready = [number for number in range(KEYS) if m.keys[number].ready]
    within = [number for number in ready if low <= number <= high]
    for number in ready:
        if number not in within:
            for span in _spans(made, number):
                block[span] = 0
            seen(Machine, block.ctypes.data, block).keys[number].ready = 0
    for number in within:  # what keys share
        for span in _spans(made, number):
            block[span] = whole[span]
    return block


def _spans(made: Instrument, number: int) -> Iterator[slice]:
    """Where the arrays of a key's string lie."""
    m = made.machine
    waiting: list[Any] = [rebuilt(GROUPS[m.model], made.address, m.key_words[number])]
    for part in waiting:
        if isinstance(part, np.ndarray):
            begin = part.ctypes.data - made.address
            yield slice(begin, begin + part.nbytes)
        elif isinstance(part, tuple):
            waiting += part


def _runs(words: NDArray[np.int64], among: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Where words that are not all zero begin, and how many they are, in whole lines; `among` so many."""
    full = np.where(among, words, 0).reshape(-1, _LINE).any(axis=1).astype(np.int8)
    edges = np.diff(full, prepend=0, append=0)
    begun, ended = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    return [(int(a) * _LINE, int(b - a) * _LINE) for a, b in zip(begun, ended)]


def _repeats(words: NDArray[np.int64], runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same runs, in which one word many times is a run of its own, whose count is below zero."""
    found = list[tuple[int, int]]()
    for begin, count in runs:
        edges = np.flatnonzero(np.diff(words[begin : begin + count])) + 1
        bounds, last = [0, *edges.tolist(), count], 0
        for one, other in pairwise(bounds):
            if other - one >= _REPEATED:
                found += [(begin + last, one - last)] * (one > last)
                found.append((begin + one, one - other))
                last = other
        found += [(begin + last, count - last)] * (count > last)
    return found


def _sum(content: NDArray[np.uint8]) -> int:
    """As doors.py sums it up."""
    total = BASIS
    for word in content.view(np.uint64).tolist():
        total = (total ^ word) * PRIME & 0xFFFF_FFFF_FFFF_FFFF
    return total - (1 << 64) if total >> 63 else total
