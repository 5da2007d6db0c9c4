"""Standard MIDI files, sound or damaged: whatever can be read of them is played, and what could not be is told.

mido gives up at the first byte that it does not expect, and takes 2.7 s and 220 MB for each megabyte of a dense file;
this reader keeps the events before the damage, goes on with the next track, and takes 0.01 s for the same megabyte.
"""

from __future__ import annotations

import json
from array import array
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from engine import messages as midi
from engine.music.errors import ScoreError
from engine.music.midi_run import MORE, Runs
from engine.music.score import MOST_TUNINGS, Score, is_tuning, tuning_row, weight
from engine.physics.string import Array
from engine.printable import printable
from engine.reading import read_bytes

MOST_BYTES = 32_000_000
MOST_EVENTS = 5_000_000  # messages: sixteen hours of a busy take
_MOST_EFFORT = 800_000  # events of any kind, but for plain messages: what Python reads in half a second
_PLAIN = 8  # plain messages in a row after which a run of them is expected
_AT_ONCE = 1 << 18  # ticks that become seconds together; their way there needs much memory
_MOST_REMARKS = 20
_DEFAULT_TEMPO = 500_000  # µs per quarter note: 120 a minute
# SMPTE division: its upper byte names the frames a second; 29 is television's 30 drop-frame.
_FRAME_RATES = {24: 24.0, 25: 25.0, 29: 30_000 / 1001, 30: 30.0}

TEXT, TEMPO, END_OF_TRACK = 0x01, 0x51, 0x2F  # kinds of remarks (midi.META)
FACTS = b"jawari "  # begins a text of the first track that tells what a take was played on; JSON follows
MOST_FACTS = 1 << 22  # bytes


class Damage(Exception):
    """Bytes that have no meaning where they stand."""


class Header(NamedTuple):
    """Type, number of tracks, and a tick in seconds, or in seconds for every µs of the tempo."""

    kind: int
    tracks: int
    tick: float
    follows_tempo: bool
    size: int  # bytes up to the first track


@dataclass
class Events:
    """Flat lists of what the tracks hold, in the order of the file."""

    ticks: array[int] = field(default_factory=lambda: array("q"))
    data: bytearray = field(default_factory=bytearray)  # three bytes each
    tempo_ticks: array[int] = field(default_factory=lambda: array("q"))
    tempos: array[int] = field(default_factory=lambda: array("q"))
    budget: int = _MOST_EFFORT
    runs: Runs = field(default_factory=Runs)
    tunings: list[bytes] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    edits: list[tuple[int, Any]] = field(default_factory=list)  # ticks, and what the preset became
    remarks: list[str] = field(default_factory=list)

    def remark(self, text: str) -> None:
        """Note what was wrong; a file with many faults needs no complete list."""
        if len(self.remarks) < _MOST_REMARKS:
            self.remarks.append(text)

    def spend(self, events: int) -> None:
        """Refuse the file once it holds more than is sensible."""
        self.budget -= events
        if self.budget < 0 or len(self.ticks) > MOST_EVENTS:
            raise ScoreError(f"holds more than {MOST_EVENTS} events; split it into shorter files")


def read_midi(path: Path) -> Score:
    """The score of a MIDI file; a ScoreError names the file and what is wrong with it."""
    try:
        return parse_midi(read_bytes(path, MOST_BYTES, ScoreError, "split it"))
    except ScoreError as error:
        raise ScoreError(f"{printable(str(path))}: {error}") from None


def parse_midi(data: bytes) -> Score:
    """The score of a MIDI file's bytes."""
    if data[:4] == b"RIFF" and data[8:16] == b"RMIDdata":  # the same in Windows' wrapping
        data = data[20:]
    header = _header(data)
    events, found, at = Events(), 0, header.size
    # Looking for the next track, instead of trusting lengths, passes over unknown chunks and over damage alike.
    while (at := data.find(b"MTrk", at)) >= 0:
        found += 1
        at = _read_track(data, at, events, found)
        if header.kind == 2 and found > 1:
            raise ScoreError("is of type 2, patterns without a common time; save it as type 0 or 1")
    if found < header.tracks:
        events.remark(f"only {found} of {header.tracks} tracks are there")
    return _score(header, events)


