"""Where a session is shown: a panel redrawn in place on a terminal, plain lines anywhere else."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import IO

from engine.live.meter import Reading
from engine.live.screen import job_control
from engine.live.screen.news import news, status
from engine.live.screen.panel import BLOCK_CHARACTERS, Look, draw
from engine.printable import printable
from engine.terminal import bare, can_write, cells, descriptor, in_foreground, obeys_escapes, redrawn, size, write

PERIOD = 0.1  # s between drawings
CALM = 2.0  # s between plain lines about what has changed
STATUS = 10.0  # s between lines of plain status
Clock = Callable[[], float]


class Display:
    """What both have in common. A `with` block closes it."""

    def __init__(self, stream: IO[str] | None, clock: Clock = time.monotonic) -> None:
        self._stream, self._clock, self._next = stream, clock, clock()
        self._lock = threading.RLock()  # any thread may say something

    @staticmethod
    def for_stream(stream: IO[str] | None, quiet: bool = False, clock: Clock = time.monotonic) -> Display:
        """A panel if this is a terminal that can show one, else lines; when quiet, only lines about trouble."""
        if stream is not None and obeys_escapes(stream) and not quiet:
            return Panel(stream, clock)
        return Lines(stream, quiet, clock)

    @property
    def due(self) -> bool:
        """It is time for another reading."""
        return self._clock() >= self._next

    def show(self, reading: Reading) -> None:
        """Show a reading, or what is new in it."""
        raise NotImplementedError

    def say(self, text: str, problem: bool = False) -> None:
        """Write lines that stay."""
        raise NotImplementedError

    def close(self) -> None:
        """Leave the stream in order."""

    def __enter__(self) -> Display:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _wait(self) -> None:
        self._next = self._clock() + PERIOD


class Lines(Display):
    """For files, pipes and those who want it quiet: lines about what has changed and matters, free of escapes."""

    def __init__(self, stream: IO[str] | None, quiet: bool = False, clock: Clock = time.monotonic) -> None:
        super().__init__(stream, clock)
        self._quiet, self._news, self._status = quiet, clock(), clock() + STATUS
        self._before: Reading | None = None

    def show(self, reading: Reading) -> None:
        self._wait()
        if self._clock() < self._news:
            return
        self._news = self._clock() + CALM
        for text, problem in news(self._before, reading):
            self.say(text, problem)
        self._before = reading
        if self._clock() >= self._status:
            self._status = self._clock() + STATUS
            self.say(status(reading))

    def say(self, text: str, problem: bool = False) -> None:
        if self._quiet and not problem:
            return
        with self._lock:
            write(self._stream, "".join(f"{printable(line)}\n" for line in text.splitlines()))


class Panel(Display):
    """One panel at the foot of the terminal. Between frames the cursor stands at the start of the line below it."""

    def __init__(self, stream: IO[str], clock: Clock = time.monotonic) -> None:
        super().__init__(stream, clock)
        self._blocks, self._colours = can_write(stream, BLOCK_CHARACTERS), not os.environ.get("NO_COLOR")
        self._reading: Reading | None = None
        self._shown: tuple[list[str], int] = [], 0  # the lines on the screen, and the columns they were drawn for
        job_control.move_in(self)

    def show(self, reading: Reading) -> None:
        self._wait()
        with self._lock:
            self._reading = reading
            self._draw()

    def say(self, text: str, problem: bool = False) -> None:
        with self._lock:
            self._draw(text)

    def close(self) -> None:
        """Take the panel away; what was said stays."""
        job_control.move_out(self)
        with self._lock:
            self._reading = None
            self._draw()

    def leave(self) -> None:
        """The shell is going to write below the panel."""
        self._shown = [], 0

    def come_back(self) -> None:
        """Whatever is above the cursor now is not ours."""
        self._shown = [], 0

    def _draw(self, said: str = "") -> None:
        """Everything in one write, so that nothing flickers."""
        lines = [printable(line) for line in said.splitlines()]
        if not in_foreground(descriptor(self._stream)):
            self.leave()
            write(self._stream, "".join(f"{line}\n" for line in lines))
            return
        columns, rows = size(self._stream)
        look = Look(columns - 1, self._blocks, self._colours)
        panel = [] if self._reading is None else draw(self._reading, look)[: rows - 1]
        if (panel, columns) == self._shown and not lines:
            return
        # A narrower window has wrapped what was drawn for a wider one.
        up = sum(max(-(-cells(bare(line)) // columns), 1) for line in self._shown[0])
        self._shown = panel, columns  # before the write: one that Ctrl-Z interrupts is forgotten, not continued
        write(self._stream, redrawn(lines + panel, up))
