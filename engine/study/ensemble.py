"""Which network stands for an instrument of several strings, or for one of its keys: strings, hammers, body."""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import PhysicsError, SettingError
from engine.physics.network.bodies import playable
from engine.physics.network.parts import Network, Strung
from engine.preset.assembly import Assembly, Course, Played
from engine.preset.loader import Preset
from engine.study.played import silent
from engine.synth.choirs import refuse_unanswered, refuse_unplayed, strung_for
from engine.synth.gathered import Gathering
from engine.synth.sounded import Sounded, as_pulse
from engine.units import hz_to_key, key_to_note


@dataclass(frozen=True)
class Gathered:
    """A network, what its strings are called, and those that answer where they lie side by side, behind the others."""

    network: Network
    names: tuple[str, ...]
    abreast: tuple[Strung, ...]
    coupling: str


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
    made = Gathering(preset.velocity, velocity, rate)
    if key is None:
        for n, part in enumerate(assembly.played):
            own = Sounded(part.strung, as_pulse(part.exciter), part, Course(), part.rattles, part.strung)
            if n == 0:
                made.strike(own, own, None, assembly.drawn(own.course))
            else:
                made.strings.append(made.lay(own))
    else:
        _sound(made, preset, assembly, key)
    abreast = assembly.sympathetic if as_played or assembly.coupling != "two-way" else ()
    made.strings += assembly.sympathetic if not abreast else ()
    names = tuple(name_of(strung) for strung in (*made.strings, *abreast))
    return Gathered(made.network(playable(assembly.body, rate)), names, abreast, assembly.coupling)


def _sound(made: Gathering, preset: Preset, assembly: Assembly, key: int) -> None:
    """All strings of a key, where it is played first, each struck as its course says; a hammer hits all of its part."""
    pitch = preset.tuning[key]
    if pitch is None:
        raise SettingError("key", key_to_note(key), "the tuning leaves this key out", "choose another")
    places = assembly.places(key)
    if not places:
        raise silent(preset, key, "no string is played by this key")
    first: Sounded | None = None
    for part in places[0]:
        thrown = None
        for own in _on_key(preset, part, key, pitch):
            first = first or own
            thrown = made.strike(own, first, thrown, assembly.drawn(own.course))


def _on_key(preset: Preset, part: Played, key: int, pitch: float) -> list[Sounded]:
    try:
        return [strung_for(preset, part, course, pitch, None, preset.voicing.harder(key)) for course in part.courses]
    except PhysicsError as error:
        raise silent(preset, key, str(error)) from None
