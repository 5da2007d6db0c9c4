"""One preset, rendered into one or more files: what a worker process does, and what the command does without any."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from engine.ending import carefree
from engine.preset.loader import Preset
from engine.preset.rack import Rack
from engine.preset.tuning import Tuning
from engine.rendering.audio_file import Format, audio_file
from engine.rendering.formats import FULL_SCALE
from engine.rendering.levels import Level, Meter, Spool, Wanted, level, limited
from engine.rendering.score import Score
from engine.rendering.stream import Player, Sound, most_frames, stream
from engine.units import db_to_gain, gain_to_db, key_to_note


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
    """What happens to the sound on its way into a file: `gain` in dB, or the peak wanted (`normalize`, dBFS), or the
    loudness (LUFS); then the limiter of live sound, if `limit`.

    `format` is that of what goes down a sink, whose name need not tell it.
    """

    depth: str = "24"
    gain: float = 0.0
    normalize: float | None = None
    loudness: float | None = None
    limit: bool = False
    tail: float | None = None
    seed: int = 0
    format: str = "wav"
    force: bool = False

    @property
    def wanted(self) -> Wanted:
        """The level that is asked for."""
        return Wanted(self.gain, self.normalize, self.loudness)

    @property
    def factor(self) -> float:
        """What `gain` multiplies by."""
        return db_to_gain(self.gain)

    @property
    def waits(self) -> bool:
        """Whether the sound must be known as a whole before any of it can be written.

        It must for a level that is asked for, and where samples beyond full scale would be cut off.
        """
        asked = self.normalize is not None or self.loudness is not None
        return asked or (not self.limit and self.depth != "32f")


@dataclass(frozen=True)
class Output:
    """A file and what is played into it."""

    path: Path
    score: Score


@dataclass(frozen=True)
class Job:
    """A preset, or a rack, and the files it is rendered into, one after the other.

    Jobs with the same `together` are parts of one whole: all their files get the same gain.
    """

    preset: Preset | Rack
    setup: Setup
    treatment: Treatment
    outputs: tuple[Output, ...]
    together: str = ""

    @property
    def seconds(self) -> float:
        """Sound to be made, without tails of unknown length."""
        return sum(output.score.length + (self.treatment.tail or 0.0) for output in self.outputs)


def make_player(preset: Preset | Rack, setup: Setup) -> Any:
    """The instrument, or the ensemble of a rack."""
    from engine.synth.ensemble import Ensemble, design_part  # late: only what sounds pays for it
    from engine.synth.instrument import Instrument

    if isinstance(preset, Rack):
        s, parts = setup, preset.parts

        def make(number: int) -> Instrument:
            return design_part(parts[number], s.sample_rate, s.block_size, s.oversample, s.polyphony, s.tuning, s.mono)

        return Ensemble(preset, make, s.sample_rate, s.block_size, s.mono, s.oversample)
    return Instrument(
        preset,
        sample_rate=setup.sample_rate,
        block_size=setup.block_size,
        oversample=setup.oversample,
        polyphony=setup.polyphony,
        tuning=setup.tuning,
        mono=setup.mono,
    )


def run_job(
    job: Job, made: Callable[[float], None], agree: Callable[[float], float] = lambda peak: peak
) -> list[dict[str, Any]]:
    """Write every file of a job and report on each; `made` is told the seconds of sound as they are made.

    What waits for its level is all played before anything is written, so that stems get one gain, by the loudest of
    them: `agree` is told this job's peak and gives that of all jobs that belong together.
    """
    with carefree():  # no file is begun yet
        player = make_player(job.preset, job.setup)
    form, how = _format(player, job), job.treatment
    if not how.waits:
        return [_stream(player, job, output, made) for output in job.outputs]
    with ExitStack() as kept:
        takes = []
        for output in job.outputs:
            spool = kept.enter_context(Spool(output.path, form.rate, form.channels))
            began = time.perf_counter()
            player.reset()
            spool.fill(_sound(player, job, output, made))
            takes.append((output, spool, _facts(player, output), time.perf_counter() - began))
        peak = agree(max(spool.meter.peak for _, spool, _, _ in takes))
        full = inf if how.limit else FULL_SCALE[how.depth]
        reports = []
        for output, spool, facts, took in takes:
            chosen = level(peak, spool.meter.loudness_lufs, how.wanted, full)
            began = time.perf_counter()
            written = _write(job, form, output, spool.chunks(), chosen, spool.meter.frames, exact=True)
            took += time.perf_counter() - began
            reports.append(written | facts | _timing(written, took))
        return reports


def _stream(player: Any, job: Job, output: Output, made: Callable[[float], None]) -> dict[str, Any]:
    """Play straight into the file."""
    began = time.perf_counter()
    player.reset()
    form, tail = _format(player, job), job.treatment.tail
    frames, sound = most_frames(output.score, form.rate, tail), _sound(player, job, output, made)
    written = _write(job, form, output, sound, Level(job.treatment.factor), frames, exact=tail is not None)
    return written | _facts(player, output) | _timing(written, time.perf_counter() - began)


def _sound(player: Player, job: Job, output: Output, made: Callable[[float], None]) -> Iterator[Sound]:
    for chunk in stream(player, output.score, job.treatment.tail):
        yield chunk
        made(len(chunk) / player.sample_rate)


def _write(
    job: Job, form: Format, output: Output, sound: Iterable[Sound], chosen: Level, frames: int, exact: bool
) -> dict[str, Any]:
    """The sound, of at most or exactly so many frames, at its level into the file, and what was measured on the way."""
    how = job.treatment
    before, after, bent, gain = 0.0, Meter(form.rate, form.channels), 0, np.float32(chosen.gain)
    with audio_file(output.path, form, frames, force=how.force, exact=exact) as file:
        for chunk in sound:
            before = max(before, float(np.abs(chunk).max(initial=0.0)))
            louder = chunk * gain
            bent += limited(louder) if how.limit else 0
            after.add(louder)
            file.write(louder)
    return {
        "file": str(output.path),
        "preset": job.preset.name,
        "preset_source": job.preset.source,
        "container": file.container,
        "channels": form.channels,
        "frames": after.frames,
        "seconds": after.frames / form.rate,
        "played_peak_dbfs": gain_to_db(before) if before > 0.0 else None,
        "gain_db": gain_to_db(chosen.gain),
        "level": chosen.remark,
        "bent_frames": bent,
        "bent_share": bent / max(after.frames, 1),
        "peak_dbfs": after.peak_dbfs,
        "loudness_lufs": after.loudness_lufs,
        "clipped_samples": file.clipped,
    }


def _facts(player: Any, output: Output) -> dict[str, Any]:
    """What the instrument has to say of what it has just played."""
    silent = {key_to_note(key): player.silent_keys[key] for key in output.score.keys if key in player.silent_keys}
    return {
        "oversample": player.oversample,
        "polyphony": player.polyphony,
        "silent_keys": silent,
        **player.report(),
    }


def _timing(written: dict[str, Any], took: float) -> dict[str, float]:
    return {"render_seconds": took, "speed": written["seconds"] / took}


def _format(player: Any, job: Job) -> Format:
    how = job.treatment
    return Format(int(player.sample_rate), player.channels, how.depth, how.seed, how.format)
