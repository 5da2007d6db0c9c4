"""Jawari: strings that collide with things. The public API, each name imported when it is first asked for.

So the command can listen to Ctrl-C before half a second of imports, and `import engine` takes a moment only.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing's own would be most of what is imported here
if TYPE_CHECKING:
    from typing import Any

    from engine.errors import EngineError, PhysicsError, PhysicsWarning, PresetError
    from engine.music.note import Note
    from engine.offline.render import render
    from engine.preset.loader import Preset, load_preset
    from engine.preset.rack import Rack, load_rack
    from engine.study.simulate import Simulation, simulate
    from engine.synth.errors import BusyError, CallError
    from engine.synth.instrument import Instrument

    __version__: str

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
    "Rack",
    "Simulation",
    "load_preset",
    "load_rack",
    "render",
    "simulate",
]

_HOMES = {
    "BusyError": "synth.errors",
    "CallError": "synth.errors",
    "EngineError": "errors",
    "Instrument": "synth.instrument",
    "Note": "music.note",
    "PhysicsError": "errors",
    "PhysicsWarning": "errors",
    "Preset": "preset.loader",
    "PresetError": "errors",
    "Rack": "preset.rack",
    "Simulation": "study.simulate",
    "load_preset": "preset.loader",
    "load_rack": "preset.rack",
    "render": "offline.render",
    "simulate": "study.simulate",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "__version__":
        return import_module("engine.versions").VERSION
    if name not in _HOMES:
        raise AttributeError(f"module 'engine' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"engine.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
