"""Shared helpers of the tests live beside them and are imported by package name (`physics.problems`).

Those that scripts share live with the scripts.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

# Before numpy is there: tests run beside each other, and threads that wait for a core would be counted as work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from hypothesis import settings

TESTS = Path(__file__).parent
sys.path.insert(0, str(TESTS))
sys.path.append(str(TESTS.parent / "scripts"))

# The same examples every time: a failure in CI is a failure at the desk.
settings.register_profile("repeatable", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("random", derandomize=False, deadline=None, print_blob=True, database=None)
settings.load_profile("repeatable")
