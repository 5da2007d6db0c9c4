"""Notes or MIDI in, sound out: the offline renderer as a function. `jawari render` is the same with files around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from engine.errors import SettingError
from engine.files.audio_file import Sound
from engine.music.sources import phrase, read_score
from engine.offline.job import Manner, make_player
from engine.offline.kept import Kept
from engine.offline.levels import limited
from engine.offline.stream import LONGEST, stream
from engine.preset.arguments import Quantity, rate_of, tuning_of, within
from engine.preset.loader import Preset, load_preset
from engine.preset.rack import Rack, is_rack, load_rack

_kept = Kept()


def render(
    preset: str | PathLike[str] | Mapping[str, Any] | Preset | Rack,
    notes: object = None,
    sample_rate: Quantity = 48_000,
    oversample: int | None = None,
    block_size: int = 128,
    tail: Quantity | None = None,
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
    file and of our own takes is played. Instruments are kept for the next call: at most 8, of 256 MB together.
    """
    if isinstance(preset, Preset | Rack) or is_rack(preset):
        if overrides:
            remedy = "pass them to load_preset, or write them into the rack"
            raise SettingError("overrides", overrides, "apply to a preset's source", remedy)
        preset = preset if isinstance(preset, Preset | Rack) else load_rack(preset)
    else:
        preset = load_preset(preset, overrides)
    if tail is not None:
        tail = within("tail", tail, 0.0, LONGEST, "s", "leave it out to wait for silence")
    score = phrase(preset) if notes is None else read_score(notes, drums)
    strings = 1 << (score.strings - 1).bit_length() if score.strings else 0  # what is kept serves more pieces so
    setup = Manner(rate_of(sample_rate), block_size, oversample, polyphony, tuning_of(tuning), mono, strings)
    with _kept.lent(make_player, preset, setup) as player:
        chunks = [chunk.copy() for chunk in stream(player, score, tail)]
        sound = np.concatenate([np.zeros((0, player.channels), np.float32), *chunks])
    if limit:
        limited(sound)
    return sound
