"""Strings that come, go and are bent while others sound: what of a network is made anew then, in compiled code.

A string comes at rest in the frame of a bridge that moves. That puts in mu/2 (z')^2 + tau/2 z^2, microjoules, and no
click; to take one out only loses. A bend keeps the state, as retune.py does.
"""

from __future__ import annotations

from typing import Any

from engine.compiled import called_by_python, copy, native
from engine.joined import cleared
from engine.physics.network.hanging import tune
from engine.physics.network.memory import island, strand
from engine.vectors import advance, project


@called_by_python
def bend(base: Any, n: Any, tension: Any, damping: Any) -> None:
    """Give a string another tension (N) and an added decay rate (1/s), from the next pair of steps on if it sounds."""
    i = island(base)
    s = strand(base + i.strands[n])
    if i.bridge.clock[0] & 1 and s.stretch.square.size == 0 and sounds(base, n):
        s.recipe.late[0], s.recipe.asked[0], s.recipe.asked[1] = 1, tension, damping
    else:
        tune(s, tension, damping)


@called_by_python
def enter(base: Any, n: Any) -> None:
    """Let a string sound with the others, at rest on the bridge as it moves."""
    i = island(base)
    s, b = strand(base + i.strands[n]), i.frame if i.one_way else i.bridge
    p, count = s.points, s.points.psi.size
    copy(s.rest, s.bank.even)
    copy(s.rest, s.bank.odd)
    project(s.bank.rows, s.rest, s.bank.free)
    cleared(s.bank.weights[0])
    cleared(s.bank.weights[1])
    if i.bridge.clock[0] & 1 and s.stretch.square.size == 0:  # the second step of a pair, whose first it has rested
        advance(s.bank.forward, s.bank.backward, s.bank.odd, s.bank.even)
        project(s.bank.rows, s.bank.even, s.bank.both[1, : s.bank.free.size])
    for k in range(count):
        p.now[k] = p.before[k] = s.bank.free[k]
        for d in range(b.now.size):
            p.now[k] += s.ends.carried[d, k] * b.now[d]
            p.before[k] += s.ends.carried[d, k] * b.before[d]
        p.psi[k], p.force[k] = s.rest_psi[k], 0.0
    for j in range(s.now.size):
        s.now[j] = s.before[j] = s.bank.free[count + j]
    s.stretch.length[0] = 0.0
    for m in range(s.stretch.square.size):
        s.stretch.length[0] += s.stretch.square[m] * s.rest[m] * s.rest[m]
    i.members[i.active[0]] = n
    i.active[0] += 1
    i.bridge.stale[0] = 1


@native
def sounds(base: Any, n: Any) -> Any:
    """Whether a string is among those that do."""
    i, found = island(base), False
    for m in range(i.active[0]):
        found |= i.members[m] == n
    return found


@called_by_python
def withdraw(base: Any, n: Any) -> None:
    """Take a string out; the others go on in their order."""
    i, found = island(base), 0
    for m in range(i.active[0]):
        if i.members[m] != n:
            i.members[found] = i.members[m]
            found += 1
    i.active[0] = found
    i.bridge.stale[0] = 1
