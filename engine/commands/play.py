"""`jawari play`: a preset under the fingers, from a MIDI keyboard or the computer's keys."""

from __future__ import annotations

import argparse
import logging
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engine.commands.common import EPILOG, Commands, Help, UsageError, quantity, tuning
from engine.commands.racks import add_map, asked_drone, make_rack, remembered
from engine.ending import carefree
from engine.errors import PresetError
from engine.files.errors import FileError
from engine.files.target import named
from engine.interrupts import stoppable
from engine.live.screen.key_table import help_lines
from engine.music.sources import phrase, read_score
from engine.preset.files import shipped
from engine.preset.rack import is_rack
from engine.units import parse_quantity

if TYPE_CHECKING:
    from engine.live.session import Plan

DESCRIPTION = """Play live. Every MIDI input is heard, and those plugged in later; with --keys the computer's
own keys pluck notes. The sound card's thread runs compiled code only: whatever Python does, it does not wait."""

EXAMPLES = """examples:
  jawari play sitar                                 every MIDI keyboard there is
  jawari play sitar --keys                          the computer's keys: a w s e d ... is a piano
  jawari play sitar --demo                          its phrase, then the end
  jawari play tanpura --drone --tempo 50            strummed by itself, in time with a MIDI clock when one comes in
  jawari play tanpura --device scarlett --midi "key" --block-size 64
  jawari play sitar --record take.mid               then: jawari render --midi take.mid --limit, the same samples
  jawari play sitar --record a.mid --record a.wav   the sound as well, as the card got it
  jawari play sitar tanpura mine.yaml               program change 1, 2, 3 chooses; + and - in the terminal as well
  jawari play --map 1=sitar 2=tanpura 5-8=plain     a preset for each channel
  jawari play duo.yaml                              a rack: presets, their channels, programs, gains and pans

in the terminal, with --keys:
  {keys}

`jawari devices` lists sound cards and MIDI inputs. Ctrl-C ends and reports blocks, late blocks and the worst load.
What is recorded is on disk from the first note, in FILE.unfinished. However a session ends, the take is written first;
if it could not be, the next `jawari play` makes FILE-recovered of it. No file is replaced without --force: if there is
one by then, the take is FILE-2."""

# Ctrl-\\ and, on Windows, a closed console end a session like all the others: with what was recorded.
QUITTING = tuple(getattr(signal, name) for name in ("SIGQUIT", "SIGBREAK") if hasattr(signal, name))
KEYS = "\n  ".join(help_lines(plucking=True))
LARGEST_BLOCK = 8192
MOST_DELAY = 0.5  # s


