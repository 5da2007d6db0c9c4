"""A network's memory, declared once: what kernels read of a string, a bridge with its body, and hammers.

Rows of a string: first its points, obstacles before rubs before links; then the ends of its planes, which the bridge
moves; then the places that are heard. `r` is the number of directions in which the bridge moves.
"""

from __future__ import annotations

from engine.layout import Cube, Integers, Matrix, Vector, record
from engine.opened import at

NOBODY = -1  # in the place of a number: no hammer, no partner
WAITING, THERE, GONE = range(3)  # a counterpart's states


@record
class Resonators:
    """Modes: what advances them, and two steps that take turns at being the newest."""

    forward: Vector  # 2 R cos(w k)
    backward: Vector  # R^2
    spread: Vector  # (k^2/m) C
    inject: Vector  # modal displacement per newton of excitation
    rows: Matrix  # [R, M]
    response: Matrix  # [S, R] in whole vectors: displacement of a row per newton at one of the first S rows
    ahead: Matrix  # [S, R]: the same a step later
    inertia: Vector  # m / 2k^2
    spring: Vector  # k* / 8
    even: Vector
    odd: Vector
    latest: Vector  # the newest step, the one before it and the one before that, where it is metered
    last: Vector
    earlier: Vector
    free: Vector  # [R]: rows without the step's forces, then with them
    both: Matrix  # [2, R] in whole vectors: rows without forces in both steps of a pair
    weights: Matrix  # [2, S] in whole vectors, N: what has pushed in both, which modes have when they are next loaded
    chosen: Integers  # [S]: the rows that have


@record
class Recipe:
    """What a bank is made of again when its tension or damping changes: by the names of retune.ModalTuning."""

    bend: Vector
    pull: Vector
    decay: Vector
    shrink: Vector
    strike: Vector
    wave: Vector  # 1/m
    facing: Vector  # how much of each mode is seen from where it is struck
    mass: float
    step: float
    length: float
    tension: float  # as designed, N
    stiffening: float  # EI b^2 of the first mode, N
    scratch: Vector
    gain: Vector
    late: Integers  # [1] 1: another tension and damping are asked for, from the next pair of steps on
    asked: Vector  # [2]


@record
class Ends:
    """How a string hangs on the bridge: by the end of each plane."""

    weight: Matrix  # [E, r]: its motion per motion of the bridge
    inertia: Vector  # [E] rho L / 3
    tension: Vector  # [E] T / L
    ratio: Vector  # [E]: a plane's tension, of the string's
    carried: Matrix  # [r, R] in whole vectors: of a row, per motion of the bridge, with all modes at rest
    lean: Matrix  # [r, P] in whole vectors: less of a row per second difference of the bridge's motion
    load: Matrix  # [r, r]: force on the bridge per second difference
    reach: Vector  # [r]: the bridge as seen from the direction in which the string is struck
    struck: Vector  # [r]: what moves the bridge of a newton of excitation, beside the modes


@record
class Contacts:
    """What touches a string, point by point."""

    obstacles: int  # counts, in this order
    rubs: int
    links: int
    at: Vector  # m
    timed: int  # 1: some counterpart comes, goes or moves
    slope: Vector  # of an obstacle: a = slope eta^power, half of psi'(eta)
    power: Vector
    form: Integers  # contact.LINEAR ...
    secant: Vector
    drag: Vector  # mu / 2k of an obstacle
    root: Vector  # of a link: half the root of its spring's stiffness
    resist: Vector  # R / 2k of its dashpot
    heft: Vector  # m / k^2 of its mass
    limit: Vector  # of a rub: coefficient of friction
    partner: Integers  # the obstacle under a rub; the link that leaves with a finger; or NOBODY
    hammer: Integers  # of an obstacle, or NOBODY
    low: Vector  # where the counterpart begins, m
    by: Vector  # and how far it goes,
    begin: Vector  # in steps: from when,
    span: Vector  # in how many,
    end: Vector  # until when
    slip: Vector  # N
    # What changes:
    state: Integers  # WAITING | THERE | GONE
    grip: Vector  # share of a dashpot that has taken hold
    next: Vector  # where the counterpart will be after the step,
    level: Vector  # is,
    last: Vector  # and was
    now: Vector  # where the string is,
    before: Vector  # and was
    open: Vector  # would be after the step, if no obstacle pushed
    psi: Vector
    force: Vector  # [points + E] N; of an end -1/k^2 times its second difference
    pushed: Integers  # [points + E]: the rows that have a force, in order
    near: Integers  # [points]: the obstacles that may push
    lost: Vector  # [2] so far: lost in contacts and dashpots; the work of counterparts


@record
class Fold:
    """A string's answers with its links, and its own stretching, folded in."""

    answer: Matrix  # [P, P]
    lean: Matrix  # [r, P] in whole vectors
    load: Matrix  # [r, r]
    held: Vector  # [P]: points without the forces of obstacles and rubs
    base: Vector  # [P]: of each link, its point without itself and those folded after it
    column: Matrix  # [P, P]: of each link, its column when it was folded
    slant: Matrix  # [P, r]: its lean then
    ease: Vector  # [P] 1 / (1 + q W)
    stale: Integers  # 1: to be made anew


