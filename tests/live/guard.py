"""The guard of guard.c, built: what it watches over aborts where the sound card's thread breaks a rule of real time.

JAWARI_GUARD=1 (scripts/check.py sets it) puts every program that the live tests start under it.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

ON = os.environ.get("JAWARI_GUARD") == "1"
SOURCE = Path(__file__).with_name("guard.c")
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")

# For programs: blocks so far, faults in the first and in all others, and whether the kernel watches too.
TOLD = """
import ctypes
names = ("blocks", "first", "faults", "exact")
def guard_told():
    return {name: ctypes.c_long.in_dll(ctypes.CDLL(None), f"guard_{name}").value for name in names}
"""


def missing() -> str:
    """Why there cannot be a guard here, or nothing."""
    if sys.platform != "linux" or platform.libc_ver()[0] != "glibc":
        return "the guard of the sound card's thread needs Linux and its GNU C library"
    return "" if COMPILER else "the guard of the sound card's thread needs a C compiler: apt install gcc libc6-dev"


@cache
def library() -> Path:
    """The guard, compiled for this run of the tests; the system clears the folder away."""
    built = Path(tempfile.mkdtemp(prefix="jawari-guard-")) / "guard.so"
    command = [str(COMPILER), "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", built, SOURCE, "-ldl"]
    subprocess.run(command, check=True)
    return built
