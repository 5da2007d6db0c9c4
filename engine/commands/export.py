"""`jawari export`: an instrument out of Python, for programs and hosts."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path

from engine.commands.common import EPILOG, Commands, Help, UsageError, key_range, quantity
from engine.commands.racks import make_rack, stem
from engine.errors import PresetError
from engine.files.target import check_target, named, whole_file
from engine.interrupts import stoppable
from engine.preset.rack import Rack
from engine.terminal import tell

FORMATS = {
    "c": "an object file, a header, the instruments as a file, an example: for any program that can call C",
    "lv2": "a plugin: a bundle with a port for every parameter and a preset for every program",
    "clap": "a plugin: parameters automated frame by frame, expression and modulation of single notes, MPE, state",
    "vst3": "a plugin: parameters automated frame by frame, expression of single notes, state",
    "web": "a page that plays in any browser, without a server or a network; --single makes it one file",
}
MOST_RATES = 8
# At which they play if nothing else is asked for: a program knows its rate, a plugin's host and a browser choose.
RATES = {"c": "48000", "lv2": "44100,48000,88200,96000,192000", "web": "44100,48000"}
RATES["clap"] = RATES["vst3"] = RATES["lv2"]
ANY_RATE = "any"
EXAMPLE = """examples:
  jawari export sitar --format c --rates 44100,48000 -o sitar-c
  jawari export sitar tanpura --format lv2 -o ~/.lv2/strings.lv2
  jawari export sitar tanpura --format web --single -o strings.html"""


def add(commands: Commands[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    forms = "\n".join(f"  {name:5} {what}" for name, what in FORMATS.items())
    p = commands.add_parser(
        "export",
        help="take an instrument out of Python: for programs in C, as a plugin, as a page",
        description="Write the renderer as machine code and presets as data: the same bits, without Python.",
        epilog=f"formats:\n{forms}\n\n{EXAMPLE}\n\n{EPILOG}",
        formatter_class=Help,
    )
    p.add_argument(
        "presets",
        nargs="+",
        metavar="PRESET",
        help="a shipped preset's name, a YAML file, or a rack; several are programs of one instrument",
    )
    p.add_argument("--format", required=True, metavar="FORMAT", choices=FORMATS, help="see below")
    p.add_argument("-o", "--output", type=Path, metavar="DIR", help="the folder to make; default: named by the preset")
    p.add_argument("--single", action="store_true", help="of the format web: one HTML file instead of a folder")
    p.add_argument(
        "--rates",
        metavar="HZ,...",
        help="sample rates that it will play at; default: any, where strings can be designed when it is opened, else "
        "48000 for c, 44100 and 48000 for web, for plugins 88200, 96000 and 192000, too",
    )
    p.add_argument(
        "--key-range",
        metavar="LOW:HIGH",
        help="keys that have strings; default: all, for web C2:C7, which is less",
    )
    p.add_argument(
        "--target",
        metavar="SYSTEM",
        help="the system that it is for: linux-x86_64, linux-aarch64, "
        "windows-x86_64, macos-x86_64 or macos-arm64; default: this machine's",
    )
    p.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a preset key; repeatable")
    p.add_argument("--force", action="store_true", help="replace an earlier export")
    p.set_defaults(run=_run)


@stoppable()
def _run(args: argparse.Namespace) -> int:
    if args.single and args.format != "web":
        raise UsageError("--single: only a page can be one file; take --format web")
    if args.target and args.format == "web":
        raise UsageError("--target: a page plays on every system; leave it out")
    rack = make_rack(args.presets, [], args.set)
    rates, why = _rates(args.rates, args.format, rack)
    # From here on the compiler is needed, which other commands start without.
    from engine.export import c, clap, lv2, vst3, web
    from engine.export.folder import check_folder, whole_folder
    from engine.export.image import ALL_KEYS
    from engine.export.job import Export
    from engine.export.targets import target_of

    writers: dict[str, tuple[Callable[[Export, Path], None], str]] = {
        "c": (c.write, "{}-c"),
        "lv2": (lv2.write, "{}.lv2"),
        "clap": (clap.write, "{}-clap"),
        "vst3": (vst3.write, "{}-vst3"),
        "web": (web.write_single, "{}.html") if args.single else (web.write, "{}-web"),
    }
    write, name = writers[args.format]
    target = web.ANYWHERE if args.format == "web" else target_of(args.target)
    page = args.format == "web"
    keys = key_range(args.key_range) or (web.KEYS if page else ALL_KEYS)
    order = Export(rack, rates, target, tell, keys, shown=page)
    made = args.output or Path(name.format(stem(args.presets[0])))
    if args.single:
        check_target(made, args.force)
        with whole_file(made, args.force) as part:
            write(order, part)
            size = part.stat().st_size
    else:
        check_folder(made, args.force)
        with whole_folder(made, args.force, order.facts(args.format)) as part:
            write(order, part)
            size = sum(file.stat().st_size for file in part.rglob("*") if file.is_file())
    print(f"wrote {named(made)}: {rack.name} at {order.at} for {target.name}, {size / 1e6:.1f} MB; {target.tried}")
    if why:
        print(f"no other sample rates: {why}; --rates takes others")
    print(f"how to use it: {named(made if args.single else made / 'README.md')}")
    return 0


def _rates(asked: str | None, form: str, rack: Rack) -> tuple[tuple[float, ...], str]:
    """None where it is any, else each once; and why it is not any, where nobody asked for some."""
    if asked is not None and asked.strip() != ANY_RATE:
        return _listed(RATES[form] if asked is None else asked), ""
    from engine.export.any_rate import bound

    why = bound(rack)
    if why and asked:
        raise UsageError(f"--rates: {why}, and so is designed for some rates; write them like 44100,48000")
    return (_listed(RATES[form]), why) if why else ((), "")


def _listed(text: str) -> tuple[float, ...]:
    """Of "44100,48 kHz", each once."""
    from engine.preset.arguments import rate_of

    words = [word for word in re.split(r"[,;]", text) if word.strip()]
    if not 1 <= len(words) <= MOST_RATES:
        raise UsageError(f"--rates: must be 1 to {MOST_RATES} sample rates; write them like 44100,48000")
    try:
        rates = [rate_of(quantity("--rates", word, "Hz")) for word in words]
    except PresetError as error:
        raise UsageError(f"--rates: {error}") from None
    return tuple(dict.fromkeys(rates))
