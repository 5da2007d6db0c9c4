#!/usr/bin/env python3
"""Take the pictures of the editor's page that the documents show, in the system's Chromium.

    python3 scripts/make_screenshots.py

Needs playwright and a browser of Chromium's kind (scripts/check.py installs both), and no sound card.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "scripts" / "pictures"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
KEYS = (49, 54)
PICTURE = "30"  # of the film: the string wraps around its bridge
SIZE = {"width": 1360, "height": 900}


def main() -> None:
    from playwright.sync_api import sync_playwright

    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        sys.exit(f"make_screenshots: none of {', '.join(BROWSERS)} is here; install one")
    own = {**os.environ, "JAWARI_PRESETS_DIR": str(ROOT / "no presets of anybody's own")}
    command = [
        sys.executable,
        "-m",
        "engine.cli",
        "edit",
        "sitar-string",
        "--no-browser",
        "--device",
        "none",
        "--midi",
        "none",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=own) as editor:
        assert editor.stderr is not None
        address = next(m[0] for line in editor.stderr if (m := re.search(r"http://\S+", line)))
        try:
            with sync_playwright() as p:
                root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
                chromium = p.chromium.launch(executable_path=browser, headless=True, args=root)
                for theme, name in (("dark", "editor.png"), ("light", "editor-light.png")):
                    page = chromium.new_context(viewport=SIZE, color_scheme=theme).new_page()
                    page.goto(address)
                    page.wait_for_timeout(1200)
                    for n, key in enumerate(KEYS):
                        if n == len(KEYS) - 1:
                            page.locator("#film").click()
                            page.wait_for_timeout(200)
                        box = page.locator(f'#keys button[data-key="{key}"]').bounding_box()
                        assert box is not None
                        page.mouse.move(box["x"] + 3, box["y"] + 0.7 * box["height"])
                        page.mouse.down()
                        page.wait_for_timeout(600)
                        if key != KEYS[-1]:
                            page.mouse.up()
                    page.wait_for_timeout(900)
                    page.locator("#scrub").fill(PICTURE)
                    page.wait_for_timeout(300)
                    page.screenshot(path=PICTURES / name)
                    page.mouse.up()
                chromium.close()
        finally:
            editor.send_signal(2)


if __name__ == "__main__":
    main()
