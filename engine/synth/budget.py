"""What an instrument may cost: a preset that asks for more than is sensible is refused before it takes it.

Operations are counted, and each has its price, measured: so much design time, so many bytes. A contact is charged as if
every point touched at every step, unless the excitation could not bring the string there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

from engine.errors import PhysicsError
from engine.physics import block, contact, finite_difference, modal
from engine.physics.barrier import Obstacles
from engine.physics.dispersion import REACH
from engine.physics.losses import distances
from engine.physics.string import Loss

Design = modal.Design | finite_difference.Design
Numbered = TypeVar("Numbered", bound=Design)

MOST_BYTES = 300_000_000
DESIGNING, TUNING, REHEARSING = 2.0, 1.2, 1.8  # s for all keys: five in all
TOGETHER = 3.6  # s that those take whose strings are tuned on their body
FEWEST = 12  # keys from one rehearsal to the next: where all would take longer, fewer are rehearsed, down to this
NOTE = 0.5  # s of a note that are listened to
PIECE = 0.05  # s that a call of compiled code may take: so long Ctrl-C waits
_KEY_ROWS, _VOICE_ROWS = 20, 10  # arrays as long as the string has modes or nodes
_STATE_ROWS = 20  # arrays as long as there are contact points
_VECTOR = 8  # numbers by which a row may be longer than it need be
_WORDS = 1000  # numbers: where a string's arrays are, what else is known of it, and what lies between arrays
_BUFFERS = 4  # numbers kept for each step of a rehearsal, for the force and each pickup
FINEST = 1.14  # a grid has no more nodes than the rate over twice its pitch and this: the margin, and room to bend
_REACH = 4.0 / 3.0  # see `within_reach`
_SOLVES = 2  # of a block in a step, nearly always
JOINED = 0.01  # ns a step for each byte of strings that share a bridge
PERFORMED = 0.0055  # and for each of a network that nothing but a key's own strings stand in: a fifth above the dearest
ROUNDS = 10  # that Newton's method takes at most in a step, nearly always


class Operations(NamedTuple):
    """What one step of a string consists of: counts."""

    nodes: int = 0  # of a grid whose losses reach the two next neighbours
    wide: int = 0  # of a grid with wider losses
    far: int = 0  # nodes times the distances over which losses take differences
    entries: int = (
        0  # of a table of modes: three rows of coefficients, one for each pickup and each row behind the points
    )
    watched: int = 0  # contact points looked at
    touching: int = 0  # of these, solved
    pairs: int = 0  # of points that move each other, and of points and pickups


class Costs(NamedTuple):
    """What each operation costs, ns. The law of a touching point costs by its exponent: 1, 1.5, 2, any other."""

    string: float
    nodes: float
    wide: float
    far: float
    entries: float
    watched: float
    linear: float
    quarter: float
    half: float
    general: float
    damped: float  # in addition
    pairs: float
    searched: float  # a point pressed at rest, in each search for the gradients of its block
    eliminated: float  # and a product of its elimination
    metered_nodes: float  # a whole step that `simulate` meters, by node or mode
    metered_modes: float
    key: float  # a key designed, by its model
    grid: float
    fitted: float  # losses over far distances: a node times the taps squared
    tabled: float  # an entry of the table times a point
    solved: float  # points pressed at rest, cubed
    coupled: float  # of Newton's method, in each round: a point's answer to another
    factored: float  # and points, cubed


# Measured by scripts/measure_budget.py, 2026-11-18, x86_64, Python 3.11.7.
COSTS = Costs(
    nodes=0.125,
    wide=0.682,
    far=0.6,  # of strings too long for the nearest cache; of others 0.4
    string=11.2,
    entries=0.0363,
    watched=0.23,
    linear=1.98,
    quarter=4.47,
    half=7.28,
    general=16.7,
    damped=1.1,
    pairs=0.0347,
    searched=12.0,  # both so that no block of 2 to 60 pressed points, at 60 to 800 Hz, took more
    eliminated=0.3,
    metered_nodes=9.56,
    metered_modes=2.04,
    key=340_000.0,
    grid=790_000.0,
    fitted=45.0,  # 28 to 46 from 632 nodes on, at 384 kHz and above
    tabled=0.146,
    solved=3.15,
    coupled=2.5,  # both from solves in which all of 4 to 60 points touch, begun far from where they end
    factored=0.05,
)


def sizes(design: Design) -> tuple[int, int, int]:
    """Of a string: its modes or nodes, the contact points that move each other, and the rows of its table."""
    if isinstance(design, modal.Design):
        c = design.coefficients
        return c.forward.size, c.rest_psi.size, len(c.rows)
    return design.coefficients.rest.size, design.coefficients.surface.obstacle_node.size, 0


def within_reach(design: Design) -> bool:
    """Whether the excitation can bring the string to its barrier at all.

    A force F holds a string of tension T and length L less than F L / (3 T) away, all modes taken at their largest;
    what overshoots is no more than twice that, and a pulse rises and falls: four times.
    """
    problem, string = design.problem, design.problem.string
    reach = _REACH * abs(problem.excitation.force) * string.length / string.tension
    return bool((design.points.height >= -reach).any())


def operations(design: Design, *, lifted: bool = False) -> Operations:
    """What a step consists of, at most; `lifted`: with a barrier that a controller may bring to the string."""
    points = design.points.height.size
    touching = points if lifted or within_reach(design) else 0
    size, coupled, rows = sizes(design)
    if isinstance(design, modal.Design):
        rank, at_once = len(design.coefficients.mix), min(touching, block.MOST_AT_ONCE)
        return Operations(
            entries=size * (rows + 3 + (rank if touching else 0)),
            watched=points,
            touching=touching,
            pairs=touching * (touching + rows + _SOLVES * at_once * at_once // 6),
        )
    nodes = design.grid.intervals - 1
    wide = design.coefficients.stencil.wide
    return Operations(
        nodes=0 if wide else nodes,
        wide=nodes if wide else 0,
        far=nodes * design.coefficients.stencil.offset.size,
        watched=points,
        touching=touching,
        pairs=min(touching, coupled) ** 2,
    )


def step_time(design: Design, *, lifted: bool = False, best: bool = False) -> float:
    """What a step takes at most, ns; `best`: with its contact solved by Newton's method."""
    done, law = operations(design, lifted=lifted), _law(design)
    each = (COSTS.linear, COSTS.quarter, COSTS.half, COSTS.general)[law.form] + COSTS.damped * (law.drag > 0.0)
    grid = COSTS.nodes * done.nodes + COSTS.wide * done.wide + COSTS.far * done.far
    linear = COSTS.string + grid + COSTS.entries * done.entries
    meeting = COSTS.watched * done.watched + each * done.touching + COSTS.pairs * done.pairs
    n = done.touching if best else 0
    if isinstance(design, modal.Design) and not best:
        meeting += _pressing(int((design.points.height > 0.0).sum()))
    return linear + meeting + ROUNDS * (each * n + COSTS.coupled * (n * n) + COSTS.factored * (n * n * n))


