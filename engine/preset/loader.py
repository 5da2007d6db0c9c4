"""A preset from a shipped name, a file or a dict: read, overridden, checked, derived; all its errors at once."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from shlex import quote
from typing import Any

from engine.errors import PhysicsError, PhysicsWarning, PresetError
from engine.physics.problem import Problem
from engine.preset.assemble import build_instrument
from engine.preset.assembly import Assembly
from engine.preset.build import build_controllers, refuse_models
from engine.preset.check import Values
from engine.preset.circuit import USUAL, Circuit
from engine.preset.complaints import Complaints, Place, shown
from engine.preset.document import Node, read_object, read_yaml
from engine.preset.drone import Drone
from engine.preset.files import MAX_BYTES, known, shipped
from engine.preset.overrides import PLACE, Overrides, apply_overrides
from engine.preset.playing import HEARD, Controller, Tracking, Velocity
from engine.preset.room import Room
from engine.preset.schema import TABLE
from engine.preset.scope import Scope, parts
from engine.preset.strum import Strum
from engine.preset.tuning import Tuning, load_tuning
from engine.preset.voicing import Voicing
from engine.reading import MIDI_SUFFIXES, read_text
from engine.units import key_to_note


@dataclass(frozen=True)
class Preset:
    """An instrument's description, in SI units; `source` says where it came from."""

    name: str
    about: str
    model: str
    quality: str
    keys: str
    oversample: int
    polyphony: int
    problem: Problem
    gain: float  # dB
    release: float
    tuning: Tuning
    velocity: Velocity
    tracking: Tracking
    controllers: tuple[Controller, ...]
    phrase: str
    assembly: Assembly | None = None  # more than one string a key, or what they stand on
    source: str = field(default="preset", compare=False)
    family: str = ""  # what it is listed among
    tags: tuple[str, ...] = ()  # and found by
    room: Room | None = None  # around the instrument, outside its physics
    circuit: Circuit | None = None  # behind its pickups
    drone: Drone | None = None  # what it plays by itself
    intonation: str = HEARD  # what is brought to the pitch
    bend: float = 0.0  # cents by which all strings sound higher
    strum: Strum | None = None  # how a hand strikes chords; None: as keys come
    tuned: float | None = None  # the pitch (Hz) that its string's tension follows from, if that was not given
    voicing: Voicing = field(default_factory=Voicing)  # how much harder each key is struck
    compass: tuple[int, int] | None = None  # the lowest and the highest key that it has; None: all that it plays
    own_keys: tuple[tuple[str, ...], ...] = ()  # of each of its `strings` that is played what is not as is said for all
    answering_keys: tuple[tuple[str, ...], ...] = ()  # and of each that answers

    def __repr__(self) -> str:
        s = self.problem.string
        string = f"string of {s.length:.4g} m, {s.tension:.4g} N, {s.pitch:.4g} Hz"
        return (
            f"<Preset {self.name}: {self.model} ×{self.oversample}, {string}, {self.polyphony} voices; {self.source}>"
        )


def load_preset(
    source: str | os.PathLike[str] | Mapping[str, Any], overrides: Overrides = None, given_at: Place | None = None
) -> Preset:
    """The preset of a shipped name ("sitar"), a YAML file or a dict, with single values overridden.

    Overrides are a mapping, or "key=value" texts such as "string.length=60 cm" or "pickups.0.at=0.2"; `given_at` is
    where they stand, if that is a file. A PresetError holds everything that is wrong, a line each.
    """
    complaints = Complaints()
    root, folder = _read(source, complaints)
    apply_overrides(root, overrides, complaints, given_at or PLACE)
    return _built(root, folder, complaints)[0]


def load_text(text: str, name: str, folder: Path | None = None) -> tuple[Preset, Values]:
    """The preset that a text describes, which is or will be the file `name` in `folder`; and its values, key by key."""
    complaints = Complaints()
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        complaints.fatal(Place(name), f"has more than {MAX_BYTES:,} bytes; shorten it")
    return _built(read_yaml(text, name, complaints), folder, complaints)


