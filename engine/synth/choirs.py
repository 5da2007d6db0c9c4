"""The strings of every key of an instrument whose strings share a bridge: design, and what is not played yet."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from math import inf, pi
from typing import Any

import numpy as np

from engine.errors import PhysicsError
from engine.layout import Arena, lay, size_of
from engine.physics.designing import BAND
from engine.physics.excitation import Excitation
from engine.physics.network.bodies import playable
from engine.physics.network.hanging import hang
from engine.physics.network.loading import loaded, rebent
from engine.physics.network.meetings import LINK, OBSTACLE, Meeting, meetings
from engine.physics.network.memory import NOBODY, Strand
from engine.physics.network.parts import Blow, Finger, seen_from
from engine.physics.network.weaving import Writers, planes_of, put, strand_of
from engine.physics.problem import Problem
from engine.physics.string import Array
from engine.preset.assembly import Assembly, Blowing, Course, Played, Plucking
from engine.preset.loader import Preset
from engine.preset.playing import HEARD
from engine.preset.tuning import Tuning
from engine.synth.attuned import own_pitch
from engine.synth.choral import CALMED, LATER, SLOWEST, SWIFTEST, THROWN
from engine.synth.keys import Retuned, go_on, known
from engine.synth.memory import HIT, PULSED, PULSES, TAKEN, Choir
from engine.synth.network_string import MOST_COURSES, ChoirDesign
from engine.synth.sounded import Sounded, asked_of, described, pitch_of

WAYS = {Excitation: PULSED, Blowing: HIT, Plucking: TAKEN}


@dataclass(frozen=True)
class Voiced:
    """A key: its pitch (Hz, None if the tuning leaves it out), its strings, or the reason why it stays silent."""

    pitch: float | None
    design: ChoirDesign | None
    silent_because: str = ""
    first: Problem | None = None  # the first of its strings, and what sounds it
    gap: float = inf  # m, by which barriers may rise before they press on the string
    line: int = 0  # 1 + the number of the string of many frets that it is on, or 0
    other: int = 0  # a further place of the key, or 0
    retuned: Retuned = field(default_factory=dict)


def refuse_unplayed(preset: Preset) -> Assembly:
    """The preset's assembly, if all that it says is played."""
    a = preset.assembly
    assert a is not None
    if preset.model != "modal" or preset.quality == "best":
        asked = ("model", preset.model) if preset.model != "modal" else ("quality", preset.quality)
        raise PhysicsError(*asked, "strings on one bridge are modal, of the common quality", "leave it out")
    refuse_unanswered(a)
    if a.body.channels > 2:
        raise PhysicsError("body.heard", a.body.channels, "a body is heard in one or two channels", "leave out others")
    shapes = {part.exciter.shape for part in a.played if isinstance(part.exciter, Excitation)}
    if len(shapes) > 1:
        limit = "all strings are struck by pulses of one shape"
        raise PhysicsError("exciter.shape", ", ".join(sorted(shapes)), limit, "choose one of them")
    for n, part in enumerate(a.played):
        _refuse_part(f"strings.{n}", part)
        if part.mono:
            _refuse_beside(f"strings.{n}.mono", part, a.played)
    feeling = any(not isinstance(part.exciter, Excitation) for part in a.played)
    if feeling and any(c.to == "excitation.position" for c in preset.controllers):
        limit = "a hammer or plectrum stays where it is"
        raise PhysicsError("map.to", "excitation.position", limit, "map something else")
    return a


def refuse_unanswered(a: Assembly) -> None:
    """Refuse strings that are to answer where nothing couples them."""
    if a.coupling == "none" and a.sympathetic:
        limit = "strings that nothing couples do not answer each other"
        raise PhysicsError("coupling", a.coupling, limit, "take two-way or one-way, or leave out what answers")


def _refuse_part(where: str, part: Played) -> None:
    strung = part.strung
    if strung.excitation is not None or any(isinstance(port, Blow | Finger) for port in strung.ports):
        raise PhysicsError(f"{where}.ports", "an exciter", "keys strike the strings", "name it as the exciter")
    if part.mono and part.rattles:
        limit = "nothing lies loose on a string of many frets"
        raise PhysicsError(f"{where}.ports", len(part.rattles), limit, "leave out its rattle, or mono")
    if not 1 <= len(part.courses) <= MOST_COURSES:
        limit = f"a key has 1 to {MOST_COURSES} strings"
        raise PhysicsError(f"{where}.courses", len(part.courses), limit, "give as many")


