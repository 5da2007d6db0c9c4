"""Which network stands for an instrument of several strings, or for one of its keys: strings, hammers, body."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.elementary import power
from engine.errors import PhysicsError, SettingError
from engine.physics.excitation import Excitation
from engine.physics.network.bodies import playable
from engine.physics.network.parts import Blow, Finger, Hammer, Network, PortLike, Strung, Travel
from engine.preset.assembly import Assembly, Blowing, Course, Knock, Played, Plucking
from engine.preset.loader import Preset
from engine.study.played import silent
from engine.synth.choirs import Sounded, as_pulse, refuse_unanswered, refuse_unplayed, strung_for
from engine.units import hz_to_key, key_to_note


@dataclass(frozen=True)
class Gathered:
    """A network, what its strings are called, and those that answer where they lie side by side, behind the others."""

    network: Network
    names: tuple[str, ...]
    abreast: tuple[Strung, ...]
    coupling: str


class _Gathering:
    """Strings as they are put together, and the hammers that they bring."""

    def __init__(self, preset: Preset, velocity: int, rate: float) -> None:
        self.preset, self.loud, self.rate = preset, velocity * 0.01, rate
        self.strings: list[Strung] = []
        self.names: list[str] = []
        self.hammers: list[Hammer] = []
        self.struck: Excitation | None = None  # what strikes the body

    def add(self, strung: Strung) -> None:
        """One more string."""
        self.strings.append(strung)
        self.names.append(name_of(strung))

    def lay(self, own: Sounded, *struck: PortLike) -> Strung:
        """A string with what strikes it and what lies on it, which is a hammer that its weight brings."""
        ports = [*own.bare.ports, *struck]
        for loose in own.loose:
            self.hammers.append(Hammer(loose.mass, 0.0, -loose.gap, 0.0, loose.weight))
            ports.append(Blow(loose.at, len(self.hammers) - 1, loose.contact))
        return replace(own.bare, ports=tuple(ports))

    def strike(self, own: Sounded, first: Sounded, thrown: int | None) -> int | None:
        """A string that is struck as the renderer does it (voices.pluck): a key's first string says how strongly and
        how long, the others by their shares. `thrown` is the number of a hammer that flies already; its number.
        """
        law, pulse, onset = self.preset.velocity, own.pulse, own.course.onset
        force = first.pulse.force * power(self.loud, law.force)
        force *= own.course.force * pulse.force / (first.pulse.force or 1.0)
        force *= self.preset.assembly.drawn(own.course) if self.preset.assembly else 1.0
        lasting = max(first.pulse.duration * power(self.loud, law.duration), 2.0 / self.rate)
        if own is first and first.part.knock is not None:
            self._knock(first.part.knock, lasting, first.pulse.duration, first.harder)
        lasting *= pulse.duration / first.pulse.duration
        at, angle = pulse.position * own.bare.string.length, own.bare.struck
        match own.part.exciter:
            case Blowing(mass=mass, felt=felt):
                if thrown is None:
                    thrown = len(self.hammers)
                    self.hammers.append(Hammer(mass, force, start=onset))
                self.add(self.lay(own, Blow(at, thrown, felt, angle)))
            case Plucking() if force == 0.0:
                self.add(self.lay(own))
            case Plucking(by=by, tip=tip, damping=damping):
                way = Travel(by, onset, lasting, onset + 3.0 * lasting)
                self.add(self.lay(own, Finger(at, tip, way, force, damping, 0.0, angle)))
            case _:
                given = replace(pulse, force=force, duration=lasting, onset=onset)
                self.add(replace(self.lay(own), excitation=given))
        return thrown

    def _knock(self, blow: Knock, lasting: float, usual: float, harder: float) -> None:
        """What a pluck that lasts so long, and usually as long, does to the body of a key that is struck harder."""
        force = blow.force * harder * power(self.loud, self.preset.velocity.force)
        duration = max(lasting * blow.duration / usual, 2.0 / self.rate)
        self.struck = Excitation(force=force, duration=duration, onset=blow.after * lasting)


def name_of(strung: Strung) -> str:
    """The nearest key's."""
    return key_to_note(round(hz_to_key(strung.string.pitch)))


def ensemble(
    preset: Preset, assembly: Assembly, key: int | None, velocity: int, rate: float, as_played: bool = False
) -> Gathered:
    """The strings that a key sounds, with all that answer; without a key all as they lie, the preset's own struck.

    What answers lies side by side as an instrument has it, and must where nothing else does to strings what they do.
    """
    if as_played:
        refuse_unplayed(preset)
    refuse_unanswered(assembly)
    made = _Gathering(preset, velocity, rate)
    if key is None:
        for n, part in enumerate(assembly.played):
            own = Sounded(part.strung, as_pulse(part.exciter), part, Course(), part.rattles, part.strung)
            if n == 0:
                made.strike(own, own, None)
            else:
                made.add(made.lay(own))
    else:
        _sound(made, assembly, key)
    abreast = assembly.sympathetic if as_played or assembly.coupling != "two-way" else ()
    for strung in assembly.sympathetic if not abreast else ():
        made.add(strung)
    names = (*made.names, *(name_of(strung) for strung in abreast))
    network = Network(tuple(made.strings), playable(assembly.body, rate), tuple(made.hammers), None, made.struck)
    return Gathered(network, names, abreast, assembly.coupling)


def _sound(made: _Gathering, assembly: Assembly, key: int) -> None:
    """All strings of a key, where it is played first, each struck as its course says; a hammer hits all of its part."""
    pitch = made.preset.tuning[key]
    if pitch is None:
        raise SettingError("key", key_to_note(key), "the tuning leaves this key out", "choose another")
    places = assembly.places(key)
    if not places:
        raise silent(made.preset, key, "no string is played by this key")
    first: Sounded | None = None
    for part in places[0]:
        thrown = None
        for own in _on_key(made.preset, part, key, pitch):
            first = first or own
            thrown = made.strike(own, first, thrown)


def _on_key(preset: Preset, part: Played, key: int, pitch: float) -> list[Sounded]:
    try:
        return [strung_for(preset, part, course, pitch, None, preset.voicing.harder(key)) for course in part.courses]
    except PhysicsError as error:
        raise silent(preset, key, str(error)) from None
