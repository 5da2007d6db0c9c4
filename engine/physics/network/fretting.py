"""A string that sounds goes on at another length: a finger comes down on it, or lets it go (README.md, 10).

On the bridge's side of the finger it keeps its shape u and its motion v. The modes s_j = sin(b_j x) of the other length
take them over as well as they can: of all that they can be, the nearest in energy. Over the shorter of both lengths

    q_j = a(u, s_j) / a(s_j, s_j),    a(f, g) = integral of T f' g' + EI f'' g''
    p_j = (v, s_j) / (s_j, s_j),      (f, g) = integral of f g

are orthogonal projections, so neither potential nor kinetic energy rises, whatever the number of modes. What goes is
the motion behind the finger, and the straight line from the bridge to where the finger met the string. Of old modes
sin(B_i x) both are sums over 1 / (B_i^2 - b_j^2), since at the end of the shorter length one of the two is zero.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

from engine.compiled import inlined, native
from engine.elementary import sin
from engine.physics.contact import Law
from engine.physics.network.memory import GONE, NOBODY, THERE, Bridge, Contacts, Strand
from engine.physics.network.metered import recall
from engine.physics.retune import psi_of
from engine.vectors import advance, project

NEAR = 1e-5  # radians at the end of the string within which two modes are one


@native
def carry_over(old: Strand, new: Strand, b: Bridge, odd: Any) -> None:
    """Have a string move on as the old one did, between two steps; `odd`: in the midst of a pair.

    The old one is spent by it. The new one is tuned already; where the two do not have the same points, its barrier is
    as high as it is to be.
    """
    recall(old, odd)
    for i in range(old.bank.latest.size):
        now, before = old.bank.latest[i], old.bank.last[i]
        old.bank.latest[i], old.bank.last[i] = 0.5 * (now + before) * warped(old, i), now - before
    for i in range(new.bank.latest.size):
        new.bank.latest[i] = new.bank.last[i] = 0.0
    first, start = 0, 0
    for _ in range(min(old.now.size, new.now.size)):
        end, stop = end_of_plane(old, first), end_of_plane(new, start)
        if new.recipe.length <= old.recipe.length:
            shorten(old, first, end, new, start, stop)
        else:
            lengthen(old, first, end, new, start, stop)
        first, start = end, stop
    for i in range(new.bank.latest.size):
        share = warped(new, i)
        mean = new.bank.latest[i] / share if share > 0.0 else 0.0
        span = new.bank.last[i] if share > 0.0 else 0.0
        new.bank.latest[i], new.bank.last[i] = mean + 0.5 * span, mean - 0.5 * span
    stand(new, odd)
    place(new, b)
    meet(old.points, new.points)


@inlined
def tension_of(s: Strand) -> Any:
    """What a string is tuned to, N."""
    return s.ends.tension[0] * s.recipe.length / s.ends.ratio[0]


@native
def warped(s: Strand, i: Any) -> Any:
    """Root of the stiffness that the scheme gives a mode, of its own: with it energies are the shape's."""
    own = s.recipe.mass * (s.recipe.bend[i] + s.recipe.pull[i] * tension_of(s))
    return sqrt(8.0 * s.bank.spring[i] / own) if own > 0.0 else 0.0


@native
def end_of_plane(s: Strand, first: Any) -> Any:
    """Where the modes of the next plane begin, or the padding: wavenumbers rise within a plane."""
    wave, i = s.recipe.wave, first + 1
    while i < wave.size and wave[i] > wave[i - 1]:
        i += 1
    return min(i, wave.size)


@native
def shorten(old: Strand, first: Any, end: Any, new: Strand, start: Any, stop: Any) -> None:
    """A finger stops a plane of the string at the new length L, where the new modes are zero.

    q_j = (2/L) cos(b_j L)/b_j sum B_i^2 sin(B_i L) q_i / (B_i^2 - b_j^2), p_j = (2/L) cos(b_j L) b_j sum sin(B_i L) p_i
    / (B_i^2 - b_j^2): bending has no part in it, since a straight line is not bent.
    """
    length, shape, motion = new.recipe.length, old.recipe.scratch, old.recipe.gain
    for i in range(first, end):
        far = sin(old.recipe.wave[i] * length)
        shape[i] = old.recipe.wave[i] * old.recipe.wave[i] * far * old.bank.latest[i]
        motion[i] = far * old.bank.last[i]
    turn = -2.0 / length
    for j in range(start, stop):
        b = new.recipe.wave[j]
        gather(old, first, end, new, j, turn / b, turn * b, 1.0)
        turn = -turn


@native
def lengthen(old: Strand, first: Any, end: Any, new: Strand, start: Any, stop: Any) -> None:
    """A finger leaves a plane of the string, whose modes were zero there; what lay behind it is at rest.

    q_j = -(2/L) sin(b_j l)/w_j sum cos(B_i l) B_i w_i q_i / (B_i^2 - b_j^2), p_j = -(2/L) sin(b_j l) sum cos(B_i l) B_i
    p_i / (B_i^2 - b_j^2), with w = T + EI b^2.
    """
    finger, length, shape, motion = old.recipe.length, new.recipe.length, old.recipe.scratch, old.recipe.gain
    tension, turn = tension_of(new), -1.0
    for i in range(first, end):
        b = old.recipe.wave[i]
        shape[i] = turn * b * firmness(old, i, tension) * old.bank.latest[i]
        motion[i] = turn * b * old.bank.last[i]
        turn = -turn
    for j in range(start, stop):
        far = -2.0 / length * sin(new.recipe.wave[j] * finger)
        gather(old, first, end, new, j, far / firmness(new, j, tension), far, finger / length)


