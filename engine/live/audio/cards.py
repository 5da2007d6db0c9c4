"""Sound cards: which there are, which one is meant, and what it can play."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from engine.live.audio.portaudio import INSTEAD, library, quiet
from engine.live.errors import DeviceError
from engine.preset.complaints import shown
from engine.printable import printable

RATES = (22050, 24000, 32000, 44100, 48000, 88200, 96000, 176400, 192000)  # worth offering
MOST_CHANNELS = 8  # that are tried
# PortAudio's defaults on Windows, too slow to play on: some 100 ms where WASAPI has 10.
SLOW, QUICK = ("MME", "Windows DirectSound"), "Windows WASAPI"

_NONE = {
    "linux": "plug one in, or start a sound server (jackd or PipeWire)",
    "darwin": "plug one in, or choose an output in the system's settings",
    "win32": "plug one in, or enable an output in the system's settings",
}


class Code(IntEnum):
    """PortAudio's errors, of portaudio.h, that a user can do something about; HOST is anything else that went wrong."""

    HOST, CHANNELS, RATE, DEVICE = -9999, -9998, -9997, -9996
    FORMAT, TOO_BIG, TOO_SMALL, TIMED_OUT, UNAVAILABLE = -9994, -9991, -9990, -9987, -9985


REASONS: dict[int, str] = {
    Code.UNAVAILABLE: "is in use by another program, or gone; end that program, or take another --device",
    Code.DEVICE: "is gone; look at `jawari devices`",
    Code.RATE: "cannot play at this --sample-rate; see what it can with `jawari devices`",
    Code.CHANNELS: "cannot play so many --channels; see what it can with `jawari devices`",
    Code.FORMAT: "takes no floating-point samples; take another --device",
    Code.TOO_BIG: "refuses this --block-size, it is too large; try 128",
    Code.TOO_SMALL: "refuses this --block-size, it is too small; try 256",
    Code.TIMED_OUT: "does not answer; restart the sound system, or take another --device",
}


@dataclass(frozen=True)
class Card:
    """A sound card, or a sound server's output, as PortAudio knows it; latencies in seconds."""

    index: int
    name: str
    host_api: str
    channels: int
    rate: float
    default: bool
    low: float
    high: float

    def __str__(self) -> str:
        return printable(f"{self.name} ({self.host_api})")


def cards() -> list[Card]:
    """Every card that can play."""
    sounddevice = library()
    apis = sounddevice.query_hostapis()
    default = _default(sounddevice, apis)
    return [
        Card(
            device["index"],
            device["name"],
            apis[device["hostapi"]]["name"],
            device["max_output_channels"],
            device["default_samplerate"],
            device["index"] == default,
            device["default_low_output_latency"],
            device["default_high_output_latency"],
        )
        for device in sounddevice.query_devices()
        if device["max_output_channels"] > 0
    ]


def _default(sounddevice: Any, apis: Sequence[dict[str, Any]]) -> int:
    index = int(sounddevice.default.device[1])
    if index >= 0 and apis[sounddevice.query_devices(index)["hostapi"]]["name"] in SLOW:
        quick = (api["default_output_device"] for api in apis if api["name"] == QUICK)
        return next((i for i in quick if i >= 0), index)
    return index


def choose(wanted: str | int | None = None) -> Card:
    """The card of this number, or with this in its name or its "name (host API)"; None: the default."""
    found = cards()
    if not found:
        raise DeviceError(f"there is no sound card; {_NONE.get(sys.platform, 'plug one in')}; {INSTEAD}")
    if wanted is None:
        return default_of(found)
    text = str(wanted).strip().lower()
    for fits in (_numbered, _named, _like):
        matches = [card for card in found if fits(card, text)]
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise DeviceError(
                f"--device {shown(text)}: which one? {_listed(matches)}; give more of its name or its number"
            )
    raise DeviceError(f"--device {shown(text)}: there is no such sound card; there are {_listed(found)}; {INSTEAD}")


def default_of(found: Sequence[Card]) -> Card:
    """The default card, or the first one if none is."""
    return next((card for card in found if card.default), found[0])


def _numbered(card: Card, text: str) -> bool:
    return text == str(card.index)


def _named(card: Card, text: str) -> bool:
    return text in (card.name.lower(), str(card).lower())


def _like(card: Card, text: str) -> bool:
    return text in f"{card} {card.host_api} {card.name}".lower()


def _listed(found: Iterable[Card]) -> str:
    return ", ".join(f"[{card.index}] {card}" for card in found)


def check(card: Card, rate: float, channels: int) -> None:
    """Refuse what the card cannot play, and say what it can."""
    sounddevice = library()
    with quiet():
        error = _objection(sounddevice, card, rate, channels)
        if error is None:
            return
        if channels > card.channels or _code(error) == Code.CHANNELS:
            within = range(1, min(card.channels, MOST_CHANNELS) + 1)
            counts = [n for n in within if _objection(sounddevice, card, rate, n) is None]
            if channels > card.channels:
                counts = counts or list(within)  # the rate is wrong as well: one at a time
            if counts:
                raise DeviceError(
                    f"{card}: cannot play {channels} channels; take --channels {_or(counts)}, or another --device"
                )
        rates = [r for r in RATES if _objection(sounddevice, card, r, channels) is None]
    if rates and rate not in rates:
        raise DeviceError(f"{card}: cannot play at {rate:g} Hz; take --sample-rate {_or(rates)}, or another --device")
    raise refused(error, card)


def _objection(sounddevice: Any, card: Card, rate: float, channels: int) -> Exception | None:
    try:
        sounddevice.check_output_settings(card.index, channels, "float32", samplerate=rate)
    except sounddevice.PortAudioError as error:
        return error  # type: ignore[no-any-return]
    return None


def _or(numbers: Sequence[float]) -> str:
    return " or ".join(", ".join(f"{n:g}" for n in numbers).rsplit(", ", 1))


def refused(error: Exception, card: Card) -> DeviceError:
    """PortAudio's error as one line that says what to do."""
    code = _code(error)
    said = str(error.args[2][2] if code == Code.HOST and len(error.args) > 2 else error.args[0])
    reason = REASONS.get(code, f"cannot be opened ({printable(said.rpartition(': ')[2])}); take another --device")
    return DeviceError(f"{card}: {reason}")


def _code(error: Exception) -> int:
    return int(error.args[1]) if len(error.args) > 1 else 0
