"""A voice's string as modes: what it is made of, and how it is retuned, rested, lifted, struck, run and looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from engine.compiled import copy, entry, inlined, native, pasted
from engine.elementary import sin
from engine.layout import Vector
from engine.opened import address, opener
from engine.pairs import whole
from engine.physics import modal
from engine.physics.block import MOST_AT_ONCE, ROWS
from engine.physics.hearing import REACTION, gripped, on_body
from engine.physics.linear import product
from engine.physics.problem import Pickup
from engine.physics.retune import ModalTuning, lift_points, modal_tuning, run_under_moving, tune_modes
from engine.physics.steps import newest
from engine.physics.string import Array
from engine.synth.listening import podium_at
from engine.synth.memory import Machine
from engine.synth.passing import clear, deepest, lowest, meet, summed
from engine.vectors import PADDING, project


class ModalParts(NamedTuple):
    """A string of a key, or of a voice: the kernel's own arrays, and what they are made again from."""

    c: modal.Coefficients
    s: modal.State
    t: ModalTuning
    shape: Vector  # of the modes, where the preset strikes
    wave: Vector  # wavenumbers, 1/m


NAME, PARTS, DESIGN = "modal", ModalParts, modal.Design
SHAPE = "modes"  # what a string of this model passes on, and goes on from: by their numbers
# What a voice has for itself; of this, what is made anew for every note and so need not be kept for a key.
OWN = (
    *("c.forward", "c.backward", "c.inject", "c.spread", "c.spring", "t.strike", "s"),
    *("c.answer", "c.ahead", "c.response", "c.response_ahead", "c.remainder", "c.direct", "c.heard", "c.heard_ahead"),
    *("c.grip", "c.height"),
)
BLANK = ("c.inject", "c.grip", "t.strike", "s")


def columns(pickups: Sequence[Pickup]) -> int:
    """How many numbers the kernel gives for each step: also what is carried for those that hear a body."""
    return len(pickups) + len(on_body(pickups))


def laid_out(d: modal.Design) -> ModalParts:
    """The string of a key."""
    c, t = d.coefficients, modal_tuning(d)
    return ModalParts(
        c._replace(resistance=c.spread),  # metered in research runs only
        modal.state(c),
        t,
        t.strike,
        np.pad(d.modes.wavenumber, (0, c.forward.size - d.modes.wavenumber.size)),
    )


def consistent(string: ModalParts, pickups: int, columns: int) -> bool:
    """Whether the kernels stay within these arrays, whatever numbers are in them."""
    c, s, t = string.c, string.s, string.t
    modes, points, rank = c.forward.size, c.rest_psi.size, c.mix.shape[0]
    rows, room, at_once = rank + pickups, whole(points, float), min(points, MOST_AT_ONCE)
    lines = (c.backward, c.inject, c.spread, c.spring, c.resistance, c.rest, s.even, s.odd, s.whole)
    tuning = (t.bend, t.pull, t.decay, t.shrink, t.strike, string.shape, string.wave)
    wide = (c.height, *s.touch[:5], s.earlier, s.push, s.none)
    tables = (c.answer, c.ahead, c.mix, c.shares, c.response, c.response_ahead, c.remainder)
    others = (c.direct, c.heard, c.heard_ahead, s.both, s.weights, s.free, s.work)
    return (
        modes % PADDING == 0
        and modes > 0
        and {array.size for array in (*lines, *tuning)} == {modes}
        and {array.size for array in wide} == {room}
        and {array.size for array in (c.law.slope, c.rest_force)} == {points}
        and c.rows.shape == (rows, modes)
        and rank <= modes
        and bool((c.height[points:] == -np.inf).all())  # there are no such points
        and (t.remainder.shape, t.direct.shape) == (c.remainder.shape, c.direct.shape)
        and [table.shape for table in tables + others]
        == [
            *[(rank, whole(rows, float))] * 2,
            *[(rank, room), (points, whole(rank, float))],
            *[(points, room)] * 3,
            *[(points, pickups)] * 3,
            *[(2, whole(rows, float)), (2, whole(rank, float)), (2, room)],
            (ROWS + at_once, at_once),
        ]
        and c.share.shape == (columns - pickups, points)
        and c.grip.size == columns - pickups
        and (c.inertia.size, s.touch.lost.size, s.owed.size, s.clock.size) == (1, 1, 3, 1)
        and c.law.form in range(4)
    )


