"""The bridge: what all strings do to it, how it goes on, and the body below it.

In a step the strings are first taken as if the bridge went on as it does, to 2 z - z-. They pull at it then with
`pull`, and with `load` less for each unit that it goes elsewhere, which is its surge A = z+ - 2 z + z-:

    A = (1 + Wb G)^-1 (z* - 2 z + z-) + (1 + Wb G)^-1 Wb pull,    f_b = pull - G A

where z* is the body's free motion and Wb its response. Obstacles change the pull while they are swept.
"""

from __future__ import annotations

from typing import Any

from engine.compiled import native
from engine.joined import blended
from engine.physics.network.memory import Bridge
from engine.physics.steps import add
from engine.vectors import advance, project, spread


@native
def tie(b: Bridge) -> None:
    """Make the bridge's answers anew for what it carries."""
    g, count = b.give, b.now.size
    for d in range(count):
        for c in range(count):
            total = 1.0 if d == c else 0.0
            for e in range(count):
                total += b.bank.response[d, e] * b.load[e, c]
            b.mixed[d, c] = total
    invert(b.mixed, g)
    for d in range(count):
        for c in range(count):
            b.answer[d, c] = 0.0
            for e in range(count):
                b.answer[d, c] += g[d, e] * b.bank.response[e, c]
    for d in range(count):
        for c in range(d):
            b.answer[d, c] = b.answer[c, d] = 0.5 * (b.answer[d, c] + b.answer[c, d])
    b.stale[0] = 0


@native
def invert(m: Any, out: Any) -> None:
    """The inverse of a matrix of one to three rows, whose determinant is at least one."""
    if m.shape[0] == 1:
        out[0, 0] = 1.0 / m[0, 0]
        return
    if m.shape[0] == 2:
        scale = 1.0 / (m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0])
        out[0, 0], out[1, 1] = m[1, 1] * scale, m[0, 0] * scale
        out[0, 1], out[1, 0] = -m[0, 1] * scale, -m[1, 0] * scale
        return
    for i in range(3):
        for j in range(3):
            a, b, c, d = (j + 1) % 3, (j + 2) % 3, (i + 1) % 3, (i + 2) % 3
            out[i, j] = m[a, c] * m[b, d] - m[a, d] * m[b, c]
    scale = 1.0 / (m[0, 0] * out[0, 0] + m[0, 1] * out[1, 0] + m[0, 2] * out[2, 0])
    for i in range(3):
        for j in range(3):
            out[i, j] *= scale


@native
def begin(b: Bridge, knock: Any) -> None:
    """Before the strings: nothing pulls yet but what knocks."""
    for d in range(b.now.size):
        b.ahead[d] = 2.0 * b.now[d] - b.before[d]
        b.pull[d] = knock[d]
        b.swept[d] = 0.0


@native
def meet(b: Bridge) -> None:
    """The body's motion without the bridge's forces, and where the bridge goes without obstacles."""
    bank = b.bank
    if b.clock[0] & 1:
        advance(bank.forward, bank.backward, bank.odd, bank.even)
        if b.blow[0] != 0.0:
            add(b.blow[0], bank.inject, bank.even)
        project(bank.rows, bank.even, bank.free)
    else:
        advance(bank.forward, bank.backward, bank.even, bank.odd)
        if b.blow[0] != 0.0:
            add(b.blow[0], bank.inject, bank.odd)
        project(bank.rows, bank.odd, bank.free)
    for d in range(b.now.size):
        b.surge[d] = 0.0
        for c in range(b.now.size):
            b.surge[d] += b.give[d, c] * (bank.free[c] - b.ahead[c]) + b.answer[d, c] * b.pull[c]


@native
def part(b: Bridge) -> None:
    """Once obstacles have pushed: where the bridge goes, and what it does to the body."""
    for d in range(b.now.size):
        b.surge[d] -= b.swept[d]
        b.before[d], b.now[d] = b.now[d], b.ahead[d] + b.surge[d]
    for d in range(b.now.size):
        b.force[d] = b.pull[d]
        for c in range(b.now.size):
            b.force[d] -= b.load[d, c] * b.surge[c]


@native
def sound(b: Bridge, square: Any) -> None:
    """The body's step, and the acceleration that is heard."""
    count, bank = b.now.size, b.bank
    spread(bank.spread, bank.rows, b.force, b.which, count, bank.even if b.clock[0] & 1 else bank.odd)
    blended(bank.free, bank.response, b.force, 1.0, bank.free)
    for o in range(b.heard.shape[1]):
        new, newest, last = bank.free[count + o], b.heard[0, o], b.heard[1, o]
        b.heard[0, o], b.heard[1, o] = new, newest
        b.heard[2, o] = radiated(b, o, (new - 2.0 * newest + last) * square)


@native
def radiated(b: Bridge, o: Any, x: Any) -> Any:
    """What leaves the body of an acceleration: little of what is slow."""
    if b.passing.size == 0:
        return x
    first, second = b.passed[o, 0], b.passed[o, 1]
    v1 = b.passing[0] * first + b.passing[1] * (x - second)
    v2 = second + b.passing[1] * first + b.passing[2] * (x - second)
    b.passed[o, 0], b.passed[o, 1] = 2.0 * v1 - first, 2.0 * v2 - second
    return x - b.passing[3] * v1 - v2
