"""A sounding string goes on in another design of itself: what a turned knob does to it, done between two blocks.

The string keeps its shape and its motion: modes by their numbers, nodes where they are, or between four of them. What a
voice can glide in (pitch, damping, the barrier's height, gain) it begins with as it was, and glides from there to what
the new design has; what it cannot changes at once, and both are faded into each other over a stolen voice's fade. A
barrier that has come up into the string begins where it does not press on it any more than before: in no time it would
be a blow.
"""

from __future__ import annotations

from typing import Any

from engine.compiled import inlined, native
from engine.physics import finite_difference as fd
from engine.physics import modal
from engine.physics.contact import Law, Touch, raised
from engine.physics.dispersion import REACH
from engine.physics.grid_contact import read_points
from engine.synth import best_string, grid_string, modal_string, strings, strips
from engine.synth.memory import FADING, FREE, HELD, PULSES, RELEASED, Machine
from engine.synth.voices import bent, departure, set_moving
from engine.vectors import project

MODAL, BEST = strings.MODELS[modal_string.NAME], strings.MODELS[best_string.NAME]
LOUDEST, SOFTEST = 1e3, 1e-3  # between two gains of a string


@native
def alike(new: Machine, old: Machine) -> bool:
    """Whether a string of one can go on in the other: the same model, one for live play, at the same rate."""
    return new.model == old.model and new.model < BEST and new.rate == old.rate and new.oversample == old.oversample


@native
def sounds(m: Machine, v: int) -> bool:
    """Whether a voice rings and does not just fade away."""
    return m.voices[v].state == HELD or m.voices[v].state == RELEASED


@native
def covers(new: Machine, old: Machine) -> bool:
    """Whether every string that sounds in one is there in the other; what cannot go on rings out where it is."""
    if not alike(new, old):
        return True
    for v in range(old.slots):  # noqa: SIM110  compiled code has no all()
        if sounds(old, v) and new.keys[old.voices[v].key].ready == 0:
            return False
    return True


@native
def take_over(new: Machine, old: Machine) -> None:
    """Have all strings that sound in one go on in the other, and fade away where they were."""
    new.born = max(new.born, old.born)
    if not alike(new, old):
        return
    for v in range(old.slots):
        if sounds(old, v):
            into = slot(new, v)
            if into >= 0:
                go_on(new, into, old, v)
            old.voices[v].state = FADING


@native
def slot(m: Machine, like: int) -> int:
    """A free voice, if possible the one of this number; -1 if there is none."""
    if like < m.slots and m.voices[like].state == FREE:
        return like
    for v in range(m.slots):
        if m.voices[v].state == FREE:
            return v
    return -1


@native
def go_on(new: Machine, w: int, old: Machine, v: int) -> None:
    """One string."""
    mine, theirs = new.voices[w], old.voices[v]
    key, was = new.keys[theirs.key], old.keys[theirs.key]
    new.idle = new.quiet = 0
    mine.state, mine.key, mine.channel = theirs.state, theirs.key, theirs.channel
    mine.born, mine.sostenuto, mine.calm = theirs.born, theirs.sostenuto, 0
    mine.forced = theirs.forced if theirs.forced else 2  # what comes now is a hand's work, and no uprising
    for p in range(PULSES):
        mine.ages[p], mine.forces[p], mine.lengths[p] = theirs.ages[p], theirs.forces[p], theirs.lengths[p]
    mine.tuned = departure(new, theirs.key)
    mine.semitones = theirs.semitones + (was.pitch - key.pitch)
    mine.tension = bent(key, mine.semitones)
    mine.damping = max(theirs.damping, key.mildest)
    ratio = was.gain / key.gain if key.gain > 0.0 else 1.0
    mine.gain = mine.next_gain = theirs.gain * min(max(ratio, SOFTEST), LOUDEST)
    mine.fade, mine.rising = 0.0, 1
    mine.energy, mine.peak = 0.0, theirs.peak
    strips.begin(new, w)
    strings.take_over(new, w)
    strings.refit(new, w)
    strings.rest(new, w)
    strings.strike_at(new, w, key.position)
    if new.model == MODAL:
        mine.lift = move_modes(new, w, old, v)
    else:
        mine.lift = move_nodes(new, w, old, v)
    mine.next_lift = mine.lift
    mine.moving = 0
    set_moving(new, w)


