"""Accepted values as an instrument: each string with what touches it, who plays it, and what all of them stand on."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import inf, pi, radians

from engine.errors import PhysicsError
from engine.physics.network.bodies import Plate, modes, named
from engine.physics.network.meetings import meetings
from engine.physics.network.parts import FIXED, Against, Body, Link, Listening, Plane, PortLike, Resonance, Strung
from engine.physics.problem import AT_AN_END, Contact, Problem
from engine.preset.assembly import Assembly, Blowing, Course, Exciter, Felt, Knock, Played, Plucking, Rattle
from engine.preset.build import build_problem
from engine.preset.check import Values
from engine.preset.doubts import doubt_ranges, doubt_strength
from engine.preset.kinds import HIGHEST_KEY
from engine.preset.materials import MATERIALS, tension_for, wire_elasticity
from engine.preset.network_keys import EXCITERS, HAMMER, MOST_SYMPATHETIC
from engine.preset.parameters import REGISTERS
from engine.preset.schema import KEYS, own_of
from engine.preset.scope import Scope, network_key, parts

PULSE = EXCITERS[0]
BODY_NAMES = {"body.density": "body.plate.density", "body.high": "body.plate.to", "body.shape": "body.modes"}


def build_instrument(values: Values) -> tuple[Problem | None, Assembly | None]:
    """The problem of the preset's own string, which is the first that is played; the instrument around it, if any."""
    if values.refused("strings"):
        return None, None
    scopes = [Scope(values, own) for own in parts(values)]
    problems = [build_problem(scope) for scope in scopes]
    if values.complaints or None in problems:
        return None, None
    own = next((n for n, scope in enumerate(scopes) if not scope.sympathetic), None)
    if own is None:
        values.refuse("strings", "no key plays any of them; leave sympathetic out of one")
        return None, None
    first = problems[own]
    if not network_key(values):
        return first, None
    made = [scope.attempt(partial(_strings, problem=problem)) for scope, problem in zip(scopes, problems) if problem]
    body = values.attempt(_body)
    if values.complaints or body is None or None in made:
        return None, None
    played = tuple(part for part in made if isinstance(part, Played))
    if any(part.knock for part in played) and not body.modes:
        values.refuse("knock", "there is no body to strike; add one, or leave it out", physical=True)
    sympathetic = tuple(strung for part in made if isinstance(part, tuple) for strung in part)
    if len(sympathetic) > MOST_SYMPATHETIC:
        limit = f"{len(sympathetic)} strings answer in all, and at most {MOST_SYMPATHETIC} fit"
        last = next(scope.own for scope in reversed(scopes) if scope.sympathetic)
        values.refuse(f"{last}.sympathetic", f"{limit}; leave some out", physical=True)
    crystal = values.given("pickups") and first is not None and first.pickups[0].kind in AT_AN_END
    registers = tuple(values[f"registers.{name}"] for name in REGISTERS)
    assembly = Assembly(played, sympathetic, body, values["coupling"], crystal, registers)
    if not values.complaints:
        for scope, part in zip(scopes, made):
            assert part is not None
            doubt_strength(scope, part, whole=not values.given(f"{scope.own}.played"))
        doubt_ranges(scopes, assembly)
    return first, assembly


def _strings(scope: Scope, problem: Problem) -> Played | tuple[Strung, ...]:
    """The string that keys play, or those that answer."""
    strung, rattles = _strung(scope, problem)
    if scope.sympathetic:
        _refuse_on_what_answers(scope)
        made = [_reached(scope, strung, pitch) for pitch in scope.pitches]
        for one in made:
            meetings(one)
        return tuple(made)
    low, high = 0, HIGHEST_KEY
    if scope.own:
        low, high = scope.values[f"{scope.own}.played"] or (low, high)
    felt = Felt(*(scope[f"damper.{word}"] for word in ("at", "stiffness", "resistance", "mass", "duration")))
    return Played(
        strung,
        low,
        high,
        scope["string.keys"],
        tuple(_course(scope, path) for path in scope.instances("courses")) or (Course(),),
        bool(scope.own) and scope.values[f"{scope.own}.mono"],
        _exciter(scope, problem),
        felt if scope.given("damper") else None,
        rattles,
        *_slurred(scope),
        Knock(*(scope[f"knock.{word}"] for word in ("force", "duration", "after"))) if scope.given("knock") else None,
        scope["string.tuned"] if scope.given("string.tuned") else None,
    )


def _slurred(scope: Scope) -> tuple[str, float]:
    """When and how hard a string of many frets is hammered and pulled."""
    if not scope.own:
        return Played.legato, Played.finger
    mono = scope.values[f"{scope.own}.mono"]
    for word in ("legato", "finger"):
        path = f"{scope.own}.{word}"
        if scope.values.given(path) and not mono:
            raise PhysicsError(path, scope.values[path], "is of one string with many frets", "say mono: yes")
    return scope.values[f"{scope.own}.legato"], scope.values[f"{scope.own}.finger"]


