"""One step of a network, and of each string in it. Nothing iterates; nothing is allocated."""

from __future__ import annotations

from typing import Any

from engine.compiled import MATRIX, VECTOR, WORD, called_with, inlined, native
from engine.joined import advance_on, blended, cleared, kept, listed, push_chosen, summed
from engine.pairs import shift
from engine.physics.network import carrying, flocking
from engine.physics.network.counterparts import fly, lead, slip, throw
from engine.physics.network.folding import hold, refold, settle_links, stretch, tighten
from engine.physics.network.hanging import tune
from engine.physics.network.memory import Bridge, Strand, island, strand
from engine.physics.network.settling import settle
from engine.physics.steps import add
from engine.vectors import advance, project, spread


@native
def predict(s: Strand, b: Bridge, force: Any, odd: Any, square: Any) -> None:
    """A string's step without obstacles, over a bridge that goes on as it does; `square` is 1/k^2."""
    bank, count = s.bank, s.points.psi.size
    s.blow[0] = force
    if s.stretch.square.size == 0:
        go_on(s, force, odd)
    else:
        now, after = bank.even, bank.odd
        if odd:
            now, after = after, now
        advance(bank.forward, bank.backward, now, after)
        if force != 0.0:
            add(force, bank.inject, after)
        project(bank.rows, after, bank.free)
    if force != 0.0:
        for d in range(b.now.size):
            b.pull[d] += s.ends.struck[d] * force
    for j in range(s.now.size):
        end = 0.0
        for d in range(b.now.size):
            end += s.ends.weight[j, d] * b.now[d]
        drawn = (bank.free[count + j] - 2.0 * s.now[j] + s.before[j]) * square + s.ends.tension[j] * end
        for d in range(b.now.size):
            b.pull[d] -= s.ends.weight[j, d] * drawn
    blended(bank.free, s.ends.carried, b.ahead, 1.0, s.fold.held)
    if s.stretch.square.size:
        stretch(s, bank.odd if odd else bank.even, bank.even if odd else bank.odd, b.pull, square)
    if s.fold.stale[0]:
        refold(s)
        b.stale[0] = 1
    if s.points.links:
        hold(s, b.pull)


@inlined
def go_on(s: Strand, force: Any, odd: Any) -> None:
    """The rows of a step without forces but what strikes; modes take two steps at once, of which the first is even.

    What else pushes in the first is added to the rows of the second; the modes have what pushed in both when they are
    next loaded, in the next pair.
    """
    bank = s.bank
    if odd:
        if force != 0.0:
            strike(s, force, odd)
        pushed = listed(bank.weights[0], bank.weights[0], s.points.force.size, bank.chosen)
        summed(bank.both[1], bank.ahead, bank.weights[0], bank.chosen, pushed, bank.free)
        return
    if s.recipe.late[0]:
        catch_up(s)
        tune(s, s.recipe.asked[0], s.recipe.asked[1])
    pushed = listed(bank.weights[0], bank.weights[1], s.points.force.size, bank.chosen)
    advance_on(
        bank.forward,
        bank.backward,
        bank.spread,
        bank.rows,
        bank.weights,
        bank.chosen,
        pushed,
        bank.even,
        bank.odd,
        bank.both,
    )
    if force != 0.0:
        strike(s, force, odd)
    kept(bank.both[0], bank.free)


@native
def strike(s: Strand, force: Any, odd: Any) -> None:
    """Give the modes, and the rows of this step and those to come in the pair, what strikes in it."""
    bank, rows = s.bank, s.bank.free.size
    if odd == 0:
        add(force, bank.inject, bank.odd)
        for i in range(bank.even.size):
            bank.even[i] += force * (bank.forward[i] * bank.inject[i])
        project(bank.rows, bank.odd, bank.both[0, :rows])
    else:
        add(force, bank.inject, bank.even)
    project(bank.rows, bank.even, bank.both[1, :rows])


