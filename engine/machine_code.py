"""Leaf: machine code on disk, so that it is compiled once for all installations of the same sources."""

from __future__ import annotations

import functools
import hashlib
import logging
import pickle
import platform
import re
import sys
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from engine import cache, sources
from engine.processor import COUNTER_RATE, PROCESSOR, require

MOST = "up to 30 seconds"  # that it takes to compile; half of that where two cores are free (scripts/bench_engine.py)
INTERPRETED = bool(numba.config.DISABLE_JIT)  # NUMBA_DISABLE_JIT=1: every kernel runs as plain Python


class MachineCode(_Cache):  # type: ignore[misc]
    """A function's machine code on disk, a file for each of its types.

    In place of numba's own cache, which believes what it finds, knows files by where they lie and when they were
    written, and does not see a change in a function that was imported from another file.
    """

    def __init__(self, function: Any) -> None:
        self._function = function

    @property
    def cache_path(self) -> str:
        """Where it is."""
        return str(cache.folder())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The function for these types, or None."""
        require()
        target_context.refresh()
        name = self._name(sig, target_context.codegen())
        found = cache.read(name) if name else None
        if found is None:
            return None
        try:
            types_of_it, reduced = self.unpack(found)
            if types_of_it == sig:
                return CompileResult._rebuild(target_context, *reduced)
        except Exception:  # whatever an unpickled stranger may raise
            logging.getLogger("jawari").debug("machine code of %s", self._function, exc_info=True)
        cache.discard(name)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the function for these types."""
        name = self._name(sig, data.codegen)
        if name and not data.library.has_dynamic_globals:  # addresses of this very process
            cache.write(name, self.pack(sig, data))

    def pack(self, sig: Any, data: Any) -> bytes:
        """What is kept of a function for these types."""
        whole: bytes = dumps((sig, data._reduce()))
        return whole

    def unpack(self, found: bytes) -> tuple[Any, Any]:
        """Types, and what numba makes the function from."""
        types_of_it, reduced = pickle.loads(found)
        return types_of_it, reduced

    def enable(self) -> None:
        """It always is."""

    disable = flush = enable

    def _name(self, sig: Any, codegen: Any) -> str:
        """The same for all installations of the same sources; "" for a function without a file, typed at a prompt."""
        function, digest = self._function, hashlib.sha256()
        file = Path(function.__code__.co_filename)
        if Path(__file__).parent not in file.parents:  # not in the fingerprint
            try:
                digest.update(file.read_bytes())
            except OSError:
                return ""
        closure = tuple(cell.cell_contents for cell in function.__closure__ or ())
        facts = function.__code__.co_firstlineno, function.__code__.co_code, dumps(closure), str(sig)
        digest.update(repr((*facts, codegen.magic_tuple())).encode())
        words = f"{function.__module__}.{function.__qualname__}".removeprefix("engine.")
        plain = re.sub(r"[^\w.]", "", words)[-80:]
        return f"{fingerprint()}/{plain}-{digest.hexdigest()[:20]}.nbc"


def tell_if_cold(function: str) -> None:
    """Log why a first run of these sources on this machine takes its time; `function` is "file.name", compiled last."""
    require()
    if not INTERPRETED and not any((cache.folder() / fingerprint()).glob(f"*{function}-*.nbc")):
        tell_cold()


def tell_cold() -> None:
    """Log that compiling begins, how long that may take, and whether it will again."""
    if trouble := cache.trouble():  # then what was compiled a moment ago is not found either
        cache.say(f"compiling for this machine, {MOST}, and again each time: {trouble}")
    else:
        logging.getLogger("jawari").info("compiling for this machine, once; %s", MOST)


@functools.cache
def fingerprint() -> str:
    """The folder of what is good for these sources, this numba, this interpreter and this CPU."""
    facts = [
        sources.digest(),
        numba.__version__,
        platform.python_version(),
        getattr(sys, "abiflags", ""),
        *PROCESSOR,
        str(COUNTER_RATE),
    ]
    return hashlib.sha256("\0".join(facts).encode()).hexdigest()[:20]
