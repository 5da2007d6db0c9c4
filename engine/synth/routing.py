"""Which instrument of an ensemble a message goes to: every one steers all of them, a note begins on one.

So all instruments hold the same controllers, bends and pedals, and a channel may change from one to another at any
sample with nothing to be copied or cut: what sounds rings on, and hears its note-offs and pedals as before. A listener
without strings hears everything at the moment it is offered; who comes later learns from it where all channels stand.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from engine import messages as midi
from engine.compiled import (
    float_rows,
    guarded,
    integer_rows,
    integers,
    load_acquire,
    native,
    pasted,
    singles,
    store_release,
)
from engine.synth.control import obey
from engine.synth.fields import *
from engine.synth.idle import adopt
from engine.synth.machine import machine
from engine.synth.ring import NEVER, head, push


class Desk(NamedTuple):
    """Everything that an ensemble is made of, beside its instruments."""

    settings: Any
    parts: Any
    gains: Any
    routes: Any
    programs: Any
    listener: Any  # the address of its table
    mix: Any
    mix_address: Any


@pasted
def desk(address: Any) -> Any:
    """The arrays behind the table at `address`."""
    t = integers(address, ENSEMBLE)
    return Desk(
        integers(t[E_SETTINGS], ENSEMBLE_SETTINGS),
        integer_rows(t[E_PARTS], PARTS, PART_INTS),
        float_rows(t[E_GAINS], PARTS, 2),
        integers(t[E_ROUTES], CHANNELS),
        integers(t[E_PROGRAMS], PROGRAMS),
        t[E_LISTENER],
        singles(t[E_MIX], 2 * MIXED),
        t[E_MIX],
    )


@pasted
def channels_of(table: Any) -> Any:
    return integer_rows(integers(table, TABLE)[T_CHANNELS], CHANNELS, CHANNEL_INTS)


@pasted
def events_of(table: Any) -> Any:
    return integers(integers(table, TABLE)[T_RING], R_ROWS + 2 * RING_SIZE)


@native
def welcome(d: Desk) -> None:
    """Take in who has arrived, as if it had been there, idle, from the start: clock and channels are the others'."""
    for s in range(PARTS):
        part = d.parts[s]
        if load_acquire(part, U_STATE) == ARRIVED:
            adopt(part[U_TABLE], d.settings[D_CLOCK], d.listener)
            part[U_STATE] = PLAYING
        if part[U_ALL] and part[U_STATE] == PLAYING:
            part[U_ALL] = 0
            d.settings[D_LATEST] = s
            for c in range(CHANNELS):
                d.routes[c] = s


@native
def route(d: Desk, channel: Any) -> Any:
    """The part that a channel's notes begin on, -1 if none: in an MPE zone that of its manager."""
    return d.routes[channels_of(d.listener)[channel, C_MANAGER]]


@native
def program(d: Desk, message: Any) -> Any:
    """The program that a program change asks for, by what the channel's bank select was."""
    own = channels_of(d.listener)[midi.channel(message)]
    return (max(own[midi.BANK], 0) << 7 | max(own[midi.BANK_FINE], 0)) << 7 | midi.first(message)


@native
def part_of(d: Desk, number: Any) -> Any:
    """The part that a program stands for, or -1."""
    return d.programs[number] if number < PROGRAMS else -1


@native
def choose(d: Desk, channel: Any, number: Any) -> Any:
    """Have a channel's notes begin on the part of a program from now on; 0 if that part is not here."""
    s = part_of(d, number)
    if s < 0 or d.parts[s, U_STATE] != PLAYING:
        return 0
    d.routes[channel] = d.settings[D_LATEST] = s
    d.parts[s, U_ASKED] = 0
    return 1


@native
def offer(d: Desk, sample: Any, message: Any) -> Any:
    """Hand a message on, to be obeyed at a sample of the ensemble's clock, in order; 0 if it was lost on the way."""
    begins = midi.begins_note(message)
    taker, taken = route(d, midi.channel(message)) if begins else -1, 1
    for s in range(PARTS):
        if d.parts[s, U_STATE] == PLAYING and (s == taker or not begins):
            taken &= push(d.parts[s, U_TABLE], sample + d.parts[s, U_DELAY], message)
    if taker >= 0:
        d.settings[D_LATEST] = taker
    if midi.kind(message) > midi.NOTE_ON:
        obey(machine(d.listener), message)
    return taken


@native
def room(d: Desk) -> Any:
    """Whether every instrument can hold one more event."""
    for s in range(PARTS):
        if d.parts[s, U_STATE] == PLAYING:
            ring = events_of(d.parts[s, U_TABLE])
            if ring[R_WRITTEN] - ring[R_READ] >= RING_SIZE:
                return False
    return True


@native
def routed(d: Desk, s: Any) -> Any:
    """Whether notes of any channel begin on a part."""
    count = 0
    for c in range(CHANNELS):
        count += d.routes[c] == s
    return count > 0


@native
def idle(table: Any) -> Any:
    """Nothing of the instrument sounds, not even its filters, and nothing waits to be obeyed."""
    settings = integers(integers(table, TABLE)[T_SETTINGS], SETTINGS)
    return settings[S_IDLE] and head(events_of(table)) == NEVER


@guarded
def arrive(address: Any, s: Any) -> None:
    """From Python: the part is whole, let it be welcomed with the next block."""
    store_release(desk(address).parts[s], U_STATE, ARRIVED)


@guarded
def absent(address: Any, s: Any) -> Any:
    """From Python: whether nobody plays this part, nor will before it arrives."""
    return load_acquire(desk(address).parts[s], U_STATE) == ABSENT


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
