"""The way in: one producer pushes events, the renderer takes them; neither ever waits.

Release and acquire order let the two run on different threads. Python's threads may all push: the interpreter's lock
makes them one producer.
"""

from __future__ import annotations

from typing import Any

from engine.compiled import guarded, integers, load_acquire, native, store_release
from engine.synth.fields import *


@guarded
def push(table: Any, sample: Any, message: Any) -> Any:
    """Queue a packed channel message for an absolute sample; 0 if the ring is full and the message was lost.

    What ends a note is not lost even then: it is flagged, and obeyed as soon as everything queued before it has been.
    """
    t = integers(table, TABLE)
    ring = integers(t[T_RING], R_ROWS + 2 * RING_SIZE)
    written = ring[R_WRITTEN]
    if written - load_acquire(ring, R_READ) < RING_SIZE:
        row = R_ROWS + 2 * (written & (RING_SIZE - 1))
        ring[row], ring[row + 1] = sample, message
        store_release(ring, R_WRITTEN, written + 1)
        return 1
    meters = integers(t[T_METERS], METERS)
    meters[M_LOST] += 1
    return flag(integers(t[T_LATE], LATE), message, written)


@native
def flag(late: Any, message: Any, written: Any) -> Any:
    """Write the loss's number beside the keys that a note-off or an all-notes-off ends, or beside all sound.

    Only this side writes the numbers, and the renderer remembers how far it has come: nothing is erased, so nothing
    that is lost at this very moment can be erased with it.
    """
    status, channel, first = message & 0xF0, message & 0x0F, (message >> 8) & 0x7F
    velocity, number = (message >> 16) & 0x7F, late[L_COUNT] + 1
    if status == 0x80 or (status == 0x90 and velocity == 0):
        low, high = first, first + 1
    elif status == 0xB0 and first >= 123:
        low, high = 0, KEYS
    elif status == 0xB0 and first == 120:
        low, high = KEYS, KEYS + 1
    else:
        return 0
    for key in range(low, high):
        late[L_FLAGS + channel * (KEYS + 1) + key] = number
    store_release(late, L_AFTER, written)
    store_release(late, L_COUNT, number)
    return 1
