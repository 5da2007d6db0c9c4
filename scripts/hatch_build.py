"""Hatchling's hook: a wheel brings the engine's module along, compiled for levels of processors that are common.

It takes numba, which may be missing or unable to run where a wheel is built, and some 15 s for each that is not in the
user's cache. Without it the wheel is whole: the engine compiles itself where it is first played. JAWARI_WHEEL names
other processors than the usual ones, or none; `pip wheel --no-build-isolation` in an environment with numba finds it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

VARIABLE = "JAWARI_WHEEL"
PLACE = "engine/shipped"
LONGEST = 600  # s for one of them
USUAL = "from engine.processor import usual; print(*usual())"
SHIP = "import sys; from engine.module import ship; ship(sys.argv[1])"


class ModuleHook(BuildHookInterface):  # type: ignore[type-arg,misc]
    """Adds an object file for each processor."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a wheel is packed; an editable one finds its code in the cache, as a clone does."""
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        try:
            asked = os.environ.get(VARIABLE)
            for processor in (self._python(USUAL) if asked is None else asked).split():
                self._python(SHIP, self._folder.name, JAWARI_CPU=processor)
        except (OSError, subprocess.SubprocessError) as error:
            why = (getattr(error, "stderr", "") or str(error)).strip().splitlines()[-1]
            self.app.display_warning(f"the wheel brings no machine code along, it is made where it is played: {why}")
        for file in Path(self._folder.name).glob("*.module"):
            build_data["force_include"][str(file)] = f"{PLACE}/{file.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """It is packed."""
        if version != "editable":
            self._folder.cleanup()

    def _python(self, program: str, *arguments: str, **variables: str) -> str:
        """What a program says with this tree's engine on its path."""
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments],
            env={**os.environ, "PYTHONPATH": self.root, **variables},
            cwd=self.root,
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=True,
        )
        return done.stdout
