"""Every error a user can cause, each with its own exit code. One line: what, where, the limit, the remedy."""

from __future__ import annotations


class EngineError(Exception):
    """Base of all errors that are the input's fault, not the program's."""

    exit_code = 1


class PresetError(EngineError):
    """A preset, an override or a quantity that cannot be accepted."""

    exit_code = 3


class PhysicsError(PresetError):
    """A well-formed value that asks for unstable or impossible physics.

    Carries the preset key it concerns, so that the loader can name the file and the line.
    """

    exit_code = 4

    def __init__(self, key: str, value: object, limit: str, remedy: str) -> None:
        self.key, self.value, self.limit, self.remedy = key, value, limit, remedy
        shown = f"{value:.6g}" if isinstance(value, float) else value
        super().__init__(f"{key} = {shown}: {limit}; {remedy}")


class PhysicsWarning(UserWarning):
    """Something the schemes survive, but that the user should know."""
