"""The string of every MIDI key: how a preset's one string becomes 128 tuned ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf, pi, sqrt
from weakref import WeakValueDictionary

from engine.elementary import exp2, power
from engine.errors import PhysicsError
from engine.physics import finite_difference, grid, modal
from engine.physics.barrier import Barrier, Obstacles
from engine.physics.designing import BAND
from engine.physics.excitation import EDGE, Excitation
from engine.physics.grid import ORIGIN
from engine.physics.losses import backward_loss
from engine.physics.problem import Problem
from engine.physics.string import String
from engine.preset.loader import Preset
from engine.preset.playing import HEARD, Tracking
from engine.preset.tuning import Tuning
from engine.synth.budget import Budget
from engine.synth.intonation import own_pitch
from engine.synth.keyed import LONGEST, SHORTEST, STRONGEST
from engine.synth.rehearsal import REHEARSAL_RATE

BEND_RANGE = 2.0  # semitones up for which a grid stays stable
BENT = exp2(BEND_RANGE / 6.0)  # times its tension
SAME = Tracking(0.0, 0.0, 0.0, 0.0)  # every key is plucked like the string itself

Design = modal.Design | finite_difference.Design
# How many times its pitch a string is tuned to by itself: by key, part and course, if it is one of several.
Retuned = Mapping[tuple[int, int, int], float]


@dataclass(frozen=True)
class TunedKey:
    """One key: its pitch (Hz, None if the tuning leaves it out), its design, or the reason why it stays silent."""

    pitch: float | None
    design: Design | None
    silent_because: str = ""
    retuned: float = 1.0  # times its pitch, to which it is tuned by itself


_HELD: WeakValueDictionary[Hashable, TunedKey] = WeakValueDictionary()  # what is designed and not forgotten


def design_key(
    problem: Problem,
    model: str,
    by: str,
    pitch: float | None,
    rate: float,
    tracking: Tracking = SAME,
    heard_at: float = 0.0,
    retuned: float | None = None,
) -> TunedKey:
    """The preset's string brought to `pitch` by its tension or its length, ready for the model rate.

    To where it sounds with what it touches, as heard at another model rate if that is given: it is the same string at
    all rates. Nobody listens if it is known how many times its pitch it is to be `retuned` to. A key that somebody
    holds already is not designed again.
    """
    asked = (problem, model, by, pitch, rate, tracking, heard_at, retuned)
    try:
        key = _HELD.get(asked)
    except TypeError:  # a profile that cannot be told from others
        return _design_key(*asked)
    if key is None:
        key = _HELD[asked] = _design_key(*asked)
    return key


def _design_key(
    problem: Problem,
    model: str,
    by: str,
    pitch: float | None,
    rate: float,
    tracking: Tracking,
    heard_at: float,
    retuned: float | None,
) -> TunedKey:
    if pitch is None:
        return TunedKey(None, None, "the tuning leaves this key out")

    own = _tuned_to(problem, model, by, pitch, tracking, heard_at, retuned)
    try:
        return TunedKey(pitch, _designed(of_key(problem, by, pitch, tracking, own), model, rate), "", own / pitch)
    except PhysicsError as error:
        return TunedKey(pitch, None, str(error))


def _tuned_to(
    problem: Problem,
    model: str,
    by: str,
    pitch: float,
    tracking: Tracking,
    heard_at: float,
    retuned: float | None = None,
) -> float:
    """The pitch that a key's string has by itself, Hz."""
    if not heard_at or problem.barrier is None:
        return pitch
    if retuned is not None:
        return pitch * retuned
    try:
        return _kept_pitch(problem, model, by, pitch, tracking, heard_at)
    except TypeError:  # a profile that cannot be told from others
        return _own_pitch(problem, model, by, pitch, tracking, heard_at)


def _own_pitch(problem: Problem, model: str, by: str, pitch: float, tracking: Tracking, heard_at: float) -> float:
    """Of the string that is heard at a pitch."""
    try:
        return own_pitch(pitch, lambda own: _designed(of_key(problem, by, pitch, tracking, own), model, heard_at))
    except PhysicsError:  # there is no such string at that rate
        return pitch


_kept_pitch = lru_cache(maxsize=8192)(_own_pitch)  # a key is heard once for all rates


