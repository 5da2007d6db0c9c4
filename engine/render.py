"""Notes or MIDI in, sound out: the offline renderer as a function. `jawari render` is the same with files around it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import SettingError
from engine.preset.complaints import shown
from engine.preset.loader import Preset, load_preset
from engine.preset.rack import Rack, is_rack, load_rack
from engine.reading import MIDI_SUFFIXES
from engine.rendering.errors import ScoreError
from engine.rendering.job import Setup, make_player
from engine.rendering.levels import limited
from engine.rendering.midi_file import midi_bytes, parse_midi, read_midi
from engine.rendering.note import PHRASE, Note, parse_notes
from engine.rendering.score import Score, score_of_messages, score_of_notes
from engine.rendering.stream import Sound, stream


def render(
    preset: str | PathLike[str] | Mapping[str, Any] | Preset | Rack,
    notes: object = None,
    sample_rate: float = 48_000,
    oversample: int | None = None,
    block_size: int = 128,
    tail: float | None = None,
    *,
    polyphony: int | None = None,
    tuning: Any = None,
    mono: bool = False,
    limit: bool = False,
    overrides: Mapping[str, Any] | Sequence[str] | None = None,
    drums: bool = False,
) -> Sound:
    """The sound [frames, channels] of notes on a preset or a rack; row 0 is t = 0, whatever the instrument's latency.

    `notes` are a list of `Note`, a text such as "C4:0:2 E4:.5:2", a MIDI file (path or mido.MidiFile), or mido messages
    whose `time` is in seconds from the start; without them the preset's phrase is played. `tail` seconds follow the
    last event; without it, what the strings need to fall silent, at most 30 s. Nothing keeps the sound below full
    scale; with `limit` it is bent as live sound is. Without a polyphony there are as many strings as the piece needs,
    if memory lasts, and at least the preset's. Channel 10 of a MIDI file is left out unless `drums`; that of an MPE
    file and of our own takes is played.
    """
    if isinstance(preset, Preset | Rack) or is_rack(preset):
        if overrides:
            remedy = "pass them to load_preset, or write them into the rack"
            raise SettingError("overrides", overrides, "apply to a preset's source", remedy)
        preset = preset if isinstance(preset, Preset | Rack) else load_rack(preset)
    else:
        preset = load_preset(preset, overrides)
    setup = Setup(sample_rate, block_size, oversample, polyphony, tuning, mono)
    score = phrase(preset) if notes is None else read_score(notes, drums)
    player = make_player(preset, setup, score.strings)
    chunks = [chunk.copy() for chunk in stream(player, score, tail)]
    sound = np.concatenate([np.zeros((0, player.channels), np.float32), *chunks])
    if limit:
        limited(sound)
    return sound


def read_score(source: object, drums: bool = False) -> Score:
    """The score of anything `render` takes as notes; of files without channel 10, unless `drums`."""
    if isinstance(source, Score):
        return source
    if isinstance(source, PathLike) or (isinstance(source, str) and source.lower().endswith(MIDI_SUFFIXES)):
        return _of_file(read_midi(Path(source)), drums)
    if isinstance(source, str):
        return score_of_notes(parse_notes(source))
    if hasattr(source, "ticks_per_beat"):
        return _of_file(parse_midi(midi_bytes(source)), drums)
    if not isinstance(source, Iterable):
        raise ScoreError(f"{shown(source)}: no notes; give Notes, a text of notes, a MIDI file or mido messages")
    items = list(source)
    if all(isinstance(item, Note) for item in items):
        return score_of_notes(items)
    if all(hasattr(item, "bytes") and hasattr(item, "time") for item in items):
        return score_of_messages(items)
    raise ScoreError("a list of notes must hold either only Notes or only mido messages")


def _of_file(score: Score, drums: bool) -> Score:
    kept = score if drums else score.without_drums()
    if score.keys and not kept.keys:
        raise ScoreError("has notes on channel 10 only, which is drums; --drums, or drums=True, plays them")
    return kept


def phrase(preset: Preset | Rack) -> Score:
    """What a preset plays when nothing else is asked for."""
    return score_of_notes(parse_notes(getattr(preset, "phrase", "") or PHRASE))
