"""The renderer and its doors as one object file for a system; made once for these sources, and kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from engine import cache, module
from engine.compiled import native
from engine.export.doors import DOORS, LEVEL
from engine.export.errors import ExportError
from engine.export.targets import System
from engine.levels import fused
from engine.lowering import Door
from engine.machine_code import INTERPRETED, fingerprint

SYMBOLS = (*DOORS, LEVEL)


def renderer(target: System, tell: Callable[[str], None]) -> bytes:
    """An object file in which nothing but SYMBOLS can be called."""
    if INTERPRETED:
        raise ExportError("NUMBA_DISABLE_JIT is set, so that nothing is compiled; unset it to export")
    name = kept(target)
    found = cache.read(name)
    if found is None:
        tell(f"compiling for {target.name}, once")
        doors = {symbol: Door(native(function), kinds, result) for symbol, (function, kinds, result) in DOORS.items()}
        found = fused(doors, module.declared, target.processors, LEVEL)
        cache.write(name, found)
    return found


def kept(target: System) -> str:
    """The name under which it is in the cache: of these sources, beyond those of the engine's own module."""
    room = Path(__file__).parent
    files = [room / "doors.py", room / "memory.py", room.parent / "levels.py"]
    facts = b"".join(file.read_bytes() for file in files) + repr(target.processors).encode()
    return f"{fingerprint()}/export-{hashlib.sha256(facts).hexdigest()[:16]}-{target.name}"
