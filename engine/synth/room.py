"""A short room around an instrument, at the sound card's rate: eight ways round it, each fed by all that come back.

A feedback delay network: what leaves the eight lines is turned by a matrix that keeps its power (Hadamard's), loses
what the decay asks for, high frequencies more, and goes in again. So its power only falls once nothing goes in. Every
sample is made of those before it in one order of sums: blocks decide nothing. Emptied, a room is as one just made.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np

from engine.compiled import called_by_python, inlined, integers, native, plain
from engine.elementary import ROUNDING, cos, power
from engine.layout import Integers, Vector, fields_of, record, size_of
from engine.opened import address, at
from engine.synth.output import sound

WAYS = (0.73, 0.87, 1.0, 1.19, 1.41, 1.63, 1.87, 2.17)  # lengths, of the room's: from across to there and back
DULL = 5e3  # Hz where the decay takes half the time,
HIGHEST = 0.25  # or this share of the rate
FAINTEST = 1e-2  # share of its amplitude that a way round keeps at least, where it is judged how loud all are
FADE = 5e-3  # s in which it falls silent when all sound is to be off
INAUDIBLE = 1e-5  # of the loudest there was: 100 dB down
COST = 40.0  # ns a frame, at most; scripts/bench_room.py finds half of it
COUNT = len(WAYS)
EVEN = sqrt(1.0 / COUNT)  # of a matrix of signs, so that it keeps power


@record
class Echoes:
    """No lines: there is none."""

    awake: int  # 1: something may be in it that is to be heard
    falling: int  # 1: what is in it is to be silent
    filled: int  # samples since it was empty
    calm: int  # samples in which nothing was heard
    longest: int  # samples of the longest way
    dry: float  # gains of what goes in, and of what comes back
    wet: float
    drop: float  # share by which it falls, or comes back, each sample
    left: float  # share of it that there is
    loudest: float  # since the last look
    most: float  # since it woke
    delay: Integers  # [ways] samples
    first: Integers  # where each line begins
    at: Integers  # where each is read next, and then written
    keep: Vector  # a way's loss and its low-pass in one: keep/(1 - blur/z)
    blur: Vector
    soft: Vector  # the low-passes' memory
    echo: Vector  # what comes back in a sample
    lines: Vector


room_at = at(Echoes)


def design(asked: Any, rate: float) -> dict[str, Any]:
    """By the fields of Echoes, of a preset's room; nothing where none is asked for."""
    if asked is None:
        return {}
    delay, first = np.zeros((2, COUNT), np.int64)
    keep, blurs = np.zeros((2, COUNT))
    plain(measure)(delay, first, asked.across, rate)
    wet = plain(fit)(delay, keep, blurs, asked.share, asked.decay, rate)
    return {
        "longest": int(delay[-1]),
        "dry": sqrt(1.0 - asked.share),
        "wet": wet,
        "drop": 1.0 / (FADE * rate),
        "left": 1.0,
        "delay": delay,
        "first": first,
        "at": (COUNT,),
        "keep": keep,
        "blur": blurs,
        "soft": (COUNT,),
        "echo": (COUNT,),
        "lines": (int(first[-1] + delay[-1]),),
    }


def delays(across: float, rate: float) -> list[int]:
    """Samples of the ways: primes, so that no two of them meet before long."""
    delay, first = np.zeros((2, COUNT), np.int64)
    plain(measure)(delay, first, across, rate)
    return [int(samples) for samples in delay]


def size_in_bytes(asked: Any, rate: float) -> int:
    """Of its lines, which are kept twice: as they are and as they were at first."""
    return 0 if asked is None else 16 * sum(delays(asked.across, rate))


def cost(asked: Any) -> float:
    """ns a frame, at most."""
    return 0.0 if asked is None else COST


# --- compiled ---------------------------------------------------------------------------------------------------------


@native
def build(r: Echoes, share: Any, decay: Any, across: Any, rate: Any) -> None:
    """The same as `design`, where there is room for it at any rate."""
    measure(r.delay, r.first, across, rate)
    r.wet = fit(r.delay, r.keep, r.blur, share, decay, rate)
    r.longest, r.dry, r.drop, r.left = r.delay[COUNT - 1], np.sqrt(1.0 - share), 1.0 / (FADE * rate), 1.0
    integers(address(r), _WORDS)[_LINES + 1] = r.first[COUNT - 1] + r.delay[COUNT - 1]


_WORDS = size_of(Echoes) // 8
_LINES = next(part.offset for part in fields_of(Echoes) if part.name == "lines") // 8