def _designed(problem: Problem, model: str, rate: float) -> Design:
    if model == "modal":
        return modal.design(problem, rate, band=min(BAND, 0.45 * rate))
    return finite_difference.design(problem, rate, bent=room_to_bend(problem.string))


def preset_key(
    preset: Preset, pitch: float | None, rate: float, retuned: float | None = None, harder: float = 1.0
) -> TunedKey:
    """A key of a preset of one string, struck so much harder than its stroke says (preset/voicing.py)."""
    p = preset
    return design_key(struck(p.problem, harder), p.model, p.keys, pitch, rate, p.tracking, _heard_at(p), retuned)


def tuned_to(preset: Preset, pitch: float, harder: float = 1.0) -> float:
    """The pitch that its string has by itself, Hz."""
    p = preset
    return _tuned_to(struck(p.problem, harder), p.model, p.keys, pitch, p.tracking, _heard_at(p))


def struck(problem: Problem, harder: float) -> Problem:
    """The same, struck so much harder."""
    if harder == 1.0:
        return problem
    return replace(problem, excitation=replace(problem.excitation, force=problem.excitation.force * harder))


def _heard_at(preset: Preset) -> float:
    return REHEARSAL_RATE * preset.oversample if preset.intonation == HEARD else 0.0


def of_key(problem: Problem, by: str, pitch: float, tracking: Tracking, own: float | None = None) -> Problem:
    """The string of a pitch, what plucks it, and where it is heard; tuned to its `own` pitch, if that is another."""
    ratio = above(problem.string, pitch)
    pluck, pickups = tracked(problem.excitation, tracking, ratio), problem.pickups
    if tracking.hearing != 0.0:
        pickups = tuple(replace(p, at=_moved(p.at, ratio, tracking.hearing)) for p in pickups)
    return reached(replace(problem, excitation=pluck, pickups=pickups), by, pitch if own is None else own)


def _moved(at: float, ratio: float, by: float) -> float:
    """A place that goes with the pitch and stays on the string; an end stays an end."""
    if by == 0.0 or at in (0.0, 1.0):
        return at
    return min(max(at * power(ratio, by), min(EDGE, at)), max(1.0 - EDGE, at))


def above(string: String, pitch: float) -> float:
    """How many times the pitch of the string itself."""
    return pitch / (string.pitch * sqrt(1.0 + string.inharmonicity))


def tracked(e: Excitation, tracking: Tracking, ratio: float) -> Excitation:
    """What plucks the string of a key whose pitch is `ratio` times that of the preset's own."""
    force, position = e.force * power(ratio, tracking.force), e.position
    if tracking.position != 0.0:
        nearest, farthest = min(EDGE, position), max(1.0 - EDGE, position)
        position = min(max(position * power(ratio, tracking.position), nearest), farthest)
    return replace(
        e,
        duration=min(max(e.duration * power(ratio, tracking.duration), SHORTEST), LONGEST),
        force=min(max(force, -STRONGEST), STRONGEST),
        position=position,
    )


def known(retuned: Retuned | None, number: int, part: int = 0, course: int = 0) -> float | None:
    """Of a key's string, where that is known."""
    return None if retuned is None else retuned.get((number, part, course), 1.0)


def go_on() -> None:
    """Nobody wants a design to be given up."""


def design_keys(
    preset: Preset,
    tuning: Tuning,
    rate: float,
    budget: Budget,
    only: Collection[int] | None = None,
    retuned: Retuned | None = None,
    between: Callable[[], None] = go_on,
) -> list[TunedKey]:
    """All keys of an instrument, or `only` some; refused as soon as they cost more than the budget holds.

    Nobody listens to those that are `retuned` as is known. Before each key, `between` may raise, and all is given up.
    """
    keys: list[TunedKey] = []
    for number, hz in enumerate(tuning.frequencies):
        if only is not None and number not in only:
            keys.append(TunedKey(hz, None, "not designed yet"))
            continue
        if hz is not None and preset.model == "fd":
            budget.foresee(preset.problem.string.loss, hz, rate)
        between()
        keys.append(preset_key(preset, hz, rate, known(retuned, number), preset.voicing.harder(number)))
        budget.spend(keys[-1].design)
    return keys


