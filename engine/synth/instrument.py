"""A playable instrument: a preset at a sample rate; MIDI messages go in, blocks of sound come out."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import module
from engine.files.target import whole_file
from engine.preset.arguments import Quantity, rate_of, tuning_of, whole, within
from engine.preset.loader import Preset, load_preset
from engine.preset.tuning import Tuning
from engine.printable import printable
from engine.synth import decimate, room
from engine.synth.admission import Message, Packed, admitted, in_order, moment
from engine.synth.bank import Bank, Designed, Setup, lay_out
from engine.synth.budget import MOST_BYTES, frames_at_once
from engine.synth.errors import CallError
from engine.synth.feed import Feed
from engine.synth.image import ImageError, designed_or_kept, unpacked
from engine.synth.image import packed as image_of
from engine.synth.memory import FREE, RING_SIZE, Machine
from engine.synth.renderer import play
from engine.synth.ring import NEVER, push
from engine.synth.turns import Turn, target

MOST_VOICES = 256
LONGEST = 24 * 3600.0  # s of one call
RELATIVES = 4  # instruments of other rates and channels that one keeps


class Instrument:
    """Every key's string designed, every voice's memory laid out; nothing is allocated after that.

    process(messages, out) renders one block; calling the instrument renders a stretch of time. Blocks of any size give
    the same samples. Without a polyphony it is the preset's, or as many strings more as a piece needs that strikes
    `needed` of them, if memory lasts.

    It is one caller's at a time: a second one, in another thread or from within, gets a BusyError. A copy, also a
    pickled one, is made anew from the preset and the settings, and is silent.
    """

    def __init__(
        self,
        preset: str | PathLike[str] | Mapping[str, Any] | Preset,
        sample_rate: Quantity = 48_000,
        block_size: int = 128,
        oversample: int | None = None,
        polyphony: int | None = None,
        tuning: str | Tuning | None = None,
        mono: bool = False,
        needed: int = 0,
    ) -> None:
        self.preset = preset if isinstance(preset, Preset) else load_preset(preset)
        self.sample_rate = rate_of(sample_rate)
        self.block_size = whole("block size", block_size, 1, 1 << 20, "try 128")
        factor = self.preset.oversample if oversample is None else oversample
        self.oversample = whole("oversample", factor, 1, 8, "take 1, 2, 4 or 8")
        decimate.design(self.sample_rate, self.oversample)  # refuses an impossible factor before anything is designed
        voices = self.preset.polyphony if polyphony is None else polyphony
        fewest = whole("polyphony", voices, 1, MOST_VOICES, "try 16")
        most = min(max(needed, 0), MOST_VOICES) if polyphony is None else 0
        self.tuning = tuning_of(tuning) or self.preset.tuning
        setup = Setup(self.preset, self.sample_rate, self.oversample, fewest, 1 if mono else 2, self.tuning, most)
        module.tell_if_cold()
        self._begin(lay_out(setup, designed_or_kept(setup)))

    def _begin(self, bank: Bank) -> None:
        """Take over a memory that has just been laid out."""
        self._bank, designed = bank, bank.designed
        self.polyphony, self.silent_keys = designed.polyphony, designed.silent
        self._piece = frames_at_once(designed.dearest, self.polyphony, self.oversample, room.cost(self.preset.room))
        self._turn, self._queueing = Turn(), RLock()
        ring = bank.machine.ring  # a view of memory is made once: calls come with every block
        self._written, self._read, self._rows = ring.written, ring.read, ring.rows
        self._relatives: dict[tuple[float, int], Instrument] = {}  # the one called last comes last
        self._called = self
        play(self.address, 0, 0)  # compiled or loaded here, not in the first block

    @classmethod
    def open(cls, path: str | PathLike[str], block_size: int = 128) -> Instrument:
        """The instrument that was saved in a file, without designing it again: it plays the same bits."""
        where = printable(str(path))
        try:
            size = Path(path).stat().st_size
            data = Path(path).read_bytes() if size <= MOST_BYTES else b""
        except OSError as error:
            raise ImageError(f"{where}: {error.strerror or error}; name a file that Instrument.save wrote") from None
        setup, designed = unpacked(data, where)
        return cls.of(setup, designed, whole("block size", block_size, 1, 1 << 20, "try 128"))

    @classmethod
    def of(cls, setup: Setup, designed: Designed, block_size: int = 128) -> Instrument:
        """The instrument of a design that was made elsewhere."""
        self = cls.__new__(cls)
        self.preset, self.tuning = setup.preset, setup.tuning
        self.sample_rate, self.oversample = setup.sample_rate, setup.oversample
        self.block_size = block_size
        self._begin(lay_out(setup, designed))
        return self

    @property
    def setup(self) -> Setup:
        """What it was made for."""
        return self._bank.setup

    @property
    def design(self) -> Designed:
        """What it was laid out from."""
        return self._bank.designed

    def save(self, path: str | PathLike[str], force: bool = False) -> None:
        """Write it to a new file, as if just made: what sounds and what channels were told is not kept."""
        data = image_of(self._bank.setup, self._bank.designed)
        with whole_file(Path(path), force) as part:
            part.write_bytes(data)

    def __repr__(self) -> str:
        sides = "mono" if self.channels == 1 else "stereo"
        return (
            f"<Instrument {self.preset.name}: {self.preset.model} ×{self.oversample} at {self.sample_rate:g} Hz, "
            f"{self.polyphony} voices, {sides}>"
        )

    def __reduce__(self) -> tuple[type[Instrument], tuple[Any, ...]]:
        """Copies share no memory: what is known by address can be neither copied nor kept."""
        how = (self.sample_rate, self.block_size, self.oversample, self.polyphony, self.tuning, self.channels == 1)
        return type(self), (self.preset, *how)

    @property
    def channels(self) -> int:
        """Of the output: 1 or 2."""
        return self._bank.setup.channels

    @property
    def address(self) -> int:
        """Where the renderer's memory is: all that `engine.synth.renderer.play` needs."""
        return self._bank.address

    @property
    def machine(self) -> Machine:
        """The renderer's memory by name (engine/synth/memory.py), for as long as the instrument lives."""
        return self._bank.machine

    @property
    def nbytes(self) -> int:
        """Memory of its strings and voices, without that of relatives."""
        return self._bank.block.nbytes

    @property
    def changing(self) -> int:
        """Bytes of it that playing changes: the first so many."""
        return self._bank.image.nbytes

    @property
    def clock(self) -> int:
        """Samples rendered since the last reset."""
        return int(self.machine.clock)

    @property
    def latency(self) -> int:
        """Samples by which the oversampling filter delays everything."""
        return int(self.machine.latency)

    @property
    def silent(self) -> bool:
        """No voice sounds, nothing that voices stand on or are in rings, and no event waits."""
        m = self.machine
        return not self._waiting and not m.hand.waiting and not (m.voices.state != FREE).any() and not self._bank.rings

    def report(self) -> dict[str, int]:
        """Counts since the last reset."""
        m = self.machine.meters
        return {
            "voices_stolen": int(m.stolen),
            "watchdog": int(m.watchdog),
            "events_lost": int(m.lost),
            "voices": int(m.sounding),
            "peak_voices": int(m.most),
        }

    def reset(self) -> None:
        """Silence, controllers untouched, clock at zero: as if just made."""
        with self._turn:
            self._bank.reset()

    def schedule(self, sample: int, data: Sequence[int]) -> bool:
        """Queue a MIDI message (its bytes) for an absolute sample; False if the ring was full and it was lost.

        A note-off or an all-sound-off is never lost. What is neither a channel message nor a tuning is ignored.
        Messages come in the order of their samples: one that is due before another that waits already is refused. Any
        thread may call this, also while another one renders.
        """
        messages, at = admitted(data), moment(sample)
        return False not in [self._queue(at, message) for message in messages]

    def run(self, out: NDArray[np.float32]) -> None:
        """Render out.shape[0] samples into `out`, float32 [frames, channels]."""
        with self._turn:
            self._fill(target(out, self.channels))

    def process(self, messages: Iterable[Message], out: NDArray[np.float32]) -> None:
        """Render one block with the messages of that block; their .time is in seconds from the block's start.

        They may come in any order, and be more than the ring holds.
        """
        events = in_order(messages, self.sample_rate)
        with self._turn:
            self._admit(events, len(target(out, self.channels)))
            feed = self._feed(events)
            self._perform(feed, out)
            feed.hand_over(NEVER, lambda at, message: self._queue(at, message) or True)  # what comes later waits

    def __call__(
        self,
        midi_messages: Iterable[Message],
        duration: Quantity,
        sample_rate: Quantity,
        num_channels: int = 2,
        buffer_size: int = 8192,
        reset: bool = True,
    ) -> NDArray[np.float32]:
        """Render `duration` seconds as float32 [channels, frames], as pedalboard's instruments do.

        Messages are mido's, or (bytes, seconds), with the time from the start of this stretch; those at its end or
        later are left out. With reset=False it goes on where the last call ended, if that was of the same rate and
        channels. The instrument for another rate or number of channels is designed once; the last RELATIVES are kept.
        The filter's latency is not taken off.
        """
        seconds = within("duration", duration, 0.0, LONGEST, "s", "write it like 1.5 or '1500 ms'")
        rate = rate_of(sample_rate)
        channels = whole("num_channels", num_channels, 1, 2, "take 1 or 2")
        size = whole("buffer_size", buffer_size, 1, 1 << 31, "try 8192")
        events = in_order(midi_messages, rate)
        with self._turn:
            player = self._relative(rate, channels)
            goes_on = not reset and player is self._called
            self._called = player
            if player is self:
                return self._stretch(events, round(seconds * rate), size, goes_on)
            with player._turn:
                return player._stretch(events, round(seconds * rate), size, goes_on)

    def _relative(self, rate: float, channels: int) -> Instrument:
        """This preset's instrument at another rate or with another number of channels, or this one."""
        if (rate, channels) == (self.sample_rate, self.channels):
            return self
        player = self._relatives.pop((rate, channels), None)
        if player is None:
            player = Instrument(
                self.preset, rate, self.block_size, self.oversample, self.polyphony, self.tuning, channels == 1
            )
        self._relatives[rate, channels] = player
        while len(self._relatives) > RELATIVES:
            del self._relatives[next(iter(self._relatives))]
        return player

    def _stretch(self, events: Sequence[Packed], frames: int, size: int, goes_on: bool) -> NDArray[np.float32]:
        if not goes_on:
            self._bank.reset()
        events = events[: bisect_left(events, frames, key=lambda event: event[0])]
        self._admit(events, frames)
        out = np.zeros((self.channels, frames), np.float32)
        block, feed = np.zeros((min(size, frames), self.channels), np.float32), self._feed(events)
        for at in range(0, frames, size):
            part = block[: min(size, frames - at)]
            self._perform(feed, part)
            out[:, at : at + len(part)] = part.T
        return out

    def _admit(self, events: Sequence[Packed], frames: int) -> None:
        """Refuse the events of a block before any of them is queued."""
        later = len(events) - bisect_left(events, frames, key=lambda event: event[0])
        if later + self._waiting > RING_SIZE:
            raise CallError(f"{later} messages for after the block: {RING_SIZE} may wait; give them with their blocks")
        if events:
            self._refuse_disorder(self.clock + events[0][0])

    def _feed(self, events: Sequence[Packed]) -> Feed[int]:
        """Events counted from here."""
        start = self.clock
        return Feed((start + sample, message) for sample, message in events)

    def _perform(self, feed: Feed[int], out: NDArray[np.float32]) -> None:
        feed.fill(out, self.clock, lambda: RING_SIZE - self._waiting, self._queue, self._fill)

    def _fill(self, out: NDArray[np.float32]) -> None:
        """Render a block; a heavy one in pieces, between which Ctrl-C gets through."""
        for at in range(0, len(out), self._piece):
            piece = out[at : at + self._piece]
            play(self.address, len(piece), piece.ctypes.data)

    @property
    def _waiting(self) -> int:
        """Events in the ring."""
        return int(self._written[0] - self._read[0])

    def _queue(self, sample: int, message: int) -> bool:
        with self._queueing:
            self._refuse_disorder(sample)
            return bool(push(self.address, sample, message))

    def _refuse_disorder(self, sample: int) -> None:
        last = self._last_waiting()
        if max(sample, self.clock) < last:
            limit = f"a message for sample {last} waits already"
            raise CallError(f"sample {sample}: {limit}; schedule in order, or give all at once to process")

    def _last_waiting(self) -> int:
        """The sample of the event that was queued last, or -1 if none waits."""
        written = int(self._written[0])
        return int(self._rows[(written - 1) & (RING_SIZE - 1), 0]) if written != self._read[0] else -1
