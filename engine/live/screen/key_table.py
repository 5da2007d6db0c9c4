"""What the computer's keys do, once: what is obeyed, the panel's hint, the help and the documents are made from it."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from engine.live.screen.typed import ESCAPE

PIANO = "awsedftgyhujkolp;"  # semitones upwards from C
OCTAVES, LOUDNESS, PEDAL = "zx", "cv", " "  # down and up, softer and louder


class Command(Enum):
    """What the session is asked for."""

    QUIT = "quit"
    HELP = "help"
    SILENCE = "silence"
    LIST = "list of presets"
    NEXT = "next preset"
    PREVIOUS = "previous preset"


class Keys(NamedTuple):
    """The characters that mean a command, how they are called, what it does, and in a word, for the hint."""

    characters: str
    shown: str
    does: str
    word: str = ""


TABLE = {
    Command.PREVIOUS: Keys("-_[", "- or [", "previous preset"),
    Command.NEXT: Keys("+=]", "+ or ]", "next preset"),
    Command.LIST: Keys("\t", "Tab", "list of presets", "list"),
    Command.SILENCE: Keys(ESCAPE, "Esc", "end all sound"),
    Command.HELP: Keys("?", "?", "this help", "help"),
    Command.QUIT: Keys("q\x03\x04", "q", "quit", "quit"),  # Ctrl-C where it comes as a character, Ctrl-D
}
COMMANDS = {character: command for command, keys in TABLE.items() for character in keys.characters}

_WHITE = (0, 2, 4, 5, 7, 9, 11)  # semitones of an octave


def hint() -> str:
    """The commands worth a place in the panel."""
    first, second = (TABLE[command].characters[0] for command in (Command.PREVIOUS, Command.NEXT))
    words = [f"{keys.shown} {keys.word}" for keys in TABLE.values() if keys.word]
    return ", ".join([f"{first} {second} preset", *words])


def help_lines(plucking: bool) -> list[str]:
    """What the keys do."""
    entries = [f"{keys.shown} {keys.does}" for keys in TABLE.values()]
    commands = ["   ".join(entries[:3]), "   ".join(entries[3:])]
    if not plucking:
        return [*commands, "with --keys, letters pluck strings"]
    return [
        f" {' '.join(_piano(black=True)):20} black keys",
        f"{' '.join(_piano(black=False)):20}  white keys from C; on any layout, the characters count",
        f"{' '.join(OCTAVES)} octave down, up   {' '.join(LOUDNESS)} softer, louder   space pedal down or up",
        "a held key holds its note, one at a time: for longer chords use the pedal",
        *commands,
    ]


def _piano(black: bool) -> list[str]:
    """A row of the piano, every black key between its neighbours, a blank where there is none."""
    white = [step for step in range(len(PIANO)) if step % 12 in _WHITE]
    if not black:
        return [PIANO[step] for step in white]
    return [PIANO[step + 1] if (step + 1) % 12 not in _WHITE else " " for step in white[:-1]]
