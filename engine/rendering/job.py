"""One preset, rendered into one or more files: what a worker process does, and what the command does without any."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.ending import carefree
from engine.preset.loader import Preset
from engine.preset.tuning import Tuning
from engine.rendering.audio_file import Format, audio_file
from engine.rendering.levels import Meter, amplified, normalised
from engine.rendering.score import Score
from engine.rendering.stream import LONGEST_TAIL, Player, Sound, stream
from engine.rendering.target import is_sink
from engine.units import key_to_note


@dataclass(frozen=True)
class Setup:
    """How an instrument is set up, beside its preset."""

    sample_rate: float = 48_000
    block_size: int = 128
    oversample: int | None = None
    polyphony: int | None = None
    tuning: Tuning | None = None
    mono: bool = False


@dataclass(frozen=True)
class Treatment:
    """What happens to the sound on its way into a file; `normalize` is the peak wanted, in dBFS.

    `format` is that of what goes down a sink, whose name need not tell it.
    """

    depth: str = "24"
    gain: float = 0.0
    normalize: float | None = None
    tail: float | None = None
    seed: int = 0
    format: str = "wav"
    force: bool = False


@dataclass(frozen=True)
class Output:
    """A file and what is played into it."""

    path: Path
    score: Score


@dataclass(frozen=True)
class Job:
    """A preset and the files it is rendered into, one after the other."""

    preset: Preset
    setup: Setup
    treatment: Treatment
    outputs: tuple[Output, ...]

    @property
    def seconds(self) -> float:
        """Sound to be made, without tails of unknown length."""
        return sum(output.score.length + (self.treatment.tail or 0.0) for output in self.outputs)


def make_player(preset: Preset, setup: Setup) -> Any:
    """The instrument."""
    from engine.synth.instrument import Instrument  # late: only what sounds pays for it

    return Instrument(
        preset,
        sample_rate=setup.sample_rate,
        block_size=setup.block_size,
        oversample=setup.oversample,
        polyphony=setup.polyphony,
        tuning=setup.tuning,
        mono=setup.mono,
    )


def run_job(job: Job, made: Callable[[float], None]) -> list[dict[str, Any]]:
    """Write every file of a job and report on each; `made` is told the seconds of sound as they are made."""
    with carefree():  # no file is begun yet
        player = make_player(job.preset, job.setup)
    return [_write(player, job, output, made) for output in job.outputs]


def _write(player: Any, job: Job, output: Output, made: Callable[[float], None]) -> dict[str, Any]:
    how, score = job.treatment, output.score
    player.reset()
    form = Format(int(player.sample_rate), player.channels, how.depth, how.seed, how.format)
    tail = LONGEST_TAIL if how.tail is None else how.tail
    frames = round((score.length + tail) * form.rate)
    meter = Meter(form.rate, form.channels)
    began = time.perf_counter()
    with audio_file(output.path, form, frames, force=how.force) as file:
        for chunk in _treated(player, job, output, made):
            meter.add(chunk)
            file.write(chunk)
    took = time.perf_counter() - began
    return {
        "file": str(output.path),
        "preset": job.preset.name,
        "preset_source": job.preset.source,
        "oversample": player.oversample,
        "polyphony": player.polyphony,
        "container": file.container,
        "channels": form.channels,
        "frames": meter.frames,
        "seconds": meter.frames / form.rate,
        "peak_dbfs": meter.peak_dbfs,
        "loudness_lufs": meter.loudness_lufs,
        "clipped_samples": file.clipped,
        "silent_keys": {key_to_note(key): player.silent_keys[key] for key in score.keys if key in player.silent_keys},
        "render_seconds": took,
        "speed": meter.frames / form.rate / took,
        **player.report(),
    }


def _treated(player: Player, job: Job, output: Output, made: Callable[[float], None]) -> Iterator[Sound]:
    how = job.treatment

    def sound() -> Iterator[Sound]:
        for chunk in stream(player, output.score, how.tail):
            yield chunk
            made(len(chunk) / player.sample_rate)

    if how.normalize is not None:
        folder = tempfile.gettempdir() if is_sink(output.path) else output.path.resolve().parent
        return normalised(sound(), player.channels, how.normalize, Path(folder))
    return amplified(sound(), how.gain) if how.gain else sound()
