"""Run a program on a machine that seems to have just started, or to have been up for years.

A time namespace of Linux (man 7 time_namespaces) shifts the clocks that count from the start of the machine, for a
program and all that it starts: whatever reads them or waits by them agrees. Only the standard library.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

YOUNG, YEARS = 5.0, 10 * 365 * 86_400.0  # s since the machine was started, and as many more
CLOCKS = ("boot", "ahead")


def shifted(which: str) -> list[str]:
    """What to put before a command so that it runs by the clock of this name."""
    seconds = YEARS if which == "ahead" else YOUNG - uptime()
    alone = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    offset = f"{int(seconds)}"
    return ["unshare", *alone, "--time", "--fork", f"--monotonic={offset}", f"--boottime={offset}"]


def uptime() -> float:
    """Seconds since the machine was really started, from which shifts are counted, whatever the clock here says."""
    offsets = Path("/proc/self/timens_offsets").read_text(encoding="ascii").split()
    return time.clock_gettime(time.CLOCK_BOOTTIME) - float(offsets[offsets.index("boottime") + 1])


def missing() -> str:
    """Why no clock can be shifted here, or nothing."""
    if not Path("/proc/self/timens_offsets").exists() or not shutil.which("unshare"):
        return "needs Linux and its program unshare, to shift the clock"
    done = subprocess.run([*shifted("ahead"), "true"], capture_output=True, text=True, check=False)
    return f"no clock can be shifted here: {done.stderr.strip()}" if done.returncode else ""