@native
def catch_up(s: Strand) -> None:
    """Between two pairs: let the modes have what has pushed in the last."""
    bank = s.bank
    pushed = listed(bank.weights[0], bank.weights[1], s.points.force.size, bank.chosen)
    push_chosen(bank.forward, bank.spread, bank.rows, bank.weights, bank.chosen, pushed, bank.even, bank.odd)
    cleared(bank.weights[0])
    cleared(bank.weights[1])


@native
def rest_from(base: Any) -> None:
    """After steps: nothing waits for the next one, unless it is the second of a pair."""
    i = island(base)
    for m in range(i.active[0] if i.bridge.clock[0] & 1 == 0 else 0):
        s = strand(base + i.strands[i.members[m]])
        if s.stretch.square.size == 0:
            catch_up(s)


@native
def finish(s: Strand, b: Bridge, odd: Any, square: Any) -> None:
    """What all forces do to a string, once the bridge has moved."""
    p, bank, count, free = s.points, s.bank, s.points.psi.size, s.bank.free
    if p.links:
        settle_links(s, b.surge)
    if s.stretch.square.size == 0:
        kept(p.force, bank.weights[odd])
    for j in range(s.now.size):
        push = 0.0
        for d in range(b.now.size):
            push -= s.ends.weight[j, d] * b.surge[d] * square
        p.force[count + j] = bank.weights[odd, count + j] = push
    pushed = 0
    for k in range(p.force.size):
        if p.force[k] != 0.0:
            p.pushed[pushed] = k
            pushed += 1
    summed(free, bank.response, p.force, p.pushed, pushed, free)
    if s.stretch.square.size:
        after = bank.even if odd else bank.odd
        spread(bank.spread, bank.rows, p.force, p.pushed, pushed, after)
        tighten(s, after)
    feel(s, b, pushed, square)
    blended(free, s.ends.carried, b.now, 1.0, free)
    shift(free, p.now, p.before)
    for j in range(s.now.size):
        s.before[j], s.now[j] = s.now[j], free[count + j]
    if p.timed:
        slip(s)


@inlined
def feel(s: Strand, b: Bridge, pushed: Any, square: Any) -> None:
    """What a string did to the bridge: the end's inertia and tension, and what stands on the bridge (README.md, 3)."""
    count = s.points.psi.size
    for d in range(b.now.size):
        s.felt[d] = s.ends.struck[d] * s.blow[0]
        for n in range(pushed):  # of its ends the bridge carries nothing
            s.felt[d] += s.ends.carried[d, s.points.pushed[n]] * s.points.force[s.points.pushed[n]]
    for j in range(s.now.size):
        mean = surge = 0.0
        for d in range(b.now.size):
            surge += s.ends.weight[j, d] * b.surge[d]
            mean += s.ends.weight[j, d] * (b.before[d] + 0.25 * b.surge[d])
        drawn = s.ends.inertia[j] * surge + s.bank.free[count + j] - 2.0 * s.now[j] + s.before[j]
        for d in range(b.now.size):
            s.felt[d] -= s.ends.weight[j, d] * (drawn * square + s.ends.tension[j] * mean)


@native
def step(base: Any, force: Any, knock: Any) -> None:
    """One step of the network that lies at `base`: newtons on each string's place of excitation, and on the bridge."""
    i = island(base)
    b, square = i.bridge, i.per_second * i.per_second
    t, odd = float(b.clock[0]), b.clock[0] & 1
    carrying.begin(b, knock)
    if i.one_way:
        drive(base, force, t, odd)
    else:
        throw(b, t)
        for m in range(i.active[0]):
            n = i.members[m]
            s = strand(base + i.strands[n])
            if s.points.timed:
                lead(s, b, t)
            predict(s, b, force[n], odd, square)
    join(base)


@native
def sway(base: Any, pull: Any) -> None:
    """One step of the bridge whose strings have been driven by themselves, and pull at it so much."""
    carrying.begin(island(base).bridge, pull)
    join(base)