def add(commands: Commands[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    p = commands.add_parser(
        "play",
        help="play live, from a MIDI keyboard or the computer's keys",
        description=DESCRIPTION,
        epilog=f"{EXAMPLES.format(keys=KEYS)}\n\n{EPILOG}",
        formatter_class=Help,
    )
    p.add_argument(
        "presets",
        nargs="*",
        metavar="PRESET",
        help="played first; further ones are programs 2, 3, ...; or a rack's YAML file; default: sitar",
    )
    p.set_defaults(run=_run)
    _add_card(p.add_argument_group("the sound card"))
    _add_midi(p.add_argument_group("MIDI and keys"))
    _add_instrument(p.add_argument_group("the instrument"))
    p.add_argument("--demo", action="store_true", help="play the preset's phrase, end when it has rung out")
    p.add_argument("--notes", metavar="TEXT", help="with --demo: these notes, or a MIDI file, instead of the phrase")
    p.add_argument("--drone", action="store_true", help="let the preset's drone play by itself from the start")
    p.add_argument(
        "--tempo", metavar="BEATS", help="with --drone: a minute, until a MIDI clock comes in; default: the preset's"
    )
    p.add_argument("--seconds", metavar="T", help="end after this time")
    _add_recording(p.add_argument_group("recording"))
    p.add_argument("--quiet", action="store_true", help="say only what goes wrong, and the report at the end")


def _add_recording(p: argparse._ArgumentGroup) -> None:
    p.add_argument(
        "--record",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="keep what is played: .mid, a tick per sample, or the sound: .wav, in 32-bit floats, .flac; repeatable",
    )
    p.add_argument("--force", action="store_true", help="replace the files of --record")
    p.add_argument(
        "--recover",
        type=Path,
        action="append",
        metavar="FILE",
        help="make a take of what a session left behind that broke off, and end; what lies in the current folder, or "
        "beside the files of --record, needs no asking",
    )


def _add_card(p: argparse._ArgumentGroup) -> None:
    p.add_argument("--device", metavar="NAME", help="part of its name, or its number; default: the system's")
    p.add_argument("--sample-rate", metavar="HZ", help="default: the card's own")
    p.add_argument("--block-size", type=int, default=128, metavar="N", help="frames at a time")
    p.add_argument("--latency", default="low", metavar="T", help="low, high, or a time: what the card may hold back")
    add_cores(p)
    p.add_argument("--channels", type=int, metavar="N", help="of the card; 1 is mono; default: 2 if it has them")


def add_cores(p: argparse._ActionsContainer) -> None:
    """A second core for the voices."""
    p.add_argument(
        "--cores", type=int, default=1, metavar="N", help="2: a second core helps where many strings sound; Linux (1)"
    )


def check_cores(cores: int) -> None:
    """Refuse what is neither one nor two."""
    if cores not in (1, 2):
        raise UsageError(f"--cores = {cores}: must be 1 or 2")


def _add_midi(p: argparse._ArgumentGroup) -> None:
    p.add_argument(
        "--midi",
        action="append",
        metavar="NAME",
        help="only inputs with this in their name, now or later; repeatable; 'none': no input",
    )
    p.add_argument(
        "--virtual", action="store_true", help="make an input called jawari for other programs; alone, the only one"
    )
    p.add_argument(
        "--midi-delay", metavar="T", help="from arrival to sound, the same for every note; default: one block"
    )
    p.add_argument(
        "--channel", type=int, action="append", metavar="N", help="hear only this MIDI channel, 1 to 16; repeatable"
    )
    p.add_argument("--keys", action="store_true", help="pluck with the computer's keys, in a terminal")


def _add_instrument(p: argparse._ArgumentGroup) -> None:
    add_map(p)
    p.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a preset key; repeatable")
    p.add_argument("--tuning", metavar="TEXT", help="like 'just on D, A4=432', or a Scala file; default: the preset's")
    p.add_argument("--polyphony", type=int, metavar="N", help="strings at a time, 1 to 256; default: the preset's")
    p.add_argument("--oversample", type=int, metavar="N", help="1, 2, 4 or 8; default: the preset's")


def _run(args: argparse.Namespace) -> int:
    if args.recover:
        return _recover(args.recover)
    with stoppable(*QUITTING):
        with carefree():
            plan = _plan(args)  # before anything is opened: what is wrong in the arguments is said at once
            from engine.live.recorder import recover_in
            from engine.live.session import Session
        for line in recover_in([Path(), *(path.parent for path in args.record)]):
            logging.getLogger("jawari").info(line)
        with carefree():  # designing, perhaps compiling
            session = Session(plan, quiet=args.quiet)
        session.run()
    return 0


def demonstrate(preset: str, device: str | None) -> int:
    """Play a preset's phrase."""
    parser = argparse.ArgumentParser()
    add(parser.add_subparsers())
    asked = parser.parse_args(["play", "--demo", *(["--device", device] if device is not None else []), "--", preset])
    return _run(asked)


def _recover(paths: Sequence[Path]) -> int:
    from engine.live.recorder import recover

    for path in paths:
        lines = list(recover([path]))
        if not lines:
            raise FileError(f"{named(path)}: is not what a session left behind, or one still writes it; check the name")
        print(*lines, sep="\n")
    return 0


def _plan(args: argparse.Namespace) -> Plan:
    names = args.presets if args.map else _programs(args.presets)
    rack = make_rack(names, args.map, args.set)
    seconds = None if args.seconds is None else quantity("--seconds", args.seconds, "s")
    if seconds is not None and seconds <= 0.0:
        raise UsageError(f"--seconds = {args.seconds}: must be more than 0")
    if not 8 <= args.block_size <= LARGEST_BLOCK:
        raise UsageError(f"--block-size = {args.block_size}: must be 8 to {LARGEST_BLOCK} frames; try 128")
    check_cores(args.cores)
    if args.notes and not args.demo:
        raise UsageError("--notes is what --demo plays; add --demo")
    wanted = None if args.sample_rate is None else quantity("--sample-rate", args.sample_rate, "Hz")
    listen = [channel - 1 for channel in args.channel or range(1, 17)]
    if not all(0 <= channel < 16 for channel in listen):
        raise UsageError(f"--channel = {max(args.channel)}: must be 1 to 16")
    if args.drone and args.demo:
        raise UsageError("--drone and --demo both play by themselves; leave one of them out")
    if args.tempo and not args.drone:
        raise UsageError("--tempo is how fast --drone plays; add --drone")
    drone = asked_drone(rack, args.tempo) if args.drone else None
    score = None if not args.demo else read_score(args.notes) if args.notes else phrase(rack)
    latency, delay = latency_of(args.latency), _delay(args.midi_delay)
    tuning(args.tuning)

    from engine.live.audio.cards import check, choose
    from engine.live.recorder import check_takes
    from engine.live.session import Plan

    check_takes(args.record, args.force)

    card = choose(args.device)
    rate = float(card.rate if wanted is None else wanted)
    channels = min(2, card.channels) if args.channels is None else args.channels
    check(card, rate, channels)
    return Plan(
        rack=rack,
        card=card,
        sample_rate=rate,
        block_size=args.block_size,
        channels=channels,
        latency=latency,
        delay=None if delay is None else round(delay * rate),
        oversample=args.oversample,
        polyphony=args.polyphony,
        tuning=args.tuning,
        midi=None if args.midi == ["none"] else args.midi or (),
        virtual=args.virtual,
        listen=listen,
        keys=args.keys,
        score=score,
        drone=drone,
        seconds=seconds,
        record=args.record,
        facts=remembered(args, names, rate, mono=channels == 1),
        force=args.force,
        cores=args.cores,
    )


def _programs(given: Sequence[str]) -> list[str]:
    """What programs 1, 2, ... are: the presets given, or after a single one all that are shipped."""
    if len(given) > 1 or (given and is_rack(given[0])):
        return list(given)
    first = given[0] if given else "sitar"
    return [first, *(name for name in shipped() if name != first)]


def latency_of(text: str) -> float | str:
    """What --latency says."""
    if text in ("low", "high"):
        return text
    try:
        seconds = parse_quantity(text, "s")
    except PresetError:
        raise UsageError(f"--latency = {text}: must be low, high, or a time such as '10 ms'") from None
    if not 0.0 <= seconds <= 5.0:
        raise UsageError(f"--latency = {text}: must be 0 to 5 s; try low")
    return seconds


def _delay(text: str | None) -> float | None:
    """Seconds from a note's arrival to its sound."""
    if text is None:
        return None
    seconds = quantity("--midi-delay", text, "s")
    if not 0.0 <= seconds <= MOST_DELAY:
        raise UsageError(
            f"--midi-delay = {text}: must be 0 to {MOST_DELAY:g} s; the default, one block, has least jitter"
        )
    return seconds