def _strung(scope: Scope, problem: Problem) -> tuple[Strung, tuple[Rattle, ...]]:
    """A string with what touches it always."""
    string, ports, rattles = problem.string, list[PortLike](), list[Rattle]()
    if problem.barrier:
        stands, friction = scope["barrier.stands"], scope["barrier.friction"]
        sides = (0.0, pi) if scope["barrier.mirrored"] else (0.0,)
        ports += [Against(problem.barrier, problem.contact, stands, side, friction) for side in sides]
    for path in scope.instances("ports"):
        _hang(scope, path, string.length, ports, rattles)
    strung = Strung(
        string,
        scope.values[f"{scope.own}.weight"] if scope.own else 1.0,
        tuple(_plane(scope, path) for path in scope.instances("planes")) or (Plane(),),
        tuple(ports),
        struck=radians(scope["excitation.angle"]),
        stretching=_elasticity(scope) if scope["string.stretching"] else 0.0,
        band=scope["string.band"] or inf,
        listening=_listening(scope, problem),
    )
    try:
        meetings(strung)
    except PhysicsError as error:
        known = "barrier.friction" if error.key == "friction" else error.key
        raise PhysicsError(known, error.value, error.limit, error.remedy) from None
    return strung, tuple(rattles)


def _listening(scope: Scope, problem: Problem) -> tuple[Listening, ...]:
    """Where pickups hear the strings that keys play; without any, the body is heard."""
    if scope.sympathetic or not scope.given("pickups"):
        return ()
    for path, pickup in zip(scope.instances("pickups"), problem.pickups):
        if pickup.kind in ("bridge_force", "air"):
            limit = "on a bridge that strings share, the body is heard, the force on it, or a place on strings"
            remedy = "take displacement, velocity or body_force, or leave pickups out"
            raise PhysicsError(f"{path}.kind", pickup.kind, limit, remedy)
        if pickup.at == 1.0:
            raise PhysicsError(f"{path}.at", 1.0, "the bridge that strings share is at 0", "move it")
        if (pickup.kind in AT_AN_END) != (problem.pickups[0].kind in AT_AN_END):
            limit = "the force on the body is heard, or places on strings, not both"
            raise PhysicsError(f"{path}.kind", pickup.kind, limit, "remove one of them")
    if problem.pickups[0].kind in AT_AN_END:
        return ()
    return tuple(Listening(pickup.at * problem.string.length, width=pickup.width) for pickup in problem.pickups)


def _hang(scope: Scope, path: str, length: float, ports: list[PortLike], rattles: list[Rattle]) -> None:
    """An item of `ports`: a link, or something loose over the string."""
    at, mass, stiffness, resistance, rattle, gap, angle = (
        scope[f"{path}.{word}"] for word in ("at", "mass", "stiffness", "resistance", "rattle", "gap", "angle")
    )
    if not 0.0 < at < 1.0:
        raise PhysicsError(f"{path}.at", at, "must lie on the string, between 0 and 1", "move it")
    if not (mass or stiffness or resistance or rattle):
        remedy = "give it a mass, a stiffness, a resistance or a rattle"
        raise PhysicsError(path, "{...}", "nothing hangs there", remedy)
    if scope.given(f"{path}.gap") and not rattle:
        raise PhysicsError(f"{path}.gap", gap, "is of a rattle, and there is none", "remove it, or add rattle:")
    if mass or stiffness or resistance:
        ports.append(Link(at * length, stiffness, resistance, mass, radians(angle)))
    if rattle:
        rattles.append(Rattle(at * length, rattle, gap))


def _plane(scope: Scope, path: str) -> Plane:
    angle, detuned, more, band = (scope[f"{path}.{word}"] for word in ("angle", "detuned", "loss", "band"))
    return Plane(radians(angle), detuned, more, band or inf)


def _course(scope: Scope, path: str) -> Course:
    ratio, detuned, onset, force, register = (
        scope[f"{path}.{word}"] for word in ("ratio", "detuned", "onset", "force", "stop")
    )
    if register and scope["exciter.kind"] == HAMMER:
        limit = "a hammer hits all strings of its key"
        raise PhysicsError(f"{path}.stop", register, limit, "leave it out, or take another exciter")
    return Course(ratio, detuned, onset, force, 1 + REGISTERS.index(register) if register else 0)


def _exciter(scope: Scope, problem: Problem) -> Exciter:
    kind, pulse = scope["exciter.kind"], problem.excitation
    if kind == PULSE:
        return pulse
    for word in ("force", "duration", "shape"):
        path = scope.path(f"excitation.{word}")
        if scope.values.given(path) and own_of(path) == own_of(scope.path("exciter.kind")):
            limit = f"is of exciter.kind: {PULSE}, and a {kind} makes its own"
            raise PhysicsError(f"excitation.{word}", scope[f"excitation.{word}"], limit, "remove it")
    if kind == HAMMER:
        felt = _law(scope, Blowing().felt, scope["exciter.hysteresis"])
        return Blowing(pulse.position, scope["exciter.mass"], scope["exciter.speed"], felt)
    by, duration, slip, damping = (scope[f"exciter.{word}"] for word in ("by", "duration", "slip", "damping"))
    return Plucking(pulse.position, by, duration, slip, _law(scope, Plucking().tip, 0.0), damping)


