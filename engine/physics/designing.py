"""A modal string designed by compiled code alone: what modal.design makes of a problem, operation by operation.

An instrument that was taken out of Python is made ready for a sample rate by it (synth/recipes.py). All memory is a
`Bench`, laid out for the longest of all strings; what comes out goes into a string's own arrays (filling.py).
Nothing here decides anything anew: tests hold it to modal.design, bit by bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import Any

import numpy as np

from engine.compiled import float_rows, native
from engine.elementary import cos, exp, power, sin
from engine.layout import Integers, Vector, record
from engine.opened import address, at
from engine.pairs import whole
from engine.physics import barrier, contact, rank, statics
from engine.physics.barrier import FINE, MOST_FINE, Barrier, Obstacles, Polynomial, Table
from engine.physics.linear import solve
from engine.physics.pressed import Press, finite, press, total
from engine.physics.pressed import sizes as press_sizes
from engine.physics.problem import PICKUP_KINDS, TWICE, Pickup, Problem
from engine.physics.rank import choose, express
from engine.physics.string import LIMP
from engine.vectors import PADDING

BAND = 20_000.0  # Hz: modes above are not heard

NOTHING, POLYNOMIAL, TABLE, POINTS = range(4)  # what is under a string
DISPLACEMENT, VELOCITY, BRIDGE_FORCE, BODY_FORCE, AIR = range(len(PICKUP_KINDS))
EXTENTS = 16
SILENT = tuple(PICKUP_KINDS.index(kind) for kind in TWICE)  # to forces that rest


@record
class Bench:
    """A string that is being designed: what it is, in SI units, then what is found."""

    rate: float
    band: float
    length: float
    density: float
    tension: float
    stiffness: float
    s0: float
    s1: float
    s2: float
    s3: float
    strike: float  # where it is struck, of its length
    surface: int
    begin: float
    stop: float
    origin: float
    height: float
    asked: int  # contact points; 0: as many as its modes ask for; -1: none
    bulge: float  # points that the profile asks for
    hard: float  # the contact's stiffness
    exponent: float
    damping: float
    lasting: float  # contact.lasting
    modes: int
    room: int  # of a row of modes, in whole vectors
    points: int
    rank: int
    pickups: int
    bodies: int
    rule: int
    numbers: Vector  # of its profile: coefficients; or all places, then all heights
    kinds: Integers  # of its pickups
    ears: Vector  # their places, of its length
    wave: Vector
    decay: Vector
    swing: Vector  # rad/s
    forward: Vector
    backward: Vector
    spread: Vector
    stiff: Vector
    place: Vector  # of contact points
    level: Vector
    firm: Vector
    touching: Vector  # [points, room]
    heard: Vector  # [pickups, room]
    rows: Vector  # [rank + pickups, room]
    q: Vector  # [points, room]
    triangle: Vector  # [points, points]
    sums: Vector
    mix: Vector  # [points, rank]
    order: Integers
    kept: Integers
    square: Vector
    along: Vector
    which: Integers
    gram: Vector  # [rank, rank + pickups]
    half: Vector  # [points, rank + pickups]
    left: Vector  # [points, points + pickups]
    given: Vector  # [points, points]
    own: Vector  # [points, points]
    matrix: Vector
    right: Vector
    rest: Vector
    weight: Vector
    pressed: Vector
    scratch: Vector
    partials: Vector
    extents: Integers  # room for whoever lays out what comes out
    press: Press


bench_at = at(Bench)


def sizes(modes: int, points: int, pickups: int, numbers: int) -> dict[str, Any]:
    """Of a bench's arrays, for strings of at most so many."""
    room, k, p = modes + -modes % PADDING, max(points, 1), max(pickups, 1)
    wide = whole(k + p, float)
    rows = ("wave", "decay", "swing", "forward", "backward", "spread", "stiff", "rest", "scratch")
    few = ("place", "level", "firm", "order", "kept", "square", "along", "which", "right", "weight", "pressed")
    square = ("triangle", "sums", "mix", "given", "own", "matrix")
    return {
        **dict.fromkeys(rows, (room,)),
        **dict.fromkeys(few, (wide,)),
        **dict.fromkeys(square, (k * k,)),
        **dict.fromkeys(("gram", "half", "left"), (k * (k + p),)),
        **dict.fromkeys(("touching", "q"), (k * room,)),
        "heard": (p * room,),
        "rows": ((k + p) * room,),
        "kinds": (p,),
        "ears": (p,),
        "numbers": (max(numbers, 1),),
        "partials": press_sizes(k)["partials"],
        "extents": (EXTENTS,),
    }


