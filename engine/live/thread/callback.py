"""What PortAudio and RtMidi call from their own threads: compiled code that never meets the interpreter.

Importing this compiles, or loads from the cache, everything that live play needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.compiled import DOUBLE, INT, LONG, POINTER, SIZE, address_of, called_by_c, integers, now
from engine.live.thread.block import run_block
from engine.live.thread.inlet import receive


@called_by_c(INT, POINTER, POINTER, LONG, POINTER, LONG, POINTER)
def audio(nothing: Any, out: Any, frames: Any, times: Any, flags: Any, post: Any) -> Any:
    """PortAudio's callback, told where the player's address stands; 0 means: go on.

    The time that comes with it is of a clock that Python may not know.
    """
    begun = now()
    # In compiled code signed and unsigned meet as floats.
    run_block(integers(address_of(post), 1)[0], np.int64(frames), address_of(out), np.int64(flags), begun)
    return 0


@called_by_c(None, DOUBLE, POINTER, SIZE, POINTER)
def midi(since: Any, data: Any, size: Any, inlet: Any) -> None:
    """RtMidi's callback for one message."""
    receive(address_of(inlet), address_of(data), np.int64(size))
