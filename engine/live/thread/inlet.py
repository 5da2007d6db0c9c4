"""Where MIDI comes in: messages are stamped with the time of their arrival and wait in a ring for the audio thread.

Every port has an inlet of its own, since a ring has one producer; Python's threads share one under the interpreter's
lock. An inlet knows which keys and pedals its port holds, so that a port that is gone can be let go.
"""

from __future__ import annotations

from typing import Any

from engine import messages as midi
from engine.compiled import called_by_python, guarded, integers, load_acquire, native, now, octets, pasted
from engine.live.thread.fields import *
from engine.synth.fields import LATE, R_READ, R_ROWS, R_WRITTEN, RING_SIZE
from engine.synth.mts import LONGEST, NOTHING, part, parts
from engine.synth.ring import flag, put

SPARE = 128  # rows of a ring that are kept for letting go: 16 channels' pedals, wheels and pressures


@pasted
def ring_of(inlet: Any) -> Any:
    return integers(inlet[I_RING], R_ROWS + 2 * RING_SIZE)


@pasted
def late_of(inlet: Any) -> Any:
    return integers(inlet[I_LATE], LATE)


@guarded
def send(address: Any, stamp: Any, message: Any) -> Any:
    """From Python: queue a packed message; `stamp` in ns of `now()`, 0 for this moment. 0 if it was lost."""
    return arrive(address, stamp if stamp else now(), message)


@guarded
def offer(address: Any, stamp: Any, message: Any, size: Any) -> None:
    """From Python, for a port: queue the message if it is a whole one. Its bytes are one number, the first lowest."""
    if midi.is_whole(message, size):
        arrive(address, stamp, message)


@called_by_python
def receive(address: Any, data: Any, size: Any) -> None:
    """From a MIDI driver's thread: queue the message of `size` bytes at `data` if it is a whole one."""
    if size < 2 or size > LONGEST:
        return
    octet = octets(data, size)
    if size > 3:
        arrive_in_parts(address, now(), octet)
        return
    message = midi.packed(int(octet[0]), int(octet[1]), int(octet[2]) if size == 3 else 0)
    if midi.is_whole(message, size):
        arrive(address, now(), message)


@guarded
def offer_tuning(address: Any, stamp: Any, octet: Any) -> Any:
    """From Python: queue what these bytes, of a SysEx message, say of keys' tuning. 0 if any of it was lost."""
    return arrive_in_parts(address, stamp if stamp else now(), octet)


@native
def arrive_in_parts(address: Any, stamp: Any, octet: Any) -> Any:
    """Queue a tuning message as one message for each key; nothing if it is no whole one."""
    taken = 1
    for i in range(parts(octet)):
        message = part(octet, i)
        if message != NOTHING:
            taken &= arrive(address, stamp, message)
    return taken


@native
def arrive(address: Any, stamp: Any, message: Any) -> Any:
    """Queue a message; what ends notes is flagged if there is no room, and not lost."""
    return queue(address, stamp, message, SPARE)


@native
def queue(address: Any, stamp: Any, message: Any, spare: Any) -> Any:
    """The same, as long as more than `spare` rows are free; the port now holds what the instruments will."""
    inlet = integers(address, INLET_INTS)
    ring, held = ring_of(inlet), integers(inlet[I_HELD], HELD)
    taken = 0
    if RING_SIZE - (ring[R_WRITTEN] - load_acquire(ring, R_READ)) > spare:
        taken = put(ring, stamp, message)
    if not taken:
        held[H_LOST] += 1
        taken = flag(late_of(inlet), message, ring[R_WRITTEN])
    if taken:
        hold(held, message)
    return taken


@native
def hold(held: Any, message: Any) -> None:
    """Remember what the port will have to let go."""
    kind, channel, first = midi.kind(message), midi.channel(message), midi.first(message)
    word = H_KEYS + channel * HELD_WORDS + (first >> 5)
    if midi.begins_note(message):
        held[word] |= 1 << (first & 31)
    elif midi.ends_note(message):
        held[word] &= ~(1 << (first & 31))
    elif kind == midi.CONTROL and first in midi.PEDALS:
        held[H_MOVED] |= 1 << (PEDALS + channel)
    elif kind == midi.WHEEL:
        held[H_MOVED] |= 1 << (WHEEL + channel)
    elif kind == midi.PRESSURE:
        held[H_MOVED] |= 1 << (PRESSURE + channel)


@guarded
def let_go(address: Any) -> None:
    """End everything that an inlet holds; its port must be closed, since this is then the producer.

    Pedals and wheels first: a full inlet has room for these, and remembers the end of notes without.
    """
    inlet = integers(address, INLET_INTS)
    held, stamp = integers(inlet[I_HELD], HELD), now()
    for channel in range(midi.CHANNELS):
        if held[H_MOVED] >> (PEDALS + channel) & 1:
            for pedal in midi.PEDALS:
                queue(address, stamp, midi.packed(midi.CONTROL | channel, pedal), 0)
        if held[H_MOVED] >> (WHEEL + channel) & 1:
            queue(address, stamp, midi.bent(channel, 0), 0)
        if held[H_MOVED] >> (PRESSURE + channel) & 1:
            queue(address, stamp, midi.packed(midi.PRESSURE | channel), 0)
    held[H_MOVED] = 0
    for channel in range(midi.CHANNELS):
        for key in range(midi.KEYS):
            if held[H_KEYS + channel * HELD_WORDS + (key >> 5)] >> (key & 31) & 1:
                queue(address, stamp, midi.packed(midi.NOTE_OFF | channel, key), 0)
