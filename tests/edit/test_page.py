"""The page in a real browser: played, shaped, saved, recorded, and shut to others. One editor serves all of it."""

from __future__ import annotations

import http.server
import re
import socketserver
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from edit.browsing import MARKS, SIZE, count, entry, hold, press, ready, revert, set_entry, until, violations
from edit.editing import Editing

from engine.preset.files import shipped
from engine.preset.loader import load_preset

pytest.importorskip("aiohttp", reason="needs aiohttp: pip install 'jawari[edit]'")
pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install 'jawari[dev]'")

pytestmark = MARKS


def test_a_note_is_seen(page: Any) -> None:
    still = page.locator("#whole").screenshot()
    press(page, 54)
    until(lambda: "of 16 strings" in page.locator("#load-said").inner_text(), "no meter")
    until(lambda: page.locator("#energy-said").inner_text() != "", "no energy is shown")
    assert page.locator("#whole").screenshot() != still
    before = count(page)
    page.wait_for_timeout(1000)
    assert count(page) > before + 20  # sixty where nothing else runs: how fast is measured elsewhere


def test_a_film_is_taken_and_scrubbed(page: Any) -> None:
    page.locator("#film").click()
    press(page, 57)
    page.locator("#reel").wait_for(state="attached")
    until(lambda: page.locator("#scrub").is_visible(), "no film")
    page.locator("#freeze").click()
    page.locator("#scrub").fill("10")
    one = page.locator("#loupe").screenshot()
    page.locator("#on").click()
    page.locator("#scrub").fill("120")
    until(lambda: page.locator("#loupe").screenshot() != one, "all instants are one")
    page.locator("#live").click()
    assert not page.locator("#scrub").is_visible()


def settled(page: Any, path: str) -> str:
    """What the inspector shows of a key when the last step of a drag has come back."""
    said = ""
    while said != (now := str(entry(page, path).input_value())):
        said = now
        page.wait_for_timeout(500)
    return said


def test_the_barrier_is_dragged_and_saved(page: Any, program: Editing) -> None:
    revert(page)
    apex = page.get_by_role("slider", name="Height of the barrier")
    box = apex.bounding_box()
    page.mouse.move(box["x"] + 13, box["y"] + 13)
    page.mouse.down()
    page.mouse.move(box["x"] + 13, box["y"] + 43, steps=6)
    page.mouse.up()
    until(lambda: page.locator("#undo").is_enabled(), "the drag was not heard of")
    until(lambda: entry(page, "barrier.height").input_value().startswith("-0."), "the inspector does not follow")
    said = settled(page, "barrier.height")
    page.locator("#save").click()
    page.locator("#ask-name").fill("my dragged sitar")
    page.locator("#ask-yes").click()
    until(lambda: (program.presets / "my dragged sitar.yaml").exists(), "nothing was saved")
    text = (program.presets / "my dragged sitar.yaml").read_text(encoding="utf-8")
    assert f"height: {said}" in text
    original = shipped()["sitar-string"].read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if line not in original.splitlines()] == [f"  height: {said}"]
    height = load_preset(program.presets / "my dragged sitar.yaml").problem.barrier
    assert height is not None
    assert height.height < 0.0
    until(lambda: page.locator("#revert").is_disabled(), "it still counts as changed")
    page.reload()
    ready(page)
    until(lambda: entry(page, "barrier.height").input_value() == said, "it was not there after a reload")
    apex = page.get_by_role("slider", name="Height of the barrier")
    apex.focus()
    page.keyboard.press("ArrowUp")
    until(lambda: entry(page, "barrier.height").input_value() != said, "arrows do not move it")
    revert(page)


def test_a_wrong_value_is_told_beside_its_field(page: Any) -> None:
    set_entry(page, "barrier.curvature", "lots")
    row = page.locator('.row[data-path="barrier.curvature"]')
    until(lambda: "must be" in row.locator(".error").inner_text(), "no sentence")
    assert "write it like" in row.locator(".error").inner_text()
    assert entry(page, "barrier.curvature").get_attribute("aria-invalid") == "true"
    entry(page, "barrier.curvature").press("Escape")
    assert row.locator(".error").inner_text() == ""


def test_undo_redo_and_two_sides(page: Any) -> None:
    revert(page)
    first = entry(page, "string.length").input_value()
    set_entry(page, "string.length", "0.9 m")
    until(lambda: page.locator("#star").inner_text() != "", "no star")
    page.locator("#side").click()
    until(lambda: "Side B" in page.locator("#side").get_attribute("aria-label"), "no side B")
    set_entry(page, "string.length", "0.95 m")
    until(lambda: "0.95" in entry(page, "string.length").input_value(), "not set")
    page.keyboard.press("Escape")
    page.locator("#side").click()
    until(lambda: "0.9 m" in entry(page, "string.length").input_value(), "side A is not as it was")
    for _ in range(3):
        page.locator("#undo").click()
        page.wait_for_timeout(80)
    until(lambda: entry(page, "string.length").input_value() == first, "undo does not come back")
    page.locator("body").press("Control+Shift+z")
    until(lambda: "0.9 m" in entry(page, "string.length").input_value(), "redo does nothing")
    revert(page)