@native
def join(base: Any) -> None:
    """The rest of a step, from where strings would be without obstacles: they, hub and body meet at the bridge."""
    i = island(base)
    b, square, odd = i.bridge, i.per_second * i.per_second, i.bridge.clock[0] & 1
    if i.flocks:
        flocking.predict(i.flock, b, odd, square)
    if b.stale[0]:
        weigh(base)
    carrying.meet(b)
    if i.flocks and odd:
        flocking.settle(i.flock, b, odd)
    for m in range(0 if i.one_way else i.active[0]):
        turn = i.active[0] - 1 - m if odd else m
        settle(strand(base + i.strands[i.members[turn]]), b, odd == 0)
    if i.flocks and odd == 0:
        flocking.settle(i.flock, b, odd)
    carrying.part(b)
    for m in range(0 if i.one_way else i.active[0]):
        s = strand(base + i.strands[i.members[m]])
        finish(s, b, odd, square)
    if i.flocks:
        flocking.finish(i.flock, b, odd, square)
    carrying.sound(b, square)
    fly(b)
    b.clock[0] += 1


@native
def weigh(base: Any) -> None:
    """What the bridge carries: it changes where strings come, go or are bent."""
    i = island(base)
    load = i.bridge.load
    for d in range(load.shape[0]):
        for c in range(load.shape[0]):
            load[d, c] = 0.0
            for m in range(0 if i.one_way else i.active[0]):
                load[d, c] += strand(base + i.strands[i.members[m]]).fold.load[d, c]
            if i.flocks:
                load[d, c] += i.flock.load[d, c]
    carrying.tie(i.bridge)


@native
def drive(base: Any, force: Any, t: Any, odd: Any) -> None:
    """One step of strings on a frame, one after the other; what they do to it pulls at the bridge."""
    i = island(base)
    b, f, square = i.bridge, i.frame, i.per_second * i.per_second
    throw(f, t)
    for m in range(i.active[0]):
        n = i.members[m]
        s = strand(base + i.strands[n])
        alone(s, f, force[n], t, odd, square)
        for d in range(b.pull.size):
            b.pull[d] += s.felt[d]
    fly(f)


@native
def drive_on(base: Any, n: Any, force: Any, felt: Any) -> None:
    """Many steps of one string on a frame, whom no hammer can hit; what it does to the bridge is added to felt[t]."""
    i = island(base)
    s, square = strand(base + i.strands[n]), i.per_second * i.per_second
    for t in range(felt.shape[0]):
        clock = i.bridge.clock[0] + t
        alone(s, i.frame, force[t], float(clock), clock & 1, square)
        for d in range(felt.shape[1]):
            felt[t, d] += s.felt[d]


@native
def alone(s: Strand, f: Bridge, force: Any, t: Any, odd: Any, square: Any) -> None:
    """One step of a string on a frame."""
    carrying.begin(f, f.force)  # which is zero
    if s.points.timed:
        lead(s, f, t)
    predict(s, f, force, odd, square)
    settle(s, f, odd == 0)
    finish(s, f, odd, square)


@called_with(WORD, MATRIX, MATRIX, VECTOR, MATRIX)
def run(base: Any, force: Any, knock: Any, blow: Any, out: Any) -> None:
    """Many steps, strings, bridge and the body elsewhere being pushed (N): of each, the force on the body in each
    direction, what is heard, then what is listened to.
    """
    b = island(base).bridge
    for t in range(out.shape[0]):
        b.blow[0] = blow[t]
        step(base, force[t], knock[t])
        tell(base, out[t])
    rest_from(base)


@native
def tell(base: Any, out: Any) -> None:
    """What a step has left to be heard."""
    i = island(base)
    b, column = i.bridge, 0
    for d in range(b.force.size):
        out[column] = b.force[d]
        column += 1
    for o in range(b.heard.shape[1]):
        out[column] = b.heard[2, o]
        column += 1
    for m in range(i.strands.size):
        s = strand(base + i.strands[m])
        for row in range(s.points.psi.size + s.now.size, s.bank.free.size):
            out[column] = s.bank.free[row]
            column += 1
