"""A live session without its sound card: instruments, inlets for MIDI, and what the audio thread tells.

Everything is allocated here, once; the audio thread knows the player by the address of its table. Whoever drives it,
PortAudio or a test, calls `run_block` or hands `callback.audio` to a library.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import aligned
from engine import messages as midi
from engine.compiled import read_shared
from engine.layout import seen, size_of
from engine.live.thread.inlet import let_go, offer_tuning, send
from engine.live.thread.memory import UNASKED, BlockLog, Journal, Pulses, Stage
from engine.live.thread.tape import Tape
from engine.opened import address
from engine.synth.capture import Watcher
from engine.synth.ensemble import Seats
from engine.synth.instrument import Instrument
from engine.synth.memory import PARTS, PLAYING
from engine.synth.mts import octets_of

Integers = NDArray[np.int64]
ALL_CHANNELS = 0xFFFF
MOST_ARRIVALS = 1 << 14  # that wait to be asked about
MOST_KEPT = 16  # instruments in memory before those that nobody plays are asked to go


class Counts(NamedTuple):
    """Counts since the player was made; times in ns. thread/memory.py says what they mean."""

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
    bent: int


class Arrival(NamedTuple):
    """A design that follows others has come: on which sample, as which part, its number, and what it is."""

    sample: int
    part: int
    heir: int
    what: object


class Player:
    """Plays an ensemble, of one instrument or of many, and takes events from any thread."""

    def __init__(
        self,
        sample_rate: float,
        block_size: int,
        channels: int = 2,
        delay: int | None = None,
        seats: Seats | None = None,
    ) -> None:
        self.sample_rate, self.block_size, self.channels = sample_rate, block_size, channels
        self.seats = seats or Seats(channels)  # who is to play what; by itself, whoever comes is played everywhere
        self._block = aligned.zeros(size_of(Stage), np.uint8)
        self.stage = seen(Stage, self.address, self._block)
        self._changing = Lock()  # instruments may be designed, and put on, in the background
        self._told: dict[str, int] = {}  # rows that each reader has seen
        s = self.stage
        s.outputs, s.listen, s.ensemble = channels, ALL_CHANNELS, self.seats.address
        s.wishes.of_channel[:] = s.wishes.unknown = UNASKED
        s.clock.delay = block_size if delay is None else delay
        s.clock.frame = s.clock.nominal = 1e9 / sample_rate
        self._tape: Tape | None = None
        self._watcher: Watcher | None = None
        self._coming: list[tuple[int, int, object]] = []  # designs that follow others: part, number, what they are
        self._come: deque[Arrival] = deque(maxlen=MOST_ARRIVALS)

    @property
    def address(self) -> int:
        """Where the player's memory is: all that the audio thread is given."""
        return int(self._block.ctypes.data)

    def inlet(self, number: int) -> int:
        """The address that a producer of events is given."""
        return address(self.stage.inlets[number])

    def send(self, data: Sequence[int], at: int = 0, inlet: int = 0) -> bool:
        """Queue a message for `at` (ns of `compiled.now()`; 0: this moment); False if the inlet was full.

        A note-off or an all-sound-off is never lost. What is neither a channel message nor a tuning is ignored.
        """
        if data and data[0] == midi.SYSEX:
            octet = octets_of(data)
            return bool(offer_tuning(self.inlet(inlet), at, octet.ctypes.data, octet.size))
        if not data or not midi.is_channel_message(data[0]) or len(data) != midi.size_of(data[0]):
            return True
        if not 0 <= max(data[1:]) < midi.STATUS_BIT:
            return True
        return bool(send(self.inlet(inlet), at, midi.packed(*data)))

    def send_exactly(self, data: Sequence[int], sample: int, inlet: int) -> bool:
        """Queue a channel message for a sample of the card's; of this inlet all messages are sent so."""
        self.stage.inlets[inlet].exact = 1
        return bool(send(self.inlet(inlet), sample, midi.packed(*data)))

    def let_go(self, inlet: int) -> None:
        """End everything that an inlet holds; nobody else may be sending into it."""
        let_go(self.inlet(inlet))

    def listen(self, channels: Sequence[int]) -> None:
        """Hear only these MIDI channels, 0 to 15."""
        self.stage.listen = sum(1 << channel for channel in set(channels))

    def record(self, tape: Tape) -> None:
        """Let a tape run along, from the next stream on."""
        self._tape, self.stage.tape = tape, tape.address

    def stop_recording(self) -> None:
        """From the next block on, no tape runs along."""
        self.stage.tape = 0

    def pause_over(self, slack: float = 0.0) -> None:
        """A stream begins: its clock is new, and a block may be `slack` seconds late before it is missed."""
        self.stage.clock.origin, self.stage.clock.slack = 0, 1e9 * slack

    @property
    def instrument(self) -> Instrument | None:
        """The instrument that was chosen last, or that began the last note."""
        seats = self.seats
        coming = np.flatnonzero(seats.desk.parts.everywhere)
        latest = int(coming[-1]) if coming.size else int(seats.desk.latest)
        begun = [number for number in sorted(seats.instruments) if number in seats.desk.routes]
        return seats.instruments.get(latest) or (seats.instruments[begun[0]] if begun else None)

    @property
    def polyphony(self) -> int:
        """Strings at a time of all instruments that notes begin on."""
        return sum(i.polyphony for n, i in self.seats.instruments.items() if n in self.seats.desk.routes)

    def change(self, instrument: Instrument) -> bool:
        """Play this instrument on all channels from the next block on; what sounds rings out.

        False if there is no room for it, or if it is just about to go: try again a little later.
        """
        self._check(instrument)
        with self._changing:
            self._forget_absent()
            here = self.seats.instruments
            number = next((n for n in range(PARTS) if here.get(n) is instrument), -1)
            if number >= 0 and self.seats.desk.parts[number].asked:
                return False
            free = next((n for n in range(PARTS) if n not in here), -1)
            if number < 0 and free < 0:
                return False
            self.seats.desk.parts.everywhere = 0  # of several wishes the last counts
            if number >= 0:
                self.seats.desk.parts[number].everywhere = 1
            else:
                self.seats.put_on(free, instrument, on_all_channels=True)
            return True

    def follow(self, instrument: Instrument, what: object = None, partial: bool = False) -> int:
        """Have all that sounds go on in another design of it from the next block on, and new notes begin there.

        The number of its part, by which `taken` and `let_go_before` know it; -1 if there is no room. `what` it is comes
        back with its arrival; a `partial` one has only the keys that sound.
        """
        self._check(instrument)
        with self._changing:
            self._note_arrivals()
            self.seats.forget_absent()
            here, desk = self.seats.instruments, self.seats.desk
            free = next((n for n in range(PARTS) if n not in here), -1)
            if free >= 0:
                desk.parts.everywhere = 0
                heir = int(desk.parts.heir.max()) + 1
                self.seats.put_on(free, instrument, on_all_channels=True, heir=heir, partial=partial)
                self._coming.append((free, heir, what))
            return free

    def arrivals(self) -> list[Arrival]:
        """The designs that have followed others since this was last asked, in the order in which they came."""
        with self._changing:
            self._note_arrivals()
            found = list(self._come)
            self._come.clear()
        return found

    def _note_arrivals(self) -> None:
        """Remember who has come, before its place is another's."""
        here, waiting = self.seats.desk.parts, []
        for number, heir, what in self._coming:
            if here[number].heir == heir and here[number].since < 0:
                waiting.append((number, heir, what))
            elif here[number].heir == heir:
                self._come.append(Arrival(int(here[number].since), number, heir, what))
        self._coming = waiting

    def place_of(self, instrument: Instrument) -> tuple[int, int]:
        """The part of a design that plays, and its number among those that followed others."""
        with self._changing:
            number = next(n for n, other in self.seats.instruments.items() if other is instrument)
            return number, int(self.seats.desk.parts[number].heir)

    def taken(self, number: int) -> bool:
        """Whether a part plays."""
        return bool(self.seats.desk.parts[number].state[0] == PLAYING)

    def let_go_before(self, number: int, but: Instrument | None = None) -> None:
        """Ask all designs before a part's to go, as soon as nobody hears them."""
        with self._changing:
            self.seats.forget_absent()
            parts = self.seats.desk.parts
            for other, instrument in self.seats.instruments.items():
                if parts[other].heir < parts[number].heir and instrument is not but:
                    self.seats.ask(other)

    def share(self, crew: int) -> None:
        """From the next block on, let the helper of the Crew at this address perform some of the voices; 0: nobody."""
        with self._changing:
            self.stage.crew = self.seats.crew = crew
            for instrument in self.seats.instruments.values():
                instrument.machine.crew = crew

    def watch(self, watcher: Watcher) -> None:
        """Let pictures be taken of what sounds."""
        self._watcher, self.stage.capture = watcher, watcher.address

    def put_on(self, number: int, instrument: Instrument) -> None:
        """Let a part of the ensemble be played, from the next block on, by the channels that wait for it."""
        self._check(instrument)
        with self._changing:
            self._forget_absent()
            self.seats.put_on(number, instrument)

    def has(self, number: int) -> bool:
        """Whether a part of the ensemble is here."""
        return number in self.seats.instruments

    def wishes(self) -> dict[int, int]:
        """Programs that were asked for and are not here yet, and their parts."""
        numbers = {int(number) for number in self.stage.wishes.of_channel if number != UNASKED}
        return {number: int(self.seats.desk.programs[number]) for number in sorted(numbers)}

    @property
    def wished(self) -> tuple[int, int]:
        """How often a program was asked for that was not here, and the last one of them that nobody knows, or -1."""
        return int(self.stage.wishes.count[0]), int(self.stage.wishes.unknown)

    def forget_unknown(self) -> None:
        """It has been told."""
        self.stage.wishes.unknown = UNASKED

    def instruments(self) -> list[Instrument]:
        """Those that may sound, the one that was chosen last first."""
        with self._changing:
            self._forget_absent()
            here = [instrument for _, instrument in sorted(self.seats.instruments.items())]
            return sorted(here, key=lambda instrument: instrument is not self.instrument)

    def _check(self, instrument: Instrument) -> None:
        if instrument.sample_rate != self.sample_rate:
            raise ValueError(f"an instrument at {instrument.sample_rate:g} Hz for a player at {self.sample_rate:g} Hz")

    def _forget_absent(self) -> None:
        """Release the memory of those that have gone; where there are many, ask those to go that nobody plays."""
        self.seats.forget_absent()
        for number in list(self.seats.instruments)[: max(len(self.seats.instruments) - MOST_KEPT, 0)]:
            self.seats.ask(number)

    @property
    def gauges(self) -> Counts:
        """What the audio thread has counted."""
        return Counts(*(int(getattr(self.stage.gauges, name)) for name in Counts._fields))

    @property
    def events_lost(self) -> int:
        """Events for which an inlet had no room; the notes that they were to end have ended all the same."""
        return int(self.stage.inlets.lost.sum())

    def take_peak(self) -> tuple[float, float]:
        """The largest sound of two channels, before the limiter, since this was last asked."""
        left, right = self.stage.peak
        self.stage.peak[:] = 0.0
        return float(left), float(right)

    def new_events(self, reader: str = "") -> Integers:
        """Rows of (sample, message) obeyed since this reader last asked; the oldest are missing if that is long ago."""
        return self._since(f"events {reader}", self.stage.journal)

    def new_pulses(self, reader: str = "") -> Iterator[tuple[int, int, int]]:
        """(inlet, ns, status): what clocks have sent since this reader last asked."""
        for inlet in np.flatnonzero(self.stage.inlets.pulses.written[:, 0]).tolist():
            for at, status in self._since(f"pulses {inlet} {reader}", self.stage.inlets[inlet].pulses).tolist():
                yield inlet, at, status

    def new_blocks(self, reader: str = "") -> Integers:
        """Rows of (start, duration, frames, lateness; ns) since this reader last asked."""
        return self._since(f"blocks {reader}", self.stage.log)

    def _since(self, name: str, book: Journal | BlockLog | Pulses) -> Integers:
        """The audio thread writes on while this reads: what it may have written over is left out."""
        written, size = read_shared(address(book.written)), len(book.rows)
        first = max(self._told.get(name, 0), written - size)
        self._told[name] = written
        rows = book.rows[np.arange(first, written) & (size - 1)]
        return rows[max(read_shared(address(book.written)) - size + 1 - first, 0) :]
