"""The format lv2: a bundle for hosts of LV2, with a port for every parameter and a preset for every program."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from engine.export import linking
from engine.export.header import header, quoted
from engine.export.job import CODE, IMAGE, ROOM, Export, described, first_program, licence, programs, slug
from engine.export.knobs import Dial

UNITS = {
    "mm": "units:mm",
    "ms": "units:ms",
    "dB": "units:db",
}
PREFIXES = """@prefix atom: <http://lv2plug.in/ns/ext/atom#> .
@prefix doap: <http://usefulinc.com/ns/doap#> .
@prefix lv2: <http://lv2plug.in/ns/lv2core#> .
@prefix midi: <http://lv2plug.in/ns/ext/midi#> .
@prefix pset: <http://lv2plug.in/ns/ext/presets#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix units: <http://lv2plug.in/ns/extensions/units#> .
@prefix urid: <http://lv2plug.in/ns/ext/urid#> .
@prefix work: <http://lv2plug.in/ns/ext/worker#> .
"""
DESCRIPTION = "jawari.ttl"


def write(order: Export, folder: Path) -> None:
    """Fill a folder."""
    linking.compiler(order.target)  # is there one at all?
    binary = f"jawari{order.target.library}"
    (folder / IMAGE).write_bytes(order.image)
    work = folder / "work"
    work.mkdir()
    (work / CODE).write_bytes(order.code)
    (work / "jawari.h").write_text(header(order.rack, order.dials, order.rates), encoding="utf-8")
    (work / "shape.h").write_text(shape(order), encoding="utf-8")
    for source in (ROOM / "opening.h", ROOM / "workbench.h", ROOM / "lv2" / "interface.h", ROOM / "lv2" / "plugin.c"):
        (work / source.name).write_bytes(source.read_bytes())
    linking.library(order.target, work, [work / "plugin.c", work / CODE], work / binary, "lv2_descriptor")
    (work / binary).rename(folder / binary)
    shutil.rmtree(work)  # with what linkers leave beside a library
    (folder / "manifest.ttl").write_text(manifest(order, binary), encoding="utf-8")
    (folder / DESCRIPTION).write_text(description(order), encoding="utf-8")
    (folder / "LICENSE").write_text(licence(), encoding="utf-8")
    (folder / "README.md").write_text(readme(order), encoding="utf-8")


def uri(order: Export) -> str:
    """By which hosts know it: the same presets are the same plugin."""
    return f"urn:jawari:{slug(order)}"


def scaled(dial: Dial, value: float) -> str:
    """A value of a parameter as its port has it: the shortest number that is this float."""
    text = str(np.float32(value / dial.shown[1]))
    return text if re.fullmatch(r"-?\d+\.\d+", text) else f"{float(text):.12f}"


def shape(order: Export) -> str:
    """What plugin.c is compiled with."""
    shown = (*order.dials, *order.designs)
    rows = [f"{{{d.shown[1]!r}, {scaled(d, d.own)}f}}" for d in shown]
    return f"""#define URI {quoted(uri(order))}
