"""A voice's strings on a bridge that they share with others: what they are made of, how they come, go and are bent.

A voice has its own copy of its key's choir, in one block that can lie anywhere. All voices' strings step together, so
that there is no `run` here (together.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.aligned import LINE
from engine.compiled import copy, inlined, integers, native
from engine.elementary import sin
from engine.layout import Integers, fields_of, seen, size_of, words_at
from engine.opened import address
from engine.pairs import whole
from engine.physics.excitation import EDGE
from engine.physics.hearing import DIFFERENCE
from engine.physics.network import coming
from engine.physics.network.counterparts import leave
from engine.physics.network.fretting import stands
from engine.physics.network.memory import GONE, NOBODY, THERE, WAITING, Bridge, Island, Strand, island, strand
from engine.physics.network.metered import moving, stored, strained
from engine.physics.problem import Pickup
from engine.physics.string import Array
from engine.synth import modal_string
from engine.synth.memory import (
    FREE,
    HIT,
    PULSES,
    REGISTERS,
    TAKEN,
    TO_STRINGS,
    Choir,
    Joint,
    Machine,
    choir,
    joint_at,
)
from engine.synth.passing import summed
from engine.vectors import PADDING

MOST_COURSES = 8


class ChoirParts(NamedTuple):
    """The strings of a key, or of a voice."""

    block: Integers  # that begins with a Choir


class ChoirDesign(NamedTuple):
    """The strings of a key made ready for a sample rate."""

    block: NDArray[np.int64]
    rate: float
    channels: int
    directions: int


NAME, PARTS, DESIGN = "network", ChoirParts, ChoirDesign
SHAPE = modal_string.SHAPE
OWN, BLANK = ("block",), ()


def columns(pickups: Sequence[Pickup]) -> int:
    """Nothing is given for a string by itself."""
    return len(pickups)


def laid_out(d: ChoirDesign) -> ChoirParts:
    """The strings of a key."""
    return ChoirParts(d.block)


def resting(d: ChoirDesign) -> Array:
    """What is heard of a key's strings at rest."""
    return np.zeros(d.channels + d.directions)


# --- what is looked at before it is played ----------------------------------------------------------------------------


def consistent(string: ChoirParts, pickups: int, columns: int) -> bool:
    """Whether the kernels stay within this block, whatever numbers are in it; columns: directions behind channels."""
    block = string.block
    start, size = int(block.ctypes.data), block.nbytes
    if not _inside(Choir, start, start, size):
        return False
    own = seen(Choir, start)
    count, directions = own.strands.size, columns - pickups
    each = [own.register, own.kind, own.onset, own.share, own.lasting, own.position, own.point, own.hammer]
    each += [own.felt, own.damped]
    hammers = own.mobility.size
    if not 1 <= count <= MOST_COURSES or {array.size for array in each} != {count}:
        return False
    if not count <= hammers == own.weight.size == own.height.size:
        return False
    if own.drawn.shape != (PULSES, count) or own.knocked.size != PULSES:
        return False
    if not np.isin(own.register, range(REGISTERS + 1)).all():
        return False
    if (own.met.shape, own.purse.shape, own.landing.size) != ((2 * count, 4), (count, 3), 2):
        return False
    for n, place in enumerate(own.strands.tolist()):
        if place % 8 or not 0 <= place <= size - size_of(Strand) or not _inside(Strand, start + place, start, size):
            return False
        s = seen(Strand, start + place)
        most = s.points.psi.size
        known = NOBODY <= own.point[n] < most and NOBODY <= own.felt[n] < most and NOBODY <= own.hammer[n] < count
        if not known or not _fitting(s, hammers, directions):
            return False
    return True


