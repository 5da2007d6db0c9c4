"""Linking: by the system's C compiler for this machine, else by the one that ziglang brings for all of them."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from engine.errors import MissingPart
from engine.export.errors import ExportError
from engine.export.targets import System, here
from engine.printable import printable

NAMES = ("cc", "gcc", "clang")
LONGEST = 900  # s; ziglang makes the C library of a system before its first use
FLAGS = ("-std=c11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden")


def compiler(target: System) -> list[str]:
    """The words that a command begins with; who has none is told what to install."""
    found = next(filter(None, map(shutil.which, NAMES)), None) if target.name == here() else None
    if found:
        return [found]
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc", "-target", target.zig]
    own = "no C compiler is found: install one (apt install gcc libc6-dev), or" * (target.name == here())
    raise MissingPart(f"{own or f'nothing here links for {target.name}:'} pip install 'jawari[export]'")


def library(target: System, folder: Path, sources: Sequence[Path], made: Path, symbols: str) -> None:
    """A shared library of which these symbols are seen, "first; second"."""
    command = [
        *compiler(target),
        *FLAGS,
        f"-I{folder}",
        "-o",
        str(made),
        *map(str, sources),
        *_only(target, folder, symbols),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LONGEST, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ExportError(f"{command[0]}: {printable(str(error))}; the C compiler does not run") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines() or ["?"]
        raise ExportError(f"{Path(command[0]).name}: {printable(lines[0])[:300]}; the C compiler could not link it")


def _only(target: System, folder: Path, symbols: str) -> list[str]:
    """How linkers are told what is seen from outside."""
    if not target.name.startswith("linux"):
        return []  # on Windows nothing is but what says so; on macOS a library's names are its own, seen or not
    words = folder / "seen.map"
    words.write_text(f"{{ global: {symbols}; local: *; }};\n", encoding="ascii")
    # Where a library lies is asked of libdl, threads are libpthread's; newer C libraries have both within them.
    return [f"-Wl,--version-script={words}", "-lm", "-Wl,--as-needed", "-ldl", "-lpthread"]
