"""Changes to the text of a preset: spliced in where the parser says that a value stands, and nowhere else.

Comments, blanks, order, quotes and line ends stay as whoever wrote the file had them. What a change says is text, as a
hand would write it ("0.3 mm"), a list or a dict of such texts, or None: the key goes, and what it stood in, if that is
empty then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from engine.errors import PresetError
from engine.preset.document import LOADER, NULLS

_BOM = "\ufeff"
_BLOCK_SCALARS = ("|", ">")
_STRUCTURE = re.compile(r"[,\[\]{}?]")  # what a plain text may not hold inside brackets
# A text that reads back as itself without quotes: nothing in it that YAML would take for something else.
_PLAIN = re.compile(
    r"(?![\s!&*?|>@`\"'%#,\[\]{}]|[-:](\s|$)|---|\.\.\.)[^\n\x00-\x1f\x7f\x85\u2028\u2029]*(?<!\s)(?<!:)"
)


@dataclass
class Span:
    """Where a value stands, from `start` to `end`, in characters; a group also has the spans of what is in it."""

    start: int
    end: int
    column: int = 0
    flow: bool = False  # a group in brackets
    block: bool = False  # a text of lines of its own, behind | or >
    listed: bool = False
    words: list[str] = field(default_factory=list)  # of a group: its keys, or the numbers of its items
    entries: list[tuple[int, Span]] = field(default_factory=list)  # where each begins, its key included

    @property
    def group(self) -> bool:
        """Whether there is anything in it that has a place of its own."""
        return self.flow or bool(self.entries)


def spliced(text: str, changes: Mapping[str, object]) -> str:
    """The text with some paths ("barrier.height", "map.0.range") changed, one after the other."""
    bom = _BOM if text.startswith(_BOM) else ""
    text = text.removeprefix(_BOM)
    for path, value in changes.items():
        words = path.split(".")
        text = _without(text, words) if value is None else _with(text, words, value)
    return bom + text


def paths(text: str) -> dict[str, str]:
    """Every scalar's path and what is written there, as it stands in the file."""
    text = text.removeprefix(_BOM)
    found: dict[str, str] = {}

    def walk(span: Span, path: str) -> None:
        if not span.group:
            found[path] = text[span.start : span.end]
        for word, (_, inner) in zip(span.words, span.entries, strict=True):
            walk(inner, f"{path}.{word}" if path else word)

    walk(_spans(text), "")
    return found


def _with(text: str, words: list[str], value: object) -> str:
    """Another value at a path, which is made where it does not exist."""
    root = _spans(text)
    if root.end <= root.start:  # nothing but comments
        return _on_a_line(text, len(text), _entry("", words, value, flow=False))
    at, depth = root, 0
    while depth < len(words) and words[depth] in at.words:
        before, at = at, at.entries[at.words.index(words[depth])][1]
        depth += 1
    if depth == len(words):
        return _replaced(text, before, at, value)
    if not at.group:  # a scalar, or nothing, where a group is wanted
        return _replaced(text, before, at, _nested(words[depth:], value))
    if at.listed and words[depth] != str(len(at.entries)):
        raise PresetError(f"{'.'.join(words)}: there is no such item; count from 0")
    return _added(text, at, words[depth:], value)


def _replaced(text: str, parent: Span, span: Span, value: object) -> str:
    flow = parent.flow
    if span.block:  # its end is the beginning of the line behind it
        body = text[span.start : span.end]
        return text[: span.start] + written(value, flow) + body[len(body.rstrip("\r\n")) :] + text[span.end :]
    if span.group and not span.flow:
        if isinstance(value, dict | list):  # a group of lines becomes one in brackets, on the line of its key
            start = _back_over_blanks(text, span.start)
            return text[:start] + " " + written(value, True) + text[span.end :]
        raise PresetError("is a group of keys; change what is in it")
    new = written(value, flow)
    gap = " " if span.start == span.end and text[span.start - 1 : span.start] in (":", "-") else ""
    return text[: span.start] + gap + new + text[span.end :]


def _back_over_blanks(text: str, at: int) -> int:
    """The end of what stands before, where only blanks and line ends lie between."""
    return len(text[:at].rstrip())


def _added(text: str, parent: Span, words: list[str], value: object) -> str:
    """Behind the last entry of a group, as that group is written."""
    entry = _entry("- " if parent.listed else "", words, value, parent.flow)
    if parent.flow:
        inside = text[parent.start + 1 : parent.end - 1]
        at = parent.start + 1 + len(inside.rstrip())
        comma = ", " if inside.strip() and not inside.rstrip().endswith(",") else ""
        return text[:at] + comma + entry + text[at:]
    last = parent.entries[-1][1]
    return _on_a_line(text, _end_of(text, last), " " * parent.column + entry)


