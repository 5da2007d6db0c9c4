"""What was played, kept: a MIDI file whose ticks are the sound card's samples.

Rendered with the same preset at the same rate, and the limiter, it gives the same samples that were heard. Until the
session ends the events are in a journal on disk: records with their length and a checksum, so that whatever ends the
program, all that was written before can be read. From there they go into the MIDI file, some thousand at a time.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from engine import messages as midi
from engine.errors import EngineError
from engine.files.errors import FileError
from engine.files.target import named, whole_file
from engine.files.unfinished import Unfinished
from engine.music.midi_file import END_OF_TRACK, FACTS, TEMPO, TEXT
from engine.music.midi_run import MORE
from engine.synth.mts import TUNING, sysex
from engine.units import counted

Integers = NDArray[np.int64]

MAGIC = b"jawari take 1\n"
MOST_TICKS = 32767  # per quarter note, in a MIDI file
MICROSECONDS = 1_000_000
LONGEST_WAIT = (1 << 28) - 1  # ticks: the longest distance that a MIDI file can say

_RECORD, _ROWS = struct.Struct("<II"), 4096  # length and CRC-32 of what follows; rows of a record at most
_LARGEST = 1 << 22  # bytes of a record
MOST_REMARK = 3_000_000  # bytes: a preset has at most a million, and what is no letter takes more
_REMARK = b"jawari remark"  # begins a record of one: no row does, for no take is so long
_SIZE_AT = 18  # of the track, in a MIDI file: behind the file's head and the track's name
_END = 1 << 45  # samples: years
_AT_ONCE = 1 << 16  # rows that become MIDI together
_MOST = 18  # bytes of an event and the ticks before it
_JITTER = 1 << 14  # samples by which rows may be out of order: two blocks of the largest kind
_MOST_WAITING = 1 << 26  # bytes that wait in memory for a disk that is full


def clock_of(sample_rate: int) -> tuple[int, int]:
    """Ticks per quarter note and microseconds per quarter note, so that a tick is one sample exactly."""
    for quarters in range(1, MICROSECONDS):  # a second
        if sample_rate % quarters == 0 == MICROSECONDS % quarters and sample_rate // quarters <= MOST_TICKS:
            return sample_rate // quarters, MICROSECONDS // quarters
    raise EngineError(f"sample rate {sample_rate}: no MIDI file can count its samples; try {_nearest(sample_rate)}")


def _nearest(sample_rate: int) -> int:
    return min((44_100, 48_000, 88_200, 96_000, 176_400, 192_000), key=lambda rate: abs(rate - sample_rate))


class Take:
    """Events as they were obeyed, in a journal; `facts` are told first in the MIDI file, as a text in JSON."""

    def __init__(self, file: Unfinished, sample_rate: int, facts: dict[str, Any]) -> None:
        self.file, self._rate, self._facts, self.events = file, sample_rate, facts, 0
        self._waiting = bytearray()
        self._remarks: list[bytes] = []  # of the journal, as it is read

    @staticmethod
    def begin(target: Path, sample_rate: float, facts: dict[str, Any] | None = None) -> Take:
        """A new one; nothing is there under its name until it is finished."""
        rate = round(sample_rate)
        clock_of(rate)
        file = Unfinished.beside(target)
        if not file.append(MAGIC + _framed(json.dumps({"sample_rate": rate, "facts": facts or {}}).encode())):
            file.remove()
            raise FileError(f"{named(target)}: cannot be recorded ({file.trouble}); make room or choose another place")
        return Take(file, rate, facts or {})

    @staticmethod
    def left(file: Unfinished) -> Take | None:
        """What a journal holds that was left behind; None if it is no journal."""
        try:
            with file.opened() as journal:
                magic, head = journal.read(len(MAGIC)), json.loads(next(_records(journal)))
            take = Take(file, round(head["sample_rate"]), dict(head["facts"]))
            clock_of(take._rate)
            if magic != MAGIC or take._rate <= 0:
                return None
        except (StopIteration, ValueError, KeyError, TypeError, OverflowError, RecursionError, EngineError):
            return None
        for rows in take._tables():
            if rows.size and not 0 <= rows[:, 0].min() <= rows[:, 0].max() < _END:
                return None
            take.events += len(rows)
        return take

    def add(self, events: Integers) -> None:
        """Rows of (sample, message)."""
        self.events += len(events)
        for at in range(0, len(events), _ROWS):
            if len(self._waiting) < _MOST_WAITING:
                self._waiting += _framed(events[at : at + _ROWS].astype("<i8").tobytes())
        self._flush()

    def remark(self, sample: int, text: dict[str, Any]) -> None:
        """Something to be told at a sample, as the facts are: in JSON."""
        said = FACTS + json.dumps(text, ensure_ascii=False).encode("utf-8")
        if len(said) > MOST_REMARK:
            raise EngineError(f"a take tells at most {MOST_REMARK:,} bytes at a time; make the preset shorter")
        self.events += 1
        self._waiting += _framed(_REMARK + struct.pack("<q", sample) + said)
        self._flush()

    def _flush(self) -> None:
        if self._waiting and self.file.append(bytes(self._waiting)):
            self._waiting.clear()

    @property
    def empty(self) -> bool:
        """Nothing was played."""
        return self.events == 0

    @property
    def length(self) -> str:
        """How much there is."""
        return counted(self.events, "event")

    def write(self, path: Path, force: bool) -> None:
        """The whole take under this name, or nothing; its journal goes when it is there."""
        self._flush()
        with whole_file(path, force) as part, part.open("wb") as file:
            for data in midi_file(self._tables(), self._rate, self._facts, self._remarks):
                file.write(data)
            size = file.tell()
            file.seek(_SIZE_AT)
            file.write((size - _SIZE_AT - 4).to_bytes(4))
        self.file.remove()

    def _tables(self) -> Iterator[Integers]:
        """Everything that was added, some thousand rows at a time; the message of a remark is below 0, its number."""
        found = bytearray()
        self._remarks.clear()
        with self.file.opened() as journal:
            journal.seek(len(MAGIC))
            records = _records(journal)
            next(records)  # the head
            for record in chain(records, _records(BytesIO(self._waiting))):
                if record[: len(_REMARK)] == _REMARK:
                    self._remarks.append(record[len(_REMARK) + 8 :])
                    record = record[len(_REMARK) : len(_REMARK) + 8] + struct.pack("<q", -len(self._remarks))
                found += record
                if len(found) >= 16 * _AT_ONCE:
                    yield _table(found)
                    found.clear()
        yield _table(found)


def _table(found: bytearray) -> Integers:
    return np.frombuffer(bytes(found[: len(found) & ~15]), "<i8").astype(np.int64).reshape(-1, 2)


def midi_file(
    tables: Iterable[Integers], sample_rate: int, facts: dict[str, Any], remarks: list[bytes]
) -> Iterator[bytes]:
    """A MIDI file of type 0, in pieces; the size of its track, at _SIZE_AT, is for whoever knows it at the end."""
    ticks, tempo = clock_of(sample_rate)
    yield b"MThd" + struct.pack(">IHHH", 6, 0, 1, ticks) + b"MTrk" + bytes(4)
    if facts:
        text = FACTS + json.dumps(facts).encode()
        yield _number(0) + _remark(TEXT, text)
    yield _number(0) + _remark(TEMPO, tempo.to_bytes(3))
    last = 0
    for rows in _in_order(tables):
        waits = np.diff(rows[:, 0], prepend=last)
        begin = 0
        for far in [*np.flatnonzero((waits > LONGEST_WAIT) | (rows[:, 1] < 0)).tolist(), len(rows)]:
            yield _events(waits[begin:far], rows[begin:far, 1])
            begin = far
            if far < len(rows) and waits[far] > LONGEST_WAIT:  # texts without a word, on the way there
                times, waits[far] = divmod(int(waits[far]), LONGEST_WAIT)
                yield (_number(LONGEST_WAIT) + _remark(TEXT, b"")) * times
            if far < len(rows) and rows[far, 1] < 0:
                yield _number(int(waits[far])) + _remark(TEXT, remarks[-1 - int(rows[far, 1])])
                begin = far + 1
        last = int(rows[-1, 0]) if len(rows) else last
    yield _number(0) + _remark(END_OF_TRACK, b"")


def _in_order(tables: Iterable[Integers]) -> Iterator[Integers]:
    """Rows sorted by their samples: two ports may have been obeyed out of order, by less than _JITTER samples."""
    late = np.zeros((0, 2), np.int64)
    for table in tables:
        rows = np.concatenate([late, table])
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        safe = int(np.searchsorted(rows[:, 0], rows[-1, 0] - _JITTER)) if len(rows) else 0
        yield rows[:safe]
        late = rows[safe:]
    yield late


def _events(waits: Integers, messages: Integers) -> bytes:
    """Messages with the ticks before each: of a row with all bytes that one can have, those that it has are used."""
    rows, used = np.zeros((len(waits), _MOST), np.uint8), np.zeros((len(waits), _MOST), bool)
    for column, shift in enumerate((21, 14, 7, 0)):
        rows[:, column] = waits >> shift & 0x7F | (MORE if shift else 0)
        used[:, column] = waits >> shift > 0 if shift else True
    rows[:, 4], rows[:, 5], rows[:, 6] = midi.status(messages), midi.first(messages), midi.second(messages)
    used[:, 4:6], used[:, 6] = True, midi.size_of(messages) == 3
    for n in np.flatnonzero(rows[:, 4] == TUNING).tolist():
        status, *others = sysex(int(messages[n]))
        whole = (status, len(others), *others)  # as MIDI files have it
        used[n, 4:] = False
        rows[n, 4 : 4 + len(whole)], used[n, 4 : 4 + len(whole)] = whole, True
    return rows[used].tobytes()


def _remark(kind: int, text: bytes) -> bytes:
    return bytes((midi.META, kind)) + _number(len(text)) + text


def _number(value: int) -> bytes:
    """Seven bits a byte, as MIDI files write numbers."""
    return bytes([*(MORE | value >> shift & 0x7F for shift in (21, 14, 7) if value >> shift), value & 0x7F])


# --- the journal ------------------------------------------------------------------------------------------------------


def _framed(content: bytes) -> bytes:
    return _RECORD.pack(len(content), zlib.crc32(content)) + content


def _records(journal: BinaryIO) -> Iterator[bytes]:
    """The records of a journal up to the first that is damaged, or was not written to its end."""
    while len(frame := journal.read(_RECORD.size)) == _RECORD.size:
        length, check = _RECORD.unpack(frame)
        content = journal.read(length) if length <= _LARGEST else b""
        if len(content) < length or zlib.crc32(content) != check:
            return
        yield content
