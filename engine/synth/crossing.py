"""All that shares a bridge goes on in another design of it (takeover.py): what a turned knob does to an instrument.

Strings, those that answer, body and hammers go over between two blocks, as they are (physics/network/inheriting.py).
The old instrument plays on for a stolen voice's fade, as the new one comes up. A new design may find notes on two older
ones, where some keys were not there yet: both come together on one bridge.
"""

from __future__ import annotations

from typing import Any

from engine.compiled import WORD, compiled_apart, inlined, native
from engine.opened import address, record_type
from engine.physics.network.fretting import place
from engine.physics.network.inheriting import (
    deepest,
    inherit_body,
    inherit_flock,
    inherit_hammer,
    inherit_string,
    press_alike,
)
from engine.physics.network.memory import Island, island, strand
from engine.synth import network_string as strings
from engine.synth import strips
from engine.synth.memory import FREE, HELD, RELEASED, Fingerboard, Machine
from engine.synth.voices import set_moving


@native
def alike(new: Machine, old: Machine) -> bool:
    """Whether bridges are: they move in as many directions."""
    if new.joint == 0 or old.joint == 0:
        return False
    i, was = island_of(new), island_of(old)
    return i.bridge.now.size == was.bridge.now.size


@inlined
def island_of(m: Machine) -> Island:
    """What an instrument's voices stand on."""
    return island(address(m) + strings.joint(m).island)


@native
def leaves(m: Machine) -> bool:
    """Whether it only fades away, since another design goes on with what it played."""
    return m.joint != 0 and strings.joint(m).leaves != 0


@native
def rests(m: Machine) -> bool:
    """Whether nothing moves in it, or all that does is another design's already."""
    return strings.joint(m).awake == 0 or leaves(m)


@native
def covers(new: Machine, old: Machine) -> bool:
    """Whether all that sounds, and every finger's key, is there; a finger on its way arrives first."""
    if leaves(old):
        return True
    for v in range(old.slots):
        sounds = old.voices[v].state == HELD or old.voices[v].state == RELEASED
        if sounds and (new.keys[old.voices[v].key].ready == 0 or strings.of_voice(old, v).landing[0]):
            return False
    lines = strings.joint(old).lines
    for n in range(lines.size):
        for f in range(lines[n].fingers):
            if new.keys[lines[n].keys[f]].ready == 0:
                return False
    return True


@native
def place_of(new: Machine, old: Machine, key: int, place: int) -> int:
    """A key's row in the new design: on the same string of many frets, if it is there."""
    line, row = old.keys[place].line, key
    while row:
        if new.keys[row].line == line and new.keys[row].ready:
            return row
        row = new.keys[row].other
    return key


@native
def body_goes_on(new: Machine, old: Machine) -> None:
    """Body, bridge and their gain, before any string comes; those that are there already stand on it as it is now."""
    j, was, mine, theirs = strings.joint(new), strings.joint(old), new.voices[new.slots], old.voices[old.slots]
    i, before = island_of(new), island_of(old)
    ratio = was.gain / j.gain if j.gain > 0.0 else 1.0
    if j.awake == 0:
        i.bridge.clock[0] = before.bridge.clock[0]
        j.awake, j.most = 1, 0.0
        mine.channel, mine.fade, mine.rising, mine.moving = theirs.channel, 0.0, 1, 0
        mine.gain = mine.next_gain = theirs.gain * ratio
        strips.begin(new, new.slots)
    j.calm, j.most = 0, max(j.most, was.most)
    inherit_body(before.bridge, i.bridge)
    b = strings.hammers_of(i)
    for a in range(i.active[0]):
        place(strand(address(i) + i.strands[i.members[a]]), b)
    set_moving(new, new.slots)


@native
def answering_goes_on(new: Machine, old: Machine) -> None:
    """Strings that answer, once the bridge is where it is; and fingers, where they are."""
    i, was = island_of(new), island_of(old)
    if i.flocks and was.flocks:
        inherit_flock(was.flock, i.flock, i.bridge, was.bridge.clock[0] & 1, i.bridge.clock[0] & 1)
    lines, theirs = strings.joint(new).lines, strings.joint(old).lines
    for n in range(min(lines.size, theirs.size)):
        put_fingers(new, old, lines[n], theirs[n])


@native
def put_fingers(new: Machine, old: Machine, line: Fingerboard, was: Fingerboard) -> None:
    """All fingers of a string."""
    if was.fingers == 0:
        return
    line.fingers = was.fingers
    for f in range(was.fingers):
        line.keys[f], line.channels[f] = was.keys[f], was.channels[f]
        line.places[f] = place_of(new, old, was.keys[f], was.places[f])


@native
def go_on(new: Machine, w: Any, old: Machine, v: Any) -> None:
    """A voice's strings, which rest on the new bridge already, move on as they did."""
    i, was, c, before = island_of(new), island_of(old), strings.of_voice(new, w), strings.of_voice(old, v)
    j, theirs = strings.joint(new), strings.joint(old)
    later = i.bridge.clock[0] - was.bridge.clock[0]
    b, hammers = strings.hammers_of(i), strings.hammers_of(was)
    if c.mobility.size == before.mobility.size:
        for h in range(c.mobility.size if j.hammers and theirs.hammers else 0):
            inherit_hammer(hammers, b, theirs.hammers * v + h, j.hammers * w + h, later)
    strings.keep_plucks(before, c)
    deep = excess = 0.0
    for n in range(min(c.strands.size, before.strands.size)):
        s = strings.at_place(before, n)
        deep = max(deep, deepest(s))
        inherit_string(s, strings.at_place(c, n), b, was.bridge.clock[0] & 1, i.bridge.clock[0] & 1, later)
    voice = new.voices[w]
    strings.lift(new, w, old.voices[v].lift)
    for n in range(c.strands.size):
        excess = max(excess, deepest(strings.at_place(c, n)) - deep)
    strings.lift(new, w, -excess)
    voice.lift = voice.next_lift = old.voices[v].lift - excess
    for n in range(min(c.strands.size, before.strands.size)):
        press_alike(strings.at_place(before, n).points, strings.at_place(c, n).points)
    strings.hear_first(new, w)


@native
def leave(old: Machine) -> None:
    """From now on it fades."""
    body = old.voices[old.slots]
    if not body.rising:
        body.fade = 1.0
    body.rising, strings.joint(old).leaves = 0, 1


@native
def fade(m: Machine, steps: int) -> None:
    """What is heard of some steps, where it fades in or away."""
    body, out = m.voices[m.slots], strings.joint(m).out
    by = -m.fade if leaves(m) else m.fade
    for t in range(steps):
        body.fade = min(max(body.fade + by, 0.0), 1.0)
        for p in range(m.pickups):
            out[t, p] *= body.fade
    body.rising = body.rising and body.fade < 1.0


@native
def is_gone(m: Machine) -> bool:
    """Whether nobody hears it any more."""
    return leaves(m) and m.voices[m.slots].fade == 0.0


@native
def clear_out(m: Machine) -> None:
    """Take all strings out of one that is gone, or that has to make way."""
    for v in range(m.slots):
        if m.voices[v].state != FREE:
            strings.leave_all(m, v)
            m.voices[v].state = FREE
    lines = strings.joint(m).lines
    for n in range(lines.size):
        lines[n].fingers = 0
    strings.joint(m).leaves = 0


# As seldom as a knob is turned.
compiled_apart(body_goes_on, record_type(Machine), record_type(Machine))
compiled_apart(answering_goes_on, record_type(Machine), record_type(Machine))
compiled_apart(go_on, record_type(Machine), WORD, record_type(Machine), WORD)
