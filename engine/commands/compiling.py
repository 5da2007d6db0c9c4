"""A line on the terminal while the engine is compiled: it takes about half a minute, and should be seen to go on."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from engine.compiled import compilations


@contextmanager
def compiling_shown() -> Iterator[None]:
    """Within it, what is compiled is counted on the terminal, if there is one."""
    stream, began = sys.stderr, time.monotonic()

    def tell(count: int, more: bool) -> None:
        text = f"jawari: functions compiled: {count}, {time.monotonic() - began:.0f} s" if more else ""
        with suppress(OSError, ValueError):  # a terminal that is gone; compiling goes on
            stream.write(f"\r{text}\x1b[K")
            stream.flush()

    if stream is None or not stream.isatty():
        yield
        return
    with compilations(tell):
        yield
