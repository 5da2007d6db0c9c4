"""Instruments whose strings are designed by compiled code, for any sample rate, when they are opened (export/doors.py).

Of such an instrument there is a memory without strings, and for each key a recipe: the few numbers that a rate does not
change and that its row of keys does not say. What is made of them is what bank.py makes for the rate, bit by bit.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from engine.compiled import floats, inlined, integers, native
from engine.elementary import exp, tan
from engine.layout import Rows, fields_of, record, size_of, words_of
from engine.opened import address, at
from engine.physics import contact
from engine.physics.block import MOST_AT_ONCE
from engine.physics.block import ROWS as WORK_ROWS
from engine.physics.designing import Bench, bench_at, design
from engine.physics.filling import fill, gap, give_at_rest
from engine.physics.network.extents import in_vectors
from engine.synth import circuit, memory, modal_string, output, room, strips
from engine.synth.choral import Bridgework, bridgework_at, lay_choir, settle_parts
from engine.synth.decimate import Decimator
from engine.synth.decimate import State as Filtered
from engine.synth.grounding import keep_modes, lay_ground
from engine.synth.keyed import Blueprint, bring_to, plan_at, settle_string
from engine.synth.memory import Machine, machine
from engine.synth.modal_string import BLANK, ModalParts


@record
class Extents:
    """What arrays of a string may be as large as."""

    modes: int
    rank: int
    points: int
    ears: int
    bodies: int
    rows: int  # of rank and ears together
    wide: int  # points, in whole vectors
    wide_rank: int
    wide_rows: int
    one: int
    two: int
    three: int
    work: int  # rows of a block of points that are solved at once
    together: int  # and how many these are


extents_at = at(Extents)
# What the arrays of a string are as large as (modal_string.consistent).
SHAPES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("c.forward", "c.backward", "c.inject", "c.spread", "c.spring", "c.resistance"), ("modes",)),
    **dict.fromkeys(("c.rest", "s.even", "s.odd", "s.whole", "t.bend", "t.pull", "t.decay", "t.shrink"), ("modes",)),
    **dict.fromkeys(("t.strike", "shape", "wave"), ("modes",)),
    "c.rows": ("rows", "modes"),
    "c.mix": ("rank", "wide"),
    "c.shares": ("points", "wide_rank"),
    **dict.fromkeys(("c.answer", "c.ahead"), ("rank", "wide_rows")),
    **dict.fromkeys(("c.response", "c.response_ahead", "c.remainder", "t.remainder"), ("points", "wide")),
    **dict.fromkeys(("c.direct", "t.direct", "c.heard", "c.heard_ahead"), ("points", "ears")),
    "c.share": ("bodies", "points"),
    "c.grip": ("bodies",),
    "c.height": ("wide",),
    **dict.fromkeys(("c.law.slope", "c.rest_psi", "c.rest_force"), ("points",)),
    "c.inertia": ("one",),
    "s.both": ("two", "wide_rows"),
    "s.weights": ("two", "wide_rank"),
    "s.free": ("two", "wide"),
    **dict.fromkeys([f"s.touch.{name}" for name in ("now", "before", "psi", "force", "pushed")], ("wide",)),
    "s.touch.lost": ("one",),
    **dict.fromkeys(("s.earlier", "s.push", "s.none"), ("wide",)),
    "s.work": ("work", "together"),
    "s.owed": ("three",),
    "s.clock": ("one",),
}
WORDS = words_of(ModalParts)
_SAME = WORDS["c.resistance"], WORDS["c.spread"]  # metered in research runs only


def _under(path: str, names: tuple[str, ...]) -> bool:
    return any(path == name or path.startswith(f"{name}.") for name in names)


OWNED = {path for path in SHAPES if not _under(path, (*BLANK, "c.resistance"))}  # of these a key has its own
_EXTENT = {part.name: part.offset // 8 for part in fields_of(Extents)}
# A row for each array: its word, how many dimensions, which extents these are, and whether a key owns it.
ARRAYS = np.array([
    (WORDS[path], len(shape), _EXTENT[shape[0]], _EXTENT[shape[-1]], path in OWNED)
    for path, shape in SHAPES.items()
])  # fmt: skip
COUNT = len(ARRAYS)
POWER, FORM, SECANT, DRAG, HALF, UNIT, FOUR, GRAIN, SLACK, RULE = (
    WORDS[f"c.law.{name}"]
    for name in ("power", "form", "secant", "drag", "half", "one", "four", "grain", "slack", "rule")
)
MASS, TENSION, STEP = (WORDS[f"t.{name}"] for name in ("mass", "tension", "step"))
_GRAIN, _SLACK = float(1e4 * np.finfo(float).eps), float(16.0 * np.sqrt(np.finfo(float).eps))


@record
class KeyRecipe:
    """A key, its pitch, that which its string has by itself (Hz), and how much harder it is struck."""

    key: int
    pitch: float
    own: float
    harder: float


@record
class Made:
    """An instrument of such strings. Places count from the beginning of the memory that it lies in."""

    machine: int
    bench: int  # of strings by themselves
    plan: int
    bridgework: int  # of those that share a bridge, or 0
    block: int  # from the machine's beginning: where its strings are put,
    room: int  # and how many bytes that has
    first: int  # recipe
    last: int  # and the one after the last
    filters: int  # among the numbers: how many, then of each the lowest rate, latency, size and taps
    edge: float  # Hz, of a circuit
    quality: float  # 0: it does not resonate
    band: float  # Hz: modes above are not heard
    smoothing: float  # s: with which strings follow the player,
    fade: float  # and in which a stolen voice is gone
    window: float  # s in which the keys of a strummed chord come
    share: float  # of a room around it,
    decay: float  # s
    across: float  # s; 0: there is none


@native
def ready(where: Any, made: Made, recipes: Rows[KeyRecipe], numbers: Any, rate: Any) -> None:
    """Make an instrument ready for a sample rate, in a memory that is as it was saved."""
    m = machine(where + made.machine)
    settle(m, made, numbers, rate)
    if made.bridgework:
        top = address(m) + made.block
        design_together(m, bridgework_at(where + made.bridgework), top, top + made.room)
    else:
        design_apart(m, bench_at(where + made.bench), plan_at(where + made.plan), made, recipes)
    for v in range(2, m.own_words.shape[0]):
        for i in range(m.own.size):
            w = m.own[i]
            m.own_words[v, w] = 2 * m.own_words[v - 1, w] - m.own_words[v - 2, w]


@native
def design_apart(m: Machine, b: Bench, p: Blueprint, made: Made, recipes: Rows[KeyRecipe]) -> None:
    """Strings that stand by themselves."""
    settle_string(b, p)
    b.rate = m.rate
    b.band = min(made.band, 0.45 * b.rate)
    top = made.block
    for n in range(made.first, made.last):
        top = string(m, b, p, recipes[n], top, made.block + made.room)


@native
def design_together(m: Machine, w: Bridgework, top: Any, end: Any) -> None:
    """Strings that share a bridge, which begin at `top`."""
    w.loom.rate = m.rate
    settle_parts(w)
    keep_modes(w, m.rate)
    lay_ground(m, w, top, end)
    for n in range(w.choirs.size):
        top = lay_choir(m, w, w.choirs[n], top, end)


# --- what belongs to all strings --------------------------------------------------------------------------------------

_SIZE = size_of(Machine) // 8  # words
_PLACES = {part.name: part.offset // 8 for part in fields_of(Machine)}
_FILTER, _FILTERED = _PLACES["filter"], _PLACES["filtered"]
_TAPS, _LATENCY = words_of(Decimator)["taps"], words_of(Decimator)["latency"]
_HISTORY = words_of(Filtered)["history"]
_FINISH, _DRIFT, _GAIN = _PLACES["finish"], words_of(output.Output)["drift"], words_of(output.Output)["gain"]
_WIRING, _B0 = _PLACES["wiring"], words_of(circuit.Wiring)["b0"]


@native
def settle(m: Machine, made: Made, numbers: Any, rate: Any) -> None:
    """The times, filters and circuit of a machine (bank.lay_out)."""
    m.rate = rate * m.oversample
    m.glide = 1.0 - exp(-memory.GLIDE / (made.smoothing * rate))
    m.fade = 1.0 / (made.fade * m.rate)
    m.hand.window = int(rounded(made.window * rate))
    m.turn = max(rounded(strips.TURN * rate), 1.0) * m.oversample
    words, reals = integers(address(m), _SIZE), floats(address(m), _SIZE)
    t = tan(pi * output.DC_EDGE / rate)
    reals[_FINISH + _DRIFT] = 2.0 * t / (1.0 + t)
    reals[_FINISH + _GAIN] = (1.0 if m.outputs == 2 else np.sqrt(0.5)) / (1.0 + t)
    if made.edge > 0.0:
        wire(reals, made, m.rate)
    if made.across > 0.0:
        room.build(m.room, made.share, made.decay, made.across, rate)
    if m.oversample == 1:
        return
    count, n, chosen = int(numbers[made.filters]), made.filters + 1, made.filters + 1
    for f in range(count):
        if f == 0 or numbers[n] <= rate:
            chosen = n
        n += 3 + int(numbers[n + 2])
    size = int(numbers[chosen + 2])
    m.latency = int(numbers[chosen + 1])
    words[_FILTER + _LATENCY] = m.latency
    words[_FILTER + _TAPS + 2], words[_FILTERED + _HISTORY + 2] = size, 2 * size
    for i in range(size):
        m.filter.taps[0, i] = numbers[chosen + 3 + i]


@native
def wire(reals: Any, made: Made, rate: Any) -> None:
    """circuit.design."""
    exact = min(made.edge, circuit.EXACT * rate)
    t = tan(pi * exact / rate) * (made.edge / exact)
    b0 = _WIRING + _B0
    if made.quality == 0.0:
        reals[b0], reals[b0 + 1], reals[b0 + 2] = 1.0 / (1.0 + t), -1.0 / (1.0 + t), 0.0
        reals[b0 + 3], reals[b0 + 4] = (t - 1.0) / (t + 1.0), 0.0
        return
    square, bend = t * t, t / made.quality
    all_of_it = 1.0 + bend + square
    low = square / all_of_it
    reals[b0], reals[b0 + 1], reals[b0 + 2] = low, 2.0 * low, low
    reals[b0 + 3], reals[b0 + 4] = 2.0 * (square - 1.0) / all_of_it, (1.0 - bend + square) / all_of_it


@inlined
def rounded(x: Any) -> Any:
    """The nearest whole number, as Python rounds."""
    return (x + 6755399441055744.0) - 6755399441055744.0


# --- strings ----------------------------------------------------------------------------------------------------------


@native
def string(m: Machine, b: Bench, p: Blueprint, r: KeyRecipe, top: Any, end: Any) -> Any:
    """Design the string of a key and put its arrays there, if it can sound; where the next one's go."""
    key = m.keys[r.key]
    p.harder = r.harder
    if not bring_to(b, p, key, r.pitch, r.own):
        return top
    design(b)
    if b.modes == 0:
        return top
    row = m.key_words[r.key]
    top = place(b, row, top)
    if top > end:
        return top
    say(b, row)
    mine = modal_string.of_key(m, r.key)
    fill(b, mine.c, mine.t, mine.shape, mine.wave)
    give_at_rest(b, mine.c, m.resting[r.key])
    key.gap = gap(b, mine.c)
    key.ready = 1
    return top


