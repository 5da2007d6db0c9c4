"""What the commands share: the form of --help, the exit codes, and quantities given as arguments."""

from __future__ import annotations

import argparse
from textwrap import fill

from engine.errors import EngineError, Exit, PresetError
from engine.preset.complaints import shown
from engine.preset.tuning import Tuning, load_tuning
from engine.units import note_to_key, parse_quantity

Commands = argparse._SubParsersAction  # the only name argparse has for it

EPILOG = fill("exit codes: " + ", ".join(f"{code:d} {code.meaning}" for code in Exit), 100)


class Help(argparse.RawDescriptionHelpFormatter, argparse.ArgumentDefaultsHelpFormatter):
    """Keeps the lines of examples, shows the defaults that say something."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        says_nothing = action.default is None or action.default is False or action.default == []
        return action.help if says_nothing else super()._get_help_string(action)


class UsageError(EngineError):
    """Arguments that do not go together, or that lie outside their range."""

    exit_code = Exit.USAGE


def quantity(name: str, text: str, unit: str) -> float:
    """The value of an argument such as "50 ms", in SI."""
    try:
        return parse_quantity(text, unit)
    except PresetError as error:
        raise UsageError(f"{name} = {shown(text)}: {error}") from None


def key_range(text: str | None) -> tuple[int, int] | None:
    """The two keys that --key-range names, as notes or numbers."""
    if text is None:
        return None
    try:
        low, high = (int(word) if word.isdecimal() and len(word) < 4 else note_to_key(word) for word in text.split(":"))
    except (ValueError, PresetError):
        raise UsageError(f"--key-range = {shown(text)}: must be two notes or keys, like C2:C4 or 36:60") from None
    if not 0 <= low <= high <= 127:
        raise UsageError(f"--key-range = {shown(text)}: must be keys from 0 to 127, the lower one first")
    return low, high


def tuning(text: str | None) -> Tuning | None:
    """The tuning that --tuning names; without it, the preset's own holds."""
    if text is None:
        return None
    try:
        return load_tuning(text)
    except PresetError as error:
        raise PresetError(f"--tuning: {error}") from None