def _refuse_beside(where: str, part: Played, played: tuple[Played, ...]) -> None:
    for n, other in enumerate(played):
        if not other.mono and other.lowest <= part.highest and part.lowest <= other.highest:
            limit = f"shares keys with strings.{n}, which has a string for each key"
            raise PhysicsError(where, "true", limit, "give them keys of their own, or list it as courses")


def design_choirs(
    preset: Preset,
    tuning: Tuning,
    rate: float,
    only: Collection[int] | None = None,
    retuned: Retuned | None = None,
    between: Callable[[], None] = go_on,
) -> list[Voiced]:
    """All keys of an instrument, or `only` some; behind them further places of keys that several strings have.

    Nobody listens to those that are `retuned` as is known. Before each key, `between` may raise, and all is given up.
    """
    a = refuse_unplayed(preset)
    a = replace(a, body=playable(a.body, rate))
    found, more = list[Voiced](), list[Voiced]()
    for number, hz in enumerate(tuning.frequencies):
        if only is not None and number not in only:
            found.append(Voiced(hz, None, "not designed yet"))
        elif hz is None:
            found.append(Voiced(None, None, "the tuning leaves this key out"))
        else:
            between()
            first, *others = _places(preset, a, number, hz, rate, retuned)
            beyond = len(tuning.frequencies) + len(more)
            found.append(replace(first, other=beyond if others else 0))
            more += [replace(place, other=beyond + n) for n, place in enumerate(others[:-1], 1)] + others[-1:]
    return found + more


def _places(preset: Preset, a: Assembly, number: int, hz: float, rate: float, retuned: Retuned | None) -> list[Voiced]:
    """A key in every place where it can be played; or in one, and why not."""
    lines = {id(part): n for n, part in enumerate((part for part in a.played if part.mono), 1)}
    found = [
        replace(_attempted(preset, a, parts, number, hz, rate, retuned), line=lines.get(id(parts[0]), 0))
        for parts in a.places(number)
    ]
    if not found:
        return [Voiced(hz, None, "no string is played by this key")]
    ready = [place for place in found if place.design is not None]
    return ready or found[:1]


def _attempted(
    preset: Preset, a: Assembly, parts: list[Played], number: int, hz: float, rate: float, retuned: Retuned | None
) -> Voiced:
    try:
        return _voiced(preset, a, parts, number, hz, rate, retuned)
    except PhysicsError as error:
        return Voiced(hz, None, str(error))


def _voiced(
    preset: Preset, a: Assembly, parts: list[Played], number: int, hz: float, rate: float, retuned: Retuned | None
) -> Voiced:
    order = {id(part): n for n, part in enumerate(a.played)}
    strings, found = list[Sounded](), dict[tuple[int, int, int], float]()
    for part in parts:
        for n, course in enumerate(part.courses):
            name = number, order[id(part)], n
            harder = preset.voicing.harder(number)
            strings.append(strung_for(preset, part, course, hz, known(retuned, *name), harder))
            found[name] = strings[-1].retuned
    if len(strings) > MOST_COURSES:
        raise PhysicsError("courses", len(strings), f"a key has at most {MOST_COURSES} strings", "take fewer")
    first = strings[0]
    made = ChoirDesign(_block(strings, a, rate), rate, max(a.body.channels, 1), len(a.body.directions))
    lows = [point.low for own in strings for point in meetings(own.strung) if point.stands]
    problem = Problem(first.strung.string, excitation=first.pulse)
    return Voiced(hz, made, "", problem, -max(lows, default=-inf), retuned=found)


def strung_for(
    preset: Preset, part: Played, course: Course, hz: float, retuned: float | None = None, harder: float = 1.0
) -> Sounded:
    """One string, brought to its pitch, with all that touches it: what is played, and what is simulated; of a key that
    is struck so much harder than the preset says (preset/voicing.py).

    Nobody listens to one that is `retuned` as is known.
    """
    asked, pitch = asked_of(part, harder), pitch_of(course, hz)
    if retuned is None or preset.intonation != HEARD:
        own_hz = own_pitch(preset, part, course, asked, hz)
    else:
        own_hz = pitch * retuned
    return described(preset.tracking, part, course, asked, pitch, own_hz, harder)


