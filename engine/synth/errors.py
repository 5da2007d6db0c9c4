"""What an instrument refuses when Python calls it; nothing that is refused has changed anything."""

from __future__ import annotations

from engine.errors import EngineError


class CallError(EngineError, TypeError, ValueError):
    """An array, a message or a moment that an instrument cannot take."""


class BusyError(EngineError, RuntimeError):
    """An instrument that is at work already: it is one caller's at a time."""
