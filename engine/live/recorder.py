"""Keeps what is played: events as MIDI, the sound as audio, on disk as they come, whatever the session's loop does.

A thread of its own empties journal and tape some twenty times a second, and asks the system every few seconds to have
it all on the disk. When the session ends, files appear under their names, before anything else is said or done; what a
session leaves that broke off is finished at the beginning of the next.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from engine.files.errors import FileError
from engine.files.target import check_target, named
from engine.files.unfinished import Unfinished, free_names, left_in
from engine.interrupts import held
from engine.live.player import Player
from engine.live.sound_take import SoundTake, is_sound
from engine.live.thread.tape import Tape
from engine.music.take import Take

SCORES = (".mid", ".midi", ".smf")
TURN, SYNC = 0.05, 5.0  # s
_MOST_GAPS = 5  # that are told one by one


def check_takes(paths: Sequence[Path], force: bool) -> None:
    """Refuse what cannot be recorded into, before anything is opened."""
    for path in paths:
        try:
            is_score(path) or is_sound(path)
        except FileError as error:
            raise FileError(f"{error}; or .mid for the events") from None
        check_target(path, force)
    if len(paths) > len({is_score(path) for path in paths}):
        raise FileError(f"{named(paths[-1])}: one file of events and one of sound are recorded at a time, no more")


def is_score(path: Path) -> bool:
    """Whether a suffix is that of a MIDI file."""
    return path.suffix.lower() in SCORES


class Recorder:
    """Records a player into files, in a `with` block; at its end they are there. `said` tells of them, then."""

    def __init__(
        self, player: Player, paths: Sequence[Path], force: bool, facts: dict[str, Any], say: Callable[[str], None]
    ) -> None:
        self.said: list[str] = []
        self.error: FileError | None = None
        self._player, self._paths, self._force, self._facts, self._say = player, paths, force, facts, say
        self._takes: list[tuple[Path, Path, Take | SoundTake]] = []  # the name given, the file that it means
        self._tape: Tape | None = None
        self._warned: set[str] = set()
        self._ended, self._thread = threading.Event(), threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Recorder:
        check_takes(self._paths, self._force)
        if not all(is_score(path) for path in self._paths):
            self._tape = Tape(self._player.sample_rate, self._player.channels)
            self._player.record(self._tape)
        with held():
            try:
                for shown in self._paths:
                    target = check_target(shown, self._force)
                    self._takes.append((shown, target, self._begin(target)))
            except BaseException:
                for _, _, take in self._takes:
                    take.file.remove()
                raise
            if self._takes:
                self._thread.start()
        return self

    def _begin(self, path: Path) -> Take | SoundTake:
        if is_score(path):
            return Take.begin(path, self._player.sample_rate, self._facts)
        assert self._tape is not None
        return SoundTake.begin(path, self._player.sample_rate, self._tape)

    def __exit__(self, *_: object) -> None:
        with held():  # nothing comes between what was played and its name
            if self._thread.is_alive():
                self._ended.set()
                self._thread.join()
            self._collect()
            for shown, target, take in self._takes:
                if self._player.gauges.blocks:
                    self._finish(shown, target, take)
                else:
                    take.file.remove()

    def _run(self) -> None:
        synced = time.monotonic()
        while not self._ended.wait(TURN):
            self._collect()
            if time.monotonic() - synced > SYNC:
                for _, _, take in self._takes:
                    take.file.sync()
                synced = time.monotonic()

    def _collect(self) -> None:
        """Have everything that is new on disk."""
        for shown, _, take in self._takes:
            try:
                if isinstance(take, Take):
                    take.add(self._player.new_events("recorder"))
                else:
                    take.collect()
                why = take.file.trouble
            except Exception as error:  # the other file must not suffer from it
                why = str(error)
            if why:
                self._warn(f"{named(shown)}: {why}; the sound goes on and what is recorded stays: make room")
        if self._tape is not None and self._tape.lost:
            self._warn("the disk is too slow or full: some sound is not recorded; at the end you are told which")

    def _warn(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            self._say(text)

    def _finish(self, shown: Path, target: Path, take: Take | SoundTake) -> None:
        try:
            name = written(take, target, self._force)
            self.said.append(f"wrote {named(shown if name == target else name)}{self._use(take)}")
        except FileError as error:
            self.error = FileError("\n".join([*([str(self.error)] if self.error else []), str(error)]))
        if isinstance(take, SoundTake) and self._tape is not None:
            gaps = self._tape.gaps
            told = [f"{count} frames are missing at {take.place(at)}" for at, count in gaps[:_MOST_GAPS]]
            if len(gaps) > _MOST_GAPS:
                told.append(f"{sum(count for _, count in gaps[_MOST_GAPS:])} later ones")
            self.said += [f"{named(shown)}: {text}" for text in told]

    def _use(self, take: Take | SoundTake) -> str:
        if isinstance(take, SoundTake):
            return f", {take.length}"
        return f"; rendered at {self._player.sample_rate:g} Hz with --limit it gives the same samples"


def written(take: Take | SoundTake, path: Path, force: bool = False) -> Path:
    """The take under its name, or the next one that is free, which is returned; what goes wrong leaves it as it was."""
    for name in free_names(path):
        force &= name == path
        try:
            take.write(name, force)
        except (FileError, OSError) as error:
            if os.path.lexists(name) and not (force and name.is_file()):
                continue
            left = named(take.file.path)
            remedy = f"what is on disk of it is in {left}: make room, then jawari play --recover {left}"
            raise FileError(f"{str(error).split(';')[0]}; {remedy}") from None
        return name
    raise FileError(f"{named(path)}: too many takes have this name; this one is in {named(take.file.path)}")


# --- what was left behind ---------------------------------------------------------------------------------------------


def recover(paths: Iterable[Path]) -> Iterator[str]:
    """Finish what sessions left behind; a line about each."""
    for path in paths:
        file = Unfinished.left(path)
        if file is None:
            continue
        take = Take.left(file) or SoundTake.left(file)
        if take is None:
            file.close()
            continue
        if take.empty:
            file.remove()
            continue
        name = file.target.with_name(f"{file.target.stem}-recovered{file.target.suffix}")
        try:
            found = written(take, name)
            yield f"{named(found)}: a session broke off; this is what it had of {file.target.name}, {take.length}"
        except FileError as error:
            file.close()
            yield str(error)


def recover_in(folders: Iterable[Path]) -> Iterator[str]:
    """The same for all that lies in these folders."""
    for folder in dict.fromkeys(folder.resolve() for folder in folders):
        yield from recover(left_in(folder))
