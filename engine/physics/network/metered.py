"""A metered run: the energy of every part, all forces, step by step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from engine import module
from engine.compiled import MATRIX, VECTOR, WORD, called_with, copy, native
from engine.layout import Cube, Matrix, Vector
from engine.opened import group_type
from engine.pairs import push
from engine.physics.network import flock_meter
from engine.physics.network.coming import sounds
from engine.physics.network.memory import THERE, Bridge, Resonators, Strand, island, strand
from engine.physics.network.pushed import pushes
from engine.physics.network.stepping import rest_from, step, tell
from engine.physics.network.weaving import Woven
from engine.physics.record import MOST_AT_ONCE
from engine.physics.string import Array


class Ledger(NamedTuple):
    """A run of a network, a row a step: after the step, but for forces, which act in it.

    `lost` and `work` are sums since the start, so that strings + contact + body + hammers + lost - work stays constant.
    Strings that lie side by side come behind the others. One-way, what strings do to the bridge is work that they do
    not lose.
    """

    out: Matrix  # [n, ..]: see stepping.run
    strings: Matrix  # [n, S] J, with what the bridge's motion adds to each
    contact: Matrix  # [n, S] J in obstacles and springs
    body: Vector  # [n] J
    hammers: Vector  # [n] J
    lost: Vector  # [n] J
    work: Vector  # [n] J
    bridge: Matrix  # [n, r] m
    felt: Cube  # [n, S, r] N: what each string does to the bridge
    force: Matrix  # [n, K] N: of all points of all strings
    sums: Vector  # [2] lost and work, from one piece to the next
    lanes: Cube  # likewise what flock_meter.py keeps

    @property
    def total(self) -> Array:
        """All energy, J."""
        return self.strings.sum(axis=1) + self.contact.sum(axis=1) + self.body + self.hammers

    @property
    def balance(self) -> float:
        """The most that energy is off, of the most there was."""
        kept = self.total + self.lost - self.work
        most = max(float(self.total.max()), float(np.abs(self.work).max()), 1e-300)
        return float(np.abs(kept - kept[0]).max()) / most


def ledger(w: Woven, steps: int, lanes: Array | None = None) -> Ledger:
    """An empty one; with the sheets of the strings that lie side by side, if any do."""
    i = w.island
    abreast = int(i.flock.strings) if i.flocks else 0
    directions, strings = i.bridge.now.size, len(w.network.strings) + abreast
    points = sum(len(own) for own in w.points) + abreast * (len(i.flock.rows) - 1)
    listened = sum(len(strung.listening) for strung in w.network.strings)
    shapes: list[int | tuple[int, ...]] = [
        (steps, directions + i.bridge.heard.shape[1] + listened),
        *[(steps, strings)] * 2,
        *[steps] * 4,
        (steps, directions),
        (steps, strings, directions),
        (steps, points),
        2,
    ]
    kept = flock_meter.sheets((), w.network.body, w.rate) if lanes is None else lanes
    return Ledger._make([*(np.zeros(shape) for shape in shapes), kept])


def piece_of(book: Ledger, here: slice) -> Ledger:
    """Some of its rows, and what goes on from one piece to the next."""
    return Ledger._make(a if name in ("sums", "lanes") else a[here] for name, a in zip(Ledger._fields, book))


def observe(
    w: Woven,
    steps: int,
    force: Array | None = None,
    knock: Array | None = None,
    lanes: Array | None = None,
    blow: Array | None = None,
) -> Ledger:
    """Run on from where it is, metered. Forces of the strings' excitations, on the bridge and on the body elsewhere are
    N a step."""
    module.ready()  # it has the loop
    i, book = w.island, ledger(w, steps, lanes)
    pushing = np.zeros((steps, len(w.network.strings))) if force is None else np.ascontiguousarray(force, float)
    knocking = np.zeros((steps, i.bridge.now.size)) if knock is None else np.ascontiguousarray(knock, float)
    striking = np.zeros(steps) if blow is None else np.ascontiguousarray(blow, float)
    for first in range(0, steps, MOST_AT_ONCE):
        here = slice(first, first + MOST_AT_ONCE)
        meter(w.base, pushing[here], knocking[here], striking[here], piece_of(book, here))
    return book


def run(w: Woven, seconds: float) -> Ledger:
    """The network as described, from its first step on."""
    steps = round(seconds * w.rate)
    w.reset()
    force, knock, blow = pushes(w.network, w.rate, steps)
    return observe(w, steps, force, knock, blow=blow)


@called_with(WORD, MATRIX, MATRIX, VECTOR, group_type(Ledger))
def meter(base: Any, force: Any, knock: Any, blow: Any, book: Ledger) -> None:
    """Step by step, with everything metered."""
    i = island(base)
    b, strings = i.bridge, i.strands.size
    stand = i.frame if i.one_way else b
    for m in range(strings):
        recall(strand(base + i.strands[m]), b.clock[0] & 1)
    for n in range(force.shape[0]):
        odd = b.clock[0] & 1
        copy(b.bank.even if odd else b.bank.odd, b.bank.earlier)
        b.blow[0] = blow[n]
        step(base, force[n], knock[n])
        rest_from(base)
        tell(base, book.out[n])
        point = 0
        still = work = 0.0
        for m in range(strings):
            s = strand(base + i.strands[m])
            still += s.points.lost[0]
            work += s.points.lost[1]
            if not sounds(base, m):
                point += s.points.psi.size
                continue
            note(s, odd == 0)
            enter(s, stand, i.per_second, force[n, m], book, n, m)
            for k in range(s.points.psi.size):
                book.force[n, point] = s.points.force[k]
                point += 1
        if i.flocks and book.lanes.shape[1]:  # else there is no room for what they hold
            flock_meter.note(i.flock, book.lanes, odd)
            book.sums[0] += flock_meter.meter(
                i.flock, b, i.per_second, odd, book.lanes, book.strings[n, strings:], book.contact[n, strings:],
                book.felt[n, strings:], book.force[n, point:],
            )  # fmt: skip
            still += i.flock.lost[0]
        enter_bridge(b, knock[n], book, n)
        if i.one_way:
            drive(b, book, n, strings)
        book.hammers[n] = flown(stand)
        book.lost[n] = book.sums[0] + still
        book.work[n] = book.sums[1] + work + stand.work[0]


@native
def enter(s: Strand, b: Bridge, per_second: Any, newtons: Any, book: Ledger, n: Any, m: Any) -> None:
    """One string, on what it stands on."""
    lost, worked = spent(s.bank, s.bank.latest)
    book.sums[0] += lost
    for d in range(b.now.size):
        worked += 0.5 * s.ends.struck[d] * (b.now[d] - came_from(b, d))
        book.felt[n, m, d] = s.felt[d]
    book.sums[1] += worked * newtons
    book.strings[n, m] = vibrating(s.bank, s.bank.latest, s.bank.last) + hanging(s, b, per_second)
    book.contact[n, m] = stored(s)


@native
def enter_bridge(b: Bridge, knock: Any, book: Ledger, n: Any) -> None:
    """The body, what knocks on the bridge, and what strikes elsewhere."""
    newest, last = (b.bank.even, b.bank.odd) if b.clock[0] & 1 == 0 else (b.bank.odd, b.bank.even)
    lost, worked = spent(b.bank, newest)
    book.sums[0] += lost
    book.sums[1] += worked * b.blow[0]
    for d in range(b.now.size):
        book.sums[1] += 0.5 * knock[d] * (b.now[d] - came_from(b, d))
        book.bridge[n, d] = b.now[d]
    book.body[n] = vibrating(b.bank, newest, last)


@native
def drive(b: Bridge, book: Ledger, n: Any, strings: Any) -> None:
    """The work of strings that drive a bridge which does nothing to them."""
    for m in range(strings):
        for d in range(b.now.size):
            book.sums[1] += 0.5 * book.felt[n, m, d] * (b.now[d] - came_from(b, d))


@native
def recall(s: Strand, odd: Any) -> None:
    """The newest step and the one before it, between the steps of a pair as at its end: the step before the first of a
    pair has been written over, and comes out of the second, which follows from both.
    """
    bank = s.bank
    note(s, odd)
    copy(bank.odd, bank.last)
    if odd and s.stretch.square.size == 0:
        for i in range(bank.last.size):
            back = bank.forward[i] * bank.odd[i] - bank.even[i]
            bank.last[i] = back / bank.backward[i] if bank.backward[i] > 0.0 else 0.0
    elif odd:
        copy(bank.even, bank.last)


@native
def note(s: Strand, odd: Any) -> None:
    """After a step: the newest one, with all that has pushed; those before it are older by one."""
    bank = s.bank
    copy(bank.last, bank.earlier)
    copy(bank.latest, bank.last)
    copy(bank.odd if odd else bank.even, bank.latest)
    if odd and s.stretch.square.size == 0:
        push(bank.spread, bank.rows, bank.weights[0], s.points.force.size, bank.latest)


@native
def came_from(b: Bridge, d: Any) -> Any:
    """Where the bridge was two steps ago: z+ - A = 2 z - z-."""
    return 2.0 * b.before[d] - (b.now[d] - b.surge[d])


@native
def spent(bank: Resonators, newest: Any) -> Any:
    """What a bank lost in the step, and the work of a newton where it is struck."""
    lost = moved = 0.0
    for i in range(newest.size):
        span = newest[i] - bank.earlier[i]
        if bank.spread[i] > 0.0:
            lost += 0.25 * (1.0 - bank.backward[i]) / bank.spread[i] * span * span  # r*/4k, whatever it is tuned to
            moved += bank.inject[i] / bank.spread[i] * span
    return lost, 0.5 * moved


@native
def vibrating(bank: Resonators, newest: Any, last: Any) -> Any:
    """Kinetic and potential energy of modes between the last two steps."""
    total = 0.0
    for i in range(newest.size):
        span, mean = newest[i] - last[i], newest[i] + last[i]
        total += bank.inertia[i] * span * span + bank.spring[i] * mean * mean
    return total


@native
def moving(bank: Resonators) -> Any:
    """Kinetic energy of modes between the last two steps."""
    total = 0.0
    for i in range(bank.even.size):
        span = bank.even[i] - bank.odd[i]
        total += bank.inertia[i] * span * span
    return total


@native
def strained(bank: Resonators) -> Any:
    """Potential energy of modes between the last two steps."""
    total = 0.0
    for i in range(bank.even.size):
        mean = bank.even[i] + bank.odd[i]
        total += bank.spring[i] * mean * mean
    return total


@native
def hanging(s: Strand, b: Bridge, per_second: Any) -> Any:
    """What a string's end on the bridge adds (README.md, 4), its lumps, and its stretching."""
    total = 0.0
    for j in range(s.now.size):
        speed = mean = 0.0
        for d in range(b.now.size):
            speed += s.ends.weight[j, d] * (b.now[d] - b.before[d]) * per_second
            mean += s.ends.weight[j, d] * 0.5 * (b.now[d] + b.before[d])
        drawn = (s.now[j] - s.before[j]) * per_second
        total += speed * (drawn + 0.5 * s.ends.inertia[j] * speed) + 0.5 * s.ends.tension[j] * mean * mean
    for k in range(s.points.psi.size):
        step = s.points.now[k] - s.points.before[k]
        if s.points.heft[k] > 0.0 and s.points.state[k] == THERE:
            total += 0.5 * s.points.heft[k] * step * step
    return total + 0.5 * s.stretch.gain * s.stretch.length[0] * s.stretch.length[0]


@native
def stored(s: Strand) -> Any:
    """What obstacles and springs hold."""
    total = 0.0
    for k in range(s.points.psi.size):
        total += 0.5 * s.points.psi[k] * s.points.psi[k]
    return total


@native
def flown(b: Bridge) -> Any:
    """What hammers carry."""
    total = 0.0
    for h in range(b.flying.size):
        if b.flying[h] == 1:
            total += 0.5 * b.pace[h] * b.pace[h] / b.mobility[h]
    return total
