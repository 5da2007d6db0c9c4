"""Which instrument of an ensemble a message goes to: every one steers all of them, a note begins on one.

So all instruments hold the same controllers, bends and pedals, and a channel may change from one to another at any
sample with nothing to be copied or cut: what sounds rings on, and hears its note-offs and pedals as before. A listener
without strings hears everything at the moment it is offered; who comes later learns from it where all channels stand.
"""

from __future__ import annotations

from typing import Any

from engine import messages as midi
from engine.compiled import guarded, load_acquire, native, store_release
from engine.synth.control import obey
from engine.synth.idle import adopt
from engine.synth.memory import (
    ABSENT,
    ARRIVED,
    CHANNELS,
    PARTS,
    PLAYING,
    PROGRAMS,
    RING_SIZE,
    Desk,
    Machine,
    desk,
    machine,
)
from engine.synth.ring import NEVER, head, push
from engine.synth.takeover import covers, take_over


@native
def welcome(d: Desk) -> None:
    """Take in who has arrived, as if it had been there, idle, from the start: clock and channels are the others'."""
    for s in range(PARTS):
        part = d.parts[s]
        if load_acquire(part.state, 0) == ARRIVED and (part.heir == 0 or awaited(d, s)):
            adopt(part.machine, d.clock, d.listener)
            part.since = d.clock
            part.state[0] = PLAYING
            if part.heir:
                inherit(d, s)
        if part.everywhere and part.state[0] == PLAYING:
            part.everywhere = 0
            d.latest = s
            for c in range(CHANNELS):
                d.routes[c] = s


@native
def awaited(d: Desk, s: int) -> bool:
    """Whether a new design has all strings that sound, and no elder has still to obey what was sent before it came.

    A note may have begun while it was made; or the end of one waits, by an instrument's delay, that must find it.
    """
    for p in range(PARTS):
        if d.parts[p].state[0] == PLAYING and d.parts[p].heir < d.parts[s].heir:
            elder = machine(d.parts[p].machine)
            if waits(elder) or not covers(machine(d.parts[s].machine), elder):
                return False
    return True


@native
def waits(m: Machine) -> bool:
    """Whether anything is still to be obeyed, or struck."""
    return head(m.ring) != NEVER or m.hand.waiting > 0


@native
def inherit(d: Desk, s: int) -> None:
    """Have all that sounds on older designs go on in this one."""
    for p in range(PARTS):
        if d.parts[p].state[0] == PLAYING and d.parts[p].heir < d.parts[s].heir:
            take_over(machine(d.parts[s].machine), machine(d.parts[p].machine))


@native
def deputy(d: Desk, s: int, key: int) -> int:
    """Who begins a note that a part is to begin: the part, or while that design lacks the key, the last whole one."""
    if s < 0 or d.parts[s].heir == 0 or machine(d.parts[s].machine).keys[key].ready:
        return s
    found = s
    for p in range(PARTS):
        part = d.parts[p]
        there = part.state[0] == PLAYING and part.heir < d.parts[s].heir and part.partial == 0
        if there and machine(d.parts[p].machine).keys[key].ready:
            found = p if found == s or d.parts[p].heir > d.parts[found].heir else found
    return found


@native
def route(d: Desk, channel: int) -> int:
    """The part that a channel's notes begin on, -1 if none: in an MPE zone that of its manager."""
    return d.routes[machine(d.listener).channels[channel].manager]  # type: ignore[no-any-return]


@native
def program(d: Desk, message: int) -> int:
    """The program that a program change asks for, by what the channel's bank select was."""
    own = machine(d.listener).channels[midi.channel(message)].position
    bank = max(int(own[midi.BANK]), 0) << 7 | max(int(own[midi.BANK_FINE]), 0)
    return bank << 7 | midi.first(message)


@native
def part_of(d: Desk, number: int) -> int:
    """The part that a program stands for, or -1."""
    return d.programs[number] if number < PROGRAMS else -1  # type: ignore[no-any-return]


@native
def choose(d: Desk, channel: int, number: int) -> int:
    """Have a channel's notes begin on the part of a program from now on; 0 if that part is not here."""
    s = part_of(d, number)
    if s < 0 or d.parts[s].state[0] != PLAYING:
        return 0
    d.routes[channel] = d.latest = s
    d.parts[s].asked = 0
    return 1


@native
def offer(d: Desk, sample: int, message: int) -> int:
    """Hand a message on, to be obeyed at a sample of the ensemble's clock, in order; 0 if it was lost on the way."""
    begins = midi.begins_note(message)
    taker, taken = deputy(d, route(d, midi.channel(message)), midi.first(message)) if begins else -1, 1
    for s in range(PARTS):
        part = d.parts[s]
        if part.state[0] == PLAYING and (s == taker or not begins):
            taken &= push(part.machine, sample + part.delay, message)
    if taker >= 0:
        d.latest = route(d, midi.channel(message))
    if midi.kind(message) > midi.NOTE_ON:
        obey(machine(d.listener), message)
    return taken


@native
def room(d: Desk, count: int) -> bool:
    """Whether every instrument can hold so many more events."""
    for s in range(PARTS):
        if d.parts[s].state[0] == PLAYING:
            ring = machine(d.parts[s].machine).ring
            if ring.written[0] - ring.read[0] + count > RING_SIZE:
                return False
    return True


@native
def routed(d: Desk, s: int) -> bool:
    """Whether notes of any channel begin on a part."""
    count = 0
    for c in range(CHANNELS):
        count += d.routes[c] == s
    return count > 0


@native
def idle(where: int) -> bool:
    """Nothing of the instrument sounds, not even its filters, and nothing waits to be obeyed."""
    m = machine(where)
    return m.idle == 1 and not waits(m)


@guarded
def arrive(address: Any, s: Any) -> None:
    """From Python: the part is whole, let it be welcomed with the next block."""
    store_release(desk(address).parts[s].state, 0, ARRIVED)


@guarded
def absent(address: Any, s: Any) -> Any:
    """From Python: whether nobody plays this part, nor will before it arrives."""
    return load_acquire(desk(address).parts[s].state, 0) == ABSENT


@guarded
def taker(address: Any, message: Any) -> Any:
    """From Python: the part that a message is for, here or not: what it begins a note on or chooses; or -1."""
    d = desk(address)
    if midi.kind(message) == midi.PROGRAM:
        return part_of(d, program(d, message))
    return route(d, midi.channel(message))


@guarded
def hand_on(address: Any, sample: Any, message: Any) -> Any:
    """From Python, while nobody plays: welcome who has arrived, and offer them a message or change a program."""
    d = desk(address)
    welcome(d)
    if midi.kind(message) == midi.PROGRAM:
        return choose(d, midi.channel(message), program(d, message))
    return offer(d, sample, message)
