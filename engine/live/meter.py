"""What a live session is doing, as numbers: read from the player some ten times a second, drawn elsewhere.

The audio thread writes while this reads. Every number is whole, yet two of them may be of neighbouring blocks.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from engine import messages as midi
from engine.compiled import now
from engine.live.player import Integers, Player
from engine.live.thread.memory import LOG_COLUMNS
from engine.synth.instrument import Instrument
from engine.synth.memory import FREE, HELD
from engine.synth.output import KNEE, limit
from engine.units import db_to_gain, gain_to_db, key_to_note

SILENCE = -120.0  # dB: nothing quieter is told apart
WINDOW = 1_000_000_000  # ns of blocks that the load is of
HOLD = 1_500_000_000  # ns for which a peak stands
FALL = 20.0  # dB/s by which it comes down then
NOTES = 8  # remembered


class Load(NamedTuple):
    """Shares of the time that a block has, over the blocks of the last second."""

    mean: float
    p99: float
    most: float


class Level(NamedTuple):
    """Peaks of one channel as they are played, dBFS: since the last reading, and held; and how many dB the limiter has
    taken off each of the two.
    """

    now: float
    held: float
    lowered: float = 0.0
    held_lowered: float = 0.0


class BegunNote(NamedTuple):
    """A note that began; channels count from 0."""

    name: str
    velocity: int
    channel: int


class SoundingString(NamedTuple):
    """A string that sounds: how far its energy is below the most it had (dB), and whether its key is down."""

    name: str
    energy: float
    held: bool


@dataclass(frozen=True)
class Reading:
    """One look at a session. Counts are since it began."""

    preset: str
    device: str
    rate: float  # Hz
    block_size: int
    latency: float  # s
    ports: tuple[str, ...]  # MIDI inputs that are heard
    hint: str  # what keys do

    load: Load | None  # None: no block in the last second
    mean_load: float  # of the whole session
    worst_load: float
    seconds: float  # of sound
    blocks: int
    lost: int
    long: int
    underflows: int

    levels: tuple[Level, ...]
    bent: int  # frames in which the limiter was at work
    lowered: float  # dB, by it at most
    polyphony: int
    strings: tuple[SoundingString, ...]  # every voice that sounds, low keys first
    notes: tuple[BegunNote, ...]  # the last ones, the newest at the end

    notes_played: int
    stolen: int
    watchdog: int
    events_lost: int
    stale: int


class Meter:
    """Reads a player, and remembers what one look cannot show."""

    def __init__(self, player: Player, clock: Callable[[], int] = now) -> None:
        self._player, self._clock = player, clock
        self._blocks: Integers = np.zeros((0, LOG_COLUMNS), np.int64)
        self._worst = 0.0
        self._peaks = [_Peak() for _ in range(min(player.channels, 2))]
        self._notes: deque[BegunNote] = deque(maxlen=NOTES)
        self._played = 0
        self._tally = _Tally()

    def read(self, device: str = "", latency: float = 0.0, ports: Sequence[str] = (), hint: str = "") -> Reading:
        """Look now; what the player cannot know is told by whoever asks."""
        player, at = self._player, self._clock()
        gauges, instruments, playing = player.gauges, player.instruments(), player.instrument
        seconds = int(player.stage.clock.sample) / player.sample_rate
        peaks = player.take_peak()[: len(self._peaks)]
        self._take_notes(player.new_events())
        self._tally.add(instruments)
        return Reading(
            preset="" if playing is None else playing.preset.name,
            device=device,
            rate=player.sample_rate,
            block_size=player.block_size,
            latency=latency,
            ports=tuple(ports),
            hint=hint,
            load=self._load(at),
            mean_load=gauges.busy * 1e-9 / seconds if seconds > 0.0 else 0.0,
            worst_load=self._worst,
            seconds=seconds,
            blocks=gauges.blocks,
            lost=gauges.lost,
            long=gauges.long,
            underflows=gauges.underflows,
            levels=tuple(hold.take(peak, at) for hold, peak in zip(self._peaks, peaks)),
            bent=gauges.bent,
            lowered=max(hold.most_lowered for hold in self._peaks),
            polyphony=player.polyphony,
            strings=strings_of(instruments),
            notes=tuple(self._notes),
            notes_played=self._played,
            stolen=self._tally.total["voices_stolen"],
            watchdog=self._tally.total["watchdog"],
            events_lost=self._tally.total["events_lost"] + _lost_on_the_way(player, instruments),
            stale=gauges.stale,
        )

    def _load(self, at: int) -> Load | None:
        fresh = self._player.new_blocks()
        self._worst = max(self._worst, float(self._shares(fresh).max(initial=0.0)))
        blocks = np.concatenate((self._blocks, fresh))
        self._blocks = blocks[blocks[:, 0] > at - WINDOW]
        shares = self._shares(self._blocks)
        if shares.size == 0:
            return None
        return Load(float(shares.mean()), float(np.percentile(shares, 99.0)), float(shares.max()))

    def _shares(self, blocks: Integers) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        took, frames = blocks[:, 1], blocks[:, 2]
        return took * (self._player.sample_rate * 1e-9) / np.maximum(frames, 1)

    def _take_notes(self, events: Integers) -> None:
        messages = events[:, 1]
        begun = messages[midi.begins_note(messages)]
        self._played += begun.size
        for message in begun[-NOTES:].tolist():
            self._notes.append(BegunNote(key_to_note(midi.first(message)), midi.second(message), midi.channel(message)))


def strings_of(instruments: Iterable[Instrument]) -> tuple[SoundingString, ...]:
    """Every voice that sounds, by its key."""
    found = []
    for instrument in instruments:
        for voice in instrument.machine.voices:
            if voice.state == FREE:
                continue
            energy, peak = float(voice.energy), float(voice.peak)
            # The peak is of the kinetic energy alone: just after the pluck all of it together is more.
            decay = min(0.5 * decibels(energy / peak), 0.0) if peak > 0.0 else SILENCE
            key = int(voice.key)
            found.append((key, SoundingString(key_to_note(key), decay, bool(voice.state == HELD))))
    return tuple(string for _, string in sorted(found, key=lambda entry: entry[0]))


def decibels(gain: float) -> float:
    """Of an amplitude, and at least SILENCE, also of what is no number."""
    return max(gain_to_db(gain), SILENCE) if 0.0 < gain < np.inf else SILENCE


def _lost_on_the_way(player: Player, instruments: Iterable[Instrument]) -> int:
    """Events that no inlet had room for; the player counts those of the instruments along with them."""
    return max(player.events_lost - sum(i.report()["events_lost"] for i in instruments), 0)


class _Peak:
    """A peak that stands for a while, then comes down."""

    def __init__(self) -> None:
        self._held, self._since = SILENCE, 0
        self.most_lowered = 0.0  # dB

    def take(self, gain: float, at: int) -> Level:
        """`gain` is the largest sound since the last time, before the limiter."""
        level = decibels(gain)
        held = max(self._held - FALL * 1e-9 * max(at - self._since - HOLD, 0), SILENCE)
        if level >= held:
            self._held, self._since = held, at = level, at
        self.most_lowered = max(self.most_lowered, _lowered(level))
        return Level(level - _lowered(level), held - _lowered(held), _lowered(level), _lowered(held))


def _lowered(level: float) -> float:
    """By how many dB the limiter lowers a peak: the largest sample is the one that it lowers most."""
    gain = db_to_gain(level)
    return level - decibels(limit(gain)) if gain > KNEE else 0.0


class _Tally:
    """Counts of every instrument that has played, also of those that have left."""

    def __init__(self) -> None:
        self._seen: WeakKeyDictionary[Instrument, dict[str, int]] = WeakKeyDictionary()
        self.total: Counter[str] = Counter()

    def add(self, instruments: Iterable[Instrument]) -> None:
        for instrument in instruments:
            report, before = instrument.report(), self._seen.get(instrument, {})
            for name in ("voices_stolen", "watchdog", "events_lost"):
                self.total[name] += report[name] - before.get(name, 0)
            self._seen[instrument] = report
