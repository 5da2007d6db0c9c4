"""A rack as a file: for each sample rate the memory that the renderer plays, designed and at rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.export.errors import ExportError
from engine.export.knobs import dials, rows
from engine.export.memory import BASIS, CHECKED, HEAD, LAYOUT, MAGIC, PRIME, AtRate, Exported, Head
from engine.layout import Arena, lay, memory, rebuilt, rows_of, seen, size_of
from engine.preset.rack import Rack
from engine.synth.bank import listener
from engine.synth.capture import darkroom
from engine.synth.ensemble import Seats, design_part
from engine.synth.instrument import Instrument
from engine.synth.memory import KEYS, Desk, Machine
from engine.synth.strings import GROUPS

MOST_BYTES = 1 << 30  # of an image and of an instrument's memory: sizes have 31 bits
KeyRange = tuple[int, int]
ALL_KEYS = (0, KEYS - 1)
_LINE = 8  # words that are kept or left out together


def image(rack: Rack, rates: Sequence[float], keys: KeyRange = ALL_KEYS, shown: bool = False) -> bytes:
    """The file: of these keys, from the first to the last. With `shown` there is room for pictures of strings."""
    blocks = [at_rest(rack, rate, keys, shown) for rate in rates]
    sections = rows_of(AtRate, len(blocks))
    runs: list[tuple[int, int]] = []
    words: list[NDArray[np.int64]] = []
    for row, rate, block in zip(sections, rates, blocks):
        kept = block.view(np.int64)
        found = _runs(kept)
        row.rate, row.memory, row.begin, row.end = rate, block.size, len(runs), len(runs) + len(found)
        row.word = sum(part.size for part in words)
        runs += found
        words += [kept[begin : begin + count] for begin, count in found]
    arena = Arena()
    start = arena.room(HEAD)
    table, stream = np.array(runs, np.int64).reshape(-1, 2), np.concatenate(words)
    write = lay(arena, Head, start, magic=MAGIC, layout=LAYOUT, sections=sections, runs=table, words=stream)
    whole = arena.sealed()
    if max(whole.size, *(block.size for block in blocks)) > MOST_BYTES:
        raise ExportError(f"{rack.name}: would be larger than {MOST_BYTES >> 20} MB; take fewer presets or rates")
    write(whole)
    front = seen(Head, whole.ctypes.data, whole)
    front.total = whole.size
    front.check = _sum(whole[CHECKED:])
    return whole.tobytes()


def at_rest(rack: Rack, rate: float, keys: KeyRange, shown: bool) -> NDArray[np.uint8]:
    """The memory of such an instrument at a sample rate; what will be addresses counts from its start."""
    seats = Seats.of(rack, rate)
    made = [design_part(part, rate, 128, None, None, None, False) for part in rack.parts]
    for number, instrument in enumerate(made):
        seats.put_on(number, instrument)
    arena = Arena()
    start = arena.room(size_of(Exported))
    desk = arena.place(memory(seats.address, np.uint8, (size_of(Desk),)).copy())
    ears = arena.place(listener())
    places = [arena.place(_within(one, keys)) for one in made]
    pictures = arena.place(darkroom()) if shown else 0
    facts = {"latency": seats.latency or 0, "desk": desk, "pictures": pictures, "knobs": rows(rack, dials(rack))}
    write = lay(arena, Exported, start, **facts)
    block = arena.sealed()
    write(block)
    d = seen(Desk, block.ctypes.data + desk, block)
    d.listener = ears
    for number, place in enumerate(places):
        d.parts[number].machine = place
    return block


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


def _runs(words: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Where words that are not all zero begin, and how many they are, in whole lines."""
    full = words.reshape(-1, _LINE).any(axis=1).astype(np.int8)
    edges = np.diff(full, prepend=0, append=0)
    begun, ended = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    return [(int(a) * _LINE, int(b - a) * _LINE) for a, b in zip(begun, ended)]


def _sum(content: NDArray[np.uint8]) -> int:
    """As doors.py sums it up."""
    total = BASIS
    for word in content.view(np.uint64).tolist():
        total = (total ^ word) * PRIME & 0xFFFF_FFFF_FFFF_FFFF
    return total - (1 << 64) if total >> 63 else total
