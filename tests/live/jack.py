"""A sound card for machines that have none, as the tests want it: a JACK server, or a reason why there is none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from virtual_card import Server, jack_server, missing, wait_for

__all__ = ["MISSING", "Server", "jack_server", "needs_jack", "read_recording", "wait_for"]

MISSING = missing()
needs_jack = pytest.mark.skipif(bool(MISSING), reason=MISSING)


def read_recording(path: Path, channels: int = 2) -> NDArray[np.int32]:
    """Whole numbers of 24 bits, [frames, channels]. When jack_rec is told to end, it leaves the file's header blank."""
    file = path.read_bytes()
    octets = np.frombuffer(file, np.uint8, offset=file.index(b"data") + 8)
    octets = octets[: octets.size - octets.size % (3 * channels)].reshape(-1, channels, 3)
    padded = np.concatenate([np.zeros_like(octets[..., :1]), octets], axis=-1)
    return np.ascontiguousarray(padded).view("<i4")[..., 0] >> 8
