"""A voice's string as a grid of nodes: what it is made of, and how it is retuned, rested, lifted, struck and run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from engine.compiled import copy, entry, floats, inlined, integers, native, pasted
from engine.layout import count_of, words_of
from engine.opened import address, opener
from engine.pairs import whole
from engine.physics import finite_difference as fd
from engine.physics.contact import force_of
from engine.physics.dispersion import FEW, MANY, REACH
from engine.physics.grid import ORIGIN, interpolate
from engine.physics.grid_contact import Touchable, read_points
from engine.physics.linear import total
from engine.physics.problem import Pickup
from engine.physics.retune import GridTuning, grid_tuning, lift_nodes, lift_points, tune_grid
from engine.physics.string import Array
from engine.synth.listening import podium_at
from engine.synth.memory import Machine
from engine.synth.passing import clear, deepest, meet, summed, thinned
from engine.vectors import PADDING


class GridParts(NamedTuple):
    """A string of a key, or of a voice: the kernel's own arrays, and what they are made again from."""

    c: fd.Coefficients
    s: fd.State
    t: GridTuning


NAME, PARTS, DESIGN = "fd", GridParts, fd.Design
SHAPE = "nodes"  # what a string of this model passes on, and goes on from: from one end to the other
# What a voice has for itself; of this, what is made anew for every note and so need not be kept for a key.
OWN = (
    *("c.stencil.now", "c.stencil.before", "c.stencil.far", "c.meter.elastic", "c.ports.inject", "c.surface.height"),
    *("c.surface.response", "t.strike", "s"),
)
BLANK = ("c.ports.inject", "t.strike", "s")
# Numbers among a voice's words that change.
_WORDS = words_of(GridParts)
NODE, ANSWER = _WORDS["c.ports.inject_node"], _WORDS["c.surface.answer"]
COUNT = count_of(GridParts)


def columns(pickups: Sequence[Pickup]) -> int:
    """How many numbers the kernel gives for each step."""
    return len(pickups)


def laid_out(d: fd.Design) -> GridParts:
    """The string of a key."""
    c = d.coefficients
    return GridParts(c, fd.state(c), grid_tuning(d))


def consistent(string: GridParts, pickups: int, columns: int) -> bool:
    """Whether the kernels stay within these arrays, whatever numbers are in them."""
    c, s, t = string.c, string.s, string.t
    nodes, points, obstacles = c.stencil.intervals, c.surface.height.size, c.surface.obstacle_node.size
    reach = (c.stencil.now, c.stencil.before, c.meter.backward, c.meter.elastic, t.loss)
    exact = (t.elastic.pull, t.elastic.bend, t.elastic.share, t.elastic.at)
    each = (c.surface.law.slope, s.free, *s.touch[:5])
    starts = np.concatenate([[c.ports.inject_node], c.ports.pickup_node, c.surface.obstacle_node])
    return bool(
        nodes > 1
        and {array.size for array in (c.rest, s.level0, s.level1, s.level2)} == {ORIGIN + nodes + 1 + REACH + PADDING}
        and {array.size for array in reach} == {REACH + 1}
        and {array.size for array in exact} in ({FEW}, {MANY})
        and {array.size for array in (c.stencil.far, c.meter.far, t.far)} == {c.stencil.offset.size}
        and all(REACH < offset < nodes for offset in c.stencil.offset)
        and {array.size for array in each} | {points} == {points}
        and points == (c.rest_psi.size if obstacles else whole(c.rest_psi.size, np.float64))
        and obstacles in (0, points)
        and 0 <= c.surface.first_node <= nodes - (0 if obstacles else c.rest_psi.size)
        and starts.min() >= 0
        and starts.max() <= nodes
        and (c.ports.inject.size, t.strike.size) == (fd.TAPS, fd.TAPS)
        and c.ports.pickup_node.size == c.ports.carries.size == pickups == columns
        and (c.ports.pickup.shape, c.surface.obstacle.shape) == ((pickups, fd.TAPS), (obstacles, 2))
        and c.surface.response.shape == t.weights.shape == (obstacles, obstacles)
        and min(s.touch.lost.size, s.clock.size) == 1
        and c.surface.law.form in range(4)
    )


def resting(d: fd.Design) -> Array:
    """What the kernel gives of a string at rest."""
    c = d.coefficients
    reach = c.ports.pickup_node[:, None] + ORIGIN + np.arange(fd.TAPS)
    pulled = np.array([total(weights * nodes) for weights, nodes in zip(c.ports.pickup, c.rest[reach])])
    return pulled - c.ports.carries * total(force_of(c.rest_psi, d.points, d.problem.contact.exponent))


_open = opener(GridParts)