def _pressing(points: int) -> float:
    """What so many points that always touch take: where modes cannot tell them apart, every search there is."""
    whole, rest = divmod(points, block.MOST_AT_ONCE)
    most = block.MOST_AT_ONCE
    products = (whole * most * most * most + rest * rest * rest) / 6
    return block.SEARCHES * (COSTS.searched * points + COSTS.eliminated * products) if points > 1 else 0.0


def metered_time(design: Design, *, best: bool = False) -> float:
    """What a step of `simulate` takes at most, with its energies, ns."""
    grid = isinstance(design, finite_difference.Design)
    each = COSTS.metered_nodes if grid else COSTS.metered_modes * (1 + 2 * best * operations(design).touching)
    return step_time(design, best=best) + each * sizes(design)[0]


def piece(ns: float) -> int:
    """How many times what takes so long may be done in one call of compiled code: Ctrl-C is heard between calls."""
    return max(1, int(1e9 * PIECE / ns))


def frames_at_once(dearest: float, polyphony: int, oversample: int, beside: float = 0.0) -> int:
    """How many frames of an instrument one call may render: as if all voices were of the dearest key, and touched;
    `beside` them it takes so many ns a frame.
    """
    return piece(max(polyphony * oversample * dearest + beside, 1.0))


def dearest(designs: Sequence[Design], *, best: bool = False) -> float:
    """ns that a step of any of these strings takes at most, whatever touches it."""
    return max((step_time(design, lifted=True, best=best) for design in designs), default=0.0)


