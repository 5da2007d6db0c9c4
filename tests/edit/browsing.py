"""The page in a real browser, as its tests use it: what is waited for, pressed and typed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from virtual_card import wait_for

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = next((found for name in BROWSERS if (found := shutil.which(name))), None)
MARKS = pytest.mark.skipif(BROWSER is None, reason=f"needs a browser: none of {', '.join(BROWSERS)} is here")
SIZE = {"width": 1280, "height": 900}
AS_ROOT = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []


@contextmanager
def launched(*options: str) -> Iterator[Any]:
    """The browser, for as long as it is wanted."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as p:
        made = p.chromium.launch(executable_path=BROWSER, headless=True, args=[*AS_ROOT, *options])
        yield made
        made.close()


def ready(page: Any) -> None:
    until(lambda: page.locator("#name").inner_text() not in ("", "…"), "the page shows no preset")


def until(what: Callable[[], object], why: str, within: float = 60.0) -> None:
    wait_for(what, why, within)


def count(page: Any) -> int:
    return int(page.evaluate("document.body.dataset.frames || 0"))


def hold(page: Any, key: int) -> None:
    box = page.locator(f'#keys button[data-key="{key}"]').bounding_box()
    page.mouse.move(box["x"] + 3, box["y"] + box["height"] - 8)
    page.mouse.down()


def press(page: Any, key: int, ms: int = 250) -> None:
    hold(page, key)
    page.wait_for_timeout(ms)
    page.mouse.up()


def entry(page: Any, path: str) -> Any:
    return page.locator(f'.row[data-path="{path}"] .entry')


def set_entry(page: Any, path: str, value: str) -> None:
    field = entry(page, path)
    field.scroll_into_view_if_needed()
    field.fill(value)
    field.press("Enter")


def revert(page: Any) -> None:
    page.evaluate("document.getElementById('revert').click()")  # which does nothing where there is nothing to revert
    until(lambda: page.locator("#revert").is_disabled(), "it does not go back to the file")


def violations(page: Any, **options: Any) -> list[Any]:
    """What axe finds wrong with a page as it is."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    found = axe.Axe().run(page, options={"runOnly": {"type": "tag", "values": tags}, **options})
    return [(v["id"], [node["html"][:120] for node in v["nodes"]]) for v in found.response["violations"]]
