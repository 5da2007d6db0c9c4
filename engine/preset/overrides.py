"""Overrides (`--set key=value`): single values put over a preset before anything is read from it or derived.

An override takes the place of what it makes moot: a tension removes the pitch it was tuned to, a diameter the density
and stiffness that stood for the wire, another profile the parameters of the old one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from engine.preset.complaints import Complaints, Place, shown
from engine.preset.document import Node, read_object, read_yaml
from engine.preset.files import as_written
from engine.preset.schema import CHOOSING, KEYS, TABLE, own_of, plain

Overrides = Mapping[str, object] | Sequence[str] | None

PLACE = Place("--set")
_DEEPEST = 6  # words of a dotted key


def apply_overrides(root: Node, overrides: Overrides, complaints: Complaints, place: Place = PLACE) -> None:
    """Put the overrides, which stand at a place, into the tree of a preset."""
    settings = list(_settings(overrides, complaints, place))
    for path, node in settings:
        for moot in made_moot(path, node.value):
            _remove(root, moot.split("."))
    for path, node in settings:
        _put(root, path, node, complaints)


def _settings(overrides: Overrides, complaints: Complaints, place: Place) -> Iterator[tuple[str, Node]]:
    if isinstance(overrides, Mapping):
        yield from _flat("", read_object(overrides, place, complaints))
        return
    for setting in [overrides] if isinstance(overrides, str) else overrides or ():
        if not isinstance(setting, str):
            complaints.add(PLACE, f"{shown(setting)} is not text; write key=value")
            continue
        path, _, text = as_written(setting).partition("=")
        path = path.strip()
        if not path or not text.strip():
            complaints.add(PLACE, f"{shown(setting)} is not key=value; write it like string.length=0.6")
            continue
        yield from _flat(path, read_yaml(text, PLACE.name, complaints, key=path))


def _flat(path: str, node: Node) -> Iterator[tuple[str, Node]]:
    """Every value of nested groups with its dotted key."""
    if isinstance(node.value, dict) and (node.value or not path):
        for word, child in node.value.items():
            yield from _flat(f"{path}.{word}" if path else word, child)
    elif not node.refused:
        yield path, node


def made_moot(path: str, value: object) -> tuple[str, ...]:
    """The keys that say nothing any more where this one has a value."""
    path = path.removesuffix(".pitch")
    name, one = plain(path), own_of(path)
    if value is None or name not in KEYS:
        return ()
    group = name.partition(".")[0]
    moot = KEYS[name].replaces
    if name == CHOOSING.get(group):
        others = (key for key in TABLE if key.profiles and key.name.startswith(f"{group}."))
        moot = tuple(key.name for key in others if value not in key.profiles)
    return tuple(f"{one}.{key}" for key in moot) if one else moot


def _remove(root: Node, words: list[str]) -> None:
    for word in words[:-1]:
        child = _child(root, word)
        if child is None:
            return
        root = child
    if isinstance(root.value, dict):
        root.value.pop(words[-1], None)


def _put(root: Node, path: str, node: Node, complaints: Complaints) -> None:
    *groups, last = path.split(".")
    if len(groups) >= _DEEPEST or not isinstance(root.value, dict):
        complaints.about(node.place, path, node.value, "there is no such key; see the list of keys")
        return
    parent, done = root, True
    for word in groups:
        child = _child(parent, word)
        if child is None or not isinstance(child.value, dict | list):
            # A preset that names no pickups has one, which `pickups.0.at` means.
            child = Node([Node({}, node.place)] if word == "pickups" else {}, node.place)
            done = done and _set(parent, word, child)
        parent = child
    if not (done and _set(parent, last, node)):
        complaints.about(node.place, path, node.value, "there is no such item; count from 0, or give the whole list")


def _child(parent: Node, word: str) -> Node | None:
    if isinstance(parent.value, dict):
        return parent.value.get(word)
    if isinstance(parent.value, list) and re.fullmatch("[0-9]{1,4}", word) and int(word) < len(parent.value):
        return parent.value[int(word)]
    return None


def _set(parent: Node, word: str, node: Node) -> bool:
    if isinstance(parent.value, dict):
        parent.value[word] = node
    elif isinstance(parent.value, list) and _child(parent, word) is not None:
        parent.value[int(word)] = node
    else:
        return False
    return True