def profile(problem: Problem) -> tuple[int, float, list[float]]:
    """What is under a string: its kind, where a polynomial's x begins, its numbers. A LookupError: some other thing."""
    match problem.barrier:
        case None:
            return NOTHING, 0.0, []
        case Obstacles() as o:
            places = sorted(range(len(o.positions)), key=lambda n: o.positions[n])
            return POINTS, 0.0, [o.positions[n] for n in places] + [o.heights[n] for n in places]
        case Barrier(profile=Polynomial() as p):
            return POLYNOMIAL, p.origin, list(p.coefficients)
        case Barrier(profile=Table() as t):
            return TABLE, 0.0, [*t.x, *t.heights]
    raise LookupError("a barrier that was made in Python")


def heard_simply(pickups: Sequence[Pickup]) -> bool:
    """Whether all of them hear one place, and no air."""
    return not any(p.kind == "air" or p.width for p in pickups)


# --- modes and places -------------------------------------------------------------------------------------------------


@native
def find_modes(b: Bench) -> None:
    """Those that are kept (modes.modes)."""
    limit = 2.0 * pi * min(b.band, 0.4995 * b.rate)
    most = int(wavenumber_at(b, limit / (2.0 * pi)) * b.length / pi) + 2
    step = pi / b.length
    n = 0
    while n < min(most, b.wave.size):
        wave = (n + 1.0) * step
        decay = b.s0 + wave * (b.s1 + wave * (b.s2 + wave * b.s3))
        undamped = wave * np.sqrt((b.tension + b.stiffness * (wave * wave)) / b.density)
        squared = undamped * undamped - decay * decay
        if not (squared > 0.0 and squared < limit * limit):
            break
        b.wave[n], b.decay[n], b.swing[n] = wave, decay, np.sqrt(squared)
        n += 1
    b.modes, b.room = n, (n + PADDING - 1) // PADDING * PADDING


@native
def find_poles(b: Bench) -> None:
    """What advances them (modes.poles)."""
    k, mass = 1.0 / b.rate, 0.5 * b.density * b.length
    for n in range(b.modes):
        r, o = exp(-b.decay[n] / b.rate), cos(b.swing[n] / b.rate)
        low = 1.0 + 2.0 * r * o + r * r
        b.forward[n], b.backward[n] = 2.0 * r * o, r * r
        b.spread[n] = k * k / mass * (low / 4.0)
        b.stiff[n] = 4.0 * mass * ((1.0 - 2.0 * r * o + r * r) / low) / (k * k)
    for i in range(b.modes, b.room):
        b.wave[i] = b.decay[i] = b.forward[i] = b.backward[i] = b.spread[i] = b.stiff[i] = 0.0


@native
def wavenumber_at(b: Bench, frequency: Any) -> Any:
    """String.wavenumber_at."""
    squared = b.density * (2.0 * pi * frequency) * (2.0 * pi * frequency)
    if b.stiffness <= LIMP * b.tension:
        return np.sqrt(squared / b.tension)
    half = b.tension / (2.0 * b.stiffness)
    return np.sqrt(squared / b.stiffness / (half + np.sqrt(half * half + squared / b.stiffness)))


@native
def find_points(b: Bench) -> None:
    """Where it can touch (Problem.modal_points)."""
    if b.surface == NOTHING or b.asked < 0:
        b.points = 0
        return
    if b.surface == POINTS:
        b.points = b.asked
        for k in range(b.points):
            b.place[k], b.level[k], b.firm[k] = b.numbers[k], level_at(b, b.numbers[k], k), b.hard
        return
    b.points = b.asked if b.asked else enough(b)
    width = (b.stop - b.begin) / b.points
    for k in range(b.points):
        b.place[k] = b.begin + (k + 0.5) * width
        b.level[k], b.firm[k] = level_at(b, b.place[k], k), b.hard * width


@native
def enough(b: Bench) -> Any:
    """barrier.enough."""
    told = (b.stop - b.begin) / (b.length / (b.modes + 1))
    wanted = max(b.bulge, min(FINE * told, max(told, MOST_FINE))) - barrier.ROUNDING
    count = int(wanted)
    if count < wanted:
        count += 1
    return min(max(1, count), barrier.MOST, int(np.sqrt(b.triangle.size)))  # there is no room for more


