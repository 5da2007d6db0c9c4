"""A program that plays, in a process of its own: what a sound system does to it does not reach the tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import engine

ROOT = Path(engine.__file__).parent.parent
PLACES = os.pathsep.join(str(ROOT / room) for room in (".", "tests", "scripts"))

BEGINNING = """
import json, os, sys, time
from engine.errors import EngineError
from engine.live.audio.cards import cards, check, choose
from engine.live.player import Player
from engine.live.audio.stream import Stream
from engine.live.audio.watch import Watch
from engine.synth import memory
from engine.synth.instrument import Instrument

def tell(**facts):
    print(json.dumps(facts), flush=True)

def until(what, do=lambda: None, every=0.02):
    end = time.monotonic() + 30
    while not what():
        assert time.monotonic() < end, "it never happens"
        time.sleep(every)
        do()
"""


class Program:
    """It tells one line of JSON at a time, and goes on past `input()` when it is told to."""

    def __init__(self, environment: Mapping[str, str], code: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", BEGINNING + code],
            env={**environment, "PYTHONPATH": PLACES},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def told(self) -> dict[str, Any]:
        """The next line."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, self._process.communicate()[1]
        facts: dict[str, Any] = json.loads(line)
        return facts

    def go_on(self, word: str = "") -> None:
        """Let it pass an `input()`, which returns this."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()

    def ends_well(self) -> None:
        """It has come to its end by itself, and nothing was on its standard error."""
        _, errors = self._process.communicate(timeout=300)
        assert (self._process.returncode, errors) == (0, "")

    def end(self) -> None:
        """Make sure that it is gone."""
        self._process.kill()
        self._process.communicate()


@contextmanager
def program(environment: Mapping[str, str], code: str) -> Iterator[Program]:
    """A program that does not outlive the test."""
    running = Program(environment, code)
    try:
        yield running
    finally:
        running.end()
