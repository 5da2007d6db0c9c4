"""Sound cards: which there are, which one is meant, and what it can play."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.live.audio.libportaudio import Device, ErrorCode, HostApi, PortAudio, PortAudioError
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


REASONS: dict[int, str] = {
    ErrorCode.UNAVAILABLE: "is in use by another program, or gone; end that program, or take another --device",
    ErrorCode.DEVICE: "is gone; look at `jawari devices`",
    ErrorCode.RATE: "cannot play at this --sample-rate; see what it can with `jawari devices`",
    ErrorCode.CHANNELS: "cannot play so many --channels; see what it can with `jawari devices`",
    ErrorCode.FORMAT: "takes no floating-point samples; take another --device",
    ErrorCode.TOO_BIG: "refuses this --block-size, it is too large; try 128",
    ErrorCode.TOO_SMALL: "refuses this --block-size, it is too small; try 256",
    ErrorCode.TIMED_OUT: "does not answer; restart the sound system, or take another --device",
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
    portaudio = library()
    apis, devices = portaudio.host_apis(), portaudio.devices()
    default = _default(portaudio.default_output(), devices, apis)
    return [
        Card(
            device.number,
            device.name,
            apis[device.host_api].name,
            device.channels,
            device.rate,
            device.number == default,
            device.low,
            device.high,
        )
        for device in devices
        if device.channels > 0
    ]


def _default(index: int, devices: Sequence[Device], apis: Sequence[HostApi]) -> int:
    if index >= 0 and apis[devices[index].host_api].name in SLOW:
        quick = (api.default_output for api in apis if api.name == QUICK)
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
    portaudio = library()
    with quiet():
        error = _objection(portaudio, card, rate, channels)
        if error is None:
            return
        if channels > card.channels or error.code == ErrorCode.CHANNELS:
            within = range(1, min(card.channels, MOST_CHANNELS) + 1)
            counts = [n for n in within if _objection(portaudio, card, rate, n) is None]
            if channels > card.channels:
                counts = counts or list(within)  # the rate is wrong as well: one at a time
            if counts:
                raise DeviceError(
                    f"{card}: cannot play {channels} channels; take --channels {_or(counts)}, or another --device"
                )
        rates = [r for r in RATES if _objection(portaudio, card, r, channels) is None]
    if rates and rate not in rates:
        raise DeviceError(f"{card}: cannot play at {rate:g} Hz; take --sample-rate {_or(rates)}, or another --device")
    raise refused(error, card)


def _objection(portaudio: PortAudio, card: Card, rate: float, channels: int) -> PortAudioError | None:
    try:
        portaudio.check_output(card.index, channels, rate, card.high)
    except PortAudioError as error:
        return error
    return None


def _or(numbers: Sequence[float]) -> str:
    return " or ".join(", ".join(f"{n:g}" for n in numbers).rsplit(", ", 1))


def refused(error: PortAudioError, card: Card) -> DeviceError:
    """PortAudio's error as one line that says what to do."""
    reason = REASONS.get(error.code, f"cannot be opened ({printable(str(error))}); take another --device")
    return DeviceError(f"{card}: {reason}")
