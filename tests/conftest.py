"""Shared helpers of the tests live beside them and are imported by package name (`physics.problems`).

Those that scripts share live with the scripts.
"""

from __future__ import annotations

import sys
from pathlib import Path

from hypothesis import settings

TESTS = Path(__file__).parent
sys.path.insert(0, str(TESTS))
sys.path.append(str(TESTS.parent / "scripts"))

# The same examples every time: a failure in CI is a failure at the desk.
settings.register_profile("repeatable", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("repeatable")
