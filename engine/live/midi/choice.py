"""Which way in is taken here, and why."""

from __future__ import annotations

from engine.errors import EngineError
from engine.live.errors import MissingPart
from engine.live.midi.any_backend import any_backend
from engine.live.midi.native import native
from engine.live.midi.polled import polled
from engine.live.midi.way import RTMIDI, Way, backend_asked_for


def best() -> Way:
    """The first way in that works, or MissingPart with what each of them lacks."""
    return _best()[0]


def describe() -> str:
    """One line: what is in use, and why nothing better is."""
    try:
        way, reasons = _best()
    except MissingPart as error:
        return str(error)
    way.close()
    return "; ".join([way.title, *reasons])


def _best() -> tuple[Way, list[str]]:
    missing: list[str] = []
    failed: list[str] = []
    for way in (native, polled, any_backend) if backend_asked_for()[0] == RTMIDI else (any_backend,):
        try:
            return way(), missing + failed
        except MissingPart as error:
            missing.append(str(error))
        except EngineError as error:
            failed.append(str(error))
    # If a library is there, it is the system that lacks something; another library would say the same.
    raise MissingPart(f"no MIDI: {'; '.join(failed[:1] or missing)}; --keys plays on the computer's keys")
