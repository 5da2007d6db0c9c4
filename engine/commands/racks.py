"""What `play` and `render` share about several presets at once: --map, racks, and what a take remembers of them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine import messages as midi
from engine.commands.common import UsageError, quantity
from engine.errors import PresetError
from engine.music.errors import ScoreError
from engine.music.figure import drone_of
from engine.preset.complaints import shown
from engine.preset.drone import FASTEST, SLOWEST, Drone
from engine.preset.loader import Preset, load_preset, load_text
from engine.preset.rack import MOST_PARTS, Rack, bank, is_rack, load_rack, parse_channels
from engine.synth.memory import PARTS
from engine.synth.shaping import Shaped, retold

MAP_HELP = (
    "a preset for a MIDI channel, channels 5-8 or channels 1,3: 1=sitar 2=tanpura 5-8=mine.yaml; the others are played "
    "by the first PRESET, or if none is named left out"
)


def add_map(p: argparse._ArgumentGroup) -> None:
    """Declare --map."""
    p.add_argument("--map", nargs="+", action="extend", default=[], metavar="CHANNELS=PRESET", help=MAP_HELP)


def make_rack(names: Sequence[str], mapped: Sequence[str], overrides: Sequence[str]) -> Rack:
    """A rack file's rack; or presets as programs, which channels begin on what `mapped` says.

    A preset that is only mapped to channels is no program, nor is one that is named alone: a MIDI file from elsewhere
    names instruments of General MIDI, and it should not undo what was asked for. Overrides are the first preset's.
    """
    if any(is_rack(name) for name in names):
        if len(names) > 1 or mapped or overrides:
            raise UsageError(
                f"{shown(next(name for name in names if is_rack(name)))} is a rack, which stands alone; "
                "write presets, channels and set: into it instead of further PRESETs, --map and --set"
            )
        return load_rack(names[0])
    pairs = [_pair(item) for item in mapped]
    named = list(dict.fromkeys([*names, *(name for _, name in pairs)]))
    presets = [load_preset(name, overrides if name == named[0] else None) for name in named]
    if not mapped:
        return bank(presets)
    channels: dict[int, int] = {}
    for wanted, name in pairs:
        for channel in wanted:
            if channel in channels:
                raise UsageError(f"--map: channel {channel + 1} is mapped twice; map it once")
            channels[channel] = named.index(name)
    if names:
        channels = dict.fromkeys(range(midi.CHANNELS), 0) | channels
    return bank(presets, channels, len(names) if len(names) > 1 else 0)


def asked_drone(preset: Preset | Rack | Shaped, tempo: str | None) -> tuple[Drone, tuple[int, ...]]:
    """What --drone plays, as fast as --tempo says, and on which channels."""
    drone, channels = drone_of(preset)
    if tempo is None:
        return drone, channels
    beats = quantity("--tempo", tempo, "")
    if not SLOWEST <= beats <= FASTEST:
        raise UsageError(f"--tempo = {shown(tempo)}: must be {SLOWEST:g} to {FASTEST:g} beats a minute")
    return replace(drone, tempo=beats), channels


def mapped_channels(mapped: Sequence[str]) -> set[int]:
    """The channels, from 0, that --map names."""
    return {channel for item in mapped for channel in _pair(item)[0]}


def _pair(item: str) -> tuple[tuple[int, ...], str]:
    channels, equals, name = item.partition("=")
    if not equals or not name.strip():
        raise UsageError(f"--map {shown(item)}: must be CHANNELS=PRESET; write it like 1=sitar or 5-8=mine.yaml")
    if is_rack(name):
        raise UsageError(f"--map {shown(item)}: is a rack, which has channels of its own; name a preset")
    try:
        return parse_channels(channels), name
    except PresetError as error:
        raise UsageError(f"--map {shown(item)}: {error}") from None


def remembered(args: argparse.Namespace, names: Sequence[str], sample_rate: float, mono: bool) -> dict[str, Any]:
    """What a take keeps, so that it can be rendered as it was played."""
    return {
        "sample_rate": sample_rate,
        "bank": list(names),
        "map": list(args.map),
        "set": list(args.set),
        "polyphony": args.polyphony,
        "oversample": args.oversample,
        "tuning": args.tuning,
        "mono": mono,
    }


def facts_for(facts: Mapping[str, Any], presets: Sequence[str]) -> Mapping[str, Any]:
    """What a take remembers, if it is to be rendered on that: on no preset named, or on its own first one."""
    if not facts:
        return {}
    optional = {"polyphony": int, "oversample": int, "tuning": str}
    whole = (
        _texts(facts.get("bank"))
        and all(_texts(facts.get(name, [])) for name in ("map", "set"))
        and all(isinstance(facts.get(name), kind | None) for name, kind in optional.items())
        and isinstance(facts.get("sample_rate"), int | float)
        and isinstance(facts.get("mono", False), bool)
        and bool(facts["bank"] or facts.get("map"))
    )
    if not whole:
        if presets:
            return {}
        raise ScoreError("what this take says about its instruments makes no sense; name a PRESET")
    first = [*facts["bank"], *(item.partition("=")[2] for item in facts.get("map", ()))][0]
    return facts if list(presets) in ([], [first]) else {}


def _texts(value: object) -> bool:
    return isinstance(value, list) and len(value) <= MOST_PARTS and all(isinstance(item, str) for item in value)


def rack_of_take(facts: Mapping[str, Any], overrides: Sequence[str]) -> Rack:
    """What a take was played on: with as many strings as live, where a render would take more."""
    rack = make_rack(facts["bank"], facts.get("map") or (), overrides or facts.get("set") or ())
    parts = [replace(part, polyphony=part.polyphony or part.preset.polyphony) for part in rack.parts]
    return replace(rack, parts=tuple(parts))


def shaped_take(facts: Mapping[str, Any], name: str) -> Shaped | None:
    """A take whose preset was changed while it was played; None if it was not."""
    if not facts.get("edits"):
        return None
    folder, seat = facts.get("folder"), facts.get("seat")
    try:
        text, changes = retold(facts["edits"])
        if not isinstance(folder, str) or type(seat) is not int or not 0 <= seat < PARTS:
            raise ValueError("no place")
    except ValueError:
        raise ScoreError("what this take says of its preset's changes makes no sense; name a PRESET") from None
    return Shaped(load_text(text, name, Path(folder))[0].name, name, Path(folder), seat, text, changes)


def stem(name: str | Path) -> str:
    """What a preset or rack is called in the names of files."""
    return Path(name).stem
