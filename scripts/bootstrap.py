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


def run_in_environment(
    script: str, modules: Sequence[str], extra: str = "", home: Path = HOME, how: Sequence[str] = ()
) -> None:
    """Return if all modules are there; else run the script in an environment that has them, and end as it ends.

    Another `home` than the usual one is always gone to, whatever is there already; `how` is told to pip.
    """
    who = Path(script).stem
    if sys.version_info < OLDEST:
        sys.exit(f"{who}: Python {'.'.join(map(str, OLDEST))} or later is needed, this is {sys.version.split()[0]}")
    absent, inside = missing(modules), Path(sys.prefix).resolve() == home.resolve()
    if not absent and (inside or home == HOME):
        return
    if inside:
        sys.exit(f"{who}: still missing after installing: {', '.join(absent)}; delete {home.name} and try again")
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        print(f"{who}: making an environment of its own in {home.name}", flush=True)
        venv.create(home, with_pip=True)
    if subprocess.run(
        [python, "-c", f"import {', '.join(modules)}"], check=False, stderr=subprocess.DEVNULL
    ).returncode:
        print(f"{who}: installing what it needs there: {', '.join(modules)}", flush=True)
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *how]
    install += ["--editable", f"{ROOT}{extra}"]
    if subprocess.run(install, check=False).returncode:
        sys.exit(f"{who}: packages could not be installed; is a package index within reach?")
    signal.signal(signal.SIGINT, lambda *_: None)  # the script itself tells of it
    sys.exit(subprocess.run([python, script, *sys.argv[1:]], check=False).returncode)


def floors(extra: str) -> list[str]:
    """The oldest version declared of every package that is needed, with those of `extra` and of what it names."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines, more = list(project["dependencies"]), project["optional-dependencies"]
    lines += more[extra] + [line for name in more if f"jawari[{name}]" in more[extra] for line in more[name]]
    halves = (line.partition(";") for line in lines if ">=" in line)
    return [versions.split(",")[0].replace(">=", "==") + semicolon + where for versions, semicolon, where in halves]


def absent_from_system(wanted: Mapping[str, bool]) -> list[str]:
    """Debian packages that are not there."""
    return [name for name, present in wanted.items() if not present]


def install_from_system(wanted: Mapping[str, bool], why: str) -> list[str]:
    """Install Debian packages that are not there, where that needs no question; returns those still absent."""
    absent = absent_from_system(wanted)
    if not absent or not shutil.which("apt-get") or not hasattr(os, "geteuid") or os.geteuid() != 0:
        return absent
    print(f"installing from the system, by apt-get: {', '.join(absent)} ({why})", flush=True)
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
