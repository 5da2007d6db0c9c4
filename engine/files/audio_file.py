"""Sound as bytes: files that appear whole, and streams that are as well-formed as these.

The same sound gives the same bytes. WAV is written here, what else there is by libsndfile; rounding and dither are done
here too, so that they do not change with its version.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import MissingPart
from engine.files.errors import FileError
from engine.files.formats import DEFAULT_DEPTH, Codec, codec_of
from engine.files.ogg import settle_number
from engine.files.target import check_output, is_sink, is_terminal, named, open_sink, part_of, passing_file, whole_file
from engine.files.wav import Wav, is_large

Sound = NDArray[np.float32]  # [frames, channels]

_SYSTEM_ERROR = 2  # what libsndfile says when the system refuses
_AT_ONCE = 4096  # frames that a lossy coder is given, however they come: its bytes depend on it


@dataclass(frozen=True)
class Format:
    """What a file holds: `seed` is that of the dither, `depth` one of BIT_DEPTHS, `unnamed` the format of sinks."""

    rate: int
    channels: int
    depth: str = DEFAULT_DEPTH
    seed: int = 0
    unnamed: str = "wav"


class AudioFile:
    """A file being written: takes sound, counts the samples that were beyond full scale."""

    def __init__(self, file: Any, container: str, form: Format, lossy: bool = False) -> None:
        self.container, self.clipped, self.frames = container, 0, 0
        self.form, self._file, self._depth, self._lossy = form, file, form.depth, lossy
        self._dither = np.random.default_rng(form.seed)
        self._waiting = np.zeros((0, form.channels), np.float32)

    def write(self, chunk: Sound) -> None:
        """Append frames."""
        if self._lossy:
            self._write_lossy(chunk)
        else:
            self._file.write(chunk if self._depth == "32f" else self._whole_numbers(chunk))
        self.frames += len(chunk)

    def finish(self) -> None:
        """Hand on what waits."""
        if len(self._waiting):
            self._file.write(self._waiting)

    def _write_lossy(self, chunk: Sound) -> None:
        inside = np.clip(chunk, -1.0, 1.0)  # whoever plays it cuts it off anyway
        self.clipped += int(np.count_nonzero(inside != chunk))
        sound = np.concatenate([self._waiting, inside])
        whole = len(sound) - len(sound) % _AT_ONCE
        for at in range(0, whole, _AT_ONCE):
            self._file.write(sound[at : at + _AT_ONCE])
        self._waiting = sound[whole:]

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
def audio_file(
    path: Path, form: Format, frames: int, *, force: bool = False, exact: bool = False
) -> Iterator[AudioFile]:
    """A file to write in a `with` block: at its end it gets its name; after an error nothing is left of it.

    `frames` is the most that will be written: it decides between WAV and RF64. A sink gets what a file would hold: at
    its end, or WAV as it is made if `frames` is `exact`.
    """
    codec = codec_of(path, form.rate, form.depth, form.unnamed if is_sink(path) else "")
    if not is_sink(path):
        with whole_file(path, force) as part, _packed(part, path, codec, form, frames) as file:
            yield file
        return
    with open_sink(path) as sink:
        if exact and codec.title == "WAV":
            wav = _wav(sink, form, frames)
            yield AudioFile(wav, _container(codec, form, frames), form)
            wav.finish()
            return
        part = part_of(Path(tempfile.gettempdir(), "whole"))
        with passing_file(part):  # a length is told at the beginning, so everything waits until it is known
            with _packed(part, path, codec, form, frames) as file:
                yield file
            with part.open("rb") as whole:
                shutil.copyfileobj(whole, sink)


@contextmanager
def _packed(part: Path, path: Path, codec: Codec, form: Format, frames: int) -> Iterator[AudioFile]:
    """A file being written into `part`, which will be `path`; OSError if at the end not everything is there."""
    if codec.title == "WAV":
        with part.open("rb+") as file:
            wav = _wav(file, form, frames)
            yield AudioFile(wav, _container(codec, form, frames), form)
            wav.finish()
        return
    library = load_library()
    name = str(part) if sys.platform == "win32" else os.fsencode(part)  # on POSIX a name need not be text
    subtype = codec.coding or codec.depths[form.depth]
    how = {"subtype": subtype, "format": codec.container, "compression_level": codec.compression}
    reason = ""
    try:
        with library.SoundFile(name, "w", form.rate, form.channels, **how) as file:
            writer = AudioFile(file, codec.title, form, codec.lossy)
            yield writer
            writer.finish()
        if not writer.frames and codec.container != "AIFF":  # libsndfile reads no other back
            raise FileError(f"{named(path)}: {codec.title} cannot hold a sound of no length; take .wav")
        if codec.container == "OGG":
            settle_number(part)
        elif codec.container == "AIFF":
            _forget_date(part)
        if library.info(name).frames != writer.frames:
            raise OSError("not everything was written, perhaps the disk is full")
    except library.SoundFileError as error:
        full = getattr(error, "code", _SYSTEM_ERROR) == _SYSTEM_ERROR
        what = f"{codec.title} with {form.channels} channels at {form.rate} Hz"
        reason = "perhaps the disk is full" if full else f"libsndfile has no {what}"
    if reason:
        raise FileError(f"{named(path)}: cannot be written ({reason}); choose another place or another format")


def _wav(file: Any, form: Format, frames: int) -> Wav:
    return Wav(file, form.rate, form.channels, form.depth, frames, is_large(frames, form.channels, form.depth))


def _container(codec: Codec, form: Format, frames: int) -> str:
    """What a report calls it."""
    large = codec.title == "WAV" and is_large(frames, form.channels, form.depth)
    return "RF64" if large else codec.title


def check_sound_target(path: Path, form: Format, force: bool) -> Path:
    """The file or sink that sound will really go to; refused, before any work is done, where nothing should."""
    target = check_output(path, force)
    codec = codec_of(path, form.rate, form.depth, form.unnamed if is_sink(path) else "")
    if codec.title != "WAV":
        library = load_library()
        if not library.check_format(codec.container, codec.coding or codec.depths[form.depth]):
            version = library.__libsndfile_version__
            raise FileError(
                f"{named(path)}: libsndfile {version} has no {codec.title}; pip install -U soundfile, or take .wav"
            )
    if is_sink(path) and is_terminal(path):
        raise FileError(f"{named(path)}: is a terminal, which shows no sound; name a file, or pipe it to a program")
    return target


def load_library() -> Any:
    """The binding of libsndfile, only when a file is written: without it, all else works."""
    try:
        import soundfile
    except (ImportError, OSError) as error:
        raise MissingPart(f"files other than WAV need soundfile and libsndfile ({error}); install them") from None
    return soundfile


def _forget_date(path: Path) -> None:
    """Zero the time of writing that libsndfile puts beside the peak of AIFF files of floats."""
    with path.open("rb+") as file:
        header = file.read(256)
        peak = header.find(b"PEAK", 0, header.find(b"SSND"))
        if peak >= 0:
            file.seek(peak + 12)
            file.write(bytes(4))
