"""The way in: one producer pushes events, the renderer takes them; neither ever waits.

Release and acquire order let the two run on different threads. The producer may be Python or compiled code.
"""

from __future__ import annotations

from typing import Any

from engine.compiled import integers, load_acquire, native, store_release
from engine.synth.fields import *


@native
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
    return flag(integers(t[T_LATE], L_FLAGS + CHANNELS * KEYS), message, written)


@native
def flag(late: Any, message: Any, written: Any) -> Any:
    """Flag the keys that a note-off, an all-notes-off or an all-sound-off ends."""
    status, channel, first = message & 0xF0, message & 0x0F, (message >> 8) & 0x7F
    velocity = (message >> 16) & 0x7F
    silencing = status == 0xB0 and (first == 120 or first >= 123)
    if not (status == 0x80 or (status == 0x90 and velocity == 0) or silencing):
        return 0
    for key in range(KEYS):
        if silencing or key == first:
            late[L_FLAGS + channel * KEYS + key] = 1
    store_release(late, L_AFTER, written)
    store_release(late, L_COUNT, late[L_COUNT] + 1)
    return 1
