"""Every error a user can cause, each with its own exit code. One line: what, where, the limit, the remedy."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What a command ends with: the same kind of mistake has the same code in each of them."""

    meaning: str

    def __new__(cls, code: int, meaning: str) -> Exit:
        member = int.__new__(cls, code)
        member._value_, member.meaning = code, meaning
        return member

    DONE = 0, "done"
    OTHER = 1, "other trouble"
    USAGE = 2, "wrong usage"
    PRESET = 3, "preset or tuning refused"
    PHYSICS = 4, "impossible physics"
    FIGURE = 5, "figure impossible"
    FILE = 6, "file not written"
    NOTES = 7, "notes or MIDI file refused"
    SLOWER = 8, "slower than before"
    CARD = 9, "sound card refused"
    INPUT = 10, "MIDI input refused"
    LIBRARY = 11, "library missing"
    PAGE = 12, "page not served"
    EXPORT = 13, "export impossible"
    INTERRUPTED = 130, "interrupted"
    ENDED = 143, "ended"


class EngineError(Exception):
    """Base of all errors that are the input's fault, not the program's."""

    exit_code: int = Exit.OTHER


class PresetError(EngineError):
    """A preset, an override or a quantity that cannot be accepted."""

    exit_code = Exit.PRESET


class PhysicsError(PresetError):
    """A well-formed value that asks for unstable or impossible physics.

    Carries the preset key it concerns, so that the loader can name the file and the line.
    """

    exit_code = Exit.PHYSICS

    def __init__(self, key: str, value: object, limit: str, remedy: str) -> None:
        self.key, self.value, self.limit, self.remedy = key, value, limit, remedy
        shown = f"{value:.6g}" if isinstance(value, float) else value
        super().__init__(f"{key} = {shown}: {limit}; {remedy}")


class SettingError(PhysicsError):
    """The same of a run, not of a preset: an argument of a function or of a command."""

    exit_code = Exit.USAGE


class MissingPart(EngineError):
    """A library that is needed and that the system lacks."""

    exit_code = Exit.LIBRARY


class PhysicsWarning(UserWarning):
    """Something the schemes survive, but that the user should know."""
