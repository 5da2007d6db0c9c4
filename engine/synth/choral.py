"""The strings of every key on a shared bridge, by compiled code: what choirs.py makes of them, operation by operation.

Of a key come in only the pitches that its strings have by themselves, which were found by ear and stay.
"""

from __future__ import annotations

from math import inf, pi
from typing import Any

import numpy as np

from engine.aligned import LINE
from engine.compiled import integers, native
from engine.elementary import exp2, power
from engine.layout import Rows, record, size_of
from engine.opened import address, at
from engine.physics.designing import BAND, Bench, bench_at
from engine.physics.network.extents import Shapes, resize, spread_out, table, widen
from engine.physics.network.memory import NOBODY, Strand, strand
from engine.physics.network.parts import AS_LOUD, FIXED
from engine.physics.network.placing import BARRIER, FINGER, is_there, seen_from
from engine.physics.network.stranding import Loom, PartRecipe, ear_at, weave_string
from engine.synth.keyed import (
    DETUNED,
    QUALITY,
    SCALE,
    SIXTY_DECIBELS,
    WEIGHT,
    Blueprint,
    above,
    bring_to,
    bulges,
    cut,
    plan_at,
    settle_string,
)
from engine.synth.memory import HIT, PULSES, Choir, KeyRow, Machine, choir

LATER = 1e12  # s: when a damper comes that nobody lets down
SWIFTEST, SLOWEST, CALMED = 5e-3, 60e-3, 12.6  # s: a stolen note's end; that over its lowest partial leaves -86 dB
THROWN = 0
_EACH = ("strands", "kind", "onset", "share", "lasting", "register", "position", "point", "hammer", "felt", "damped")
CHOIR: Shapes = {
    **dict.fromkeys(_EACH, ("strings",)),
    "drawn": ("pulses", "strings"),
    "knocked": ("pulses",),
    **dict.fromkeys(("mobility", "weight", "height"), ("hammers",)),
    "met": ("planes", "four"),
    "purse": ("strings", "three"),
    "landing": ("two",),
    "aside": ("planes",),
    "leaning": ("ears", "planes"),
}
ARRAYS = table(Choir, CHOIR)


@record
class PlayedRecipe:
    """How keys sound strings that are alike (assembly.Played); a part's of the same number."""

    kind: int  # PULSED | HIT | TAKEN
    courses: int
    mass: float  # kg of its hammer
    damped: float  # s in which its damper takes hold, or 0
    loose: int  # how many things may lie on it,
    rattle: int  # and the first of them
    knocks: int  # 1: it strikes the body, too:
    knock: float  # N
    knocking: float  # s
    after: float


@record
class RattleRecipe:
    """Something loose (assembly.Rattle)."""

    at: float  # m
    mass: float
    weight: float
    height: float


@record
class StringRecipe:
    """A string of a key."""

    part: int
    own: float  # Hz: by itself
    even: float  # Hz that it sounds at, but for
    cents: float
    retuned: float  # times that it is tuned to
    onset: float  # s
    force: float
    register: int
    harder: float  # than its part's stroke


@record
class ChoirRecipe:
    """A place where a key is played: its row of keys, its pitch, and its strings, from the first on."""

    place: int
    pitch: float  # Hz
    first: int
    count: int


@record
class AnsweringRecipe:
    """A string that nobody plays."""

    part: int
    length: float
    tension: float


@record
class Bridgework:
    """All that an instrument of strings on one bridge is designed from."""

    loom: Loom
    row: KeyRow  # of whichever string is at hand
    lead: int  # the bench of the preset's own string, bytes from here,
    plan: int  # and what belongs to it
    radiates: float  # Hz from which the body does
    apart: float  # times what the preset says: how far apart the strings of a key are,
    scale: float  # its body's frequencies,
    weight: float  # masses
    quality: float  # and qualities
    played: Rows[PlayedRecipe]
    rattles: Rows[RattleRecipe]
    choirs: Rows[ChoirRecipe]
    strings: Rows[StringRecipe]
    loose: int  # things on the strings at hand, and hammers before them
    answering: Rows[AnsweringRecipe]


bridgework_at = at(Bridgework)


@native
def alter(w: Bridgework, what: Any, value: Any) -> None:
    """Have another value for what the preset says of all of it (keyed.change)."""
    if what == DETUNED:
        w.apart = value
    elif what == SCALE:
        w.scale = value
    elif what == WEIGHT:
        w.weight = value
    elif what == QUALITY:
        w.quality = value


@native
def of_part(w: Bridgework, n: Any) -> PartRecipe:
    """Strings that are alike, by their number."""
    return w.loom.parts[n]


