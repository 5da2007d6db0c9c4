"""A voice's string as modes whose contact is solved by Newton's method: `quality: best` of a modal preset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from engine.compiled import copy, native, pasted
from engine.layout import Vector
from engine.opened import address, opener
from engine.physics import modal, two_point
from engine.physics.linear import product
from engine.physics.problem import Pickup
from engine.physics.responses import answer_rows
from engine.physics.retune import ModalTuning, modal_tuning, tune_poles
from engine.physics.string import Array
from engine.synth import modal_string
from engine.synth.memory import Machine
from engine.synth.passing import clear, deepest, lowest, summed
from engine.vectors import PADDING, project


class BestParts(NamedTuple):
    """A string of a key, or of a voice: the kernel's own arrays, and what they are made again from."""

    c: two_point.Coefficients
    s: two_point.State
    t: ModalTuning
    shape: Vector  # of the modes, where the preset strikes
    wave: Vector  # wavenumbers, 1/m


NAME, PARTS, DESIGN = "best", BestParts, modal.Design
SHAPE = modal_string.SHAPE  # the two go on in each other
# What a voice has for itself; of this, what is made anew for every note and so need not be kept for a key.
OWN = (
    *("c.forward", "c.backward", "c.inject", "c.spread", "c.grip", "c.response", "c.height", "c.spring"),
    *("t.strike", "s"),
)
BLANK = ("c.inject", "c.grip", "t.strike", "s")


def columns(pickups: Sequence[Pickup]) -> int:
    """How many numbers the kernel gives for each step."""
    return modal_string.columns(pickups)


def laid_out(d: modal.Design) -> BestParts:
    """The string of a key."""
    c, t = two_point.coefficients(d), modal_tuning(d)
    wave = np.pad(d.modes.wavenumber, (0, c.forward.size - d.modes.wavenumber.size))
    # What is metered in research runs only lies where something else does.
    return BestParts(c._replace(resistance=c.spread), two_point.state(c), t, t.strike, wave)


def consistent(string: BestParts, pickups: int, columns: int) -> bool:
    """Whether the kernels stay within these arrays, whatever numbers are in them."""
    c, s, t = string.c, string.s, string.t
    modes, points = c.forward.size, c.height.size
    rows = points + pickups
    lines = (c.backward, c.inject, c.spread, c.spring, c.resistance, c.rest, s.even, s.odd)
    tuning = (t.bend, t.pull, t.decay, t.shrink, t.strike, string.shape, string.wave)
    each = (c.law.slope, c.rest_force, s.now, s.force, s.change, s.mean, s.pushed, *s.solver[:-2])
    return (
        modes % PADDING == 0
        and modes > 0
        and {array.size for array in (*lines, *tuning)} == {modes}
        and {array.size for array in each} | {points} == {points}
        and {table.shape for table in s.solver[-2:]} == {(points, points)}
        and (c.rows.shape, s.free.size) == ((rows, modes), rows)
        and {c.response.shape, c.remainder.shape} == {(points, rows)}
        and c.share.shape == (columns - pickups, points)
        and c.grip.size == columns - pickups
        and min(c.inertia.size, s.lost.size, s.clock.size) == 1
        and c.law.form in range(4)
    )


def resting(d: modal.Design) -> Array:
    """What the kernel gives of a string at rest."""
    c = two_point.coefficients(d)
    heard = product(c.rows[c.height.size :], c.rest) + product(c.rest_force, c.remainder[:, c.height.size :])
    return np.append(heard, product(c.share, c.rest_force))


_open = opener(BestParts)


@pasted
def of_voice(m: Machine, v: int) -> BestParts:
    """A voice's own string."""
    return _open(address(m), address(m.voice_words[v]))


@pasted
def of_key(m: Machine, key: int) -> BestParts:
    """A key's string, as designed."""
    return _open(address(m), address(m.key_words[key]))


@native
def restore(m: Machine, v: int) -> None:
    """The design's own coefficients, to the last digit: such a voice moves exactly as `simulate` does."""
    mine, designed = of_voice(m, v), of_key(m, m.voices[v].key)
    copy(designed.c.forward, mine.c.forward)
    copy(designed.c.backward, mine.c.backward)
    copy(designed.c.spread, mine.c.spread)
    copy(designed.c.spring, mine.c.spring)
    modal_string.aim(mine)
    for k in range(mine.c.response.shape[0]):
        copy(designed.c.response[k], mine.c.response[k])


