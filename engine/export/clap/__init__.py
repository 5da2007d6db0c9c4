"""The format clap: a plugin for hosts of CLAP, with every parameter to be automated, frame by frame."""

from __future__ import annotations

import shutil
from pathlib import Path

from engine.export import linking
from engine.export.header import header
from engine.export.job import CODE, IMAGE, ROOM, Export, described, licence, slug
from engine.export.shape import PLAYING, bundle_list, identity, shape


def write(order: Export, folder: Path) -> None:
    """Fill a folder."""
    linking.compiler(order.target)  # is there one at all?
    work, made = folder / "work", folder / f"{slug(order)}.clap"
    work.mkdir()
    (work / CODE).write_bytes(order.code)
    (work / "jawari.h").write_text(header(order.rack, order.dials, order.rates), encoding="utf-8")
    (work / "shape.h").write_text(shape(order), encoding="utf-8")
    for source in (*(ROOM / name for name in PLAYING), ROOM / "clap" / "interface.h", ROOM / "clap" / "plugin.c"):
        (work / source.name).write_bytes(source.read_bytes())
    linking.library(order.target, work, [work / "plugin.c", work / CODE], work / made.name, "clap_entry")
    if order.target.name.startswith("macos"):
        inside = made / "Contents"
        for room in ("MacOS", "Resources"):
            (inside / room).mkdir(parents=True)
        (work / made.name).rename(inside / "MacOS" / "jawari")
        (inside / "Info.plist").write_text(bundle_list(order, "jawari"), encoding="utf-8")
        (inside / "Resources" / IMAGE).write_bytes(order.image)
    else:
        (work / made.name).rename(made)
        (folder / IMAGE).write_bytes(order.image)
    shutil.rmtree(work)  # with what linkers leave beside a library
    (folder / "LICENSE").write_text(licence(), encoding="utf-8")
    (folder / "README.md").write_text(readme(order), encoding="utf-8")


def readme(order: Export) -> str:
    """How to install it."""
    return f"""# {order.rack.name}, as a CLAP plugin

For {order.target.name} ({order.target.tried}). No Python is in it; what it plays is what `jawari render` plays, to the
last bit. Put this folder where CLAP plugins lie: `~/.clap` on Linux, `~/Library/Audio/Plug-Ins/CLAP` on macOS,
`%LOCALAPPDATA%\\Programs\\Common\\CLAP` on Windows; keep its files together. Hosts know it as `{identity(order)}`.

{described(order)}

Parameters, notes and MIDI are heard on their very frames. Of a note by itself its tuning, pressure, brightness, pan and
expression can be told, and what moves strings while they sound is modulated and automated for it; MPE is understood,
too. A parameter that nobody has moved leaves MIDI's controllers alone. State is what was moved. Latency is reported.

Free to use by the terms in LICENSE.
"""
