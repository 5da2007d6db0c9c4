"""A string of a network designed by compiled code alone: what weaving.strand_of makes of it, operation by operation.

A `Loom` holds what all strings of an instrument are made from and the room to make one in. Nothing here decides
anything anew: tests hold it to Python's design, bit by bit.
"""

from __future__ import annotations

from math import pi
from typing import Any

from engine.compiled import native
from engine.elementary import cos, exp, sin
from engine.layout import Integers, Rows, Vector, inside, record
from engine.opened import address, at
from engine.physics.designing import Bench, bench_at, find_modes
from engine.physics.excitation import EDGE
from engine.physics.network.extents import STRAND, Lengths, padded, spread_out, table, widen
from engine.physics.network.hanging import lean_on
from engine.physics.network.memory import Resonators, Strand, strand
from engine.physics.network.parts import MOST_DIRECTIONS
from engine.physics.network.placing import (
    PointCount,
    PortRecipe,
    count,
    give_way,
    outside,
    pressing,
    put_port,
    seen_from,
)
from engine.physics.responses import answer_rows
from engine.physics.retune import HIGHEST

MOST_PLANES, MOST_CHANNELS = 2, 2
ARRAYS = table(Strand, STRAND)


@record
class PlaneRecipe:
    """One of a string's planes of vibration (parts.Plane)."""

    angle: float
    raised: float  # its tension, of the string's
    lossy: float  # its loss, of the string's
    band: float


@record
class EarRecipe:
    """A place on a string that is heard (parts.Listening)."""

    place: float  # m, of the whole string
    angle: float
    width: float


@record
class PartRecipe:
    """Strings that are alike (parts.Strung); what else there is to say of them, their bench says (designing.py)."""

    bench: int  # bytes from the loom
    plan: int
    weight: float
    struck: float
    stretching: float
    stretched: int
    band: float
    planes: int  # how many, and the first of them
    plane: int
    ports: int
    port: int
    ears: int
    ear: int
    fretted: int  # 1: ears stay where they are, however short it is


@record
class BodyMode:
    """A mode of the body (parts.Resonance)."""

    frequency: float
    quality: float
    mass: float
    weighed: int
    blow: float
    moves: Vector = inside(MOST_DIRECTIONS)
    heard: Vector = inside(MOST_CHANNELS)


@record
class Loom:
    """What strings are made from, and where."""

    rate: float
    ways: int
    channels: int
    one_way: int  # 1: strings lose from the start what the body would take (loading.py)
    angles: Vector  # of the bridge's directions
    body: Rows[BodyMode]
    kept: Integers  # of its modes those that the rate has room for,
    sounding: int  # and how many they are
    parts: Rows[PartRecipe]
    planes: Rows[PlaneRecipe]
    ports: Rows[PortRecipe]
    ears: Rows[EarRecipe]
    # Of the string at hand:
    modes: int
    used: int  # the address up to which it was written
    tally: PointCount
    extents: Lengths
    tensions: Vector = inside(MOST_PLANES)
    facing: Vector = inside(MOST_PLANES)  # planes' angles
    wave: Vector
    decay: Vector
    swing: Vector
    plane: Integers
    pointing: Vector  # points' angles
    base: Vector  # 0 of a point that stands on the bridge


loom_at = at(Loom)


# --- modes ------------------------------------------------------------------------------------------------------------


@native
def find_planes(w: Loom, part: PartRecipe, b: Bench, band: Any) -> bool:
    """The modes of all planes, one after the other (weaving.planes_of, loading.loaded); not if there are none."""
    tension, s0, s1, s2, s3 = b.tension, b.s0, b.s1, b.s2, b.s3
    w.modes, found = 0, True
    for n in range(part.planes):
        own = w.planes[part.plane + n]
        b.tension = tension * own.raised
        b.s0, b.s1, b.s2, b.s3 = s0 * own.lossy, s1 * own.lossy, s2 * own.lossy, s3 * own.lossy
        b.band, b.rate = min(band, own.band), w.rate
        find_modes(b)
        found = found and b.modes > 0
        w.tensions[n], w.facing[n] = b.tension, own.angle
        for i in range(b.modes):
            at = w.modes + i
            w.wave[at], w.decay[at], w.swing[at], w.plane[at] = b.wave[i], b.decay[i], b.swing[i], n
        w.modes += b.modes
    b.tension, b.s0, b.s1, b.s2, b.s3 = tension, s0, s1, s2, s3
    return found


