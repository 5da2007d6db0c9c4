"""The editor in a process of its own, as a user has it, and what its tests ask of it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import soundfile
from numpy.typing import NDArray

import engine
from engine.preset.files import OWN_FOLDER

ROOT = Path(engine.__file__).parent.parent
PATIENCE = 90.0  # s for a first start, which compiles


class Editing:
    """The program: its address, what it has said, its end."""

    def __init__(self, folder: Path, *arguments: str, environment: Mapping[str, str] = os.environ) -> None:
        self.folder = folder
        self.presets = folder / "data" / "presets"
        self.takes = folder / "data" / "takes"
        self._said = folder / "edit-said.txt"
        self.environment = {**environment, OWN_FOLDER: str(self.presets), "PYTHONPATH": str(ROOT)}
        self._out = self._said.open("wb")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "engine.cli", "edit", "--no-browser", "--midi", "none", *arguments],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=self._out,
            stderr=self._out,
            cwd=folder,
        )
        end = time.monotonic() + PATIENCE
        while not (found := re.search(r"http://127\.0\.0\.1:(\d+)/#(\S+)", self.said)):
            assert self.process.poll() is None, self.said
            assert time.monotonic() < end, self.said
            time.sleep(0.05)
        self.address, self.port, self.token = found[0], int(found[1]), found[2]

    @property
    def said(self) -> str:
        """All of it."""
        return self._said.read_text(encoding="utf-8")

    def rendered(self, take: Path) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """What the card got of a take, from where a render of its MIDI begins, and that render."""
        out = self.folder / "again.wav"
        command = [sys.executable, "-m", "engine.cli", "render", "--midi", str(take), "--limit", "--bit-depth", "32f"]
        done = subprocess.run(
            [*command, "-o", str(out)], env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        live, rate = soundfile.read(take.with_suffix(".wav"), dtype="float32", always_2d=True)
        again, _ = soundfile.read(out, dtype="float32", always_2d=True)
        assert np.abs(live).max() > 0.01
        return live[14 if rate == 48_000 else 25 :], again  # the oversampling's filter is late, a render is not

    def end(self, how: signal.Signals = signal.SIGINT) -> int:
        """Have it end; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            return self.process.wait(20.0)
        finally:
            self.process.kill()
            self._out.close()


@contextmanager
def editing(folder: Path, *arguments: str, environment: Mapping[str, str] = os.environ) -> Iterator[Editing]:
    """A program that does not outlive its test."""
    program = Editing(folder, *arguments, environment=environment)
    try:
        yield program
    finally:
        program.end()
