#!/usr/bin/env python3
"""`jawari profile` from a clone: same arguments, same result.

python3 scripts/profile_load.py sitar
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from engine.start import main

if __name__ == "__main__":
    sys.exit(main("profile", *sys.argv[1:]))
