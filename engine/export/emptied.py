"""Networks that are designed when they are opened: an instrument's memory without what a sample rate decides of it.

It is laid out for the largest that any rate makes of it; what it is designed from lies beside it (assembled.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.export.any_rate import LONGEST_FILTER, Numbers, Recipes, finished
from engine.export.assembled import block_of
from engine.layout import fields_of, memory, seen
from engine.physics.network.memory import Island, Strand
from engine.synth.instrument import Instrument
from engine.synth.memory import Choir, Joint
from engine.synth.strings import KeyStrings

SLACK = 512  # bytes by which a choir may be larger than Python lays it: what lies loose on some of its strings


class Emptied:
    """An instrument of strings on one bridge without its strings, for keys from the first to the last."""

    def __init__(self, whole_one: Instrument, keys: tuple[int, int], book: Recipes) -> None:
        self.preset, self._book = whole_one.preset, book
        design, numbers = whole_one.design, range(keys[0], keys[1] + 1)
        rows, words = design.keys.copy(), design.strings.words.copy()
        within = _within(rows, numbers)
        words[[row for row in range(len(words)) if row not in within]] = 0
        choirs = [seen(Choir, int(design.strings.block.ctypes.data) + int(words[row, 0])) for row in within]
        strands = [seen(Strand, c.address + int(place)) for c in choirs for place in c.strands]  # type: ignore[attr-defined]
        modes = max((s.bank.forward.size for s in strands), default=1)
        points = max((s.points.psi.size for s in strands), default=1)
        self.bench = block_of(self.preset, whole_one.tuning, rows, numbers, modes, points)
        rows.ready, rows.gap = 0, inf
        words[[*within], 1] += SLACK // 8
        block = np.concatenate([design.strings.block, np.zeros(SLACK * len(within), np.uint8)])
        strings = KeyStrings(words, block)
        setup = whole_one.setup
        if whole_one.oversample > 1:  # there is no filter then
            setup = setup._replace(sample_rate=LONGEST_FILTER)
        self.instrument = Instrument.of(setup, design._replace(keys=rows, strings=strings))
        self.room = strings.block.size

    def block(self) -> NDArray[np.uint8]:
        """Its memory."""
        m, base = self.instrument.machine, self.instrument.address
        found: NDArray[np.uint8] = memory(base, np.uint8, (self.instrument.nbytes,)).copy()
        found[self.instrument.changing : self.instrument.changing + self.room] = 0
        here = int(found.ctypes.data)
        mine = seen(type(m), here, found)
        mine.key_words[:] = 0
        mine.own_words[2:] = 0  # they go on as the first two do
        mine.filter.taps[:] = 0.0
        island = seen(Island, here + int(seen(Joint, here + int(m.joint), found).island), found)
        for array in _of_rates(island):
            array[...] = 0
        return found

    def made(self, machine: int, bench: int) -> Numbers:
        """The record of it, where its machine and its bench lie there."""
        return finished(self.instrument, self._book, (machine, 0, 0, bench, self.instrument.changing, self.room, 0, 0))


def _within(rows: Any, numbers: range) -> set[int]:
    """The rows of keys, and of their further places, that have a string."""
    found = set[int]()
    for number in numbers:
        row = number
        while rows[row].ready and row not in found:
            found.add(row)
            row = int(rows[row].other) or row
    return found


def _of_rates(island: Island) -> Iterator[Any]:
    """The arrays that a sample rate decides."""
    for bridge in (island.bridge, island.frame):
        yield from _arrays(bridge.bank)
        yield from (bridge.mobility, bridge.passing)
    yield from _arrays(island.flock)


def _arrays(record: Any) -> Iterator[Any]:
    for part in fields_of(type(record)):
        if part.kind == "array":
            yield getattr(record, part.name)
