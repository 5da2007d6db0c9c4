"""A tree of values against the table of keys: what is accepted comes out as plain numbers, words and lists."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from engine.errors import PhysicsError, PresetError
from engine.preset import kinds
from engine.preset.assembly import Blowing, Plucking
from engine.preset.complaints import Complaints, Place, shown
from engine.preset.document import Node, plain_value
from engine.preset.key import Key
from engine.preset.network_keys import HAMMER
from engine.preset.schema import GROUPS, KEYS, REPEATED, TABLE, nearest, own_of, plain

T = TypeVar("T")


class UnusableError(Exception):
    """A value that was complained about already is needed: what depends on it is left out, not complained about."""


class Values:
    """What a preset says, by path, with the place of each value. Lookup gives the default of what is not given."""

    def __init__(self, root: Node, folder: Path | None, complaints: Complaints) -> None:
        self.complaints = complaints
        self.doubts: list[str] = []  # about what is accepted, and yet may not be meant
        self._counts: dict[str, int] = {}
        self._folder = folder
        self._places = {"": root.place}
        self._refused: set[str] = set()
        self._values: dict[str, Any] = {}
        self._written: dict[str, object] = {}
        leaves: dict[str, Node] = {}
        if isinstance(root.value, dict):
            self._walk(root.value, "", leaves)
        else:
            complaints.add(
                root.place, f"must be keys with values, not {shown(plain_value(root))}; write it like name: Sitar"
            )
        order = {key.name: index for index, key in enumerate(TABLE)}
        for path in sorted(leaves, key=lambda p: (order[plain(p)], p)):
            self._parse(KEYS[plain(path)], path, leaves[path])

    def given(self, path: str) -> bool:
        """Whether the preset says anything at this key or inside this group, right or wrong."""
        return path in self._places

    def place(self, path: str) -> Place:
        """Where a key stands, or the nearest group around it."""
        while path not in self._places:
            path = path.rpartition(".")[0]
        return self._places[path]

    @property
    def accepted(self) -> dict[str, Any]:
        """Every value that was read, by path, in SI units."""
        return dict(self._values)

    @property
    def texts(self) -> dict[str, object]:
        """The same as they were written."""
        return {path: self._written[path] for path in self._values}

    @property
    def counts(self) -> dict[str, int]:
        """How long each list is that was given."""
        return dict(self._counts)

    def item(self, path: str) -> object:
        """An item of a list, or a group, as it was written."""
        return self._written.get(path)

    def instances(self, group: str) -> list[str]:
        """The paths of a group: its name, or an item each where it is a list."""
        if plain(group) not in REPEATED:
            return [group]
        return [f"{group}.{index}" for index in range(self._counts.get(group, 0))]

    def __getitem__(self, path: str) -> Any:
        if self.refused(path):
            raise UnusableError
        return self._values.get(path, KEYS[plain(path)].default)

    def refuse(self, path: str, message: str, *, physical: bool = False) -> None:
        """Complain about a key; what needs its value is left out."""
        written = self._written.get(path, "(not given)")
        self.complaints.about(self.place(path), path, written, message, physical=physical)
        self._refused.add(path)

    def doubt(self, path: str, message: str) -> None:
        """Note what is accepted, and yet may not be meant."""
        self.doubts.append(f"{self.place(path)}: {path} = {shown(self._written.get(path, '(not given)'))}: {message}")

    def refused(self, path: str) -> bool:
        """Whether this key, or a group around it, was complained about."""
        return path in self._refused or any(path.startswith(f"{group}.") for group in self._refused)

    def attempt(self, build: Callable[[Values], T]) -> T | None:
        """What `build` makes of the values; None, with a complaint, where the physics refuses them."""
        try:
            return build(self)
        except PhysicsError as error:
            written = self._written.get(error.key)
            value = written if isinstance(written, str | int | float) else error.value
            message = f"{error.limit}; {error.remedy}"
            self.complaints.about(self.place(error.key), error.key, value, message, physical=True)
        except UnusableError:
            pass
        return None

    def _walk(self, entries: dict[str, Node], path: str, leaves: dict[str, Node]) -> None:
        for word, node in entries.items():
            full = f"{path}.{word}" if path else word
            if node.value is None and not node.refused:
                continue
            self._places[full] = node.place
            self._written[full] = plain_value(node)
            name = plain(full)
            if node.refused:
                self._refused.add(full)
            elif "." in word:
                self.refuse(full, "keys stand in groups; write the part after the dot below the part before it")
            elif name not in KEYS and name not in GROUPS:
                self.refuse(full, f"there is no such key; {nearest(full)}")
            elif name in REPEATED:
                self._walk_list(full, node, leaves)
            elif name == "string.tuned" and isinstance(node.value, dict):
                self._walk_tuned(full, node.value, leaves)
            elif name not in GROUPS:
                leaves[full] = node
            elif isinstance(node.value, dict):
                self._walk(node.value, full, leaves)
            else:
                words = (key[len(name) + 1 :].partition(".")[0] for key in KEYS if key.startswith(f"{name}."))
                inside = ", ".join(dict.fromkeys(words))
                self.refuse(full, f"must be a group of keys; write {full}: with {inside} below it")

    def _walk_list(self, group: str, node: Node, leaves: dict[str, Node]) -> None:
        fewest, most, what, example = REPEATED[plain(group)]
        if not isinstance(node.value, list) or not fewest <= len(node.value) <= most:
            self.refuse(group, f"must be a list of {fewest} to {most} {what}; write it like [{example}]")
            return
        self._counts[group] = len(node.value)
        for index, item in enumerate(node.value):
            path = f"{group}.{index}"
            self._places[path] = item.place
            self._written[path] = plain_value(item)
            if isinstance(item.value, dict):
                self._walk(item.value, path, leaves)
            elif not item.refused:
                self.refuse(path, f"must be a group; write it like {example}")

    def _walk_tuned(self, path: str, entries: dict[str, Node], leaves: dict[str, Node]) -> None:
        """`tuned: {pitch: F#3}` is `tuned: F#3`."""
        for word, node in entries.items():
            if word == "pitch":
                leaves[path] = node
                self._written[path] = plain_value(node)
            else:
                message = f"there is no such key; known in {path}: pitch"
                self.complaints.about(node.place, f"{path}.{word}", plain_value(node), message)
        if "pitch" not in entries:
            self.refuse(path, "must name a pitch; write it like F#3 or {pitch: F#3}")

    def _parse(self, key: Key, path: str, node: Node) -> None:
        try:
            value = plain_value(node)
            self._values[path] = found = self._read(key, path, value)
            if key.kind == "number" and (guess := kinds.likelier(key, value, found)):
                self.doubts.append(
                    f"{node.place}: {path} = {shown(value)}: is {shown(value)} {key.unit}, as any number "
                    f"without a unit; did you mean {guess}?"
                )
        except PhysicsError as error:
            self.refuse(path, f"{error.limit}; {error.remedy}", physical=True)
        except PresetError as error:
            self.refuse(path, str(error))
        except UnusableError:
            self._refused.add(path)

    def _read(self, key: Key, path: str, value: object) -> Any:
        if key.kind == "table":
            return kinds.table(key, path, value, self._folder)
        if key.kind == "tuning":
            return kinds.tuning(value, self._folder)
        if key.kind == "span":
            target = self[path.replace("range", "to")]
            if target is None:  # its absence is complained about
                raise UnusableError
            return kinds.span(key, path, value, KEYS[target])
        if key.name == "contact.stiffness":
            return self._contact_stiffness(key, path, value)
        if key.name == "exciter.stiffness":
            return kinds.number(key, path, value, f"N/m^{self._exponent(path):g}")
        return kinds.READERS[key.kind](key, path, value)

    def nearest_given(self, name: str, one: str) -> str:
        """Where a key stands for one of several strings: among its own, or for all of them."""
        own = f"{one}.{name}"
        return own if one and self.given(own) else name

    def _exponent(self, path: str) -> float:
        """Of an exciter's law."""
        one = own_of(path)
        given = self[self.nearest_given("exciter.exponent", one)]
        hammer = self[self.nearest_given("exciter.kind", one)] == HAMMER
        return given if given is not None else (Blowing().felt if hammer else Plucking().tip).exponent

    def _contact_stiffness(self, key: Key, path: str, value: object) -> float:
        """Its unit follows the exponent, and whether the barrier is spread or at points."""
        one = own_of(path)
        exponent, profile = (self[self.nearest_given(name, one)] for name in ("contact.exponent", "barrier.profile"))
        spread, lumped = f"N/m^{exponent + 1:g}", f"N/m^{exponent:g}"
        units = {None: (lumped, spread), "points": (lumped,)}.get(profile, (spread,))
        for unit in units[:-1]:  # without a barrier, either will do
            with suppress(PresetError):
                return kinds.number(key, path, value, unit)
        return kinds.number(key, path, value, units[-1])