#define RATES "{order.at}"
#define DIALS {len(order.dials)}
#define DESIGNS {len(order.designs)}
#define SCALES {{{", ".join([*rows, "{1.0, 0.0f}"])}}}
#define PARTS {len(order.rack.parts) if programs(order) else 1}
#define FIRST_PROGRAM {first_program(order)}
"""


def manifest(order: Export, binary: str) -> str:
    """What hosts read of all plugins."""
    lines = [PREFIXES, f"<{uri(order)}> a lv2:Plugin ; lv2:binary <{binary}> ; rdfs:seeAlso <{DESCRIPTION}> ."]
    for number, name in programs(order).items():
        lines.append(
            f"\n<{uri(order)}#program-{number}> a pset:Preset ; lv2:appliesTo <{uri(order)}> ; "
            f"rdfs:label {quoted(name)} ; rdfs:seeAlso <{DESCRIPTION}> ."
        )
    return "\n".join(lines) + "\n"


def description(order: Export) -> str:
    """What they read of one that they use."""
    ports = " , ".join(f"[\n{port}\n    ]" for port in _ports(order))
    lines = [
        PREFIXES,
        f"<{uri(order)}> a lv2:InstrumentPlugin , lv2:Plugin ;",
        f"    doap:name {quoted(order.rack.name)} ;",
        "    doap:license <http://opensource.org/licenses/mit> ;",
        "    lv2:minorVersion 0 ;",
        "    lv2:microVersion 1 ;",
        "    lv2:requiredFeature urid:map ;",
        f"    lv2:optionalFeature lv2:hardRTCapable{' , work:schedule' if order.designs else ''} ;",
        *(["    lv2:extensionData work:interface ;"] if order.designs else []),
        f"    lv2:port {ports} .",
    ]
    for number, name in programs(order).items():
        lines += ["", f"<{uri(order)}#program-{number}> a pset:Preset ; lv2:appliesTo <{uri(order)}> ;"]
        lines += [f'    rdfs:label {quoted(name)} ; lv2:port [ lv2:symbol "program" ; pset:value {number}.0 ] .']
    return "\n".join(lines) + "\n"


def _ports(order: Export) -> Iterator[str]:
    """In the order of plugin.c."""
    yield _port(0, "events", "Events", "lv2:InputPort , atom:AtomPort", [
        "atom:bufferType atom:Sequence", "atom:supports midi:MidiEvent", "lv2:designation lv2:control",
    ])  # fmt: skip
    for number, side in enumerate(("left", "right"), 1):
        yield _port(number, side, side.capitalize(), "lv2:OutputPort , lv2:AudioPort", [])
    latency = [
        "lv2:portProperty lv2:reportsLatency , lv2:integer",
        "lv2:designation lv2:latency",
        "units:unit units:frame",
    ]
    yield _port(3, "latency", "Latency", "lv2:OutputPort , lv2:ControlPort", [*_range("0", "0", "8192"), *latency])
    for number, dial in enumerate((*order.dials, *order.designs), 4):
        unit = _unit(dial.shown[0])
        words = [*_range(*(scaled(dial, value) for value in (dial.own, dial.low, dial.high)))]
        words += [f"rdfs:comment {quoted(dial.effect)}"] + ([f"units:unit {unit}"] if unit else [])
        yield _port(number, dial.symbol, dial.name, "lv2:InputPort , lv2:ControlPort", words)
    if chosen := programs(order):
        first, points = first_program(order), dict(chosen)
        if first < 0:
            points = {-1: "As the rack has it", **points}
        words = [*_range(str(first), str(min(points)), str(max(points)))]
        words += ["lv2:portProperty lv2:integer , lv2:enumeration"]
        words += [f"lv2:scalePoint [ rdfs:label {quoted(name)} ; rdf:value {n} ]" for n, name in points.items()]
        yield _port(
            4 + len(order.dials) + len(order.designs), "program", "Program", "lv2:InputPort , lv2:ControlPort", words
        )


def _unit(name: str) -> str:
    """LV2's own, or one that is said here."""
    said = f'[ a units:Unit ; rdfs:label "{name}" ; units:symbol "{name}" ; units:render "%f {name}" ]'
    return UNITS.get(name, said) if name else ""


def _range(first: str, least: str, most: str) -> list[str]:
    return [f"lv2:default {first}", f"lv2:minimum {least}", f"lv2:maximum {most}"]


def _port(number: int, symbol: str, name: str, kinds: str, words: list[str]) -> str:
    lines = [f"a {kinds}", f"lv2:index {number}", f'lv2:symbol "{symbol}"', f"lv2:name {quoted(name)}", *words]
    return " ;\n".join(f"        {line}" for line in lines)


def readme(order: Export) -> str:
    """How to install it."""
    name = order.rack.name
    return f"""# {name}, as an LV2 plugin

For {order.target.name} ({order.target.tried}). No Python is in it; what it plays is what `jawari render` plays, to the
last bit. Put this folder where LV2 plugins lie: `~/.lv2` on Linux, `~/Library/Audio/Plug-Ins/LV2` on macOS,
`%APPDATA%\\LV2` on Windows. Hosts know it as `{uri(order)}`.

{described(order)}

Every parameter is a port that the host automates and keeps with its session; one that nobody has moved leaves MIDI's
controllers alone. A port that moves is heard from the next block on, MIDI on its very frame. Latency is reported.

Free to use by the terms in LICENSE.
"""
