"""One preset, model and oversampling on the test bench: designed once, then played with any number of voices."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from math import ceil
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.errors import SettingError
from engine.preset.loader import Preset
from engine.profiling import clocked
from engine.profiling.limit import MOST
from engine.profiling.load import BlockLoad, load
from engine.profiling.music import WARM_UP, Integers, events, spread, usual_range
from engine.synth.instrument import Instrument
from engine.synth.memory import CHANNELS, SPARE_VOICES, TICK
from engine.units import key_to_note

T = TypeVar("T")
LEAST_BLOCKS = 50  # however little time is asked for
POLL = 0.1  # s between looks at the keyboard's interrupt


class Blocks(NamedTuple):
    """Rows of (start ns, duration ns, frames), and if known: voices that sounded, and how often the core was lost."""

    rows: Integers
    sounding: Integers
    preempted: int | None = None


# Plays events (samples of the instrument's clock, packed messages) for so many blocks of that size.
Recorder = Callable[[Instrument, Integers, int, int], Blocks]


@dataclass(frozen=True)
class BenchSetup:
    """How everything is played."""

    sample_rate: float = 48_000.0
    seconds: float = 3.0
    keys: tuple[int, int] | None = None  # lowest and highest; None: an octave around the preset's own string
    polyphony: int | None = None  # None: the preset's, or as many as are to sound
    sway: bool = False


@dataclass(frozen=True)
class BenchTake:
    """A number of voices, played and measured."""

    load: BlockLoad
    blocks: Blocks
    notes: tuple[str, ...] = ()


@dataclass
class Rig:
    """An instrument that is designed once for the most voices, and does with fewer as if made for them."""

    preset: Preset
    oversample: int
    setup: BenchSetup
    record: Recorder

    def __post_init__(self) -> None:
        self.instrument = Instrument(self.preset, self.setup.sample_rate, oversample=self.oversample, polyphony=MOST)
        low, high = self.setup.keys or (usual_range(self.preset)[0], usual_range(self.preset)[-1])
        silent = self.instrument.silent_keys
        self.keys = [key for key in range(low, high + 1) if key not in silent]
        mute = [f"{key_to_note(key)} is silent: {silent[key]}" for key in range(low, high + 1) if key in silent]
        if not self.keys:
            where = f"{key_to_note(low)} to {key_to_note(high)}"
            raise SettingError("keys", where, f"none of them sounds ({mute[0]})", "choose others with --key-range")
        self.mute = mute[0] + (f" (and {len(mute) - 1} more)" if mute[1:] else "") if mute else ""

    @property
    def most(self) -> int:
        """Voices that can sound: a key sounds once on each channel."""
        return min(MOST, CHANNELS * len(self.keys))

    def play(self, voices: int, block: int, seconds: float) -> BenchTake:
        """Play for so long after warming up, and measure every block."""
        rate = self.setup.sample_rate
        first, count = self._lengths(block, seconds)
        played = self.record(
            self.instrument, self.prepared(voices, (first + count) * block / rate), block, first + count
        )
        blocks = played._replace(rows=played.rows[first:], sounding=played.sounding[first:])
        return BenchTake(load(blocks.rows, rate), blocks, self._notes(voices, blocks))

    def play_parts(self, voices: int, block: int, seconds: float, ticks: int) -> Integers:
        """The time [stretches, PARTS] in ns that each part took, summed over stretches of so many whole ticks."""
        first, count = self._lengths(block, seconds)
        together = -(-ticks * TICK // block)
        count = max(count // together, 3) * together
        music = self.prepared(voices, (first + count) * block / self.setup.sample_rate)
        spent = np.zeros((first + count, clocked.PARTS), np.int64)
        out = np.zeros((block, self.instrument.channels), np.float32)
        address = self.instrument.address
        in_thread(lambda stop: clocked.record_parts(address, out.ctypes.data, block, music, spent, stop))
        return spent[first:].reshape(-1, together, clocked.PARTS).sum(axis=1)

    def prepared(self, voices: int, seconds: float) -> Integers:
        """The instrument as new, with as many slots as one made for these voices has; and its music."""
        self.instrument.reset()
        m = self.instrument.machine
        # The slots of a smaller instrument are the first ones of a larger.
        m.polyphony = max(voices, self.setup.polyphony or self.preset.polyphony)
        m.slots = m.polyphony + SPARE_VOICES
        return events(spread(self.keys, voices), self.setup.sample_rate, seconds, self.setup.sway)

    def _lengths(self, block: int, seconds: float) -> tuple[int, int]:
        """Blocks that warm up, and blocks after them."""
        rate = self.setup.sample_rate
        return ceil(WARM_UP * rate / block), max(ceil(seconds * rate / block), LEAST_BLOCKS)

    def _notes(self, voices: int, blocks: Blocks) -> tuple[str, ...]:
        notes = []
        if voices > self.most:
            notes.append(f"{voices} voices were asked for, but {len(self.keys)} keys on 16 channels are {self.most}")
        elif blocks.sounding.size and blocks.sounding.min() < voices:
            share = float((blocks.sounding < voices).mean())
            least = int(blocks.sounding.min())
            notes.append(f"in {share:.0%} of the blocks fewer than {voices} voices sound, {least} at least: some decay")
        faults = {"watchdog": "strings were silenced by the watchdog", "events_lost": "events were lost"}
        report = self.instrument.report()
        return (*notes, *(f"{report[name]} {text}" for name, text in faults.items() if report[name]))


def record_blocks(instrument: Instrument, music: Integers, block: int, count: int) -> Blocks:
    """The offline recorder: as fast as it goes, on a thread of its own."""
    rows, sounding = np.zeros((count, clocked.LOG), np.int64), np.zeros(count, np.int64)
    out = np.zeros((block, instrument.channels), np.float32)

    def job(stop: Integers) -> int | None:
        before = preemptions()
        clocked.record(instrument.address, out.ctypes.data, block, music, rows, sounding, stop)
        after = preemptions()
        return None if before is None or after is None else after - before

    return Blocks(rows, sounding, in_thread(job))


def in_thread(job: Callable[[NDArray[np.int64]], T]) -> T:
    """Run a job that compiled code does without the interpreter, as an audio thread does; an interrupt stops it."""
    stop = np.zeros(1, np.int64)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(job, stop)
        try:
            while True:
                with suppress(TimeoutError):
                    return future.result(POLL)
        except BaseException:
            stop[0] = 1
            raise


def preemptions() -> int | None:
    """How often the system has taken the core away from this thread; None where it does not tell."""
    try:
        import resource
    except ImportError:
        return None
    who: Any = getattr(resource, "RUSAGE_THREAD", None)
    return None if who is None else resource.getrusage(who).ru_nivcsw
