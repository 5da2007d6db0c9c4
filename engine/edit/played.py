"""What a page plays, as messages: each request of that kind, one table."""

from __future__ import annotations

from collections.abc import Callable

from engine import messages as midi
from engine.edit.errors import AskedError
from engine.synth.memory import CHANNELS

Messages = list[list[int]]


def _note(key: int, velocity: int, channel: int) -> Messages:
    return [[(midi.NOTE_ON if velocity else midi.NOTE_OFF) | channel, key, velocity or 64]]


def _controller(number: int, value: int, channel: int) -> Messages:
    return [[midi.CONTROL | channel, number, value]]


def _bend(value: int, channel: int) -> Messages:
    wheel = value + 8192
    return [[midi.WHEEL | channel, wheel & 0x7F, wheel >> 7]]


def _pressure(value: int, channel: int) -> Messages:
    return [[midi.PRESSURE | channel, value]]


def _midi(data: str) -> Messages:
    try:
        return [list(bytes.fromhex(data))]
    except ValueError:
        raise AskedError("data: must be hexadecimal digits") from None


def _silence() -> Messages:
    return [[midi.CONTROL | channel, midi.ALL_SOUND_OFF, 0] for channel in range(CHANNELS)]


PLAYED: dict[str, Callable[..., Messages]] = {
    "note": _note,
    "controller": _controller,
    "bend": _bend,
    "pressure": _pressure,
    "midi": _midi,
    "silence": _silence,
}
