"""A run of channel messages in a MIDI file, read by compiled code: what a long take consists of.

Whatever is not plain, or not whole, ends the run where it begins: midi_file.py, which knows what to say of it, goes on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine import messages as midi
from engine.compiled import called_by_python

AT, TICK, RUNNING, STATE = range(4)  # where the reader is in the track, and what it remembers
ROOM = 1 << 14  # messages at a time
MORE = 0x80  # of a byte of a number: another one follows, with seven bits more


class Runs:
    """Reads runs, with the memory for it."""

    def __init__(self) -> None:
        self._state = np.zeros(STATE, np.int64)
        self._ticks, self._data = np.zeros(ROOM, np.int64), np.zeros(3 * ROOM, np.uint8)

    def read(self, track: memoryview, at: int, tick: int, running: int) -> tuple[int, int, int, bytes, bytes]:
        """The run at `at`: where it ends, tick and running status there, its ticks (int64) and messages as bytes."""
        self._state[:] = at, tick, running
        count = read_run(np.frombuffer(track, np.uint8), self._state, self._ticks, self._data)
        at, tick, running = self._state.tolist()
        return at, tick, running, self._ticks[:count].tobytes(), self._data[: 3 * count].tobytes()


@called_by_python
def read_run(track: Any, state: Any, ticks: Any, data: Any) -> Any:
    """Read up to ticks.size messages, three bytes each; returns how many there were."""
    at, tick, running, count = state[AT], state[TICK], state[RUNNING], 0
    while count < ticks.size:
        next_at, wait, more = at, 0, 4  # bytes that a number may have
        while more > 0 and next_at < track.size:
            octet = int(track[next_at])
            wait, next_at, more = wait << 7 | octet & 0x7F, next_at + 1, more - 1
            if octet < MORE:
                more = -1
        if more >= 0 or next_at + 1 >= track.size:
            break
        status = int(track[next_at])
        if status & midi.STATUS_BIT:
            next_at += 1
        else:
            status = running
        end = next_at + midi.size_of(status) - 1
        if not midi.is_channel_message(status) or end > track.size:
            break
        first, second = int(track[next_at]), int(track[next_at + 1]) if end == next_at + 2 else 0
        if (first | second) & midi.STATUS_BIT:
            break
        at, tick, running = end, tick + wait, status
        ticks[count] = tick
        data[3 * count], data[3 * count + 1], data[3 * count + 2] = status, first, second
        count += 1
    state[AT], state[TICK], state[RUNNING] = at, tick, running
    return count