def _entry(dash: str, words: list[str], value: object, flow: bool) -> str:
    """One more entry: `word: value`, or `- value` where `dash` says that it belongs to a list."""
    if dash:
        return written(_nested(words[1:], value), True) if flow else dash + written(_nested(words[1:], value), True)
    inner = _nested(words[1:], value)
    return f"{words[0]}: {written(inner, flow)}"


def _nested(words: list[str], value: object) -> object:
    for word in reversed(words):
        value = [value] if word == "0" else {word: value}
    return value


def _on_a_line(text: str, at: int, line: str) -> str:
    ending = "\r\n" if "\r\n" in text else "\n"
    if at and text[at - 1] != "\n":
        line = ending + line
    return text[:at] + line + ending + text[at:]


def _without(text: str, words: list[str]) -> str:
    """The text without a key or an item; nothing happens where there is none."""
    chain, at = [_spans(text)], 0
    while at < len(words) and words[at] in chain[-1].words:
        chain.append(chain[-1].entries[chain[-1].words.index(words[at])][1])
        at += 1
    if at < len(words):
        return text
    while len(chain) > 2 and len(chain[-2].entries) == 1:  # a group that nothing is left in goes as well
        chain.pop()
    parent = chain[-2]
    n = parent.words.index(words[len(chain) - 2])
    start, span = parent.entries[n]
    if parent.flow:
        if n + 1 < len(parent.entries):
            return text[:start] + text[parent.entries[n + 1][0] :]
        return text[: parent.entries[n - 1][1].end if n else parent.start + 1] + text[span.end :]
    line = text.rfind("\n", 0, start) + 1
    if (
        text[line:start].strip(" -") == "" != text[line:start].strip()
        and not parent.listed
        and n + 1 < len(parent.entries)
    ):
        return text[:start] + text[parent.entries[n + 1][0] :]  # the dash of an item stands before its first key
    return text[:line] + text[_end_of(text, span) :]


def _end_of(text: str, span: Span) -> int:
    """The beginning of the line behind a value; what else stands on its last line is its comment."""
    if span.block:
        return span.end
    if span.entries and not span.flow:
        return _end_of(text, span.entries[-1][1])
    end = text.find("\n", max(span.end - 1, span.start))
    return len(text) if end < 0 else end + 1


# --- values -----------------------------------------------------------------------------------------------------------


def written(value: object, flow: bool = True) -> str:
    """A value as it can stand in a file: quoted only where it would be read as something else."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(str(key), True)}: {written(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(written(item) for item in value) + "]"
    return _scalar(f"{value:.12g}" if isinstance(value, float) else str(value), flow)


def _scalar(text: str, flow: bool) -> str:
    plain = (
        text
        and _PLAIN.fullmatch(text)
        and text not in NULLS
        and ": " not in text
        and " #" not in text
        and not (flow and (_STRUCTURE.search(text) or ":" in text))
    )
    if plain:
        return text
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    escaped = yaml.safe_dump(text, allow_unicode=True, width=1e9, default_style='"')
    return escaped.rstrip("\n")


# --- places -----------------------------------------------------------------------------------------------------------


def _spans(text: str) -> Span:
    """The tree of places of a document."""
    events: Iterator[Any] = yaml.parse(text, Loader=LOADER)
    try:
        next(events)
        if isinstance(next(events), yaml.StreamEndEvent):
            return Span(0, 0)
        return _span(next(events), events)
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        raise PresetError(f"{where}is not valid YAML; mend it there") from None


def _span(event: Any, events: Iterator[Any]) -> Span:
    start, end, column = event.start_mark.index, event.end_mark.index, event.start_mark.column
    if not isinstance(event, yaml.CollectionStartEvent):
        return Span(start, end, column, block=getattr(event, "style", None) in _BLOCK_SCALARS)
    listed = isinstance(event, yaml.SequenceStartEvent)
    span = Span(start, end, column, flow=bool(event.flow_style), listed=listed)
    inner: Any
    while not isinstance(inner := next(events), yaml.CollectionEndEvent):
        begin = inner.start_mark.index
        word = str(len(span.entries)) if listed else str(getattr(inner, "value", "?"))
        if not listed:
            if isinstance(inner, yaml.CollectionStartEvent):
                _span(inner, events)
            inner = next(events)
        span.words.append(word)
        span.entries.append((begin, _span(inner, events)))
    # The mark at the end of a group of lines lies behind comments and blanks: its last entry's is the true one.
    closing: Any = inner
    span.end = closing.end_mark.index if span.flow else span.entries[-1][1].end if span.entries else end
    return span
