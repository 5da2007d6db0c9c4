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
_ELSEWHERE = 2**32 - 1  # a size that RF64 tells in 64 bits


def is_large(frames: int, channels: int, depth: str) -> bool:
    """Whether so much sound needs RF64."""
    return frames * channels * _BYTES[depth] > LARGEST_WAV


class Wav:
    """A file being written, or a sink, which needs the true number of frames at once: nobody goes back in it."""

    def __init__(self, file: BinaryIO | Sink, rate: int, channels: int, depth: str, frames: int, large: bool) -> None:
        self._file, self._rate, self._channels, self._depth, self._large = file, rate, channels, depth, large
        self._told, self._frames = frames, 0
        file.write(self._header(frames))

    def write(self, frames: NDArray[Any]) -> None:
        """Append frames: float32, int16, or int32 of which the upper three bytes count."""
        data = frames.astype(frames.dtype.newbyteorder("<"))
        self._file.write(data.view(np.uint8).reshape(-1, 4)[:, 1:].tobytes() if self._depth == "24" else data.tobytes())
        self._frames += len(frames)

    def finish(self) -> None:
        """Make sizes even and true."""
        self._file.write(bytes(self._size(self._frames) % 2))
        if self._frames == self._told:
            return
        if isinstance(self._file, Sink):
            raise ValueError(f"{self._told} frames were announced, and {self._frames} came")
        self._file.seek(0)
        self._file.write(self._header(self._frames))

    def _size(self, frames: int) -> int:
        return frames * self._channels * _BYTES[self._depth]

    def _header(self, frames: int) -> bytes:
        floats, bytes_each = self._depth == "32f", _BYTES[self._depth]
        frame, code = self._channels * bytes_each, _FLOATS if floats else _WHOLE_NUMBERS
        shape = struct.pack("<HHIIHH", code, self._channels, self._rate, self._rate * frame, frame, 8 * bytes_each)
        told = _ELSEWHERE if self._large else frames
        chunks = (
            _chunk(b"fmt ", shape + bytes(2)) + _chunk(b"fact", struct.pack("<I", told))
            if floats
            else _chunk(b"fmt ", shape)
        )
        size = self._size(frames)
        whole = 4 + len(chunks) + 8 + size + size % 2
        if not self._large:
            return struct.pack("<4sI4s", b"RIFF", whole, b"WAVE") + chunks + struct.pack("<4sI", b"data", size)
        sizes = _chunk(b"ds64", struct.pack("<QQQI", whole + 36, size, frames, 0))
        begin = struct.pack("<4sI4s", b"RF64", _ELSEWHERE, b"WAVE")
        return begin + sizes + chunks + struct.pack("<4sI", b"data", _ELSEWHERE)


def _chunk(name: bytes, content: bytes) -> bytes:
    return name + struct.pack("<I", len(content)) + content