def resting(d: modal.Design) -> Array:
    """What the kernel gives of a string at rest."""
    c = d.coefficients
    heard = product(c.rows[c.mix.shape[0] :], c.rest) + product(c.rest_force, c.direct)
    return np.append(heard, product(c.share, c.rest_force))


_open = opener(ModalParts)


@pasted
def of_voice(m: Machine, v: int) -> ModalParts:
    """A voice's own string."""
    return _open(address(m), address(m.voice_words[v]))


@pasted
def of_key(m: Machine, key: int) -> ModalParts:
    """A key's string, as designed."""
    return _open(address(m), address(m.key_words[key]))


@native
def restore(m: Machine, v: int) -> None:
    """The design's own coefficients, to the last digit: such a voice moves exactly as `simulate` does."""
    mine, designed = of_voice(m, v), of_key(m, m.voices[v].key)
    modal.catch_up(mine.c, mine.s)
    copy(designed.c.forward, mine.c.forward)
    copy(designed.c.backward, mine.c.backward)
    copy(designed.c.spread, mine.c.spread)
    copy(designed.c.spring, mine.c.spring)
    aim(mine)
    copy_table(designed.c.answer, mine.c.answer)
    copy_table(designed.c.ahead, mine.c.ahead)
    copy_table(designed.c.response, mine.c.response)
    copy_table(designed.c.remainder, mine.c.remainder)
    copy_table(designed.c.direct, mine.c.direct)
    copy_table(designed.c.response_ahead, mine.c.response_ahead)
    copy_table(designed.c.heard, mine.c.heard)
    copy_table(designed.c.heard_ahead, mine.c.heard_ahead)


@inlined
def copy_table(source: Any, target: Any) -> None:
    """target = source."""
    for k in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[k, j] = source[k, j]


@native
def retune(m: Machine, v: int) -> None:
    """Coefficients for the voice's tension and damping."""
    mine, voice = of_voice(m, v), m.voices[v]
    modal.catch_up(mine.c, mine.s)
    tune_modes(mine.t, voice.tension, voice.damping, mine.c, m.scratch[v])


@native
def rest(m: Machine, v: int) -> None:
    """At rest, over the barrier where the preset has it."""
    mine = of_voice(m, v)
    copy(of_key(m, m.voices[v].key).c.height, mine.c.height)
    modal.reset(mine.c, mine.s)
    # The onset's step, whose force is zero, is not heard: a note sounds at once.
    m.force[0, 0] = 0.0
    modal.kernel(mine.c, mine.s, m.force[0, :1], m.out[0, :1])


@native
def lift(m: Machine, v: int, by: float) -> None:
    """Raise the barrier under the string."""
    mine = of_voice(m, v)
    lift_points(mine.c.law, mine.s.touch, mine.c.height, mine.c.response, by)


@native
def strike_at(m: Machine, v: int, position: float) -> None:
    """Where the next pluck meets the string, as a fraction of its length."""
    strike(of_voice(m, v), m, v, position)


@inlined
def strike(mine: Any, m: Machine, v: int, position: float) -> None:
    """The same, of either kind of modes."""
    key = m.keys[m.voices[v].key]
    at, moved = position * key.length, position != key.position
    for i in range(mine.t.strike.size):
        mine.t.strike[i] = sin(mine.wave[i] * at) if moved else mine.shape[i]
    for p in range(m.pickups):
        if m.ears[p].way == REACTION:
            mine.c.grip[m.ears[p].column - m.pickups] = gripped(m.ears[p].end, position)
    aim(mine)


