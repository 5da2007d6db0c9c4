"""What is to be played: raw MIDI messages in time order, whatever they came from; cut, picked and split here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import messages as midi
from engine.music.errors import ScoreError
from engine.music.note import Note
from engine.physics.string import Array
from engine.preset.complaints import shown
from engine.synth.mts import ONE_BY_ONE, ONE_BY_ONE_OF_BANK, STANDARD
from engine.units import counted

Bytes = NDArray[np.uint8]
Event = tuple[int, Sequence[int]]  # sample, bytes

TUNING = midi.SYSEX  # of a row that stands for a SysEx message: the other 20 bits are its number among `tunings`
MOST_TUNINGS = 1 << 20
DRUMS = 9  # the channel that General MIDI keeps for them, counted from 0
_AT_A_TIME = 1000  # events turned into Python objects at once


@dataclass(frozen=True, eq=False)
class Score:
    """Messages in time order, and how long they last; `remarks` tell what was wrong with their source."""

    seconds: Array  # [n], not decreasing
    data: Bytes  # [n, 3]; the third byte of two-byte messages is 0
    length: float  # s, at least the last of seconds
    remarks: tuple[str, ...] = ()
    tunings: tuple[bytes, ...] = ()  # SysEx messages, whole
    facts: Mapping[str, Any] = field(default_factory=dict)  # what jawari wrote into the file of a take

    def __repr__(self) -> str:
        return f"<Score: {len(self.data)} messages, {self.length:g} s, keys struck {len(self.keys)}>"

    @property
    def keys(self) -> list[int]:
        """The keys that are struck, in order."""
        return [int(key) for key in np.unique(self.data[_strikes(self.data), 1])]

    @property
    def strings(self) -> int:
        """How many can sound at a time at most: every key of every channel that is struck has one of its own."""
        struck = self.data[_strikes(self.data)].astype(np.int64)
        return int(np.unique(midi.channel(struck[:, 0]) << 7 | struck[:, 1]).size)

    def events(self, rate: float) -> Iterator[Event]:
        """(sample, message bytes) in time order, at this sample rate."""
        for at in range(0, self.seconds.size, _AT_A_TIME):
            samples = np.rint(self.seconds[at : at + _AT_A_TIME] * rate).astype(np.int64)
            for sample, (status, *values) in zip(samples.tolist(), self.data[at : at + _AT_A_TIME].tolist()):
                if status >= TUNING:
                    yield sample, self.tunings[tuning_of(status, *values)]
                else:
                    yield sample, (status, *values)[: midi.size_of(status)]

    def of_channels(self, channels: Iterable[int]) -> Score:
        """Only the messages of these channels (from 0), all tunings, and what MPE zones' managers steer them by."""
        status, steering = self.data[:, 0], _kind(self.data) > midi.KEY_PRESSURE
        wanted = np.isin(midi.channel(status), list(channels)) | (status >= TUNING)
        for manager in self.managers:
            wanted |= (midi.channel(status) == manager) & steering
        return self._pick(wanted)

    @property
    def managers(self) -> list[int]:
        """The channels that form MPE zones."""
        forming = (self.data[:, 1] == midi.RPN_FINE) & (self.data[:, 2] == midi.ZONE)
        return [manager for manager in midi.MANAGERS if (forming & (self.data[:, 0] == midi.CONTROL | manager)).any()]

    def without_drums(self) -> Score:
        """Without channel 10, and a remark on it, if it is one of drums: a file's that is neither MPE nor our take."""
        drums = (midi.channel(self.data[:, 0]) == DRUMS) & (self.data[:, 0] < TUNING)
        notes = int((drums & _strikes(self.data)).sum())
        if not notes or self.managers or self.facts:
            return self
        told = f"channel {DRUMS + 1} is drums: {counted(notes, 'note')} skipped; --drums plays them"
        return replace(self._pick(~drums), remarks=(*self.remarks, told))

    def of_key(self, key: int) -> Score:
        """Only this key's notes, with everything that steers all keys."""
        return self._pick((_kind(self.data) > midi.KEY_PRESSURE) | (self.data[:, 1] == key))

    def parts(self, by: str) -> dict[str, Score]:
        """A score for every channel or key that sounds, by name; they all last as long as the whole."""
        if by == "key":
            return {f"key-{key:03}": self.of_key(key) for key in self.keys}
        channels = np.unique(midi.channel(self.data[_strikes(self.data), 0]))
        return {f"channel-{channel + 1:02}": self.of_channels([channel]) for channel in channels.tolist()}

    def between(self, start: float = 0.0, end: float | None = None) -> Score:
        """What begins from `start` on, before `end` (s): earlier controllers are kept, keys held at the end let go."""
        inside = self.seconds >= start
        if end is not None:
            inside &= self.seconds < end
        chased = _last_settings(self.data[self.seconds < start]) if start > 0.0 else self.data[:0]
        data = np.concatenate([chased, self.data[inside]])
        seconds = np.concatenate([np.zeros(len(chased)), self.seconds[inside] - start])
        length = max(0.0, self.length - start)
        if end is not None and end < self.length:
            length = max(0.0, end - start)
            releases = _releases(data)
            data = np.concatenate([data, releases])
            seconds = np.concatenate([seconds, np.full(len(releases), length)])
        return replace(self, seconds=seconds, data=data, length=length)

    def _pick(self, which: NDArray[np.bool_]) -> Score:
        return replace(self, seconds=self.seconds[which], data=self.data[which])


