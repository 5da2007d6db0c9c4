"""What a page may ask for, one table: each word with its fields; whatever is not in it is refused in a sentence."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.edit.errors import AskedError


@dataclass(frozen=True)
class Asked:
    """A field that a request has: its type, its limits, and what it is where it is left out (None: it is required)."""

    kind: type
    low: float = 0.0
    high: float = 0.0
    default: Any = None

    def read(self, name: str, value: object) -> Any:
        """The value, if it is one."""
        if value is None and self.default is not None:
            return self.default
        if self.kind is float and isinstance(value, int):
            value = float(value)
        if type(value) is not self.kind:
            raise AskedError(f"{name}: must be {_KINDS[self.kind]}")
        size = len(value) if isinstance(value, str) else value
        if not self.low <= size <= self.high:  # type: ignore[operator]
            raise AskedError(f"{name}: must be {self.low:g} to {self.high:g}{' characters' * (self.kind is str)}")
        return value


_KINDS: dict[type, str] = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}


def whole(low: int, high: int, default: int | None = None) -> Asked:
    return Asked(int, low, high, default)


def number(low: float, high: float, default: float | None = None) -> Asked:
    return Asked(float, low, high, default)


def text(longest: int, default: str | None = None) -> Asked:
    return Asked(str, 0, longest, default)


def yes(default: bool) -> Asked:
    return Asked(bool, 0, 1, default)


_CHANNEL = whole(0, 15, 0)
_PATH = text(100)

TABLE: dict[str, dict[str, Asked]] = {
    # what is played
    "note": {"key": whole(0, 127), "velocity": whole(0, 127), "channel": _CHANNEL},
    "controller": {"number": whole(0, 127), "value": whole(0, 127), "channel": _CHANNEL},
    "bend": {"value": whole(-8192, 8191), "channel": _CHANNEL},
    "pressure": {"value": whole(0, 127), "channel": _CHANNEL},
    "midi": {"data": text(6)},  # of Web MIDI: three bytes as hexadecimal digits
    "silence": {},
    # what is edited
    "set": {"path": _PATH, "value": text(20_000), "gesture": whole(0, 1 << 31, 0)},
    "remove": {"path": _PATH},
    "add": {"path": _PATH, "value": text(2000, ""), "like": whole(-1, 255, -1)},
    "undo": {},
    "redo": {},
    "revert": {},
    "switch": {},
    "learn": {"path": _PATH, "on": yes(True)},
    # what is kept
    "presets": {},
    "open": {"name": text(64), "lose": yes(False)},
    "save": {"name": text(64), "replace": yes(False)},
    "text": {},
    "hear": {"name": text(64), "at": whole(0, 1000, 0)},
    "record": {"on": yes(True)},
    # what is looked at
    "focus": {"key": whole(-1, 127, -1), "string": whole(0, 15, 0), "pace": number(0.0, 20_000.0, 0.0)},
    "strobe": {"slip": number(-0.5, 0.5)},
    "film": {"length": whole(2, 512, 256)},
    "sound": {"on": yes(True)},
}


@dataclass(frozen=True)
class Request:
    """One that can be granted, as far as its form goes; `id` comes back with the answer."""

    word: str
    fields: Mapping[str, Any]
    id: int


def read(message: str) -> Request:
    """A request from its text. A ValueError for what is no request at all, an AskedError for one that is wrong."""
    try:
        asked = json.loads(message)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if not isinstance(asked, dict) or not isinstance(asked.get("do"), str):
        raise ValueError("no request")
    number = asked.get("id")
    id = number if type(number) is int and 0 <= number < 1 << 53 else 0
    word = asked["do"]
    try:
        if word not in TABLE:
            raise AskedError("there is no such request")
        unknown = asked.keys() - TABLE[word].keys() - {"do", "id"}
        if unknown:
            raise AskedError(f"{word} has no {min(unknown)[:40]}")
        return Request(word, {name: field.read(name, asked.get(name)) for name, field in TABLE[word].items()}, id)
    except AskedError as error:
        error.id = id  # type: ignore[attr-defined]
        raise


Answer = dict[str, Any]
Handler = Callable[..., Answer | None]
