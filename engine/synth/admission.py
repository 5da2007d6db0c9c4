"""Who comes from Python with MIDI is looked at here: checked and packed, nothing else gets into compiled code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from numbers import Integral
from operator import index
from typing import Any, Protocol, TypeVar

from engine import messages as midi
from engine.preset.arguments import si
from engine.preset.complaints import shown
from engine.synth.errors import CallError
from engine.synth.memory import RING_SIZE
from engine.synth.mts import LONGEST, tunings

Packed = tuple[int, int]  # sample, and the message as one number
Data = TypeVar("Data")

# More than these at one sample are spread over the next ones: twice so many, and the keys of a tuning, fit the ring.
AT_ONCE = RING_SIZE // 2 - 128
MOST_SECONDS = 1e9


class Timed(Protocol):
    """What mido's messages are to us."""

    time: float

    def bytes(self) -> Sequence[int]: ...


Message = Timed | tuple[Sequence[int], float]  # as pedalboard takes them


def admitted(data: Sequence[int]) -> list[int]:
    """A channel message's bytes as one number, a tuning's as one for each key; nothing, if no string minds it."""
    try:
        octets = [index(value) for value in data[: LONGEST + 1]]
        size = len(data)
    except (TypeError, KeyError, IndexError):
        raise CallError(f"message {shown(data)}: must be bytes, or a list of whole numbers") from None
    if any(not 0 <= value <= 0xFF for value in octets):
        raise CallError(f"message {_written(octets)}: bytes must be 0 to 255")
    if octets and octets[0] == midi.SYSEX:
        return tunings(octets)
    if not octets or not midi.is_channel_message(octets[0]):
        return []
    wanted = midi.size_of(octets[0])
    if not wanted <= size <= 3:  # short ones may be filled up
        name = midi.named(octets[0])
        raise CallError(f"message {_written(octets)}: has {size} bytes, and a whole {name} has {wanted}")
    if max(octets[1:wanted]) >= midi.STATUS_BIT:
        raise CallError(f"message {_written(octets)}: what follows the first byte must be 0 to 127")
    return [midi.packed(*octets[:wanted])]


def moment(sample: Any) -> int:
    """An absolute sample as a plain number, not before the beginning."""
    if not isinstance(sample, Integral) or not sample < 1 << 62:
        raise CallError(f"sample {shown(sample)}: must be a whole number of samples since the reset")
    return max(int(sample), 0)


def in_order(messages: Iterable[Message], rate: float) -> list[Packed]:
    """Channel messages by sample, from messages with seconds: mido's, or (bytes, seconds); at once if before 0."""
    if isinstance(messages, str | bytes) or not isinstance(messages, Iterable):
        raise CallError(f"messages {shown(messages)}: must be a list of mido messages or of (bytes, seconds)")
    found = []
    for message in messages:
        data, seconds = _parts(message)
        time = si(seconds, "s")
        if not abs(time) <= MOST_SECONDS:
            raise CallError(f"time {shown(seconds)} of a message: must be seconds")
        found += [(time, number) for number in admitted(data)]
    found.sort(key=lambda event: event[0])
    return list(spread((max(round(seconds * rate), 0), number) for seconds, number in found))


def spread(
    events: Iterable[tuple[int, Data]], places: Callable[[Data], int] = lambda _: 1
) -> Iterator[tuple[int, Data]]:
    """Events in order of time, so delayed that those of one sample take no more than AT_ONCE `places` in the ring."""
    last, shared = -1, 0
    for sample, data in events:
        sample, own = max(sample, last), places(data)
        shared = shared + own if sample == last else own
        if shared > AT_ONCE:
            sample, shared = sample + 1, own
        last = sample
        yield sample, data


def _parts(message: Any) -> tuple[Any, Any]:
    if hasattr(message, "bytes") and hasattr(message, "time"):
        return message.bytes(), message.time
    if isinstance(message, tuple | list) and len(message) == 2:
        return message[0], message[1]
    raise CallError(f"message {shown(message)}: must be one of mido, or (bytes, seconds)")


def _written(octets: Sequence[int]) -> str:
    return " ".join(shown(value) for value in octets[:3])
