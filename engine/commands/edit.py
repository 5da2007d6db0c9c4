"""`jawari edit`: a preset in the browser, seen, shaped and played."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from engine.commands.common import EPILOG, Commands, Help, UsageError, quantity
from engine.commands.play import LARGEST_BLOCK, QUITTING, add_cores, check_cores, latency_of
from engine.ending import carefree
from engine.errors import MissingPart, PresetError
from engine.interrupts import stoppable
from engine.preset.complaints import Complaints, Place
from engine.preset.loader import locate
from engine.preset.rack import is_rack

if TYPE_CHECKING:
    from engine.edit.session import Outset

DESCRIPTION = """Open a page of this machine around a preset that is played live: see the string meet its barrier, turn
what it is made of and hear it while it rings, keep what was found. Only this machine can open it, by the address that
is printed; it asks nothing of any other."""

EXAMPLES = """examples:
  jawari edit sitar
  jawari edit my-sitar                 a preset of your own, by its name (jawari presets lists them), or any YAML file
  jawari edit --no-browser --port 4000 print the address, open nothing

Without a sound card the page plays what is heard. Presets are saved among your own, takes beside them.
Ctrl-C ends it."""


def add(commands: Commands[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    p = commands.add_parser(
        "edit",
        help="see, shape and play a preset in the browser",
        description=DESCRIPTION,
        epilog=f"{EXAMPLES}\n\n{EPILOG}",
        formatter_class=Help,
    )
    p.add_argument("preset", nargs="?", default="sitar", metavar="PRESET", help="a preset's name or its YAML file")
    p.add_argument("--port", type=int, default=0, metavar="N", help="of the address; 0: any that is free")
    p.add_argument("--no-browser", action="store_true", help="only print the address")
    p.add_argument("--device", metavar="NAME", help="part of the sound card's name, or its number; none: no card")
    p.add_argument("--sample-rate", metavar="HZ", help="default: the card's own")
    p.add_argument("--block-size", type=int, default=128, metavar="N", help="frames at a time")
    add_cores(p)
    p.add_argument("--latency", default="low", metavar="T", help="low, high, or a time: what the card may hold back")
    p.add_argument(
        "--midi",
        action="append",
        metavar="NAME",
        help="only inputs with this in their name, now or later; repeatable; 'none': no input",
    )
    p.add_argument("--virtual", action="store_true", help="make a MIDI input called jawari for other programs")
    p.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    with stoppable(*QUITTING):
        with carefree():
            desk = _desk(args)
            from engine.edit.session import EditSession

            session = EditSession(desk)
        session.run()
    return 0


def _desk(args: argparse.Namespace) -> Outset:
    if not 0 <= args.port <= 65535:
        raise UsageError(f"--port = {args.port}: must be 0 to 65535; 0 takes any that is free")
    if not 8 <= args.block_size <= LARGEST_BLOCK:
        raise UsageError(f"--block-size = {args.block_size}: must be 8 to {LARGEST_BLOCK} frames; try 128")
    check_cores(args.cores)
    if is_rack(args.preset):
        raise UsageError(f"{args.preset}: is a rack; edit one of its presets")
    complaints = Complaints()
    path = locate(args.preset, complaints, Place("preset"))
    complaints.raise_if_any()
    if path is None or not path.is_file():
        raise PresetError(f"{args.preset}: there is no such file; name a preset, or a YAML file")
    wanted = None if args.sample_rate is None else quantity("--sample-rate", args.sample_rate, "Hz")
    try:
        import aiohttp  # noqa: F401
    except ImportError:
        raise MissingPart("jawari edit needs aiohttp; pip install 'jawari[edit]'") from None

    from engine.edit.session import Outset
    from engine.live.audio.cards import Card, check, choose
    from engine.live.errors import DeviceError

    card: Card | None = None
    why = "no card was wanted"
    if args.device != "none":
        try:
            card = choose(args.device)
            check(card, float(card.rate if wanted is None else wanted), min(2, card.channels))
        except (DeviceError, MissingPart) as error:
            if args.device is not None:
                raise
            why = str(error).split(";")[0]
            card = None
    rate = wanted if wanted is not None else float(card.rate) if card else 48_000.0
    return Outset(
        path=Path(path),
        card=card,
        no_card="" if card else why,
        sample_rate=rate,
        block_size=args.block_size,
        latency=latency_of(args.latency),
        midi=None if args.midi == ["none"] else args.midi or (),
        virtual=args.virtual,
        cores=args.cores,
        port=args.port,
        browser=not args.no_browser,
    )
