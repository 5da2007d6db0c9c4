"""MIDI's tuning standard: SysEx messages that give keys other pitches, and what becomes of them in a ring.

A message may concern one key or all. Each key's part travels as one number of its own, made where the bytes come in:
TUNING | key << 8 | code << 16 | at_once << 37, where the code counts 2^-14 semitones (69 << 14 is 440 Hz).

Read are the single note change (08 02, with bank 08 07), the bulk dump (08 01, with bank 08 04) and the tuning of an
octave for all channels (08 08 and 08 09). There is one tuning: whatever program a message names, it is the current one.
Checksums are not looked at, since those who send them do not agree on what is summed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import messages as midi
from engine.compiled import called_by_python, native

TUNING = midi.SYSEX  # the status of a packed message that tunes a key
LONGEST = 9 + 4 * 127  # bytes: a single note change, with bank, of as many keys as it can name
NO_CHANGE = 0x1FFFFF  # the code that leaves a key alone: all of its 21 bits
NOTHING = -1
STANDARD = 8  # the fourth byte: that the message is about tuning
BULK, ONE_BY_ONE, BULK_OF_BANK, ONE_BY_ONE_OF_BANK, OCTAVE, FINE_OCTAVE = 1, 2, 4, 7, 8, 9
_AT_ONCE = 37  # the bit


@native
def code_of(message: Any) -> Any:
    """The pitch of a packed message."""
    return message >> 16 & NO_CHANGE


@native
def is_at_once(message: Any) -> Any:
    """Whether a packed message is for strings that sound, too."""
    return message >> _AT_ONCE & 1


@called_by_python
def parts(octet: Any) -> Any:
    """How many keys these bytes may retune; 0 if they are no tuning message, or not a whole one."""
    size = octet.size
    if size < 12 or size > LONGEST or octet[0] != midi.SYSEX or octet[size - 1] != midi.SYSEX_END:
        return 0
    for i in range(1, size - 1):
        if octet[i] >= midi.STATUS_BIT:
            return 0
    real_time, kind = octet[1] == midi.REAL_TIME, octet[4]
    if octet[1] < midi.NOT_REAL_TIME or octet[3] != STANDARD:
        return 0
    if (kind == BULK and size == 408) or (kind == BULK_OF_BANK and size == 409):
        return 0 if real_time else 128
    if kind == ONE_BY_ONE and real_time:
        return int(octet[6]) if size == 8 + 4 * int(octet[6]) else 0
    if kind == ONE_BY_ONE_OF_BANK:
        return int(octet[7]) if size == 9 + 4 * int(octet[7]) else 0
    if (kind == OCTAVE and size == 21) or (kind == FINE_OCTAVE and size == 33):
        return 128 if octet[5] == 3 and octet[6] == octet[7] == 0x7F else 0
    return 0


@called_by_python
def part(octet: Any, i: Any) -> Any:
    """The packed message for one of the keys that these bytes retune, or NOTHING if they leave it alone."""
    kind, key = octet[4], i
    if kind >= OCTAVE:
        step = 163.84 * (np.int64(octet[8 + i % 12]) - 64)  # from cents
        if kind == FINE_OCTAVE:
            step = 2.0 * (np.int64(octet[8 + 2 * (i % 12)]) * 128 + octet[9 + 2 * (i % 12)] - 8192)
        code = min(max((key << 14) + np.int64(np.rint(step)), 0), NO_CHANGE - 1)
    else:
        if kind in (BULK, BULK_OF_BANK):
            at = (22 if kind == BULK else 23) + 3 * i
        else:
            at = (8 if kind == ONE_BY_ONE else 9) + 4 * i
            key = np.int64(octet[at - 1])
        code = np.int64(octet[at]) << 14 | np.int64(octet[at + 1]) << 7 | np.int64(octet[at + 2])
    if code == NO_CHANGE:
        return NOTHING
    return midi.packed(TUNING, key, code) | np.int64(octet[1] == midi.REAL_TIME) << _AT_ONCE


def octets_of(data: Sequence[int]) -> NDArray[np.uint8]:
    """Bytes as compiled code takes them."""
    return np.frombuffer(bytearray(data), np.uint8)


def tunings(data: Sequence[int]) -> list[int]:
    """The packed messages that a SysEx message, from first byte to last, makes of itself: none if it tunes nothing."""
    octet = octets_of(data)
    packed = [int(part(octet, i)) for i in range(parts(octet))]
    return [message for message in packed if message != NOTHING]


def sysex(message: int) -> bytes:
    """The single note change that a packed message is, to be written into a file."""
    code = message >> 16 & NO_CHANGE
    change = (1, midi.first(message), code >> 14, code >> 7 & 0x7F, code & 0x7F, midi.SYSEX_END)
    if message >> _AT_ONCE & 1:
        return bytes((midi.SYSEX, midi.REAL_TIME, midi.ALL_DEVICES, STANDARD, ONE_BY_ONE, 0, *change))
    return bytes((midi.SYSEX, midi.NOT_REAL_TIME, midi.ALL_DEVICES, STANDARD, ONE_BY_ONE_OF_BANK, 0, 0, *change))
