"""What cannot be exported, and why."""

from __future__ import annotations

from engine.errors import EngineError, Exit


class ExportError(EngineError):
    """An export that cannot be made, of what was asked for."""

    exit_code = Exit.EXPORT
