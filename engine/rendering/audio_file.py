"""Audio files that appear whole under their name, or not at all: WAV, RF64 where WAV's 4 GB would not do, and FLAC.

The same sound gives the same bytes. libsndfile packs the samples; rounding and dither are done here, so that they do
not change with its version.
"""

from __future__ import annotations

import os
import stat
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.preset.complaints import clean
from engine.rendering.errors import FileError
from engine.rendering.stream import Sound

BIT_DEPTHS = {"16": "PCM_16", "24": "PCM_24", "32f": "FLOAT"}
_BYTES = {"16": 2, "24": 3, "32f": 4}
_SYSTEM_ERROR = 2  # what libsndfile says when the system refuses
LARGEST_WAV = 2**32 - 2**16  # bytes of samples, with room for the header


@dataclass(frozen=True)
class Format:
    """What a file holds: `seed` is that of the dither, `depth` one of BIT_DEPTHS."""

    rate: int
    channels: int
    depth: str = "24"
    seed: int = 0


class AudioFile:
    """A file being written: takes sound, counts the samples that were beyond full scale."""

    def __init__(self, file: Any, kind: str, form: Format) -> None:
        self.container, self.clipped, self.frames = kind, 0, 0
        self._file, self._depth = file, form.depth
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

    `frames` is the most that will be written: it decides between WAV and RF64.
    """
    library, target = load_library(), check_target(path, force)
    kind = container(path, form, frames)
    part = part_of(target)
    name = str(part) if sys.platform == "win32" else os.fsencode(part)  # on POSIX a name need not be text
    reason = ""
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))  # the permissions of any new file
        with library.SoundFile(name, "w", form.rate, form.channels, BIT_DEPTHS[form.depth], format=kind) as file:
            writer = AudioFile(file, kind, form)
            yield writer
        if form.depth == "32f":
            _forget_date(part)
        if library.info(name).frames != writer.frames:
            raise OSError("not everything was written, perhaps the disk is full")
        with part.open("rb+") as whole:
            os.fsync(whole.fileno())  # a name must not point at sound that is still on its way
        publish(part, target, force)
    except OSError as error:
        reason = error.strerror or str(error)
    except library.SoundFileError as error:
        full = getattr(error, "code", _SYSTEM_ERROR) == _SYSTEM_ERROR
        reason = "perhaps the disk is full" if full else f"{kind} has no {form.channels} channels at {form.rate} Hz"
    finally:
        part.unlink(missing_ok=True)
    if reason:
        raise FileError(f"{clean(str(path))}: cannot be written ({reason}); choose another place or another format")


def container(path: Path, form: Format, frames: int) -> str:
    """libsndfile's name of the format that a file's suffix asks for."""
    suffix = path.suffix.lower()
    if suffix == ".flac":
        if form.depth == "32f":
            raise FileError(f"{clean(path.name)}: FLAC holds whole numbers only; take bit depth 24, or .wav")
        return "FLAC"
    if suffix not in (".wav", ".wave"):
        raise FileError(f"{clean(path.name)}: no format is known by this suffix; name it .wav or .flac")
    return "WAV" if frames * form.channels * _BYTES[form.depth] <= LARGEST_WAV else "RF64"


def check_target(path: Path, force: bool) -> Path:
    """The file that a path really names; refused where nothing can or should be written, before any work is done."""
    shown = clean(str(path))
    try:
        path = path.resolve()
        if not path.parent.is_dir():
            raise FileError(f"{shown}: its folder does not exist; make it first")
        mode = path.lstat().st_mode
    except FileNotFoundError:
        if not os.access(path.parent, os.W_OK):
            raise FileError(f"{shown}: no permission to write into its folder; choose another") from None
        return path
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(f"{shown}: cannot be written ({reason}); choose another name") from None
    if stat.S_ISDIR(mode):
        raise FileError(f"{shown}: is a folder; name a file in it")
    if not stat.S_ISREG(mode):
        raise FileError(f"{shown}: is not a regular file; choose another name")
    if not force:
        raise FileError(f"{shown}: exists already; choose another name, or --force to replace it")
    return path


def publish(part: Path, path: Path, force: bool) -> None:
    """Give a finished file its name, in one step; without `force` never in place of another."""
    if force:
        part.replace(path)
        return
    try:
        os.link(part, path)  # fails if the name was taken meanwhile, which a rename does not tell
    except FileExistsError:
        raise FileError(f"{clean(str(path))}: exists by now; choose another name, or --force to replace it") from None
    except OSError:  # a file system without links
        check_target(path, force)
        part.rename(path)


def part_of(path: Path) -> Path:
    """A name beside `path`, for what is not whole yet; short, whatever the length of the final one."""
    return path.with_name(f".jawari-{uuid.uuid4().hex[:16]}.part")


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