@record
class Stretch:
    """Tension that grows with the string's length; no entries where it does not."""

    square: Vector  # b^2 of the modes that feel it
    gain: float  # EA L / 16
    shape: Matrix  # [1, M] w = b^2 y
    moved: Matrix  # [1, M] spread w
    sway: Vector  # [R]: rows per unit of its force
    lean: Vector  # [r]
    sums: Vector  # [4]: w.y+ without any force, w.spread w, its stiffness once it is folded, its force without others
    length: Vector  # [1] w.y of the newest step and the one before it, which is what the string has grown by


@record
class Strand:
    """One string."""

    bank: Resonators
    recipe: Recipe
    ends: Ends
    points: Contacts
    fold: Fold
    stretch: Stretch
    blow: Vector  # [1] N: of the excitation, in the last step
    now: Vector  # [E] ends: rho/b y summed
    before: Vector  # [E]
    felt: Vector  # [r] N: what it did to the bridge in the last step
    rest: Vector  # [M] m: where it rests on a bridge at rest
    rest_psi: Vector  # [P]


@record
class Flock:
    """Up to 16 strings that always sound, side by side: one in each lane, all over barriers of as many points."""

    strings: int
    reach: Integers  # [lanes / 8] modes of the longest of each eight
    forward: Matrix  # [M, lanes]
    backward: Matrix
    rows: Cube  # [K + 1, M, lanes]: points, then the end; of modes that are scaled by the root of their spread,
    scale: Matrix  # [M, lanes] m, which is this
    response: Cube  # [K + 1, K + 1, lanes]
    ahead: Cube  # [K + 1, K + 1, lanes]: the same a step later
    even: Matrix
    odd: Matrix
    both: Matrix  # [2, (K + 1) lanes]: rows without forces in both steps of a pair
    pend: Cube  # [2, K + 1, lanes] N: what has pushed in both, which modes have when they are next loaded
    touched: Integers  # [2] 1: some point pushed
    weight: Matrix  # [r, lanes]
    tension: Matrix  # [r, r] N/m: of all
    carried: Matrix  # [r, (K + 1) lanes]
    lean: Matrix  # [r, K lanes]
    load: Matrix  # [r, r]: of all
    slope: Vector  # [K lanes]
    power: float
    form: int
    secant: float
    drag: float
    level: Vector  # [K lanes]
    open: Vector
    psi: Vector
    free: Vector  # [(K + 1) lanes]
    now: Vector
    before: Vector
    drawn: Vector  # [lanes]: second differences of the ends
    pulled: Vector  # [r]
    lost: Vector  # [1]


@record
class Bridge:
    """A bridge, the body below, and hammers."""

    bank: Resonators  # rows: the bridge's directions, then the channels
    load: Matrix  # [r, r]: of all strings
    mixed: Matrix  # [r, r] 1 + Wb G
    give: Matrix  # [r, r] its inverse
    answer: Matrix  # [r, r] (1 + Wb G)^-1 Wb
    now: Vector  # [r] m
    before: Vector
    ahead: Vector  # [r]: 2 z - z-
    surge: Vector  # [r]: z+ - 2 z + z-
    pull: Vector  # [r] N: on the bridge, if it went on as it does
    blow: Vector  # [1] N: what strikes the body in this step, elsewhere than on the bridge
    swept: Vector  # [r]: by how much obstacles' forces have changed that so far
    force: Vector  # [r] N: on the body
    heard: Matrix  # [3, channels]: where the channels' sums are, were, and their acceleration
    passing: Vector  # [4] of the high-pass of radiation, or none
    passed: Matrix  # [channels, 2]: its memory
    mobility: Vector  # of each hammer, k^2/m
    weight: Vector
    begin: Vector  # step at which it flies
    speed: Vector  # m a step, at first
    height: Vector
    flying: Integers
    pace: Vector  # m a step
    next: Vector  # without being hit
    level: Vector
    last: Vector
    hit: Vector  # N: by all strings together
    work: Vector  # [1] J so far: of weights, and of whoever threw them
    which: Integers  # [r] 0, 1 ..
    stale: Integers  # [1] 1: what it carries has changed
    clock: Integers  # [1]


@record
class Island:
    """Parts that are joined and step together, in the block of memory that begins with it."""

    per_second: float  # steps
    one_way: int  # 1: strings stand on a frame, and what they do to it drives the bridge, which does nothing to them
    bridge: Bridge
    frame: Bridge  # that frame, with hammers; only where it is one-way
    flocks: int  # 1: there is one
    flock: Flock
    members: Integers  # strands that sound, in order
    active: Integers  # [1] how many of them do
    strands: Integers  # where they are, counted from the island


island = at(Island)
strand = at(Strand)
