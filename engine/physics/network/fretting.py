"""A string that sounds goes on at another length: a finger comes down on it, or lets it go (README.md, 10).

On the bridge's side of the finger it keeps its shape u and its motion v. The modes s_j = sin(b_j x) of the other length
take them over as well as they can: of all that they can be, the nearest in energy, over the shorter of both lengths,

    q_j = a(u, s_j) / a(s_j, s_j),    a(f, g) = integral of T f' g' + EI f'' g''

An orthogonal projection: no energy comes from it, whatever the number of modes. Of old modes sin(B_i x) it is a sum
over 1 / (B_i^2 - b_j^2), since at the end of the shorter length one of the two is zero.

Where a finger comes down the string is aside, and on its way. That is the straight line f x/L from the bridge to the
finger, which has no part in the modes: the finger takes f from where it met the string to the fret, in a few
milliseconds. Meanwhile the line pulls at the bridge with T f/L, and its acceleration kicks the modes. A finger that
leaves holds the string at first with the force that the fret had, and lets it go as smoothly. What energy its way gives
a string beyond what it had before, the finger takes from all its modes alike: by its way it gives nothing.
"""

from __future__ import annotations

from math import inf, pi, sqrt
from typing import Any

from engine.compiled import called_by_python, inlined, native
from engine.elementary import sin
from engine.joined import cleared
from engine.physics.network.memory import GONE, NOBODY, THERE, Bridge, Contacts, Strand, island, strand
from engine.physics.network.metered import recall, vibrating
from engine.physics.network.settling import law_of
from engine.physics.retune import psi_of
from engine.vectors import advance, project

NEAR = 1e-5  # radians at the end of the string within which two modes are one
QUICK = (2.0 * pi * 2e3) ** 2  # 1/s^2: of modes that are faster the finger does not follow the acceleration


@native
def carry_over(old: Strand, new: Strand, b: Bridge, odd: Any, met: Any, purse: Any) -> None:
    """Have a string move on as the old one did, between two steps; `odd`: in the midst of a pair.

    The old one is spent by it. The new one is tuned already; where the two do not have the same points, its barrier is
    as high as it is to be. `met`: of each plane the old string's end (m, m/s), which becomes what `meet_finger` says.
    """
    recall(old, odd)
    had = vibrating(old.bank, old.bank.latest, old.bank.last)
    if met[0, 3] == 0.0:
        lower(old, -met[0, 0])
    for i in range(old.bank.latest.size):
        now, before = old.bank.latest[i], old.bank.last[i]
        old.bank.latest[i], old.bank.last[i] = 0.5 * (now + before) * warped(old, i), now - before
    meet_finger(old, new, met)
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
        share = share * share if met[0, 3] > 0.0 else share  # where the finger's force holds them still
        mean = new.bank.latest[i] / share if share > 0.0 else 0.0
        span = new.bank.last[i] if share > 0.0 else 0.0
        new.bank.latest[i], new.bank.last[i] = mean + 0.5 * span, mean - 0.5 * span
    purse[0] = purse[1] = had - vibrating(new.bank, new.bank.latest, new.bank.last)
    purse[2] = new.points.lost[1]
    stand(new, odd)
    place(new, b)
    follow(old.points, new.points)
    if met[0, 3] == 0.0:
        lower(new, met[0, 0])
    press_no_more(old.points, new.points)


@called_by_python
def hand_over(base: Any, giver: Any, taker: Any, met: Any, purse: Any) -> None:
    """The same between two strings of a network, by their numbers."""
    i = island(base)
    old, new = strand(base + i.strands[giver]), strand(base + i.strands[taker])
    carry_over(old, new, i.frame if i.one_way else i.bridge, i.bridge.clock[0] & 1, met, purse)


