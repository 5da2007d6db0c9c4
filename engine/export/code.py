"""The renderer and its doors as one object file for a system; made once for these sources, and kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from engine import cache, module
from engine.compiled import native
from engine.export.doors import DOORS, LEVEL
from engine.export.errors import ExportError
from engine.export.targets import System
from engine.levels import fused, separate
from engine.lowering import Door
from engine.machine_code import INTERPRETED, fingerprint

SYMBOLS = (*DOORS, LEVEL)


def renderer(target: System, tell: Callable[[str], None]) -> bytes:
    """An object file in which nothing but SYMBOLS can be called, for all processors of a system."""
    return _found([target], DOORS, tell, lambda doors: [fused(doors, module.declared, target.processors, LEVEL)])[0]


def renderers(targets: Sequence[System], doors: Mapping[str, Any], tell: Callable[[str], None]) -> list[bytes]:
    """The same for each of some systems with processors of one kind, with these doors and LEVEL."""
    aims = [target.processors[0] for target in targets]
    return _found(targets, doors, tell, lambda made: separate(made, module.declared, aims, LEVEL))


def _found(
    targets: Sequence[System],
    doors: Mapping[str, Any],
    tell: Callable[[str], None],
    make: Callable[[dict[str, Door]], list[bytes]],
) -> list[bytes]:
    """In the cache, or made now."""
    if INTERPRETED:
        raise ExportError("NUMBA_DISABLE_JIT is set, so that nothing is compiled; unset it to export")
    found = [content for target in targets if (content := cache.read(kept(target))) is not None]
    if len(found) < len(targets):
        tell(f"compiling for {targets[0].name}, once")
        found = make({symbol: Door(native(function), *how) for symbol, (function, *how) in doors.items()})
        for target, content in zip(targets, found, strict=True):
            cache.write(kept(target), content)
    return found


def kept(target: System) -> str:
    """The name under which it is in the cache: of these sources, beyond those of the engine's own module."""
    room = Path(__file__).parent
    files = [*sorted(room.rglob("doors.py")), room / "heirs.py", room / "memory.py", room.parent / "levels.py"]
    facts = b"".join(file.read_bytes() for file in files) + repr(target.processors).encode()
    return f"{fingerprint()}/export-{hashlib.sha256(facts).hexdigest()[:16]}-{target.name}"
