"""A line on the terminal while the engine is compiled: it takes about half a minute, and should be seen to go on."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from engine.compiled import compilations
from engine.terminal import Line


@contextmanager
def compiling_shown() -> Iterator[None]:
    """Within it, what is compiled is counted on the terminal, if there is one."""
    line, began = Line(sys.stderr), time.monotonic()

    def tell(count: int, more: bool) -> None:
        if more:
            line.show(f"jawari: functions compiled: {count}, {time.monotonic() - began:.0f} s")
        else:
            line.clear()

    with compilations(tell):
        yield