@inlined
def firmness(s: Strand, i: Any, tension: Any) -> Any:
    """(T + EI b^2) / rho of a mode."""
    b = s.recipe.wave[i]
    return (s.recipe.bend[i] + s.recipe.pull[i] * tension) / (b * b)


@native
def gather(old: Strand, first: Any, end: Any, new: Strand, j: Any, of_shape: Any, of_motion: Any, alike: Any) -> None:
    """One new mode, out of all old ones of a plane; `alike`: how much it is of one that is the same."""
    wave, shape, motion, b = old.recipe.wave, old.recipe.scratch, old.recipe.gain, new.recipe.wave[j]
    near = NEAR / min(old.recipe.length, new.recipe.length)
    q = p = same_q = same_p = 0.0
    for i in range(first, end):
        if abs(wave[i] - b) < near:
            same_q, same_p = alike * old.bank.latest[i], alike * old.bank.last[i]
        else:
            share = 1.0 / (wave[i] * wave[i] - b * b)
            q += shape[i] * share
            p += motion[i] * share
    new.bank.latest[j], new.bank.last[j] = of_shape * q + same_q, of_motion * p + same_p


@native
def stand(s: Strand, odd: Any) -> None:
    """Have the modes where `latest` and `last` say; in the midst of a pair with its second step made in advance."""
    bank, rows = s.bank, s.bank.free.size
    alone = odd and s.stretch.square.size == 0
    for i in range(bank.even.size):
        newest, last = bank.latest[i], bank.last[i]
        bank.even[i], bank.odd[i] = (last, newest) if odd else (newest, last)
    if alone:
        for k in range(bank.weights.shape[1]):
            bank.weights[0, k] = 0.0
        s.fold.touched[0] = 0
        advance(bank.forward, bank.backward, bank.odd, bank.even)
        project(bank.rows, bank.even, bank.both[1, :rows])
    s.stretch.length[0] = 0.0
    for i in range(s.stretch.square.size):
        s.stretch.length[0] += s.stretch.square[i] * bank.latest[i] * bank.last[i]


@native
def place(s: Strand, b: Bridge) -> None:
    """Points and ends where the modes and the bridge have them, now and a step ago."""
    p, count, free = s.points, s.points.psi.size, s.bank.free
    project(s.bank.rows, s.bank.last, free)
    for j in range(s.now.size):
        s.before[j] = free[count + j]
    for k in range(count):
        p.before[k] = free[k]
        for d in range(b.before.size):
            p.before[k] += s.ends.carried[d, k] * b.before[d]
    project(s.bank.rows, s.bank.latest, free)
    for j in range(s.now.size):
        s.now[j] = free[count + j]
    for k in range(count):
        p.now[k] = free[k]
        for d in range(b.now.size):
            p.now[k] += s.ends.carried[d, k] * b.now[d]


@native
def meet(old: Contacts, new: Contacts) -> None:
    """What touched the string touches it still, where it has the same points, and with no more energy than before.

    A finger that plucked is gone. A spring is as long as its point has it.
    """
    count = new.psi.size
    same = old.obstacles == new.obstacles and old.rubs == new.rubs and old.links == new.links
    for k in range(count):
        new.force[k] = 0.0
        if k >= count - new.links:
            new.psi[k] = 2.0 * new.root[k] * (new.level[k] - new.now[k]) if new.state[k] == THERE else 0.0
        elif not same or k >= new.obstacles:
            new.psi[k] = 0.0
        elif new.hammer[k] != NOBODY:
            new.state[k], new.psi[k] = old.state[k], old.psi[k]
            new.level[k], new.last[k], new.next[k] = old.level[k], old.last[k], old.next[k]
        else:
            follow(old, new, k)
    for k in range(new.obstacles):
        if is_finger(new, k):
            new.state[k], new.psi[k] = GONE, 0.0
            if new.partner[k] != NOBODY:
                new.state[new.partner[k]], new.psi[new.partner[k]] = GONE, 0.0


@inlined
def is_finger(p: Contacts, k: Any) -> Any:
    """Whether an obstacle is one that lets the string slip."""
    return p.slip[k] < inf


@native
def follow(old: Contacts, new: Contacts, k: Any) -> None:
    """A point of a barrier goes on where it was on its way."""
    new.low[k], new.by[k], new.begin[k], new.span[k], new.end[k] = (
        old.low[k],
        old.by[k],
        old.begin[k],
        old.span[k],
        old.end[k],
    )
    new.state[k], new.level[k], new.last[k], new.next[k] = old.state[k], old.level[k], old.last[k], old.next[k]
    new.timed |= old.timed
    law = Law(new.slope, new.power[k], new.form[k], new.secant[k], new.drag[k], 0.0, 0.5, 1.0, 4.0, 0.0, 0.0, 0)
    new.psi[k] = min(old.psi[k], psi_of(law, new.slope[k], new.level[k] - new.now[k]))
