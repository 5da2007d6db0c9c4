"""One of the strings that a key sounds, described: what it is, what touches it, what strikes it."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import NamedTuple

from engine.elementary import exp2
from engine.physics.excitation import EDGE, Excitation
from engine.physics.network.parts import Against, Blow, Finger, Link, PortLike, Strung, Travel
from engine.physics.problem import Pickup, Problem
from engine.preset.assembly import Blowing, Course, Exciter, Played, Plucking, Rattle
from engine.preset.playing import Tracking
from engine.synth.choral import LATER, THROWN
from engine.synth.keys import cut, of_key, struck


class Sounded(NamedTuple):
    """One of a key's strings, described. Of its hammers, number THROWN is its part's, those after it lie on it."""

    strung: Strung
    pulse: Excitation
    part: Played
    course: Course
    loose: tuple[Rattle, ...]
    bare: Strung  # with what touches it always
    retuned: float = 1.0  # times its pitch, to which it is tuned by itself
    harder: float = 1.0  # than its part's stroke, which that of its pulse is


def as_pulse(exciter: Exciter) -> Excitation:
    """Where it strikes, how strongly (N, or m/s of a hammer), and how long."""
    match exciter:
        case Blowing():
            return Excitation(exciter.position, exciter.speed)
        case Plucking():
            return Excitation(exciter.position, exciter.slip, max(exciter.duration, 1e-6))
    return exciter


def pitch_of(course: Course, hz: float) -> float:
    """Of one of a key's strings, Hz."""
    return hz * course.ratio * exp2(course.detuned / 1200.0)


def asked_of(part: Played, harder: float = 1.0) -> Problem:
    """A part's own string, what sounds it so much harder than the preset says, and where it is heard."""
    whole = part.strung.string.length
    heard = tuple(Pickup(place.at / whole) for place in part.strung.listening)
    return struck(Problem(part.strung.string, excitation=as_pulse(part.exciter), pickups=heard), harder)


def described(
    tracking: Tracking, part: Played, course: Course, asked: Problem, pitch: float, own_hz: float, harder: float = 1.0
) -> Sounded:
    """Of a pitch, and tuned to one of its own.

    Barriers are cut where a string is shortened, as those of a string by itself are (keys.py).
    """
    tuned = of_key(asked, part.keys, pitch, tracking, own_hz)
    length, pulse, ports = tuned.string.length, tuned.excitation, list[PortLike]()
    for port in part.strung.ports:
        if not isinstance(port, Against) or part.keys == "tension":
            ports.append(port)
            continue
        barrier = cut(port.barrier, length)
        if barrier is not None:
            ports.append(replace(port, barrier=barrier))
    listening = tuple(
        replace(place, at=min(place.at, (1.0 - EDGE) * length) if part.mono else there.at * length)
        for place, there in zip(part.strung.listening, tuned.pickups, strict=True)
    )  # what a finger shortens while it sounds would jump where pickups moved with it
    bare = replace(part.strung, string=tuned.string, ports=tuple(ports), listening=listening)
    at, loose = pulse.position * length, tuple(own for own in part.rattles if own.at < length)
    match part.exciter:
        case Blowing(felt=felt):
            ports.append(Blow(at, THROWN, felt, part.strung.struck))
        case Plucking() as own:
            way = Travel(own.by, 0.0, pulse.duration, inf)
            ports.append(Finger(at, own.tip, way, 1.0, own.damping, 0.0, part.strung.struck))
    ports += [Blow(own.at, THROWN + 1 + n, own.contact) for n, own in enumerate(loose)]
    if part.felt is not None:
        f = part.felt
        coming = Travel(0.0, LATER, f.duration)
        ports.append(Link(f.at * length, f.stiffness, f.resistance, f.mass, 0.0, coming))
    return Sounded(
        replace(bare, ports=tuple(ports), excitation=pulse), pulse, part, course, loose, bare, own_hz / pitch, harder
    )
