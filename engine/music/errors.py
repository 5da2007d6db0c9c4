"""What can be wrong with music; it has its own exit code."""

from __future__ import annotations

from engine.errors import EngineError, Exit


class ScoreError(EngineError):
    """Notes or a MIDI file that cannot be played."""

    exit_code = Exit.NOTES