@native
def move_modes(new: Machine, w: int, old: Machine, v: int) -> float:
    """The shape of one string into another, mode by mode; how far the barrier is lifted to begin with."""
    a, b = modal_string.of_voice(old, v), modal_string.of_voice(new, w)
    now, before = modal.newest(a.c, a.s)
    shared, rank = min(now.size, b.s.even.size), b.c.mix.shape[0]
    for i in range(b.s.even.size):
        b.s.even[i] = now[i] if i < shared else 0.0
        b.s.odd[i] = before[i] if i < shared else 0.0
    for k in range(b.s.touch.force.size):  # what the modes leave out follows the next contact, not the last
        b.s.touch.force[k] = b.s.earlier[k] = 0.0
    modal.begin(b.c, b.s)
    heard, resting = new.heard[w], new.resting[new.voices[w].key]
    for ago, y in ((0, b.s.even), (1, b.s.odd)):  # what is made of differences goes on without a jump
        project(b.c.rows, y, b.s.both[0, : len(b.c.rows)])
        for p in range(new.pickups):
            heard[p, ago] = b.s.both[0, rank + p] - resting[p]
    by = clear(b.c.height, b.s.touch.now, old.voices[v].lift, deepest(a.c.height, a.s.touch.now))
    meet(b.c.law, b.c.height, b.s.touch, b.s.touch.now, by)
    return by


@native
def move_nodes(new: Machine, w: int, old: Machine, v: int) -> float:
    """The same on grids, whose numbers of nodes may differ."""
    a, b = grid_string.of_voice(old, v), grid_string.of_voice(new, w)
    _, then, newest = fd.levels(a.s)
    b.s.clock[0] = 3  # the newest is in level1, the one before it in level0
    here, there = a.c.stencil.intervals, b.c.stencil.intervals
    spread_nodes(then, here, b.s.level0, there)
    spread_nodes(newest, here, b.s.level1, there)
    hear_nodes(new, w, b.c.ports, b.s.level1, 0)
    hear_nodes(new, w, b.c.ports, b.s.level0, 1)
    surface, touch, deep = b.c.surface, b.s.touch, 0.0
    lifted = old.voices[v].lift
    if surface.obstacle_node.size:
        read_points(surface, b.s.level0, touch.before)
        read_points(surface, b.s.level1, touch.now)
        if a.c.surface.obstacle_node.size:
            deep = deepest(a.c.surface.height, a.s.touch.now)
        by = clear(surface.height, touch.now, lifted, deep)
        meet(surface.law, surface.height, touch, touch.now, by)
        return by
    if a.c.surface.obstacle_node.size == 0:
        deep = deepest(a.c.surface.height, newest[a.c.surface.first_node + REACH :])
    under = b.s.level1[surface.first_node + REACH :]
    by = clear(surface.height, under, lifted, deep)
    meet(surface.law, surface.height, touch, under, by)
    return by


@native
def hear_nodes(m: Machine, v: int, ports: fd.Ports, u: Any, ago: int) -> None:
    """What the pickups heard of a level, so that what is made of differences goes on without a jump."""
    heard, resting = m.heard[v], m.resting[m.voices[v].key]
    for p in range(m.pickups):
        pulled, first = 0.0, ports.pickup_node[p] + REACH
        for j in range(fd.TAPS):
            pulled += ports.pickup[p, j] * u[first + j]
        heard[p, ago] = pulled - resting[p]


@native
def spread_nodes(u: Any, intervals: int, out: Any, wanted: int) -> None:
    """A level of one grid on another: as it is, or by cubics between four nodes; odd about both ends."""
    for i in range(1, wanted):
        if wanted == intervals:
            out[REACH + i] = u[REACH + i]
            continue
        x = i * intervals / wanted
        k = min(max(int(x), 1), max(intervals - 2, 1))
        t, j = x - k, REACH + k
        near = 0.5 * ((t + 1.0) * (t - 1.0) * (t - 2.0) * u[j] - (t + 1.0) * t * (t - 2.0) * u[j + 1])
        out[REACH + i] = near + ((t + 1.0) * t * (t - 1.0) * u[j + 2] - t * (t - 1.0) * (t - 2.0) * u[j - 1]) / 6.0
    out[REACH] = out[REACH + wanted] = 0.0
    for j in range(1, REACH + 1):
        out[REACH - j] = -out[REACH + j]
        out[REACH + wanted + j] = -out[REACH + wanted - j]


@inlined
def deepest(height: Any, u: Any) -> Any:
    """How far the string is in its barrier at most."""
    deep = 0.0
    for k in range(height.size):
        deep = max(deep, height[k] - u[k])
    return deep


@inlined
def clear(height: Any, u: Any, lifted: Any, deep: Any) -> Any:
    """How far the barrier is lifted where it presses on the string no more than before, and is not higher than before
    otherwise."""
    excess = deepest(height, u) + lifted - deep
    return lifted - excess if excess > 0.0 else lifted


@inlined
def meet(law: Law, height: Any, touch: Touch, u: Any, by: Any) -> None:
    """The barrier lifted, and the contact as it must be at this shape: psi = sqrt(2 phi) of each penetration."""
    for k in range(height.size):
        height[k] += by
        eta = height[k] - u[k]
        touch.psi[k] = law.secant * law.slope[k] * raised(eta, law) * eta if eta > law.zero else law.zero
