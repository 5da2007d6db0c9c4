"""What can be wrong about measurements of load."""

from __future__ import annotations

from engine.errors import EngineError, Exit


class ReportError(EngineError):
    """A file that is no report of earlier measurements: wrong usage."""

    exit_code = Exit.USAGE


class SlowerThanBefore(EngineError):
    """A comparison found something slower than is tolerated."""

    exit_code = Exit.SLOWER