def _law(design: Design) -> contact.Law:
    c = design.coefficients
    return c.law if isinstance(c, modal.Coefficients) else c.surface.law


def _kept_tables(points: int, rank: int, pickups: int) -> int:
    """Entries of the tables that a modal key keeps, beside those as long as its modes; every row in whole vectors.

    mix and shares; answer and ahead; response, the same a step later, remainder and another of it for retuning; what
    pickups hear of these, and bodies. Of `quality: best` the rank is that of all points, and there are fewer tables.
    """
    wide = points + _VECTOR
    linking = 2 * (rank + _VECTOR) * wide + 2 * rank * (rank + pickups + _VECTOR)
    return linking + 4 * wide * wide + 5 * points * pickups + 5 * wide


def _own_tables(points: int, rank: int, pickups: int, best: bool) -> int:
    """Of those, what a voice has for itself, and its state; `best`: with Newton's matrices."""
    wide, at_once = points + _VECTOR, min(points, block.MOST_AT_ONCE)
    answers = 2 * rank * (rank + pickups + _VECTOR) + 3 * wide * wide + 4 * points * pickups
    state = 4 * (rank + pickups + _VECTOR) + _STATE_ROWS * wide + (block.ROWS + at_once) * at_once
    return answers + state + 2 * best * points * points