@native
def meet_finger(old: Strand, new: Strand, met: Any) -> None:
    """Of each plane where a finger that comes down meets it, how fast and how much faster; or with what force a finger
    holds it that leaves, how that grows, and where it is.
    """
    length, first, tension = new.recipe.length, 0, tension_of(old)
    if length == old.recipe.length:
        for plane in range(met.shape[0]):
            met[plane, 0] = met[plane, 1] = met[plane, 2] = met[plane, 3] = 0.0
        return
    down, inertia = length < old.recipe.length, 2.0 * old.recipe.mass / old.recipe.length
    for plane in range(min(met.shape[0], old.now.size)):
        end, at, speed, bent, turn = end_of_plane(old, first), 0.0, 0.0, 0.0, -1.0
        for i in range(first, end):
            b, square = old.recipe.wave[i], old.recipe.bend[i] + old.recipe.pull[i] * tension
            share = sin(b * length) if down else turn * inertia * square / b
            at += share * old.bank.latest[i]
            speed += share * old.bank.last[i]
            bent -= share * old.bank.latest[i] * square / (1.0 + (square / QUICK) * (square / QUICK))
            turn = -turn
        ratio = length / old.recipe.length if down else 0.0
        met[plane, 0] = at + 0.5 * speed + met[plane, 0] * ratio
        met[plane, 1] = speed / old.recipe.step + met[plane, 1] * ratio
        met[plane, 2] = bent if down else 0.0
        met[plane, 3] = 0.0 if down else old.recipe.length
        first = end


@inlined
def course(met: Any, plane: Any, share: Any, seconds: Any) -> Any:
    """Where a finger has the end of a plane after a share of the time it takes, or how hard it holds it: as it was at
    first, at rest and nothing at last, by a polynomial of fifth degree.
    """
    t = min(share, 1.0)
    still = 1.0 - t * t * t * (10.0 - t * (15.0 - 6.0 * t))
    going = t * (1.0 - t * t * (6.0 - t * (8.0 - 3.0 * t)))
    bending = 0.5 * t * t * (1.0 - t) * (1.0 - t) * (1.0 - t)
    return met[plane, 0] * still + seconds * (met[plane, 1] * going + seconds * (met[plane, 2] * bending))


@native
def press(s: Strand, b: Bridge, odd: Any, way: Any, purse: Any, left: Any) -> None:
    """The finger goes on. `way`: of each plane how much faster its end goes (m/s), or how hard it is pushed (N s), and
    where; and how far its end goes until the finger goes on again.

    `purse`: energy that the string may be given yet, at first and now, and the work of barriers as last seen, J; `left`
    is the share of the way to go, in which what it lacked at first is made up for.
    """
    recall(s, odd)
    first, had = 0, vibrating(s.bank, s.bank.latest, s.bank.last)
    for plane in range(min(way.shape[0], s.now.size)):
        end = end_of_plane(s, first)
        kick(s, first, end, way[plane, 0], way[plane, 1])
        first = end
    p, has = s.points, vibrating(s.bank, s.bank.latest, s.bank.last)
    purse[1] -= has - had + p.lost[1] - purse[2]
    purse[2] = p.lost[1]
    excess = min(purse[0], 0.0) * left - purse[1]
    if excess > 0.0 and has > 0.0:
        soften(s, sqrt(max(has - excess, 0.0) / has))
        purse[1] += min(excess, has)
    stand(s, odd)
    place(s, b)
    for k in range(p.obstacles):
        if stands(p, k):
            p.low[k] -= way[0, 2] * (p.at[k] / s.recipe.length)
            p.timed = 1


@native
def kick(s: Strand, first: Any, end: Any, much: Any, at: Any) -> None:
    """Another speed for the modes of a plane: for a straight line whose end goes faster, or for a push at a place."""
    bank, wave, turn = s.bank, s.recipe.wave, 2.0 / s.recipe.length * much * s.recipe.step
    for i in range(first, end):
        if at > 0.0:
            damped = bank.backward[i]
            bank.last[i] -= much / s.recipe.step * bank.spread[i] * sin(wave[i] * at) / damped if damped > 0.0 else 0.0
        else:
            bank.last[i] += turn / wave[i]
            turn = -turn


