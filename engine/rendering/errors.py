"""What can go wrong on the way from notes to a file; each with its own exit code."""

from __future__ import annotations

from engine.errors import EngineError, Exit


class FileError(EngineError):
    """An output that cannot be written."""

    exit_code = Exit.FILE


class ScoreError(EngineError):
    """Notes or a MIDI file that cannot be played."""

    exit_code = Exit.NOTES
