"""What can go wrong with a file that is written; it has its own exit code."""

from __future__ import annotations

from engine.errors import EngineError, Exit


class FileError(EngineError):
    """An output that cannot be written."""

    exit_code = Exit.FILE
