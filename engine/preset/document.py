"""YAML text, or a plain dict, as a tree of values that remember their places.

Scalars stay text: what a text means is decided by the key that holds it. So YAML 1.1 never turns `off` into False,
`1:30` into 90 or `1e-5` into a string. What can hide or multiply content (aliases, tags, duplicate keys, several
documents) is refused, and size is counted while reading, so that a hostile file costs little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import yaml

from engine.preset.complaints import Complaints, Place, shown

MAX_DEPTH = 32
MAX_NODES = 10_000
MAX_KEY = 200  # characters of a dotted key that are kept for messages

# libyaml where PyYAML was built with it: the same events, some twenty times faster.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TABBED = re.compile(r"[ -]*\t")
NULLS = frozenset({"~", "null", "Null", "NULL"})


@dataclass
class Node:
    """A value and its place. `value` is None where nothing is given, and `refused` where it was complained about."""

    value: str | float | bool | list[Node] | dict[str, Node] | None
    place: Place
    refused: bool = False


class _Budget:
    """Counts nodes and depth while a tree is built."""

    def __init__(self, complaints: Complaints) -> None:
        self.complaints = complaints
        self.left = MAX_NODES

    def spend(self, depth: int, place: Place, inside: int = 0) -> None:
        self.left -= 1
        if self.left < inside:
            self.complaints.fatal(place, f"holds more than {MAX_NODES} values; move long tables into a CSV file")
        if depth > MAX_DEPTH:
            self.complaints.fatal(place, f"is nested more than {MAX_DEPTH} deep; a preset needs 4")


def read_yaml(text: str, name: str, complaints: Complaints, key: str = "") -> Node:
    """The tree of one YAML document, or of an override's value, which belongs to a `key` instead of a line.

    Text that is not YAML ends the reading.
    """
    composer = _Composer(text, name, complaints, key)
    try:
        return composer.document()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read"
        position = getattr(error, "position", None)  # of a character that YAML does not allow
        line = mark.line if mark else text.count("\n", 0, position) if position is not None else 0
        lines = text.splitlines()
        place = min(line + 1, len(lines))  # a mark may stand behind the end
        if lines and _TABBED.match(lines[place - 1]):
            composer.fatal(place, "is indented with a tab, which YAML does not take; put blanks there")
        composer.fatal(place, f"is not valid YAML: {shown(problem)}; mend it there")
    except UnicodeEncodeError:
        composer.fatal(1, "holds characters that are not text; write it in UTF-8")


class _Composer:
    def __init__(self, text: str, name: str, complaints: Complaints, key: str) -> None:
        self.events: Iterator[Any] = yaml.parse(text, Loader=LOADER)
        self.name, self.complaints, self.key = name, complaints, key
        self.budget = _Budget(complaints)

    def document(self) -> Node:
        next(self.events)  # the stream begins
        event = next(self.events)
        if isinstance(event, yaml.StreamEndEvent):
            self.fatal(1, "is empty; write something")
        root = self.node(next(self.events), self.key, 0)
        next(self.events)  # the document ends
        event = next(self.events)
        if not isinstance(event, yaml.StreamEndEvent):
            self.complaints.add(self.place(event), "holds several documents; keep one preset per file")
        return root

    def place(self, event: Any) -> Place:
        return Place(self.name, None if self.key else event.start_mark.line + 1)

    def fatal(self, line: int, message: str) -> NoReturn:
        if self.key:
            self.complaints.fatal(Place(self.name), f"{shown(self.key)}: {message}")
        self.complaints.fatal(Place(self.name, line), message)

    def node(self, event: Any, path: str, depth: int) -> Node:
        place = self.place(event)
        self.budget.spend(depth, place)
        if isinstance(event, yaml.AliasEvent):
            self.complaints.about(place, path, f"*{event.anchor}", "aliases are not accepted; write the value out")
            return Node(None, place, refused=True)
        if event.anchor is not None:
            self.complaints.about(place, path, f"&{event.anchor}", "anchors are not accepted; remove it")
        if event.tag is not None:
            self.complaints.about(place, path, event.tag, "tags are not accepted; remove it")
        if isinstance(event, yaml.ScalarEvent):
            plain = not event.style  # neither quoted nor a block
            return Node(None if plain and event.value in NULLS else event.value, place)
        if isinstance(event, yaml.SequenceStartEvent):
            items = enumerate(self.until(yaml.SequenceEndEvent))
            return Node([self.node(item, f"{path}.{index}", depth + 1) for index, item in items], place)
        return self.mapping(place, path, depth)

    def until(self, end: type) -> Iterator[Any]:
        while not isinstance(event := next(self.events), end):
            yield event

    def mapping(self, place: Place, path: str, depth: int) -> Node:
        entries: dict[str, Node] = {}
        for event in self.until(yaml.MappingEndEvent):
            key = self.node(event, path, depth + 1)
            name = key.value if isinstance(key.value, str) else "?"
            full = f"{path}.{name}" if path else name
            full = full[:MAX_KEY]
            value = self.node(next(self.events), full, depth + 1)
            if not isinstance(key.value, str):
                if not key.refused:
                    self.complaints.about(key.place, full, value.value, "a key must be a word; write key: value")
            elif name in entries:
                first = entries[name].place
                self.complaints.about(key.place, full, value.value, f"given before, at {first}; keep one of them")
            else:
                entries[name] = Node(value.value, key.place, value.refused)
        return Node(entries, place)


def read_object(value: object, place: str | Place, complaints: Complaints) -> Node:
    """The tree of a value made of dicts, lists, numbers and text."""
    return _from_object(value, place if isinstance(place, Place) else Place(place), 0, _Budget(complaints))


def plain_value(node: Node) -> Any:
    """A node as plain Python values."""
    if isinstance(node.value, list):
        return [plain_value(item) for item in node.value]
    if isinstance(node.value, dict):
        return {key: plain_value(item) for key, item in node.value.items()}
    return node.value


def _from_object(value: object, place: Place, depth: int, budget: _Budget) -> Node:
    budget.spend(depth, place, value.size if isinstance(value, np.ndarray) else 0)
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or isinstance(value, str | int | float | bool):
        return Node(value, place)
    if isinstance(value, list | tuple):
        return Node([_from_object(item, place, depth + 1, budget) for item in value], place)
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                budget.complaints.about(place, "key", key, "a key must be a word; write it as text")
        named = {key: item for key, item in value.items() if isinstance(key, str)}
        return Node({key: _from_object(item, place, depth + 1, budget) for key, item in named.items()}, place)
    budget.complaints.add(
        place, f"a value of type {shown(type(value).__name__)} is not accepted; use numbers, text, lists and dicts"
    )
    return Node(None, place, refused=True)
