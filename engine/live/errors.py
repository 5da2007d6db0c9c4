"""What can go wrong before a note is heard; each with its own exit code."""

from __future__ import annotations

from engine.errors import EngineError, Exit
from engine.errors import MissingPart as MissingPart  # what live play lacks is caught here


class DeviceError(EngineError):
    """A sound card that is not there, is busy, or cannot do what it is asked for."""

    exit_code = Exit.CARD


class PortError(EngineError):
    """A MIDI port that is not there or cannot be opened."""

    exit_code = Exit.INPUT
