"""A whole network as an image has it: what its strings, bridge and body are designed from when it is opened.

It is a `Bridgework` (synth/choral.py) in a block of its own. Strings that answer and differ in nothing but length and
tension are one part of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.elementary import exp2
from engine.export.designs import RATIOS, Own, Target, by_rule
from engine.export.reach import Reach
from engine.layout import Arena, Rows, fields_of, lay, rows_of, size_of
from engine.physics.barrier import Barrier, Obstacles
from engine.physics.designing import Bench, profile, sizes
from engine.physics.excitation import Excitation
from engine.physics.network.parts import BRIDGE, Against, Link, PortLike, Resonance, Strung, Travel
from engine.physics.network.placing import BARRIER, FINGER, HAMMER, HERE, HUNG, SHARED, STRUCK, PortRecipe
from engine.physics.network.stranding import MOST_PLANES, BodyMode, EarRecipe, PartRecipe, PlaneRecipe
from engine.physics.network.weaving import Writers, put
from engine.physics.problem import Contact, Pickup, Problem
from engine.physics.string import String
from engine.preset.assembly import Blowing, Course, Played, Plucking
from engine.preset.loader import Preset
from engine.preset.tuning import Tuning
from engine.synth import keyed
from engine.synth.attuned import own_pitch
from engine.synth.choirs import WAYS
from engine.synth.choral import (
    LATER,
    THROWN,
    AnsweringRecipe,
    Bridgework,
    ChoirRecipe,
    PlayedRecipe,
    RattleRecipe,
    StringRecipe,
)
from engine.synth.keyed import MOST_EARS, Blueprint
from engine.synth.memory import KeyRow
from engine.synth.sounded import as_pulse, asked_of, pitch_of
from engine.vectors import PADDING

Numbers = tuple[float, ...]
T = TypeVar("T")
ROOM = "loom"


@dataclass
class TableRows:
    """Rows of records, field by field, in the making."""

    parts: list[dict[str, Any]] = field(default_factory=list)
    planes: list[Numbers] = field(default_factory=list)
    ports: list[dict[str, Any]] = field(default_factory=list)
    ears: list[Numbers] = field(default_factory=list)
    played: list[dict[str, Any]] = field(default_factory=list)
    rattles: list[Numbers] = field(default_factory=list)
    choirs: list[Numbers] = field(default_factory=list)
    strings: list[Numbers] = field(default_factory=list)
    answering: list[Numbers] = field(default_factory=list)


class Assembled:
    """The Bridgework of a preset, of these keys: its block, what room it needs, where that lies which may change."""

    def __init__(self, preset: Preset, tuning: Tuning, keys: Rows[KeyRow], numbers: range) -> None:
        assert preset.assembly is not None
        self.preset, self.assembly, self.tables = preset, preset.assembly, TableRows()
        self.rooms: dict[int, int] = {}  # of rows of keys: bytes that their strings take at most
        self.reach = Reach(preset)
        self._arena, self._writers = Arena(), Writers()
        self._start = self._arena.room(size_of(Bridgework))
        self._loom = self._start + next(part.offset for part in fields_of(Bridgework) if part.name == ROOM)
        self._alike: dict[Any, int] = {}
        self._benches: list[Target] = []  # by their parts
        self._grounds: list[list[Target]] = []
        self._add_keys(tuning, keys, numbers)
        for part in self.assembly.played:
            self._add_played(part)
        for strung in self.assembly.sympathetic:
            self._add_answering(strung)
        self._lead = self._lay_lead()
        self.block = self._sealed()

    def targets(self, own: Own) -> list[Target]:
        """Where that lies which has it."""
        if own.slot in RATIOS:
            return [(self._start, -1)]
        if own.slot == keyed.RELEASE:
            return [self._lead]
        parts = [*own.played, *(range(len(self.assembly.played), len(self._benches)) if own.answering else ())]
        if own.slot <= keyed.DAMPING:
            return [ground for part in parts for ground in self._grounds[part]]
        return [self._benches[part] for part in parts]

    # --- strings that are alike ---

    def _add_played(self, part: Played) -> None:
        """Strings that keys play, with what sounds them."""
        pulse, strung, of_length = as_pulse(part.exciter), part.strung, part.keys == "length"
        ports = [self._port(port, of_length) for port in strung.ports]
        match part.exciter:
            case Blowing(felt=felt):
                ports.append(_contact(HAMMER, felt, where=STRUCK, angle=strung.struck, hammer=THROWN))
            case Plucking() as own:
                finger = _contact(FINGER, own.tip, where=STRUCK, angle=strung.struck, slip=1.0, staying=0)
                finger |= {"resistance": own.tip.damping, "damping": own.damping, "by": own.by}
                ports.append(finger | {"duration": pulse.duration})
        for rattle in part.rattles:
            loose = _contact(HAMMER, rattle.contact, where=HERE, place=rattle.at, hammer=THROWN + 1, shortened=1)
            ports.append(loose)
        if part.felt is not None:
            f = part.felt
            ports.append(
                _port(
                    kind=HUNG, where=SHARED, place=f.at, stiffness=f.stiffness, resistance=f.resistance, mass=f.mass,
                    start=LATER, duration=f.duration, staying=0,
                )
            )  # fmt: skip
        self._add_part(strung, ports, self._bench(strung, pulse, of_length, part.tuned), part.mono)
        knock = part.knock
        self.tables.played.append(
            {
                "kind": WAYS[type(part.exciter)],
                "courses": len(part.courses),
                "mass": getattr(part.exciter, "mass", 1.0),
                "damped": part.felt.duration if part.felt else 0.0,
                "loose": len(part.rattles),
                "rattle": len(self.tables.rattles),
                "knocks": int(knock is not None),
                "knock": knock.force if knock else 0.0,
                "knocking": knock.duration if knock else 0.0,
                "after": knock.after if knock else 0.0,
            }
        )
        self.tables.rattles += [(own.at, own.mass, own.weight, -own.gap) for own in part.rattles]

    def _lay_lead(self) -> Target:
        """What the preset's own string has, which most often is that of the first part."""
        own = self.preset.problem
        if own.string == self.assembly.played[0].strung.string:
            return self._benches[0]
        return self._bench(Strung(own.string), own.excitation, False, None)

    def _add_answering(self, strung: Strung) -> None:
        """A string that nobody plays."""
        own = strung.string
        like = replace(strung, string=replace(own, length=1.0, tension=1.0))
        if like not in self._alike:
            self._alike[like] = len(self.tables.parts)
            ports = [self._port(port, False) for port in strung.ports]
            self._add_part(strung, ports, self._bench(strung, Excitation(), False, None), False)
        self.tables.answering.append((self._alike[like], own.length, own.tension))

    def _add_part(self, strung: Strung, ports: list[dict[str, Any]], place: Target, fretted: bool) -> None:
        t, (bench, plan) = self.tables, place
        self._benches.append(place)
        grounds = [port for port in ports if port["kind"] == BARRIER]
        self._grounds.append([(self._loom + port["ground"], self._loom + port["plan"]) for port in grounds])
        t.parts.append(
            {
                "bench": bench - self._loom,
                "plan": plan - self._loom,
                "weight": strung.weight,
                "struck": strung.struck,
                "stretching": strung.stretching,
                "stretched": strung.stretched,
                "band": strung.band,
                "planes": len(strung.planes),
                "plane": len(t.planes),
                "ports": len(ports),
                "port": len(t.ports),
                "ears": len(strung.listening),
                "ear": len(t.ears),
                "fretted": int(fretted),
            }
        )
        t.ports += ports
        t.planes += [
            (p.angle, exp2(2.0 * p.detuned / 1200.0) if p.detuned else 1.0, p.lossy, p.band) for p in strung.planes
        ]
        t.ears += [(place.at, place.angle, place.width) for place in strung.listening]

    def _port(self, port: PortLike, of_length: bool) -> dict[str, Any]:
        way = port.travel if isinstance(port, Against | Link) else Travel()
        moved = {"by": way.by, "start": way.start, "duration": way.duration, "end": way.end}
        moved["staying"] = int(way == Travel())
        match port:
            case Against():
                bench, plan = self._ground(port.barrier, port.contact)
                return _port(
                    kind=BARRIER, angle=port.angle, on_bridge=int(port.stands == BRIDGE), ground=bench - self._loom,
                    plan=plan - self._loom, shortened=int(of_length), friction=port.friction, **moved,
                )  # fmt: skip
            case Link():
                return _port(
                    kind=HUNG, where=HERE, place=port.at, angle=port.angle, stiffness=port.stiffness,
                    resistance=port.resistance, mass=port.mass, **moved,
                )  # fmt: skip
        raise LookupError("what strikes a string among what touches it always")

    # --- benches ---

    def _bench(self, strung: Strung, pulse: Excitation, of_length: bool, tuned: float | None) -> Target:
        """Of a string, and what belongs to it."""
        own, ears = strung.string, len(strung.listening)
        shapes = sizes(self.reach.modes, 1, ears, 1)
        taken = {name: shapes[name] for name in ("wave", "decay", "swing", "scratch", "ears", "partials")}
        taken["scratch"] = (MOST_PLANES * (self.reach.modes + PADDING),)  # a number of each mode of all planes
        heard = np.zeros(MOST_EARS)
        heard[:ears] = [place.at / own.length for place in strung.listening]
        power = self.preset.tracking
        return self._laid(
            {
                **taken, "density": own.density, "stiffness": own.stiffness, "s0": own.loss.s0, "s1": own.loss.s1,
                "s2": own.loss.s2, "s3": own.loss.s3, "pickups": ears,
            },
            {
                "by_length": int(of_length), "length": own.length, "tension": own.tension, "points": -1,
                "tuned": tuned or 0.0, "steel": int(by_rule(own)),
                "position": pulse.position, "force": pulse.force, "duration": pulse.duration,
                "release": self.preset.release, "ears": heard, "harder": 1.0,
                **{f"tracking_{word}": value for word, value in vars(power).items()},
            },
        )  # fmt: skip

    def _ground(self, under: Barrier | Obstacles, touch: Contact) -> Target:
        """Of a barrier."""
        kind, origin, numbers = profile(Problem(String(1.0, 1.0, 1.0), under, touch, pickups=(Pickup(),)))
        points = len(under.positions) if isinstance(under, Obstacles) else under.points or 0
        return self._laid(
            {
                "numbers": np.array(numbers, float), "origin": origin, "height": under.height,
                "begin": under.start if isinstance(under, Barrier) else 0.0,
                "hard": touch.stiffness, "exponent": touch.exponent, "damping": touch.damping,
            },
            {"surface": kind, "points": points, "stop": under.stop if isinstance(under, Barrier) else 0.0},
        )  # fmt: skip

    def _laid(self, bench: dict[str, Any], plan: dict[str, Any]) -> Target:
        places = self._arena.room(size_of(Bench)), self._arena.room(size_of(Blueprint))
        for place, kind, values in zip(places, (Bench, Blueprint), (bench, plan)):
            self._writers.append(lay(self._arena, kind, place, **values))
        return places

    # --- keys ---

    def _add_keys(self, tuning: Tuning, keys: Rows[KeyRow], numbers: range) -> None:
        """Every place of each of these keys that has strings."""
        fretted = [part for part in self.assembly.played if part.mono]
        for number in numbers:
            hz, row = tuning.frequencies[number], number
            while hz is not None and keys[row].ready:
                line = int(keys[row].line)
                self._add_choir(number, row, hz, [fretted[line - 1]] if line else self.assembly.places(number)[0])
                row = int(keys[row].other)
                if row == 0:
                    break

    def _add_choir(self, number: int, row: int, hz: float, parts: Sequence[Played]) -> None:
        first = len(self.tables.strings)
        for part in parts:
            for course in part.courses:
                self._add_string(part, course, hz, self.preset.voicing.harder(number))
        self.tables.choirs.append((row, hz, first, len(self.tables.strings) - first))
        own = [(part, self.tables.strings[first + n][1]) for n, part in enumerate(_each(parts))]
        self.rooms[row] = self.reach.room(own)

    def _add_string(self, part: Played, own: Course, hz: float, harder: float) -> None:
        tuned = own_pitch(self.preset, part, own, asked_of(part, harder), hz)
        number = next(n for n, other in enumerate(self.assembly.played) if other is part)
        row = (number, tuned, hz * own.ratio, own.detuned, tuned / pitch_of(own, hz), own.onset, own.force)
        self.tables.strings.append((*row, own.register, harder))

    # --- all of it ---

    def _sealed(self) -> NDArray[np.uint8]:
        """The block."""
        t, body, directions = self.tables, self.assembly.body, self.assembly.body.directions
        lead, plan = self._lead
        modes = MOST_PLANES * (self.reach.modes + PADDING)
        loom = {
            "ways": len(directions),
            "channels": body.channels,
            "one_way": int(self.assembly.coupling == "one-way"),
            "angles": np.array(directions, float),
            "body": _body_rows(body.modes),
            "kept": (max(len(body.modes), 1),),
            "parts": _rows(PartRecipe, t.parts),
            "planes": _rows(PlaneRecipe, t.planes),
            "ports": _rows(PortRecipe, t.ports),
            "ears": _rows(EarRecipe, t.ears),
            **dict.fromkeys(("wave", "decay", "swing", "plane"), (modes,)),
            **dict.fromkeys(("pointing", "base"), (max(self.reach.points, 1),)),
        }
        put(self._arena, self._writers, Bridgework, self._start, {
            ROOM: loom,
            "lead": lead - self._start,
            "plan": plan - self._start,
            "radiates": body.radiates,
            **dict.fromkeys(("apart", "scale", "weight", "quality"), 1.0),
            "played": _rows(PlayedRecipe, t.played),
            "rattles": _rows(RattleRecipe, t.rattles),
            "choirs": _rows(ChoirRecipe, t.choirs),
            "strings": _rows(StringRecipe, t.strings),
            "answering": _rows(AnsweringRecipe, t.answering),
        })  # fmt: skip
        block = self._arena.sealed()
        for write in self._writers:
            write(block)
        return block


