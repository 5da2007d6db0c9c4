"""What all strings of an instrument stand on, and what answers them, by compiled code (standing.py, gathering.py).

Their memory is there already, with room for the modes of any sample rate.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np

from engine.compiled import integers, native
from engine.elementary import tan
from engine.lanes import LANES, TOGETHER
from engine.layout import fields_of, size_of
from engine.opened import address
from engine.physics.designing import BAND, bench_at
from engine.physics.network.bodies import ROOM
from engine.physics.network.extents import BANK, padded, resize, table, widen
from engine.physics.network.memory import Bridge, Flock, Resonators, Strand, island, strand
from engine.physics.network.stranding import PartRecipe, answer, fill_bank, find_planes, weave_string
from engine.synth.choral import STEP, AnsweringRecipe, Bridgework, clear, ground, of_part
from engine.synth.keyed import plan_at
from engine.synth.memory import Machine, joint_at

BANKED = table(Resonators, BANK)
DAMPED = sqrt(2.0)  # of Butterworth's high-pass


@native
def keep_modes(w: Bridgework, rate: Any) -> None:
    """Those of the body that a rate has room for (bodies.playable)."""
    loom = w.loom
    loom.sounding = 0
    for n in range(loom.body.size):
        if loom.body[n].frequency < ROOM * rate:
            loom.kept[loom.sounding] = n
            loom.sounding += 1


@native
def lay_ground(m: Machine, w: Bridgework, top: Any, end: Any) -> None:
    """The bridge, its body, and what answers; from `top` on is room for a string."""
    i = island(address(m) + joint_at(address(m) + m.joint).island)
    i.per_second = m.rate
    fill_bridge(w, i.bridge, m.rate)
    if i.one_way:
        fill_hammers(i.frame, m.rate)
    if i.flocks:
        fill_flock(w, i.flock, top, end)


@native
def fill_bridge(w: Bridgework, b: Bridge, rate: Any) -> None:
    """A bridge and its body (weaving.bridge_of)."""
    loom = w.loom
    e, bank = loom.extents, b.bank
    e.ways, e.channels = loom.ways, loom.channels
    e.rows, e.sources, e.modes = loom.ways + loom.channels, loom.ways, padded(loom.sounding)
    widen(e)
    resize(BANKED, e, address(bank))
    bank = b.bank
    for n in range(loom.sounding):
        mode = loom.body[loom.kept[n]]
        undamped = 2.0 * pi * mode.frequency
        decay = undamped / (2.0 * mode.quality)
        fill_bank(bank, rate, n, np.sqrt(undamped * undamped - decay * decay), decay, mode.mass)
        bank.inject[n] = bank.spread[n] * mode.blow
        for d in range(loom.ways):
            bank.rows[d, n] = mode.moves[d]
        for c in range(loom.channels):
            bank.rows[loom.ways + c, n] = mode.heard[c]
    answer(bank, bank.latest, bank.last)
    if b.passing.size:
        g = tan(pi * w.radiates / rate)
        a1 = 1.0 / (1.0 + g * (g + DAMPED))
        b.passing[0], b.passing[1], b.passing[2], b.passing[3] = a1, g * a1, g * g * a1, DAMPED
    fill_hammers(b, rate)


@native
def fill_hammers(b: Bridge, rate: Any) -> None:
    """Hammers of a kilogramme, until a key brings its own."""
    k = 1.0 / rate
    for h in range(b.mobility.size):
        b.mobility[h] = k * k / 1.0


# --- what answers -----------------------------------------------------------------------------------------------------


@native
def fill_flock(w: Bridgework, f: Flock, top: Any, end: Any) -> None:
    """Strings that lie side by side (gathering.gather)."""
    loom, band, most = w.loom, min(BAND, 0.45 * w.loom.rate), 0
    one_way, loom.one_way = loom.one_way, 0
    for s in range(w.answering.size):
        part = reach(w, w.answering[s])
        if find_planes(loom, part, bench_at(address(w) + part.bench), min(band, part.band)):
            most = max(most, loom.modes)
            f.reach[s // TOGETHER] = max(f.reach[s // TOGETHER], loom.modes)
    words = integers(address(f), _WORDS)
    for n in range(LONG.size):
        words[LONG[n]] = most
    for s in range(w.answering.size):
        part = reach(w, w.answering[s])
        loom.used = top + STEP
        if weave_string(loom, part, top, top + STEP, end, band):
            lay_beside(f, strand(top), s)
        clear(top, loom.used)
    loom.one_way = one_way


_WORDS = size_of(Flock) // 8
_PLACES = {part.name: part.offset // 8 for part in fields_of(Flock)}
# The words that say how many modes there are.
LONG = np.array([*(_PLACES[name] + 1 for name in ("forward", "backward", "scale", "even", "odd")), _PLACES["rows"] + 2])


@native
def reach(w: Bridgework, r: AnsweringRecipe) -> PartRecipe:
    """The part of a string that answers, its bench brought to it."""
    part = of_part(w, r.part)
    b, p = bench_at(address(w) + part.bench), plan_at(address(w) + part.plan)
    b.length, b.tension = r.length, r.tension
    ground(w, part, b, p)
    return part


@native
def lay_beside(f: Flock, one: Strand, s: Any) -> None:
    """One of them, in its lane."""
    bank, p, e, points, ways = one.bank, one.points, one.ends, one.points.psi.size, f.weight.shape[0]
    for i in range(min(bank.spread.size, f.forward.shape[0])):
        root = np.sqrt(bank.spread[i])
        f.forward[i, s], f.backward[i, s], f.scale[i, s] = bank.forward[i], bank.backward[i], root
        for k in range(points + 1):
            f.rows[k, i, s] = bank.rows[k, i] * root
    for k in range(points + 1):
        for j in range(points + 1):
            f.response[k, j, s], f.ahead[k, j, s] = bank.response[k, j], bank.ahead[k, j]
    for d in range(ways):
        f.weight[d, s] = e.weight[0, d]
        for c in range(ways):
            f.tension[d, c] += e.tension[0] * (e.weight[0, d] * e.weight[0, c])
            f.load[d, c] += e.load[d, c]
        for k in range(points + 1):
            f.carried[d, k * LANES + s] = e.carried[d, k]
        for k in range(points):
            f.lean[d, k * LANES + s] = e.lean[d, k]
    for k in range(points):
        f.slope[k * LANES + s], f.level[k * LANES + s] = p.slope[k], p.level[k]
    if points and s == 0:
        f.power, f.form, f.secant, f.drag = p.power[0], p.form[0], p.secant[0], p.drag[0]
