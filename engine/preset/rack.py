"""A rack: several presets played as one, each on its MIDI channels and programs, with a gain and a place of its own."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from engine.errors import PhysicsError, PresetError
from engine.preset import kinds
from engine.preset.complaints import Complaints, Place, shown
from engine.preset.document import Node, plain_value, read_object, read_yaml
from engine.preset.files import MAX_BYTES
from engine.preset.key import Key
from engine.preset.loader import Preset, load_preset, locate
from engine.preset.tuning import Tuning
from engine.reading import read_text

CHANNELS = 16
MOST_PARTS = 128

KEYS = {
    key.name: key
    for key in (
        Key("preset", "preset", "A shipped preset's name, or a YAML file, its path from the rack's folder."),
        Key("channels", "channels", "MIDI channels that begin on it: 3, 5-8, or [1, 2]."),
        Key("program", "whole", "The program change that chooses it, the first being 1.", low=1, high=1024),
        Key("gain", "level", "Louder or softer by this.", 0.0, "dB", -60.0, 24.0),
        Key("pan", "number", "From -1, left, to 1, right.", 0.0, "", -1.0, 1.0),
        Key("polyphony", "whole", "Strings at a time, instead of the preset's.", low=1, high=256),
        Key("tuning", "tuning", "Instead of the preset's."),
        Key("set", "overrides", "Keys of the preset with other values: {barrier.height: -0.01 mm}."),
    )
}


@dataclass(frozen=True)
class Part:
    """A preset of a rack. Channels and programs count from 0; what is None is as the preset has it."""

    preset: Preset
    channels: tuple[int, ...] = ()
    program: int | None = None
    gain: float = 0.0  # dB
    pan: float = 0.0
    polyphony: int | None = None
    tuning: Tuning | None = None

    @property
    def label(self) -> str:
        """What its preset is called where one is named: sitar."""
        return Path(self.preset.source).stem


@dataclass(frozen=True)
class Rack:
    """Parts in order. A channel begins on one part at most, and a program stands for one."""

    name: str
    parts: tuple[Part, ...]
    source: str = field(default="rack", compare=False)

    @property
    def phrase(self) -> str:
        """What is played when nothing else is asked for."""
        return self.parts[0].preset.phrase

    @property
    def routes(self) -> tuple[int, ...]:
        """For each channel the part that its notes begin on, or -1."""
        begun = {channel: number for number, part in enumerate(self.parts) for channel in part.channels}
        return tuple(begun.get(channel, -1) for channel in range(CHANNELS))

    @property
    def programs(self) -> dict[int, int]:
        """The part that each program stands for."""
        return {part.program: number for number, part in enumerate(self.parts) if part.program is not None}


def bank(presets: Sequence[Preset], channels: Mapping[int, int] | None = None, programs: int | None = None) -> Rack:
    """The first `programs` presets, or all of them, as programs in their order; `channels` begin on the ones named.

    Without `channels` all begin on the first.
    """
    if channels is None:
        channels = dict.fromkeys(range(CHANNELS), 0)
    chosen = len(presets) if programs is None else programs
    parts = [
        Part(preset, tuple(c for c in sorted(channels) if channels[c] == number), number if number < chosen else None)
        for number, preset in enumerate(presets)
    ]
    return Rack(" + ".join(dict.fromkeys(preset.name for preset in presets)), tuple(parts), "bank")


def parse_channels(value: object) -> tuple[int, ...]:
    """Channels from 0 of "3", "5-8", "1,3,9-16" or a list of such, in order."""
    items = value if isinstance(value, list | tuple) else str(value).split(",")
    found: set[int] = set()
    for item in items:
        match = re.fullmatch(r"\s*([0-9]{1,2})\s*(?:[-–]\s*([0-9]{1,2})\s*)?", str(item))
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last <= CHANNELS:
            raise PresetError(f"must be channels from 1 to {CHANNELS}; write them like 3, 5-8 or [1, 2]")
        found |= set(range(first - 1, last))
    if not found:
        raise PresetError(f"must be channels from 1 to {CHANNELS}; write them like 3, 5-8 or [1, 2]")
    return tuple(sorted(found))


def format_channels(channels: Sequence[int]) -> str:
    """The shortest text that `parse_channels` reads as these."""
    spans: list[list[int]] = []
    for channel in channels:
        if spans and channel == spans[-1][1] + 1:
            spans[-1][1] = channel
        else:
            spans.append([channel, channel])
    return ", ".join(f"{a + 1}" if a == b else f"{a + 1}-{b + 1}" for a, b in spans)


def is_rack(source: object) -> bool:
    """Whether this names, or is, a rack rather than a preset: what has parts."""
    if isinstance(source, Rack):
        return True
    if isinstance(source, Mapping):
        return "parts" in source
    path = os.fsdecode(source) if isinstance(source, str | os.PathLike) else ""
    if not path.lower().endswith((".yaml", ".yml")):
        return False
    try:
        root = read_yaml(read_text(Path(path), MAX_BYTES, PresetError), path, Complaints())
    except PresetError:
        return False  # whoever reads it says what is wrong
    return isinstance(root.value, dict) and "parts" in root.value


def load_rack(source: str | os.PathLike[str] | Mapping[str, Any]) -> Rack:
    """The rack of a YAML file or a dict. A PresetError holds everything that is wrong, a line each."""
    complaints = Complaints()
    if isinstance(source, Mapping):
        return _Reader(read_object(source, "rack", complaints), None, complaints).rack()
    path = Path(os.fsdecode(source))
    try:
        text = read_text(path, MAX_BYTES, PresetError)
    except PresetError as error:
        complaints.fatal(Place(str(path)), str(error))
    return _Reader(read_yaml(text, str(path), complaints), path.parent, complaints).rack()


class _Reader:
    """A tree of values as a rack; all its errors, and those of its presets, at once."""

    def __init__(self, root: Node, folder: Path | None, complaints: Complaints) -> None:
        self._root, self._folder, self._complaints = root, folder, complaints
        self._of_presets: list[PresetError] = []
        self._taken: dict[tuple[str, int], Place] = {}

    def rack(self) -> Rack:
        root, said = self._root, self._complaints
        entries = root.value if isinstance(root.value, dict) else {}
        if not entries:
            said.add(root.place, "must be keys with values; write rack: a name, and parts: a list")
        for word, node in entries.items():
            if word not in ("rack", "parts") and not node.refused:
                self._refuse(word, node, "there is no such key; known: rack, parts")
        name = self._value(Key("rack", "text", "", low=1, high=80), "rack", entries.get("rack"))
        parts = [part for n, node in enumerate(self._items(entries.get("parts"))) if (part := self._part(n, node))]
        self._raise()
        if not any(part.channels for part in parts):
            parts[0] = replace(parts[0], channels=tuple(range(CHANNELS)))
        return Rack(name or root.place.name, tuple(parts), root.place.name)

    def _items(self, node: Node | None) -> list[Node]:
        if node is not None and isinstance(node.value, list) and 1 <= len(node.value) <= MOST_PARTS:
            return node.value
        if node is None or not node.refused:
            place = self._root.place if node is None else node.place
            message = f"must be a list of 1 to {MOST_PARTS} parts; write it like - {{preset: sitar, channels: 1}}"
            self._complaints.about(place, "parts", "(not given)" if node is None else plain_value(node), message)
        return []

    def _part(self, number: int, node: Node) -> Part | None:
        path = f"parts.{number}"
        if not isinstance(node.value, dict):
            if not node.refused:
                self._refuse(path, node, "must be a group; write it like {preset: sitar, channels: 1}")
            return None
        found: dict[str, Any] = {}
        for word, child in node.value.items():
            if word in KEYS:
                found[word] = self._value(KEYS[word], f"{path}.{word}", child)
            elif not child.refused:
                self._refuse(f"{path}.{word}", child, f"there is no such key; known in a part: {', '.join(KEYS)}")
        for channel in found.get("channels") or ():
            self._take("channel", channel + 1, f"{path}.channels", node.value["channels"])
        if found.get("program"):
            self._take("program", found["program"], f"{path}.program", node.value["program"])
            found["program"] -= 1
        preset = self._preset(path, node, node.value)
        if preset is None:
            return None
        given = {word: found[word] for word in found if word not in ("preset", "set") and found[word] is not None}
        return Part(preset, **given)

    def _preset(self, path: str, node: Node, entries: dict[str, Node]) -> Preset | None:
        """The part's preset; what is wrong in it is told by its own file and line."""
        named = entries.get("preset")
        if named is None or not isinstance(named.value, str) or not named.value.strip():
            if named is None:
                self._complaints.about(node.place, f"{path}.preset", "(not given)", "is required; name one")
            elif not named.refused:
                self._refuse(f"{path}.preset", named, "must be the name of a preset or of a YAML file")
            return None
        changes = entries.get("set")
        if changes is not None and not isinstance(changes.value, dict):
            if not changes.refused:
                self._refuse(f"{path}.set", changes, "must be a group; write it like {barrier.height: -0.01 mm}")
            return None
        where = locate(named.value, self._complaints, named.place)
        if where is None:
            return None
        if self._folder is not None and not where.is_absolute():
            where = self._folder / where
        try:
            return load_preset(where, plain_value(changes) if changes else None, changes.place if changes else None)
        except PresetError as error:
            self._of_presets.append(error)
        return None

    def _value(self, key: Key, path: str, node: Node | None) -> Any:
        """What a key holds; None if it is not given, or complained about."""
        if node is None or node.refused or node.value is None or key.kind in ("preset", "overrides"):
            return None
        value = plain_value(node)
        try:
            if key.kind == "channels":
                return parse_channels(value)
            if key.kind == "tuning":
                return kinds.tuning(value, self._folder)
            return kinds.READERS[key.kind](key, path, value)
        except PhysicsError as error:
            self._refuse(path, node, f"{error.limit}; {error.remedy}", physical=True)
        except PresetError as error:
            self._refuse(path, node, str(error))
        return None

    def _take(self, what: str, number: int, path: str, node: Node) -> None:
        """A channel or a program belongs to one part."""
        first = self._taken.setdefault((what, number), node.place)
        if first is not node.place:
            self._refuse(path, node, f"{what} {number} is another part's, at {first}; give it to one of them")

    def _refuse(self, path: str, node: Node, message: str, *, physical: bool = False) -> None:
        self._complaints.about(node.place, path, shown(plain_value(node)), message, physical=physical)

    def _raise(self) -> None:
        try:
            self._complaints.raise_if_any()
        except PresetError as error:
            self._of_presets.insert(0, error)
        if self._of_presets:
            together = PresetError("\n".join(dict.fromkeys(str(one) for one in self._of_presets)))
            together.exit_code = self._of_presets[0].exit_code
            raise together from None
