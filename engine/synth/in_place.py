"""A key's strings play a note where they stand, on their body, and are listened to: how far they are off a pitch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from engine.physics.designing import BAND
from engine.physics.hearing import AS_GIVEN, ways
from engine.physics.network.parts import Against, Body, Network
from engine.physics.network.pushed import pushes
from engine.physics.network.stepping import run
from engine.physics.network.weaving import Woven, weave
from engine.physics.pitch import mean
from engine.physics.problem import Pickup
from engine.physics.string import Array
from engine.preset.playing import Tracking, Velocity
from engine.synth.budget import network_time, piece
from engine.synth.following import departures
from engine.synth.gathered import Gathering
from engine.synth.intonation import lasting, raised, share
from engine.synth.sounded import Sounded


class Footing(NamedTuple):
    """What strings stand on, and what is heard of it."""

    tracking: Tracking
    rate: float  # Hz of the steps
    body: Body
    coupling: str
    crystal: bool
    pickups: tuple[Pickup, ...]
    seconds: float  # that a key of middle C's pitch may take


def bent(on: Footing, strings: Sequence[Sounded], pitch: float, most: float, spent: float) -> tuple[float, float]:
    """By how much of it strings in unison sound above a pitch, and for how many s they were listened to: as long as is
    wanted at most, and not at all if that takes too long after so many.
    """
    made, thrown = Gathering(Velocity(), 100, on.rate), None
    for own in strings:
        thrown = made.strike(own, strings[0], thrown)
    network, one_way = made.network(on.body), on.coupling != "two-way"
    w = weave(network, on.rate, min(BAND, 0.45 * on.rate), None, one_way, on.coupling == "one-way")
    seconds = min(lasting(on.seconds * share(pitch), 1e-9 * network_time(w.block.nbytes) * on.rate, spent), most)
    if not seconds:
        return 0.0, 0.0
    out, heard = _performed(w, round(seconds * on.rate)), _heard(on, network)
    bare = strings[0].bare
    touched = any(isinstance(port, Against) for port in bare.ports)
    off, power = departures(out, heard, on.rate, pitch, bare.string.inharmonicity, touched)
    way = ways(on.pickups[:1], True)[0] if bare.listening else AS_GIVEN
    return mean(off, raised(power, way)), seconds


def _performed(w: Woven, steps: int) -> Array:
    """What a network gives in so many steps, in pieces between which an interrupt gets through."""
    body, span = w.network.body, piece(network_time(w.block.nbytes))
    listened = sum(len(own.listening) for own in w.network.strings)
    out = np.zeros((steps, len(body.directions) + body.channels + listened))
    force, knock, blow = pushes(w.network, w.rate, steps)
    for at in range(0, steps, span):
        here = slice(at, at + span)
        run(w.base, force[here], knock[here], blow[here], out[here])
    return out


def _heard(on: Footing, network: Network) -> slice:
    """The columns that are heard: of places on the strings, of the body, or of the force on it."""
    down, channels = len(on.body.directions), on.body.channels
    listened = sum(len(own.listening) for own in network.strings)
    if listened:
        return slice(down + channels, down + channels + listened)
    return slice(down, down + channels) if channels and not on.crystal else slice(0, down)
