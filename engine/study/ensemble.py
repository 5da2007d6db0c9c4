"""Which network stands for an instrument of several strings, or for one of its keys: strings, hammers, body."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.elementary import exp2, power
from engine.errors import PhysicsError, SettingError
from engine.physics.excitation import Excitation
from engine.physics.network.bodies import playable
from engine.physics.network.parts import Against, Blow, Finger, Hammer, Network, PortLike, Strung, Travel
from engine.physics.problem import Problem
from engine.preset.assembly import Assembly, Blowing, Course, Exciter, Played, Plucking, Rattle
from engine.preset.loader import Preset
from engine.study.played import LOUD, silent
from engine.synth.choirs import as_pulse
from engine.synth.keys import of_key
from engine.units import hz_to_key, key_to_note

GRAVITY = 9.81  # m/s^2
REST = Excitation(0.5, 0.0)


@dataclass(frozen=True)
class Gathered:
    """A network, and what its strings are called."""

    network: Network
    names: tuple[str, ...]


class _Gathering:
    """Strings as they are put together, and the hammers that they bring."""

    def __init__(self) -> None:
        self.strings: list[Strung] = []
        self.names: list[str] = []
        self.hammers: list[Hammer] = []

    def add(self, strung: Strung, rattles: tuple[Rattle, ...]) -> None:
        """One more string; what lies on it is a hammer that its weight brings."""
        ports: list[PortLike] = list(strung.ports)
        for own in rattles:
            if own.at < strung.string.length:
                self.hammers.append(Hammer(own.mass, 0.0, -own.gap, 0.0, GRAVITY * own.mass))
                ports.append(Blow(own.at, len(self.hammers) - 1, own.contact))
        self.strings.append(replace(strung, ports=tuple(ports)))
        self.names.append(key_to_note(round(hz_to_key(strung.string.pitch))))


def ensemble(preset: Preset, assembly: Assembly, key: int | None, velocity: int, rate: float) -> Gathered:
    """The strings that a key sounds, with all that answer; without a key all as they lie, the preset's own struck."""
    if assembly.coupling != "two-way":
        limit = "strings and body are simulated as they move each other"
        raise PhysicsError("coupling", assembly.coupling, limit, "override it: coupling=two-way")
    made = _Gathering()
    if key is None:
        for n, part in enumerate(assembly.played):
            exciter = part.exciter if n == 0 else REST
            made.add(*_struck(made, preset, part, part.strung, exciter, Course(), velocity, rate))
    else:
        _sound(made, preset, assembly, key, velocity, rate)
    for strung in assembly.sympathetic:
        made.add(strung, ())
    body = playable(assembly.body, rate)
    return Gathered(Network(tuple(made.strings), body, tuple(made.hammers)), tuple(made.names))


def _sound(made: _Gathering, preset: Preset, assembly: Assembly, key: int, velocity: int, rate: float) -> None:
    """All strings of a key, each struck as its course says; a part's hammer hits all of them."""
    pitch = preset.tuning[key]
    if pitch is None:
        raise SettingError("key", key_to_note(key), "the tuning leaves this key out", "choose another")
    parts = [part for part in assembly.played if part.lowest <= key <= part.highest]
    if not parts:
        raise silent(preset, key, "no string is played by this key")
    for part in parts:
        first = len(made.hammers)
        for course in part.courses:
            try:
                strung, exciter = _on_key(preset, part, pitch * course.ratio * exp2(course.detuned / 1200.0))
            except PhysicsError as error:
                raise silent(preset, key, str(error)) from None
            shared = first if course is not part.courses[0] else None
            made.add(*_struck(made, preset, part, strung, exciter, course, velocity, rate, shared))


def _on_key(preset: Preset, part: Played, pitch: float) -> tuple[Strung, Exciter]:
    """A string brought to a pitch with its barriers, and what strikes it there."""
    own, e = part.strung, part.exciter
    below = next((port for port in own.ports if isinstance(port, Against)), None)
    asked = Problem(own.string, below.barrier if below else None, excitation=as_pulse(e))
    tuned = of_key(asked, part.keys, pitch, preset.tracking)
    ports: list[PortLike] = [port for port in own.ports if port is not below]
    if below and tuned.barrier:
        ports.insert(0, replace(below, barrier=tuned.barrier))
    at = tuned.excitation
    match e:
        case Blowing():
            e = replace(e, position=at.position, speed=at.force)
        case Plucking():
            e = replace(e, position=at.position, slip=at.force, duration=at.duration)
        case Excitation():
            e = at
    return replace(own, string=tuned.string, ports=tuple(ports)), e


def _struck(
    made: _Gathering,
    preset: Preset,
    part: Played,
    strung: Strung,
    exciter: Exciter,
    course: Course,
    velocity: int,
    rate: float,
    hammer: int | None = None,
) -> tuple[Strung, tuple[Rattle, ...]]:
    """A string with what sets it in motion at a velocity; `hammer` is the number of one that is flying already."""
    loud = velocity / LOUD
    force, length = power(loud, preset.velocity.force) * course.force, strung.string.length
    shorter = power(loud, preset.velocity.duration)
    match exciter:
        case Blowing(position=position, mass=mass, speed=speed, felt=felt):
            if hammer is None:
                hammer = len(made.hammers)
                made.hammers.append(Hammer(mass, speed * force, start=course.onset))
            struck: PortLike = Blow(position * length, hammer, felt, strung.struck)
        case Plucking(position=position, by=by, duration=duration, slip=slip, tip=tip, damping=damping):
            way = Travel(by, course.onset, max(duration * shorter, 2.0 / rate))
            struck = Finger(position * length, tip, way, slip * force, damping, 0.0, strung.struck)
        case Excitation():
            lasting = max(exciter.duration * shorter, 2.0 / rate)
            pulse = replace(exciter, force=exciter.force * force, duration=lasting, onset=course.onset)
            return replace(strung, excitation=pulse), part.rattles
    return replace(strung, ports=(*strung.ports, struck)), part.rattles
