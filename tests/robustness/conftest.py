"""The cases are those of scripts/robustness.py, which are many at night: JAWARI_CASES says how many are run here."""

from __future__ import annotations

import sys
from pathlib import Path

SCRIPTS = Path(__file__).parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))
