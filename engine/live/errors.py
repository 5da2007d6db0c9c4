"""What can go wrong before a note is heard; each with its own exit code."""

from __future__ import annotations

from engine.errors import EngineError


class DeviceError(EngineError):
    """A sound card that is not there, is busy, or cannot do what it is asked for."""

    exit_code = 9


class PortError(EngineError):
    """A MIDI port that is not there or cannot be opened."""

    exit_code = 10


class MissingPart(EngineError):
    """A library that live play needs and the system lacks."""

    exit_code = 11
