"""Leaf: MIDI's messages and controllers: the only place that knows their bytes, for Python and compiled code alike.

A short message travels as one number, its first byte lowest: status | first << 8 | second << 16. What it consists of is
asked by name: `kind(message)`, `channel(message)`, `first(message)`, `second(message)`; a lone status byte, and numpy's
arrays of either, are asked in the same way. Import it as `from engine import messages as midi`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

CHANNELS, KEYS = 16, 128


class Message(NamedTuple):
    """A kind of message; of a channel message the lower four bits of the status are the channel, here 0."""

    status: int
    size: int | None  # bytes with the status; None: as many as there are before SYSEX_END
    name: str


MESSAGES = (
    Message(NOTE_OFF := 0x80, 3, "note off"),
    Message(NOTE_ON := 0x90, 3, "note on"),  # with velocity 0 it is a note off
    Message(KEY_PRESSURE := 0xA0, 3, "key pressure"),
    Message(CONTROL := 0xB0, 3, "control change"),
    Message(PROGRAM := 0xC0, 2, "program change"),
    Message(PRESSURE := 0xD0, 2, "channel pressure"),
    Message(WHEEL := 0xE0, 3, "pitch wheel"),
    Message(SYSEX := 0xF0, None, "system exclusive"),
    Message(0xF1, 2, "quarter frame"),
    Message(0xF2, 3, "song position"),
    Message(0xF3, 2, "song select"),
    Message(0xF6, 1, "tune request"),
    Message(CLOCK := 0xF8, 1, "clock"),
    Message(START := 0xFA, 1, "start"),
    Message(CONTINUE := 0xFB, 1, "continue"),
    Message(STOP := 0xFC, 1, "stop"),
    Message(0xFE, 1, "active sensing"),
    Message(0xFF, 1, "reset"),
)
SYSEX_END = 0xF7
STATUS_BIT = 0x80  # it tells a status from what follows, which has seven bits
META = 0xFF  # what a MIDI file begins its remarks with; nothing is reset in a file

PULSES = (CLOCK, START, CONTINUE, STOP)  # what a clock sends

# The second byte of a SysEx message that is nobody's in particular, the third where it is for every device.
NOT_REAL_TIME, REAL_TIME, ALL_DEVICES = 0x7E, 0x7F, 0x7F

# Controllers by number.
CONTROLLERS = {
    (BANK := 0): "bank select",
    (MODULATION := 1): "modulation wheel",
    2: "breath",
    4: "foot pedal",
    5: "portamento time",
    (DATA := 6): "data entry",
    (VOLUME := 7): "volume",
    8: "balance",
    (PAN := 10): "pan",
    (EXPRESSION := 11): "expression",
    (BANK_FINE := 32): "bank select, fine",
    (DATA_FINE := 38): "data entry, fine",
    (VOLUME_FINE := 39): "volume, fine",
    (PAN_FINE := 42): "pan, fine",
    (SUSTAIN := 64): "sustain pedal",
    65: "portamento",
    (SOSTENUTO := 66): "sostenuto pedal",
    (SOFT := 67): "soft pedal",
    (LEGATO := 68): "legato pedal",
    69: "second sustain pedal",
    (FIRST_SOUND := 70): "variation",  # ten that change the sound, as RP-021 names them
    71: "resonance",
    72: "release time",
    73: "attack time",
    (BRIGHTNESS := 74): "brightness",  # MPE's third dimension
    75: "decay time",
    76: "vibrato rate",
    77: "vibrato depth",
    78: "vibrato delay",
    (LAST_SOUND := 79): "tenth sound controller",
    84: "portamento control",
    88: "high resolution velocity",
    (FIRST_EFFECT := 91): "reverb",
    92: "tremolo",
    93: "chorus",
    94: "celeste",
    (LAST_EFFECT := 95): "phaser",
    (DATA_UP := 96): "data increment",
    (DATA_DOWN := 97): "data decrement",
    (NRPN_FINE := 98): "non-registered parameter, fine",
    (NRPN := 99): "non-registered parameter",
    (RPN_FINE := 100): "registered parameter, fine",
    (RPN := 101): "registered parameter",
    # From here on they are no controllers, but commands in their place: mode messages.
    (ALL_SOUND_OFF := 120): "all sound off",
    (RESET_CONTROLLERS := 121): "reset all controllers",
    122: "local control",
    (ALL_NOTES_OFF := 123): "all notes off",  # and so do those that follow it
    124: "omni mode off",
    125: "omni mode on",
    126: "mono mode on",
    127: "poly mode on",
}
MODES = ALL_SOUND_OFF  # the first of the mode messages
PEDALS = (SUSTAIN, SOSTENUTO, SOFT)
HOLDING_PEDALS = (SUSTAIN, SOSTENUTO)  # those that keep a note when its key has come up
# Data entry and the parameter that it is for: their order carries the meaning.
PARAMETERS = (DATA, DATA_FINE, DATA_UP, DATA_DOWN, NRPN_FINE, NRPN, RPN_FINE, RPN)
BEND_RANGE, ZONE = 0, 6  # registered parameters: the pitch wheel's range, and the members of an MPE zone
MANAGERS = (0, CHANNELS - 1)  # the channels that may have such a zone
CENTRE = 1 << 13  # of the wheel, whose positions have 14 bits


def status(message: Any) -> Any:
    """The first byte."""
    return message & 0xFF


def kind(message: Any) -> Any:
    """The status without the channel: NOTE_ON, CONTROL ..."""
    return message & 0xF0


def channel(message: Any) -> Any:
    """The channel, from 0."""
    return message & 0x0F


def first(message: Any) -> Any:
    """What follows the status: a key, the number of a controller or a program, a pressure."""
    return message >> 8 & 0x7F


def second(message: Any) -> Any:
    """What follows that: a velocity, a controller's value."""
    return message >> 16 & 0x7F


