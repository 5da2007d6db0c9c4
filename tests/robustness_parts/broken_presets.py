"""Preset files as they would be after an accident or in an attacker's hands: shipped ones and their like, mutated."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import numpy as np

from engine import Instrument, load_preset
from engine.preset.complaints import MAX_COMPLAINTS
from engine.preset.loader import shipped
from robustness_parts.playing import expect, perform
from robustness_parts.random_music import random_music

RATE = 8_000
SECONDS = 0.05
LONGEST_LINE = 480  # the longest names all groups of a preset

# A preset that reads files beside it; they are mutated as well.
WITH_FILES = b"""name: With files
string: {length: 0.9, diameter: 0.3 mm, material: steel, tuned: A2}
barrier: {profile: table, table: bridge.csv, height: -1 mm}
tuning: slendro.scl, A4=432
pickups: [{at: 0.1, pan: -0.5}, {at: 0, kind: bridge_force}]
map: [{source: cc74, to: gain, range: [-20 dB, 0 dB]}]
"""
MAPPED = WITH_FILES.replace(b"slendro.scl, A4=432", b"slendro.scl, white.kbm").replace(
    b"height: -1 mm", b"height: 1 mm"
)
BESIDE = {
    "bridge.csv": b"x,height\n0,0\n0.01,-0.0001\n0.03,-0.0005\n",
    "slendro.scl": b"! slendro.scl\nA slendro\n 5\n 228.\n 484.\n 728.\n 8/5\n 2/1\n",
    "white.kbm": b"12\n0\n127\n60\n69\n440.0\n5\n0\nx\n1\nx\n2\n3\nx\n4\nx\nx\nx\nx\n",
}

NUMBER = re.compile(rb"-?[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?")
NUMBERS = (
    *(
        b"0",
        b"-0",
        b"1",
        b"-1",
        b"1e-300",
        b"1e999",
        b"-1e999",
        b"1e308",
        b"5e-324",
        b"nan",
        b".nan",
        b".inf",
        b"-.inf",
    ),
    *(
        b"1_000",
        b"0x10",
        b"1e",
        b"--1",
        b"1e1e1",
        b"\xd9\xa1\xd9\xa2",
        b"\xe2\x88\x921",
        b"9" * 400,
        b"1 mm mm",
        b"true",
    ),
    *(b"128", b"256", b"500", b"1e6", b"1e9", b"100", b"1e-3", b"0.999999", b"1e18", b"20 kHz", b"C-1", b"G9"),
)
PIECES = (
    *(
        b"\t",
        b"&a ",
        b"*a",
        b"!!python/object/apply:os.system ['true']",
        b"!!str ",
        b"! ",
        b"<<: *a",
        b"---\n",
        b"...\n",
    ),
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b": ",
        b"- ",
        b"? ",
        b"|\n",
        b">-\n",
        b"'",
        b'"',
        b"%YAML 3.0\n",
        b"#",
        b"\\",
        b"\0",
        b"\x1b[31m",
    ),
    *(
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\xf0\x9f\x8e\xb8",
        b"\xe2\x80\xae",
        b"\r",
        b"\r\n",
        b"\x85",
        b"${HOME}",
        b"$(id)",
        b"../",
        b"/etc/passwd",
    ),
    *(
        b"http://localhost/a.csv",
        b"a.csv",
        b"x" * 5000,
        b"[" * 40,
        b"{a: " * 40,
        b"{a: 1, b: [2]}",
        b"[1, 2, 3]",
        b"null",
        b"~",
    ),
)


def play_broken(chance: Random, folder: Path) -> str:
    """One case: a mutated preset is refused in plain lines, or plays."""
    return play_preset(write_broken(chance, folder), chance)


def play_preset(path: Path, chance: Random) -> str:
    """What becomes of this file."""
    preset = load_preset(path)
    player = Instrument(preset, RATE)
    ready = [key for key in range(128) if key not in player.silent_keys]
    if not ready:
        return "silent"
    frames = round(SECONDS * RATE)
    heard = perform(player, random_music(chance, ready, frames), frames, chance)
    return "heard" if heard else "quiet"


def check_complaint(message: str, folder: str) -> None:
    """What is told about a preset must be few short lines that a terminal can show."""
    lines = message.split("\n")
    expect(len(lines) <= MAX_COMPLAINTS + 1, f"{len(lines)} lines of complaints")
    for line in lines:
        expect(line.isprintable() and line.strip(), "a complaint that is empty or cannot be printed")
        expect(len(line.replace(folder, "")) <= LONGEST_LINE, f"a complaint of {len(line)} characters")


def write_broken(chance: Random, folder: Path) -> Path:
    """A mutated preset, and what it may read, in `folder`."""
    texts = [path.read_bytes() for path in shipped().values()] + [WITH_FILES, MAPPED]
    text = chance.choice(texts)
    besides = chance.random() < 0.3 and b".csv" in text
    for name, content in BESIDE.items():
        (folder / name).write_bytes(mutated(chance, content, []) if besides else content)
    path = folder / "broken.yaml"
    path.write_bytes(text if besides else mutated(chance, text, texts))
    return path


def mutated(chance: Random, text: bytes, others: list[bytes]) -> bytes:
    """The text after a few accidents."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        text = chance.choice((_number, _number, _number, _lines, _lines, _bytes, _piece, _word, _nested))(chance, text)
    if others and chance.random() < 0.05:  # the head of one file, the tail of another
        other = chance.choice(others)
        text = text[: chance.randrange(len(text) + 1)] + other[chance.randrange(len(other)) :]
    return text


