#!/usr/bin/env python3
"""Run every check: lint, format, types, the kernels interpreted, the tests. Ends with the test runner's summary.

    python3 scripts/check.py [ARGUMENTS FOR PYTEST]

If the packages it needs are missing, it makes an environment in .venv and installs them there first; where it may, it
installs a virtual sound card for the tests of live play as well.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import venv
from ctypes.util import find_library
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RTMIDI = "librtmidi6"  # of Debian 12 and Ubuntu 22.04 on
NEEDED = (
    *("numpy", "numba", "yaml", "soundfile", "sounddevice", "matplotlib", "scipy", "mido"),
    *("pytest", "xdist", "hypothesis", "ruff", "mypy", "hatchling"),
)


def own_environment() -> Path:
    """Python of the environment in .venv, made and filled if need be."""
    home = ROOT / ".venv"
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        print(f"making an environment in {home.name}", flush=True)
        venv.create(home, with_pip=True)
    print("installing the project and its developers' packages", flush=True)
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--editable", f"{ROOT}[dev]"]
    if subprocess.run(install, check=False).returncode:
        sys.exit("check: packages could not be installed; is a package index within reach?")
    return python


def virtual_sound_card() -> None:
    """What the tests of live play need besides Python: a sound server with a dummy card, PortAudio, RtMidi.

    Installed where that needs no question: by root on Debian and its like. Elsewhere those tests say why they skip.
    """
    wanted = {
        "jackd2": shutil.which("jackd"),
        "libportaudio2": find_library("portaudio"),
        RTMIDI: find_library("rtmidi"),
    }
    absent = [name for name, found in wanted.items() if not found]
    if not absent:
        return
    if not shutil.which("apt-get") or not hasattr(os, "geteuid") or os.geteuid() != 0:
        print(f"without {', '.join(absent)} some tests of live play will be skipped", flush=True)
        return
    print(f"installing {', '.join(absent)}: a virtual sound card and real MIDI for the tests of live play", flush=True)
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    apt = ["apt-get", "-qq", "-o", "Dpkg::Use-Pty=0"]
    subprocess.run([*apt, "update"], env=quiet, check=False, stdout=subprocess.DEVNULL)
    for name in absent:
        command = [*apt, "install", "-y", "--no-install-recommends", name]
        if subprocess.run(command, env=quiet, check=False, stdout=subprocess.DEVNULL).returncode:
            print(f"{name} could not be installed; tests that need it will be skipped", flush=True)


def missing() -> list[str]:
    """Needed packages that this interpreter cannot find; the project itself must be installed too."""
    absent = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    try:
        metadata.distribution("jawari")
    except metadata.PackageNotFoundError:
        absent.append("jawari")
    return absent


def main() -> None:
    virtual_sound_card()
    if missing():
        python = own_environment()
        if Path(sys.prefix).resolve() == (ROOT / ".venv").resolve():
            sys.exit(f"check: still missing after installing: {', '.join(missing())}")
        sys.exit(subprocess.run([python, __file__, *sys.argv[1:]], check=False).returncode)
    python = [sys.executable, "-m"]
    interpreted = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    checks = [
        ("lint", [*python, "ruff", "check", "."], None),
        ("format", [*python, "ruff", "format", "--check", "."], None),
        ("types", [*python, "mypy"], None),
        ("kernels as plain Python", [*python, "pytest", "-m", "interpreted"], interpreted),
        ("tests", [*python, "pytest", "-n", "auto", *sys.argv[1:]], None),
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
