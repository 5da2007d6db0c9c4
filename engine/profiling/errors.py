"""What can be wrong about measurements of load."""

from __future__ import annotations

from engine.errors import EngineError


class ReportError(EngineError):
    """A file that is no report of earlier measurements: wrong usage."""

    exit_code = 2


class SlowerThanBefore(EngineError):
    """A comparison found something slower than is tolerated."""

    exit_code = 8