@native
def level_at(b: Bench, x: Any, k: Any) -> Any:
    """The height of a barrier; for points, of the k-th."""
    if b.surface == POINTS:
        return b.numbers[b.numbers.size // 2 + k] + b.height
    level = 0.0
    if b.surface == POLYNOMIAL:
        for n in range(b.numbers.size - 1, -1, -1):
            level = level * (x - b.origin) + b.numbers[n]
        return level + b.height
    count = b.numbers.size // 2
    places, levels = b.numbers[:count], b.numbers[count:]
    if x <= places[0]:
        return levels[0] + b.height
    if x >= places[count - 1]:
        return levels[count - 1] + b.height
    right = 0
    while right < count and places[right] <= x:
        right += 1
    left = min(max(right - 1, 0), max(count - 2, 0))
    right = min(left + 1, count - 1)
    width = places[right] - places[left] if places[right] > places[left] else 1.0
    return (levels[right] - levels[left]) / width * (x - places[left]) + levels[left] + b.height


@native
def see(b: Bench) -> None:
    """Modes as points and pickups have them (modes.shape, modes.pickup_row)."""
    for k in range(b.points):
        for i in range(b.room):
            b.touching[k * b.room + i] = sin(b.place[k] * b.wave[i]) if i < b.modes else 0.0
    for p in range(b.pickups):
        for i in range(b.room):
            b.heard[p * b.room + i] = heard_mode(b, p, b.wave[i]) if i < b.modes else 0.0


@native
def heard_mode(b: Bench, p: Any, wave: Any) -> Any:
    """One of them at a pickup."""
    kind, near = b.kinds[p], b.ears[p] == 0.0
    if kind == BODY_FORCE:
        return b.density / wave if near else -(b.density / wave) * cos(wave * b.length)
    if kind == BRIDGE_FORCE:
        pull = b.tension * wave + b.stiffness * (wave * wave * wave)
        return pull if near else -pull * cos(wave * b.length)
    return sin(b.ears[p] * b.length * wave)


# --- few rows ---------------------------------------------------------------------------------------------------------


@native
def find_rows(b: Bench) -> None:
    """Of which rows points are sums, and what the modes leave out (rank.few_rows of a band)."""
    tolerance = rank.PLUCKED
    while tolerance > rank.TOLERANCE * rank.PLUCKED:
        skeleton(b, True, tolerance, 1.0)
        reduce(b)
        if positive(b):
            return
        tolerance *= 0.5
    skeleton(b, False, rank.TOLERANCE, 0.0)
    reduce(b)


@native
def skeleton(b: Bench, plucked: Any, tolerance: Any, least: Any) -> None:
    """rank.skeleton of all points' rows, or, `plucked`, of those weighed as a pluck moves modes."""
    count = b.points
    for k in range(count):
        b.order[k] = k
        b.square[k] = b.along[k] = 0.0
        for i in range(b.room):
            n = i + 1.0
            here = b.touching[k * b.room + i]
            b.q[k * b.room + i] = here / (n * n) if plucked else here
        for j in range(count):
            b.triangle[k * count + j] = b.sums[k * count + j] = 0.0
    b.which[0] = 0
    rows, triangle = float_rows(address(b.q), count, b.room), float_rows(address(b.triangle), count, count)
    order, square, along = b.order[:count], b.square[:count], b.along[:count]
    found = choose(rows, order, triangle, square, along, b.which, tolerance, least)
    sums = float_rows(address(b.sums), count, count)
    express(triangle, found, sums)
    b.rank = found
    for a in range(found):  # in the order of the points
        at = a
        while at > 0 and b.kept[at - 1] > order[a]:
            b.kept[at] = b.kept[at - 1]
            at -= 1
        b.kept[at] = order[a]
    for a in range(found):
        for n in range(found):
            if order[n] == b.kept[a]:
                for k in range(count):
                    b.mix[order[k] * found + a] = sums[k, n]


@native
def reduce(b: Bench) -> None:
    """The rows of which there are few, and what their sums lack of a string's answer to a force that rests."""
    count, few, ears, room = b.points, b.rank, b.pickups, b.room
    wide = few + ears
    for a in range(few):
        for i in range(room):
            b.rows[a * room + i] = b.touching[b.kept[a] * room + i]
    for i in range(ears * room):
        b.rows[few * room + i] = b.heard[i]
    for a in range(few):
        for j in range(wide):
            b.gram[a * wide + j] = 0.0
        for i in range(b.modes):
            share = b.rows[a * room + i] / b.stiff[i]
            for j in range(wide):
                b.gram[a * wide + j] += share * b.rows[j * room + i]
    for k in range(count):
        for j in range(wide):
            b.half[k * wide + j] = 0.0
        for a in range(few):
            for j in range(wide):
                b.half[k * wide + j] += b.mix[k * few + a] * b.gram[a * wide + j]
    for k in range(count):
        for j in range(count):
            b.own[k * count + j] = compliance(b, b.place[k], b.place[j])
            b.given[k * count + j] = 0.0
            for a in range(few):
                b.given[k * count + j] += b.half[k * wide + a] * b.mix[j * few + a]
    leave_out(b)


@native
def leave_out(b: Bench) -> None:
    """b.left, from what the modes give, which is in b.given; there afterwards what both do (statics.left_out)."""
    count, ears, wide = b.points, b.pickups, b.points + b.pickups
    for k in range(count):
        for j in range(count):
            one = b.own[k * count + j] - b.given[k * count + j]
            other = b.own[j * count + k] - b.given[j * count + k]
            spare = statics.MARGIN * b.own[k * count + k] if j == k else 0.0
            b.left[k * wide + j] = 0.5 * (one + other) + spare
        for p in range(ears):
            lacking = 0.0
            if b.kinds[p] != SILENT[0] and b.kinds[p] != SILENT[1]:
                lacking = heard_at_rest(b, p, b.place[k]) - b.half[k * (b.rank + ears) + b.rank + p]
            b.left[k * wide + count + p] = lacking
    for k in range(count):
        for j in range(count):
            b.given[k * count + j] += b.left[k * wide + j]


@native
def compliance(b: Bench, one: Any, other: Any) -> Any:
    """statics.compliance."""
    low, high, length, bent = min(one, other), max(one, other), b.length, 0.0
    if b.stiffness > 0.0:
        rate = np.sqrt(b.tension / b.stiffness)
        ends = (1.0 - exp(-2.0 * rate * low)) * (1.0 - exp(-2.0 * rate * (length - high)))
        bent = 0.5 / rate * exp(-rate * (high - low)) * ends / (1.0 - exp(-2.0 * rate * length))
    return (low * (length - high) / length - bent) / b.tension


@native
def heard_at_rest(b: Bench, p: Any, place: Any) -> Any:
    """statics.heard of one place."""
    if b.kinds[p] == BRIDGE_FORCE:
        return 1.0 - place / b.length if b.ears[p] == 0.0 else place / b.length
    return compliance(b, place, min(max(b.ears[p] * b.length, 0.0), b.length))


@native
def positive(b: Bench) -> Any:
    """Whether what is left out at the points is a table that has factors (linear.positive)."""
    count, wide = b.points, b.points + b.pickups
    matrix, right = float_rows(address(b.matrix), count, count), b.right[:count]
    for k in range(count):
        right[k] = 1.0
        for j in range(count):
            matrix[k, j] = b.left[k * wide + j]
    solve(matrix, right)
    return finite(right, count)


# --- contact ----------------------------------------------------------------------------------------------------------


@native
def find_rule(b: Bench) -> None:
    """Which secant is the better one where contacts begin (contact.law)."""
    b.rule = contact.SHIPPED
    if b.points == 0:
        return
    if b.exponent < contact.STEEP or not b.hard > 0.0:
        b.rule = contact.ONSET
        return
    most, over, swing = 0.0, 1.0 / (b.exponent + 1.0), contact.SPEED / b.rate
    for k in range(b.points):
        for i in range(b.modes):
            row = 0.0
            for a in range(b.rank):
                row += b.mix[k * b.rank + a] * b.rows[a * b.room + i]
            b.scratch[i] = row * row * b.spread[i]
        gives = total(b.scratch, b.modes, b.partials) + b.left[k * (b.points + b.pickups) + k]
        most = max(most, gives * b.firm[k])
    pressed = power(swing * swing / (2.0 * over * most), over)
    if b.lasting * 2.0 * pressed / swing >= contact.SHORT:
        b.rule = contact.ONSET


@native
def find_rest(b: Bench) -> None:
    """With which forces the barrier presses it at rest, and where it is then (statics.resting)."""
    p, count = b.press, 0
    for k in range(b.points):
        b.pressed[k] = 0.0
        if b.level[k] > 0.0:
            b.order[count] = k
            count += 1
    for i in range(count):
        p.height[i], p.hard[i] = b.level[b.order[i]], b.firm[b.order[i]]
        for j in range(count):
            p.give[i * count + j] = b.given[b.order[i] * b.points + b.order[j]]
    if count:
        press(p, count, b.exponent)
    for i in range(count):
        b.pressed[b.order[i]] = p.force[i]
    for a in range(b.rank):
        b.weight[a] = 0.0
        for k in range(b.points):
            b.weight[a] += b.pressed[k] * b.mix[k * b.rank + a]
    for i in range(b.room):
        b.rest[i] = 0.0
        for a in range(b.rank):
            b.rest[i] += b.weight[a] * b.rows[a * b.room + i]
        if i < b.modes:
            b.rest[i] /= b.stiff[i]


@native
def design(b: Bench) -> None:
    """All of it, but for the arrays that the renderer reads."""
    find_modes(b)
    if b.modes == 0:
        return
    find_poles(b)
    find_points(b)
    see(b)
    find_rows(b)
    find_rule(b)
    find_rest(b)