def midi_bytes(file: Any) -> bytes:
    """The bytes of a mido.MidiFile."""
    buffer = BytesIO()
    file.save(file=buffer)
    return buffer.getvalue()


def _header(data: bytes) -> Header:
    if data[:4] != b"MThd":
        raise ScoreError("is not a MIDI file (it does not begin with MThd); check which file it is")
    if len(data) < 14:
        raise ScoreError("ends within its header, nothing can be played; get a whole copy")
    size, kind, tracks, division = (int.from_bytes(data[a:b]) for a, b in ((4, 8), (8, 10), (10, 12), (12, 14)))
    if kind > 2:
        raise ScoreError(f"is of type {kind}, but only 0 and 1 are known; save it as one of these")
    size = max(14, min(8 + size, len(data)))
    if not division & 0x8000:
        if not division:
            raise ScoreError("has 0 ticks in a quarter note, so nothing has a time; save it anew")
        return Header(kind, tracks, 1e-6 / division, True, size)
    frames, parts = 256 - division // 256, division % 256
    if frames not in _FRAME_RATES or not parts:
        raise ScoreError(f"has {parts} ticks in each of {frames} frames a second, which is no SMPTE time; save it anew")
    return Header(kind, tracks, 1.0 / (_FRAME_RATES[frames] * parts), False, size)


def _read_track(data: bytes, at: int, events: Events, number: int) -> int:
    """Read the track chunk at `at`; returns where reading stopped: at its end, or at damage."""
    start = at + 8
    end = start + int.from_bytes(data[at + 4 : start])
    whole = end <= len(data)
    stopped, damage = _read_events(memoryview(data)[start:end], events, number == 1)
    if not whole and damage != "":
        events.remark(f"track {number} is cut short: played as far as it goes")
    elif damage:
        events.remark(f"track {number} is damaged at byte {start + stopped} ({damage}): played up to there")
    return start + stopped


def _read_events(track: memoryview, events: Events, first_track: bool) -> tuple[int, str | None]:
    """Read a track's events; returns where it stopped, and why: "" at the end mark, None without one, or damage."""
    at = began = tick = running = 0
    ticks, data, size = events.ticks, events.data, len(track)
    count = plain = 0
    try:
        while at < size:
            if plain >= _PLAIN:
                at, tick, running, *found = events.runs.read(track, at, tick, running)
                ticks.frombytes(found[0])
                data += found[1]
                events.spend(1)
                plain = 0
                continue
            began = at
            count += 1
            if not count % 0x100:
                events.spend(0x100)
            delta, at = _variable(track, at) if track[at] & MORE else (track[at], at + 1)
            tick += delta
            status = track[at]
            if status & midi.STATUS_BIT:
                at += 1
            else:  # running status; many files let it last through meta events, which does no harm
                status = running
            if midi.is_channel_message(status):
                running = status
                first = track[at]
                second, at = (0, at + 1) if midi.size_of(status) == 2 else (track[at + 1], at + 2)
                if (first | second) & midi.STATUS_BIT:
                    raise Damage("a message is cut off by another one")
                ticks.append(tick)
                data.extend((status, first, second))
                plain += 1
                continue
            plain = 0
            if status == midi.META:
                kind = track[at]
                body, at = _body(track, at + 1)
                if kind == END_OF_TRACK:
                    return at, ""
                if kind == TEMPO:
                    _read_tempo(body[-3:], tick, events)
                elif kind == TEXT and first_track and body[: len(FACTS)] == FACTS:
                    _read_facts(bytes(body), tick, events)
            elif status in (midi.SYSEX, midi.SYSEX_END):  # the latter goes on with one, or begins anything
                body, at = _body(track, at)
                if status == midi.SYSEX:  # of all these only tunings mean something to a string
                    _read_tuning(bytes((status, *body)), tick, events)
            else:
                raise Damage("no such event")
    except Damage as damage:
        return began, str(damage)
    except IndexError:
        return began, "an event goes on beyond its track"
    finally:
        events.spend(4 + count % 0x100)  # a track itself takes as long as four events
    return at, None