def _inside(declaration: type, at: int, start: int, size: int) -> bool:
    """Whether all arrays of a record lie within a block, with the rest of the cache line that the last entry is in."""
    if not start <= at <= start + size - size_of(declaration):
        return False
    for part in fields_of(declaration):
        if part.kind == "record" and not _inside(part.of, at + part.offset, start, size):
            return False
        if part.kind == "array" and part.shape is None:
            offset, *shape = words_at(at + part.offset, part.words)
            first = at + offset
            if min(shape) < 0 or first % 8 or not start <= first <= start + size + LINE * (-8 * prod(shape) // LINE):
                return False
    return True


def _fitting(s: Strand, hammers: int, directions: int) -> bool:
    """Whether the arrays of a string fit each other, and numbers that count or point stay within them."""
    b, p, e, f, t, r = s.bank, s.points, s.ends, s.fold, s.stretch, s.recipe
    modes, rows, points, ends = b.forward.size, b.free.size, p.psi.size, s.now.size
    wide, broad = whole(rows, float), whole(points, float)
    across = {modes} | {points}
    long = [b.backward, b.spread, b.inject, b.inertia, b.spring, b.even, b.odd, b.latest, b.last, b.earlier, s.rest]
    long += [r.bend, r.pull, r.decay, r.shrink, r.strike, r.wave, r.facing, r.scratch, r.gain]
    each = [p.slope, p.power, p.form, p.secant, p.drag, p.root, p.resist, p.heft, p.limit, p.partner, p.hammer, p.low]
    each += [p.by, p.begin, p.span, p.end, p.slip, p.state, p.grip, p.next, p.level, p.last, p.now, p.before, p.open]
    each += [f.held, f.base, f.ease, s.rest_psi, p.near, p.at]
    sides = [e.inertia, e.tension, e.ratio, s.before]
    ways = [e.reach, e.struck, t.lean, s.felt]
    stretched = modes if t.square.size else 0
    shapes = {
        **{id(array): (modes,) for array in long},
        **{id(array): (points,) for array in each},
        **{id(array): (ends,) for array in sides},
        **{id(array): (directions,) for array in ways},
    }
    named = [*long, *each, *sides, *ways]
    tables = [b.rows, b.response, e.weight, e.carried, e.lean, e.load, f.answer, f.lean, f.load, f.column, f.slant]
    return (
        across != {0}
        and modes % PADDING == 0
        and modes > 0
        and 1 <= ends <= 2
        and rows >= points + ends
        and all(array.shape == shapes[id(array)] for array in named)
        and [table.shape for table in tables]
        == [
            *[(rows, modes), (points + ends, wide), (ends, directions), (directions, wide), (directions, broad)],
            *[(directions, directions), (points, points), (directions, broad), (directions, directions)],
            *[(points, points), (points, directions)],
        ]
        and (t.square.size, t.shape.shape, t.moved.shape) == (stretched, (1, stretched), (1, stretched))
        and (t.sway.size, t.sums.size, t.length.size, f.stale.size, s.blow.size, p.lost.size) == (rows, 4, 1, 1, 1, 2)
        and {p.force.size, p.pushed.size, b.chosen.size} == {points + ends}
        and min(p.obstacles, p.rubs, p.links) >= 0
        and b.ahead.shape == b.response.shape
        and (b.both.shape, b.weights.shape) == ((2, wide), (2, whole(points + ends, float)))
        and (r.late.size, r.asked.size) == (1, 2)
        and p.obstacles + p.rubs + p.links == points
        and bool(np.isin(p.form, range(4)).all() and np.isin(p.state, range(3)).all())
        and bool(((p.partner >= NOBODY) & (p.partner < points)).all())
        and bool((p.partner[p.obstacles : p.obstacles + p.rubs] >= 0).all())
        and bool(((p.hammer >= NOBODY) & (p.hammer < hammers)).all())
    )


# --- compiled ---------------------------------------------------------------------------------------------------------


@inlined
def of_voice(m: Machine, v: int) -> Choir:
    """A voice's own strings."""
    return choir(address(m) + m.voice_words[v, 0])


@inlined
def of_key(m: Machine, key: int) -> Choir:
    """A key's strings, as designed."""
    return choir(address(m) + m.key_words[key, 0])


@inlined
def joint(m: Machine) -> Joint:
    """What all voices have in common."""
    return joint_at(address(m) + m.joint)


@inlined
def at_place(c: Choir, n: int) -> Strand:
    """One string of a choir."""
    return strand(address(c) + c.strands[n])


@native
def take(m: Machine, v: int) -> None:
    """Have a copy of the key's strings in the place of what the voice had before, at rest and by themselves."""
    j = joint(m)
    leave_all(m, v)
    lay_down(m, v)
    if j.hammers:
        take_hammers(hammers_of(island(address(m) + j.island)), of_voice(m, v), j.hammers * v)


@native
def lay_down(m: Machine, v: int) -> None:
    """A copy of the strings of a voice's place where it has its own, in the island's list, from this moment on."""
    j, designed, mine = joint(m), m.key_words[m.voices[v].place], m.voice_words[v]
    mine[1] = designed[1]
    copy(integers(address(m) + designed[0], designed[1]), integers(address(m) + mine[0], mine[1]))
    i, c, first = island(address(m) + j.island), of_voice(m, v), j.courses * v
    for n in range(c.strands.size):
        i.strands[first + n] = mine[0] + c.strands[n] - j.island
        p = at_place(c, n).points
        for k in range(p.psi.size):  # ways are counted from the key's moment
            p.begin[k] += i.bridge.clock[0]
            p.end[k] += i.bridge.clock[0]
            if p.hammer[k] != NOBODY:
                p.hammer[k] += j.hammers * v


@native
def take_hammers(b: Bridge, c: Choir, first: int) -> None:
    """Hammers wait for whoever throws them; what lies loose is on its way from now on."""
    for h in range(c.mobility.size):
        b.mobility[first + h], b.weight[first + h], b.height[first + h] = c.mobility[h], c.weight[h], c.height[h]
        if h >= c.strands.size:
            b.flying[first + h], b.begin[first + h], b.speed[first + h] = WAITING, b.clock[0], 0.0


@inlined
def hammers_of(i: Island) -> Bridge:
    """The record that hammers are in."""
    return i.frame if i.one_way else i.bridge


@native
def leave_all(m: Machine, v: int) -> None:
    """Take a voice's strings out, if they are in."""
    j = joint(m)
    for n in range(j.courses * v, j.courses * (v + 1)):
        if coming.sounds(address(m) + j.island, n):
            coming.withdraw(address(m) + j.island, n)
    b = hammers_of(island(address(m) + j.island))
    for h in range(j.hammers * v, j.hammers * (v + 1)):
        b.flying[h] = GONE


@native
def lift_off(m: Machine, v: int) -> None:
    """Take away what lies loose on a voice's strings."""
    j, c = joint(m), of_voice(m, v)
    b, loose = hammers_of(island(address(m) + j.island)), j.hammers * v + c.strands.size
    for h in range(loose, j.hammers * (v + 1)):
        b.flying[h] = GONE
    for n in range(c.strands.size):
        s = at_place(c, n)
        for k in range(s.points.obstacles):
            if s.points.hammer[k] >= loose:
                leave(s, k)


@native
def rest(m: Machine, v: int) -> None:
    """Let a voice's strings sound with the others, at rest on the bridge as it moves."""
    j, c = joint(m), of_voice(m, v)
    for n in range(c.strands.size):
        coming.enter(address(m) + j.island, j.courses * v + n)
    hear_first(m, v)


@native
def hear_first(m: Machine, v: int) -> None:
    """Where a voice's strings are at pickups to begin with: on a bridge that moves also those at rest do."""
    j, c = joint(m), of_voice(m, v)
    b = hammers_of(island(address(m) + j.island))
    for p in range(m.pickups if j.listens == TO_STRINGS else 0):
        m.heard[v, p, 0] = at_pickup(c, p)
        for n in range(c.strands.size):
            s = at_place(c, n)
            row = s.points.psi.size + s.now.size + p
            for d in range(b.now.size if row < s.bank.free.size else 0):
                m.heard[v, p, 0] += s.ends.carried[d, row] * b.now[d]


@inlined
def at_pickup(c: Choir, p: int) -> Any:
    """Where a voice's strings are at a pickup, all together."""
    total = 0.0
    for n in range(c.strands.size):
        s = at_place(c, n)
        row = s.points.psi.size + s.now.size + p
        if row < s.bank.free.size:
            total += s.bank.free[row]
    if c.landing[0] and p < c.leaning.shape[0]:  # beside its modes, the straight line to a finger on its way
        for row in range(c.aside.size):
            total += c.leaning[p, row] * c.aside[row]
    return total


@native
def hear(m: Machine, out: Any) -> None:
    """What pickups hear of all voices' strings in a step."""
    for p in range(m.pickups):
        out[p] = 0.0
    for v in range(m.slots):
        if m.voices[v].state == FREE:
            continue
        c, heard = of_voice(m, v), m.heard[v]
        for p in range(m.pickups):
            now = at_pickup(c, p)
            out[p] += (now - heard[p, 0]) * m.rate if m.ears[p].way == DIFFERENCE else now
            heard[p, 0] = now


@native
def lift(m: Machine, v: int, by: float) -> None:
    """Raise the barriers under strings that do not touch them yet."""
    c = of_voice(m, v)
    for n in range(c.strands.size):
        p = at_place(c, n).points
        for k in range(p.obstacles):
            if stands(p, k):
                p.low[k] += by
                p.last[k], p.level[k], p.next[k] = p.low[k], p.low[k], p.low[k]


@native
def raise_on(m: Machine, v: int, by: Any, span: Any) -> None:
    """Have the barriers go so far within `span` steps from now on; who moves them does the work."""
    c, clock = of_voice(m, v), island(address(m) + joint(m).island).bridge.clock[0]
    for n in range(c.strands.size):
        p = at_place(c, n).points
        for k in range(p.obstacles):
            if stands(p, k):
                p.low[k], p.by[k], p.begin[k], p.span[k] = p.next[k], by, clock, span
                p.timed = 1


@native
def strike_at(m: Machine, v: int, position: float) -> None:
    """Where the next pluck meets the strings: `position` is that of the first one, the others move as far."""
    c, designed, own = of_voice(m, v), of_key(m, m.voices[v].place), m.keys[m.voices[v].place].position
    for n in range(c.strands.size):
        s, kept = at_place(c, n), at_place(designed, n)
        at, moved = c.position[n], position != own
        if moved:
            at = min(max(at * (position / own), EDGE), 1.0 - EDGE)
        for i in range(s.recipe.strike.size):
            s.recipe.strike[i] = kept.recipe.strike[i]
            if moved:
                s.recipe.strike[i] = s.recipe.facing[i] * sin(s.recipe.wave[i] * (at * s.recipe.length))
            s.bank.inject[i] = s.bank.spread[i] * s.recipe.strike[i]
        for d in range(s.ends.struck.size):
            s.ends.struck[d] = (1.0 - at) * s.ends.reach[d] if moved else kept.ends.struck[d]


@native
def excite(m: Machine, v: int, p: int, strength: float, length: float) -> None:
    """Throw the hammers, and have fingers take the strings, whose key was struck with such a strength: its pluck p.

    What plucks strikes the body, too, where a preset says so.
    """
    j, c = joint(m), of_voice(m, v)
    i = island(address(m) + j.island)
    now = i.bridge.clock[0]
    c.knocked[p] = 1.0
    for n in range(c.strands.size):
        if c.kind[n] == HIT:
            b, h = hammers_of(i), j.hammers * v + c.hammer[n]
            if c.hammer[n] == n:
                b.flying[h], b.begin[h] = WAITING, now + c.onset[n]
                b.speed[h] = strength * c.share[n] * (1.0 / i.per_second)
        elif c.kind[n] == TAKEN and c.drawn[p, n] == 0.0:
            stay_away(at_place(c, n), c.point[n], now)
        elif c.kind[n] == TAKEN:
            s, k = at_place(c, n), c.point[n]
            set_out(s, k, now + c.onset[n], length * c.lasting[n])
            s.points.slip[k] = strength * c.share[n] * c.drawn[p, n]
            if s.points.partner[k] != NOBODY:
                set_out(s, s.points.partner[k], now + c.onset[n], length * c.lasting[n])


@native
def stay_away(s: Strand, k: int, now: Any) -> None:
    """A string that has just come is designed with its finger on it: that goes, and one that is at work does not."""
    p = s.points
    if p.state[k] == THERE and p.begin[k] == now:
        leave(s, k)
        if p.partner[k] != NOBODY:
            leave(s, p.partner[k])


@native
def keep_plucks(was: Choir, c: Choir) -> None:
    """What plucks that still last had met, in another copy of the strings."""
    for p in range(PULSES):
        c.knocked[p] = was.knocked[p]
        for n in range(min(c.strands.size, was.strands.size)):
            c.drawn[p, n] = was.drawn[p, n]


@native
def set_out(s: Strand, k: Any, begin: Any, span: Any) -> None:
    """Have a counterpart come anew."""
    if s.points.state[k] == THERE:
        leave(s, k)
    s.points.state[k], s.points.begin[k], s.points.timed = WAITING, begin, 1
    s.points.grip[k] = 0.0
    if s.points.by[k] != 0.0:
        s.points.span[k] = span
    s.points.end[k] = begin + 3.0 * span


@native
def restore(m: Machine, v: int) -> None:
    """The design's own tension, and no damping but its own."""
    j, c = joint(m), of_voice(m, v)
    for n in range(c.strands.size):
        if coming.sounds(address(m) + j.island, j.courses * v + n):  # where it does not it is a copy of the design
            coming.bend(address(m) + j.island, j.courses * v + n, at_place(c, n).recipe.tension, 0.0)


@native
def retune(m: Machine, v: int) -> None:
    """Coefficients for the voice's tension and its damping."""
    j, c, voice = joint(m), of_voice(m, v), m.voices[v]
    for n in range(c.strands.size):
        coming.bend(address(m) + j.island, j.courses * v + n, pulled(m, v, at_place(c, n)), voice.damping)


@native
def pulled(m: Machine, v: int, s: Strand) -> Any:
    """The tension of one of a voice's strings: as much higher than its own as the voice's is than the key's."""
    tension, key, r = m.voices[v].tension, m.keys[m.voices[v].place], s.recipe
    if tension == key.tension:
        return r.tension
    raised = (tension + key.stiffening) / (key.tension + key.stiffening)
    return max(raised * (r.tension + r.stiffening) - r.stiffening, 0.02 * r.tension)


@native
def energy(m: Machine, v: int) -> tuple[float, float, float]:
    """Kinetic, potential and contact energy, J, as the bridge sees it."""
    c, kinetic, potential, contact = of_voice(m, v), 0.0, 0.0, 0.0
    for n in range(c.strands.size):
        s = at_place(c, n)
        kinetic += moving(s.bank)
        potential += strained(s.bank)
        contact += stored(s)
    return kinetic, potential, contact


# --- looked at --------------------------------------------------------------------------------------------------------


@native
def outline(s: Strand, out: Any) -> Any:
    """The newest amplitudes of a string in its first plane, as many as there is room for; how many."""
    wave, y, count = s.recipe.wave, s.bank.even, 0
    while count < min(wave.size, out.size) and (wave[count] > wave[count - 1] if count else wave[0] > 0.0):
        out[count] = y[count]
        count += 1
    return count


@native
def pressing(s: Strand, out: Any) -> Any:
    """What obstacles under a string push with; how many numbers."""
    return summed(s.points.force[: s.points.obstacles], out)