@inlined
def aim(mine: Any) -> None:
    """A newton's effect on every mode, for the place whose mode shapes are in `strike`."""
    for i in range(mine.c.inject.size):
        mine.c.inject[i] = mine.c.spread[i] * mine.t.strike[i]


@native
def run(m: Machine, v: int, row: int, first: int, steps: int) -> None:
    """The string's own motion, into m.out from `first` on."""
    force, out = m.force[row, :steps], m.out[row, first : first + steps]
    mine = of_voice(m, v)
    modal.kernel(mine.c, mine.s, force, out)


@native
def run_lifted(m: Machine, v: int, row: int, first: int, steps: int, left: int) -> None:
    """The same while the barrier moves: at an even pace to where it is to be, which is `left` steps away."""
    force, out = m.force[row, :steps], m.out[row, first : first + steps]
    mine, voice = of_voice(m, v), m.voices[v]
    voice.lift = run_under_moving(mine.c, mine.s, voice.lift, voice.next_lift, left, force, out)


@entry
def rehearse(podium: int, base: int, row: int, first: int, steps: int) -> None:
    """Some steps of a note on a podium, of the string whose row of words lies in the block at `base`."""
    s, mine = podium_at(podium), _open(base, row)
    modal.kernel(mine.c, mine.s, s.force[first : first + steps], s.out[first : first + steps])


@native
def energy(m: Machine, v: int) -> tuple[float, float, float]:
    """Kinetic, potential and contact energy, J."""
    mine = of_voice(m, v)
    return modal.energy(mine.c, mine.s)


# --- looked at, and gone on from --------------------------------------------------------------------------------------


@native
def shape(m: Machine, v: int, ago: int, out: Any) -> int:
    """Its newest amplitudes, or those of the step before, into `out`, which may have room for the lowest only."""
    mine = of_voice(m, v)
    now, before = newest(mine.c, mine.s)
    return lowest(before if ago else now, out)


@native
def picture(m: Machine, v: int, out: Any) -> int:
    """Its shape for whoever looks on; how many numbers."""
    return shape(m, v, 0, out)


@native
def pushes(m: Machine, v: int, out: Any) -> int:
    """What its contact points push with; how many numbers."""
    mine = of_voice(m, v)
    return summed(mine.s.touch.force[: mine.c.rest_psi.size], out)


@native
def depth(m: Machine, v: int) -> float:
    """How far it is in its barrier at most, m."""
    mine = of_voice(m, v)
    return deepest(mine.c.height, mine.s.touch.now)


@native
def enter(m: Machine, v: int, ago: int, shape: Any, count: int) -> None:
    """Be where another string was so many steps ago, as far as this one has its modes."""
    begin_at(of_voice(m, v).s, ago, shape, count)


@inlined
def begin_at(s: Any, ago: int, shape: Any, count: int) -> None:
    """Modes where they were so many steps ago."""
    y = s.odd if ago else s.even
    for i in range(y.size):
        y[i] = shape[i] if i < count else 0.0


@native
def go_on(m: Machine, v: int, lifted: float, deep: float) -> float:
    """Move on from what was entered, where the barrier was lifted so far and the string so deep in it; how far the
    barrier is lifted to begin with."""
    mine = of_voice(m, v)
    c, s = mine.c, mine.s
    for k in range(s.touch.force.size):  # what the modes leave out follows the next contact, not the last
        s.touch.force[k] = s.earlier[k] = 0.0
    modal.begin(c, s)
    heard, resting, rank = m.heard[v], m.resting[m.voices[v].key], c.mix.shape[0]
    for ago, y in ((0, s.even), (1, s.odd)):  # what is made of differences goes on without a jump
        project(c.rows, y, s.both[0, : len(c.rows)])
        for p in range(m.pickups):
            heard[p, ago] = s.both[0, rank + p] - resting[p]
    by = clear(c.height, s.touch.now, lifted, deep)
    meet(c.law, c.height, s.touch, s.touch.now, by)
    return by
