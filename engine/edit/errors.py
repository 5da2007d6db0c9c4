"""What can go wrong with the page; how the sound goes wrong is live play's to tell."""

from __future__ import annotations

from engine.errors import EngineError, Exit


class PageError(EngineError):
    """A page that cannot be served."""

    exit_code = Exit.PAGE


class AskedError(EngineError):
    """A request that cannot be granted: the page shows why."""
