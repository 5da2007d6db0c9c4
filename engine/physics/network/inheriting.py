"""A network goes on in another design of itself, between two steps: strings, body and hammers, from one to the other.

Strings keep shape and motion, modes by their numbers in each plane. The body's modes keep their energy: another body
that is a hundred times lighter must not leap. Contacts hold no more energy than before, whatever is as deep in what.
Strings and bodies of several networks may come together in one: what they do is added.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

from engine.compiled import inlined, native
from engine.lanes import LANES
from engine.physics.network.flocking import shared_law
from engine.physics.network.fretting import alike, end_of_plane, place, stand, stands
from engine.physics.network.memory import THERE, Bridge, Contacts, Flock, Resonators, Strand
from engine.physics.network.metered import recall
from engine.physics.network.settling import law_of
from engine.physics.retune import psi_of
from engine.vectors import project

# --- strings ----------------------------------------------------------------------------------------------------------


@native
def inherit_string(old: Strand, new: Strand, b: Bridge, was_odd: Any, odd: Any, later: Any) -> None:
    """A string moves on as the old one did, which loses nothing by it; contacts press once barriers are where they stay
    (`press_alike`). Both may be in the midst of a pair, each in its own; `later`: steps by which clocks differ.
    """
    recall(old, was_odd)
    for i in range(new.bank.latest.size):
        new.bank.latest[i] = new.bank.last[i] = 0.0
    first, start = 0, 0
    for _ in range(min(old.now.size, new.now.size)):
        end, stop = end_of_plane(old, first), end_of_plane(new, start)
        for i in range(min(end - first, stop - start)):
            new.bank.latest[start + i] = old.bank.latest[first + i]
            new.bank.last[start + i] = old.bank.last[first + i]
        first, start = end, stop
    stand(new, odd)
    if alike(old.points, new.points):
        follow(old.points, new.points, later)
    new.fold.stale[0] = 1
    place(new, b)


@native
def follow(old: Contacts, new: Contacts, later: Any) -> None:
    """What comes and goes does so as it did: fingers, felts, what hammers do. Barriers stand where the new ones do."""
    for k in range(new.psi.size):
        if stands(new, k) if k < new.obstacles else k < new.obstacles + new.rubs:
            continue
        new.by[k], new.span[k] = old.by[k], old.span[k]
        new.begin[k], new.end[k] = old.begin[k] + later, old.end[k] + later
        new.state[k], new.grip[k], new.timed = old.state[k], old.grip[k], max(new.timed, old.timed)
        if new.slip[k] < inf:
            new.slip[k] = old.slip[k]
        if k < new.obstacles:
            new.low[k], new.level[k], new.last[k], new.next[k] = old.low[k], old.level[k], old.last[k], old.next[k]


@native
def held(p: Contacts) -> Any:
    """What obstacles hold, J."""
    total = 0.0
    for k in range(p.obstacles):
        total += 0.5 * p.psi[k] * p.psi[k]
    return total


@native
def press_alike(old: Contacts, new: Contacts) -> None:
    """All contacts as they must be where the string is, or as much less as keeps them below what they held before.

    The scheme lets psi differ a little from that; where the string has the same points, it does as it did.
    """
    count, total, most, same = new.psi.size, 0.0, held(old), alike(old, new)
    for k in range(count):
        new.force[k] = 0.0
        if k < new.obstacles:
            whole = psi_of(law_of(new, k), new.slope[k], new.level[k] - new.now[k])
            if same:
                whole += old.psi[k] - psi_of(law_of(old, k), old.slope[k], old.level[k] - old.now[k])
            whole = max(whole, 0.0) if new.state[k] == THERE else 0.0
            new.psi[k] = whole
            total += 0.5 * whole * whole
        elif k >= count - new.links and new.state[k] == THERE:
            new.psi[k] = 2.0 * new.root[k] * (new.level[k] - new.now[k])
        else:
            new.psi[k] = 0.0
    if total > most:
        share = sqrt(most / total)
        for k in range(new.obstacles):
            new.psi[k] *= share


@native
def deepest(s: Strand) -> Any:
    """How far a string is in its barrier at most, m."""
    p, deep = s.points, 0.0
    for k in range(p.obstacles):
        if stands(p, k):
            deep = max(deep, p.level[k] - p.now[k])
    return deep


# --- bridge and body --------------------------------------------------------------------------------------------------


@native
def inherit_body(old: Bridge, new: Bridge) -> None:
    """What a body does is added to what the new one does already; one that has other modes begins at rest."""
    was_odd, odd = old.clock[0] & 1, new.clock[0] & 1
    if old.bank.even.size == new.bank.even.size:
        add_modes(old.bank, new.bank, was_odd, odd)
    lay_bridge(new, odd)
    for o in range(min(old.passed.shape[0], new.passed.shape[0])):
        if old.passing.size == new.passing.size:
            new.passed[o, 0] += old.passed[o, 0]
            new.passed[o, 1] += old.passed[o, 1]
    new.stale[0] = 1


@native
def add_modes(old: Resonators, new: Resonators, was_odd: Any, odd: Any) -> None:
    """Mode by mode, potential and kinetic energy each by itself."""
    latest, last = (old.odd, old.even) if was_odd else (old.even, old.odd)
    now, before = (new.odd, new.even) if odd else (new.even, new.odd)
    for i in range(new.even.size):
        if old.spring[i] > 0.0 and new.spring[i] > 0.0:
            mean = 0.5 * (latest[i] + last[i]) * sqrt(old.spring[i] / new.spring[i])
            span = 0.5 * (latest[i] - last[i]) * sqrt(old.inertia[i] / new.inertia[i])
            now[i] += mean + span
            before[i] += mean - span


@native
def lay_bridge(b: Bridge, odd: Any) -> None:
    """Bridge and channels where the modes have them, now and a step ago."""
    bank, count = b.bank, b.now.size
    latest, last = (bank.odd, bank.even) if odd else (bank.even, bank.odd)
    project(bank.rows, last, bank.free)
    for d in range(count):
        b.before[d] = bank.free[d]
    for o in range(b.heard.shape[1]):
        b.heard[1, o] = bank.free[count + o]
    project(bank.rows, latest, bank.free)
    for d in range(count):
        b.now[d], b.surge[d] = bank.free[d], 0.0
    for o in range(b.heard.shape[1]):
        b.heard[0, o] = bank.free[count + o]


@native
def inherit_hammer(old: Bridge, new: Bridge, h: Any, g: Any, later: Any) -> None:
    """Hammer g flies on as h did; it is as heavy as it is designed to be."""
    new.flying[g], new.begin[g], new.speed[g] = old.flying[h], old.begin[h] + later, old.speed[h]
    new.pace[g], new.next[g], new.level[g] = old.pace[h], old.next[h], old.level[h]
    new.last[g], new.hit[g] = old.last[h], 0.0


# --- strings side by side ---------------------------------------------------------------------------------------------

NEWEST, LAST, NEXT = range(3)


@native
def inherit_flock(old: Flock, new: Flock, b: Bridge, was_odd: Any, odd: Any) -> None:
    """Strings that answer, by their numbers; where they move already, that is added."""
    catch_up(new, odd)
    for s in range(min(old.strings, new.strings)):
        for i in range(min(old.even.shape[0], new.even.shape[0])):
            if new.scale[i, s] > 0.0 and old.scale[i, s] > 0.0:
                add_lane(old, new, i, s, was_odd, odd)
    lay_flock(new, b, odd)
    touch_alike(old, new)


@native
def catch_up(h: Flock, odd: Any) -> None:
    """Let modes have what has pushed, though they are not due to be loaded."""
    for s in range(h.strings):
        for i in range(h.even.shape[0]):
            first, second = waiting(h, i, s)
            h.odd[i, s] += first
            h.even[i, s] += h.forward[i, s] * first + (0.0 if odd else second)
    for half in range(h.pend.shape[0]):
        h.touched[half] = 0
        for q in range(h.pend.shape[1]):
            for s in range(h.pend.shape[2]):
                h.pend[half, q, s] = 0.0


@inlined
def waiting(h: Flock, i: Any, s: Any) -> Any:
    """What has pushed a mode in both steps of a pair."""
    first = second = 0.0
    for q in range(h.rows.shape[0]):
        first += h.rows[q, i, s] * h.pend[0, q, s]
        second += h.rows[q, i, s] * h.pend[1, q, s]
    return first, second


@native
def at_step(h: Flock, i: Any, s: Any, which: Any, odd: Any) -> Any:
    """Where a mode is, was, or will be without forces, as long as nothing waits for it."""
    if which == NEWEST:
        return h.odd[i, s] if odd else h.even[i, s]
    if which == LAST and odd:
        back = h.forward[i, s] * h.odd[i, s] - h.even[i, s]
        return back / h.backward[i, s] if h.backward[i, s] > 0.0 else 0.0
    return h.odd[i, s] if which == LAST else h.even[i, s]


@native
def add_lane(old: Flock, new: Flock, i: Any, s: Any, was_odd: Any, odd: Any) -> None:
    """One mode of one string, with what waits for it where it was."""
    first, second = waiting(old, i, s)
    share = old.scale[i, s] / new.scale[i, s]
    newest, last = at_step(old, i, s, NEWEST, was_odd), at_step(old, i, s, LAST, was_odd)
    newest += first if was_odd else old.forward[i, s] * first + second
    last += 0.0 if was_odd else first
    newest, last = share * newest, share * last
    if odd:
        new.odd[i, s] += newest
        new.even[i, s] += new.forward[i, s] * newest - new.backward[i, s] * last
    else:
        new.even[i, s] += newest
        new.odd[i, s] += last


@native
def lay_flock(h: Flock, b: Bridge, odd: Any) -> None:
    """Points and ends where modes and bridge have them, now and a step ago; and the second step of a pair."""
    for q in range(h.rows.shape[0]):
        for s in range(h.strings):
            at, now, before, after = q * LANES + s, 0.0, 0.0, 0.0
            for i in range(h.even.shape[0]):
                now += h.rows[q, i, s] * at_step(h, i, s, NEWEST, odd)
                before += h.rows[q, i, s] * at_step(h, i, s, LAST, odd)
                after += h.rows[q, i, s] * at_step(h, i, s, NEXT, odd)
            for d in range(b.now.size):
                now += h.carried[d, at] * b.now[d]
                before += h.carried[d, at] * b.before[d]
            h.now[at], h.before[at], h.both[1, at] = now, before, after


@native
def touch_alike(old: Flock, new: Flock) -> None:
    """Contacts as they must be where the strings are, or as much less as keeps them below what was held before."""
    was, law = shared_law(old), shared_law(new)
    total = most = 0.0
    for k in range(old.psi.size):
        most += 0.5 * old.psi[k] * old.psi[k]
    for k in range(new.psi.size):
        most += 0.5 * new.psi[k] * new.psi[k]
        whole = psi_of(law, new.slope[k], new.level[k] - new.now[k])
        if old.psi.size == new.psi.size and new.psi[k] == 0.0:
            whole += old.psi[k] - psi_of(was, old.slope[k], old.level[k] - old.now[k])
        new.psi[k] = whole = max(whole, 0.0)
        total += 0.5 * whole * whole
    if total > most:
        for k in range(new.psi.size):
            new.psi[k] *= sqrt(most / total)
