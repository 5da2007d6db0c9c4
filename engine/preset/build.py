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
from engine.preset.schema import KEYS, TABLE
from engine.units import QUANTITIES

_LOSS_TERMS = ("s0", "s1", "s2", "s3")
_ROUNDING = 1e-9  # metres by which a barrier may seem to leave its table


def build_problem(values: Values) -> Problem | None:
    """The problem that a preset describes; None if anything was complained about."""
    _demand_what_is_required(values)
    _demand_a_tuned_wire(values)
    _refuse_keys_of_other_profiles(values)
    if (
        not values.refused("model")
        and not values.refused("quality")
        and (values["model"], values["quality"]) == ("fd", "best")
    ):
        values.refuse("quality", "is of model: modal; a grid is solved in one way, remove it")
    string = values.attempt(_string)
    barrier = values.attempt(_barrier)
    contact = values.attempt(_contact)
    excitation = values.attempt(_excitation)
    pickups = [values.attempt(partial(_pickup, path=path)) for path in values.instances("pickups")]
    if values.complaints or string is None or contact is None or excitation is None:
        return None
    heard = tuple(pickup for pickup in pickups if pickup) or (Pickup(),)
    problem = Problem(string, barrier, contact, excitation, heard)
    # Extents, positions and heights are judged where contact points are made; one model's points stand for both.
    values.attempt(lambda _: problem.modal_points())
    return problem


def _demand_what_is_required(values: Values) -> None:
    for key in TABLE:
        group, _, word = key.name.rpartition(".")
        for place in values.instances(group) if key.required else ():
            _demand(values, key, f"{place}.{word}")


def _demand(values: Values, key: Key, path: str) -> None:
    group, _, word = path.rpartition(".")
    wanted = (group == "string" or values.given(group)) and not values.refused(path)
    if wanted and key.profiles:
        wanted = not values.refused("barrier.profile") and values["barrier.profile"] in key.profiles
    if wanted and not values.given(path):
        example = f"{word}: {QUANTITIES[key.unit][1]}" if key.kind == "number" else "it"
        values.refuse(path, f"is required; add {example}")


def _demand_a_tuned_wire(values: Values) -> None:
    """Density, or diameter and material; tension, or pitch: neither too little nor too much."""
    if values.refused("string"):
        return
    density, stiffness, diameter, material, tension, tuned = (
        values.given(f"string.{word}") for word in ("density", "stiffness", "diameter", "material", "tension", "tuned")
    )
    if diameter != material:
        values.refuse(f"string.{'material' if diameter else 'diameter'}", "is required beside the other one; add it")
    elif not density and not diameter:
        values.refuse("string.density", "is required; add it, or diameter and material")
    elif density and stiffness and diameter:
        values.refuse("string.diameter", "has no effect beside density and stiffness; remove one of the three")
    if tension and tuned and not values.refused("string.tuned"):
        values.refuse("string.tuned", "contradicts string.tension; keep one of them")
    if not tension and not tuned:
        values.refuse("string.tension", "is required; add it, or tuned: with a pitch")


def _refuse_keys_of_other_profiles(values: Values) -> None:
    if not values.given("barrier.profile") or values.refused("barrier.profile"):
        return
    profile = values["barrier.profile"]
    for key in TABLE:
        if key.profiles and profile not in key.profiles and values.given(key.name) and not values.refused(key.name):
            values.refuse(key.name, f"belongs to profile: {' or '.join(key.profiles)}, not to {profile}; remove it")


def _string(values: Values) -> String:
    length, density, stiffness = (values[f"string.{word}"] for word in ("length", "density", "stiffness"))
    if values.given("string.material") or values.given("string.diameter"):
        material, diameter = MATERIALS[values["string.material"]], values["string.diameter"]
        density = wire_density(material, diameter) if density is None else density
        stiffness = wire_stiffness(material, diameter) if stiffness is None else stiffness
    stiffness = stiffness or 0.0
    tension = values["string.tension"]
    if values.given("string.tuned"):
        tension = _tension(values["string.tuned"], length, density, stiffness)
    string = String(length, density, tension, stiffness)
    loss = {term: values[f"string.loss.{term}"] for term in _LOSS_TERMS if values.given(f"string.loss.{term}")}
    return String(length, density, tension, stiffness, Loss(**loss) if loss else steel_loss(string))


def _tension(pitch: float, length: float, density: float, stiffness: float) -> float:
    tension, limits = tension_for(pitch, length, density, stiffness), KEYS["string.tension"]
    if not limits.low <= tension <= limits.high:
        limit = f"needs a tension of {tension:.3g} N, outside {limits.low:g} to {limits.high:g} N"
        raise PhysicsError("string.tuned", pitch, limit, "change the pitch, the length or the wire")
    return tension


def _barrier(values: Values) -> Barrier | Obstacles | None:
    if not values.given("barrier"):
        return None
    profile, height = values["barrier.profile"], values["barrier.height"]
    start, stop = _extent(values)
    if profile == "points":
        positions, heights = zip(*values["barrier.at"], strict=True)
        for x in positions:
            if not start <= x <= stop:
                raise PhysicsError("barrier.at", x, f"lies outside the barrier, {start:g} to {stop:g} m", "move it")
        return Obstacles(positions, heights, height)
    surface = SURFACES[profile]
    made = surface.make(start, *(values[key.name] for key in surface.keys))
    points = values["barrier.points"]
    return Barrier(made, start, stop, None if points == AUTO else points, height)


def _extent(values: Values) -> tuple[float, float]:
    """From where to where: the whole string or the whole table, unless the preset says otherwise."""
    start, stop = values["barrier.from"], values["barrier.to"]
    if values["barrier.profile"] != "table":
        return start, values["string.length"] if stop is None else stop
    x = [place for place, _ in values["barrier.table"]]
    ends = {"barrier.from": x[0], "barrier.to": x[-1]}
    for key in ends:
        if values.given(key):
            ends[key] = values[key]
            if not x[0] - _ROUNDING <= ends[key] <= x[-1] + _ROUNDING:
                limit = f"must lie inside the table, {x[0]:g} to {x[-1]:g} m"
                raise PhysicsError(key, ends[key], limit, "move it or extend the table")
    return ends["barrier.from"], ends["barrier.to"]


def _contact(values: Values) -> Contact:
    return Contact(values["contact.stiffness"], values["contact.exponent"], values["contact.damping"])


def _excitation(values: Values) -> Excitation:
    position, force, duration, shape = (values[f"excitation.{w}"] for w in ("position", "force", "duration", "shape"))
    return Excitation(position, force, duration, shape=shape)


def _pickup(values: Values, path: str) -> Pickup:
    kind, at, pan = (values[f"{path}.{word}"] for word in ("kind", "at", "pan"))
    if kind in AT_AN_END and not values.given(f"{path}.at"):
        at = 0.0
    try:
        return Pickup(at, kind, pan)
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


def _controller(values: Values, path: str) -> Controller | None:
    if not all(values.given(f"{path}.{word}") for word in ("source", "to", "range")):
        return None
    source, to, (low, high) = (values[f"{path}.{word}"] for word in ("source", "to", "range"))
    parameter = PARAMETERS[to]
    if parameter.needs and not values.given(parameter.needs):
        limit, remedy = f"there is no {parameter.needs} to move", f"remove it, or add a {parameter.needs}"
        raise PhysicsError(f"{path}.to", to, limit, remedy)
    if parameter.inside:
        for end in (low, high):
            require(f"{path}.range", end, above=KEYS[to].low, below=KEYS[to].high)
    return Controller(source, to, low, high)
