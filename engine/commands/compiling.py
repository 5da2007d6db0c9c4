"""A line on the terminal while the engine is compiled: it takes a quarter of a minute, and should be seen to go on."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from engine.compiled import compilations
from engine.terminal import Line


@contextmanager
def compiling_shown() -> Iterator[None]:
    """Within it, how far compiling is can be seen on the terminal, if there is one."""
    line, began = Line(sys.stderr), time.monotonic()

    def tell(count: int, more: bool, share: float) -> None:
        if more:
            what = f"functions compiled: {count}" if share == 1.0 else f"compiling: {share:.0%}"
            line.show(f"jawari: {what}, {time.monotonic() - began:.0f} s")
        else:
            line.clear()

    with compilations(tell):
        yield
