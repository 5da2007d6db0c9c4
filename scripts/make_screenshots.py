#!/usr/bin/env python3
"""Take the pictures of the editor's page that the documents show, in the system's Chromium.

    python3 scripts/make_screenshots.py

Needs playwright and a browser of Chromium's kind (scripts/check.py installs both), and no sound card.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from edit.browsing import BROWSER, BROWSERS, launched, press, ready

PICTURES = ROOT / "scripts" / "pictures"
PRESET, KEYS = "sitar", (50, 57, 54)  # played one after the other; the last one is filmed
PICTURE = "24"  # of the film: the string wraps around its bridge
SIZE = {"width": 1360, "height": 1000}


def main() -> None:
    if BROWSER is None:
        sys.exit(f"make_screenshots: none of {', '.join(BROWSERS)} is here; install one")
    own = {**os.environ, "JAWARI_PRESETS_DIR": str(ROOT / "no presets of anybody's own")}
    command = [sys.executable, "-m", "engine.cli", "edit", PRESET, "--no-browser", "--device", "none", "--midi", "none"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=own) as editor:
        assert editor.stderr is not None
        address = next(m[0] for line in editor.stderr if (m := re.search(r"http://\S+", line)))
        try:
            with launched() as chromium:
                for theme, name in (("dark", "editor.png"), ("light", "editor-light.png")):
                    page = chromium.new_context(viewport=SIZE, color_scheme=theme).new_page()
                    page.goto(address)
                    ready(page)
                    page.locator("#silence").click()
                    page.locator('[data-pedal="64"]').check()  # so that all of them ring
                    for key in KEYS:
                        if key == KEYS[-1]:
                            page.locator("#film").click()
                            page.wait_for_timeout(200)
                        press(page, key, 600)
                    page.wait_for_timeout(200)
                    page.locator("#scrub").fill(PICTURE)
                    page.wait_for_timeout(300)
                    page.screenshot(path=PICTURES / name)
                    page.context.close()
        finally:
            editor.send_signal(2)


if __name__ == "__main__":
    main()
