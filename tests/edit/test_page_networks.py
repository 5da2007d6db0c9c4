"""The page of an instrument of several strings: all of them seen, one followed, each shaped by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from edit.browsing import MARKS, SIZE, entry, press, ready, revert, set_entry, until, violations
from edit.editing import Editing

from engine.preset.schema import TABLE, plain

pytest.importorskip("aiohttp", reason="needs aiohttp: pip install 'jawari[edit]'")
pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install 'jawari[dev]'")

pytestmark = MARKS

PRESET = """\
name: Small sitar
string: {length: 880 mm, diameter: 0.3 mm, material: steel, tuned: F#3, band: 6 kHz, keys: length}
barrier: {profile: parabola, to: 30 mm, curvature: 0.75 1/m, points: 5}
excitation: {position: 0.15, force: -1 N}
strings:
  - played: C3-C5
    courses: [{}, {detuned: 4 cents}]
    ports: [{at: 0.4, mass: 0.2 g}]   # a bolt
  - {played: C2-B2, string: {tuned: C2}, barrier: {profile: points, at: [[5 mm, -0.1 mm]]}}
  - sympathetic: [D3, F#3]
    string: {length: 700 mm, tension: 60 N, band: 4 kHz}
    barrier: {profile: parabola, to: 12 mm, curvature: 1 1/m, points: 2}
body: {name: sitar}
polyphony: 4
release: 2 s
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editing]:
    folder = tmp_path_factory.mktemp("networks")
    (folder / "small.yaml").write_text(PRESET, encoding="utf-8")
    running = Editing(folder, "small.yaml", "--device", "none", "--cores", "2")
    assert "no second core: it helps a sound card's thread, and there is none" in running.said
    yield running
    assert running.end() == 0


def open_group(page: Any, *paths: str) -> None:
    for path in paths:
        group = page.locator(f'details[data-group="{path}"]')
        if group.get_attribute("open") is None:
            group.locator("> summary").click()


def text_of(page: Any) -> str:
    with page.expect_download() as download:
        page.locator("#share").click()
    with open(download.value.path(), encoding="utf-8") as file:
        return file.read()


def followed(page: Any) -> list[str]:
    return [str(words) for words in page.locator("#focus option").all_inner_texts()]


def test_all_strings_are_seen_and_any_can_be_followed(page: Any) -> None:
    still = page.locator("#all").screenshot()
    page.locator('input[data-pedal="64"]').check()
    press(page, 54)
    until(lambda: re.search("answering .* body", page.locator("#energy-said").inner_text()), "nothing answers")
    assert page.locator("#all").screenshot() != still
    until(lambda: "answers F♯3, 2" in followed(page), "what answers cannot be followed")
    assert followed(page)[:3] == ["the last string", "F♯3, 1", "F♯3, 2"]
    assert page.get_by_role("slider", name="Bolt").count() == 1
    page.locator("#focus").select_option("a1")
    page.locator("#focus").blur()
    until(lambda: page.get_by_role("slider", name="Bolt").count() == 0, "its own barrier is not drawn")
    press(page, 40)
    page.locator("#focus").select_option("-1")
    page.locator("#focus").blur()
    until(lambda: page.get_by_role("slider", name="Point 1").count() == 1, "the last string is not followed")
    page.locator('input[data-pedal="64"]').uncheck()


def test_a_film_is_taken_of_the_string_that_is_followed(page: Any) -> None:
    page.locator("#film").click()
    press(page, 57)
    until(lambda: page.locator("#scrub").is_visible(), "no film")
    page.locator("#freeze").click()
    page.locator("#scrub").fill("10")
    one = page.locator("#loupe").screenshot()
    page.locator("#scrub").fill("200")
    until(lambda: page.locator("#loupe").screenshot() != one, "all instants are one")
    page.locator("#live").click()


def test_bolts_and_frets_of_one_string_are_dragged(page: Any) -> None:
    page.locator("#which").select_option("0")
    page.get_by_role("slider", name="Bolt").focus()
    page.keyboard.press("ArrowRight")
    open_group(page, "strings", "strings.0", "strings.0.ports", "strings.0.ports.0")
    until(lambda: entry(page, "strings.0.ports.0.at").input_value() == "0.41", "the bolt stays where it is")
    page.locator("#which").select_option("1")
    point = page.get_by_role("slider", name="Point 1")
    point.focus()
    page.keyboard.press("PageDown")
    until(lambda: "-0.2 mm" in text_of(page), "the fret stays where it is")
    text = text_of(page)
    assert "ports: [{at: 0.41, mass: 0.2 g}]   # a bolt" in text
    assert "at: [[5 mm, -0.2 mm]]" in text
    revert(page)
    page.locator("#which").select_option("-1")


def test_every_key_of_the_schema_has_a_row(page: Any) -> None:
    lists = ("planes.", "pickups.", "map.", "body.modes.")  # of which this preset has none
    chosen = {key.name for key in TABLE if not key.profiles and not key.name.startswith(lists)}

    def left() -> set[str]:
        """Groups fill as they open: items, groups in them, items of these."""
        page.evaluate("document.querySelectorAll('#rows details').forEach((group) => (group.open = true))")
        paths = page.evaluate("[...document.querySelectorAll('#rows .row')].map((row) => row.dataset.path)")
        return chosen - {plain(path) for path in paths}

    until(lambda: not left(), "not every key has a row")
    for path in ("planes", "map", "pickups"):
        page.get_by_role("button", name=f"{path}: add one", exact=True).first.click()
        row = page.locator(f'#rows .item[data-group="{path}.0"]')
        row.wait_for(state="attached")
    keys = page.evaluate("[...document.querySelectorAll('#rows .row')].map((row) => row.dataset.path)")
    listed = {key.name for key in TABLE if key.name.startswith(lists[:3]) and not key.profiles}
    assert listed <= {plain(path) for path in keys}
    page.evaluate("document.querySelectorAll('#rows details').forEach((group) => (group.open = false))")
    titles = page.locator("#rows > details > summary").all_inner_texts()
    assert [title for title in titles if not title[:1].isupper()] == []
    revert(page)


def test_a_key_is_found_in_lists_that_are_closed(page: Any) -> None:
    page.reload()
    ready(page)
    found = {
        "mass": "strings.0.ports.0.mass",
        "detuned": "strings.0.courses.1.detuned",
        "sympathetic": "strings.2.sympathetic",
    }
    for sought, path in found.items():
        page.locator("#find-key").fill(sought)
        until(page.locator(f'.row[data-path="{path}"]').is_visible, f"{sought} does not find {path}")
    page.locator("#find-key").fill("")


def test_strings_are_added_copied_and_taken_away(page: Any) -> None:
    revert(page)
    open_group(page, "strings")
    items = page.locator('#rows details[data-group="strings"] > div > details.item')
    until(lambda: items.count() == 3, "not all strings have a row")
    page.get_by_role("button", name="strings: add strings that answer").click()
    until(lambda: items.count() == 4, "none is added")
    open_group(page, "strings.3")
    set_entry(page, "strings.3.sympathetic", "[A3]")
    until(lambda: "sympathetic: [A3]" in text_of(page), "it cannot be changed")
    page.get_by_role("button", name="strings.3: remove it").click()
    until(lambda: items.count() == 3, "it cannot be taken away")
    open_group(page, "strings.1")
    page.get_by_role("button", name="strings.1: copy it").click()
    until(lambda: items.count() == 4, "it cannot be copied")
    for _ in range(4):
        page.locator("#undo").click()
        page.wait_for_timeout(80)
    until(lambda: items.count() == 3 and page.locator("#star").inner_text() == "", "it is not undone")


def test_a_knob_is_heard_while_all_of_it_rings(page: Any) -> None:
    revert(page)
    page.get_by_label("Sustain").check()
    press(page, 54)
    until(lambda: "answering" in page.locator("#energy-said").inner_text(), "nothing answers")
    page.evaluate("delete document.body.dataset.heard")
    set_entry(page, "barrier.curvature", "0.9 1/m")
    until(lambda: page.evaluate("document.body.dataset.heard"), "it is not heard")
    assert "answering" in page.locator("#energy-said").inner_text()
    assert "rings out" not in page.locator("#said").inner_text()
    page.locator("#side").click()
    set_entry(page, "barrier.curvature", "1.1 1/m")
    until(lambda: "1.1" in entry(page, "barrier.curvature").input_value(), "not set")
    page.keyboard.press("Escape")
    page.locator("#side").click()
    until(lambda: "0.9" in entry(page, "barrier.curvature").input_value(), "side A is not as it was")
    page.get_by_label("Sustain").uncheck()
    revert(page)


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_it_is_accessible_and_fits(program: Editing, browser: Any, theme: str) -> None:
    half = {name: length // 2 for name, length in SIZE.items()}
    context = browser.new_context(viewport=half, color_scheme=theme)
    opened = context.new_page()
    opened.goto(program.address)
    ready(opened)
    open_group(opened, "strings", "strings.0", "strings.0.ports", "ports")
    assert opened.evaluate("document.documentElement.scrollWidth") <= half["width"]
    opened.evaluate("scrollTo(0, document.getElementById('rows').scrollTop = 0)")
    assert violations(opened) == []
    context.close()


def test_a_wrong_value_of_one_string_is_told_beside_its_field(page: Any) -> None:
    open_group(page, "strings", "strings.1")
    set_entry(page, "strings.1.played", "everything")
    error = page.locator('.row[data-path="strings.1.played"] .error')
    until(lambda: "must" in error.inner_text(), "no sentence")
    entry(page, "strings.1.played").press("Escape")
    ready(page)