@pasted
def of_voice(m: Machine, v: int) -> GridParts:
    """A voice's own string."""
    return _open(address(m), address(m.voice_words[v]))


@pasted
def of_key(m: Machine, key: int) -> GridParts:
    """A key's string, as designed."""
    return _open(address(m), address(m.key_words[key]))


@native
def restore(m: Machine, v: int) -> None:
    """The design's own coefficients, to the last digit: such a voice moves exactly as `simulate` does."""
    mine, designed = of_voice(m, v), of_key(m, m.voices[v].key)
    copy(designed.c.stencil.now, mine.c.stencil.now)
    copy(designed.c.stencil.before, mine.c.stencil.before)
    copy(designed.c.stencil.far, mine.c.stencil.far)
    copy(designed.c.meter.elastic, mine.c.meter.elastic)
    for k in range(mine.c.surface.response.shape[0]):
        for j in range(mine.c.surface.response.shape[1]):
            mine.c.surface.response[k, j] = designed.c.surface.response[k, j]
    aim_at_nodes(mine, designed.c.surface.answer)
    answer(m, v, designed.c.surface.answer)


@native
def retune(m: Machine, v: int) -> None:
    """Coefficients for the voice's tension and damping."""
    mine, voice = of_voice(m, v), m.voices[v]
    answer(m, v, tune_grid(mine.t, voice.tension, voice.damping, mine.c))


@inlined
def answer(m: Machine, v: int, new: Any) -> None:
    """Note a node's answer to a newton."""
    floats(address(m.voice_words[v]), COUNT)[ANSWER] = new


@native
def rest(m: Machine, v: int) -> None:
    """At rest, over the barrier where the preset has it."""
    mine = of_voice(m, v)
    copy(of_key(m, m.voices[v].key).c.surface.height, mine.c.surface.height)
    fd.reset(mine.c, mine.s)
    # The onset's step, whose force is zero, is not heard: a note sounds at once.
    m.force[0, 0] = 0.0
    fd.kernel(mine.c, mine.s, m.force[0, :1], m.out[0, :1])


@native
def lift(m: Machine, v: int, by: float) -> None:
    """Raise the barrier under the string."""
    mine = of_voice(m, v)
    _, _, newest = fd.levels(mine.s)
    raise_surface(mine.c.surface, mine.s, newest, by)


@inlined
def raise_surface(surface: Touchable, s: fd.State, newest: Any, by: float) -> None:
    """Under obstacles, or under the nodes of the newest level."""
    if surface.obstacle_node.size:
        lift_points(surface.law, s.touch, surface.height, surface.response, by)
    else:
        lift_nodes(surface, s.touch, newest, by)


@native
def strike_at(m: Machine, v: int, position: float) -> None:
    """Where the next pluck meets the string, as a fraction of its length."""
    mine, length = of_voice(m, v), m.keys[m.voices[v].key].length
    intervals, taps = mine.c.stencil.intervals, mine.t.strike
    for j in range(taps.size):
        taps[j] = 0.0
    near = taps[: min(fd.TAPS, intervals - 1)]
    words = integers(address(m.voice_words[v]), COUNT)
    words[NODE] = interpolate(position * length, length / intervals, intervals, near)
    aim_at_nodes(mine, mine.c.surface.answer)


@inlined
def aim_at_nodes(mine: GridParts, answer: Any) -> None:
    """A newton's effect on the nodes around the place whose weights are in `strike`."""
    for j in range(mine.c.ports.inject.size):
        mine.c.ports.inject[j] = answer * mine.t.strike[j]


@native
def run(m: Machine, v: int, row: int, first: int, steps: int) -> None:
    """The string's own motion, into m.out from `first` on."""
    force, out = m.force[row, :steps], m.out[row, first : first + steps]
    mine = of_voice(m, v)
    fd.kernel(mine.c, mine.s, force, out)


@native
def run_lifted(m: Machine, v: int, row: int, first: int, steps: int, left: int) -> None:
    """The same while the barrier moves: at an even pace to where it is to be, which is `left` steps away."""
    force, out = m.force[row, :steps], m.out[row, first : first + steps]
    mine, voice = of_voice(m, v), m.voices[v]
    w, y, x = fd.levels(mine.s)
    lifted, to = voice.lift, voice.next_lift
    for t in range(steps):
        goal = lifted + (to - lifted) / (left - t)
        if goal != lifted:
            raise_surface(mine.c.surface, mine.s, x, goal - lifted)
            lifted = goal
        fd.step(mine.c, mine.s, x, y, w, force[t], out[t])
        y, x, w = x, w, y
    voice.lift = lifted


