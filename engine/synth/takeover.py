"""A sounding string goes on in another design of itself: what a turned knob does to it, done between two blocks.

The string keeps its shape and its motion: modes by their numbers, nodes where they are, or between four of them. What a
voice can glide in (pitch, damping, the barrier's height, gain) it begins with as it was, and glides from there to what
the new design has; what it cannot changes at once, and both are faded into each other over a stolen voice's fade. A
barrier that has come up into the string begins where it does not press on it any more than before: in no time it would
be a blow. Strings that share a bridge go over all together, with what they stand on (crossing.py).
"""

from __future__ import annotations

from engine.compiled import native
from engine.synth import crossing, room, strings, strips
from engine.synth.memory import FADING, FREE, HELD, PULSES, RELEASED, Machine
from engine.synth.voices import bent, departure, set_moving

LOUDEST, SOFTEST = 1e3, 1e-3  # between two gains of a string


@native
def alike(new: Machine, old: Machine) -> bool:
    """Whether a string of one can go on in the other: what it passes on is of the same kind, and at the same rate."""
    same_kind = strings.SHAPE_OF[new.model] == strings.SHAPE_OF[old.model]
    bridged = new.joint != 0 or old.joint != 0
    same_bridge = not bridged or crossing.alike(new, old)
    return same_kind and same_bridge and new.rate == old.rate and new.oversample == old.oversample


@native
def sounds(m: Machine, v: int) -> bool:
    """Whether a voice rings and does not just fade away."""
    return m.voices[v].state == HELD or m.voices[v].state == RELEASED


@native
def covers(new: Machine, old: Machine) -> bool:
    """Whether every string that sounds in one is there in the other; what cannot go on rings out where it is."""
    if not alike(new, old):
        return True
    if old.joint:
        return crossing.covers(new, old)
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
    if old.joint:
        cross(new, old)
        return
    for v in range(old.slots):
        if sounds(old, v):
            into = slot(new, v)
            if into >= 0:
                go_on(new, into, old, v)
            old.voices[v].state = FADING


@native
def cross(new: Machine, old: Machine) -> None:
    """All that moves on a bridge, if anything does and nobody else has it already."""
    if crossing.rests(old):
        return
    new.idle = new.quiet = 0
    room.wake(new.room)
    crossing.body_goes_on(new, old)
    for v in range(old.slots):
        into = slot(new, v) if sounds(old, v) else -1
        if into >= 0:
            go_on(new, into, old, v)
    crossing.answering_goes_on(new, old)
    crossing.leave(old)


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
    place = crossing.place_of(new, old, theirs.key, theirs.place) if old.joint else theirs.key
    key, was = new.keys[place], old.keys[theirs.place]
    new.idle = new.quiet = 0
    room.wake(new.room)
    mine.state, mine.key, mine.place, mine.channel = theirs.state, theirs.key, place, theirs.channel
    mine.born, mine.sostenuto, mine.calm, mine.pressed = theirs.born, theirs.sostenuto, 0, theirs.pressed
    mine.forced = theirs.forced if theirs.forced else 2  # what comes now is a hand's work, and no uprising
    for p in range(PULSES):
        mine.ages[p], mine.forces[p], mine.lengths[p] = theirs.ages[p], theirs.forces[p], theirs.lengths[p]
    mine.tuned = departure(new, theirs.key)
    mine.semitones = theirs.semitones + (was.pitch - key.pitch)
    mine.tension = bent(key, mine.semitones)
    mine.damping = max(theirs.damping, key.mildest)
    ratio = was.gain / key.gain if key.gain > 0.0 else 1.0
    mine.gain = mine.next_gain = theirs.gain * min(max(ratio, SOFTEST), LOUDEST)
    mine.fade, mine.rising = (1.0, 0) if old.joint else (0.0, 1)  # on a bridge it is the body that fades in
    mine.energy, mine.peak = 0.0, theirs.peak
    strips.begin(new, w)
    strings.take_over(new, w)
    strings.refit(new, w)
    strings.rest(new, w)
    strings.strike_at(new, w, key.position)
    if old.joint:
        crossing.go_on(new, w, old, v)
    else:
        for ago in range(2):
            count = strings.shape(old, v, ago, old.scratch[v])
            strings.enter(new, w, ago, old.scratch[v], count)
        mine.lift = mine.next_lift = strings.go_on(new, w, theirs.lift, strings.depth(old, v))
    mine.moving = 0
    set_moving(new, w)