def test_a_slider_turns_and_a_double_click_leaves_it_out(page: Any) -> None:
    revert(page)
    slider = page.locator('.row[data-path="barrier.height"] input[type=range]')
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] / 2, steps=8)
    page.mouse.up()
    until(lambda: "barrier.height" in page.locator("#undo").get_attribute("title"), "the slider is not heard")
    page.locator("#undo").click()
    until(lambda: page.locator("#star").inner_text() == "", "the gesture is not undone as one")
    page.locator("#find-key").fill("curvature")
    assert page.locator('.row[data-path="barrier.curvature"]').is_visible()
    assert not page.locator('.row[data-path="string.length"]').is_visible()
    page.locator("#find-key").fill("")


def test_the_computers_keys_play_and_end_where_a_field_is_entered(page: Any) -> None:
    page.locator("body").click(position={"x": 5, "y": 5})
    page.keyboard.down("a")
    until(lambda: "down" in (page.locator('#keys button[data-key="48"]').get_attribute("class") or ""), "no key")
    page.locator("#find-key").focus()
    until(
        lambda: "down" not in (page.locator('#keys button[data-key="48"]').get_attribute("class") or ""), "it is stuck"
    )
    page.keyboard.up("a")


def test_web_midi_plays_where_there_is_one_and_says_so_where_there_is_none(
    page: Any, program: Editing, browser: Any
) -> None:
    page.locator("#webmidi").click()
    until(lambda: "MIDI" in page.locator("#said").inner_text(), "not a word")
    for script, words in (
        ("delete Navigator.prototype.requestMIDIAccess", "has no Web MIDI"),
        (
            "Navigator.prototype.requestMIDIAccess = () => Promise.reject(new DOMException('', 'NotAllowedError'))",
            "allow it",
        ),
        (FAKE_KEYBOARD, "Web MIDI: Fake"),
    ):
        context = browser.new_context(viewport=SIZE)
        context.add_init_script(script)
        other = context.new_page()
        other.goto(program.address)
        ready(other)
        other.locator("#webmidi").click()
        until(lambda other=other, words=words: words in other.locator("#said").inner_text(), words)
        if "Fake" in words:
            other.evaluate("window.fakeInput.onmidimessage({data: new Uint8Array([0x90, 60, 100])})")
            key = other.locator('#keys button[data-key="60"]')
            until(lambda key=key: "down" in (key.get_attribute("class") or ""), "the note does not arrive")
            other.evaluate("window.fakeInput.onmidimessage({data: new Uint8Array([0x80, 60, 0])})")
        context.close()


FAKE_KEYBOARD = """
window.fakeInput = {name: "Fake", type: "input"};
const access = {inputs: new Map([["1", window.fakeInput]]), onstatechange: null};
Navigator.prototype.requestMIDIAccess = () => Promise.resolve(access);
"""


def test_a_controller_is_learnt(page: Any) -> None:
    revert(page)
    page.locator("#mapped").click()
    row = page.locator("#map-rows tr", has_text="Gain")
    row.get_by_role("button").click()
    until(lambda: row.get_by_role("button").get_attribute("aria-pressed") == "true", "it does not wait")
    page.evaluate(
        "const wheel = document.getElementById('wheel'); wheel.value = 77; wheel.dispatchEvent(new Event('input'))"
    )
    until(lambda: "cc1" in page.locator("#map-rows tr", has_text="Gain").inner_text(), "it was not learnt")
    page.keyboard.press("Escape")
    revert(page)


def test_the_gallery_finds_and_opens(page: Any) -> None:
    revert(page)
    page.locator("#title").click()
    page.locator("#search").fill("slapped")
    cards = page.locator(".card:visible")
    until(lambda: cards.count() == 1, "the search does not find one")
    assert "Slap bass" in cards.inner_text()
    cards.get_by_role("button", name="Open").click()
    until(lambda: page.locator("#name").inner_text() == "Slap bass", "it does not open")
    points = page.get_by_role("slider", name=re.compile("Point"))
    until(lambda: points.count() == 20, "no frets to drag")
    page.locator("#title").click()
    page.locator(".card", has_text="Sitar string").first.get_by_role("button", name="Open").click()
    until(lambda: "Sitar" in page.locator("#name").inner_text(), "it does not come back")


def test_a_take_renders_to_the_same_bits(page: Any, program: Editing) -> None:
    page.locator("#record").click()
    until(lambda: page.locator("#record").get_attribute("aria-pressed") == "true", "no recording begins", 20.0)
    press(page, 54, 400)
    press(page, 61, 300)
    page.wait_for_timeout(300)
    page.locator("#record").click()
    until(lambda: list(program.takes.glob("*.mid")) and list(program.takes.glob("*.wav")), "no take")
    (take,) = program.takes.glob("*.mid")
    until(lambda: page.locator("#record").get_attribute("aria-pressed") == "false", "it does not end")
    live, again = program.rendered(take)
    np.testing.assert_array_equal(live, again[: len(live)])


