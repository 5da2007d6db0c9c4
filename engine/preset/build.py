"""Accepted values as physics: what is derived is derived here, every time, so that nothing can be stale."""

from __future__ import annotations

from functools import partial

from engine.errors import PhysicsError
from engine.physics.barrier import Barrier, Obstacles
from engine.physics.excitation import Excitation
from engine.physics.problem import AT_AN_END, Contact, Pickup, Problem
from engine.physics.string import Loss, String, require
from engine.preset.check import Values
from engine.preset.key import AUTO, Key
from engine.preset.materials import MATERIALS, steel_loss, tension_for, wire_density, wire_stiffness
from engine.preset.parameters import PARAMETERS
from engine.preset.playing import Controller
from engine.preset.profiles import SURFACES
from engine.preset.schema import CHOOSING, KEYS, TABLE
from engine.preset.scope import Scope, network_key, parts
from engine.units import QUANTITIES

_LOSS_TERMS = ("s0", "s1", "s2", "s3")
_ROUNDING = 1e-9  # metres by which a barrier may seem to leave its table


def build_problem(scope: Scope) -> Problem | None:
    """What a preset says of one string; None if anything was complained about."""
    _demand_what_is_required(scope)
    scope.attempt(_demand_a_tuned_wire)
    _refuse_keys_of_others(scope)
    string = scope.attempt(_string)
    barrier = scope.attempt(_barrier)
    contact = scope.attempt(_contact)
    excitation = scope.attempt(_excitation)
    pickups = [scope.attempt(partial(_pickup, path=path)) for path in scope.instances("pickups")]
    if scope.values.complaints or string is None or contact is None or excitation is None:
        return None
    heard = tuple(pickup for pickup in pickups if pickup) or (Pickup(),)
    problem = Problem(string, barrier, contact, excitation, heard)
    # Extents, positions and heights are judged where contact points are made; one model's points stand for both.
    scope.attempt(lambda _: problem.modal_points())
    return problem


def refuse_models(values: Values) -> None:
    """Ways of solving that do not go together."""
    if values.refused("model") or values.refused("quality"):
        return
    grid, best = values["model"] == "fd", values["quality"] == "best"
    if grid and best:
        values.refuse("quality", "is of model: modal; a grid is solved in one way, remove it")
    for path in values.instances("pickups") if grid else ():
        wide = values.given(f"{path}.width") and not values.refused(f"{path}.width") and values[f"{path}.width"] > 0.0
        far = not values.refused(f"{path}.kind") and values[f"{path}.kind"] == "air"
        if wide or far:
            values.refuse(f"{path}.{'width' if wide else 'kind'}", "is heard of modes only; take model: modal")
    said = network_key(values) if grid or best else ""
    if said and grid:
        values.refuse("model", f"fd is of a string by itself, and {said} asks for more; take modal")
    elif said:
        values.refuse("quality", f"best is of a string by itself, and {said} asks for more; remove it")


def _demand_what_is_required(scope: Scope) -> None:
    for key in TABLE:
        group, _, word = key.name.rpartition(".")
        for place in scope.instances(group) if key.required else ():
            _demand(scope, key, f"{place}.{word}")


def _demand(scope: Scope, key: Key, path: str) -> None:
    group, _, word = path.rpartition(".")
    wanted = (group == "string" or scope.given(group)) and not scope.refused(path)
    if wanted and key.profiles:
        wanted = not scope.refused("barrier.profile") and scope["barrier.profile"] in key.profiles
    if wanted and not scope.given(path):
        example = f"{word}: {QUANTITIES[key.unit][1]}" if key.kind == "number" else "it"
        scope.refuse(path, f"is required; add {example}")


def _demand_a_tuned_wire(scope: Scope) -> None:
    """Density, or diameter and material; tension, or pitch: neither too little nor too much."""
    if scope.refused("string"):
        return
    density, stiffness, diameter, material, tension, tuned = (
        scope.given(f"string.{word}") for word in ("density", "stiffness", "diameter", "material", "tension", "tuned")
    )
    if diameter != material:
        scope.refuse(f"string.{'material' if diameter else 'diameter'}", "is required beside the other one; add it")
    elif not density and not diameter:
        scope.refuse("string.density", "is required; add it, or diameter and material")
    elif density and stiffness and diameter and not scope["string.stretching"]:
        scope.refuse("string.diameter", "has no effect beside density and stiffness; remove one of the three")
    if tension and tuned and not scope.refused("string.tuned"):
        scope.refuse("string.tuned", "contradicts string.tension; keep one of them")
    reached = scope.sympathetic and scope["string.keys"] == "tension"
    if not tension and not tuned and not reached:
        scope.refuse("string.tension", "is required; add it, or tuned: with a pitch")


def _refuse_keys_of_others(scope: Scope) -> None:
    """Keys that belong to another profile or exciter than the one that was chosen."""
    for group, chooser in CHOOSING.items():
        if not scope.given(group) or scope.refused(chooser) or scope[chooser] is None:
            continue
        chosen, word = scope[chooser], chooser.rpartition(".")[2]
        for key in TABLE:
            mine = key.name.startswith(f"{group}.") and key.profiles
            if mine and chosen not in key.profiles and scope.given(key.name) and not scope.refused(key.name):
                scope.refuse(key.name, f"belongs to {word}: {' or '.join(key.profiles)}, not to {chosen}; remove it")


