"""The formats of audio files: their suffixes, bit depths and sample rates, and what libsndfile calls them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

from engine.files.errors import FileError
from engine.files.target import named

BIT_DEPTHS = {"16": "PCM_16", "24": "PCM_24", "32f": "FLOAT"}
# The largest sample that each holds, dither and rounding included; lossy formats count as the default.
FULL_SCALE = {"16": 1.0 - 2.0**-14, "24": 1.0 - 2.0**-23, "32f": inf}
DEFAULT_DEPTH = "24"  # also that of formats which have none
_WHOLE = {depth: BIT_DEPTHS[depth] for depth in ("16", "24")}
_ANY_RATE = range(1, 2**32)


@dataclass(frozen=True)
class Codec:
    """A format: without `depths` it is lossy, and `coding` and `compression` (from 0, the best) say how."""

    title: str
    container: str  # libsndfile's name
    suffixes: tuple[str, ...]
    depths: Mapping[str, str] = field(default_factory=dict)  # with libsndfile's names
    rates: Sequence[int] = _ANY_RATE
    coding: str = ""
    compression: float | None = None

    @property
    def lossy(self) -> bool:
        """Whether the samples read back are others than those written."""
        return not self.depths


# Lossy ones near the rate from which nobody hears a difference any more: some 256 kbit/s for two channels.
FORMATS = {
    "wav": Codec("WAV", "WAV", (".wav", ".wave"), BIT_DEPTHS),
    "flac": Codec("FLAC", "FLAC", (".flac",), _WHOLE, range(1, 655_351)),
    "aiff": Codec("AIFF", "AIFF", (".aiff", ".aif"), BIT_DEPTHS),
    "ogg": Codec("OGG", "OGG", (".ogg", ".oga"), rates=range(8_000, 200_001), coding="VORBIS", compression=0.2),
    "opus": Codec(
        "Opus", "OGG", (".opus",), rates=(8_000, 12_000, 16_000, 24_000, 48_000), coding="OPUS", compression=0.5
    ),
    "mp3": Codec(
        "MP3",
        "MP3",
        (".mp3",),
        rates=(8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000),
        coding="MPEG_LAYER_III",
        compression=0.0,
    ),
}
SUFFIXES = {suffix: codec for codec in FORMATS.values() for suffix in codec.suffixes}


def codec_of(path: Path, rate: int, depth: str, unnamed: str = "") -> Codec:
    """The format that a file's suffix asks for, or else `unnamed`; refused where it cannot hold such sound."""
    codec = SUFFIXES.get(path.suffix.lower()) or FORMATS.get(unnamed)
    if codec is None:
        *most, last = (kind.suffixes[0] for kind in FORMATS.values())
        raise FileError(f"{named(path)}: no format is known by this suffix; name it {', '.join(most)} or {last}")
    if codec.lossy and depth != DEFAULT_DEPTH:
        raise FileError(f"{named(path)}: {codec.title} has no bit depth; leave it out, or take .wav")
    if codec.depths and depth not in codec.depths:
        raise FileError(f"{named(path)}: {codec.title} holds whole numbers only; take bit depth 24, or .wav")
    if rate not in codec.rates:
        raise FileError(
            f"{named(path)}: {codec.title} has no {rate} Hz, only {_list(codec.rates)}; take another rate, or .wav"
        )
    return codec


def _list(rates: Sequence[int]) -> str:
    if isinstance(rates, range):
        return f"{rates[0]} to {rates[-1]} Hz"
    return f"{', '.join(map(str, rates[:-1]))} and {rates[-1]} Hz"