@native
def settle_parts(w: Bridgework) -> None:
    """What follows of every part's own string, and the body as it is to be."""
    for n in range(w.loom.body.size):
        mode = w.loom.body[n]
        mode.frequency, mode.quality = mode.frequency * w.scale, mode.quality * w.quality
        if mode.weighed != FIXED:
            mode.mass *= w.weight
        if mode.weighed == AS_LOUD:
            for c in range(mode.heard.size):
                mode.heard[c] *= w.weight
    w.radiates *= w.scale
    for n in range(w.loom.parts.size):
        part = of_part(w, n)
        settle_string(bench_at(address(w) + part.bench), plan_at(address(w) + part.plan))


@native
def tune(w: Bridgework, r: StringRecipe) -> Any:
    """The pitch of a string by itself."""
    if w.apart == 1.0:
        return r.own
    return r.even * exp2(w.apart * r.cents / 1200.0) * r.retuned


@native
def bring(w: Bridgework, r: StringRecipe) -> Any:
    """Its part's bench for a string, and w.row for what sounds it; not if there is none."""
    part = of_part(w, r.part)
    b, p = bench_at(address(w) + part.bench), plan_at(address(w) + part.plan)
    p.harder = r.harder
    there = bring_to(b, p, w.row, r.even * exp2(w.apart * r.cents / 1200.0), tune(w, r))
    ground(w, part, b, p)
    return there


@native
def ground(w: Bridgework, part: PartRecipe, b: Bench, p: Blueprint) -> None:
    """Have what is under a string end where that ends, and what takes it along as long as the key says."""
    for n in range(part.ports):
        port = w.loom.ports[part.port + n]
        if port.kind == BARRIER:
            g, own = bench_at(address(w) + port.ground), plan_at(address(w) + port.plan)
            g.surface, g.stop, g.asked, g.length = own.surface, own.stop, own.points, b.length
            if port.shortened:
                cut(g, own, 0.99 * b.length)
            g.bulge = bulges(g, own)
        elif port.kind == FINGER:
            port.duration = w.row.duration


# --- a key ------------------------------------------------------------------------------------------------------------


@native
def lay_choir(m: Machine, w: Bridgework, r: ChoirRecipe, top: Any, end: Any) -> Any:
    """Design the strings of a place and put them at `top`, if they can sound; where the next one's go."""
    key, after = m.keys[r.place], begin(w, r, top, end)
    lows, lowest = -inf, inf
    for n in range(r.count):
        own = w.strings[r.first + n]
        part = of_part(w, own.part)
        if after and bring(w, own):
            after = weave_string(w.loom, part, strand_at(top, n), after, end, min(BAND, 0.45 * m.rate))
        else:
            after = 0
        if after == 0:
            clear(top, w.loom.used)
            return top
        b, p = bench_at(address(w) + part.bench), strand(strand_at(top, n)).points
        if n == 0:
            lead(w, key, r.pitch)
            knock(choir(top), w.played[own.part], key, own.harder)
        tell(m, w, choir(top), r, n)
        lowest = min(lowest, np.sqrt(b.tension / b.density) / (2.0 * b.length))
        for k in range(p.obstacles):
            if p.hammer[k] == NOBODY and not p.slip[k] < inf:
                lows = max(lows, p.low[k])
    c = choir(top)
    finish(w, c, lowest)
    key.gap, key.ready = -lows, 1
    after = (after + LINE - 1) // LINE * LINE
    m.key_words[r.place, 0], m.key_words[r.place, 1] = top - address(m), (after - top) // 8
    return after


