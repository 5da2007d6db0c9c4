"""`jawari devices`: the sound cards and MIDI inputs there are, and how MIDI comes in."""

from __future__ import annotations

import argparse

from engine.commands.common import EPILOG, Commands, Help
from engine.errors import EngineError
from engine.printable import printable

DESCRIPTION = """List sound cards and MIDI inputs. Any part of a name is enough for `jawari play --device` and --midi;
the default card is marked. Latencies are the card's own, low to high; a block's length comes on top."""


def add(commands: Commands[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    p = commands.add_parser(
        "devices",
        help="list sound cards and MIDI inputs",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=Help,
    )
    p.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    """Both lists, whatever is missing; the exit code is of the sound cards, without which there is no play."""
    trouble: EngineError | None = None
    print("sound cards:")
    try:
        for line in _cards():
            print(f"  {line}")
    except EngineError as error:
        trouble = error
        print(f"  none: {printable(str(error))}")
    print("MIDI inputs:")
    for line in _inputs():
        print(f"  {printable(line)}")
    return trouble.exit_code if trouble else 0


def _cards() -> list[str]:
    from engine.live.audio.cards import cards, choose

    default = choose().index
    return [
        f"{'*' if card.index == default else ' '}{card.index:3}  {card}: {card.channels} channels, {card.rate:g} Hz, "
        f"latency {1e3 * card.low:.1f} to {1e3 * card.high:.1f} ms"
        for card in cards()
    ]


def _inputs() -> list[str]:
    from engine.live.midi.choice import best, describe

    lines = [describe()]
    try:
        way = best()
    except EngineError:
        return lines
    try:
        return [*(way.names() or ["none is plugged in"]), f"(through {lines[0]})"]
    finally:
        way.close()
