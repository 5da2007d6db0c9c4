"""The way in: one producer puts events into a ring, one consumer takes them; neither ever waits.

Release and acquire order let the two run on different threads. Python's threads may all push: the interpreter's lock
makes them one producer.
"""

from __future__ import annotations

from typing import Any

from engine import messages as midi
from engine.compiled import guarded, integers, load_acquire, native, store_release
from engine.synth.fields import *

NEVER = 1 << 62  # later than any event


@guarded
def push(table: Any, sample: Any, message: Any) -> Any:
    """Queue a packed channel message for an absolute sample; 0 if the ring is full and the message was lost.

    What ends a note is not lost even then: it is flagged, and obeyed as soon as everything queued before it has been.
    """
    t = integers(table, TABLE)
    ring, late = integers(t[T_RING], R_ROWS + 2 * RING_SIZE), integers(t[T_LATE], LATE)
    if put(ring, sample, message):
        return 1
    meters = integers(t[T_METERS], METERS)
    meters[M_LOST] += 1
    return flag(late, message, ring[R_WRITTEN])


@native
def put(ring: Any, at: Any, message: Any) -> Any:
    """Add a row; 0 if there is no room."""
    written = ring[R_WRITTEN]
    if written - load_acquire(ring, R_READ) >= RING_SIZE:
        return 0
    row = R_ROWS + 2 * (written & (RING_SIZE - 1))
    ring[row], ring[row + 1] = at, message
    store_release(ring, R_WRITTEN, written + 1)
    return 1


@native
def head(ring: Any) -> Any:
    """When the next row is due, or NEVER."""
    if load_acquire(ring, R_WRITTEN) == ring[R_READ]:
        return NEVER
    return ring[R_ROWS + 2 * (ring[R_READ] & (RING_SIZE - 1))]


@native
def take(ring: Any) -> Any:
    """The next row's message; the row is free again."""
    message = ring[R_ROWS + 2 * (ring[R_READ] & (RING_SIZE - 1)) + 1]
    store_release(ring, R_READ, ring[R_READ] + 1)
    return message


@native
def flag(late: Any, message: Any, written: Any) -> Any:
    """Write the loss's number beside what the message ends: a key, all notes or all sound of its channel.

    Only this side writes the numbers, and the consumer remembers how far it has come: nothing is erased, so nothing
    that is lost at this very moment can be erased with it.
    """
    kind, channel, first, number = midi.kind(message), midi.channel(message), midi.first(message), late[L_COUNT] + 1
    if midi.ends_note(message):
        end = first
    elif kind == midi.CONTROL and first >= midi.ALL_NOTES_OFF:
        end = ALL_NOTES
    elif kind == midi.CONTROL and first == midi.ALL_SOUND_OFF:
        end = ALL_SOUND
    else:
        return 0
    late[L_FLAGS + channel * ENDS + end] = number
    store_release(late, L_AFTER, written)
    store_release(late, L_COUNT, number)
    return 1


@native
def flagged_since(ring: Any, late: Any) -> Any:
    """The number of the last loss already obeyed, if there are newer ones and all queued before them is done; or -1."""
    latest, seen = load_acquire(late, L_COUNT), late[L_SEEN]
    if latest == seen or ring[R_READ] < load_acquire(late, L_AFTER):
        return -1
    late[L_SEEN] = latest
    return seen


@native
def flagged(late: Any, seen: Any, channel: Any, end: Any) -> Any:
    """The message that was lost since, or -1."""
    if not seen < late[L_FLAGS + channel * ENDS + end] <= late[L_SEEN]:
        return -1
    if end < KEYS:
        return midi.packed(midi.NOTE_OFF | channel, end)
    return midi.packed(midi.CONTROL | channel, midi.ALL_SOUND_OFF if end == ALL_SOUND else midi.ALL_NOTES_OFF)
