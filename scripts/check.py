#!/usr/bin/env python3
"""Run every check: lint, format, types, the kernels interpreted, the tests. Ends with the test runner's summary.

    python3 scripts/check.py [ARGUMENTS FOR PYTEST]

If the packages it needs are missing, it makes an environment in .venv and installs them there first; where it may, it
installs a virtual sound card for the tests of live play as well.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from ctypes.util import find_library

from bootstrap import ROOT, install_from_system, portaudio, run_in_environment

NEEDED = (
    *("numpy", "numba", "yaml", "soundfile", "sounddevice", "matplotlib", "scipy", "mido"),
    *("pytest", "xdist", "hypothesis", "ruff", "mypy", "hatchling"),
)


def virtual_sound_card() -> None:
    """A sound server with a dummy card, PortAudio and RtMidi: what the tests of live play need besides Python."""
    wanted = {
        "jackd2": shutil.which("jackd") is not None,
        "libportaudio2": portaudio(),
        "librtmidi6": find_library("rtmidi") is not None,  # its name in Debian 12 and Ubuntu 22.04, and later
    }
    if sys.platform == "linux":
        absent = install_from_system(wanted, "a virtual sound card and real MIDI for the tests of live play")
        if absent:
            print(f"without {', '.join(absent)} some tests of live play are skipped", flush=True)


def main() -> None:
    run_in_environment(__file__, NEEDED, "[dev]")
    virtual_sound_card()
    python = [sys.executable, "-m"]
    interpreted = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    checks = [
        ("lint", [*python, "ruff", "check", "."], None),
        ("format", [*python, "ruff", "format", "--check", "."], None),
        ("types", [*python, "mypy"], None),
        ("kernels as plain Python", [*python, "pytest", "-m", "interpreted"], interpreted),
        ("tests that measure time", [*python, "pytest", "-m", "alone"], None),
        ("tests", [*python, "pytest", "-n", "auto", "-m", "not alone", *sys.argv[1:]], None),
    ]
    failed = []
    for name, command, environment in checks:
        print(f"\n== {name}", flush=True)
        if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
            failed.append(name)
    if failed:
        sys.exit(f"check: failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
