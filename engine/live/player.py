"""A live session without its sound card: instruments, inlets for MIDI, and what the audio thread tells.

Everything is allocated here, once; the audio thread knows the player by the address of its table. Whoever drives it,
PortAudio or a test, calls `run_block` or hands `callback.audio` to a library.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.live import fields as x
from engine.live.inlet import let_go, send
from engine.live.stages import name_next, vacant
from engine.live.tape import Tape
from engine.synth import fields as f
from engine.synth.instrument import Instrument

Integers = NDArray[np.int64]
ALL_CHANNELS = 0xFFFF


class Gauges(NamedTuple):
    """Counts since the player was made; times in ns. fields.py says what they mean."""

    blocks: int
    lost: int
    long: int
    underflows: int
    worst: int
    worst_late: int
    busy: int
    seen: int
    events: int
    stale: int


class Player:
    """Plays one instrument, lets others ring out, and takes events from any thread."""

    def __init__(self, sample_rate: float, block_size: int, channels: int = 2, delay: int | None = None) -> None:
        self.sample_rate, self.block_size, self.channels = sample_rate, block_size, channels
        self.settings, self.numbers = np.zeros(x.X_SETTINGS, np.int64), np.zeros(x.W_NUMBERS)
        self.stages = np.zeros((x.STAGES, x.STAGE_INTS), np.int64)
        # Filled, not only reserved: the audio thread must not be the first to touch a page.
        self._journal = np.full(x.ROWS + 2 * x.JOURNAL_SIZE, 0, np.int64)
        self._log = np.full(x.ROWS + x.LOG_COLUMNS * x.LOG_SIZE, 0, np.int64)
        self._gauges = np.zeros(x.GAUGES, np.int64)
        self._mix = np.zeros(2 * x.MIXED, np.float32)
        self._inlets = [_Inlet() for _ in range(x.INLETS)]
        self._inlet_rows = np.array([inlet.addresses for inlet in self._inlets], np.int64)
        self._instruments: list[Instrument | None] = [None] * x.STAGES
        self._changing = Lock()  # instruments may be designed, and put on, in the background
        self._told: dict[str, int] = {}  # rows that each reader has seen
        self.settings[x.X_CHANNELS], self.settings[x.X_LISTEN] = channels, ALL_CHANNELS
        self.settings[x.X_PLAYED] = self.settings[x.X_NEXT] = -1
        self.settings[x.X_DELAY] = block_size if delay is None else delay
        self.numbers[[x.W_FRAME, x.W_NOMINAL]] = 1e9 / sample_rate
        inside = (self._inlet_rows, self._journal, self._log, self._gauges, self._mix)
        addresses = [a.ctypes.data for a in (self.settings, self.numbers, self.stages, *inside)]
        self._table = np.array([*addresses, 0], np.int64)
        self._tape: Tape | None = None

    @property
    def address(self) -> int:
        """The address of the player's table: all that the audio thread is given."""
        return int(self._table.ctypes.data)

    def inlet(self, number: int) -> int:
        """The address that a producer of events is given."""
        return int(self._inlet_rows[number].ctypes.data)

    def send(self, data: Sequence[int], at: int = 0, inlet: int = 0) -> bool:
        """Queue a channel message for `at` (ns of `compiled.now()`; 0: this moment); False if the inlet was full.

        A note-off or an all-sound-off is never lost. What is no channel message is ignored.
        """
        short = bool(data) and data[0] & 0xE0 == 0xC0  # program change and channel pressure have one byte of data
        if len(data) != (2 if short else 3) or not 0x80 <= data[0] < 0xF0 or not 0 <= max(data[1:]) < 0x80:
            return True
        return bool(send(self.inlet(inlet), at, data[0] | data[1] << 8 | (0 if short else data[2] << 16)))

    def let_go(self, inlet: int) -> None:
        """End everything that an inlet holds; nobody else may be sending into it."""
        let_go(self.inlet(inlet))

    def listen(self, channels: Sequence[int]) -> None:
        """Hear only these MIDI channels, 0 to 15."""
        self.settings[x.X_LISTEN] = sum(1 << channel for channel in set(channels))

    def record(self, tape: Tape) -> None:
        """Let a tape run along, from the next stream on."""
        self._tape, self._table[x.P_TAPE] = tape, tape.address

    def pause_over(self, slack: float = 0.0) -> None:
        """A stream begins: its clock is new, and a block may be `slack` seconds late before it is missed."""
        self.settings[x.X_ORIGIN] = 0
        self.numbers[x.W_SLACK] = 1e9 * slack

    @property
    def instrument(self) -> Instrument | None:
        """The instrument that new notes are played on."""
        wanted = int(self.settings[x.X_NEXT])
        return self._instruments[wanted] if wanted >= 0 else None

    def change(self, instrument: Instrument) -> bool:
        """Play this instrument from the next block on; what sounds rings out. False if all stages are still taken.

        The one that has been ringing longest is asked to leave then: try again a little later. The same if this very
        instrument still rings.
        """
        if instrument.sample_rate != self.sample_rate:
            raise ValueError(f"an instrument at {instrument.sample_rate:g} Hz for a player at {self.sample_rate:g} Hz")
        with self._changing:
            return instrument is self.instrument or self._put_on(instrument)

    def _put_on(self, instrument: Instrument) -> bool:
        self._forget_silent()
        if instrument in self._instruments:
            self.stages[self._instruments.index(instrument), x.G_CUT] = 1
            return False
        if None not in self._instruments:
            ringing = [s for s in range(x.STAGES) if self.stages[s, x.G_STATE] == x.RINGING]
            if ringing:
                self.stages[min(ringing, key=lambda s: int(self.stages[s, x.G_OFFSET])), x.G_CUT] = 1
            return False
        if instrument.clock:
            instrument.reset()  # a stage counts its samples from zero
        free = self._instruments.index(None)
        self._instruments[free] = instrument
        self.stages[free] = (x.EMPTY, instrument.address, instrument.channels, 0, 0, -1)
        name_next(self.address, free)
        return True

    def instruments(self) -> list[Instrument]:
        """Those that may sound, the one that is played first."""
        with self._changing:
            self._forget_silent()
            return sorted((i for i in self._instruments if i is not None), key=lambda i: i is not self.instrument)

    def _forget_silent(self) -> None:
        for s in range(x.STAGES):
            if vacant(self.address, s):
                self._instruments[s] = None

    @property
    def gauges(self) -> Gauges:
        """What the audio thread has counted."""
        return Gauges(*(int(value) for value in self._gauges))

    @property
    def events_lost(self) -> int:
        """Events for which an inlet had no room; the notes that they were to end have ended all the same."""
        return sum(int(inlet.held[x.H_LOST]) for inlet in self._inlets)

    def take_peak(self) -> tuple[float, float]:
        """The largest output of two channels since this was last asked."""
        left, right = self.numbers[x.W_PEAK : x.W_PEAK + 2]
        self.numbers[x.W_PEAK : x.W_PEAK + 2] = 0.0
        return float(left), float(right)

    def new_events(self, reader: str = "") -> Integers:
        """Rows of (sample, message) obeyed since this reader last asked; the oldest are missing if that is long ago."""
        return self._since(f"events {reader}", self._journal, x.JOURNAL_SIZE, 2)

    def new_blocks(self, reader: str = "") -> Integers:
        """Rows of (start, duration, frames, lateness; ns) since this reader last asked."""
        return self._since(f"blocks {reader}", self._log, x.LOG_SIZE, x.LOG_COLUMNS)

    def _since(self, name: str, array: Integers, size: int, columns: int) -> Integers:
        """The audio thread writes on while this reads: what it may have written over is left out."""
        written = int(array[x.WRITTEN])
        first = max(self._told.get(name, 0), written - size)
        self._told[name] = written
        rows = array[x.ROWS :].reshape(size, columns)[np.arange(first, written) & (size - 1)]
        return rows[max(int(array[x.WRITTEN]) - size + 1 - first, 0) :]


class _Inlet:
    """The memory of one way in."""

    def __init__(self) -> None:
        self.ring = np.full(f.R_ROWS + 2 * f.RING_SIZE, 0, np.int64)
        self.late = np.zeros(f.LATE, np.int64)
        self.held = np.zeros(x.HELD, np.int64)
        self.addresses = [array.ctypes.data for array in (self.ring, self.late, self.held)]
