"""What the commands share: the form of --help, the exit codes, and quantities given as arguments."""

from __future__ import annotations

import argparse

from engine.errors import EngineError, PresetError
from engine.units import parse_quantity

Commands = argparse._SubParsersAction  # the only name argparse has for it

EPILOG = """exit codes: 0 done, 1 other trouble, 2 wrong usage, 3 preset refused, 4 impossible physics,
5 figure impossible, 6 file not written, 7 notes or MIDI file refused, 8 slower than before,
9 sound card refused, 10 MIDI input refused, 11 PortAudio or a MIDI library missing, 130 interrupted, 143 ended"""


class Help(argparse.RawDescriptionHelpFormatter, argparse.ArgumentDefaultsHelpFormatter):
    """Keeps the lines of examples, shows the defaults that say something."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        says_nothing = action.default is None or action.default is False or action.default == []
        return action.help if says_nothing else super()._get_help_string(action)


class UsageError(EngineError):
    """Arguments that do not go together, or that lie outside their range."""

    exit_code = 2


def quantity(name: str, text: str, unit: str) -> float:
    """The value of an argument such as "50 ms", in SI."""
    try:
        return parse_quantity(text, unit)
    except PresetError as error:
        raise PresetError(f"{name} = {text}: {error}") from None
