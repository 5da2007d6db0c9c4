"""What a preset became while it was played: the designs that sounded one after the other, and how a take tells them.

A design is made again from its text, to the last bit. A take tells each text by what of the one before it is another,
since a knob that turns changes a number in a file of a hundred lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from engine.synth.memory import KEYS, PARTS

MOST_TEXT = 1 << 28  # characters of all texts of a take

Told = dict[str, Any]  # what JSON can say


@dataclass(frozen=True)
class Making:
    """A preset's text; the keys that are designed, if not all of them; what they are as loud as, if they are not
    rehearsed themselves; and what they are tuned as, if they are not listened to themselves."""

    text: str
    keys: tuple[int, ...] = ()
    like: Making | None = None
    tuned: Making | None = None


@dataclass(frozen=True)
class Reshaping:
    """A design that came while others sounded."""

    seconds: float
    seat: int  # among the parts of an ensemble
    heir: int  # its number among all designs, the first one's being 1
    making: Making


@dataclass(frozen=True)
class Shaped:
    """What a shaped take is played on: in the place of a preset."""

    name: str
    source: str
    folder: Path  # in which files are looked for that its texts name
    seat: int  # of the design that it begins with
    text: str
    changes: tuple[Reshaping, ...]

    def later(self, start: float) -> Shaped:
        """As it stands so many seconds later: with the last whole design until then."""
        before = [change for change in self.changes if change.seconds < start and not change.making.keys]
        behind = [replace(c, seconds=c.seconds - start) for c in self.changes if c.seconds >= start]
        return replace(self, changes=(*(replace(change, seconds=0.0) for change in before[-1:]), *behind))


@dataclass
class Teller:
    """Tells designs as they come; the first text is told with the first of them."""

    first: str
    _known: dict[str, int] = field(default_factory=dict)
    _last: str = ""
    told: int = 0  # so many so far

    def tell(self, making: Making, seat: int, heir: int) -> Told:
        """One that has come."""
        new: list[list[Any]] = []
        if not self._known:
            self._number(self.first, new)
        told: Told = {"text": self._number(making.text, new), "keys": list(making.keys), "seat": seat, "heir": heir}
        if making.like:
            told["like"] = self._named(making.like, new)
        if making.tuned:
            told["tuned"] = self._named(making.tuned, new)
        self.told += 1
        return {"number": self.told, "new": new, **told}  # of two that came at once, the first told may come second

    def _named(self, making: Making, new: list[list[Any]]) -> list[Any]:
        """One that another is as loud as, or tuned as."""
        own = [self._number(making.text, new), list(making.keys)]
        return [*own, self._named(making.tuned, new)] if making.tuned else own

    def _number(self, text: str, new: list[list[Any]]) -> int:
        if text not in self._known:
            new.append(difference(self._last, text))
            self._known[text], self._last = len(self._known), text
        return self._known[text]


def retold(told: Iterable[tuple[float, Mapping[str, Any]]]) -> tuple[str, tuple[Reshaping, ...]]:
    """The first text, and all changes; a ValueError for what makes no sense."""
    texts, size, changes = list[str](), 0, list[Reshaping]()
    try:
        for seconds, one in sorted(told, key=lambda pair: int(pair[1]["number"])):
            for start, end, put in one["new"]:
                texts.append(applied(texts[-1] if texts else "", start, end, put))
                size += len(texts[-1])
            if size > MOST_TEXT:
                raise ValueError("too much text")
            like, tuned = _other(texts, one.get("like")), _other(texts, one.get("tuned"))
            making = Making(_entry(texts, one["text"]), _keys(one["keys"]), like, tuned)
            seat, heir = one["seat"], one["heir"]
            if not (type(seat) is type(heir) is int and 0 <= seat < PARTS and heir > 1):
                raise ValueError("no seat")
            changes.append(Reshaping(float(seconds), seat, heir, making))
    except (KeyError, TypeError, IndexError, OverflowError) as error:
        raise ValueError(str(error)) from None
    return texts[0] if texts else "", tuple(sorted(changes, key=lambda change: (change.seconds, change.heir)))


def difference(before: str, after: str) -> list[Any]:
    """From where to where the first text is another, and what stands there in the second."""
    most, start, end = min(len(before), len(after)), 0, 0
    while start < most and before[start] == after[start]:
        start += 1
    while end < most - start and before[len(before) - 1 - end] == after[len(after) - 1 - end]:
        end += 1
    return [start, len(before) - end, after[start : len(after) - end]]


def applied(before: str, start: object, end: object, put: object) -> str:
    """The second text again."""
    if not (type(start) is type(end) is int and isinstance(put, str) and 0 <= start <= end <= len(before)):
        raise ValueError("no difference")
    return before[:start] + put + before[end:]


def _entry(texts: list[str], number: object) -> str:
    if type(number) is not int or not 0 <= number < len(texts):
        raise ValueError("no such text")
    return texts[number]


def _other(texts: list[str], named: Any, within: bool = False) -> Making | None:
    """One that another is as loud as, or tuned as; what that in turn is tuned as is so by itself."""
    if named is None:
        return None
    text, keys, *tuned = named
    if len(tuned) > 1 or (tuned and within):
        raise ValueError("tuned as too many")
    return Making(_entry(texts, text), _keys(keys), None, _other(texts, tuned[0], True) if tuned else None)


def _keys(found: object) -> tuple[int, ...]:
    if not isinstance(found, list) or not all(type(key) is int and 0 <= key < KEYS for key in found):
        raise ValueError("no keys")
    return tuple(found)