@native
def fit(delay: Any, keep: Any, blurs: Any, share: Any, decay: Any, rate: Any) -> Any:
    """What each of its ways loses, and how loud what comes back is."""
    edge, kept = 2.0 * pi * (min(DULL, HIGHEST * rate) / rate), 0.0
    for i in range(COUNT):
        loss = power(10.0, -3.0 * delay[i] / (rate * decay))
        # Pole of (1 - p)/(1 - p/z) that is down by `loss` there, once more what the way loses: half the time to decay.
        most, blur = 1.0 - loss * loss, 0.0
        if most > 0.0:
            away = 1.0 - loss * loss * cos(edge)
            blur = (away - np.sqrt(max(away * away - most * most, 0.0))) / most
        keep[i], blurs[i] = loss * (1.0 - blur), blur
        kept += max(loss, FAINTEST) * max(loss, FAINTEST)
    kept = kept / COUNT
    # Power 1 in makes 1/(1 - kept) in all lines together, of which each side hears an eighth, after its loss.
    return np.sqrt(0.5 * share * (1.0 - kept) / kept)


@native
def measure(delay: Any, first: Any, across: Any, rate: Any) -> None:
    """Samples of the ways, and where each line begins."""
    shortest, begin = 2, 0
    for i in range(COUNT):
        samples = max(int(WAYS[i] * across * rate + ROUNDING - ROUNDING), shortest)
        factor = 2
        while factor * factor <= samples:
            if samples % factor == 0:
                samples, factor = samples + 1, 1
            factor += 1
        delay[i], first[i] = samples, begin
        shortest, begin = samples + 1, begin + samples


@called_by_python
def add(where: Any, base: Any) -> None:
    """Samples [n, 2] as they are heard in the room at an address."""
    r = room_at(where)
    for n in range(base.shape[0]):
        x, y = sound(base[n, 0]), sound(base[n, 1])
        base[n, 0], base[n, 1] = r.dry * x, r.dry * y
        if r.awake or r.falling:
            if r.falling or r.left < 1.0:
                turn(r)
            come_back(r, base, n)
            go_round(r, x, y)
            r.loudest = max(r.loudest, max(abs(x) + abs(y), abs(base[n, 0]) + abs(base[n, 1])))


@inlined
def wake(r: Echoes) -> None:
    """Something is about to sound in it, if it is there."""
    r.awake = 1 if r.lines.size else 0


@inlined
def hush(r: Echoes) -> None:
    """All that is in it is to fall silent."""
    r.falling = r.falling or r.awake
    r.awake = 0


@inlined
def come_back(r: Echoes, base: Any, n: Any) -> None:
    """What does in this sample, to both sides: signs that differ make them two."""
    e, lines, delay, first, at, soft = r.echo, r.lines, r.delay, r.first, r.at, r.soft
    keep, blurred, filled = r.keep, r.blur, r.filled
    for i in range(COUNT):
        back = lines[first[i] + at[i]] if filled >= delay[i] else 0.0
        soft[i] = keep[i] * back + blurred[i] * soft[i]
        e[i] = soft[i]
    loud = r.wet * r.left
    base[n, 0] += loud * (((e[0] - e[1]) + (e[2] - e[3])) + ((e[4] - e[5]) + (e[6] - e[7])))
    base[n, 1] += loud * (((e[0] + e[1]) - (e[2] + e[3])) + ((e[4] + e[5]) - (e[6] + e[7])))


@inlined
def go_round(r: Echoes, x: Any, y: Any) -> None:
    """All of it mixed, and what is new, into the lines."""
    e, lines, delay, first, at, share = r.echo, r.lines, r.delay, r.first, r.at, r.left
    half = 1
    while half < COUNT:
        for start in range(0, COUNT, 2 * half):
            for i in range(start, start + half):
                one, other = e[i], e[i + half]
                e[i], e[i + half] = one + other, one - other
        half *= 2
    for i in range(COUNT):
        lines[first[i] + at[i]] = share * (EVEN * e[i] + 0.5 * (y if i & 1 else x))
        at[i] = at[i] + 1 if at[i] + 1 < delay[i] else 0
    r.filled += 1


@native
def turn(r: Echoes) -> None:
    """One sample of falling silent, and once it is empty of coming back."""
    if r.falling == 0:
        r.left = min(r.left + r.drop, 1.0)
    elif r.left > r.drop:
        r.left -= r.drop
    else:
        again = r.awake
        empty(r)
        if again:
            r.awake, r.left = 1, 0.0


@native
def empty(r: Echoes) -> None:
    """As if just made, but for what it was told: a line is not read before it has been written."""
    r.awake = r.falling = r.filled = r.calm = 0
    r.loudest = r.most = 0.0
    r.left = 1.0
    for i in range(r.at.size):
        r.at[i] = 0
        r.soft[i] = 0.0


@native
def look(r: Echoes, span: int, sounding: int) -> None:
    """Every `span` samples: empty it where nobody sounds in it and nothing has been heard for the longest way."""
    if r.awake == 0:
        return
    r.most = max(r.most, r.loudest)
    r.calm = r.calm + span if sounding == 0 and r.loudest <= INAUDIBLE * r.most else 0
    r.loudest = 0.0
    if r.calm > r.longest:
        empty(r)