def packed(status: Any, first: Any = 0, second: Any = 0) -> Any:
    """A short message's bytes as one number."""
    return status | first << 8 | second << 16


def bend(message: Any) -> Any:
    """How far a pitch wheel is from its middle: -8192 to 8191."""
    return (message >> 8 & 0x7F | message >> 9 & 0x3F80) - CENTRE


def bent(channel: Any, bend: Any) -> Any:
    """The message of a pitch wheel that stands there."""
    at = bend + CENTRE
    return WHEEL | channel | (at & 0x7F) << 8 | at >> 7 << 16


def size_of(status: Any) -> Any:
    """Bytes of a channel message: a program change and a channel pressure have one after the status, the others two."""
    return 3 - (status & 0xE0 == PROGRAM)


def is_channel_message(status: Any) -> Any:
    """Whether a status begins a message of a channel."""
    return (status >= NOTE_OFF) & (status < SYSEX)


def is_whole(message: Any, size: Any) -> Any:
    """Whether these are a channel message's bytes, all of them and no more, of those that have been packed."""
    return is_channel_message(message & 0xFF) & (message >> 8 & 0x8080 == 0) & (size == size_of(message))


def is_pulse(status: Any) -> Any:
    """Whether a status is a whole message of a clock."""
    return (status == CLOCK) | (status >= START) & (status <= STOP)


def begins_note(message: Any) -> Any:
    """Whether it strikes a key."""
    return (message & 0xF0 == NOTE_ON) & (message >> 16 & 0x7F > 0)


def ends_note(message: Any) -> Any:
    """Whether it lets a key go."""
    return (message & 0xF0 == NOTE_OFF) | ((message & 0xF0 == NOTE_ON) & (message >> 16 & 0x7F == 0))


def unpacked(message: int) -> tuple[int, ...]:
    """The bytes of a channel message, as many as it has."""
    return (status(message), first(message), second(message))[: size_of(status(message))]


def named(status: int) -> str:
    """What a message that begins so is called."""
    begun = status if status >= SYSEX else kind(status)
    return next((known.name for known in MESSAGES if known.status == begun), "unknown message")


# What compiled code calls as well; engine/compiled.py makes it known to numba, which this file does without.
COMPILED_TOO: tuple[Callable[..., Any], ...] = (
    *(status, kind, channel, first, second, packed, bend, bent, size_of),
    *(is_channel_message, is_whole, is_pulse, begins_note, ends_note),
)
