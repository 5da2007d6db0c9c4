"""One preset, rendered into one or more files: what a worker process does, and what the command does without any."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from engine.ending import carefree
from engine.files.audio_file import AudioFile, Format, Sound, audio_file
from engine.files.formats import FULL_SCALE, codec_of
from engine.music.score import Score
from engine.offline.levels import Gain, LevelMeter, Spool, Wanted, level, limited
from engine.offline.stream import Playable, most_frames, stream
from engine.preset.loader import Preset
from engine.preset.rack import Rack
from engine.preset.tuning import Tuning
from engine.synth.shaping import Shaped
from engine.units import db_to_gain, gain_to_db, key_to_note


@dataclass(frozen=True)
class Manner:
    """How an instrument is set up, beside its preset."""

    sample_rate: float = 48_000
    block_size: int = 128
    oversample: int | None = None
    polyphony: int | None = None
    tuning: Tuning | None = None
    mono: bool = False
    strings: int = 0  # struck by the piece: where nothing says how many there are, there are as many as it needs


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
    def waits(self) -> bool:
        """Whether the sound must be known as a whole before any of it can be written.

        It must for a level that is asked for, and where samples beyond full scale would be cut off.
        """
        asked = self.normalize is not None or self.loudness is not None
        return asked or (not self.limit and self.depth != "32f")


@dataclass(frozen=True)
class OutputFile:
    """A file and what is played into it."""

    path: Path
    score: Score


@dataclass(frozen=True)
class Job:
    """A preset, a rack or a shaped take, and the files it is rendered into, one after the other.

    Jobs with the same `together` are parts of one whole: all their files get the same gain.
    """

    preset: Preset | Rack | Shaped
    setup: Manner
    treatment: Treatment
    outputs: tuple[OutputFile, ...]
    together: str = ""

    @property
    def seconds(self) -> float:
        """Sound to be made, without tails of unknown length."""
        return sum(output.score.length + (self.treatment.tail or 0.0) for output in self.outputs)


def make_player(preset: Preset | Rack | Shaped, setup: Manner) -> Any:
    """The instrument, the ensemble of a rack, or what plays a shaped take again."""
    from engine.synth.ensemble import Ensemble, design_part  # late: only what sounds pays for it
    from engine.synth.instrument import Instrument
    from engine.synth.shaped import ShapedPlayer

    if isinstance(preset, Shaped):
        return ShapedPlayer(preset, setup.sample_rate, setup.block_size, setup.mono)
    if isinstance(preset, Rack):
        s, parts = setup, preset.parts

        def make(number: int) -> Instrument:
            how = (s.sample_rate, s.block_size, s.oversample, s.polyphony, s.tuning, s.mono, s.strings)
            return design_part(parts[number], *how)

        return Ensemble(preset, make, s.sample_rate, s.block_size, s.mono, s.oversample)
    return Instrument(
        preset,
        sample_rate=setup.sample_rate,
        block_size=setup.block_size,
        oversample=setup.oversample,
        polyphony=setup.polyphony,
        tuning=setup.tuning,
        mono=setup.mono,
        needed=setup.strings,
    )


def run_job(
    job: Job, made: Callable[[float], None], agree: Callable[[float], float] = lambda peak: peak
) -> list[dict[str, Any]]:
    """Write every file of a job and report on each; `made` is told the seconds of sound as they are made.

    What waits for its level is all played before anything is written, so that stems get one gain, by the loudest of
    them: `agree` is told this job's peak and gives that of all jobs that belong together.
    """
    with carefree():  # no file is begun yet
        strings = max((output.score.strings for output in job.outputs), default=0)
        player = make_player(job.preset, replace(job.setup, strings=strings))
    if not job.treatment.waits:
        return [_stream(player, job, output, made) for output in job.outputs]
    with ExitStack() as kept:
        takes = [_play(player, job, output, made, kept) for output in job.outputs]
        peak = agree(max(take.spool.meter.peak for take in takes))
        return [_settle(job, take, peak) for take in takes]


class _Take(NamedTuple):
    """An output that is played and not written yet."""

    output: OutputFile
    file: AudioFile
    spool: Spool
    facts: dict[str, Any]
    seconds: float  # that it took


def _stream(player: Any, job: Job, output: OutputFile, made: Callable[[float], None]) -> dict[str, Any]:
    """Play straight into the file."""
    began = time.perf_counter()
    with _open(player, job, output) as file:
        written = _write(job, output, file, _sound(player, job, output, made), Gain(db_to_gain(job.treatment.gain)))
    return written | _facts(player, job, output) | _timing(written, time.perf_counter() - began)


def _play(player: Any, job: Job, output: OutputFile, made: Callable[[float], None], kept: ExitStack) -> _Take:
    """Play, and let the sound wait beside the file that is made for it."""
    began = time.perf_counter()
    file = kept.enter_context(_open(player, job, output))
    spool = kept.enter_context(Spool(output.path, file.form.rate, file.form.channels))
    spool.fill(_sound(player, job, output, made))
    return _Take(output, file, spool, _facts(player, job, output), time.perf_counter() - began)


def _settle(job: Job, take: _Take, peak: float) -> dict[str, Any]:
    """Write what was played, now that the peak of all that belongs together is known."""
    began, how = time.perf_counter(), job.treatment
    full_scale = inf if how.limit else FULL_SCALE[how.depth]
    form = take.file.form
    floats = "32f" in codec_of(take.output.path, form.rate, form.depth, form.unnamed).depths
    chosen = level(peak, take.spool.meter.loudness_lufs, how.wanted, full_scale, floats)
    written = _write(job, take.output, take.file, take.spool.chunks(), chosen)
    return written | take.facts | _timing(written, take.seconds + time.perf_counter() - began)


def _open(player: Any, job: Job, output: OutputFile) -> AbstractContextManager[AudioFile]:
    how = job.treatment
    form = Format(int(player.sample_rate), player.channels, how.depth, how.seed, how.format)
    frames = most_frames(output.score, form.rate, how.tail)
    return audio_file(output.path, form, frames, force=how.force, exact=how.tail is not None)


def _sound(player: Playable, job: Job, output: OutputFile, made: Callable[[float], None]) -> Iterator[Sound]:
    player.reset()
    for chunk in stream(player, output.score, job.treatment.tail):
        yield chunk
        made(len(chunk) / player.sample_rate)


def _write(job: Job, output: OutputFile, file: AudioFile, sound: Iterable[Sound], chosen: Gain) -> dict[str, Any]:
    """The sound at its level into the file, and what was measured on the way."""
    form, limit = file.form, job.treatment.limit
    before, after, bent, gain = 0.0, LevelMeter(form.rate, form.channels), 0, np.float32(chosen.gain)
    for chunk in sound:
        before = max(before, float(np.abs(chunk).max(initial=0.0)))
        louder = chunk * gain
        bent += limited(louder) if limit else 0
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


def _facts(player: Any, job: Job, output: OutputFile) -> dict[str, Any]:
    """What the instrument has to say of what it has just played."""
    told = player.report()
    silent = {key_to_note(key): player.silent_keys[key] for key in output.score.keys if key in player.silent_keys}
    return {
        "oversample": player.oversample,
        "polyphony": player.polyphony,
        "polyphony_asked": _asked(job, told),
        "silent_keys": silent,
        **told,
    }


def _asked(job: Job, told: dict[str, Any]) -> bool:
    """Whether somebody said how many strings there are where strings were short; else there is room for no more."""
    if job.setup.polyphony is not None or not isinstance(job.preset, Rack):
        return job.setup.polyphony is not None
    return any(part["voices_stolen"] and job.preset.parts[part["part"] - 1].polyphony for part in told["parts"])


def _timing(written: dict[str, Any], took: float) -> dict[str, float]:
    return {"render_seconds": took, "speed": written["seconds"] / took}