def _built(root: Node, folder: Path | None, complaints: Complaints) -> tuple[Preset, Values]:
    """What a tree describes, once all of it has been checked."""
    values = Values(root, folder, complaints)
    refuse_models(values)
    problem, assembly = build_instrument(values)
    controllers = build_controllers(values)
    complaints.raise_if_any()
    room, circuit, drone = _room(values), values.attempt(_circuit), _drone(values)
    if assembly is not None:
        _refuse_beyond(values, assembly)
    complaints.raise_if_any()
    for doubt in values.doubts:
        warnings.warn(doubt, PhysicsWarning, stacklevel=3)
    assert problem is not None  # there was nothing to complain about
    scopes = [Scope(values, part) for part in parts(values)]
    own = scopes[0]
    preset = Preset(
        name=values["name"],
        about=values["about"],
        model=values["model"],
        quality=values["quality"],
        keys=assembly.played[0].keys if assembly else values["string.keys"],
        oversample=values["oversample"],
        polyphony=values["polyphony"],
        problem=problem,
        gain=values["gain"],
        release=values["release"],
        tuning=values["tuning"] if values.given("tuning") else load_tuning(),
        velocity=Velocity(values["velocity.force"], values["velocity.duration"]),
        tracking=Tracking(*(values[f"tracking.{word}"] for word in vars(Tracking()))),
        controllers=controllers,
        phrase=values["phrase"],
        assembly=assembly,
        source=root.place.name,
        family=values["family"],
        tags=values["tags"] or (),
        room=room,
        circuit=circuit,
        drone=drone,
        intonation=values["intonation"],
        bend=values["bend"],
        strum=_strum(values),
        tuned=own["string.tuned"] if own.given("string.tuned") else None,
        voicing=Voicing(values["voicing"] or ()),
        compass=values["compass"],
        own_keys=tuple(scope.own_keys for scope in scopes if assembly and not scope.sympathetic),
        answering_keys=tuple(scope.own_keys for scope in scopes if assembly and scope.sympathetic),
    )
    return preset, values


def _refuse_beyond(values: Values, assembly: Assembly) -> None:
    """A compass that begins or ends where no string is played."""
    for key in () if values.refused("compass") else values["compass"] or ():
        if not assembly.places(key):
            values.refuse("compass", f"ends at {key_to_note(key)}, which plays no string; take keys of strings.played")
            return


def _room(values: Values) -> Room | None:
    """None where nothing of it would be heard."""
    if not values.given("room") or values["room.share"] == 0.0:
        return None
    room = Room(*(values[f"room.{word}"] for word in ("share", "decay", "size")))
    if room.decay < room.across:
        way = f"{1e3 * room.across:.3g} ms across {room.size:g} m"
        values.doubt("room.decay", f"sound takes {way}, and hardly comes back; lengthen it, or take a smaller room")
    return room


def _circuit(values: Values) -> Circuit | None:
    """Refused are keys of the other kind, and a kind that is not told what it needs."""
    if not values.given("circuit"):
        return None
    kind = values["circuit.kind"]
    for key in TABLE:
        if key.name.startswith("circuit.") and key.profiles and kind not in key.profiles and values.given(key.name):
            raise PhysicsError(key.name, values[key.name], f"is of kind: {key.profiles[0]}", "remove it")
    given = {word: values[f"circuit.{word}"] for word in vars(USUAL[kind]) if values.given(f"circuit.{word}")}
    return replace(USUAL[kind], **given)


def _drone(values: Values) -> Drone | None:
    if not values.given("drone"):
        return None
    words = ("order", "tempo", "swing", "spread", "loose", "velocity")
    return Drone(*(values[f"drone.{word}"] for word in words))


def _strum(values: Values) -> Strum | None:
    if not values.given("strum"):
        return None
    return Strum(*(values[f"strum.{word}"] for word in ("spread", "window", "order", "accent")))


def _read(source: object, complaints: Complaints) -> tuple[Node, Path | None]:
    """The tree of a source, and the folder of its file."""
    if isinstance(source, Mapping):
        return read_object(source, "preset", complaints), None
    if not isinstance(source, str | os.PathLike):
        complaints.fatal(Place("preset"), f"{shown(source)} is no preset; give a shipped name, a path or a dict")
    name = os.fsdecode(source)
    if name.lower().endswith(MIDI_SUFFIXES):
        complaints.fatal(
            Place(name), f"is notes, not a preset to play them on; jawari render PRESET --midi {shown(quote(name))}"
        )
    path = Path(name)
    if isinstance(source, str):
        found = locate(source, complaints, Place("preset"))
        complaints.raise_if_any()
        path = found or path
    try:
        text = read_text(path, MAX_BYTES, PresetError)
    except PresetError as error:
        complaints.fatal(Place(str(path)), str(error))
    return read_yaml(text, str(path), complaints), path.parent


def locate(source: str, complaints: Complaints, place: Place) -> Path | None:
    """A text with a folder or a suffix of YAML is a path, any other a preset's name: None if there is none of it."""
    if "/" in source or os.sep in source or source.lower().endswith((".yaml", ".yml")):
        return Path(source)
    presets = known()
    if source not in presets:
        close = get_close_matches(source[:100].lower(), presets, n=1)
        hint = f"did you mean {shown(close[0])}?" if close else "choose one, or name a file that ends in .yaml"
        own = [name for name in presets if name not in shipped()]
        there = (", ".join(shipped()) or "none") + (f"; your own: {shown(', '.join(own))}" if own else "")
        complaints.add(place, f"{shown(source)} is not shipped; {hint} (shipped: {there})")
        return None
    return presets[source]
