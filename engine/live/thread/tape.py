"""A tape that runs along: what the sound card is given, in a ring from which another thread writes it to disk.

What finds no room is lost to the tape alone, counted, and known by its place: the sound goes on, and silence is not
invented.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.compiled import load_acquire, native, read_shared, singles, store_release, write_shared
from engine.layout import Arena, lay, seen, size_of
from engine.live.thread import memory
from engine.live.thread.memory import GAPS, tape_at
from engine.opened import address

Sound = NDArray[np.float32]
SECONDS = 10.0  # that a disk may be busy with other things


@native
def run_along(tape: int, frames: int, channels: int, out: int) -> None:
    """Copy a block onto the tape at this address, if there is one."""
    if tape == 0:
        return
    t = tape_at(tape)
    written = t.written[0]
    if t.frames - (written - load_acquire(t.read, 0)) < frames:
        lose(t, written, frames)
        return
    ring, block = t.samples, singles(out, channels * frames)
    at = channels * (written & (t.frames - 1))
    for n in range(block.size):
        ring[at] = block[n]
        at += 1
        if at == ring.size:
            at = 0
    store_release(t.written, 0, written + frames)


@native
def lose(t: memory.TapeRing, written: int, frames: int) -> None:
    """Note what is not on the tape, and where; after too many gaps the last one counts for all."""
    t.lost += frames
    gap = t.gaps[0] - 1
    if gap < 0 or (t.rows[gap, 0] != written and gap + 1 < GAPS):
        gap += 1
        t.rows[gap, 0], t.rows[gap, 1] = written, 0
    t.rows[gap, 1] += frames
    store_release(t.gaps, 0, gap + 1)


class Tape:
    """The ring, made beforehand and filled: the audio thread must not be the first to touch a page."""

    def __init__(self, sample_rate: float, channels: int, seconds: float = SECONDS) -> None:
        self.channels = channels
        frames = 1 << int(np.ceil(np.log2(max(seconds * sample_rate, 1))))
        arena = Arena()
        write = lay(
            arena, memory.TapeRing, arena.room(size_of(memory.TapeRing)), frames=frames, samples=(frames * channels,)
        )
        self._block = arena.sealed()
        write(self._block)
        self._memory = seen(memory.TapeRing, self.address, self._block)
        self._ring = self._memory.samples.reshape(frames, channels)

    @property
    def address(self) -> int:
        """For the player's memory."""
        return int(self._block.ctypes.data)

    @property
    def written(self) -> int:
        """Frames that have come so far."""
        return int(read_shared(address(self._memory.written)))

    @property
    def lost(self) -> int:
        """Frames that are not on it."""
        return int(self._memory.lost)

    @property
    def gaps(self) -> list[tuple[int, int]]:
        """Where how many frames are missing: the frame before which they should be, and their number."""
        count = read_shared(address(self._memory.gaps))
        return [(int(at), int(lost)) for at, lost in self._memory.rows[:count]]

    def new(self) -> Sound:
        """What has been recorded and not been dropped yet, as much of it as lies in one piece."""
        first, written = int(self._memory.read[0]), read_shared(address(self._memory.written))
        at = first & (len(self._ring) - 1)
        return self._ring[at : at + min(written - first, len(self._ring) - at)]

    def drop(self, frames: int) -> None:
        """These are on disk: their place is free."""
        write_shared(address(self._memory.read), int(self._memory.read[0]) + frames)
