"""MIDI files of every legal kind, then damaged: bits flipped, cut short, lengths that lie, tracks twice."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from engine import Instrument
from engine.music.midi_file import read_midi
from engine.offline.stream import stream
from robustness_parts.playing import expect, inspect
from robustness_parts.random_music import gesture, mpe_zone

RATE = 8_000
SECONDS = 1.0
DIVISIONS = (1, 24, 96, 480, 960, 0x7FFF, 0xE728, 0xE350, 0xE204)  # ticks in a quarter note; the last are SMPTE's
TEMPOS = (1, 1_000, 500_000, 600_000, 0xFFFFFF)


def play_damaged(chance: Random, folder: Path) -> str:
    """One case: a file is refused in one line, or what can be read of it plays."""
    return play_file(write_damaged(chance, folder))


def write_damaged(chance: Random, folder: Path) -> Path:
    path = folder / "damaged.mid"
    path.write_bytes(damaged(chance, midi_file(chance)))
    return path


def play_file(path: Path) -> str:
    """What becomes of this file."""
    score = read_midi(path)
    expect(all(remark.isprintable() for remark in score.remarks), "a remark that cannot be printed")
    expect(bool((np.diff(score.seconds) >= 0.0).all()), "events out of order")
    player, loudest = instrument(), 0.0
    player.reset()
    for chunk in stream(player, score.between(0.0, SECONDS), 0.1):
        peak = float(np.abs(chunk).max(initial=0.0))
        expect(np.isfinite(peak), "a sample is not a number")
        loudest = max(loudest, peak)
    inspect(player)
    kind = "damaged" if score.remarks else "whole"
    return f"{kind}, {'heard' if loudest > 1e-6 else 'quiet'}"


@cache
def instrument() -> Any:
    """One for all files: reset makes it new."""
    return Instrument("plain", RATE, polyphony=4)


def midi_file(chance: Random) -> bytes:
    """A file as the standard allows it: running status, system exclusive, meta events, tempo maps, chunks unknown."""
    kind = chance.choice((0, 1, 1))
    tracks = 1 if kind == 0 else chance.choice((1, 2, 16))
    header = b"MThd" + (6).to_bytes(4) + kind.to_bytes(2) + tracks.to_bytes(2) + chance.choice(DIVISIONS).to_bytes(2)
    chunks = [_chunk(b"MTrk", _track(chance)) for _ in range(tracks)]
    if chance.random() < 0.2:
        chunks.insert(chance.randrange(tracks + 1), _chunk(b"XFIH", chance.randbytes(20)))
    return header + b"".join(chunks)


def _chunk(name: bytes, content: bytes) -> bytes:
    return name + len(content).to_bytes(4) + content


def _track(chance: Random) -> bytes:
    """Events in any number, from none to a flood at one moment."""
    out, running, keys = bytearray(), 0, list(range(30, 90))
    count, crowded = chance.choice((0, 5, 40, 300, 3000)), chance.random() < 0.3
    zone = mpe_zone(chance) if chance.random() < 0.2 else []
    for number in range(count):
        out += variable(0 if crowded else chance.choice((0, 0, 10, 100, chance.randrange(1 << 14))))
        if chance.random() < 0.1:
            out += _meta(chance)
            running = 0
            continue
        status, *values = zone[number] if number < len(zone) else gesture(chance, keys, chance.randrange(16))
        if status != running or chance.random() < 0.3:
            out.append(status)
        running = status
        out += bytes(values)
    return bytes(out + b"\x00\xff\x2f\x00")


def _meta(chance: Random) -> bytes:
    text = chance.randbytes(chance.choice((0, 3, 200)))
    match chance.randrange(4):
        case 0:
            return b"\xff\x51\x03" + chance.choice(TEMPOS).to_bytes(3)
        case 1:
            return b"\xf0" + variable(len(text) + 1) + text + b"\xf7"
        case 2:
            return b"\xff\x58\x04\x04\x02\x18\x08"
        case _:
            return b"\xff" + bytes([chance.randrange(1, 16)]) + variable(len(text)) + text


def variable(value: int) -> bytes:
    """A number in seven bits a byte."""
    out = [value & 0x7F]
    while value := value >> 7:
        out.insert(0, value & 0x7F | 0x80)
    return bytes(out)


def damaged(chance: Random, data: bytes) -> bytes:
    """The file after none to some accidents."""
    for _ in range(chance.choice((0, 1, 1, 2, 8))):
        data = chance.choice((_flip, _flip, _cut, _lie, _copy, _splice))(chance, data)
    return data


def _flip(chance: Random, data: bytes) -> bytes:
    array = bytearray(data)
    for _ in range(chance.choice((1, 4, 50)) if array else 0):
        array[chance.randrange(len(array))] ^= 1 << chance.randrange(8)
    return bytes(array)


def _cut(chance: Random, data: bytes) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _lie(chance: Random, data: bytes) -> bytes:
    """A length, or some other number, that is not true."""
    places = [at for at in range(len(data)) if data.startswith((b"MThd", b"MTrk"), at)]
    at = chance.choice(places) + 4 if places and chance.random() < 0.7 else chance.randrange(len(data) + 1)
    lie = chance.choice((b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\0\x01", b"\0\0\xff\xff"))
    return data[:at] + lie[: chance.choice((1, 2, 4))] + data[at + len(lie) :]


def _copy(chance: Random, data: bytes) -> bytes:
    """A stretch of it again, somewhere."""
    begin, at = chance.randrange(len(data) + 1), chance.randrange(len(data) + 1)
    piece = data[begin : begin + chance.choice((1, 20, 5000))] * chance.choice((1, 1, 20))
    return data[:at] + piece + data[at:]


def _splice(chance: Random, data: bytes) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.randbytes(chance.choice((1, 10, 1000))) + data[at + chance.choice((0, 1, 10)) :]
