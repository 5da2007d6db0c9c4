"""The way in: one producer puts events into a ring, one consumer takes them; neither ever waits.

Release and acquire order let the two run on different threads. Python's threads may all push: the interpreter's lock
makes them one producer.
"""

from __future__ import annotations

from typing import Any

from engine import messages as midi
from engine.compiled import guarded, load_acquire, native, store_release
from engine.synth.memory import ALL_NOTES, ALL_SOUND, KEYS, RING_SIZE, Late, Ring, machine

NEVER = 1 << 62  # later than any event


@guarded
def push(address: Any, sample: Any, message: Any) -> Any:
    """Queue a packed channel message for an absolute sample; 0 if the ring is full and the message was lost.

    What ends a note is not lost even then: it is flagged, and obeyed as soon as everything queued before it has been.
    """
    m = machine(address)
    if put(m.ring, sample, message):
        return 1
    m.meters.lost += 1
    return flag(m.late, message, m.ring.written[0])


@native
def put(ring: Ring, at: int, message: int) -> int:
    """Add a row; 0 if there is no room."""
    written = ring.written[0]
    if written - load_acquire(ring.read, 0) >= RING_SIZE:
        return 0
    row = ring.rows[written & (RING_SIZE - 1)]
    row[0], row[1] = at, message
    store_release(ring.written, 0, written + 1)
    return 1


@native
def head(ring: Ring) -> int:
    """When the next row is due, or NEVER."""
    if load_acquire(ring.written, 0) == ring.read[0]:
        return NEVER
    return ring.rows[ring.read[0] & (RING_SIZE - 1), 0]  # type: ignore[no-any-return]


@native
def take(ring: Ring) -> int:
    """The next row's message; the row is free again."""
    message = ring.rows[ring.read[0] & (RING_SIZE - 1), 1]
    store_release(ring.read, 0, ring.read[0] + 1)
    return message  # type: ignore[no-any-return]


@native
def flag(late: Late, message: int, written: int) -> int:
    """Write the loss's number beside what the message ends: a key, all notes or all sound of its channel.

    Only this side writes the numbers, and the consumer remembers how far it has come: nothing is erased, so nothing
    that is lost at this very moment can be erased with it.
    """
    kind, channel, first, number = midi.kind(message), midi.channel(message), midi.first(message), late.count[0] + 1
    if midi.ends_note(message):
        end = first
    elif kind == midi.CONTROL and first >= midi.ALL_NOTES_OFF:
        end = ALL_NOTES
    elif kind == midi.CONTROL and first == midi.ALL_SOUND_OFF:
        end = ALL_SOUND
    else:
        return 0
    late.losses[channel, end] = number
    store_release(late.after, 0, written)
    store_release(late.count, 0, number)
    return 1


@native
def flagged_since(ring: Ring, late: Late) -> int:
    """The number of the last loss already obeyed, if there are newer ones and all queued before them is done; or -1."""
    latest, seen = load_acquire(late.count, 0), late.seen[0]
    if latest == seen or ring.read[0] < load_acquire(late.after, 0):
        return -1
    late.seen[0] = latest
    return seen  # type: ignore[no-any-return]


@native
def flagged(late: Late, seen: int, channel: int, end: int) -> int:
    """The message that was lost since, or -1."""
    if not seen < late.losses[channel, end] <= late.seen[0]:
        return -1
    if end < KEYS:
        return midi.packed(midi.NOTE_OFF | channel, end)
    return midi.packed(midi.CONTROL | channel, midi.ALL_SOUND_OFF if end == ALL_SOUND else midi.ALL_NOTES_OFF)