def _each(parts: Sequence[Played]) -> list[Played]:
    """Of each string the part that it is of."""
    return [part for part in parts for _ in part.courses]


def _port(**values: Any) -> dict[str, Any]:
    """A port that is as most are but for this."""
    return {"end": inf, "slip": inf, "hammer": -1, "staying": 1, **values}


def _contact(kind: int, law: Contact, **values: Any) -> dict[str, Any]:
    """One that obeys a law of contact."""
    law_of = {"stiffness": law.stiffness, "exponent": law.exponent, "damping": law.damping}
    return _port(kind=kind, **law_of, **({"staying": 0} | values))


def _body_rows(modes: Sequence[Resonance]) -> Rows[BodyMode]:
    found = rows_of(BodyMode, len(modes))
    for row, mode in zip(found, modes):
        row.frequency, row.quality, row.mass, row.blow = mode.frequency, mode.quality, mode.mass, mode.blow
        row.weighed = mode.weighed
        row.moves[: len(mode.shape)] = mode.shape
        row.heard[: len(mode.heard)] = mode.heard
    return found


def _rows(declaration: type[T], values: Sequence[Any]) -> Rows[T]:
    """Of values by their names, or in their order."""
    found: Any = rows_of(declaration, len(values))
    for n, own in enumerate(values):
        if isinstance(own, tuple):
            found[n] = own
        else:
            for name, value in own.items():
                found[n][name] = value
    return found  # type: ignore[no-any-return]