class Budget:
    """Memory and time for all keys and voices, summed while the keys are designed."""

    def __init__(self, voices: int, best: bool = False, room: int = 0) -> None:
        """`room` is what a room around them takes, bytes."""
        self._voices, self._best, self._keys, self._voice, self._ns = voices, best, room // 8, 0, 0.0
        self._most = (0, 0, 0)  # modes or nodes, points, rank

    def foresee(self, loss: Loss, pitch: float, rate: float) -> None:
        """Count what it takes to fit a grid's losses, before it is done; refuse the instrument if that is too long.

        Losses over far distances are fitted by the nodes' conditions, pair by pair of taps.
        """
        nodes = int(rate / (2.0 * pitch * FINEST))
        far = sum(distance > REACH for distance in distances(nodes, rate)) if loss.s1 or loss.s3 else 0
        self._ns += COSTS.fitted * (nodes * (far + REACH) ** 2 if far else 0)
        self._check_time(["leave out string.loss.s1 and s3", "lower oversample or the sample rate"])

    def spend(self, design: Design | None) -> None:
        """Count a key; refuse the instrument once it is too large, or takes too long to design."""
        if design is None:
            return
        size, coupled, rows = sizes(design)
        pickups, rank = len(design.problem.pickups), 0
        if isinstance(design, modal.Design):
            rank = coupled if self._best else rows - pickups
            rows = rank + pickups
        # A voice has room for the most modes, the most points and the highest rank, be they of different keys.
        self._most = (max(size, self._most[0]), max(coupled, self._most[1]), max(rank, self._most[2]))
        if isinstance(design, modal.Design):
            self._keys += size * (rows + _KEY_ROWS) + _WORDS + _kept_tables(coupled, rank, pickups)
            mine = self._most[0] * _VOICE_ROWS + _own_tables(*self._most[1:], pickups, self._best)
        else:
            self._keys += size * _KEY_ROWS + _WORDS + 3 * coupled * coupled
            mine = self._most[0] * _VOICE_ROWS + 2 * self._most[1] ** 2
        # A voice is kept twice: as it is, and as it was at first.
        self._voice = 2 * (mine + _WORDS + 2 * pickups)
        self._check_memory(design)
        tables = COSTS.tabled * size * rows * coupled
        solving = COSTS.solved * int((design.points.height > 0.0).sum()) ** 3
        self._ns += (COSTS.key if isinstance(design, modal.Design) else COSTS.grid) + tables + solving
        self._check_time([*(["lower barrier.height"] if solving > tables else []), *_smaller(design)])

    def _check_time(self, remedies: list[str]) -> None:
        if self._ns > 1e9 * DESIGNING:
            raise _refused(f"{1e-9 * self._ns:.2g} s or more", f"takes longer than {DESIGNING:g} s to design", remedies)

    def lasts_for(self, voices: int) -> int:
        """How many voices there may be, up to so many."""
        return min(voices, int(MOST_BYTES / 8 - self._keys) // max(self._voice, 1))

    def _check_memory(self, design: Design) -> None:
        needed = 8 * (self._keys + self._voices * self._voice)
        if needed > MOST_BYTES:
            limit = f"asks for more than {MOST_BYTES / 1e6:g} MB of memory"
            voices = ["lower polyphony"] if self._voices * self._voice > self._keys else []
            raise _refused(f"{needed / 1e6:.0f} MB or more", limit, [*voices, *_smaller(design)])


def spend_together(choirs: Sequence[Any], voices: int, room: int = 0) -> float:
    """Of strings that share a bridge: refuse them if they take too much memory; ns that a step of a voice takes."""
    sizes = [choir.block.nbytes for choir in choirs]
    needed = sum(sizes) + 2 * voices * max(sizes, default=0) + room
    if needed > MOST_BYTES:
        limit = f"asks for more than {MOST_BYTES / 1e6:g} MB of memory"
        raise _refused(f"{needed / 1e6:.0f} MB", limit, ["lower polyphony", "take fewer strings a key"])
    return JOINED * max(sizes, default=0)


def network_time(size: int) -> float:
    """What a step of a key's own network takes, ns, of so many bytes."""
    return PERFORMED * size


def thinned(ready: dict[int, Numbered]) -> dict[int, Numbered]:
    """The keys that are rehearsed: all of them, or where that takes long, every second, every third ..."""
    for apart in range(1, FEWEST + 1):
        chosen = dict(list(ready.items())[::apart])
        taken = sum(1e-9 * step_time(design) * design.rate * NOTE for design in chosen.values())
        if taken <= REHEARSING:
            break
    if not chosen:
        return chosen
    slowest = max(chosen.values(), key=step_time)
    buffers = 8 * slowest.rate * NOTE * _BUFFERS * (1 + len(slowest.problem.pickups))
    if taken > REHEARSING:
        limit = f"takes longer than {REHEARSING:g} s to bring to one loudness at {slowest.rate:g} Hz"
        raise _refused(f"{taken:.2g} s", limit, [*_slower(slowest), *_smaller(slowest)])
    if buffers > MOST_BYTES:
        limit = f"asks for more than {MOST_BYTES / 1e6:g} MB to listen to a note at {slowest.rate:g} Hz"
        raise _refused(f"{buffers / 1e6:.0f} MB", limit, [*_slower(slowest), "take fewer pickups"])
    return chosen


def _slower(design: Design) -> list[str]:
    """What makes steps fewer or cheaper."""
    general = _law(design).form == contact.GENERAL
    contacts = COSTS.general * operations(design).touching
    exponent = f"take a contact.exponent of 1, 1.5 or 2 instead of {design.problem.contact.exponent:g}"
    dear = [exponent] if general and contacts > 0.5 * step_time(design) else []
    return [*dear, "lower oversample"]


def _smaller(design: Design) -> list[str]:
    """What makes a string smaller."""
    barrier, pickups = design.problem.barrier, len(design.problem.pickups)
    fewer = ["take fewer pickups"] if pickups > max(4, design.points.height.size) else []
    if barrier is None:
        return fewer or ["raise the pitch"]
    if isinstance(barrier, Obstacles):
        return [*fewer, "take fewer obstacles in barrier.at"]
    return [*fewer, "lower barrier.points" if isinstance(design, modal.Design) else "make the barrier shorter"]


def _refused(much: str, limit: str, remedies: list[str]) -> PhysicsError:
    return PhysicsError("instrument", much, limit, ", or ".join(remedies))
