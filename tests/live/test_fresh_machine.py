"""On a machine that was switched on a moment ago, and on one that has been up for ten years, the same tests pass.

These are a sample; `scripts/check.py --clock boot` and `--clock ahead` run all that read a clock.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import shifted_clock

ROOT = Path(shifted_clock.__file__).parents[1]
SAMPLE = "full_inlet_is_let_go or moves_back_what_was_moved or placed_by_the_time or run_for_years"
SPOKEN = "import time; print(time.monotonic())"

if shifted_clock.missing():
    pytest.skip(shifted_clock.missing(), allow_module_level=True)


@pytest.mark.parametrize(("which", "least", "most"), [("boot", 0.0, 300.0), ("ahead", 3e8, 1e10)])
def test_what_places_events_does_not_depend_on_the_age_of_the_machine(which: str, least: float, most: float) -> None:
    before = shifted_clock.shifted(which)
    told = subprocess.run([*before, sys.executable, "-c", SPOKEN], capture_output=True, text=True, check=True)
    assert least < float(told.stdout) < most
    places = ["tests/live/thread/test_inlet.py", "tests/live/thread/test_clock.py"]
    command = [*before, sys.executable, "-m", "pytest", "-n0", "-p", "no:cacheprovider", *places, "-k", SAMPLE]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