@entry
def rehearse(podium: int, base: int, row: int, first: int, steps: int) -> None:
    """Some steps of a note on a podium, of the string whose row of words lies in the block at `base`."""
    s, mine = podium_at(podium), _open(base, row)
    fd.kernel(mine.c, mine.s, s.force[first : first + steps], s.out[first : first + steps])


@native
def energy(m: Machine, v: int) -> tuple[float, float, float]:
    """Kinetic, potential and contact energy, J."""
    mine = of_voice(m, v)
    return fd.energy(mine.c, mine.s)


# --- looked at, and gone on from --------------------------------------------------------------------------------------


@native
def shape(m: Machine, v: int, ago: int, out: Any) -> int:
    """Where its nodes are, or were a step before, into `out`, which has room for them all; how many."""
    mine = of_voice(m, v)
    _, then, newest = fd.levels(mine.s)
    u, count = then if ago else newest, mine.c.stencil.intervals + 1
    for i in range(count):
        out[i] = u[ORIGIN + i]
    return count


@native
def picture(m: Machine, v: int, out: Any) -> int:
    """Its shape for whoever looks on; how many numbers."""
    mine = of_voice(m, v)
    _, _, newest = fd.levels(mine.s)
    return thinned(newest, ORIGIN, mine.c.stencil.intervals, out)


@native
def pushes(m: Machine, v: int, out: Any) -> int:
    """What its contact points push with; how many numbers."""
    mine = of_voice(m, v)
    return summed(mine.s.touch.force[: mine.c.rest_psi.size], out)


@native
def depth(m: Machine, v: int) -> float:
    """How far it is in its barrier at most, m."""
    mine = of_voice(m, v)
    surface = mine.c.surface
    _, _, newest = fd.levels(mine.s)
    if surface.obstacle_node.size:
        return deepest(surface.height, mine.s.touch.now)
    return deepest(surface.height, newest[surface.first_node + ORIGIN :])


@native
def enter(m: Machine, v: int, ago: int, shape: Any, count: int) -> None:
    """Be where another string was so many steps ago; it may have had more nodes, or fewer."""
    mine = of_voice(m, v)
    mine.s.clock[0] = 3  # the newest is in level1, the one before it in level0
    spread_nodes(shape, count - 1, mine.s.level0 if ago else mine.s.level1, mine.c.stencil.intervals)


@native
def go_on(m: Machine, v: int, lifted: float, deep: float) -> float:
    """Move on from what was entered, where the barrier was lifted so far and the string so deep in it; how far the
    barrier is lifted to begin with."""
    mine = of_voice(m, v)
    surface, s = mine.c.surface, mine.s
    hear_nodes(m, v, mine.c.ports, s.level1, 0)
    hear_nodes(m, v, mine.c.ports, s.level0, 1)
    if surface.obstacle_node.size:
        read_points(surface, s.level0, s.touch.before)
        read_points(surface, s.level1, s.touch.now)
        by = clear(surface.height, s.touch.now, lifted, deep)
        meet(surface.law, surface.height, s.touch, s.touch.now, by)
        return by
    under = s.level1[surface.first_node + ORIGIN :]
    by = clear(surface.height, under, lifted, deep)
    meet(surface.law, surface.height, s.touch, under, by)
    return by


@native
def hear_nodes(m: Machine, v: int, ports: fd.Ports, u: Any, ago: int) -> None:
    """What the pickups heard of a level, so that what is made of differences goes on without a jump."""
    heard, resting = m.heard[v], m.resting[m.voices[v].key]
    for p in range(m.pickups):
        pulled, first = 0.0, ports.pickup_node[p] + ORIGIN
        for j in range(fd.TAPS):
            pulled += ports.pickup[p, j] * u[first + j]
        heard[p, ago] = pulled - resting[p]


@native
def spread_nodes(u: Any, intervals: int, out: Any, wanted: Any) -> None:
    """Nodes on a level of another grid: as they are, or by cubics between four of them; odd about both ends."""
    for i in range(1, wanted):
        if wanted == intervals:
            out[ORIGIN + i] = u[i]
            continue
        x = i * intervals / wanted
        j = min(max(int(x), 1), max(intervals - 2, 1))
        t = x - j
        near = 0.5 * ((t + 1.0) * (t - 1.0) * (t - 2.0) * u[j] - (t + 1.0) * t * (t - 2.0) * u[j + 1])
        out[ORIGIN + i] = near + ((t + 1.0) * t * (t - 1.0) * u[j + 2] - t * (t - 1.0) * (t - 2.0) * u[j - 1]) / 6.0
    out[ORIGIN] = out[ORIGIN + wanted] = 0.0
    for j in range(1, REACH + 1):
        out[ORIGIN - j] = -out[ORIGIN + j]
        out[ORIGIN + wanted + j] = -out[ORIGIN + wanted - j]
