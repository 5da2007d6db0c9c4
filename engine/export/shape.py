"""shape.h: what playing.h, and a plugin around it, is compiled with beside jawari.h; and its name among others."""

from __future__ import annotations

from engine.export.designs import number_of
from engine.export.header import quoted
from engine.export.job import Export, first_program, programs, slug
from engine.preset.parameters import PARAMETERS
from engine.versions import VERSION

PLAYING = ("opening.h", "workbench.h", "playing.h")
DESIGNED = 1 << 12  # the first that is designed for, beyond all numbers of movable ones
PROGRAM = 1 << 16  # the parameter that chooses a part; the next is a switch

BUNDLE = """<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><dict>
<key>CFBundleExecutable</key><string>{binary}</string>
<key>CFBundleIdentifier</key><string>{id}</string>
<key>CFBundlePackageType</key><string>BNDL</string>
<key>CFBundleVersion</key><string>{version}</string>
</dict></plist>
"""


def identity(order: Export) -> str:
    """By which hosts know it: the same presets are the same plugin."""
    return f"jawari.{slug(order)}"


def shape(order: Export, switches: int = 0) -> str:
    """With so many switches, 0 or 1: whether notes are put on channels of their own."""
    ids = [PARAMETERS[dial.key].number for dial in order.dials]
    ids += [DESIGNED + number_of(dial) for dial in order.designs]
    units = [f"{{{quoted(unit)}, {one!r}}}" for unit, one in (dial.shown for dial in (*order.dials, *order.designs))]
    return f"""#define ID {quoted(identity(order))}
#define TITLE {quoted(order.rack.name)}
#define ABOUT {quoted(order.rack.parts[0].preset.about)}
#define RELEASE {quoted(VERSION)}
#define RATES "{order.at}"
#define DIALS {len(order.dials)}
#define DESIGNS {len(order.designs)}
#define IDS {{{", ".join(map(str, [*ids, 0]))}}}
#define SHOWN {{{", ".join([*units, '{"", 1.0}'])}}}
#define PROGRAM_ID {PROGRAM}
#define PARTS {len(order.rack.parts) if programs(order) else 1}
#define FIRST_PROGRAM {first_program(order)}
#define SWITCHES {switches}
"""


def bundle_list(order: Export, binary: str) -> str:
    """What macOS reads of a bundle."""
    return BUNDLE.format(binary=binary, id=identity(order), version=VERSION)
