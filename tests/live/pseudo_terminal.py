"""Both ends of a terminal that nobody sits at."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="this system has no pseudo-terminals")


@contextmanager
def terminal() -> Iterator[tuple[int, Any]]:
    """Our end of a new terminal, and the other end as a stream."""
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "r", encoding="utf-8") as stream:
        yield ours, stream
    os.close(ours)
