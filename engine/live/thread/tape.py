"""A tape that runs along: what the sound card is given, in a ring from which another thread writes it to disk.

What finds no room is lost to the tape alone, counted, and known by its place: the sound goes on, and silence is not
invented.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.compiled import integers, load_acquire, native, read_shared, singles, store_release, write_shared
from engine.live.thread.fields import *

Sound = NDArray[np.float32]
SECONDS = 10.0  # that a disk may be busy with other things


@native
def run_along(tape: Any, frames: Any, channels: Any, out: Any) -> None:
    """Copy a block onto the tape at this address, if there is one."""
    if tape == 0:
        return
    t = integers(tape, TAPE)
    written = t[T_WRITTEN]
    if t[T_FRAMES] - (written - load_acquire(t, T_READ)) < frames:
        lose(t, written, frames)
        return
    size = channels * t[T_FRAMES]
    ring, block = singles(t[T_RING], size), singles(out, channels * frames)
    at = channels * (written & (t[T_FRAMES] - 1))
    for n in range(block.size):
        ring[at] = block[n]
        at += 1
        if at == size:
            at = 0
    store_release(t, T_WRITTEN, written + frames)


@native
def lose(t: Any, written: Any, frames: Any) -> None:
    """Note what is not on the tape, and where; after too many gaps the last one counts for all."""
    t[T_LOST] += frames
    gap = t[T_GAPS] - 1
    if gap < 0 or (t[T_ROWS + 2 * gap] != written and gap + 1 < GAPS):
        gap += 1
        t[T_ROWS + 2 * gap], t[T_ROWS + 2 * gap + 1] = written, 0
    t[T_ROWS + 2 * gap + 1] += frames
    store_release(t, T_GAPS, gap + 1)


class Tape:
    """The ring, made beforehand and filled: the audio thread must not be the first to touch a page."""

    def __init__(self, sample_rate: float, channels: int, seconds: float = SECONDS) -> None:
        self.channels = channels
        frames = 1 << int(np.ceil(np.log2(max(seconds * sample_rate, 1))))
        self._ring = np.full((frames, channels), 0.0, np.float32)
        self._table = np.zeros(TAPE, np.int64)
        self._table[T_RING], self._table[T_FRAMES] = self._ring.ctypes.data, frames

    @property
    def address(self) -> int:
        """For the player's table."""
        return int(self._table.ctypes.data)

    @property
    def lost(self) -> int:
        """Frames that are not on it."""
        return int(self._table[T_LOST])

    @property
    def gaps(self) -> list[tuple[int, int]]:
        """Where how many frames are missing: the frame before which they should be, and their number."""
        count = read_shared(self._cell(T_GAPS))
        return [(int(at), int(lost)) for at, lost in self._table[T_ROWS:].reshape(-1, 2)[:count]]

    def _cell(self, number: int) -> int:
        """Where a number is that the other side writes or reads."""
        return self.address + self._table.itemsize * number

    def new(self) -> Sound:
        """What has been recorded and not been dropped yet, as much of it as lies in one piece."""
        first, written = int(self._table[T_READ]), read_shared(self._cell(T_WRITTEN))
        at = first & (len(self._ring) - 1)
        return self._ring[at : at + min(written - first, len(self._ring) - at)]

    def drop(self, frames: int) -> None:
        """These are on disk: their place is free."""
        write_shared(self._cell(T_READ), int(self._table[T_READ]) + frames)
