"""Random presets, broken preset files, damaged MIDI: the first cases of a fixed seed, and cases kept.

JAWARI_CASES=100000 runs so many of each kind instead (scripts/robustness.py does it on several processors).
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random
from typing import Any

import pytest
from robustness_parts.cases import KINDS, run_case
from robustness_parts.playing import perform

from engine.preset.tuning import Tuning
from engine.synth import fields as f
from engine.synth.instrument import Instrument

CASES = {"presets": 40, "files": 250, "midi": 250}
SLICES = 5

# Cases that brought a fault to light, as data: what a seed means changes with the generator.
KEPT = json.loads((Path(__file__).parent / "kept.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("part", range(SLICES))
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_but_sound_or_a_line(kind: str, part: int) -> None:
    count = int(os.environ.get("JAWARI_CASES") or CASES[kind])
    results = [run_case(f"{kind}:tests:{n}") for n in range(part, count, SLICES)]
    assert [(result.case, result.fault) for result in results if result.fault] == []
    assert sum("heard" in result.outcome for result in results) > len(results) / 10


@pytest.mark.parametrize("case", KEPT, ids=lambda case: case["why"])
def test_what_was_hard_once_is_sound(case: dict[str, Any]) -> None:
    frequencies = tuple(case["keys"].get(str(key)) for key in range(f.KEYS))
    player = Instrument(case["preset"], case["rate"], tuning=Tuning("few keys", frequencies), mono=case["mono"])
    events = [(at, tuple(message)) for at, message in case["events"]]
    perform(player, events, case["frames"], Random(0))