def _read_tuning(message: bytes, tick: int, events: Events) -> None:
    if is_tuning(message):
        events.spend(weight(message))
        if len(events.tunings) < MOST_TUNINGS:
            events.ticks.append(tick)
            events.data.extend(tuning_row(len(events.tunings)))
            events.tunings.append(message)


def _read_facts(text: bytes, tick: int, events: Events) -> None:
    """What jawari wrote into a take: the word, and JSON."""
    try:
        found = json.loads(text[len(FACTS) :]) if len(text) <= MOST_FACTS else None
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict) and "edit" in found:
        events.edits.append((tick, found["edit"]))
    elif isinstance(found, dict):
        events.facts.update(found)
    else:
        events.remark("what jawari once wrote into it is damaged and was passed over")


def _read_tempo(value: memoryview, tick: int, events: Events) -> None:
    tempo = int.from_bytes(value)
    if tempo:
        events.tempo_ticks.append(tick)
        events.tempos.append(tempo)
    else:
        events.remark("a tempo without duration was passed over")


def _variable(track: memoryview, at: int) -> tuple[int, int]:
    """A number in seven bits a byte, at most four of them, and where it ends."""
    value = 0
    for at in range(at, at + 4):  # noqa: B020
        byte = track[at]
        value = value << 7 | byte & 0x7F
        if byte < MORE:
            return value, at + 1
    raise Damage("a number of more than four bytes")


def _body(track: memoryview, at: int) -> tuple[memoryview, int]:
    """The bytes whose number stands at `at`, and where they end."""
    length, at = _variable(track, at)
    if at + length > len(track):
        raise IndexError
    return track[at : at + length], at + length


def _score(header: Header, events: Events) -> Score:
    ticks = np.frombuffer(events.ticks, np.int64) if events.ticks else np.zeros(0, np.int64)
    data = np.frombuffer(events.data, np.uint8).reshape(-1, 3)
    if (ticks[1:] < ticks[:-1]).any():
        order = np.argsort(ticks, kind="stable")  # at the same tick, tracks play in the order of the file
        ticks, data = ticks[order], data[order]
    seconds = np.empty(len(ticks))
    for at in range(0, len(ticks), _AT_ONCE):
        seconds[at : at + _AT_ONCE] = _seconds(ticks[at : at + _AT_ONCE], header, events)
    length = float(seconds[-1]) if seconds.size else 0.0
    if events.edits:
        when = _seconds(np.array([tick for tick, _ in events.edits], np.int64), header, events)
        events.facts["edits"] = [(float(at), edit) for at, (_, edit) in zip(when, events.edits)]
    return Score(seconds, data, length, tuple(events.remarks), tuple(events.tunings), events.facts)


def _seconds(ticks: Any, header: Header, events: Events) -> Array:
    """Times of ticks through the tempo map: a tempo holds from its tick on, in all tracks."""
    if not header.follows_tempo:
        return np.asarray(ticks * header.tick)
    changes = np.array([-1, *events.tempo_ticks], np.int64)
    tempos = np.array([_DEFAULT_TEMPO, *events.tempos], float)
    order = np.argsort(changes, kind="stable")
    changes, tempos = changes[order], tempos[order]
    changes[0] = 0
    begin = np.concatenate([[0.0], np.cumsum(np.diff(changes) * tempos[:-1])])
    at = np.searchsorted(changes, ticks, side="right") - 1
    return np.asarray((begin[at] + (ticks - changes[at]) * tempos[at]) * header.tick)
