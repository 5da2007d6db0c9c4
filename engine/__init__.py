"""Jawari: strings that collide with things. The public API, re-exports only."""

from engine.errors import EngineError, PhysicsError, PhysicsWarning, PresetError
from engine.preset.loader import Preset, load_preset
from engine.render import render
from engine.rendering.note import Note
from engine.simulate import Simulation, simulate
from engine.synth.errors import BusyError, CallError
from engine.synth.instrument import Instrument
from engine.versions import VERSION

__version__ = VERSION

__all__ = [
    "BusyError",
    "CallError",
    "EngineError",
    "Instrument",
    "Note",
    "PhysicsError",
    "PhysicsWarning",
    "Preset",
    "PresetError",
    "Simulation",
    "load_preset",
    "render",
    "simulate",
]