@native
def retune(m: Machine, v: int) -> None:
    """Coefficients for the voice's tension and damping; what no mode answers stays as it was designed."""
    mine, voice = of_voice(m, v), m.voices[v]
    tune_poles(mine.t, voice.tension, voice.damping, mine.c)
    answer_rows(mine.c.rows, mine.c.spread, mine.c.response, m.scratch[v])


@native
def rest(m: Machine, v: int) -> None:
    """At rest, over the barrier where the preset has it."""
    mine = of_voice(m, v)
    copy(of_key(m, m.voices[v].key).c.height, mine.c.height)
    two_point.reset(mine.c, mine.s)
    # The onset's step, whose force is zero, is not heard: a note sounds at once.
    m.force[0, 0] = 0.0
    two_point.kernel(mine.c, mine.s, m.force[0, :1], 0.0, m.out[0, :1])


@native
def lift(m: Machine, v: int, by: float) -> None:
    """Raise the barrier under the string at once, as where a note begins, which it does not touch yet."""
    mine = of_voice(m, v)
    for k in range(mine.c.height.size):
        mine.c.height[k] += by


@native
def strike_at(m: Machine, v: int, position: float) -> None:
    """Where the next pluck meets the string, as a fraction of its length."""
    modal_string.strike(of_voice(m, v), m, v, position)


@native
def run(m: Machine, v: int, row: int, first: int, steps: int) -> None:
    """The string's own motion, into m.out from `first` on."""
    force, out = m.force[row, :steps], m.out[row, first : first + steps]
    mine = of_voice(m, v)
    two_point.kernel(mine.c, mine.s, force, 0.0, out)


@native
def run_lifted(m: Machine, v: int, row: int, first: int, steps: int, left: int) -> None:
    """The same while the barrier moves: at an even pace to where it is to be, which is `left` steps away."""
    force, out = m.force[row, :steps], m.out[row, first : first + steps]
    mine, voice = of_voice(m, v), m.voices[v]
    for t in range(steps):
        goal = voice.lift + (voice.next_lift - voice.lift) / (left - t)
        two_point.kernel(mine.c, mine.s, force[t : t + 1], goal - voice.lift, out[t : t + 1])
        voice.lift = goal


@native
def energy(m: Machine, v: int) -> tuple[float, float, float]:
    """Kinetic, potential and contact energy, J."""
    mine = of_voice(m, v)
    return two_point.energy(mine.c, mine.s)


# --- looked at, and gone on from --------------------------------------------------------------------------------------


@native
def shape(m: Machine, v: int, ago: int, out: Any) -> int:
    """Its newest amplitudes, or those of the step before, into `out`, which may have room for the lowest only."""
    s = of_voice(m, v).s
    return lowest(s.odd if (s.clock[0] + ago) & 1 else s.even, out)


@native
def picture(m: Machine, v: int, out: Any) -> int:
    """Its shape for whoever looks on; how many numbers."""
    return shape(m, v, 0, out)


@native
def pushes(m: Machine, v: int, out: Any) -> int:
    """What its contact points push with; how many numbers."""
    return summed(of_voice(m, v).s.force, out)


@native
def depth(m: Machine, v: int) -> float:
    """How far it is in its barrier at most, m."""
    mine = of_voice(m, v)
    return deepest(mine.c.height, mine.s.now)


@native
def enter(m: Machine, v: int, ago: int, shape: Any, count: int) -> None:
    """Be where another string was so many steps ago, as far as this one has its modes."""
    modal_string.begin_at(of_voice(m, v).s, ago, shape, count)


@native
def go_on(m: Machine, v: int, lifted: float, deep: float) -> float:
    """Move on from what was entered, where the barrier was lifted so far and the string so deep in it; how far the
    barrier is lifted to begin with."""
    mine = of_voice(m, v)
    c, s = mine.c, mine.s
    heard, resting, points = m.heard[v], m.resting[m.voices[v].key], c.height.size
    for ago, y in ((1, s.odd), (0, s.even)):  # what is made of differences goes on without a jump
        project(c.rows, y, s.free)
        for p in range(m.pickups):
            heard[p, ago] = s.free[points + p] - resting[p]
    for k in range(points):  # what the modes leave out follows the next contact, not the last
        s.now[k], s.force[k], s.change[k] = s.free[k], 0.0, 0.0
    s.lost[0], s.clock[0] = 0.0, 0
    by = clear(c.height, s.now, lifted, deep)
    for k in range(points):
        c.height[k] += by
    return by
