"""Shared helpers of the tests live beside them and are imported by package name (`physics.problems`)."""

from __future__ import annotations

import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

# The same examples every time: a failure in CI is a failure at the desk.
settings.register_profile("repeatable", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("repeatable")
