"""Leaf: how the engine's Python becomes machine code. Flags, cache and low-level instructions are named here only.

Compiled functions know no reference counts (`_nrt=False`): they can neither allocate nor pay for an atomic
increment when an array changes hands, which alone makes the modal kernel 3-5 times faster, and the audio
thread can call them without the interpreter. NaN checks stay meaningful: of `fastmath` only the flags that let
sums be reordered and multiply-adds be fused are set.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import llvmlite.binding
import numba

INTERPRETED = bool(numba.config.DISABLE_JIT)  # NUMBA_DISABLE_JIT=1: every kernel runs as plain Python

FLAGS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "boundscheck": False,
    "fastmath": {"reassoc", "nsz", "contract"},
    "_nrt": False,
}

F = TypeVar("F", bound=Callable[..., Any])


def native(function: F) -> F:
    """Compile for flat arrays: no interpreter, no allocation, cached on disk."""
    return _compile(function, cache=True)


def inlined(function: F) -> F:
    """The same for a small function that must dissolve into its caller."""
    return _compile(function, forceinline=True)


def _compile(function: F, **options: Any) -> F:
    # numba reads the cache location when it decorates: lend it ours and leave other packages theirs.
    theirs = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(cache_directory())
    try:
        return numba.njit(**FLAGS, **options)(function)  # type: ignore[no-any-return]
    finally:
        numba.config.CACHE_DIR = theirs


@cache
def cache_directory() -> Path:
    """Where machine code is kept: a folder of its own for these sources, this numba, this interpreter and this CPU.

    numba's own key does not see a change in a function imported from another file, so the sources' hash is ours.
    """
    root = Path(os.environ.get("JAWARI_CACHE_DIR") or _user_cache())
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=root):
            pass
    except OSError:
        root = Path(tempfile.gettempdir()) / "jawari-cache"
    return root / _fingerprint()


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "jawari" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "jawari"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jawari"


def _fingerprint() -> str:
    digest = hashlib.sha256()
    package = Path(__file__).parent
    for source in sorted(package.rglob("*.py")):
        digest.update(source.relative_to(package).as_posix().encode() + b"\0" + source.read_bytes() + b"\0")
    features = sorted(k for k, v in llvmlite.binding.get_host_cpu_features().items() if v)
    facts = [numba.__version__, platform.python_version(), llvmlite.binding.get_host_cpu_name(), *features]
    digest.update("\0".join(facts).encode())
    return digest.hexdigest()[:20]


@inlined
def copy(source: Any, target: Any) -> None:
    """target = source, entry by entry: a slice assignment would allocate in case they overlap."""
    for i in range(source.size):
        target[i] = source[i]
