"""Strings put together as a network, each struck as the renderer does it, with the hammers that they bring."""

from __future__ import annotations

from dataclasses import replace

from engine.elementary import power
from engine.physics.excitation import Excitation
from engine.physics.network.parts import Blow, Body, Finger, Hammer, Network, PortLike, Strung, Travel
from engine.preset.assembly import Blowing, Knock, Plucking
from engine.preset.playing import Velocity
from engine.synth.sounded import Sounded


class Gathering:
    """Strings as they are put together, struck at a velocity, for steps of a rate."""

    def __init__(self, law: Velocity, velocity: int, rate: float) -> None:
        self.law, self.loud, self.rate = law, velocity * 0.01, rate
        self.strings: list[Strung] = []
        self.hammers: list[Hammer] = []
        self.struck: Excitation | None = None  # what strikes the body

    def network(self, body: Body) -> Network:
        """All of it on a body."""
        return Network(tuple(self.strings), body, tuple(self.hammers), None, self.struck)

    def lay(self, own: Sounded, *struck: PortLike) -> Strung:
        """A string with what strikes it and what lies on it, which is a hammer that its weight brings."""
        ports = [*own.bare.ports, *struck]
        for loose in own.loose:
            self.hammers.append(Hammer(loose.mass, 0.0, -loose.gap, 0.0, loose.weight))
            ports.append(Blow(loose.at, len(self.hammers) - 1, loose.contact))
        return replace(own.bare, ports=tuple(ports))

    def strike(self, own: Sounded, first: Sounded, thrown: int | None, drawn: float = 1.0) -> int | None:
        """A string that is struck as the renderer does it (voices.pluck): a key's first string says how strongly and
        how long, the others by their shares, and as far as their registers are `drawn`. `thrown` is the number of a
        hammer that flies already; its number.
        """
        law, pulse, onset = self.law, own.pulse, own.course.onset
        force = first.pulse.force * power(self.loud, law.force)
        force *= own.course.force * pulse.force / (first.pulse.force or 1.0)
        force *= drawn
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
                self.strings.append(self.lay(own, Blow(at, thrown, felt, angle)))
            case Plucking() if force == 0.0:
                self.strings.append(self.lay(own))
            case Plucking(by=by, tip=tip, damping=damping):
                way = Travel(by, onset, lasting, onset + 3.0 * lasting)
                self.strings.append(self.lay(own, Finger(at, tip, way, force, damping, 0.0, angle)))
            case _:
                given = replace(pulse, force=force, duration=lasting, onset=onset)
                self.strings.append(replace(self.lay(own), excitation=given))
        return thrown

    def _knock(self, blow: Knock, lasting: float, usual: float, harder: float) -> None:
        """What a pluck that lasts so long, and usually as long, does to the body of a key that is struck harder."""
        force = blow.force * harder * power(self.loud, self.law.force)
        duration = max(lasting * blow.duration / usual, 2.0 / self.rate)
        self.struck = Excitation(force=force, duration=duration, onset=blow.after * lasting)
