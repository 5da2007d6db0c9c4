"""A score through an instrument, as chunks of sound: the one loop behind every offline render."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from engine.errors import SettingError
from engine.files.audio_file import Sound
from engine.music.errors import ScoreError
from engine.music.score import Score, weight
from engine.synth.admission import AT_ONCE, spread
from engine.synth.feed import Feed

CHUNK = 4096  # frames handed on at once; where silence is looked for, so lengths do not depend on the block size
LONGEST_TAIL = 30.0  # s, of strings that go on sounding after the last event
FADE = 0.5  # s, at the end of a tail that had to be cut
LONGEST = 24 * 3600.0  # s: beyond, a wrong byte in a MIDI file is likelier than music


class Playable(Protocol):
    """What is needed of `engine.Instrument`."""

    sample_rate: float
    block_size: int
    channels: int
    latency: int
    silent: bool

    def reset(self) -> Any:
        """Silence, and the clock at zero."""

    def schedule(self, sample: int, data: Sequence[int]) -> Any:
        """Let a message act at a sample, counted from the reset."""

    def run(self, out: Sound) -> Any:
        """Render len(out) frames."""


def stream(player: Playable, score: Score, tail: float | None = None) -> Iterator[Sound]:
    """The sound of a score from t = 0 on, latency taken out; each chunk is overwritten by the next.

    `tail` seconds follow the last event; without it, what the strings need to fall silent, at most LONGEST_TAIL.
    """
    _check(score, tail)
    rate = player.sample_rate
    score_frames, frames = round(score.length * rate), most_frames(score, rate, tail)
    feed = Feed(spread(score.events(rate), weight))
    out = np.zeros((CHUNK, player.channels), np.float32)
    for at in range(0, player.latency, CHUNK):  # what comes before t = 0
        _play(player, feed, at, out[: min(CHUNK, player.latency - at)])
    for at in range(0, frames, CHUNK):
        was_silent = player.silent
        chunk = out[: min(CHUNK, frames - at)]
        _play(player, feed, player.latency + at, chunk)
        if tail is None:
            _fade(chunk, frames - at, round(FADE * rate))
        yield chunk
        # One chunk of silence is played before the end, for what is still in the filters.
        if tail is None and was_silent and at + CHUNK > score_frames and player.silent:
            return


def most_frames(score: Score, rate: float, tail: float | None = None) -> int:
    """The frames of a stream: exactly so many with a `tail`, at most so many without."""
    return round(score.length * rate) + round((LONGEST_TAIL if tail is None else tail) * rate)


def _play(player: Playable, feed: Feed[Sequence[int]], clock: int, out: Sound) -> None:
    """Fill `out` from a sample on, in the player's blocks."""
    for at in range(0, len(out), player.block_size):
        block = out[at : at + player.block_size]
        feed.fill(block, clock + at, lambda: AT_ONCE, player.schedule, player.run, weight)


def _fade(chunk: Sound, left: int, length: int) -> None:
    """Fade a chunk that begins `left` frames before the end and reaches into the last `length` of them."""
    if left - len(chunk) < length:
        gain = (left - np.arange(len(chunk))) / length
        chunk *= np.clip(gain, 0.0, 1.0).astype(np.float32)[:, None]


def _check(score: Score, tail: float | None) -> None:
    if tail is not None and not 0.0 <= tail <= LONGEST:
        raise SettingError("tail", float(tail), f"must be 0 to {LONGEST:g} s", "leave it out to wait for silence")
    if score.length > LONGEST:
        raise ScoreError(f"lasts {score.length:.3g} s, at most {LONGEST:g} s are rendered; cut it with start and end")
