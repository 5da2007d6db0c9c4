"""Random presets, broken preset files, damaged MIDI: the first cases of a fixed seed, and cases kept.

JAWARI_CASES=100000 runs so many of each kind instead (scripts/robustness.py does it on several processors).
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from robustness_parts.broken_presets import check_complaint
from robustness_parts.cases import KINDS, play_kept, run_case

from engine import EngineError

CASES = {"presets": 30, "rates": 40, "networks": 20, "files": 100, "midi": 100}
SLICES = 5
SLOWER = 4.0  # times, whatever processor this is, and however busy

# Cases that brought a fault to light, as data: what a seed means changes with the generator.
KEPT = json.loads((Path(__file__).parent / "kept.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("part", range(SLICES))
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_but_sound_or_a_line(kind: str, part: int) -> None:
    count = int(os.environ.get("JAWARI_CASES") or CASES[kind])
    results = [run_case(f"{kind}:tests:{n}", SLOWER) for n in range(part, count, SLICES)]
    assert [(result.case, result.fault) for result in results if result.fault] == []
    assert sum("heard" in result.outcome for result in results) > len(results) / 10


@pytest.mark.parametrize("case", KEPT, ids=lambda case: case["why"])
def test_what_was_hard_once_is_sound(case: dict[str, Any], tmp_path: Path) -> None:
    try:
        play_kept(case, tmp_path)
    except EngineError as error:
        check_complaint(str(error), str(tmp_path))