def _string(scope: Scope) -> String:
    length, density, stiffness = (scope[f"string.{word}"] for word in ("length", "density", "stiffness"))
    if scope.given("string.material") or scope.given("string.diameter"):
        material, diameter = MATERIALS[scope["string.material"]], scope["string.diameter"]
        density = wire_density(material, diameter) if density is None else density
        stiffness = wire_stiffness(material, diameter) if stiffness is None else stiffness
    stiffness = stiffness or 0.0
    tension = scope["string.tension"]
    if scope.given("string.tuned"):
        tension = _tension(scope["string.tuned"], length, density, stiffness)
    elif tension is None:  # of one that answers, and is reached by its tension
        tension = tension_for(scope.pitches[0], length, density, stiffness)
    string = String(length, density, tension, stiffness)
    loss = {term: scope[f"string.loss.{term}"] for term in _LOSS_TERMS if scope.given(f"string.loss.{term}")}
    return String(length, density, tension, stiffness, Loss(**loss) if loss else steel_loss(string))


def _tension(pitch: float, length: float, density: float, stiffness: float) -> float:
    tension, limits = tension_for(pitch, length, density, stiffness), KEYS["string.tension"]
    if not limits.low <= tension <= limits.high:
        limit = f"needs a tension of {tension:.3g} N, outside {limits.low:g} to {limits.high:g} N"
        raise PhysicsError("string.tuned", pitch, limit, "change the pitch, the length or the wire")
    return tension


def _barrier(scope: Scope) -> Barrier | Obstacles | None:
    if not scope.given("barrier"):
        return None
    profile, height = scope["barrier.profile"], scope["barrier.height"]
    start, stop = _extent(scope)
    if profile == "points":
        positions, heights = zip(*scope["barrier.at"], strict=True)
        for x in positions:
            if not start <= x <= stop:
                raise PhysicsError("barrier.at", x, f"lies outside the barrier, {start:g} to {stop:g} m", "move it")
        return Obstacles(positions, heights, height)
    surface = SURFACES[profile]
    made = surface.make(start, *(scope[key.name] for key in surface.keys))
    points = scope["barrier.points"]
    return Barrier(made, start, stop, None if points == AUTO else points, height)


def _extent(scope: Scope) -> tuple[float, float]:
    """From where to where: the whole string or the whole table, unless the preset says otherwise."""
    start, stop = scope["barrier.from"], scope["barrier.to"]
    if scope["barrier.profile"] != "table":
        return start, scope["string.length"] if stop is None else stop
    x = [place for place, _ in scope["barrier.table"]]
    ends = {"barrier.from": x[0], "barrier.to": x[-1]}
    for key in ends:
        if scope.given(key):
            ends[key] = scope[key]
            if not x[0] - _ROUNDING <= ends[key] <= x[-1] + _ROUNDING:
                limit = f"must lie inside the table, {x[0]:g} to {x[-1]:g} m"
                raise PhysicsError(key, ends[key], limit, "move it or extend the table")
    return ends["barrier.from"], ends["barrier.to"]


def _contact(scope: Scope) -> Contact:
    return Contact(scope["contact.stiffness"], scope["contact.exponent"], scope["contact.damping"])


def _excitation(scope: Scope) -> Excitation:
    position, force, duration, shape = (scope[f"excitation.{w}"] for w in ("position", "force", "duration", "shape"))
    return Excitation(position, force, duration, shape=shape)


def _pickup(scope: Scope, path: str) -> Pickup:
    kind, at, pan, width, distance = (scope[f"{path}.{word}"] for word in ("kind", "at", "pan", "width", "distance"))
    if kind in AT_AN_END and not scope.given(f"{path}.at"):
        at = 0.0
    if kind != "air" and scope.given(f"{path}.distance"):
        raise PhysicsError(f"{path}.distance", distance, "is of kind: air", "remove it")
    if kind == "air" and width > 0.0:
        raise PhysicsError(f"{path}.width", width, "is not of kind: air, which hears around its distance", "remove it")
    try:
        return Pickup(at, kind, pan, width, distance)
    except PhysicsError as error:
        raise PhysicsError(error.key.replace("pickups", path), error.value, error.limit, error.remedy) from None


def build_controllers(values: Values) -> tuple[Controller, ...]:
    """What the map of a preset says, item by item; what was complained about is left out."""
    found: dict[str, Controller] = {}
    for path in values.instances("map"):
        controller = values.attempt(partial(_controller, path=path))
        if controller and controller.to in found:
            values.refuse(f"{path}.to", "is moved by an item before; keep one of them")
        elif controller:
            found[controller.to] = controller
    return tuple(found.values())


def is_there(values: Values, needs: str) -> bool:
    """Whether a preset, or one of its strings, has the group without which there is nothing to move."""
    return not needs or any(Scope(values, own).given(needs) for own in parts(values))


def _controller(values: Values, path: str) -> Controller | None:
    if not all(values.given(f"{path}.{word}") for word in ("source", "to", "range")):
        return None
    source, to, (low, high) = (values[f"{path}.{word}"] for word in ("source", "to", "range"))
    parameter = PARAMETERS[to]
    if not is_there(values, parameter.needs):
        limit, remedy = f"there is no {parameter.needs} to move", f"remove it, or add a {parameter.needs}"
        raise PhysicsError(f"{path}.to", to, limit, remedy)
    if parameter.inside:
        for end in (low, high):
            require(f"{path}.range", end, above=KEYS[to].low, below=KEYS[to].high)
    return Controller(source, to, low, high)
