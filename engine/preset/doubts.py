"""What is accepted of an instrument, and yet may not be meant: strings that would break, keys that nobody plays."""

from __future__ import annotations

from itertools import pairwise

from engine.physics.network.parts import Strung
from engine.preset.assembly import Assembly, Played
from engine.preset.materials import MATERIALS, stress, tension_for
from engine.preset.scope import Scope
from engine.units import key_to_hz, key_to_note


def doubt_strength(scope: Scope, made: Played | tuple[Strung, ...], whole: bool) -> None:
    """Tell where a wire is pulled harder than it bears: at its own pitch, and where keys are reached by tension at the
    highest of them, unless they are `whole`, all that there are: nobody means the last.
    """
    if not (scope.given("string.material") and scope.given("string.diameter")):
        return
    name, diameter = scope["string.material"], scope["string.diameter"]
    strength = MATERIALS[name].strength
    if isinstance(made, Played):
        s, pitch, where = made.strung.string, "", scope.path("string.tuned")
        tension = s.tension
        if made.keys == "tension" and not whole:
            top = tension_for(key_to_hz(made.highest), s.length, s.density, s.stiffness)
            if top > tension:
                tension, pitch, where = top, f" at {key_to_note(made.highest)}", f"{scope.own}.played"
    else:
        tension, pitch, where = max(one.string.tension for one in made), "", f"{scope.own}.sympathetic"
    if not scope.values.given(where):
        where = scope.path("string.tension")
    if (pulled := stress(tension, diameter)) > strength:
        scope.values.doubt(
            where,
            f"pulls with {pulled / 1e9:.2g} GPa{pitch}, and {name} breaks at {strength / 1e9:.2g} GPa; "
            "shorten it, or tune it lower",
        )


def doubt_ranges(scopes: list[Scope], assembly: Assembly) -> None:
    """Tell of keys between the lowest and the highest that no string has, and of ranges that cross: a key of both
    strings sounds both, unless they have frets, where it is played on one of them.
    """
    own = [scope for scope in scopes if not scope.sympathetic]
    ranges = sorted(zip(((p.lowest, p.highest, p.mono) for p in assembly.played), own), key=lambda entry: entry[0])
    covered = ranges[0][0][1]
    for ((low, high, frets), _), ((next_low, next_high, next_frets), scope) in pairwise(ranges):
        path = f"{scope.own}.played"
        if next_low > covered + 1:
            scope.values.doubt(
                path, f"{_keys(covered + 1, next_low - 1)} below it: no string plays there; widen a range"
            )
        elif low < next_low <= high < next_high and not (frets and next_frets):
            both = _keys(next_low, high)
            scope.values.doubt(path, f"{both}: two strings play there, one does elsewhere; let the ranges end there")
        covered = max(covered, next_high)


def _keys(low: int, high: int) -> str:
    return key_to_note(low) if low == high else f"{key_to_note(low)} to {key_to_note(high)}"
