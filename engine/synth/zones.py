"""MPE zones: a manager, channel 1 or 16, speaks for the members beside it, each of which bends notes of its own.

Every channel's row names its manager. One that is in no zone names itself, as managers do, and hears nobody else.
"""

from __future__ import annotations

from typing import Any

from engine import messages as midi
from engine.compiled import called_by_python, native
from engine.synth.fields import C_BEND, C_MANAGER, C_PRESSURE, C_RANGE, CHANNELS, UNMOVED
from engine.synth.machine import Machine

LAST = CHANNELS - 1
BEND_RANGE, MEMBER_BEND_RANGE = 200, 4800  # cents, until RPN 0 says otherwise


@native
def reset_controllers(own: Any) -> None:
    """CC 121 as MIDI's RP-015 has it: controllers as if never moved, so that presets' own values hold.

    All but bank, volume, pan, sounds (70 to 79) and effects (91 to 95), and ranges set by RPN. Of the sounds CC 74 goes
    too: MPE has made a gesture of it, like pressure and the wheel.
    """
    for number in range(128):
        kept = number in (midi.BANK, midi.VOLUME, midi.PAN, midi.BANK_FINE, midi.VOLUME_FINE, midi.PAN_FINE)
        kept |= midi.FIRST_SOUND <= number <= midi.LAST_SOUND and number != midi.BRIGHTNESS
        kept |= midi.FIRST_EFFECT <= number <= midi.LAST_EFFECT
        own[number] = own[number] if kept else UNMOVED
    own[C_PRESSURE], own[C_BEND] = UNMOVED, 0


@called_by_python
def enrol(own: Any, channel: Any, manager: Any) -> None:
    """Have a channel, whose row is `own`, begin anew under a manager, or under itself."""
    for number in range(128):
        own[number] = UNMOVED
    own[C_PRESSURE], own[C_BEND], own[C_MANAGER] = UNMOVED, 0, manager
    own[C_RANGE] = BEND_RANGE if manager == channel else MEMBER_BEND_RANGE


@native
def belongs(m: Machine, channel: Any, manager: Any) -> Any:
    """Whether a channel is a member of a manager's zone."""
    return channel != manager and m.channels[channel, C_MANAGER] == manager


@native
def hears(m: Machine, channel: Any, sender: Any) -> Any:
    """Whether a channel obeys what is sent on a channel: on its own, or its manager's."""
    return channel == sender or belongs(m, channel, sender)


@native
def members(m: Machine, manager: Any) -> Any:
    """How many members a manager speaks for."""
    count = 0
    for channel in range(CHANNELS):
        count += belongs(m, channel, manager)
    return count


@native
def position(m: Machine, channel: Any, number: Any) -> Any:
    """Where a controller stands for a channel's notes: its own once it has been moved, until then its manager's."""
    own = m.channels[channel]
    return own[number] if own[number] != UNMOVED else m.channels[own[C_MANAGER], number]


@native
def pressed(m: Machine, channel: Any, pedal: Any) -> Any:
    """How far down a pedal is for a channel's notes, by whichever foot: its own or its manager's."""
    own = m.channels[channel]
    return max(own[pedal], m.channels[own[C_MANAGER], pedal], 0)


@native
def bend(m: Machine, channel: Any) -> Any:
    """Semitones by which a channel's notes are bent: by its own wheel and, in a zone, by its manager's on top."""
    manager = m.channels[channel, C_MANAGER]
    semitones = wheel(m.channels[channel])
    return semitones if manager == channel else semitones + wheel(m.channels[manager])


@native
def wheel(own: Any) -> Any:
    """Semitones to which a channel's own wheel points."""
    return own[C_BEND] / 8192.0 * own[C_RANGE] * 0.01


@native
def share_range(m: Machine, channel: Any) -> None:
    """A member's bend range is that of all its zone's members."""
    manager = m.channels[channel, C_MANAGER]
    for other in range(CHANNELS):
        if belongs(m, channel, manager) and belongs(m, other, manager):
            m.channels[other, C_RANGE] = m.channels[channel, C_RANGE]


@native
def resize(m: Machine, manager: Any, count: Any) -> Any:
    """Give a zone so many members, 0 being the end of it; returns how far from the manager channels began anew, or -1.

    Where the zones would overlap, the other one gives way; it ends where it would have nobody left.
    """
    had, rivals = members(m, manager), members(m, LAST - manager)
    if had == count == 0:
        return -1
    reach = LAST if rivals > 0 and count >= LAST - 1 else max(had, count)
    for rank in range(reach + 1):
        channel = abs(manager - rank)
        enrol(m.channels[channel], channel, manager if rank <= count else channel)
    return reach
