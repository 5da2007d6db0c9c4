"""What scripts need before the engine can be imported: an environment of their own, and parts of the system.

Only the standard library: this runs on a bare Python.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from ctypes.util import find_library
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".venv"
OLDEST = (3, 11)


def missing(modules: Sequence[str]) -> list[str]:
    """Modules that this interpreter cannot find; the project itself must be installed too."""
    absent = [name for name in modules if importlib.util.find_spec(name) is None]
    try:
        metadata.distribution("jawari")
    except metadata.PackageNotFoundError:
        absent.append("jawari")
    return absent


def run_in_environment(script: str, modules: Sequence[str], extra: str = "") -> None:
    """Return if all modules are there; else run the script in an environment that has them, and end as it ends."""
    who = Path(script).stem
    if sys.version_info < OLDEST:
        sys.exit(f"{who}: Python {'.'.join(map(str, OLDEST))} or later is needed, this is {sys.version.split()[0]}")
    absent = missing(modules)
    if not absent:
        return
    if Path(sys.prefix).resolve() == HOME.resolve():
        sys.exit(f"{who}: still missing after installing: {', '.join(absent)}; delete {HOME.name} and try again")
    python = HOME / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        print(f"{who}: making an environment of its own in {HOME.name}", flush=True)
        venv.create(HOME, with_pip=True)
    if subprocess.run(
        [python, "-c", f"import {', '.join(modules)}"], check=False, stderr=subprocess.DEVNULL
    ).returncode:
        print(f"{who}: installing what it needs there: {', '.join(modules)}", flush=True)
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--editable", f"{ROOT}{extra}"]
    if subprocess.run(install, check=False).returncode:
        sys.exit(f"{who}: packages could not be installed; is a package index within reach?")
    signal.signal(signal.SIGINT, lambda *_: None)  # the script itself tells of it
    sys.exit(subprocess.run([python, script, *sys.argv[1:]], check=False).returncode)


def install_from_system(wanted: Mapping[str, bool], why: str) -> list[str]:
    """Install Debian packages that are not there, where that needs no question; returns those still absent."""
    absent = [name for name, present in wanted.items() if not present]
    if not absent or not shutil.which("apt-get") or not hasattr(os, "geteuid") or os.geteuid() != 0:
        return absent
    print(f"installing {', '.join(absent)}: {why}", flush=True)
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    apt = ["apt-get", "-qq", "-o", "Dpkg::Use-Pty=0"]
    subprocess.run([*apt, "update"], env=quiet, check=False, stdout=subprocess.DEVNULL)
    command = [*apt, "install", "-y", "--no-install-recommends"]
    return [
        name
        for name in absent
        if subprocess.run([*command, name], env=quiet, check=False, stdout=subprocess.DEVNULL).returncode
    ]


def portaudio() -> bool:
    """Whether the library that plays sound is there; on macOS and Windows its Python package brings it."""
    return sys.platform in ("darwin", "win32") or find_library("portaudio") is not None
