"""Sound as bytes: WAV, RF64 where WAV's 4 GB would not do, and FLAC; WAV without a length where nobody can go back.

The same sound gives the same bytes. libsndfile packs the samples of files; rounding and dither are done here, so that
they do not change with its version.
"""

from __future__ import annotations

import os
import shutil
import struct
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.rendering.errors import FileError
from engine.rendering.stream import Sound
from engine.rendering.target import (
    Sink,
    check_output,
    is_sink,
    is_terminal,
    named,
    open_sink,
    part_of,
    passing_file,
    whole_file,
)

BIT_DEPTHS = {"16": "PCM_16", "24": "PCM_24", "32f": "FLOAT"}
# The largest sample that each holds, dither and rounding included.
FULL_SCALE = {"16": 1.0 - 2.0**-14, "24": 1.0 - 2.0**-23, "32f": inf}
_BYTES = {"16": 2, "24": 3, "32f": 4}
_SYSTEM_ERROR = 2  # what libsndfile says when the system refuses
LARGEST_WAV = 2**32 - 2**16  # bytes of samples, with room for the header
_WHOLE_NUMBERS, _FLOATS = 1, 3  # WAV's codes for kinds of samples
_SUFFIXES = (".wav", ".wave", ".flac")
_ENDLESS = 2**32 - 1  # the size of what goes on until it ends


@dataclass(frozen=True)
class Format:
    """What a file holds: `seed` is that of the dither, `depth` one of BIT_DEPTHS, `unnamed` the suffix of sinks."""

    rate: int
    channels: int
    depth: str = "24"
    seed: int = 0
    unnamed: str = "wav"


class AudioFile:
    """A file being written: takes sound, counts the samples that were beyond full scale."""

    def __init__(self, file: Any, kind: str, form: Format) -> None:
        self.container, self.clipped, self.frames = kind, 0, 0
        self.form, self._file, self._depth = form, file, form.depth
        self._dither = np.random.default_rng(form.seed)

    def write(self, chunk: Sound) -> None:
        """Append frames."""
        self._file.write(chunk if self._depth == "32f" else self._whole_numbers(chunk))
        self.frames += len(chunk)

    def _whole_numbers(self, chunk: Sound) -> NDArray[np.int16] | NDArray[np.int32]:
        bits = int(self._depth)
        scaled = chunk * np.float64(2 ** (bits - 1))
        if bits == 16:
            # Two uniform numbers make triangular noise of one step each way: the error no longer follows the sound.
            noise = self._dither.random((*chunk.shape, 2))
            scaled += noise[..., 0] - noise[..., 1]
        whole = np.rint(scaled)
        inside = np.clip(whole, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        self.clipped += int(np.count_nonzero(whole != inside))
        return inside.astype(np.int16) if bits == 16 else inside.astype(np.int32) << 8


@contextmanager
def audio_file(path: Path, form: Format, frames: int, *, force: bool = False) -> Iterator[AudioFile]:
    """A file to write in a `with` block: at its end it gets its name; after an error nothing is left of it.

    `frames` is the most that will be written: it decides between WAV and RF64. A sink gets WAV as it is made.
    """
    kind = container(path, form, frames)
    if not is_sink(path):
        with whole_file(path, force) as part, _packed(part, path, kind, form) as file:
            yield file
        return
    with open_sink(path) as sink:
        if kind == "WAV":
            yield AudioFile(EndlessWav(sink, form), kind, form)
            return
        part = part_of(Path(tempfile.gettempdir(), "whole"))
        with passing_file(part):  # FLAC tells its length at its beginning, so it waits until that is known
            with _packed(part, path, kind, form) as file:
                yield file
            with part.open("rb") as whole:
                shutil.copyfileobj(whole, sink)


@contextmanager
def _packed(part: Path, path: Path, kind: str, form: Format) -> Iterator[AudioFile]:
    """libsndfile writing into `part`, which will be `path`; OSError if at the end not everything is there."""
    library = load_library()
    name = str(part) if sys.platform == "win32" else os.fsencode(part)  # on POSIX a name need not be text
    reason = ""
    try:
        with library.SoundFile(name, "w", form.rate, form.channels, BIT_DEPTHS[form.depth], format=kind) as file:
            writer = AudioFile(file, kind, form)
            yield writer
        if form.depth == "32f":
            _forget_date(part)
        if library.info(name).frames != writer.frames:
            raise OSError("not everything was written, perhaps the disk is full")
    except library.SoundFileError as error:
        full = getattr(error, "code", _SYSTEM_ERROR) == _SYSTEM_ERROR
        reason = "perhaps the disk is full" if full else f"{kind} has no {form.channels} channels at {form.rate} Hz"
    if reason:
        raise FileError(f"{named(path)}: cannot be written ({reason}); choose another place or another format")


class EndlessWav:
    """WAV for a sink: nobody goes back to write its length, so both its sizes say "as long as it lasts"."""

    def __init__(self, sink: Sink, form: Format) -> None:
        self._sink, self._depth = sink, form.depth
        size = _BYTES[form.depth]
        frame, code = form.channels * size, _FLOATS if form.depth == "32f" else _WHOLE_NUMBERS
        shape = struct.pack("<HHIIHH", code, form.channels, form.rate, form.rate * frame, frame, 8 * size)
        sink.write(struct.pack("<4sI8sI16s4sI", b"RIFF", _ENDLESS, b"WAVEfmt ", 16, shape, b"data", _ENDLESS))

    def write(self, frames: NDArray[Any]) -> None:
        """Append frames: float32, int16, or int32 of which the upper three bytes count."""
        data = frames.astype(frames.dtype.newbyteorder("<"))
        self._sink.write(data.view(np.uint8).reshape(-1, 4)[:, 1:].tobytes() if self._depth == "24" else data.tobytes())


def container(path: Path, form: Format, frames: int) -> str:
    """libsndfile's name of the format that a file's suffix asks for; a sink's need not have one."""
    suffix = path.suffix.lower()
    if is_sink(path) and suffix not in _SUFFIXES:
        suffix = f".{form.unnamed}"
    if suffix == ".flac":
        if form.depth == "32f":
            raise FileError(f"{named(path)}: FLAC holds whole numbers only; take bit depth 24, or .wav")
        return "FLAC"
    if suffix not in _SUFFIXES:
        raise FileError(f"{named(path)}: no format is known by this suffix; name it .wav or .flac")
    fits = is_sink(path) or frames * form.channels * _BYTES[form.depth] <= LARGEST_WAV
    return "WAV" if fits else "RF64"


def check_sound_target(path: Path, form: Format, force: bool) -> Path:
    """The file or sink that sound will really go to; refused, before any work is done, where nothing should."""
    target = check_output(path, force)
    container(path, form, 0)
    if is_sink(path) and is_terminal(path):
        raise FileError(f"{named(path)}: is a terminal, which shows no sound; name a file, or pipe it to a program")
    return target


def load_library() -> Any:
    """The binding of libsndfile, only when a file is written: without it, all else works."""
    try:
        import soundfile
    except (ImportError, OSError) as error:
        raise FileError(f"audio files need soundfile and libsndfile ({error}); install them") from None
    return soundfile


def _forget_date(path: Path) -> None:
    """Zero the time of writing that libsndfile puts beside the peak of WAV files of floats."""
    with path.open("rb+") as file:
        header = file.read(256)
        peak = header.find(b"PEAK", 0, header.find(b"data"))
        if peak >= 0:
            file.seek(peak + 12)
            file.write(bytes(4))
