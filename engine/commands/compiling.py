"""A line on the terminal while the engine is compiled: it takes a quarter of a minute, and should be seen to go on."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from engine.compiled import compilations


@contextmanager
def compiling_shown() -> Iterator[None]:
    """Within it, how far compiling is can be seen on the terminal, if there is one."""
    stream, began = sys.stderr, time.monotonic()

    def tell(count: int, more: bool, share: float) -> None:
        what = f"functions compiled: {count}" if share == 1.0 else f"compiling: {share:.0%}"
        text = f"jawari: {what}, {time.monotonic() - began:.0f} s" if more else ""
        with suppress(OSError, ValueError):  # a terminal that is gone; compiling goes on
            stream.write(f"\r{text}\x1b[K")
            stream.flush()

    if stream is None or not stream.isatty():
        yield
        return
    with compilations(tell):
        yield