def _block(strings: list[Sounded], a: Assembly, rate: float) -> Any:
    """A key's choir in a block of its own."""
    arena, writers = Arena(), Writers()
    start = arena.room(size_of(Choir))
    places = [arena.room(size_of(Strand)) for _ in strings]
    found, loose = [meetings(own.strung) for own in strings], len(strings)
    angles = list[tuple[float, ...]]()
    for own, place, points in zip(strings, places, found):
        _refuse_pressed(points)
        for point in points:
            if point.hammer == THROWN:
                point.hammer = _hitting(strings, own)
            elif point.hammer != NOBODY:
                point.hammer += loose - THROWN - 1
        loose += len(own.loose)
        planes = planes_of(own.strung, rate, min(BAND, 0.45 * rate, own.strung.band))
        angles.append(planes.angles)
        one_way = a.coupling == "one-way"
        planes = loaded(planes, own.strung, a.body) if one_way else planes
        values = strand_of(own.strung, planes, points, a.body, rate)
        if one_way:
            rebent(values, planes, own.strung)
        values["points"]["timed"] = int(any(point.travel.start < LATER and point.moves for point in points))
        put(arena, writers, Strand, place, values)
    writers.append(lay(arena, Choir, start, **_choir(strings, found, places, rate), leaning=_leaning(strings, angles)))
    block = arena.sealed()
    for write in writers:
        write(block)
    for place in places:
        hang(int(block.ctypes.data) + place)
    return block.view(np.int64)


def _refuse_pressed(points: list[Meeting]) -> None:
    for point in points:
        if point.kind == OBSTACLE and point.low > 0.0:
            limit = "a string that presses on its barrier at rest is not played on a bridge that moves"
            raise PhysicsError("barrier.height", point.low, limit, "lower it to 0 or below")


def _choir(strings: list[Sounded], found: list[list[Meeting]], places: list[int], rate: float) -> dict[str, Any]:
    k, first = 1.0 / rate, strings[0]
    blow, after = first.part.knock, 0.0
    if blow is not None:
        after = blow.after + blow.duration / first.pulse.duration
    none, on = [0.0 for _ in strings], [rattle for own in strings for rattle in own.loose]
    masses = [getattr(own.part.exciter, "mass", 1.0) for own in strings]
    kinds = [WAYS[type(own.part.exciter)] for own in strings]
    onset = np.array([own.course.onset * rate for own in strings])
    lasting = np.array([own.pulse.duration / first.pulse.duration for own in strings])
    scale = first.pulse.force or 1.0
    lowest = min(own.strung.string.pitch for own in strings)
    calming = 2.0 * pi * lowest
    seconds = min(max(CALMED / calming, SWIFTEST), SLOWEST)
    return {
        "strands": np.array(places),
        "kind": np.array(kinds),
        "onset": onset,
        "share": np.array([own.course.force * own.pulse.force / scale for own in strings]),
        "lasting": lasting,
        "register": np.array([own.course.register for own in strings]),
        "drawn": np.ones((PULSES, len(strings))),
        "position": np.array([own.pulse.position for own in strings]),
        "point": np.array([_number(points, lambda p: p.slip < inf) for points in found]),
        "hammer": np.array([_hitting(strings, own) if kind == HIT else NOBODY for own, kind in zip(strings, kinds)]),
        "mobility": k * k / np.array([*masses, *(own.mass for own in on)]),
        "weight": np.array([*none, *(own.weight for own in on)]),
        "height": np.array([*none, *(-own.gap for own in on)]),
        "felt": np.array([_number(points, lambda p: p.kind == LINK and p.travel.start >= LATER) for points in found]),
        "damped": np.array([own.part.felt.duration * rate if own.part.felt else 0.0 for own in strings]),
        "met": np.zeros((2 * len(strings), 4)),
        "purse": np.zeros((len(strings), 3)),
        "landing": np.array([0, 1]),
        "aside": np.zeros(2 * len(strings)),
        "latest": float(onset.max()),
        "knock": blow.force * first.harder / (first.pulse.force or 1.0) if blow else 0.0,
        "knocking": blow.duration / first.pulse.duration if blow else 0.0,
        "after": blow.after if blow else 0.0,
        "knocked": np.zeros(PULSES),
        "longest": max(float(lasting.max()), after),
        "calming": calming,
        "ending": seconds,
    }


def _leaning(strings: list[Sounded], angles: list[tuple[float, ...]]) -> Array:
    """What pickups see of a string that leans from the bridge to where a finger holds it: nothing beyond the finger."""
    pickups = len(strings[0].strung.listening)
    seen = np.zeros((pickups, 2 * len(strings)))
    for n, (own, planes) in enumerate(zip(strings, angles)):
        for p, place in enumerate(own.strung.listening):
            for plane, angle in enumerate(planes):
                seen[p, 2 * n + plane] = seen_from(place.angle, angle) * place.at / own.strung.string.length
    return seen


def _hitting(strings: list[Sounded], own: Sounded) -> int:
    """The hammer of a part of the key hits all strings of this part."""
    return next(n for n, other in enumerate(strings) if other.part is own.part)


def _number(points: list[Meeting], is_it: Any) -> int:
    return next((n for n, point in enumerate(points) if is_it(point)), NOBODY)