@native
def soften(s: Strand, share: Any) -> None:
    """All of a string's motion, and what it has pressed together, times a share."""
    for i in range(s.bank.latest.size):
        s.bank.latest[i] *= share
        s.bank.last[i] *= share
    for k in range(s.points.obstacles):
        s.points.psi[k] *= share


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

    q_j = (2/L) cos(b_j L)/b_j sum B_i^2 sin(B_i L) q_i / (B_i^2 - b_j^2), its motion alike: bending has no part in it,
    since a straight line is not bent.
    """
    length, shape, motion = new.recipe.length, old.recipe.scratch, old.recipe.gain
    for i in range(first, end):
        far = old.recipe.wave[i] * old.recipe.wave[i] * sin(old.recipe.wave[i] * length)
        shape[i], motion[i] = far * old.bank.latest[i], far * old.bank.last[i]
    turn = -2.0 / length
    for j in range(start, stop):
        far = turn / new.recipe.wave[j]
        gather(old, first, end, new, j, far, far, 1.0)
        turn = -turn


@native
def lengthen(old: Strand, first: Any, end: Any, new: Strand, start: Any, stop: Any) -> None:
    """A finger leaves a plane of the string, whose modes were zero there; what lay behind it is at rest.

    q_j = -(2/L) sin(b_j l)/w_j sum cos(B_i l) B_i w_i q_i / (B_i^2 - b_j^2), with w = T + EI b^2. Its motion, of which
    the integral of f g is the energy, without w.
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
    cleared(bank.weights[0])
    cleared(bank.weights[1])
    if alone:
        advance(bank.forward, bank.backward, bank.odd, bank.even)
        project(bank.rows, bank.even, bank.both[1, :rows])
    s.stretch.length[0] = 0.0
    for i in range(s.stretch.square.size):
        s.stretch.length[0] += s.stretch.square[i] * bank.latest[i] * bank.last[i]


@native
def place(s: Strand, b: Bridge) -> None:
    """Points and ends where the modes and the bridge have them, now and a step ago."""
    put(s, s.bank.last, b.before, s.points.before, s.before)
    put(s, s.bank.latest, b.now, s.points.now, s.now)


@native
def put(s: Strand, modes: Any, bridge: Any, points: Any, ends: Any) -> None:
    """The same at one moment."""
    count, free = points.size, s.bank.free
    project(s.bank.rows, modes, free)
    for j in range(ends.size):
        ends[j] = free[count + j]
    for k in range(count):
        points[k] = free[k]
        for d in range(bridge.size):
            points[k] += s.ends.carried[d, k] * bridge[d]


@inlined
def stands(p: Contacts, k: Any) -> Any:
    """Whether an obstacle is one of a barrier's: no hammer, and no finger."""
    return p.hammer[k] == NOBODY and not is_finger(p, k)


@inlined
def is_finger(p: Contacts, k: Any) -> Any:
    """Whether an obstacle is one that lets the string slip."""
    return p.slip[k] < inf


@native
def follow(old: Contacts, new: Contacts) -> None:
    """What touched the string goes on where it was, where the string has the same points; what plucked it is gone."""
    for k in range(new.obstacles if alike(old, new) else 0):
        new.low[k], new.by[k], new.begin[k], new.span[k] = old.low[k], old.by[k], old.begin[k], old.span[k]
        new.state[k], new.level[k], new.last[k], new.next[k] = old.state[k], old.level[k], old.last[k], old.next[k]
        new.timed |= old.timed
    for k in range(new.obstacles):
        if is_finger(new, k):
            new.state[k] = GONE
            if new.partner[k] != NOBODY:
                new.state[new.partner[k]] = GONE


@inlined
def alike(old: Contacts, new: Contacts) -> Any:
    """Whether two strings have the same points."""
    return old.obstacles == new.obstacles and old.rubs == new.rubs and old.links == new.links


@native
def lower(s: Strand, aside: Any) -> None:
    """Barriers as the modes see them, whose string is aside at its end: lower by as much as the straight line is up."""
    p = s.points
    for k in range(p.obstacles):
        if stands(p, k):
            by = aside * (p.at[k] / s.recipe.length)
            p.low[k], p.level[k], p.next[k], p.last[k] = p.low[k] - by, p.level[k] - by, p.next[k] - by, p.last[k] - by
            p.timed |= by != 0.0


@native
def press_no_more(old: Contacts, new: Contacts) -> None:
    """What touched the string holds no more energy than before, and none that does not fit; springs are as long as
    their points have them.
    """
    count, same = new.psi.size, alike(old, new)
    for k in range(count):
        new.force[k], kept = 0.0, 0.0
        if k >= count - new.links and new.state[k] == THERE:
            kept = 2.0 * new.root[k] * (new.level[k] - new.now[k])
        elif k < new.obstacles and same and new.state[k] == THERE:
            kept = min(old.psi[k], psi_of(law_of(new, k), new.slope[k], new.level[k] - new.now[k]))
        new.psi[k] = kept
