"""MPE zones: a manager, channel 1 or 16, speaks for the members beside it, each of which bends notes of its own.

Every channel's row names its manager. One that is in no zone names itself, as managers do, and hears nobody else.
"""

from __future__ import annotations

from engine import messages as midi
from engine.compiled import native
from engine.synth.memory import CHANNELS, CONTROLLERS, PRESSURE, UNMOVED, Channel, Machine

LAST = CHANNELS - 1
BEND_RANGE, MEMBER_BEND_RANGE = 200.0, 4800.0  # cents, until RPN 0 says otherwise


@native
def reset_controllers(own: Channel) -> None:
    """CC 121 as MIDI's RP-015 has it: controllers as if never moved, so that presets' own values hold.

    All but bank, volume, pan, sounds (70 to 79) and effects (91 to 95), and ranges set by RPN. Of the sounds CC 74 goes
    too: MPE has made a gesture of it, like pressure and the wheel.
    """
    for number in range(CONTROLLERS):
        kept = number in (midi.BANK, midi.VOLUME, midi.PAN, midi.BANK_FINE, midi.VOLUME_FINE, midi.PAN_FINE)
        kept |= midi.FIRST_SOUND <= number <= midi.LAST_SOUND and number != midi.BRIGHTNESS
        kept |= midi.FIRST_EFFECT <= number <= midi.LAST_EFFECT
        if not kept:
            own.position[number] = UNMOVED
    own.position[PRESSURE] = UNMOVED
    own.bend = 0.0


@native
def enrol(own: Channel, channel: int, manager: int) -> None:
    """Have a channel begin anew under a manager, or under itself."""
    for number in range(CONTROLLERS + 1):
        own.position[number] = UNMOVED
    own.bend, own.manager = 0.0, manager
    own.range = BEND_RANGE if manager == channel else MEMBER_BEND_RANGE


@native
def belongs(m: Machine, channel: int, manager: int) -> bool:
    """Whether a channel is a member of a manager's zone."""
    return channel != manager and m.channels[channel].manager == manager


@native
def hears(m: Machine, channel: int, sender: int) -> bool:
    """Whether a channel obeys what is sent on a channel: on its own, or its manager's."""
    return channel == sender or belongs(m, channel, sender)


@native
def members(m: Machine, manager: int) -> int:
    """How many members a manager speaks for."""
    count = 0
    for channel in range(CHANNELS):
        count += belongs(m, channel, manager)
    return count


@native
def position(m: Machine, channel: int, number: int) -> float:
    """Where a controller stands for a channel's notes: its own once it has been moved, until then its manager's."""
    own = m.channels[channel].position[number]
    return own if own != UNMOVED else m.channels[m.channels[channel].manager].position[number]  # type: ignore[no-any-return]


@native
def pressed(m: Machine, channel: int, pedal: int) -> float:
    """How far down a pedal is for a channel's notes, by whichever foot: its own or its manager's."""
    own = m.channels[channel]
    return max(own.position[pedal], m.channels[own.manager].position[pedal], 0.0)


@native
def bend(m: Machine, channel: int) -> float:
    """Semitones by which a channel's notes are bent: by its own wheel and, in a zone, by its manager's on top."""
    manager = m.channels[channel].manager
    semitones = wheel(m.channels[channel])
    return semitones if manager == channel else semitones + wheel(m.channels[manager])


@native
def wheel(own: Channel) -> float:
    """Semitones to which a channel's own wheel points."""
    return own.bend / 8192.0 * own.range * 0.01


@native
def share_range(m: Machine, channel: int) -> None:
    """A member's bend range is that of all its zone's members."""
    manager = m.channels[channel].manager
    for other in range(CHANNELS):
        if belongs(m, channel, manager) and belongs(m, other, manager):
            m.channels[other].range = m.channels[channel].range


@native
def resize(m: Machine, manager: int, count: int) -> int:
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
