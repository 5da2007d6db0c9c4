"""Silence for libraries that write to the terminal behind Python's back: ALSA, JACK and RtMidi are talkative."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def hushed() -> Iterator[None]:
    """Nothing that C code writes to stderr in here is seen. Concerns the whole process, so be brief."""
    try:
        kept = os.dup(2)
    except OSError:  # there is no stderr
        yield
        return
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
