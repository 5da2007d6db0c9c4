"""100 000 MIDI events a second into a live player: each is obeyed or counted as lost, and no note is left sounding."""

from __future__ import annotations

from random import Random

import pytest
from robustness_parts.floods import everything, flood, idle


@pytest.mark.parametrize(("preset", "per_second"), [("plain", 100_000), ("slap-bass", 100_000), ("plain", 3_000_000)])
def test_no_note_stays_and_every_event_is_accounted_for(preset: str, per_second: int) -> None:
    told = flood(preset, per_second, 0.25, everything(Random(per_second)), polyphony=8, oversample=1)
    assert told.stuck == 0
    assert told.sent == told.obeyed + told.lost
    assert told.sent > per_second * 0.24
    if per_second == 100_000:  # a ring holds 4096: only its own overflow, at the end, may cost anything
        assert told.obeyed > per_second * 0.24


def test_what_loses_events_is_seen() -> None:
    """The last test would fail if nothing were ever lost or stuck: floods do fill the rings."""
    assert flood("plain", 3_000_000, 0.1, idle(Random(1)), inlets=1, polyphony=2, oversample=1).lost > 1000
