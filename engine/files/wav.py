"""WAV, and RF64 where WAV's 4 GB would not do: a header that tells the true sizes, and the samples.

A header's length does not depend on the sound's: where the number of frames is known beforehand, nobody has to go back.
"""

from __future__ import annotations

import struct
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from engine.files.target import Sink

LARGEST_WAV = 2**32 - 2**16  # bytes of samples, with room for the header
_BYTES = {"16": 2, "24": 3, "32f": 4}
_WHOLE_NUMBERS, _FLOATS = 1, 3  # codes for kinds of samples
_ELSEWHERE = 2**32 - 1  # a size that RF64 tells in 64 bits, or that is not known yet
_SIZES = struct.Struct("<QQQI")  # of the whole, of the samples, their number; and of a table that nobody needs
_SHAPE = struct.Struct(f"<{12 + 8 + _SIZES.size + 8 + 2}xHI")  # channels and rate, behind all this


def is_large(frames: int, channels: int, depth: str) -> bool:
    """Whether so much sound needs RF64."""
    return frames * channels * _BYTES[depth] > LARGEST_WAV


def head_of(rate: int, channels: int, depth: str, frames: int | None, *, large: bool, room: bool = False) -> bytes:
    """What a file begins with, as RF64 if it is `large`; without `frames`, one that has no end yet.

    With `room` it is as long as RF64's whatever it is, so that a file whose end nobody knows can become one in place.
    """
    floats, frame = depth == "32f", channels * _BYTES[depth]
    size, unknown = (frames or 0) * frame, large or frames is None
    code, bits = _FLOATS if floats else _WHOLE_NUMBERS, 8 * _BYTES[depth]
    shape = struct.pack("<HHIIHH", code, channels, rate, rate * frame, frame, bits)
    chunks = _chunk(b"fmt ", shape + bytes(2) * floats)
    if floats:
        chunks += _chunk(b"fact", struct.pack("<I", _ELSEWHERE if unknown else frames))
    spare = _SIZES.size + 8 if large or room else 0
    whole = 4 + spare + len(chunks) + 8 + size + size % 2
    if large:
        chunks = _chunk(b"ds64", _SIZES.pack(whole, size, frames or 0, 0)) + chunks
    elif room:
        chunks = _chunk(b"JUNK", bytes(_SIZES.size)) + chunks
    begin = struct.pack("<4sI4s", b"RF64" if large else b"RIFF", _ELSEWHERE if unknown else whole, b"WAVE")
    return begin + chunks + struct.pack("<4sI", b"data", _ELSEWHERE if unknown else size)


def shape_of(head: bytes) -> tuple[int, int]:
    """Rate and channels in a head with `room`, or in what looks like one."""
    channels, rate = _SHAPE.unpack_from(head)
    return rate, channels


class Wav:
    """A file being written, or a sink, which needs the true number of frames at once: nobody goes back in it."""

    def __init__(self, file: BinaryIO | Sink, rate: int, channels: int, depth: str, frames: int, large: bool) -> None:
        self._file, self._rate, self._channels, self._depth, self._large = file, rate, channels, depth, large
        self._told, self._frames = frames, 0
        file.write(self._head(frames))

    def write(self, frames: NDArray[Any]) -> None:
        """Append frames: float32, int16, or int32 of which the upper three bytes count."""
        data = frames.astype(frames.dtype.newbyteorder("<"))
        self._file.write(data.view(np.uint8).reshape(-1, 4)[:, 1:].tobytes() if self._depth == "24" else data.tobytes())
        self._frames += len(frames)

    def finish(self) -> None:
        """Make sizes even and true."""
        self._file.write(bytes(self._frames * self._channels * _BYTES[self._depth] % 2))
        if self._frames == self._told:
            return
        if isinstance(self._file, Sink):
            raise ValueError(f"{self._told} frames were announced, and {self._frames} came")
        self._file.seek(0)
        self._file.write(self._head(self._frames))

    def _head(self, frames: int) -> bytes:
        return head_of(self._rate, self._channels, self._depth, frames, large=self._large)


def _chunk(name: bytes, content: bytes) -> bytes:
    return name + struct.pack("<I", len(content)) + content
