"""Networks that are designed when they are opened: an instrument's memory without what a sample rate decides of it.

It is laid out for the largest that any rate makes of it; what it is designed from lies beside it (assembled.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.export.any_rate import LONGEST_FILTER, Numbers, Recipes, finished
from engine.export.assembled import Assembled
from engine.export.designs import Own, Target
from engine.layout import fields_of, memory, seen
from engine.physics.network.memory import Island
from engine.physics.string import Loss
from engine.preset.arguments import HIGHEST_RATE
from engine.preset.loader import Preset
from engine.synth.instrument import Instrument
from engine.synth.memory import Joint
from engine.synth.strings import KeyStrings


class Emptied:
    """An instrument of strings on one bridge without its strings, for keys from the first to the last."""

    def __init__(self, whole_one: Instrument, keys: tuple[int, int], book: Recipes) -> None:
        self.preset, self._book = whole_one.preset, book
        design, numbers = whole_one.design, range(keys[0], keys[1] + 1)
        rows, words = design.keys.copy(), design.strings.words.copy()
        within = _within(rows, numbers)
        words[[row for row in range(len(words)) if row not in within]] = 0
        self._made = Assembled(self.preset, whole_one.tuning, rows, numbers)
        self.bench = self._made.block
        rows.ready, rows.gap = 0, inf
        for row, size in self._made.rooms.items():
            words[row, 1] = size // 8
        lacking = max(sum(self._made.rooms.values()) - design.strings.block.size, 0)
        strings = KeyStrings(words, np.concatenate([design.strings.block, np.zeros(lacking, np.uint8)]))
        setup = whole_one.setup._replace(preset=_lossless(self.preset), widest=HIGHEST_RATE)
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

    def targets(self, own: Own) -> list[Target]:
        """Where that lies which has it."""
        return self._made.targets(own)

    def made(self, machine: int, bench: int) -> Numbers:
        """The record of it, where its machine and its bench lie there."""
        return finished(self.instrument, self._book, (machine, 0, 0, bench, self.instrument.changing, self.room, 0, 0))


def _lossless(preset: Preset) -> Preset:
    """A preset whose answering strings have as many modes as they ever have: there is room for them."""
    a = preset.assembly
    assert a is not None
    most = tuple(replace(one, string=replace(one.string, loss=Loss())) for one in a.sympathetic)
    return replace(preset, assembly=replace(a, sympathetic=most))


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
