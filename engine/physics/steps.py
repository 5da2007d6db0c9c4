"""A string's modes from step to step: by their last two values, or by the last one and how it has changed.

    two values     y' = 2 R cos(w k) y - R^2 y-
    increments     d' = d - (e y + l d),   y' = y + d',   e = 1 - 2 R cos(w k) + R^2,   l = 1 - R^2

Both are the same motion (paper 004 eq. 8, 21). By increments a float32 keeps every mode in tune (increments.py); a
float64 needs none of that, and goes by two values, which is less work. By increments `forward` is e, `backward` l,
`even` the newest step and `odd` the change that led there. Which of both, an array's precision tells.
"""

from __future__ import annotations

from typing import Any

from engine import increments
from engine.compiled import copy, inlined, native
from engine.increments import by_increments, fall, move
from engine.pairs import advance_twice, push, push_twice
from engine.physics.string import Array
from engine.vectors import advance, project


def factors(r: Array, o: Array, narrow: bool) -> tuple[Array, Array]:
    """`forward` and `backward` of modes with R and cos(w k)."""
    if narrow:
        return 1.0 - 2.0 * r * o + r**2, 1.0 - r**2
    return 2.0 * r * o, r**2


@inlined
def swing(c: Any, i: Any) -> Any:
    """2 R cos(w k): what a push in one step is in the next."""
    if by_increments(c.forward):
        return (c.law.one - c.backward[i]) + (c.law.one - c.forward[i])
    return c.forward[i]


@native
def add(force: Any, inject: Any, y: Any) -> None:
    """y += force * inject."""
    for i in range(y.size):
        y[i] += force * inject[i]


@inlined
def two_steps(c: Any, s: Any, first: Any, second: Any) -> None:
    """Both steps of a pair without contact, and rows of both."""
    if by_increments(s.even):
        increments.advance_twice(c.forward, c.backward, c.inject, c.rows, s.even, s.odd, s.whole, first, second, s.both)
    else:
        advance_twice(c.forward, c.backward, c.inject, c.rows, s.odd, s.even, first, second, s.both)


@inlined
def one_step(c: Any, s: Any, force: Any, half: Any) -> None:
    """The first or the second step of a pair by itself, without contact."""
    if by_increments(s.even):
        after = s.even
        fall(c.forward, c.backward, s.even, s.odd)
        if force != c.law.zero:
            add(force, c.inject, s.odd)
        move(s.even, s.odd)
        if half == 0:  # as two_steps does
            copy(s.even, s.whole)
    else:
        now, after = s.odd, s.even
        if half:
            now, after = after, now
        advance(c.forward, c.backward, now, after)
        if force != c.law.zero:
            add(force, c.inject, after)
    project(c.rows, after, s.both[half, : len(c.rows)])


@inlined
def push_both(c: Any, s: Any, first: Any, second: Any) -> None:
    """At the end of a pair: what contact in both its steps, weighed so on the rows, does to the modes.

    Rows that nothing pushes are left out: points that are rows of their own, which a string has few of in contact.
    """
    which, count = s.touch.pushed, 0  # of use within a step only
    for j in range(c.mix.shape[0]):
        if first[j] != c.law.zero or second[j] != c.law.zero:
            which[count] = j
            count += 1
    if by_increments(s.even):
        increments.push_twice(c.forward, c.backward, c.spread, c.rows, first, second, which, count, s.even, s.odd)
    else:
        push_twice(c.forward, c.spread, c.rows, first, second, which, count, s.even, s.odd)


@inlined
def push_first(c: Any, weights: Any, y: Any, x: Any) -> None:
    """The same between both steps, to modes that are in `newest`'s form."""
    push(c.spread, c.rows, weights, c.mix.shape[0], y)
    if by_increments(y):
        push(c.spread, c.rows, weights, c.mix.shape[0], x)


@inlined
def newest(c: Any, s: Any) -> Any:
    """The newest step's modes and those of the one before; by increments s.whole, the changes behind the modes."""
    n = s.even.size
    if by_increments(s.even):
        copy(s.even, s.whole)
        copy(s.odd, s.whole[n:])
        if s.owed[0]:
            push_first(c, s.weights[0], s.whole[:n], s.whole[n:])
        return s.whole, s.whole
    if s.clock[0] & 1:
        return s.odd, s.even
    if s.owed[0]:
        copy(s.even, s.whole)
        push_first(c, s.weights[0], s.whole, s.odd)
        return s.whole, s.odd
    return s.even, s.odd


@inlined
def both_steps(s: Any) -> Any:
    """The modes of the step before the newest, of a string that has just been put where it is; and the newest."""
    if by_increments(s.even):
        for i in range(s.even.size):
            s.whole[i] = s.even[i] - s.odd[i]
        return s.whole, s.even
    return s.odd, s.even


@inlined
def last(x: Any, i: Any) -> Any:
    """Of what `newest` gives second: a mode a step before, or its change since."""
    return x[x.size // 2 + i] if by_increments(x) else x[i]


@inlined
def way(y: Any, x: Any, i: Any) -> Any:
    """How far a mode has come in the newest step, from what `newest` gives."""
    return last(x, i) if by_increments(x) else y[i] - x[i]


@inlined
def twice_middle(y: Any, x: Any, i: Any) -> Any:
    """The sum of its newest two values."""
    return (y[i] + y[i]) - last(x, i) if by_increments(x) else y[i] + x[i]


@inlined
def two_ways(y: Any, x: Any, before: Any, i: Any) -> Any:
    """How far it has come in two steps: before[i] was `last` of the step before."""
    return last(x, i) + before[i] if by_increments(x) else y[i] - before[i]
