"""Where MIDI comes in: messages are stamped with the time of their arrival and wait in a ring for the audio thread.

Every port has an inlet of its own, since a ring has one producer; Python's threads share one under the interpreter's
lock. An inlet knows which keys and pedals its port holds, so that a port that is gone can be let go.
"""

from __future__ import annotations

from typing import Any

from engine import messages as midi
from engine.compiled import entry, guarded, load_acquire, native, now, octets, store_release
from engine.live.thread.memory import BREATH, PEDALS, PULSES, WHEEL, Inlet, inlet_at
from engine.synth.memory import CHANNELS, KEYS, RING_SIZE
from engine.synth.mts import LONGEST, NOTHING, part, parts
from engine.synth.ring import flag, put

SPARE = 128  # rows of a ring that are kept for letting go: 16 channels' pedals, wheels and pressures


@guarded
def send(address: Any, stamp: Any, message: Any) -> Any:
    """From Python: queue a packed message; `stamp` in ns of `now()`, 0 for this moment. 0 if it was lost."""
    return arrive(address, stamp if stamp else now(), message)


@guarded
def offer(address: Any, stamp: Any, message: Any, size: Any) -> None:
    """From Python, for a port: queue the message if it is a whole one. Its bytes are one number, the first lowest."""
    if midi.is_whole(message, size):
        arrive(address, stamp, message)


@guarded
def offer_pulse(address: Any, stamp: Any, status: Any) -> None:
    """From Python, for a port: note a message of its clock."""
    note_pulse(inlet_at(address), stamp, status)


@entry
def receive(address: Any, data: Any, size: Any) -> None:
    """From a MIDI driver's thread: queue the message of `size` bytes at `data` if it is a whole one."""
    if size < 1 or size > LONGEST:
        return
    octet = octets(data, size)
    if size == 1:
        note_pulse(inlet_at(address), now(), int(octet[0]))
        return
    if size > 3:
        arrive_in_parts(address, now(), octet)
        return
    message = midi.packed(int(octet[0]), int(octet[1]), int(octet[2]) if size == 3 else 0)
    if midi.is_whole(message, size):
        arrive(address, now(), message)


@guarded
def offer_tuning(address: Any, stamp: Any, data: Any, size: Any) -> Any:
    """From Python: queue what `size` bytes of a SysEx message say of keys' tuning. 0 if any of it was lost."""
    return arrive_in_parts(address, stamp if stamp else now(), octets(data, size))


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
    inlet = inlet_at(address)
    ring, taken = inlet.ring, 0
    if RING_SIZE - (ring.written[0] - load_acquire(ring.read, 0)) > spare:
        taken = put(ring, stamp, message)
    if not taken:
        inlet.lost += 1
        taken = flag(inlet.late, message, ring.written[0])
    if taken:
        hold(inlet, message)
    return taken


@native
def note_pulse(inlet: Inlet, stamp: int, status: int) -> None:
    """Keep a message of a clock for whoever follows it; it says nothing to instruments."""
    if not midi.is_pulse(status):
        return
    written = inlet.pulses.written
    row = inlet.pulses.rows[written[0] & (PULSES - 1)]
    row[0], row[1] = stamp, status
    store_release(written, 0, written[0] + 1)


@native
def hold(inlet: Inlet, message: int) -> None:
    """Remember what the port will have to let go."""
    kind, channel, first = midi.kind(message), midi.channel(message), midi.first(message)
    word, bit = first >> 5, 1 << (first & 31)
    if midi.begins_note(message):
        inlet.keys[channel, word] |= bit
    elif midi.ends_note(message):
        inlet.keys[channel, word] &= ~bit
    elif kind == midi.CONTROL and first in midi.PEDALS:
        inlet.moved |= 1 << (PEDALS + channel)
    elif kind == midi.WHEEL:
        inlet.moved |= 1 << (WHEEL + channel)
    elif kind == midi.PRESSURE:
        inlet.moved |= 1 << (BREATH + channel)


@guarded
def let_go(address: Any) -> None:
    """End everything that an inlet holds; its port must be closed, since this is then the producer.

    Pedals and wheels first: a full inlet has room for these, and remembers the end of notes without.
    """
    inlet, stamp = inlet_at(address), now()
    for channel in range(CHANNELS):
        if inlet.moved >> (PEDALS + channel) & 1:
            for pedal in midi.PEDALS:
                queue(address, stamp, midi.packed(midi.CONTROL | channel, pedal), 0)
        if inlet.moved >> (WHEEL + channel) & 1:
            queue(address, stamp, midi.bent(channel, 0), 0)
        if inlet.moved >> (BREATH + channel) & 1:
            queue(address, stamp, midi.packed(midi.PRESSURE | channel), 0)
    inlet.moved = 0
    for channel in range(CHANNELS):
        for key in range(KEYS):
            if inlet.keys[channel, key >> 5] >> (key & 31) & 1:
                queue(address, stamp, midi.packed(midi.NOTE_OFF | channel, key), 0)
