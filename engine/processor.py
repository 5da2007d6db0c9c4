"""Leaf: the processor that code is compiled for, and its clock: this machine's, or the one that JAWARI_CPU names.

All code of a process is made for the same one, by numba or as the engine's own module; so this comes before both.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding
import numba

from engine import sources
from engine.errors import SettingError

VARIABLE = "JAWARI_CPU"
# What a processor of each level can do beyond the level before (x86-64 psABI), as LLVM calls it.
LEVELS = {
    "x86-64-v2": ("cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"),
    "x86-64-v3": ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"),
    "x86-64-v4": ("avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"),
}
SHIPPED = Path(__file__).parent / "shipped"  # modules that a wheel brings along
WINDOWS = sys.platform == "win32"


class Processor(NamedTuple):
    """As LLVM names it, with what it can do beyond its name; and the system that it is in, if that is another one."""

    name: str
    features: str = ""
    triple: str = ""

    @property
    def family(self) -> str:
        """x86, arm, or what else it is called."""
        name = (self.triple or llvmlite.binding.get_process_triple()).partition("-")[0]
        return {"x86_64": "x86", "amd64": "x86", "aarch64": "arm", "arm64": "arm"}.get(name, name)

    def can(self, feature: str) -> bool:
        """Whether it is known to, by its level or its list."""
        levels = list(LEVELS)
        below = levels[: levels.index(self.name) + 1] if self.name in LEVELS else []
        return f"+{feature}" in self.features.split(",") or any(feature in LEVELS[level] for level in below)


def known() -> list[str]:
    """The levels that this machine has, the highest last."""
    if not llvmlite.binding.get_process_triple().startswith("x86_64"):
        return ["generic"]
    can, found = llvmlite.binding.get_host_cpu_features(), []
    for level, needed in LEVELS.items():
        if not all(can.get(feature) for feature in needed):
            break
        found.append(level)
    return found


def chosen(asked: str) -> Processor:
    """What JAWARI_CPU says; where it says nothing, the best that a wheel brought code for, or else this machine."""
    here = known()
    level = asked if asked in (*here, *LEVELS) else f"x86-64-{asked}"
    if level in here:
        return Processor(level)
    if level in LEVELS:
        raise SettingError(VARIABLE, asked, "this machine's processor can't run that", f"take {choices(here)}")
    if asked not in ("", "native"):
        raise SettingError(VARIABLE, asked[:40], "no such processor is known", f"take {choices(here)}")
    if not asked and SHIPPED.is_dir():
        for brought in reversed(here):
            if shipped(brought).is_file():
                return Processor(brought)
    return native()


def choices(here: list[str]) -> str:
    """What can be asked for, in words."""
    return " or ".join([", ".join(level.removeprefix("x86-64-") for level in here), "native"][not here :])


def aimed_at(context: Any) -> Processor:
    """What code is written for just now, by numba's context: numba itself writes for this process only."""
    found: Processor = getattr(context, "processor", PROCESSOR)
    return found


def usual() -> list[str]:
    """Those that a wheel is built for: what most machines in use have, and what the best have."""
    return [level for level in known() if level != "x86-64-v2"]


def native() -> Processor:
    """This machine's, unless numba was told of another."""
    name, features = numba.config.CPU_NAME, numba.config.CPU_FEATURES
    return Processor(
        name or llvmlite.binding.get_host_cpu_name(),
        llvmlite.binding.get_host_cpu_features().flatten() if features is None else features,
    )


def shipped(name: str) -> Path:
    """Where a wheel has the module that these very sources are, for such a processor on this system."""
    return SHIPPED / f"{llvmlite.binding.get_process_triple()}-{name}-{COUNTER_RATE}-{sources.digest()}.module"


def require() -> None:
    """Refuse, where it can be told, what JAWARI_CPU says."""
    if _refused is not None:
        raise _refused


def _windows_counter() -> int:
    """Ticks a second of the performance counter, which compiled code on Windows will ask for by name."""
    kernel = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined,unused-ignore]
    ticks = ctypes.c_int64()
    kernel.QueryPerformanceFrequency(ctypes.byref(ticks))
    llvmlite.binding.add_symbol(
        "QueryPerformanceCounter", ctypes.cast(kernel.QueryPerformanceCounter, ctypes.c_void_p).value
    )
    return ticks.value


COUNTER_RATE = _windows_counter() if WINDOWS else 0
_refused: SettingError | None = None
try:
    PROCESSOR = chosen(os.environ.get(VARIABLE, ""))
except SettingError as error:
    _refused, PROCESSOR = error, native()
if native() != PROCESSOR:  # before numba has made anything
    numba.config.CPU_NAME, numba.config.CPU_FEATURES = PROCESSOR.name, PROCESSOR.features
