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
    "presets:1:30": "a grid's string was given more tension than the grid can bear: no length reached the pitch",
    "presets:1:6439": "the watchdog took a barrier's last steps, after it had looked, for an uprising",
    "presets:1:6917": "the same on a grid",
    "presets:1:8054": "an unstable grid, by its infinite peak",
    "presets:0:936": "a grid's fitted losses fed a wave once a controller took s0 away",
    "files:3:2123": "a pin so little above the rest line that energies were zero, and Newton went on for ever",
}
# Problems of the design, whose cases had other numbers then, are in test_limits.py.


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