@native
def measure(b: Bench, e: Extents) -> None:
    """What its arrays are as large as."""
    e.modes, e.rank, e.points, e.ears, e.bodies = b.room, b.rank, b.points, b.pickups, b.bodies
    e.rows = b.rank + b.pickups
    e.wide, e.wide_rank, e.wide_rows = in_vectors(e.points), in_vectors(e.rank), in_vectors(e.rows)
    e.one, e.two, e.three = 1, 2, 3
    e.together = min(b.points, MOST_AT_ONCE)
    e.work = WORK_ROWS + e.together


@native
def place(b: Bench, row: Any, top: Any) -> Any:
    """Where a key's arrays are and how large, into its row of words."""
    sizes = b.extents
    measure(b, extents_at(address(sizes)))
    for n in range(COUNT):
        word, entries = ARRAYS[n, 0], 1
        for d in range(ARRAYS[n, 1]):
            row[word + 1 + d] = sizes[ARRAYS[n, 2 + d]]
            entries *= row[word + 1 + d]
        row[word] = 0
        if ARRAYS[n, 4]:
            row[word] = top
            top += (8 * entries + 63) // 64 * 64
    row[_SAME[0]] = row[_SAME[1]]
    return top


@native
def say(b: Bench, row: Any) -> None:
    """The numbers in it: its contact law (contact.law), and what retuning begins from."""
    reals, power = floats(address(row), row.size), (b.exponent - 1.0) / 2.0
    row[FORM], row[RULE] = contact.GENERAL, b.rule
    if power == 0.0:
        row[FORM] = contact.LINEAR
    elif power == 0.25:
        row[FORM] = contact.QUARTER
    elif power == 0.5:
        row[FORM] = contact.HALF
    reals[POWER], reals[SECANT], reals[DRAG] = power, 2.0 / (power + 1.0), 0.5 * b.damping * b.rate
    reals[HALF], reals[UNIT], reals[FOUR], reals[GRAIN], reals[SLACK] = 0.5, 1.0, 4.0, _GRAIN, _SLACK
    reals[MASS], reals[TENSION], reals[STEP] = 0.5 * b.density * b.length, b.tension, 1.0 / b.rate