def _law(scope: Scope, usual: Contact, damping: float) -> Contact:
    stiffness, exponent = scope["exciter.stiffness"], scope["exciter.exponent"]
    return Contact(
        usual.stiffness if stiffness is None else stiffness, usual.exponent if exponent is None else exponent, damping
    )


def _elasticity(scope: Scope) -> float:
    """E·A of a string whose tension grows."""
    given = scope["string.elasticity"]
    if given is not None:
        return float(given)
    if not scope.given("string.diameter"):
        limit = "nothing says how the tension grows"
        raise PhysicsError("string.stretching", "yes", limit, "add elasticity, or diameter and material")
    return wire_elasticity(MATERIALS[scope["string.material"]], scope["string.diameter"])


def _reached(scope: Scope, strung: Strung, pitch: float) -> Strung:
    """A string that answers, brought to its pitch by its tension or its length."""
    s = strung.string
    if scope["string.keys"] == "tension":
        tension, limits = tension_for(pitch, s.length, s.density, s.stiffness), KEYS["string.tension"]
        if not limits.low <= tension <= limits.high:
            limit = (
                f"needs a tension of {tension:.3g} N for {pitch:.4g} Hz, outside {limits.low:g} to {limits.high:g} N"
            )
            remedy = "change the pitch, or the string's length"
            raise PhysicsError(f"{scope.own}.sympathetic", pitch, limit, remedy)
        return replace(strung, string=replace(s, tension=tension))
    length = pi / s.wavenumber_at(pitch)
    limits = KEYS["string.length"]
    if not limits.low <= length <= limits.high:
        limit = f"needs a length of {length:.3g} m for {pitch:.4g} Hz, outside {limits.low:g} to {limits.high:g} m"
        raise PhysicsError(f"{scope.own}.sympathetic", pitch, limit, "change the pitch, or the tension")
    shorter = replace(strung, string=replace(s, length=length))
    hung = tuple(
        replace(port, at=port.at * length / s.length) if isinstance(port, Link) else port for port in shorter.ports
    )
    return replace(shorter, ports=hung)


def _refuse_on_what_answers(scope: Scope) -> None:
    """Keys that say how a string is played, of one that nobody plays."""
    own = scope.own
    for word in ("played", "mono", "legato", "finger", "courses", "exciter", "knock", "damper", "excitation"):
        path = f"{own}.{word}"
        if scope.values.given(path):
            raise PhysicsError(path, "(given)", "is of strings that keys play, and these only answer", "remove it")


def _body(values: Values) -> Body:
    """What the bridge stands on."""
    given = {word for word in ("name", "scale", "weight", "modes", "plate") if values.given(f"body.{word}")}
    if "name" in given and "modes" in given:
        raise PhysicsError("body.modes", "[...]", "a body with a name has its own", "remove one of the two")
    for word in ("scale", "weight"):
        if word in given and "name" not in given:
            raise PhysicsError(f"body.{word}", values[f"body.{word}"], "is of a body with a name", "remove it")
    directions = tuple(map(radians, values["body.directions"] or (0.0,)))
    if "name" in given and len(directions) > 1:
        limit = "a body with a name moves in one direction"
        raise PhysicsError("body.directions", "[...]", limit, "give one, or list its modes")
    try:
        body = named(values["body.name"], values["body.scale"], values["body.weight"]) if "name" in given else Body()
        listed = tuple(_mode(values, path, len(directions)) for path in values.instances("body.modes"))
        above = modes(_plate(values), len(directions)) if "plate" in given else ()
        if "name" in given:  # what that weighs is said by itself
            above = tuple(replace(mode, weighed=FIXED) for mode in above)
        radiates = values["body.radiates"]
        return Body((*body.modes, *listed, *above), directions, body.radiates if radiates is None else float(radiates))
    except PhysicsError as error:
        raise PhysicsError(BODY_NAMES.get(error.key, error.key), error.value, error.limit, error.remedy) from None


def _mode(values: Values, path: str, directions: int) -> Resonance:
    frequency, quality, mass, moves, left, right, struck = (
        values[f"{path}.{word}"] for word in ("frequency", "quality", "mass", "moves", "left", "right", "struck")
    )
    shape = moves or (1.0,) * directions
    if len(shape) != directions:
        limit = f"one number for each of {directions} directions of the bridge"
        raise PhysicsError(f"{path}.moves", "[...]", limit, "give as many")
    return Resonance(frequency, quality, mass, shape, (left, right), struck)


def _plate(values: Values) -> Plate:
    density, mass, loss, low, high, seed = (
        values[f"body.plate.{word}"] for word in ("density", "mass", "loss", "from", "to", "seed")
    )
    return Plate(density, mass, loss, low, high, seed)
