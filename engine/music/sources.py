"""The score of anything that has one: notes, their text, MIDI files, mido's messages, a preset's own phrase."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from engine.music.errors import ScoreError
from engine.music.midi_file import midi_bytes, parse_midi, read_midi
from engine.music.note import PHRASE, Note, parse_notes
from engine.music.score import Score, score_of_messages, score_of_notes
from engine.preset.complaints import shown
from engine.preset.loader import Preset
from engine.preset.rack import Rack
from engine.reading import MIDI_SUFFIXES
from engine.synth.shaping import Shaped


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


def phrase(preset: Preset | Rack | Shaped) -> Score:
    """What a preset plays when nothing else is asked for."""
    return score_of_notes(parse_notes(getattr(preset, "phrase", "") or PHRASE))
