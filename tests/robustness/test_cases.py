"""Random presets, broken preset files, damaged MIDI: the first cases of a fixed seed, and those that were hard once.

JAWARI_CASES=100000 runs so many of each kind instead (scripts/robustness.py does it on several processors).
"""

from __future__ import annotations

import os

import pytest
from robustness_parts.cases import KINDS, run_case

CASES = {"presets": 40, "files": 250, "midi": 250}
SLICES = 5

# What each of them found is written beside it; they stay.
HARD = {
    "presets:0:936": "a grid's fitted losses fed a wave once a controller took s0 away",
    "presets:0:166": "200 Newton steps towards an equilibrium that rounding hid",
    "presets:0:2046": "a contact so stiff that the equilibrium's matrix was singular",
    "presets:0:193": "a barrier pressing a string at 783 points of its grid",
}


@pytest.mark.parametrize("part", range(SLICES))
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_but_sound_or_a_line(kind: str, part: int) -> None:
    count = int(os.environ.get("JAWARI_CASES") or CASES[kind])
    results = [run_case(f"{kind}:tests:{n}") for n in range(part, count, SLICES)]
    assert [(result.case, result.fault) for result in results if result.fault] == []
    assert sum("heard" in result.outcome for result in results) > len(results) / 10


@pytest.mark.parametrize("case", HARD)
def test_hard_cases_stay_easy(case: str) -> None:
    assert run_case(case).fault == ""
