"""The format vst3: a plugin for hosts of VST 3, with parameters on their frames and MIDI as these hosts hand it on."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

from engine import messages as midi
from engine.export import linking
from engine.export.header import header
from engine.export.job import CODE, IMAGE, ROOM, Export, described, licence, slug
from engine.export.shape import PLAYING, bundle_list, identity
from engine.export.shape import shape as common
from engine.versions import VERSION

# What chooses a parameter comes before its data: hosts say for each controller by itself what it does in a block.
CHOOSING = (midi.NRPN, midi.NRPN_FINE, midi.RPN, midi.RPN_FINE, midi.DATA, midi.DATA_FINE)
ALWAYS = (
    *(midi.MODULATION, midi.VOLUME, midi.PAN, midi.EXPRESSION, *midi.PEDALS, midi.LEGATO),
    *(midi.ALL_SOUND_OFF, midi.RESET_CONTROLLERS, midi.ALL_NOTES_OFF),
)
PRESSURE, WHEEL = 128, 129  # after MIDI's controllers, as VST 3 counts them
SYMBOLS = {
    "linux": "ModuleEntry; ModuleExit; GetPluginFactory",
    "windows": "InitDll; ExitDll; GetPluginFactory",
    "macos": "bundleEntry; bundleExit; GetPluginFactory",
}
SOURCES = ("interface.h", "words.h", "showing.h", "library.h", "plugin.c")
TRADEMARK = "VST is a trademark of Steinberg Media Technologies GmbH, registered in Europe and other countries."


def write(order: Export, folder: Path) -> None:
    """Fill a folder."""
    linking.compiler(order.target)  # is there one at all?
    system, machine = order.target.name.split("-")
    work, made = folder / "work", folder / f"{slug(order)}.vst3" / "Contents"
    room, name = {
        "linux": (f"{machine}-linux", f"{slug(order)}.so"),
        "windows": (f"{machine}-win", f"{slug(order)}.vst3"),
        "macos": ("MacOS", slug(order)),
    }[system]
    for inside in (work, made / room, made / "Resources"):
        inside.mkdir(parents=True)
    (work / CODE).write_bytes(order.code)
    (work / "jawari.h").write_text(header(order.rack, order.dials, order.rates), encoding="utf-8")
    (work / "shape.h").write_text(shape(order), encoding="utf-8")
    for source in (*(ROOM / name for name in PLAYING), *(ROOM / "vst3" / name for name in SOURCES)):
        (work / source.name).write_bytes(source.read_bytes())
    linking.library(order.target, work, [work / "plugin.c", work / CODE], work / "made", SYMBOLS[system])
    (work / "made").rename(made / room / name)
    shutil.rmtree(work)  # with what linkers leave beside a library
    (made / "Resources" / IMAGE).write_bytes(order.image)
    (made / "Resources" / "moduleinfo.json").write_text(module(order), encoding="utf-8")
    if system == "macos":
        (made / "Info.plist").write_text(bundle_list(order, name), encoding="utf-8")
    (folder / "LICENSE").write_text(licence(), encoding="utf-8")
    (folder / "README.md").write_text(readme(order), encoding="utf-8")


def class_id(order: Export) -> str:
    """Sixteen bytes, as 32 digits, by which hosts know it: the same presets are the same plugin."""
    return hashlib.sha256(f"vst3 {identity(order)}".encode()).hexdigest()[:32].upper()


def heard(order: Export) -> list[int]:
    """MIDI's controllers that say anything to the instrument, and pressure and the wheel."""
    mapped = {c.number for part in order.rack.parts for c in part.preset.controllers if c.number is not None}
    zone = {midi.BRIGHTNESS}  # MPE's
    return [*CHOOSING, *sorted((mapped | zone | set(ALWAYS)) - set(CHOOSING)), PRESSURE, WHEEL]


def shape(order: Export) -> str:
    """What plugin.c is compiled with."""
    digits = class_id(order)
    words = ", ".join(f"0x{digits[n : n + 8]}u" for n in range(0, 32, 8))
    return f"""{common(order, switches=1)}#define CLASS ID_OF({words})
#define CONTROLS {{{", ".join(map(str, heard(order)))}}}
"""


def module(order: Export) -> str:
    """moduleinfo.json: what hosts read before they load anything."""
    maker = {"Vendor": "Jawari", "URL": "", "E-Mail": ""}
    flags = {"Unicode": True, "Classes Discardable": False, "Component Non Discardable": False}
    kind = {
        "CID": class_id(order),
        "Category": "Audio Module Class",
        "Name": order.rack.name,
        "Vendor": "Jawari",
        "Version": VERSION,
        "SDKVersion": "VST 3.7.0",
        "Sub Categories": ["Instrument", "Synth"],
        "Class Flags": 0,
        "Cardinality": 0x7FFFFFFF,
        "Snapshots": [],
    }
    facts = {
        "Name": order.rack.name,
        "Version": VERSION,
        "Factory Info": {**maker, "Flags": flags},
        "Compatibility": [],
        "Classes": [kind],
    }
    return json.dumps(facts, indent=2, ensure_ascii=False) + "\n"


def readme(order: Export) -> str:
    """How to install it."""
    return f"""# {order.rack.name}, as a VST 3 plugin

For {order.target.name} ({order.target.tried}). No Python is in it; what it plays is what `jawari render` plays, to the
last bit. Put the folder `{slug(order)}.vst3` where VST 3 plugins lie: `~/.vst3` on Linux,
`~/Library/Audio/Plug-Ins/VST3` on macOS, `%COMMONPROGRAMFILES%\\VST3` on Windows. It keeps
its name, by which hosts find the library within.

{described(order, chosen_by_midi=False)}

Parameters and notes are heard on their very frames. MIDI's controllers, pressure and the wheel of each channel come as
parameters of their own, as VST 3 has it: how finely is the host's affair, and program changes do not come; a parameter
chooses the program. The switch "Notes apart" puts each note on a channel of its own, so that volume, pan, tuning,
brightness and pressure of single notes are heard; without it notes stay on the channels that they come on. State is
what was moved. Latency is reported.

Free to use by the terms in LICENSE. {TRADEMARK}
"""
