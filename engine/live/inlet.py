"""Where MIDI comes in: messages are stamped with the time of their arrival and wait in a ring for the audio thread.

Every port has an inlet of its own, since a ring has one producer; Python's threads share one under the interpreter's
lock. An inlet knows which keys and pedals its port holds, so that a port that is gone can be let go.
"""

from __future__ import annotations

from typing import Any

from engine.compiled import guarded, integers, native, now, octets, pasted
from engine.live.fields import *
from engine.synth.fields import LATE, R_ROWS, R_WRITTEN, RING_SIZE
from engine.synth.ring import flag, put

CENTRE = 0x40 << 16  # of a pitch wheel, packed


@pasted
def ring_of(inlet: Any) -> Any:
    return integers(inlet[I_RING], R_ROWS + 2 * RING_SIZE)


@pasted
def late_of(inlet: Any) -> Any:
    return integers(inlet[I_LATE], LATE)


@guarded
def send(address: Any, stamp: Any, message: Any) -> Any:
    """From Python: queue a packed channel message; `stamp` in ns of `now()`, 0 for this moment. 0 if it was lost."""
    return arrive(address, stamp if stamp else now(), message)


@native
def receive(address: Any, data: Any, size: Any) -> None:
    """From a MIDI driver's thread: queue the message of `size` bytes at `data` if it is a whole channel message."""
    if size < 2 or size > 3:
        return
    octet = octets(data, size)
    status, first, second = int(octet[0]), int(octet[1]), 0
    if size == 3:
        second = int(octet[2])
    short = status & 0xE0 == 0xC0  # program change and channel pressure have one byte of data
    if 0x80 <= status < 0xF0 and (first | second) < 0x80 and short == (size == 2):
        arrive(address, now(), status | first << 8 | second << 16)


@native
def arrive(address: Any, stamp: Any, message: Any) -> Any:
    """Queue a message; what ends notes is flagged if the ring is full, and not lost."""
    inlet = integers(address, INLET_INTS)
    held = integers(inlet[I_HELD], HELD)
    hold(held, message)
    ring = ring_of(inlet)
    if put(ring, stamp, message):
        return 1
    held[H_LOST] += 1
    return flag(late_of(inlet), message, ring[R_WRITTEN])


@native
def hold(held: Any, message: Any) -> None:
    """Remember what the port will have to let go."""
    status, channel = message & 0xF0, message & 0x0F
    first, second = (message >> 8) & 0x7F, (message >> 16) & 0x7F
    word = H_KEYS + channel * HELD_WORDS + (first >> 5)
    if status == 0x90 and second > 0:
        held[word] |= 1 << (first & 31)
    elif status == 0x80 or status == 0x90:
        held[word] &= ~(1 << (first & 31))
    elif status == 0xB0 and first in (64, 66, 67):
        held[H_MOVED] |= 1 << (PEDALS + channel)
    elif status == 0xE0:
        held[H_MOVED] |= 1 << (WHEEL + channel)
    elif status == 0xD0:
        held[H_MOVED] |= 1 << (PRESSURE + channel)


@guarded
def let_go(address: Any) -> Any:
    """End everything that an inlet holds; its port must be closed, since this is then the producer.

    0 if there was no room to move all pedals and wheels back: try again when some events have been played.
    """
    inlet = integers(address, INLET_INTS)
    held, stamp, done = integers(inlet[I_HELD], HELD), now(), 1
    moved = held[H_MOVED]
    for channel in range(16):
        for key in range(128):
            if held[H_KEYS + channel * HELD_WORDS + (key >> 5)] >> (key & 31) & 1:
                arrive(address, stamp, 0x80 | channel | key << 8)
        if moved >> (PEDALS + channel) & 1:
            for pedal in (64, 66, 67):
                done &= arrive(address, stamp, 0xB0 | channel | pedal << 8)
        if moved >> (WHEEL + channel) & 1:
            done &= arrive(address, stamp, 0xE0 | channel | CENTRE)
        if moved >> (PRESSURE + channel) & 1:
            done &= arrive(address, stamp, 0xD0 | channel)
    if done:
        held[H_MOVED] = 0
    return done
