"""Parameters that an instrument is designed anew for: what of a preset they are, by the schema's table, and how far.

What a preset's map moves is moved there (knobs.py) and is not here. Instruments of strings that are designed where they
are opened have them (any_rate.py), so of a preset these are the keys that such a design can follow (synth/keyed.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import pi

import numpy as np

from engine.errors import PhysicsError
from engine.export.knobs import Dial, dials
from engine.export.memory import Turnable
from engine.layout import Rows, rows_of
from engine.physics.barrier import LOOKS, Barrier, Obstacles, Polynomial, enough
from engine.physics.designing import BAND
from engine.physics.excitation import EDGE, Excitation
from engine.physics.network.parts import Against, Strung
from engine.physics.problem import AT_AN_END, Problem
from engine.physics.string import Loss, String
from engine.preset.assembly import Assembly, Exciter
from engine.preset.loader import Preset
from engine.preset.materials import steel_loss, tension_for
from engine.preset.rack import Rack
from engine.preset.schema import KEYS, plain
from engine.synth import keyed
from engine.synth.keyed import DESIGNED, PICKUP
from engine.synth.keys import reached

Target = tuple[int, int]  # a bench and a plan, bytes from the beginning of a part's own; or a Bridgework, and -1
WAY, FAR = 4.0, {"contact.stiffness": 100.0}  # how many times less and more
RISE = 2e-4  # m that a barrier may go up and down
STEEPEST = 3.0  # exponent
LOSSIEST = 1.0  # s/m of contacts without any
WIDEST = 50.0  # cents that strings of a key may be away from it
DULLEST = 0.6  # quality of a body's mode that still swings
RATIOS = {
    keyed.DETUNED: "How far apart the strings of a key are tuned, times what the preset says.",
    keyed.SCALE: "How high the body sounds, times what the preset says.",
    keyed.WEIGHT: "How heavy the body is, times what the preset says.",
    keyed.QUALITY: "How long the body rings, times what the preset says.",
}


@dataclass(frozen=True)
class Own:
    """What a preset has of something that may be changed."""

    slot: int  # by which compiled code knows it
    key: str
    value: float
    played: tuple[int, ...] = ()  # of strings that share a bridge, which parts that are played have it,
    answering: bool = False  # and whether those that answer do
    ends: tuple[float, float] | None = None  # from where to where, if that is not as usual

    @property
    def span(self) -> tuple[float, float]:
        """From where to where it may go."""
        if self.ends is not None:
            return self.ends
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

    @property
    def meaning(self) -> str:
        """What it does."""
        return RATIOS.get(self.slot) or KEYS[plain(self.key)].meaning

    @property
    def unit(self) -> str:
        """That its value has."""
        return "" if self.slot in RATIOS else KEYS[plain(self.key)].unit


def owned(preset: Preset) -> Iterator[Own]:
    """All that a preset has of it."""
    if preset.assembly is not None:
        yield from owned_together(preset, preset.assembly)
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


def owned_together(preset: Preset, a: Assembly) -> Iterator[Own]:
    """The same of strings that share a bridge: what is said for several is of all that have nothing of their own."""
    by_part = [_of_part(part.strung, part.exciter) for part in a.played]
    for slot in sorted({slot for found in by_part for slot in found}):
        own = _shared(preset, a, slot, by_part)
        if own is not None:
            yield own
    yield Own(keyed.RELEASE, "release", preset.release)
    apart = max((abs(course.detuned) for part in a.played for course in part.courses), default=0.0)
    if 0.0 < apart < WIDEST:
        yield _ratio(keyed.DETUNED, 0.0, min(WAY, WIDEST / apart))
    if a.body.modes:
        yield _ratio(keyed.SCALE, 0.5, 2.0)
        yield _ratio(keyed.WEIGHT, 1.0 / WAY, WAY)
        dullest = min(mode.quality for mode in a.body.modes)
        yield _ratio(keyed.QUALITY, min(max(1.0 / WAY, DULLEST / dullest), 1.0), WAY)


def _ratio(slot: int, low: float, high: float) -> Own:
    return Own(slot, DESIGNED[slot], 1.0, ends=(low, high))


def _of_part(strung: Strung, exciter: Exciter | None) -> dict[int, float]:
    """What strings that are alike have of it, by its slot."""
    string = strung.string
    found = {keyed.STIFFNESS: string.stiffness}
    if not by_rule(string):
        losses = string.loss
        found |= dict(zip((keyed.S0, keyed.S1, keyed.S2, keyed.S3), (losses.s0, losses.s1, losses.s2, losses.s3)))
    if exciter is not None:
        found[keyed.POSITION] = exciter.position
    if isinstance(exciter, Excitation):
        found |= {keyed.FORCE: exciter.force, keyed.DURATION: exciter.duration}
    found = {slot: value for slot, value in found.items() if value != 0.0}
    port = next((port for port in strung.ports if isinstance(port, Against)), None)
    if port is not None:
        touch = port.contact
        found |= {keyed.HEIGHT: port.barrier.height, keyed.HARDNESS: touch.stiffness}
        found |= {keyed.EXPONENT: touch.exponent, keyed.DAMPING: touch.damping}
        if isinstance(port.barrier, Barrier) and (curvature := _curvature(port.barrier)):
            found[keyed.CURVATURE] = curvature
    return found


def _shared(preset: Preset, a: Assembly, slot: int, by_part: list[dict[int, float]]) -> Own | None:
    """What of it is said for several strings; None if it is for none, or if strings that answer cannot follow."""
    key = DESIGNED[slot]
    known = preset.own_keys if len(preset.own_keys) == len(a.played) else ((),) * (len(a.played) == 1)
    having = tuple(n for n, keys in enumerate(known) if key not in keys and slot in by_part[n])
    if not having or len({by_part[n][slot] for n in having}) > 1:
        return None
    answer = {key not in keys for keys in preset.answering_keys} if a.sympathetic else {False}
    value, strungs = by_part[having[0]][slot], [a.played[n].strung for n in having]
    if True in answer:
        answering = [_of_part(strung, None).get(slot, value) for strung in a.sympathetic]
        fixed = all(isinstance(b, Obstacles) or b.points for strung in a.sympathetic for b in _barriers(strung))
        follow = slot != keyed.STIFFNESS and (slot != keyed.CURVATURE or fixed)
        if False in answer or not follow or {value, *answering} != {value}:
            return None
        strungs += a.sympathetic
    ends = None
    if slot == keyed.HEIGHT:  # what presses on a string at rest has it silent on a bridge
        top = max(_top(barrier) for strung in strungs for barrier in _barriers(strung))
        ends = value - RISE, max(min(value + RISE, value - top), value)
    return Own(slot, key, value, having, True in answer, ends)


def _barriers(strung: Strung) -> list[Barrier | Obstacles]:
    return [port.barrier for port in strung.ports if isinstance(port, Against)]


def _top(barrier: Barrier | Obstacles) -> float:
    """How high it is at its highest."""
    if isinstance(barrier, Obstacles):
        return float(barrier.tops().max())
    return float(barrier.surface(np.linspace(barrier.start, barrier.stop, LOOKS)).max())


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
        first = every[0]
        low, high = min(own.span[0] for own in every), max(own.span[1] for own in every)
        found.append(Dial(len(found), first.key, named(first.key), first.meaning, first.unit, low, high, first.value))
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


def wishes(rack: Rack, shown: list[Dial], targets: Sequence[Callable[[Own], list[Target]]]) -> Rows[Turnable]:
    """The same for the design: a row for each thing of each part that has it, which `targets` of the part know."""
    wanted = [
        (dial.number, number, own, target)
        for dial in shown
        for number, part in enumerate(rack.parts)
        for own in owned(part.preset)
        if own.key == dial.key
        for target in targets[number](own)
    ]
    made = rows_of(Turnable, len(wanted))
    for row, (number, part, own, target) in zip(made, wanted):
        row.parameter, row.part, row.what = number, part, own.slot
        row.bench, row.plan = target
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
