"""Recording from the page: the events as a MIDI file, the sound as the card got it, the preset beside them.

A take begins in silence, on a sample where an instrument that was just made would stand alike, with what the channels
had been told before. So the MIDI file, rendered on the preset that lies beside it, gives the samples of the WAV. What
the preset becomes meanwhile stands in the MIDI file, too, as texts on the samples on which each design came: other
programs pass over them, and a render takes the same designs at the same samples.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from engine import messages as midi
from engine.edit.errors import AskedError
from engine.errors import PresetError
from engine.files.unfinished import free_names
from engine.layout import seen
from engine.live.player import Player
from engine.live.recorder import written
from engine.live.sound_take import SoundTake
from engine.live.thread.tape import Tape
from engine.music.take import Take
from engine.preset.files import own_folder
from engine.preset.loader import load_text
from engine.synth.instrument import Instrument
from engine.synth.memory import AS_DESIGNED, CHANNELS, CONTROLLERS, TICK, UNMOVED, Machine
from engine.synth.mts import TUNING
from engine.synth.shaping import Making, Teller

QUIET = 2.0  # s in which all strings fall silent


def folder() -> Path:
    """Where takes go: beside the user's own presets."""
    return own_folder().parent / "takes"


class Takes:
    """At most one take at a time, of one player. The session's turns write it down, and a page's request ends it: each
    of them alone, or both would write the same.
    """

    def __init__(self, player: Player) -> None:
        self._player, self._writing = player, threading.RLock()
        self._take: Take | None = None
        self._sound: SoundTake | None = None
        self._tapes: list[Tape] = []  # the audio thread may be writing to the last one still
        self._start, self._path = 0, Path()
        self._teller = Teller("")
        self._heir = 0  # number of the one that it began with

    @property
    def running(self) -> bool:
        """Whether one is being recorded."""
        return self._take is not None

    def begin(self, name: str, text: str, instrument: Instrument, beside: Path) -> Path:
        """Silence, then a new take; the path of its MIDI file. Files that the preset names lie `beside` it."""
        if self.running:
            raise AskedError("a take is being recorded; stop it first")
        folder().mkdir(parents=True, exist_ok=True)
        _check_alone(text)
        self._path = next(path for path in free_names(folder() / f"{name}.mid") if not path.exists())
        preset = self._path.with_suffix(".yaml")
        preset.write_bytes(text.encode("utf-8"))
        self._fall_silent()
        player = self._player
        seat, self._heir = player.place_of(instrument)
        self._until(
            lambda: player.seats.desk.parts[seat].since >= 0, "no block comes from the sound card; is it running?"
        )
        facts: dict[str, Any] = {
            "sample_rate": player.sample_rate,
            "bank": [str(preset)],
            "map": [],
            "set": [],
            "tuning": None,
            "polyphony": instrument.polyphony,
            "oversample": instrument.oversample,
            "mono": player.channels == 1,
            "folder": str(beside),
            "seat": seat,
        }
        delay = (player.seats.latency or 0) - instrument.latency  # by which events are later, so that all designs fit
        tape = Tape(player.sample_rate, player.channels)
        sound = SoundTake.begin(self._path.with_suffix(".wav"), player.sample_rate, tape)
        take = Take.begin(self._path, player.sample_rate, facts)
        player.new_events("take")
        player.arrivals()
        self._tapes.append(tape)
        player.record(tape)
        try:
            self._start = self._beginning(tape) - delay
        except AskedError:
            player.stop_recording()
            for begun in (sound, take):
                begun.file.remove()
            raise
        take.add(np.array(list(self._told()), np.int64).reshape(-1, 2))
        with self._writing:
            self._take, self._sound, self._teller = take, sound, Teller(text)
        return self._path

    def tick(self) -> None:
        """Have on disk what has come."""
        with self._writing:
            arrivals = self._player.arrivals()
            if self._take is not None and self._sound is not None:
                rows = self._player.new_events("take").copy()
                rows[:, 0] -= self._start
                self._take.add(rows[rows[:, 0] >= 0])
                for arrival in arrivals:
                    assert isinstance(arrival.what, Making)
                    heir = arrival.heir - self._heir + 1
                    if heir > 1:  # else it is what the take began with, or before that
                        told = self._teller.tell(arrival.what, arrival.part, heir)
                        self._take.remark(arrival.sample - self._start, {"edit": told})
                self._sound.collect()

    def end(self) -> tuple[str, list[Path]]:
        """Finish it: what is to be said, and the files."""
        take, sound = self._take, self._sound
        if take is None or sound is None:
            raise AskedError("nothing is being recorded")
        self._player.stop_recording()
        time.sleep(2.0 * self._player.block_size / self._player.sample_rate)
        with self._writing:
            self.tick()
            self._take = self._sound = None
        length = sound.length
        files = [written(take, self._path), written(sound, self._path.with_suffix(".wav"))]
        said = f"{length} in {files[0].name} and {files[1].name}"
        if self._teller.told:
            said += "; the preset was changed meanwhile: that is in both"
        return said, [*files, self._path.with_suffix(".yaml")]

    def close(self) -> None:
        """Finish what is being recorded, at the end of a session."""
        if self.running:
            self.end()

    def _fall_silent(self) -> None:
        """End all sound, and wait until every design is as one just made."""
        for channel in range(CHANNELS):
            self._player.send([midi.CONTROL | channel, midi.ALL_SOUND_OFF, 0])
        players = self._player.instruments
        self._until(
            lambda: all(instrument.machine.idle for instrument in players()),
            "the strings do not fall silent; is the sound card running?",
        )

    @staticmethod
    def _until(what: Callable[[], bool], why: str) -> None:
        end = time.monotonic() + QUIET
        while not what():
            if time.monotonic() > end:
                raise AskedError(why)
            time.sleep(0.01)

    def _beginning(self, tape: Tape) -> int:
        """The sample that the tape begins with."""
        clock, found = self._player.stage.clock, -1
        end = time.monotonic() + QUIET
        while time.monotonic() < end:
            before, length, after = int(clock.sample), tape.written, int(clock.sample)
            if before == after and length and before - length == found:
                if found % TICK:
                    raise AskedError(f"blocks of {self._player.block_size} frames cannot be recorded; take 64 or 128")
                return found
            found = before - length if before == after and length else -1
            time.sleep(0.004)
        raise AskedError("no block comes from the sound card; is it running?")

    def _told(self) -> Iterator[tuple[int, int]]:
        """What the channels have been told so far, as events."""
        told = seen(Machine, int(self._player.seats.desk.listener))
        for key in np.flatnonzero(told.tuned != AS_DESIGNED).tolist():
            yield 0, TUNING | key << 8 | int(told.tuned[key]) << 16
        for c in range(CHANNELS):
            channel = told.channels[c]
            for number in range(CONTROLLERS):
                if channel.position[number] != UNMOVED and number not in (*midi.PARAMETERS, midi.ALL_SOUND_OFF):
                    yield 0, midi.packed(midi.CONTROL | c, number, int(channel.position[number]))
            if channel.position[CONTROLLERS] != UNMOVED:
                yield 0, midi.packed(midi.PRESSURE | c, int(channel.position[CONTROLLERS]))
            if channel.bend:
                wheel = int(channel.bend) + 8192
                yield 0, midi.packed(midi.WHEEL | c, wheel & 0x7F, wheel >> 7)


def _check_alone(text: str) -> None:
    """A take lies in a folder of its own: a file that its preset names must be there, too."""
    try:
        load_text(text, "preset", folder())
    except PresetError as error:
        raise AskedError(f"{str(error).splitlines()[0]} (a take lies in {folder()}: copy the file there)") from None
