"""Which parts of an instrument's memory an image leaves out, because opening makes them again (synth/unfolding.py).

What is left out was made again here, and is the same to the last bit; everything else stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.layout import rebuilt, rows_of, seen
from engine.physics.designing import BAND
from engine.physics.network.meetings import meetings
from engine.physics.network.memory import Strand
from engine.physics.network.parts import seen_from
from engine.physics.network.weaving import planes_of
from engine.physics.problem import Pickup
from engine.physics.string import String
from engine.preset.loader import Preset
from engine.synth import unfolding as u
from engine.synth.choirs import strung_for
from engine.synth.instrument import Instrument
from engine.synth.keys import preset_key
from engine.synth.memory import Choir
from engine.synth.strings import FILES, GROUPS
from engine.synth.unfolding import Column, Wire

Numbers = tuple[float, ...]  # of a record's fields, in their order


class Guess(NamedTuple):
    """What an array, or a part of it, may be."""

    kind: int
    array: NDArray[np.float64]
    by: float = 1.0
    at: float = 0.0


class Tables(NamedTuple):
    """What several arrays may be together."""

    kind: int
    number: int
    place: int
    arrays: tuple[NDArray[np.float64], ...]


class Folded(NamedTuple):
    """What opening makes again."""

    wires: list[Numbers]
    columns: list[Numbers]


class Folder:
    """Takes out of a block what follows from a few numbers."""

    def __init__(self, block: NDArray[np.uint8]) -> None:
        self.block, self.made = block, Folded([], [])
        self._places: list[tuple[int, int]] = []
        self._wire, self._column = rows_of(Wire, 1), rows_of(Column, 1)

    def take(self, made: Instrument, start: int, keys: tuple[int, int]) -> None:
        """The strings of an instrument that lies there, of these keys."""
        file = FILES[made.machine.model]
        find = {"modal": self._modal, "network": self._linked}.get(file.NAME)
        if find is not None:
            find(made, start, keys)

    def cleared(self) -> Folded:
        """With all of it taken out of the block."""
        for begin, end in self._places:
            self.block[begin:end] = 0
        return self.made

    @property
    def _here(self) -> int:
        return int(self.block.ctypes.data)

    def _place(self, array: NDArray[np.float64]) -> int:
        return int(array.ctypes.data) - self._here

    def _modal(self, made: Instrument, start: int, keys: tuple[int, int]) -> None:
        preset, rate = made.preset, made.sample_rate * made.oversample
        for number in _ready(made, range(keys[0], keys[1] + 1)):
            hz = made.tuning.frequencies[number]
            assert hz is not None
            found = preset_key(preset, hz, rate, None, preset.voicing.harder(number)).design
            assert found is not None
            problem = found.problem
            mine: Any = rebuilt(GROUPS[made.machine.model], self._here + start, made.machine.key_words[number])
            string, count = problem.string, int(np.count_nonzero(mine.wave))
            c, t, struck = mine.c, mine.t, problem.excitation.position * string.length
            rank = c.mix.shape[0]
            guesses = _of_poles(string, mine.wave, t, c, count)
            guesses += [Guess(u.SINE, mine.shape[:count], at=struck)]
            points = problem.modal_points(count).position.tolist()
            guesses += [Guess(u.SINE, c.rows[r, :count], at=x) for r in range(rank) for x in points]
            guesses += [_heard(string, p, row) for p, row in zip(preset.problem.pickups, c.rows[rank:, :count])]
            self._try(string, rate, (mine.wave, t.decay), guesses)
            for source, twin in ((c.remainder, t.remainder), (c.direct, t.direct)):
                self._try_tables(Tables(u.COPY, self._place(source), self._place(twin), (twin.reshape(-1),)))
            tables = (c.answer, c.ahead, c.response, c.response_ahead, c.heard, c.heard_ahead)
            self._try_tables(Tables(u.ANSWERS, number, start, tables))

    def _linked(self, made: Instrument, start: int, keys: tuple[int, int]) -> None:
        preset, rate, m = made.preset, made.sample_rate * made.oversample, made.machine
        for number in _ready(made, range(keys[0], keys[1] + 1)):
            strings = list(_strings_of(preset, number, made.tuning.frequencies[number]))
            place = number
            while place:
                at = start + int(m.key_words[place, 0])
                choir = seen(Choir, self._here + at)
                for n, offset in enumerate(choir.strands.tolist()):
                    self._strand(at + offset, float(choir.position[n]), strings, rate)
                place = int(m.keys[place].other)

    def _strand(self, at: int, position: float, strings: list[Any], rate: float) -> None:
        s = seen(Strand, self._here + at)
        b, t = s.bank, s.recipe
        for strung in (own for own in strings if (own.string.tension, own.string.length) == (t.tension, t.length)):
            planes = planes_of(strung, rate, min(BAND, 0.45 * rate, strung.band))
            if planes.modes.wavenumber.tobytes() != t.wave[: planes.plane.size].tobytes():
                continue
            for n, own in enumerate(planes.strings):
                first, count = int(np.argmax(planes.plane == n)), int((planes.plane == n).sum())
                part, struck = slice(first, first + count), position * own.length
                guesses = _of_poles(own, t.wave[part], _part(t, part), _part(b, part), count, strung.string)
                facing = seen_from(strung.struck, planes.angles[n])
                guesses += [Guess(u.SINE, t.strike[part], facing, struck)]
                guesses += [Guess(u.STRUCK, b.inject[part], 0.5 * own.density * own.length, struck)]
                touching = meetings(strung)
                seen_so = [(point.at, seen_from(point.angle, planes.angles[n])) for point in touching]
                guesses += [Guess(u.SINE, row, by, at) for row, (at, by) in zip(b.rows[:, part], seen_so)]
                guesses += [Guess(u.MOMENTUM, b.rows[len(touching) + n, part])]
                self._try(own, rate, (t.wave[part], t.decay[part]), guesses)
            self._try_tables(Tables(u.LINKED_ANSWERS, 0, at, (b.response, b.ahead)))
            return

    def _try(self, string: String, rate: float, modes: tuple[Any, ...], guesses: list[Guess]) -> None:
        """Keep what proves true of a string whose wavenumbers and decay rates are these."""
        loss, wire = string.loss, len(self.made.wires)
        numbers = (pi / string.length, string.density, string.tension, string.stiffness)
        row = (*numbers, loss.s0, loss.s1, loss.s2, loss.s3, rate, *map(self._place, modes))
        self._wire[0] = row
        known, found = len(self.made.columns), set[int]()
        for kind, array, by, at in guesses:
            place = self._place(array)
            if place not in found and self._proves((kind, wire, place, array.size, by, at), (array,)):
                found.add(place)
        if len(self.made.columns) > known:
            self.made.wires.append(row)

    def _try_tables(self, t: Tables) -> None:
        """The same of tables that follow from columns."""
        self._proves((t.kind, t.number, t.place, t.arrays[0].size, 0.0, 0.0), t.arrays)

    def _proves(self, column: Numbers, arrays: tuple[NDArray[np.float64], ...]) -> bool:
        """Whether it makes the same bits out of nothing; then it is kept."""
        self._column[0] = column
        before = [array.copy() for array in arrays]
        for array in arrays:
            array[...] = 0.0
        u.unfolded(self._here, self._wire.ctypes.data, self._column.ctypes.data)
        if all(array.tobytes() == was.tobytes() for array, was in zip(arrays, before)):
            self.made.columns.append(column)
            self._places += [(place := self._place(array), place + array.nbytes) for array in arrays]
            return True
        for array, was in zip(arrays, before):
            array[...] = was
        return False


def _ready(made: Instrument, keys: range) -> Iterator[int]:
    return (number for number in keys if made.machine.keys[number].ready)


def _part(record: Any, part: slice) -> SimpleNamespace:
    """The columns of a record, some modes of them."""
    names = ("bend", "pull", "decay", "shrink", "forward", "backward", "spread", "spring")
    return SimpleNamespace(**{name: getattr(record, name)[part] for name in names if hasattr(record, name)})


def _of_poles(string: String, wave: Any, t: Any, c: Any, count: int, whole: String | None = None) -> list[Guess]:
    """What makes the modes of a string, or of one plane of the whole one."""
    mass = 0.5 * string.density * string.length
    share = string.tension / whole.tension if whole else 1.0
    return [
        Guess(u.WAVE, wave[:count]),
        Guess(u.DECAY, t.decay[:count]),
        Guess(u.BEND, t.bend[:count]),
        Guess(u.PULL, t.pull[:count], share),
        Guess(u.SHRINK, t.shrink[:count]),
        Guess(u.FORWARD, c.forward[:count]),
        Guess(u.BACKWARD, c.backward[:count]),
        Guess(u.SPREAD, c.spread[:count], mass),
        Guess(u.SPRING, c.spring[:count], mass),
    ]


def _heard(string: String, pickup: Pickup, row: NDArray[np.float64]) -> Guess:
    far = pickup.at != 0.0
    if pickup.kind == "body_force":
        return Guess(u.FAR_MOMENTUM if far else u.MOMENTUM, row, at=string.length)
    if pickup.kind == "bridge_force":
        return Guess(u.FAR_SUPPORT if far else u.SUPPORT, row, at=string.length)
    return Guess(u.SINE, row, at=pickup.at * string.length)


def _strings_of(preset: Preset, number: int, pitch: float | None) -> Iterator[Any]:
    """All strings that a key may sound at this pitch, in any of its places."""
    assert preset.assembly is not None
    assert pitch is not None
    for part in preset.assembly.played:
        for course in part.courses:
            yield strung_for(preset, part, course, pitch, None, preset.voicing.harder(number)).strung