def score_of_notes(notes: Iterable[Note]) -> Score:
    """The messages of notes. A key struck again before it was let go is let go when the last of its notes ends."""
    strokes: list[tuple[float, int, Note]] = []
    for note in notes:
        end = note.start + note.duration
        strokes += [(note.start, 1, note), (end, 0 if end > note.start else 2, note)]
    strokes.sort(key=lambda stroke: stroke[:2])  # at the same time ends come first, but never before their beginning
    held: dict[tuple[int, int], int] = {}
    seconds, rows = [], []
    for time, order, note in strokes:
        string, down = (note.channel, note.key), order == 1
        held[string] = held.get(string, 0) + (1 if down else -1)
        if down or held[string] == 0:
            kind, velocity = (midi.NOTE_ON, note.velocity) if down else (midi.NOTE_OFF, 64)
            seconds.append(time)
            rows.append((kind | note.channel, note.key, velocity))
    return score_of_rows(seconds, rows)


def score_of_messages(messages: Iterable[Any]) -> Score:
    """The channel messages and tunings among mido messages whose `time` is absolute, in seconds."""
    timed: list[tuple[float, tuple[int, ...]]] = []
    tunings: list[bytes] = []
    for message in messages:
        if not (isinstance(message.time, int | float) and isfinite(message.time) and message.time >= 0):
            raise ScoreError(f"message {shown(str(message))}: its time must be seconds from the start, 0 or more")
        data = [] if message.is_meta else message.bytes()
        if data and data[0] < TUNING:
            timed.append((float(message.time), (*data, 0)[:3]))
        elif is_tuning(bytes(data)) and len(tunings) < MOST_TUNINGS:
            timed.append((float(message.time), tuning_row(len(tunings))))
            tunings.append(bytes(data))
    timed.sort(key=lambda event: event[0])
    return replace(score_of_rows([time for time, _ in timed], [row for _, row in timed]), tunings=tuple(tunings))


def is_tuning(data: bytes) -> bool:
    """Whether these bytes are a SysEx message about tuning; the instrument decides what it makes of it."""
    if len(data) < 6 or data[0] != midi.SYSEX or data[-1] != midi.SYSEX_END:
        return False
    return data[1] in (midi.NOT_REAL_TIME, midi.REAL_TIME) and data[3] == STANDARD


def tuning_row(number: int) -> tuple[int, int, int]:
    """The row that stands for a tuning."""
    return TUNING | number >> 16, number // 256 % 256, number % 256


def tuning_of(status: int, first: int, second: int) -> int:
    """The number of the tuning that a row stands for."""
    return int(midi.channel(status)) << 16 | first << 8 | second


def weight(data: Sequence[int]) -> int:
    """How many places a message may take in the instrument's ring: a tuning takes one for each key that it moves."""
    if data[0] != midi.SYSEX:
        return 1
    count = {ONE_BY_ONE: 6, ONE_BY_ONE_OF_BANK: 7}.get(data[4], len(data))  # where a single note change says how many
    return min(data[count], midi.KEYS) if count < len(data) else midi.KEYS


def score_of_rows(seconds: list[float], rows: Sequence[tuple[int, ...]]) -> Score:
    """Channel messages as they are, in order of time."""
    return Score(np.array(seconds, float), np.array(rows, np.uint8).reshape(-1, 3), max(seconds, default=0.0))


def _kind(data: Bytes) -> Any:
    return midi.kind(data[:, 0])


def _strikes(data: Bytes) -> NDArray[np.bool_]:
    return (_kind(data) == midi.NOTE_ON) & (data[:, 2] > 0)


def _last_settings(data: Bytes) -> Bytes:
    """What earlier messages leave set: the last of every controller, bend, pressure and program, in their order."""
    data = data[_kind(data) > midi.KEY_PRESSURE]
    control = _kind(data) == midi.CONTROL
    names = data[:, 0].astype(np.int64) << 8 | np.where(control, data[:, 1], 0)
    # Of parameters and their data, as of tunings, the order carries the meaning: a cut keeps them all.
    ordered = (control & np.isin(data[:, 1], midi.PARAMETERS)) | (_kind(data) == TUNING)
    names[ordered] = -1 - np.flatnonzero(ordered)  # all different
    _, from_the_end = np.unique(names[::-1], return_index=True)
    return data[np.sort(len(data) - 1 - from_the_end)]


def _releases(data: Bytes) -> Bytes:
    """Messages that let go every key and pedal still down after these."""
    down: dict[tuple[int, int], tuple[int, int, int]] = {}
    for status, key, value in data[(_kind(data) <= midi.NOTE_ON) | (_kind(data) == midi.CONTROL)].tolist():
        kind, channel = midi.kind(status), midi.channel(status)
        if kind == midi.CONTROL and key not in midi.HOLDING_PEDALS:
            continue
        name = (midi.CONTROL if kind == midi.CONTROL else midi.NOTE_ON) | channel, key
        down.pop(name, None)
        if kind == midi.CONTROL and value > 0:
            down[name] = (midi.CONTROL | channel, key, 0)
        elif kind == midi.NOTE_ON and value > 0:
            down[name] = (midi.NOTE_OFF | channel, key, 64)
    return np.array(list(down.values()), np.uint8).reshape(-1, 3)
