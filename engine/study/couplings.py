"""What follows from an instrument of several strings: how strongly each moves the body, what each part costs."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import inf, pi, sqrt

import numpy as np

from engine.physics.designing import BAND
from engine.physics.network.bodies import playable
from engine.physics.network.parts import Body, Network, Strung, seen_from
from engine.physics.network.stepping import run
from engine.physics.network.weaving import weave
from engine.preset.assembly import Assembly
from engine.preset.loader import Preset
from engine.study.ensemble import ensemble
from engine.study.played import LOUD, nearest_key
from engine.units import decay_to_t60, hz_to_key, key_to_note

_STEPS = 1024  # of a call that is timed
_TIMED = 0.03  # s


@dataclass(frozen=True)
class Standing:
    """A string on the body: how much its end moves the bridge, and what that does to its first partial.

    `mobility` is Z |Y|, the string's impedance times the body's mobility at that pitch: 0 of a wall, and from some
    hundredths on the two are one. `bend` is by how much the body detunes the partial.
    """

    name: str
    played: str  # by which keys; "" where it answers
    tension: float  # N
    impedance: float  # kg/s
    mobility: float
    share: float  # of the body's mass at the bridge, the string's
    alone: float  # T60 of the first partial, s
    coupled: float
    bend: float  # cents
    stretching: bool


@dataclass(frozen=True)
class PartCosts:
    """Seconds a sample, measured here and now as a network of its own: what answers, the body, one key's strings."""

    key: str
    strings: float
    sympathetic: float
    body: float


@dataclass(frozen=True)
class Instrumental:
    """An instrument's derived quantities."""

    assembly: Assembly
    modes: int  # of the body that the rate has room for
    strings: tuple[Standing, ...]
    costs: PartCosts


def instrumental(preset: Preset, assembly: Assembly, sample_rate: float) -> Instrumental:
    """Of an instrument at a sample rate."""
    rate = sample_rate * preset.oversample
    body = playable(assembly.body, rate)
    found = []
    for part in assembly.played:
        low, high = key_to_note(part.lowest), key_to_note(part.highest)
        found.append(standing(part.strung, body, low if low == high else f"{low}-{high}"))
    found += [standing(strung, body, "") for strung in assembly.sympathetic]
    return Instrumental(assembly, len(body.modes), tuple(found), costs(preset, assembly, rate))


def mobility(body: Body, angle: float, frequency: float) -> complex:
    """A body's mobility (s/kg) at the bridge in a direction: sum of phi^2 s / M (s^2 + s w/Q + w^2)."""
    s, total = 2j * pi * frequency, 0j
    for mode in body.modes:
        own = 2.0 * pi * mode.frequency
        moved = sum(share * seen_from(angle, d) for share, d in zip(mode.shape, body.directions))
        total += moved * moved * s / (mode.mass * (s * s + s * own / mode.quality + own * own))
    return total


def standing(strung: Strung, body: Body, played: str) -> Standing:
    """A pole s of a string on a bridge goes to s - a^2 (T/L) Y(s), to the first order in Y."""
    s = strung.string
    first = s.pitch * sqrt(1.0 + s.inharmonicity)
    y = strung.weight * strung.weight * mobility(body, strung.planes[0].angle, first)
    added, own = s.tension / s.length * y, float(s.loss.rate(pi / s.length))
    masses = [mode.mass for mode in body.modes]
    return Standing(
        name=key_to_note(round(hz_to_key(first))),
        played=played,
        tension=s.tension,
        impedance=sqrt(s.tension * s.density),
        mobility=sqrt(s.tension * s.density) * abs(y),
        share=s.density * s.length / min(masses) if masses else 0.0,
        alone=decay_to_t60(own) if own > 0.0 else inf,
        coupled=decay_to_t60(own + added.real) if own + added.real > 0.0 else inf,
        bend=-1200.0 * added.imag / (2.0 * pi * first) / float(np.log(2.0)),
        stretching=strung.stretching > 0.0,
    )


def costs(preset: Preset, assembly: Assembly, rate: float) -> PartCosts:
    """Of the key next to the preset's own string: the network with everything, without what answers, without a body."""
    key = nearest_key(preset)
    if not any(part.lowest <= key <= part.highest for part in assembly.played):
        key = assembly.played[0].lowest
    two_way = replace(assembly, coupling="two-way")
    whole = ensemble(preset, two_way, key, LOUD, rate).network
    some = replace(whole, strings=whole.strings[: len(whole.strings) - len(assembly.sympathetic)])
    bare = replace(some, body=Body(directions=some.body.directions))
    all_of_it, without, alone = (seconds_a_step(network, rate) * preset.oversample for network in (whole, some, bare))
    return PartCosts(key_to_note(key), alone, max(all_of_it - without, 0.0), max(without - alone, 0.0))


def seconds_a_step(network: Network, rate: float) -> float:
    """What a step of a network costs here and now: the best of some calls."""
    w = weave(network, rate, min(BAND, 0.45 * rate))
    force, knock = np.zeros((_STEPS, len(network.strings))), np.zeros((_STEPS, w.island.bridge.now.size))
    blow = np.zeros(_STEPS)
    listened = sum(len(strung.listening) for strung in network.strings)
    out = np.zeros((_STEPS, knock.shape[1] + w.island.bridge.heard.shape[1] + listened))
    force[:100] = 0.1
    took: list[float] = []
    until = time.perf_counter() + _TIMED
    while len(took) < 2 or time.perf_counter() < until:
        before = time.perf_counter()
        run(w.base, force, knock, blow, out)
        took.append(time.perf_counter() - before)
        force[:] = 0.0
    return min(took[1:]) / _STEPS
