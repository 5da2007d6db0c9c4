"""What strings side by side hold, lose and do to the bridge, step by step: what metered.py asks of strings one by one.

Modes that lie in lanes have a pair's forces only when they are next loaded, and are scaled by the root of their spread
(gathering.py); here they are as after the step, in metres.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from engine.compiled import native
from engine.lanes import LANES
from engine.physics.network.gathering import side_by_side
from engine.physics.network.memory import Bridge, Flock
from engine.physics.network.parts import Body, Network, Strung
from engine.physics.network.weaving import weave
from engine.physics.string import Array

INERTIA, SPRING, SCALE, LATEST, LAST, EARLIER, ENDS = range(7)  # sheets [modes, lanes]; of ENDS three rows:
MASS, OLDER, PULL = range(3)  # rho L / 3, where each end was two steps ago, T/L


def sheets(strings: Sequence[Strung], body: Body, rate: float, band: float = inf) -> Array:
    """What is kept beside the flock of these strings, [sheet, modes, lanes]; nothing without any."""
    if not strings:
        return np.zeros((ENDS + 1, 0, LANES))
    w = weave(Network(tuple(strings), body), rate, band)
    strands = [w.strand(n) for n in range(len(strings))]
    modes = max(planes.plane.size for planes in w.planes)
    made = np.zeros((ENDS + 1, max(modes, PULL + 1), LANES))
    made[INERTIA, :modes] = side_by_side((modes,), [s.bank.inertia[:modes] for s in strands])
    made[SPRING, :modes] = side_by_side((modes,), [s.bank.spring[:modes] for s in strands])
    made[SCALE, :modes] = side_by_side((modes,), [np.sqrt(s.bank.spread[:modes]) for s in strands])
    made[ENDS, MASS] = side_by_side((), [s.ends.inertia[0] for s in strands])
    made[ENDS, PULL] = side_by_side((), [s.ends.tension[0] for s in strands])
    return made


@native
def note(h: Flock, kept: Any, odd: Any) -> None:
    """After a step: the newest one, with all that has pushed; those before it are older by one."""
    newest = h.even if odd else h.odd
    for i in range(newest.shape[0]):
        for s in range(h.strings):
            kept[EARLIER, i, s], kept[LAST, i, s] = kept[LAST, i, s], kept[LATEST, i, s]
            first = second = 0.0
            for k in range(h.rows.shape[0]):
                first += h.rows[k, i, s] * h.pend[0, k, s]
                second += h.rows[k, i, s] * h.pend[1, k, s]
            pushed = h.forward[i, s] * first + second if odd else first
            kept[LATEST, i, s] = kept[SCALE, i, s] * (newest[i, s] + pushed)


@native
def meter(
    h: Flock, b: Bridge, per_second: Any, odd: Any, kept: Any, energy: Any, contact: Any, felt: Any, force: Any
) -> Any:
    """The energy of every string, what its points hold, what it does to the bridge, what each point pushes with; what
    all of them lost in the step.
    """
    points, lost = h.rows.shape[0] - 1, 0.0
    for s in range(h.strings):
        total = 0.0
        for i in range(h.forward.shape[0]):
            span, mean = kept[LATEST, i, s] - kept[LAST, i, s], kept[LATEST, i, s] + kept[LAST, i, s]
            total += kept[INERTIA, i, s] * span * span + kept[SPRING, i, s] * mean * mean
            if kept[SCALE, i, s] > 0.0:
                gone = (kept[LATEST, i, s] - kept[EARLIER, i, s]) / kept[SCALE, i, s]
                lost += 0.25 * (1.0 - h.backward[i, s]) * gone * gone
        energy[s] = total + hang(h, b, per_second, odd, kept, felt, s)
        contact[s] = 0.0
        for k in range(points):
            contact[s] += 0.5 * h.psi[k * LANES + s] * h.psi[k * LANES + s]
            force[s * points + k] = h.pend[odd, k, s]
    return lost


@native
def hang(h: Flock, b: Bridge, per_second: Any, odd: Any, kept: Any, felt: Any, s: Any) -> Any:
    """What a string's end on the bridge adds, and does to it."""
    mass, older, tension, square = (
        kept[ENDS, MASS, s],
        kept[ENDS, OLDER, s],
        kept[ENDS, PULL, s],
        per_second * per_second,
    )
    points = h.rows.shape[0] - 1
    now, before = h.now[points * LANES + s], h.before[points * LANES + s]
    speed = middle = surge = mean = 0.0
    for d in range(b.now.size):
        speed += h.weight[d, s] * (b.now[d] - b.before[d]) * per_second
        middle += h.weight[d, s] * 0.5 * (b.now[d] + b.before[d])
        surge += h.weight[d, s] * b.surge[d]
        mean += h.weight[d, s] * (b.before[d] + 0.25 * b.surge[d])
    drawn = mass * surge + now - 2.0 * before + older
    kept[ENDS, OLDER, s] = before
    for d in range(b.now.size):
        felt[s, d] = -h.weight[d, s] * (drawn * square + tension * mean)
        for k in range(points):
            felt[s, d] += h.carried[d, k * LANES + s] * h.pend[odd, k, s]
    moved = (now - before) * per_second
    return speed * (moved + 0.5 * mass * speed) + 0.5 * tension * middle * middle
