"""Parameters that an instrument is designed anew for: what of a preset they are, by the schema's table, and how far.

What a preset's map moves is moved there (knobs.py) and is not here. Instruments of strings that are designed where they
are opened have them (any_rate.py), so of a preset these are the keys that such a design can follow (synth/keyed.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import pi

from engine.errors import PhysicsError
from engine.export.knobs import Dial, dials
from engine.export.memory import Turnable
from engine.layout import Rows, rows_of
from engine.physics.barrier import Barrier, Obstacles, Polynomial, enough
from engine.physics.excitation import EDGE
from engine.physics.problem import AT_AN_END, Problem
from engine.physics.string import Loss, String
from engine.preset.loader import Preset
from engine.preset.materials import steel_loss, tension_for
from engine.preset.rack import Rack
from engine.preset.schema import KEYS, plain
from engine.synth import keyed
from engine.synth.keyed import DESIGNED, PICKUP
from engine.synth.keys import BAND, reached

WAY, FAR = 4.0, {"contact.stiffness": 100.0}  # how many times less and more
RISE = 2e-4  # m that a barrier may go up and down
STEEPEST = 3.0  # exponent
LOSSIEST = 1.0  # s/m of contacts without any


@dataclass(frozen=True)
class Own:
    """What a preset has of something that may be changed."""

    slot: int  # by which compiled code knows it
    key: str
    value: float

    @property
    def span(self) -> tuple[float, float]:
        """From where to where it may go."""
        limits, own = KEYS[plain(self.key)], self.value
        if self.key == "barrier.height":
            return own - RISE, own + RISE
        if self.key == "excitation.position" or self.slot >= PICKUP:
            return min(EDGE, own), max(1.0 - EDGE, own)
        if self.key == "contact.exponent":
            return limits.low, max(STEEPEST, own)
        if own == 0.0:
            return 0.0, LOSSIEST
        far = FAR.get(self.key, WAY)
        low, high = sorted((own / far, own * far))
        return max(low, limits.low), min(high, limits.high)


def owned(preset: Preset) -> Iterator[Own]:
    """All that a preset has of it."""
    if preset.assembly is not None:
        return
    problem = preset.problem
    string, touch, pluck, under = problem.string, problem.contact, problem.excitation, problem.barrier
    found: dict[int, float] = {
        keyed.POSITION: pluck.position,
        keyed.FORCE: pluck.force,
        keyed.DURATION: pluck.duration,
        keyed.RELEASE: preset.release,
        keyed.STIFFNESS: string.stiffness,
    }
    if not by_rule(string):
        losses = string.loss
        found |= dict(zip((keyed.S0, keyed.S1, keyed.S2, keyed.S3), (losses.s0, losses.s1, losses.s2, losses.s3)))
    found = {slot: value for slot, value in found.items() if value != 0.0}
    if under is not None:
        found |= {keyed.HEIGHT: under.height, keyed.HARDNESS: touch.stiffness}
        found |= {keyed.EXPONENT: touch.exponent, keyed.DAMPING: touch.damping}
    if isinstance(under, Barrier) and (curvature := _curvature(under)):
        found[keyed.CURVATURE] = curvature
    for slot, value in sorted(found.items()):
        yield Own(slot, DESIGNED[slot], value)
    for n, pickup in enumerate(problem.pickups):
        if pickup.kind not in AT_AN_END:
            yield Own(PICKUP + n, f"pickups.{n}.at", pickup.at)


def by_rule(string: String) -> bool:
    """Whether its losses follow from what it is."""
    return steel_loss(string) == string.loss


def _curvature(under: Barrier) -> float:
    """Of a parabola; 0 of anything else."""
    match under.profile:
        case Polynomial((0.0, 0.0, bent)):
            return -bent
    return 0.0


def designed(rack: Rack) -> list[Dial]:
    """All that any part has; over the ranges of them all, and from where the first stands."""
    moved = {dial.key for dial in dials(rack)}
    of: dict[int, list[Own]] = {}
    for part in rack.parts:
        for own in owned(part.preset):
            if own.key not in moved:
                of.setdefault(own.slot, []).append(own)
    found: list[Dial] = []
    for _, every in sorted(of.items()):
        first, key = every[0], KEYS[plain(every[0].key)]
        low, high = min(own.span[0] for own in every), max(own.span[1] for own in every)
        found.append(Dial(len(found), first.key, named(first.key), key.meaning, key.unit, low, high, first.value))
    return found


def named(key: str) -> str:
    """string.loss.s3: String loss s3; pickups.0.at: Pickup 1 at."""
    words = [str(int(word) + 1) if word.isdigit() else word for word in key.split(".")]
    if len(words) > 1 and words[1].isdigit():
        words[0] = words[0].removesuffix("s")
    return " ".join(words).capitalize()


def number_of(dial: Dial) -> int:
    """By which hosts know it, whatever else there is."""
    if dial.key in DESIGNED:
        return DESIGNED.index(dial.key)
    return PICKUP + int(dial.key.split(".")[1])


def wishes(rack: Rack, shown: list[Dial]) -> Rows[Turnable]:
    """The same for the design: a row for each part that has it."""
    wanted = [
        (dial.number, number, own)
        for dial in shown
        for number, part in enumerate(rack.parts)
        for own in owned(part.preset)
        if own.key == dial.key
    ]
    made = rows_of(Turnable, len(wanted))
    for row, (number, part, own) in zip(made, wanted):
        row.parameter, row.part, row.what = number, part, own.slot
        row.low, row.high = own.span
    return made


def largest(preset: Preset, own: float) -> tuple[int, int]:
    """Modes and contact points of the string of a pitch, at most, at any rate and whatever is changed; 0 if none is."""
    modes = points = 0
    for problem in _extremes(preset):
        try:
            one = reached(problem, preset.keys, own)
        except PhysicsError:
            continue
        string, under = one.string, one.barrier
        modes = max(modes, int(string.wavenumber_at(BAND) * string.length / pi) + 2)
        if isinstance(under, Obstacles):
            points = max(points, len(under.positions))
        elif under is not None:
            points = max(points, under.points or enough(under, string.apart(modes)) + 1)
    return modes, points


def _extremes(preset: Preset) -> Iterator[Problem]:
    """Of those that it may become the ones with the most modes, and the most points.

    Fewest modes are lost where strings bend most easily and nothing is lost in them: at the pitch of its first mode,
    each partial of a stiff or lossy string is higher.
    """
    problem, spans = preset.problem, {own.slot: own.span for own in owned(preset)}
    string, under = problem.string, problem.barrier
    least = min(spans.get(keyed.STIFFNESS, (string.stiffness,)))
    tension = string.tension
    if preset.tuned is not None:
        tension = tension_for(preset.tuned, string.length, string.density, least)
    limp = replace(string, stiffness=least, tension=tension, loss=Loss())
    barriers = [under]
    if isinstance(under, Barrier) and isinstance(under.profile, Polynomial) and keyed.CURVATURE in spans:
        bent = [replace(under.profile, coefficients=(0.0, 0.0, -end)) for end in spans[keyed.CURVATURE]]
        barriers += [replace(under, profile=one) for one in bent]
    for one in (limp, string):
        for other in barriers:
            yield replace(problem, string=one, barrier=other)