def test_two_pages_show_the_same_and_a_reload_harms_nobody(page: Any, program: Editing, browser: Any) -> None:
    revert(page)
    context = browser.new_context(viewport=SIZE)
    other = context.new_page()
    other.goto(program.address)
    ready(other)
    set_entry(page, "release", "1.5 s")
    until(lambda: other.locator("#star").inner_text() != "", "the other page does not follow")
    until(lambda: entry(other, "release").input_value() == "1.5 s", "nor its inspector")
    other.reload()
    ready(other)
    press(other, 50)
    until(lambda: page.locator("#energy-said").inner_text() != "", "the first page sees nothing")
    hold(other, 52)
    hold(page, 55)
    down = page.locator("#keys button.down")
    until(lambda: down.count() == 2, "they do not hold a key each")
    context.close()
    until(lambda: down.count() == 1, "what the closed page held goes on")
    assert down.get_attribute("data-key") == "55"
    page.mouse.up()
    until(lambda: down.count() == 0, "it is not let go")
    revert(page)


class _Hostile(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>hostile</title>")

    def log_message(self, *_: Any) -> None:
        pass


def test_a_hostile_page_gets_nothing(program: Editing, browser: Any) -> None:
    with socketserver.TCPServer(("127.0.0.1", 0), _Hostile) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        context = browser.new_context()
        evil = context.new_page()
        evil.goto(f"http://127.0.0.1:{server.server_address[1]}/")
        target = f"127.0.0.1:{program.port}"
        tried = evil.evaluate(
            """async ([target, token]) => {
              const found = {};
              for (const mode of ["cors", "no-cors"])
                found[mode] = await fetch(`http://${target}/`, {mode}).then((r) => r.text(), () => "refused");
              for (const words of [["jawari"], ["jawari", token]])
                found[words.length] = await new Promise((resolve) => {
                  const line = new WebSocket(`ws://${target}/line`, words);
                  line.onmessage = () => resolve("heard");
                  line.onclose = () => resolve("refused");
                });
              found.script = await new Promise((resolve) => {
                const script = document.createElement("script");
                script.src = `http://${target}/main.js`;
                script.onload = () => resolve("loaded");
                script.onerror = () => resolve("refused");
                document.head.append(script);
              });
              const frame = document.createElement("iframe");
              frame.src = `http://${target}/`;
              document.body.append(frame);
              await new Promise((resolve) => (frame.onload = resolve));
              found.frame = "refused";
              try { if (frame.contentWindow.document) found.frame = "read"; } catch {}
              return found;
            }""",
            [target, program.token],
        )
        context.close()
        server.shutdown()
    assert tried.pop("no-cors") in ("", "refused")  # an answer that a page may not look into
    assert set(tried.values()) == {"refused"}


def test_without_the_token_the_page_says_what_to_do(program: Editing, browser: Any) -> None:
    context = browser.new_context()
    bare = context.new_page()
    bare.goto(f"http://127.0.0.1:{program.port}/")
    until(lambda: "jawari edit printed" in bare.locator("#lost").inner_text(), "not a word")
    bare.evaluate(f"location.hash = {program.token!r}")  # the address is pasted into the open tab
    ready(bare)
    assert program.token not in bare.url
    context.close()


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_it_is_accessible(program: Editing, browser: Any, theme: str) -> None:
    context = browser.new_context(viewport=SIZE, color_scheme=theme)
    page = context.new_page()
    page.goto(program.address)
    ready(page)
    found = violations(page)
    page.locator("#title").click()
    until(lambda: page.locator(".card").count() >= 5, "no cards")
    found += violations(page)
    context.close()
    assert found == []


def test_at_200_percent_nothing_is_cut_off(program: Editing, browser: Any) -> None:
    context = browser.new_context(viewport={"width": SIZE["width"] // 2, "height": SIZE["height"] // 2})
    page = context.new_page()
    page.goto(program.address)
    ready(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZE["width"] // 2
    context.close()


def test_a_page_comes_back_when_the_editor_does(program: Editing, browser: Any, tmp_path: Path) -> None:
    first = Editing(tmp_path, "plain", "--device", "none")
    context = browser.new_context(viewport=SIZE)
    page = context.new_page()
    page.goto(first.address)
    ready(page)
    first.process.kill()
    first.process.wait()
    until(lambda: page.locator("#lost").is_visible(), "it does not say that the editor is gone")
    second = Editing(tmp_path, "plain", "--device", "none", "--port", str(first.port))
    until(lambda: not page.locator("#lost").is_visible(), "it does not come back")
    assert second.token == first.token
    press(page, 55)
    context.close()
    assert second.end() == 0
    first.end()
