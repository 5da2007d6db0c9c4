"""A sound card for machines that have none, as the tests want it: a JACK server, or a reason why there is none.

One at a time. A server reaches a client by a socket that is named after the client and the user, not after the server:
a second "keys" or "PortAudio" of the same user, in another server, takes the first one's socket away, and one of the
two is refused. So one of pytest-xdist's workers runs all of these tests (conftest.py), and a lock keeps other runs out.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import virtual_card
from numpy.typing import NDArray
from virtual_card import Server, missing, wait_for

if sys.platform != "win32":
    import fcntl

__all__ = ["MISSING", "Server", "alone", "jack_server", "needs_jack", "read_recording", "wait_for"]

MISSING = missing()
PATIENCE = 600.0  # s in which another run's module is through
needs_jack = pytest.mark.skipif(bool(MISSING), reason=MISSING)


@contextmanager
def alone() -> Iterator[None]:
    """Nobody else has a server that tests play on."""
    assert sys.platform != "win32"
    with (Path(tempfile.gettempdir()) / f"jawari-jack-tests-{os.getuid()}.lock").open("w") as lock:

        def taken() -> bool:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True

        wait_for(taken, "another run's JACK server goes", PATIENCE)
        yield


@contextmanager
def jack_server(folder: Path, **how: Any) -> Iterator[Server]:
    """A server that is up, and gone afterwards."""
    with alone(), virtual_card.jack_server(folder, **how) as server:
        yield server


def read_recording(path: Path, channels: int = 2) -> NDArray[np.int32]:
    """Whole numbers of 24 bits, [frames, channels]. When jack_rec is told to end, it leaves the file's header blank."""
    file = path.read_bytes()
    octets = np.frombuffer(file, np.uint8, offset=file.index(b"data") + 8)
    octets = octets[: octets.size - octets.size % (3 * channels)].reshape(-1, channels, 3)
    padded = np.concatenate([np.zeros_like(octets[..., :1]), octets], axis=-1)
    return np.ascontiguousarray(padded).view("<i4")[..., 0] >> 8