def reached(problem: Problem, by: str, pitch: float) -> Problem:
    """First mode at `pitch`, stiffness and loss included (§5.4)."""
    string = problem.string
    if by == "tension":
        b = pi / string.length
        angular, decay = 2.0 * pi * pitch, string.loss.rate(b)
        tension = string.density * (angular * angular + decay * decay) / (b * b) - string.stiffness * (b * b)
        return replace(problem, string=replace(string, tension=_positive(tension, pitch)))
    low, high, length = 1e-3, 1e3, 1.0  # bisection on log-length: the first mode falls with length
    wanted, squared = 2.0 * pi * pitch * (2.0 * pi * pitch), first_mode(string, length)
    while low < length < high:
        if squared > wanted:
            low = length
        else:
            high = length
        length = sqrt(low * high)
        squared = first_mode(string, length)
    if abs(squared / wanted - 1.0) > 1e-9:
        remedy = "play nearer to the string's own pitch, or take keys: tension"
        raise PhysicsError("pitch", pitch, "is reached by no length from 1 mm to 1 km", remedy)
    return replace(problem, string=replace(string, length=length), barrier=cut(problem.barrier, length))


def first_mode(string: String, length: float) -> float:
    """Its angular frequency at a length, squared: below zero if it does not oscillate. In plain floats, for speed."""
    b = pi / length
    decay = string.loss.rate(b)
    frequency = b * sqrt((string.tension + string.stiffness * (b * b)) / string.density)
    return frequency * frequency - decay * decay


def _positive(tension: float, pitch: float) -> float:
    if tension <= 0.0:
        raise PhysicsError("pitch", pitch, "is below what bending alone gives this string", "play higher")
    return tension


def cut(barrier: Barrier | Obstacles | None, length: float) -> Barrier | Obstacles | None:
    """The barrier stays where it is as the string is shortened from its far end; what lies beyond is left out."""
    end = 0.99 * length
    if isinstance(barrier, Barrier) and barrier.stop > end:
        return replace(barrier, stop=end) if barrier.start < 0.9 * end else None
    if isinstance(barrier, Obstacles):
        kept = [(x, h) for x, h in zip(barrier.positions, barrier.heights) if x < end]
        positions, heights = tuple(x for x, _ in kept), tuple(h for _, h in kept)
        return replace(barrier, positions=positions, heights=heights) if kept else None
    return barrier


def room_to_bend(string: String) -> float:
    """How many times its tension a grid has room for."""
    stiffening = string.stiffness * (pi / string.length * (pi / string.length))
    return BENT + (BENT - 1.0) * stiffening / string.tension


def mildest_damping(key: TunedKey) -> float:
    """How much of its decay a string may be relieved of (1/s, below zero).

    A grid's other losses are fitted to s0 and them together: without s0 what remains could feed a wave instead.
    """
    d = key.design
    if not isinstance(d, finite_difference.Design):
        return -inf
    b = d.problem.string.wavenumbers(d.grid.intervals)
    return -max(0.0, d.grid.loss.s0 + float(backward_loss(d.grid.loss, b, d.grid.spacing).min()))


def gap(key: TunedKey) -> float:
    """How far the barrier may be raised before it presses on the string at rest, m."""
    d = key.design
    if d is None or not d.points.height.size:
        return inf
    if isinstance(d, modal.Design):
        c, points = d.coefficients, d.points.height.size
        above = (modal.state(c).touch.now - c.height)[:points]
    else:
        surface, s = d.coefficients.surface, finite_difference.state(d.coefficients)
        first = surface.first_node + ORIGIN
        nodes = d.coefficients.rest[first : first + surface.height.size]
        above = (s.touch.now if surface.obstacle_node.size else nodes) - surface.height
    return max(0.0, float(above.min()))


def highest_tension(key: TunedKey) -> float:
    """Where bending must stop (N): as near to a grid's stability limit as any grid may be; modes have none.

    At the limit itself the shortest wave costs no energy: a wheel that moves would stir it up beyond all bounds.
    """
    d = key.design
    return grid.highest_tension(d.problem.string, d.grid, d.rate) if isinstance(d, finite_difference.Design) else inf
