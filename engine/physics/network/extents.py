"""A network's arrays laid into memory by compiled code: how large each is, said once, and where it comes to lie."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.aligned import LINE
from engine.compiled import integers, native
from engine.layout import Field, fields_of, record
from engine.opened import address, at
from engine.pairs import whole
from engine.vectors import PADDING


@record
class Lengths:
    """Numbers of entries that arrays have."""

    modes: int  # in whole vectors
    rows: int
    sources: int  # rows on which forces act
    points: int
    ends: int
    ways: int  # directions of the bridge
    channels: int
    wide_rows: int  # in whole vectors
    wide_sources: int
    wide_points: int
    stretched: int  # modes, if its tension grows
    strings: int
    planes: int  # two for each string
    hammers: int
    ears: int
    pulses: int
    one: int
    two: int
    three: int
    four: int


lengths_at = at(Lengths)
COLUMNS = {part.name: part.offset // 8 for part in fields_of(Lengths)}
Shapes = Mapping[str, tuple[str, ...]]

BANK: Shapes = {
    **dict.fromkeys(("forward", "backward", "spread", "inject", "inertia", "spring", "even", "odd"), ("modes",)),
    **dict.fromkeys(("latest", "last", "earlier"), ("modes",)),
    "rows": ("rows", "modes"),
    **dict.fromkeys(("response", "ahead"), ("sources", "wide_rows")),
    "free": ("rows",),
    "both": ("two", "wide_rows"),
    "weights": ("two", "wide_sources"),
    "chosen": ("sources",),
}
_OF_MODES = ("bend", "pull", "decay", "shrink", "strike", "wave", "facing", "scratch", "gain")
_OF_POINTS = (
    *("at", "slope", "power", "form", "secant", "drag", "root", "resist", "heft", "limit", "partner", "hammer", "low"),
    *("by", "begin", "span", "end", "slip", "state", "grip", "next", "level", "last", "now", "before", "open", "psi"),
    "near",
)
STRAND: Shapes = {
    **{f"bank.{name}": shape for name, shape in BANK.items()},
    **{f"recipe.{name}": ("modes",) for name in _OF_MODES},
    "recipe.late": ("one",),
    "recipe.asked": ("two",),
    "ends.weight": ("ends", "ways"),
    **{f"ends.{name}": ("ends",) for name in ("inertia", "tension", "ratio")},
    "ends.carried": ("ways", "wide_rows"),
    "ends.lean": ("ways", "wide_points"),
    "ends.load": ("ways", "ways"),
    **{f"ends.{name}": ("ways",) for name in ("reach", "struck")},
    **{f"points.{name}": ("points",) for name in _OF_POINTS},
    **{f"points.{name}": ("sources",) for name in ("force", "pushed")},
    "points.lost": ("two",),
    **{f"fold.{name}": ("points", "points") for name in ("answer", "column")},
    "fold.lean": ("ways", "wide_points"),
    "fold.load": ("ways", "ways"),
    **{f"fold.{name}": ("points",) for name in ("held", "base", "ease")},
    "fold.slant": ("points", "ways"),
    "fold.stale": ("one",),
    "stretch.square": ("stretched",),
    **{f"stretch.{name}": ("one", "stretched") for name in ("shape", "moved")},
    "stretch.sway": ("rows",),
    "stretch.lean": ("ways",),
    "stretch.sums": ("four",),
    "stretch.length": ("one",),
    **dict.fromkeys(("now", "before"), ("ends",)),
    "blow": ("one",),
    "felt": ("ways",),
    "rest": ("modes",),
    "rest_psi": ("points",),
}


def table(declaration: type, shapes: Shapes) -> NDArray[np.int64]:
    """A row for each array of a record and of those inside it: its word, the word where the record that holds it
    begins, how many dimensions it has, and which extents these are."""
    rows: list[tuple[int, ...]] = []

    def walk(parts: tuple[Field, ...], path: str, start: int) -> None:
        for part in parts:
            if part.kind == "record":
                walk(fields_of(part.of), f"{path}{part.name}.", start + part.offset)
            elif part.kind == "array" and part.shape is None:
                shape = shapes[path + part.name]
                ends = COLUMNS[shape[0]], COLUMNS[shape[-1]]
                rows.append(((start + part.offset) // 8, start // 8, len(shape), *ends))

    walk(fields_of(declaration), "", 0)
    return np.array(rows)


def room_of(shapes: Shapes, **extents: int) -> int:
    """Bytes that arrays take which are as large as that."""
    lengths = extents | {"one": 1, "two": 2, "three": 3, "four": 4}
    return sum(-(-8 * prod(lengths[name] for name in shape) // LINE) * LINE for shape in shapes.values())


@native
def spread_out(arrays: Any, e: Lengths, where: Any, top: Any) -> Any:
    """Have the arrays of the record that lies there lie at `top`, one after the other; where the next one may."""
    sizes = integers(address(e), arrays.size)
    for n in range(arrays.shape[0]):
        word, home, entries = where + 8 * arrays[n, 0], where + 8 * arrays[n, 1], 1
        words = integers(word, 3)
        for d in range(arrays[n, 2]):
            words[1 + d] = sizes[arrays[n, 3 + d]]
            entries *= words[1 + d]
        words[0] = top - home
        top += (8 * entries + LINE - 1) // LINE * LINE
    return top


@native
def resize(arrays: Any, e: Lengths, where: Any) -> None:
    """The same where they lie already, with room for the largest."""
    sizes = integers(address(e), arrays.size)
    for n in range(arrays.shape[0]):
        words = integers(where + 8 * arrays[n, 0], 3)
        for d in range(arrays[n, 2]):
            words[1 + d] = sizes[arrays[n, 3 + d]]


LANES = whole(1, float)


@native
def widen(e: Lengths) -> None:
    """What follows from the others."""
    e.one, e.two, e.three, e.four = 1, 2, 3, 4
    e.wide_rows, e.wide_sources, e.wide_points = in_vectors(e.rows), in_vectors(e.sources), in_vectors(e.points)


@native
def in_vectors(count: Any) -> Any:
    """pairs.whole."""
    return (count + LANES - 1) // LANES * LANES


@native
def padded(count: Any) -> Any:
    """Modes as banks have room for them."""
    return max((count + PADDING - 1) // PADDING * PADDING, PADDING)
