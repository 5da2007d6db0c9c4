"""The page in a real browser: what is found, kept, shared and recorded, with a card and without one."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from edit.browsing import AS_ROOT, BROWSER, MARKS, SIZE, entry, press, ready, revert, set_entry, until
from edit.editing import Editing

from engine.preset.files import shipped
from engine.preset.loader import load_preset

pytest.importorskip("aiohttp", reason="needs aiohttp: pip install 'jawari[edit]'")
pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install 'jawari[dev]'")

pytestmark = MARKS


def opened(page: Any, title: str) -> None:
    page.locator("#title").click()
    page.locator(".card", has_text=title).first.get_by_role("button", name="Open").click()
    until(lambda: page.locator("#gallery").is_hidden(), f"{title} does not open")


def choose(page: Any, path: str, value: str) -> None:
    page.locator("#find-key").fill(path)  # which opens its group
    entry(page, path).select_option(value)
    page.locator("#find-key").fill("")


def test_families_and_tags_find_presets(page: Any) -> None:
    page.locator("#title").click()
    cards = page.locator(".card:visible")
    until(lambda: cards.count() >= len(shipped()), "no cards")
    presets = {name: load_preset(name) for name in shipped()}
    wide = "(element) => element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight"
    assert not page.evaluate(f"[...document.querySelectorAll('.card, .card *:not(canvas)')].some({wide})")
    family = Counter(preset.family for preset in presets.values())
    page.get_by_role("button", name="Family: Harps").click()
    until(lambda: cards.count() == family["Harps and zithers"], "the family is not picked out")
    assert page.locator("#families button").count() == len(family) + 1
    page.get_by_role("button", name="Family: All").click()
    page.get_by_role("button", name="Presets with the tag thread").first.click()
    tagged = [preset.name for preset in presets.values() if "thread" in preset.tags]
    until(lambda: cards.count() == len(tagged), "the tag finds others")
    assert sorted(cards.locator("h3").all_inner_texts()) == sorted(tagged)
    hear = cards.get_by_role("button", name="Hear Tanpura", exact=True)
    hear.click()
    until(lambda: hear.inner_text() == "Stop", "the phrase does not begin", 60.0)
    hear.click()
    until(lambda: hear.inner_text() == "Hear", "it does not stop")
    page.keyboard.press("Escape")


def test_a_name_that_exists_asks_and_what_is_shared_is_what_was_saved(page: Any, program: Editing) -> None:
    saved = program.presets / "twice.yaml"
    for value in ("-0.03 mm", "-40 µm"):
        opened(page, "Sitar string")
        set_entry(page, "barrier.height", value)
        until(lambda: page.locator("#star").inner_text() != "", "nothing was changed")
        page.locator("#save").click()
        page.locator("#ask-name").fill("twice")
        known = saved.exists()
        page.locator("#ask-yes").click()
        if known:
            until(lambda: "exists already; replace it?" in page.locator("#ask-text").inner_text(), "it does not ask")
            assert "-0.03 mm" in saved.read_text(encoding="utf-8")
            page.locator("#ask-yes").click()
        until(lambda value=value: saved.exists() and value in saved.read_text(encoding="utf-8"), "it is not saved")
        until(lambda: page.locator("#star").inner_text() == "", "it still counts as changed")
    barrier = load_preset(saved).problem.barrier
    assert barrier is not None
    assert barrier.height == pytest.approx(-4e-5)
    with page.expect_download() as download:
        page.locator("#share").click()
    assert download.value.suggested_filename == "twice.yaml"
    assert Path(download.value.path()).read_bytes() == saved.read_bytes()
    opened(page, "Sitar string")


def test_a_take_that_is_shaped_meanwhile_renders_to_the_same_bits(page: Any, program: Editing) -> None:
    revert(page)
    page.locator("#record").click()
    until(lambda: page.locator("#record").get_attribute("aria-pressed") == "true", "no recording begins", 20.0)
    press(page, 54, 300)
    slider = page.locator('.row[data-path="barrier.height"] input[type=range]')
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.45, box["y"] + box["height"] / 2, steps=8)
    page.mouse.up()
    press(page, 61, 200)
    choose(page, "quality", "best")
    press(page, 57, 200)
    until(lambda: "rehearsed" in (page.evaluate("document.body.dataset.heard") or ""), "it is not heard", 60.0)
    page.locator("#record").click()
    until(lambda: list(program.takes.glob("*.mid")) and list(program.takes.glob("*.wav")), "no take")
    (take,) = program.takes.glob("*.mid")
    until(lambda: "that is in both" in page.locator("#said").inner_text(), "the page does not say so")
    live, again = program.rendered(take)
    size = min(len(live), len(again))
    np.testing.assert_array_equal(live[:size], again[:size])
    revert(page)


def test_what_rings_out_is_said(page: Any) -> None:
    revert(page)
    page.get_by_label("Sustain").click()  # or the note may be over before the other model is there
    press(page, 50)
    choose(page, "model", "fd")
    until(lambda: "rings out" in page.locator("#said").inner_text(), "the page does not say what cannot go on")
    page.get_by_label("Sustain").click()
    revert(page)


def test_sound_moves_the_spectrogram_and_the_load_of_the_blocks(page: Any) -> None:
    before = [page.locator(name).screenshot() for name in ("#spectrogram", "#meters")]
    press(page, 54)
    for name, one in zip(("#spectrogram", "#meters"), before):
        until(lambda name=name, one=one: page.locator(name).screenshot() != one, f"{name} stands still")
    page.get_by_label("Sostenuto").click()
    assert page.get_by_label("Sostenuto").is_checked()
    page.get_by_label("Sostenuto").click()


# What goes to the loudspeakers also goes to something that can be asked.
EAR = """
const connect = AudioWorkletNode.prototype.connect;
AudioWorkletNode.prototype.connect = function (target) {
  window.ear = this.context.createAnalyser();
  connect.call(this, window.ear);
  return connect.call(this, target);
};
window.loud = () => {
  if (!window.ear) return 0;
  const heard = new Float32Array(window.ear.fftSize);
  window.ear.getFloatTimeDomainData(heard);
  return Math.max(...heard.map(Math.abs));
};
"""


def test_without_a_card_the_page_shows_and_plays(browser: Any, tmp_path: Path) -> None:
    program = Editing(tmp_path, "plain", "--device", "none")
    context = browser.new_context(viewport=SIZE)
    context.add_init_script(EAR)
    page = context.new_page()
    page.goto(program.address)
    ready(page)
    assert "no card was wanted: heard in this page" in page.locator("#device").inner_text()
    page.locator("#listen").click()
    until(lambda: page.locator("#listen").inner_text() == "Heard here", "the page does not listen")
    still = page.locator("#whole").screenshot()
    press(page, 55, 400)
    until(lambda: page.evaluate("window.loud()") > 1e-3, "the page is silent")
    assert page.locator("#whole").screenshot() != still
    page.locator("#record").click()
    until(lambda: page.locator("#record").get_attribute("aria-pressed") == "true", "no recording begins", 20.0)
    press(page, 55, 200)
    page.locator("#record").click()
    until(lambda: list(program.takes.glob("*.wav")), "no take")
    context.close()
    assert program.end() == 0


def test_a_name_of_anybodys_that_leads_here_gets_nothing(program: Editing) -> None:
    """In a browser to which evil.example is this machine."""
    script = f"""
from playwright.sync_api import sync_playwright
with sync_playwright() as p:
    rule = "--host-resolver-rules=MAP evil.example 127.0.0.1"
    browser = p.chromium.launch(executable_path={BROWSER!r}, headless=True, args=[rule, *{AS_ROOT!r}])
    page = browser.new_page()
    answer = page.goto("http://evil.example:{program.port}/")
    print(answer.status, page.locator("body").inner_text())
    print(page.evaluate('''(token) => new Promise((resolve) => {{
      const line = new WebSocket("ws://evil.example:{program.port}/line", ["jawari", token]);
      line.onmessage = () => resolve("heard");
      line.onclose = () => resolve("refused");
    }})''', {program.token!r}))
    browser.close()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout.splitlines() == ["403 this page answers to its own address only", "refused"], done.stderr
