"""A line on the terminal that grows while sound is made; silent where nobody watches."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TextIO

from engine.terminal import Line

_WIDTH = 24
_REFRESH = 0.1  # s


class Progress:
    """A bar in a `with` block: how much of `total` seconds of sound is made, and how much faster than real time."""

    def __init__(self, label: str, total: float, stream: TextIO | None = None) -> None:
        self._label, self._total = label, total
        self._line = Line(sys.stderr if stream is None else stream)
        self._made, self._first, self._began, self._shown = 0.0, 0.0, time.perf_counter(), 0.0

    def __enter__(self) -> Progress:
        self._line.show(f"{self._label} is being set up")
        return self

    def advance(self, seconds: float) -> None:
        """So much more sound is made."""
        now = time.perf_counter()
        if not self._made:  # the speed is counted from the first sound on
            self._first, self._began = seconds, now
        self._made += seconds
        if now - self._shown >= _REFRESH:
            self._shown = now
            self._line.show(self.line(now))

    def line(self, now: float) -> str:
        """What the terminal shows at a time of the performance counter."""
        part = min(1.0, self._made / self._total) if self._total > 0.0 else 1.0
        bar = ("#" * round(_WIDTH * part)).ljust(_WIDTH, ".")
        state = f"{part:4.0%}" if part < 1.0 else "fading"
        speed = (self._made - self._first) / max(now - self._began, 1e-9)
        return f"{self._label} [{bar}] {state}  {speed:.1f}x real time"

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._line.clear()
