"""From LLVM's object file to a module that browsers run: there is one object, so nothing is left to link.

In an object file for WebAssembly all indices and places are already what they are if nothing is linked to it; what it
lacks is a list of what can be called, which is made here from its own table of symbols. Its memory begins with its
data; where the stack lies, and `fmod`, whoever instantiates it gives.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

CUSTOM, IMPORTS, EXPORTS, DATA = 0, 2, 7, 11  # kinds of sections
AFTER = {8, 9, 10, 11, 12}  # those that come behind the exports
SYMBOLS = 8  # the part of the section `linking` that is its table
FUNCTION, DATUM, GLOBAL, SECTION, EVENT, TABLE = range(6)  # kinds of symbols
UNDEFINED, NAMED = 0x10, 0x40  # flags of theirs
MORE = 1 << 7  # in a byte of a number: another one follows
GIVEN = {"__linear_memory", "__stack_pointer", "__indirect_function_table", "fmod"}  # what a page gives it


class Module(NamedTuple):
    """A module, and how many bytes of its memory its data takes."""

    content: bytes
    data: int


class _Bytes:
    """Read from the beginning on."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

    def take(self, count: int) -> bytes:
        self.at += count
        return self.content[self.at - count : self.at]

    def number(self) -> int:
        """LEB128 without a sign, which all numbers here are read as."""
        value = shift = 0
        while True:
            byte = self.content[self.at]
            self.at += 1
            value |= byte % MORE << shift
            shift += 7
            if byte < MORE:
                return value

    def text(self) -> str:
        return self.take(self.number()).decode()

    def more(self) -> bool:
        return self.at < len(self.content)


def module_of(made: bytes, wanted: Collection[str]) -> Module:
    """The module in which these functions of an object file can be called."""
    sections = list(_sections(made))
    strangers = {name for kind, body in sections if kind == IMPORTS for name in _imports(_Bytes(body))} - GIVEN
    assert not strangers, f"no page has {', '.join(sorted(strangers))}"
    found = _functions(sections)
    listed = b"".join(_text(name) + bytes([0]) + _number(found[name]) for name in sorted(wanted))
    exports = _section(EXPORTS, _number(len(wanted)) + listed)
    before = [_section(kind, body) for kind, body in sections if kind not in AFTER and kind != CUSTOM]
    behind = [_section(kind, body) for kind, body in sections if kind in AFTER]
    data = max((_end(_Bytes(body)) for kind, body in sections if kind == DATA), default=0)
    return Module(b"".join([made[:8], *before, exports, *behind]), data)


def _sections(made: bytes) -> Iterator[tuple[int, bytes]]:
    whole = _Bytes(made)
    assert whole.take(8) == b"\0asm\1\0\0\0"
    while whole.more():
        kind = whole.number()
        yield kind, whole.take(whole.number())


def _imports(body: _Bytes) -> Iterator[str]:
    for _ in range(body.number()):
        body.text()  # of the module, which is always `env`
        yield body.text()
        kind = body.number()
        if kind == 0:  # a function's type
            body.number()
        elif kind == 3:  # a global's
            body.take(2)
        else:  # a memory's limits, and a table's behind its type
            body.take(1 if kind == 1 else 0)
            most = body.number() & 1
            body.number()
            if most:
                body.number()


def _functions(sections: list[tuple[int, bytes]]) -> dict[str, int]:
    """Functions by the names that the table of symbols has for them."""
    found: dict[str, int] = {}
    for kind, content in sections:
        body = _Bytes(content)
        if kind != CUSTOM or body.text() != "linking":
            continue
        body.number()  # version
        while body.more():
            part, inner = body.number(), _Bytes(body.take(body.number()))
            if part == SYMBOLS:
                found |= dict(_symbols(inner))
    return found


def _symbols(body: _Bytes) -> Iterator[tuple[str, int]]:
    for _ in range(body.number()):
        kind, flags = body.number(), body.number()
        if kind == DATUM:
            body.text()
            for _ in range(0 if flags & UNDEFINED else 3):  # which piece, where in it, how long
                body.number()
            continue
        index = body.number()
        name = body.text() if kind != SECTION and (not flags & UNDEFINED or flags & NAMED) else ""
        if kind == FUNCTION and not flags & UNDEFINED:
            yield name, index


def _end(body: _Bytes) -> int:
    """Where the last piece of data ends."""
    end = 0
    for _ in range(body.number()):
        assert body.number() == 0, "data without a place"
        assert body.number() == 0x41, "a place that is no number"
        place = body.number()
        assert body.number() == 0x0B, "a place that is calculated"
        size = body.number()
        body.take(size)
        end = max(end, place + size)
    return end


def _number(value: int) -> bytes:
    made = bytearray()
    while True:
        made.append(value % MORE | (MORE if value >= MORE else 0))
        value >>= 7
        if not value:
            return bytes(made)


def _text(text: str) -> bytes:
    return _number(len(text)) + text.encode()


def _section(kind: int, body: bytes) -> bytes:
    return bytes([kind]) + _number(len(body)) + body