def _number(chance: Random, text: bytes) -> bytes:
    found = list(NUMBER.finditer(text))
    if not found:
        return text
    place = chance.choice(found)
    new = chance.choice((chance.choice(NUMBERS), b"%g" % (10.0 ** chance.uniform(-9, 9)), b"-" + place[0]))
    return text[: place.start()] + new + text[place.end() :]


def _lines(chance: Random, text: bytes) -> bytes:
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    a, b = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(4):
        case 0:
            lines[a], lines[b] = lines[b], lines[a]
        case 1:
            del lines[a]
        case 2:
            lines[a : a + 1] = lines[a : a + 1] * chance.choice((2, 50, 2000))
        case _:
            lines[a] = chance.choice((b" ", b"\t", b"  ")) + lines[a]
    return b"".join(lines)


def _bytes(chance: Random, text: bytes) -> bytes:
    data = np.frombuffer(text, np.uint8).copy()
    for _ in range(chance.choice((1, 3, 20)) if data.size else 0):
        data[chance.randrange(data.size)] ^= 1 << chance.randrange(8)
    return data.tobytes()[: chance.randrange(1 + data.size) if chance.random() < 0.1 else None]


def _piece(chance: Random, text: bytes) -> bytes:
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice(PIECES) + text[at + chance.choice((0, 1, 10)) :]


def _word(chance: Random, text: bytes) -> bytes:
    """One word in the place of another."""
    words = re.findall(rb"[A-Za-z_]+", text)
    return text.replace(chance.choice(words), chance.choice(words), 1) if words else text


def _nested(chance: Random, text: bytes) -> bytes:
    depth, size = chance.choice((3, 31, 33, 1000)), chance.choice((1, 500, 5000))
    return text + chance.choice(
        (
            b"\nextra: " + b"[" * depth + b"]" * depth + b"\n",
            b"\nextra: " + b"{a: " * depth + b"1" + b"}" * depth + b"\n",
            b"\n" + b"k" * size + b": 1\n",
            b"\nmap: [" + b"{source: cc1, to: gain, range: [0, 1]}, " * chance.choice((1, 16, 17, 300)) + b"]\n",
            b"\na: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
        )
    )
