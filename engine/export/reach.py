"""How large the strings of a network may become, at any rate and whatever is changed: what its memory has room for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import pi

from engine.errors import PhysicsError
from engine.export.designs import Own, owned
from engine.pairs import whole
from engine.physics.barrier import Barrier, Polynomial, enough
from engine.physics.designing import BAND
from engine.physics.network.extents import STRAND, room_of
from engine.physics.network.meetings import meetings
from engine.physics.network.parts import Against, Strung
from engine.physics.problem import Problem
from engine.physics.string import Loss, String
from engine.preset.assembly import Played
from engine.preset.loader import Preset
from engine.preset.materials import tension_for
from engine.synth import keyed
from engine.synth.choral import CHOIR, HEAD, STEP
from engine.synth.keys import reached
from engine.synth.memory import PULSES
from engine.vectors import PADDING

APART = 1.03  # times the modes of a string whose planes, or whose like, are tuned apart from it


class Reach:
    """Of a preset's strings; `modes` of one plane and `points` are the most of any that were asked for."""

    def __init__(self, preset: Preset) -> None:
        assert preset.assembly is not None
        self._preset, self._assembly = preset, preset.assembly
        self._changed = {own.slot: own for own in owned(preset)}
        self.modes, self.points = 1, 1
        for strung in preset.assembly.sympathetic:
            self.modes = max(self.modes, _most(replace(strung.string, loss=Loss()), strung.band))
            self.points = max(self.points, self._points(strung, None))

    def room(self, strings: Sequence[tuple[Played, float]]) -> int:
        """Bytes for the strings of a key, each of a part and of its pitch by itself."""
        count = len(strings)
        loose = sum(len(part.rattles) for part, _ in strings)
        heard = len(strings[0][0].strung.listening)
        size = HEAD + STEP * count
        lengths = {"strings": count, "planes": 2 * count, "hammers": count + loose, "ears": heard, "pulses": PULSES}
        size += room_of(CHOIR, **lengths)
        for part, own in strings:
            size += self._string(part, own)
        return size

    def _string(self, part: Played, own: float) -> int:
        number = next(n for n, other in enumerate(self._assembly.played) if other is part)
        modes, points = self._modes(part, number, own), self._points(part.strung, part)
        self.modes, self.points = max(self.modes, modes), max(self.points, points)
        ends, heard = len(part.strung.planes), len(part.strung.listening)
        ways = len(self._assembly.body.directions)
        sources, wide = points + ends, modes * ends + PADDING
        return room_of(
            STRAND,
            modes=wide,
            rows=sources + heard,
            sources=sources,
            points=points,
            ends=ends,
            ways=ways,
            wide_rows=whole(sources + heard, float),
            wide_sources=whole(sources, float),
            wide_points=whole(points, float),
            stretched=wide if part.strung.stretching else 0,
        )

    def _modes(self, part: Played, number: int, own: float) -> int:
        """Fewest are lost where a string bends most easily and loses nothing (designs.largest)."""
        string = part.strung.string
        stiff = self._changed.get(keyed.STIFFNESS)
        least = min(stiff.span) if stiff and number in stiff.played else string.stiffness
        tension = string.tension
        if part.tuned is not None:
            tension = tension_for(part.tuned, string.length, string.density, least)
        most = 1
        for one in (string, replace(string, stiffness=least, tension=tension, loss=Loss())):
            try:
                most = max(most, _most(reached(Problem(one), part.keys, own).string, part.strung.band))
            except PhysicsError:
                continue
        return most

    def _points(self, strung: Strung, part: Played | None) -> int:
        """Of all that touches a string."""
        found = len(meetings(strung)) + (2 + len(part.rattles) if part else 0) + 1
        bent = self._changed.get(keyed.CURVATURE)
        for port in strung.ports:
            if isinstance(port, Against) and isinstance(port.barrier, Barrier) and bent and not port.barrier.points:
                more = max(_cells(port.barrier, bent)) + 1
                found += more * (2 if port.friction > 0.0 else 1)
        return found


def _cells(barrier: Barrier, bent: Own) -> list[int]:
    """How many points stand for a barrier that is bent as far as it may be."""
    ends = [replace(barrier, profile=Polynomial((0.0, 0.0, -end))) for end in bent.span]
    return [enough(one, float("inf")) for one in ends]


def _most(string: String, band: float) -> int:
    return int(APART * (string.wavenumber_at(min(BAND, band)) * string.length / pi)) + 3