STEP, HEAD = (-(-size_of(kind) // LINE) * LINE for kind in (Strand, Choir))  # bytes of their records


@native
def strand_at(where: Any, n: Any) -> Any:
    """Where a string of the choir that lies there has its record."""
    return where + HEAD + n * STEP


@native
def clear(where: Any, end: Any) -> None:
    """As if nothing had been there."""
    words = integers(where, (end - where) // 8)
    for n in range(words.size):
        words[n] = 0


@native
def begin(w: Bridgework, r: ChoirRecipe, where: Any, end: Any) -> Any:
    """A choir's own arrays; where those of its strings begin, or 0: there is no room."""
    e, after = w.loom.extents, strand_at(where, r.count)
    w.loom.used = where
    if after > end:
        return 0
    e.strings, e.planes, e.pulses, e.hammers = r.count, 2 * r.count, PULSES, r.count
    for n in range(r.count):
        e.hammers += w.played[w.strings[r.first + n].part].loose
    e.ears = of_part(w, w.strings[r.first].part).ears
    widen(e)
    after = spread_out(ARRAYS, e, where, after)
    w.loom.used = min(after, end)
    if after > end:
        return 0
    c = choir(where)
    for n in range(r.count):
        c.strands[n] = strand_at(where, n) - where
        for p in range(PULSES):
            c.drawn[p, n] = 1.0
    c.landing[1] = 1
    w.loose = r.count
    return after


@native
def lead(w: Bridgework, key: KeyRow, pitch: Any) -> None:
    """What a key's row has of the first of its strings (bank._fill_string)."""
    row, b, p = w.row, bench_at(address(w) + w.lead), plan_at(address(w) + w.plan)
    key.length, key.tension, key.stiffening = row.length, row.tension, row.stiffening
    key.force, key.duration, key.position = row.force, row.duration, row.position
    key.release = SIXTY_DECIBELS / (p.release * power(above(b, p, pitch), p.tracking_release))


@native
def knock(c: Choir, played: PlayedRecipe, key: KeyRow, harder: Any) -> None:
    """What strikes the body beside a key's strings."""
    c.longest = 0.0
    if played.knocks:
        c.knock = played.knock * harder / (key.force if key.force != 0.0 else 1.0)
        c.knocking, c.after = played.knocking / key.duration, played.after
        c.longest = played.after + played.knocking / key.duration


@native
def tell(m: Machine, w: Bridgework, c: Choir, r: ChoirRecipe, n: Any) -> None:
    """What a choir says of one of its strings (choirs._choir)."""
    own, row, key, k = w.strings[r.first + n], w.row, m.keys[r.place], 1.0 / m.rate
    played, part = w.played[own.part], of_part(w, own.part)
    b, p = bench_at(address(w) + part.bench), strand_of(c, n).points
    c.kind[n], c.register[n], c.onset[n] = played.kind, own.register, own.onset * m.rate
    c.share[n] = own.force * row.force / (key.force if key.force != 0.0 else 1.0)
    c.lasting[n], c.position[n], c.damped[n] = row.duration / key.duration, row.position, played.damped * m.rate
    c.latest, c.longest = max(c.latest, c.onset[n]), max(c.longest, c.lasting[n])
    hitting = 0
    while w.strings[r.first + hitting].part != own.part:
        hitting += 1
    c.hammer[n] = hitting if played.kind == HIT else NOBODY
    c.mobility[n], c.weight[n], c.height[n] = k * k / played.mass, 0.0, 0.0
    c.point[n] = c.felt[n] = NOBODY
    for j in range(p.psi.size - 1, -1, -1):
        if p.slip[j] < inf:
            c.point[n] = j
        if j >= p.obstacles + p.rubs and p.begin[j] >= LATER * m.rate:
            c.felt[n] = j
        if p.hammer[j] != NOBODY:
            p.hammer[j] = hitting if p.hammer[j] == THROWN else p.hammer[j] + w.loose - THROWN - 1
    lay_loose(w, c, played, b.length, k)
    p.timed = 1 if moving(w, part, b) else 0
    lean(w, c, part, b, n)


@native
def strand_of(c: Choir, n: Any) -> Strand:
    """One of a choir's strings."""
    return strand(address(c) + c.strands[n])


@native
def lay_loose(w: Bridgework, c: Choir, played: PlayedRecipe, length: Any, k: Any) -> None:
    """What lies loose on a string."""
    for n in range(played.loose):
        rattle, h = w.rattles[played.rattle + n], w.loose
        if rattle.at < length:
            c.mobility[h], c.weight[h], c.height[h] = k * k / rattle.mass, rattle.weight, rattle.height
            w.loose += 1


@native
def moving(w: Bridgework, part: PartRecipe, b: Bench) -> bool:
    """Whether something that touches a string comes, goes or moves while it sounds."""
    for n in range(part.ports):
        port = w.loom.ports[part.port + n]
        if port.staying == 0 and port.start < LATER and is_there(port, b.length, b.strike):
            return True
    return False


@native
def lean(w: Bridgework, c: Choir, part: PartRecipe, b: Bench, n: Any) -> None:
    """What pickups see of a string that leans (choirs._leaning)."""
    for p in range(min(part.ears, c.leaning.shape[0])):
        ear = w.loom.ears[part.ear + p]
        for plane in range(part.planes):
            angle = w.loom.planes[part.plane + plane].angle
            c.leaning[p, 2 * n + plane] = seen_from(ear.angle, angle) * ear_at(part, b, ear, p) / b.length


@native
def finish(w: Bridgework, c: Choir, lowest: Any) -> None:
    """What follows of all its strings."""
    e = w.loom.extents
    e.hammers, e.strings, e.planes, e.ears = w.loose, c.strands.size, 2 * c.strands.size, c.leaning.shape[0]
    resize(ARRAYS, e, address(c))
    c.calming = 2.0 * pi * lowest
    c.ending = min(max(CALMED / c.calming, SWIFTEST), SLOWEST)
