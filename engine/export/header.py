"""jawari.h: what C programs see of an instrument, written from the doors' own declarations."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Sequence
from textwrap import wrap
from typing import Any

from engine.compiled import DOUBLE, INT, POINTER
from engine.export import memory
from engine.export.designs import designed
from engine.export.doors import DOORS, LEVEL
from engine.export.knobs import Dial
from engine.preset.rack import Rack
from engine.versions import VERSION

TYPES = {INT: "int32_t ", DOUBLE: "double ", None: "void "}
# What a pointer points at, by the name it is given.
POINTERS = {
    "memory": "jawari *",
    "elder": "jawari *",
    "image": "const void *",
    "values": "const double *",
    "message": "const uint8_t *",
    "left": "float *",
    "right": "float *",
}
CODES = {
    "DAMAGED": "the image is none, or not as it was written",
    "OTHER_VERSION": "the image was made by another version than this code",
    "OTHER_RATE": "the image has no instrument for this sample rate",
    "MISPLACED": "the memory must begin at a multiple of 64, the image at one of 8",
}
LEVEL_SAYS = (
    "The level of x86-64 whose code is used: 2, 3 or 4, as the processor is, or from now on at most so much; "
    "the sound is the same bits. 0 where there is only one."
)
ABOUT = f"""An instrument of Jawari {VERSION} without anything around it. Give jawari_open so much memory as
jawari_size says, at an address that is a multiple of 64; the image must stay where it is for as long as the
instrument is used. Nothing is allocated, no system is called, no lock is taken: jawari_send and jawari_run may be
called on an audio thread. An instrument is one thread's at a time; as many as wanted may play at once. While one
plays, another thread may design it with other values in a second memory of that size, by jawari_redesign; then, between
two blocks, jawari_follow has that one go on, and the first one's memory is free once jawari_alone says so. Messages are
sent in the order of their frames, which count from the next one to be rendered. What comes out is not limited to full
scale."""


def header(rack: Rack, dials: Sequence[Dial], rates: Sequence[float]) -> str:
    """The file."""
    lines = ["/*", *(f"   {line}" for line in ABOUT.splitlines()), "*/", "", "#ifndef JAWARI_H", "#define JAWARI_H", ""]
    lines += ["#include <stdint.h>", "", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    lines += ["typedef struct jawari jawari;", "", *_codes(), ""]
    for name, (function, kinds, result) in DOORS.items():
        lines += [*_comment(inspect.getdoc(function) or ""), prototype(name, function, kinds, result), ""]
    lines += [*_comment(LEVEL_SAYS), f"int32_t {LEVEL}(int32_t most);", ""]
    lines += [*_tables(rack, dials, rates), "", "#ifdef __cplusplus", "}", "#endif", "", "#endif", ""]
    return "\n".join(lines)


def prototype(name: str, function: Callable[..., Any], kinds: Sequence[Any], result: Any) -> str:
    """A door as C declares it."""
    given = inspect.signature(function).parameters
    typed = [(POINTERS[word] if kind == POINTER else TYPES[kind]) + word for word, kind in zip(given, kinds)]
    return f"{TYPES[result]}{name}({', '.join(typed)});"


def _codes() -> Iterator[str]:
    yield "/* Why nothing is opened. */"
    yield "enum {"
    for name, meaning in CODES.items():
        yield f"    JAWARI_{name} = {getattr(memory, name)}, /* {meaning} */"
    yield "};"


def _tables(rack: Rack, dials: Sequence[Dial], rates: Sequence[float]) -> Iterator[str]:
    yield "/* What the image was made for; of rates, 0 is any. */"
    yield f"#define JAWARI_RATES {{{', '.join(f'{rate:g}' for rate in rates or [memory.ANY])}}}"
    yield f"#define JAWARI_PARTS {{{', '.join(quoted(part.preset.name) for part in rack.parts)}}}"
    yield ""
    yield "/* Parameters, for jawari_turn: number, key, name, unit, least, most, and what each is at first. */"
    yield from _table("JAWARI_PARAMETERS", dials)
    yield ""
    yield "/* The same of those that jawari_redesign has values for: an array of them all, by these numbers. */"
    yield from _table("JAWARI_DESIGNS", [] if rates else designed(rack))


def _table(name: str, dials: Sequence[Dial]) -> Iterator[str]:
    yield f"#define {name}(X) \\"
    for dial in dials:
        words = ", ".join(quoted(text) for text in (dial.key, dial.name, dial.unit))
        yield f"    X({dial.number}, {words}, {dial.low!r}, {dial.high!r}, {dial.own!r}) \\"
    yield "    /* nothing else */"


def quoted(text: str) -> str:
    """As C writes it; nothing in it ends a comment or a line."""
    return json.dumps(text, ensure_ascii=False).replace("/*", "/ *").replace("*/", "* /").replace("??", "? ?")


def _comment(text: str) -> list[str]:
    lines = wrap(" ".join(text.split()), 112)
    return ["/* " + "\n   ".join(lines) + " */"]