@native
def load(w: Loom, part: PartRecipe, length: Any) -> bool:
    """What the body takes of strings that drive it one-way (loading.loaded); not if that is more than there is."""
    for i in range(w.modes):
        n, own = w.plane[i], w.swing[i]
        real = imaginary = 0.0
        for m in range(w.sounding):
            mode, moved = w.body[w.kept[m]], 0.0
            for d in range(w.ways):
                moved = moved + part.weight * seen_from(w.angles[d], w.facing[n]) * mode.moves[d]
            there = 2.0 * pi * mode.frequency
            away, lost = there * there - own * own, own * (there / mode.quality)
            scale = moved * moved * own / (mode.mass * (away * away + lost * lost))
            real, imaginary = real + scale * lost, imaginary + scale * away
        stiffness = w.tensions[n] / length
        w.swing[i], w.decay[i] = own - stiffness * imaginary, w.decay[i] + stiffness * real
        if not w.swing[i] > 0.0:
            return False
    return True


@native
def fill_bank(b: Resonators, rate: Any, n: Any, swing: Any, decay: Any, mass: Any) -> None:
    """What advances a mode (weaving.bank)."""
    k = 1.0 / rate
    r, o = exp(-decay / rate), cos(swing / rate)
    low = 1.0 + 2.0 * r * o + r * r
    b.forward[n], b.backward[n] = 2.0 * r * o, r * r
    b.spread[n] = k * k / mass * (low / 4.0)
    b.inertia[n] = 0.5 * mass / (k * k)
    b.spring[n] = 0.5 * mass * ((1.0 - 2.0 * r * o + r * r) / low) / (k * k)


@native
def answer(b: Resonators, gain: Any, scratch: Any) -> None:
    """How far rows give way, in a step and in the next."""
    answer_rows(b.rows, b.spread, b.response, scratch)
    for i in range(gain.size):
        gain[i] = b.spread[i] * b.forward[i]
    answer_rows(b.rows, gain, b.ahead, scratch)
    for i in range(gain.size):
        gain[i] = scratch[i] = 0.0


# --- a string ---------------------------------------------------------------------------------------------------------


@native
def tally(w: Loom, part: PartRecipe, b: Bench) -> None:
    """How many points it has."""
    t = w.tally
    t.obstacles = t.rubs = t.links = t.loose = 0
    for n in range(part.ports):
        r = w.ports[part.port + n]
        count(t, r, address(w) + r.ground, b.length, b.strike)
    t.obstacle, t.rub, t.link = 0, t.obstacles, t.obstacles + t.rubs


@native
def measure(w: Loom, part: PartRecipe) -> None:
    """How large its arrays are."""
    e, t = w.extents, w.tally
    e.points, e.ends, e.ways, e.ears = t.obstacles + t.rubs + t.links, part.planes, w.ways, part.ears
    e.sources = e.points + e.ends
    e.rows, e.modes = e.sources + e.ears, padded(w.modes)
    e.stretched = e.modes if part.stretching > 0.0 else 0
    widen(e)


@native
def fits(w: Loom, part: PartRecipe) -> bool:
    """Whether there is room to make it."""
    t = w.tally
    return t.obstacles + t.rubs + t.links <= w.base.size


@native
def weave_string(w: Loom, part: PartRecipe, where: Any, top: Any, end: Any, band: Any) -> Any:
    """Lay a string, which its bench has brought to its pitch, at `where`, and its arrays from `top` on; where they end,
    or 0: it cannot sound."""
    b = bench_at(address(w) + part.bench)
    if not find_planes(w, part, b, min(band, part.band)):
        return 0
    tally(w, part, b)
    if not fits(w, part):
        return 0
    if w.one_way and not load(w, part, b.length):
        return 0
    measure(w, part)
    top = spread_out(ARRAYS, w.extents, where, top)
    w.used = max(w.used, min(top, end))
    if top > end:
        return 0
    s = strand(where)
    for n in range(part.ports):
        r = w.ports[part.port + n]
        put_port(s, w.tally, r, address(w) + r.ground, w.pointing, w.base, b.length, b.strike, w.rate)
    p, t = s.points, w.tally
    p.obstacles, p.rubs, p.links = t.obstacles, t.rubs, t.links
    if outside(p, b.length) or pressing(p):
        return 0
    fill_modes(w, part, b, s)
    fill_rows(w, part, b, s)
    hang_up(w, part, b, s)
    give_way(s, b, w.pointing, w.facing, w.tensions, w.modes)
    recall(w, part, b, s)
    answer(s.bank, s.recipe.gain, s.recipe.scratch)
    lean_on(s)
    return top


