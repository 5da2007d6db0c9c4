"""On what it was measured: the computer, its programs, and how much they leave to us."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np

from engine.cores import cores
from engine.profiling import clocked
from engine.versions import version_of

SPUN = 200_000_000  # ns
GAP = 10_000  # ns: more than any reading of the clock takes
LOUD = 0.01  # share of the time taken by others from which on it is worth a word
GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")


def computer() -> dict[str, str | int]:
    """What decides how fast the same code runs, and the version of the code."""
    return {
        "cpu": _cpu(),
        "cores": cores(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: version_of(name) for name in ("jawari", "numpy", "numba", "llvmlite")},
    }


def computer_line(found: dict[str, str | int]) -> str:
    """The same for a reader."""
    programs = ", ".join(f"{name} {found[name]}" for name in ("python", "numba", "numpy"))
    return f"{found['cpu']}, {found['cores']} core{'s' * (found['cores'] != 1)}, {found['system']}, {programs}"


def disturbance() -> dict[str, float]:
    """What others take of a core that does nothing but read the clock."""
    found = np.zeros(3, np.int64)
    clocked.spin(0, GAP, found)  # compiled here
    spun = clocked.spin(SPUN, GAP, found)
    times, total, longest = found.tolist()
    return {"seconds": spun * 1e-9, "times": times, "share": total / spun, "longest_us": longest * 1e-3}


def disturbance_notes(found: dict[str, float]) -> list[str]:
    """What a reader should know before reading the figures."""
    notes = []
    if found["share"] > LOUD:
        notes.append(
            f"others take {found['share']:.0%} of this core, {found['longest_us']:.0f} µs at a time at most; "
            "p50 bears it, p99.9 and max do not"
        )
    with suppress(OSError):
        governor = GOVERNOR.read_text(encoding="utf-8").strip()
        if governor != "performance":
            notes.append(f"the CPU's frequency follows its load ({governor}); set the governor to performance")
    return notes


def _cpu() -> str:
    """The processor as its maker calls it."""
    with suppress(OSError, subprocess.SubprocessError):
        if sys.platform == "darwin":
            ask = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
            return subprocess.run(ask, capture_output=True, text=True, check=True, timeout=5).stdout.strip()
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    return platform.processor() or os.environ.get("PROCESSOR_IDENTIFIER") or "unknown processor"
