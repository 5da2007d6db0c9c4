"""What all strings of an instrument stand on, and what answers them, laid out beside its voices."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from engine.layout import Arena, Rows, lay, rows_of, seen, size_of
from engine.physics.designing import BAND
from engine.physics.network.bodies import playable
from engine.physics.network.gathering import gather
from engine.physics.network.memory import GONE, NOBODY, Island
from engine.physics.network.parts import Body, Hammer, Strung
from engine.physics.network.weaving import Writers, put, standing
from engine.preset.assembly import MANNERS, Assembly
from engine.preset.loader import Preset
from engine.synth.memory import KEYS, TO_BODY, TO_FORCE, TO_STRINGS, Choir, Ear, Fingerboard, Joint, KeyRow
from engine.synth.rehearsal import ears
from engine.synth.strings import KeyStrings


def most_of_a_key(strings: KeyStrings) -> tuple[int, int]:
    """The most strings that any key sounds, and the most hammers that any has, be they thrown or what lies loose."""
    base = int(strings.block.ctypes.data)
    choirs = [seen(Choir, base + int(row[0]), strings.block) for row in strings.words if row[1]]
    courses = max((c.strands.size for c in choirs), default=1)
    hammers = max((c.mobility.size for c in choirs), default=0)
    hit = any((c.hammer != NOBODY).any() or c.mobility.size > c.strands.size for c in choirs)
    return courses, hammers if hit else 0


def listens(preset: Preset) -> int:
    """What is heard of strings that share a bridge."""
    a = preset.assembly
    if a is None:
        return TO_BODY
    by_pickups = any(part.strung.listening for part in a.played)
    return TO_STRINGS if by_pickups else TO_FORCE if a.crystal else TO_BODY


def ears_of(preset: Preset) -> Rows[Ear]:
    """Left and right, each pickup, or each channel of the body that strings share: one is in the middle, and without
    modes it is its force.
    """
    if preset.assembly is None or listens(preset) != TO_BODY:
        return ears(preset)
    found = rows_of(Ear, max(preset.assembly.body.channels, 1))
    found.left = found.right = 1.0
    if found.size == 2:
        found.left, found.right = (1.0, 0.0), (0.0, 1.0)
    return found


def lines_of(assembly: Assembly) -> Rows[Fingerboard]:
    """Its strings of many frets, with no finger on them."""
    shared = [part for part in assembly.played if part.mono]
    found = rows_of(Fingerboard, len(shared))
    found.manner = [MANNERS.index(part.legato) for part in shared]
    found.finger = [part.finger for part in shared]
    return found


def check_lines(keys: Rows[KeyRow], own: KeyStrings, lines: int) -> None:
    """A ValueError if places on strings of many frets are not what the renderer may follow: they are anybody's."""
    base = int(own.block.ctypes.data)
    counts: dict[int, int] = {}
    for number, key in enumerate(keys):
        if not 0 <= key.line <= lines or (key.other and not max(number, KEYS - 1) < key.other < keys.size):
            raise ValueError(f"a key on string {key.line}, and at {key.other}")
        if key.other and not (key.line and keys[key.other].line and keys[key.other].ready):
            raise ValueError(f"a key with no string at {key.other}")
        if key.line and key.ready:
            count = seen(Choir, base + int(own.words[number, 0]), own.block).strands.size
            if counts.setdefault(int(key.line), count) != count:
                raise ValueError("a string of many frets that is not one")


def answering(strings: tuple[Strung, ...], body: Body, rate: float) -> dict[str, Any]:
    """Strings that answer. A knob that turns hardly ever is theirs: what they were designed to last is kept."""
    try:
        return _answering(strings, body, rate)
    except TypeError:  # a barrier of somebody's own that cannot be compared
        return gather(strings, body, rate, min(BAND, 0.45 * rate))


@lru_cache(maxsize=2)
def _answering(strings: tuple[Strung, ...], body: Body, rate: float) -> dict[str, Any]:
    return gather(strings, body, rate, min(BAND, 0.45 * rate))


def lay_joint(
    arena: Arena,
    writers: Writers,
    preset: Preset,
    rate: float,
    keys: KeyStrings,
    slots: int,
    steps: int,
    gain: float,
    room: int,
) -> int:
    """Where the Joint lies; `room`: the words of the largest choir."""
    assembly = preset.assembly
    assert assembly is not None
    (courses, each), body = most_of_a_key(keys), playable(assembly.body, rate)
    strings, hammers = courses * slots, (Hammer(1.0, 0.0),) * (each * slots)
    one_way = assembly.coupling != "two-way"
    whole = standing(body, hammers, rate, one_way)
    whole["frame" if one_way else "bridge"]["flying"] = np.full(len(hammers), GONE, np.int64)
    flock = answering(assembly.sympathetic, body, rate) if assembly.sympathetic else {}
    whole |= {
        "flocks": int(bool(flock)),
        "flock": flock,
        "members": np.zeros(strings, np.int64),
        "active": np.zeros(1, np.int64),
        "strands": np.zeros(strings, np.int64),
    }
    joint, island = arena.room(size_of(Joint)), arena.room(size_of(Island))
    lines = lines_of(assembly)
    put(arena, writers, Island, island, whole)
    write = lay(
        arena,
        Joint,
        joint,
        island=island,
        courses=courses,
        hammers=each,
        gain=gain,
        spare=arena.room(8 * room) if lines.size else 0,
        lines=lines,
        way=(2, 3),
        push=(strings, steps),
        nudge=(strings,),
        blows=(steps,),
        knock=(len(body.directions),),
        felt=(steps, len(body.directions)),
        listens=listens(preset),
        out=(steps, ears_of(preset).size),
    )
    writers.append(write)
    return joint