@native
def fill_modes(w: Loom, part: PartRecipe, b: Bench, s: Strand) -> None:
    """What advances its modes."""
    mass = 0.5 * b.density * b.length
    for i in range(w.modes):
        fill_bank(s.bank, w.rate, i, w.swing[i], w.decay[i], mass)


@native
def fill_rows(w: Loom, part: PartRecipe, b: Bench, s: Strand) -> None:
    """How its modes are seen: at points, at its ends, where it is heard."""
    rows, points, ends = s.bank.rows, s.points.psi.size, s.now.size
    for i in range(w.modes):
        n, wave = w.plane[i], w.wave[i]
        for k in range(points):
            rows[k, i] = seen_from(w.pointing[k], w.facing[n]) * sin(s.points.at[k] * wave)
        for j in range(ends):
            rows[points + j, i] = b.density / wave if j == n else 0.0
        for p in range(part.ears):
            ear = w.ears[part.ear + p]
            row = seen_from(ear.angle, w.facing[n]) * sin(ear_at(part, b, ear, p) * wave)
            if ear.width != 0.0:
                half = 0.5 * ear.width * wave
                row *= sin(half) / half
            rows[points + ends + p, i] = row


@native
def ear_at(part: PartRecipe, b: Bench, ear: EarRecipe, p: Any) -> Any:
    """Where it is heard (choirs.strung_for), m."""
    if part.fretted:
        return min(ear.place, (1.0 - EDGE) * b.length)
    return b.ears[p] * b.length


@native
def hang_up(w: Loom, part: PartRecipe, b: Bench, s: Strand) -> None:
    """How it hangs on the bridge (weaving._ends)."""
    e, points, length = s.ends, s.points.psi.size, b.length
    for j in range(part.planes):
        for d in range(w.ways):
            e.weight[j, d] = part.weight * seen_from(w.angles[d], w.facing[j])
        e.inertia[j] = b.density * length / 3.0
        e.tension[j] = w.tensions[j] / length
        e.ratio[j] = w.tensions[j] / b.tension
    for k in range(points + part.ears):
        row = k if k < points else k + part.planes
        for j in range(part.planes):
            if k < points:
                lever = seen_from(w.pointing[k], w.facing[j]) * (w.base[k] - s.points.at[k] / length)
            else:
                ear = w.ears[part.ear + k - points]
                lever = seen_from(ear.angle, w.facing[j]) * (1.0 - ear_at(part, b, ear, k - points) / length)
            for d in range(w.ways):
                e.carried[d, row] += lever * e.weight[j, d]
    for j in range(part.planes):
        share = seen_from(part.struck, w.facing[j])
        for d in range(w.ways):
            e.reach[d] += share * e.weight[j, d]
    for d in range(w.ways):
        e.struck[d] = (1.0 - b.strike) * e.reach[d]


@native
def recall(w: Loom, part: PartRecipe, b: Bench, s: Strand) -> None:
    """What its bank is made of again (weaving.recipe, weaving._stretch)."""
    r, k, number = s.recipe, 1.0 / w.rate, 0
    for i in range(r.bend.size):
        if i >= w.modes:
            r.bend[i] = 4.0 * HIGHEST / (k * k)
            continue
        n, wave = w.plane[i], w.wave[i]
        number = 0 if i > 0 and w.plane[i - 1] != n else number
        r.pull[i] = wave * wave / b.density * s.ends.ratio[n]
        r.bend[i] = b.stiffness * (wave * wave * (wave * wave)) / b.density
        if w.one_way:
            r.bend[i] = w.swing[i] * w.swing[i] + w.decay[i] * w.decay[i] - r.pull[i] * b.tension
        r.decay[i], r.shrink[i] = w.decay[i], exp(-w.decay[i] * k)
        r.facing[i] = seen_from(part.struck, w.facing[n])
        r.strike[i] = r.facing[i] * sin(b.strike * b.length * wave)
        s.bank.inject[i] = s.bank.spread[i] * r.strike[i]
        r.wave[i] = wave
        if part.stretching > 0.0:
            s.stretch.square[i] = wave * wave if number < part.stretched else 0.0
        number += 1
    r.mass, r.step, r.length, r.tension = 0.5 * b.density * b.length, k, b.length, b.tension
    r.stiffening = b.stiffness * (pi / b.length * (pi / b.length))
    s.stretch.gain = part.stretching * b.length / 16.0
