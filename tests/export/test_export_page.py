"""An exported page in a real browser, opened as a file: it plays, shows its strings, and asks nobody for anything."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from edit.browsing import BROWSER, BROWSERS, SIZE, count, launched, press, until, violations
from export.exporting import COMPILER, FRAMES, NETWORK, RATE, expected
from export.paging import SHORT, events, native, order, page_of

from engine.compiled import INTERPRETED
from engine.export import web

pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install 'jawari[dev]'")

pytestmark = [
    pytest.mark.skipif(INTERPRETED, reason="nothing is compiled"),
    pytest.mark.skipif(BROWSER is None, reason=f"needs a browser: none of {', '.join(BROWSERS)} is here"),
]
NEEDS_C = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler: apt install gcc libc6-dev")
OWN = re.compile(r"^file:///|^blob:|^data:")
RENDERED = """
async ([events, frames, rate]) => {
  const context = new OfflineAudioContext(2, frames, rate);
  const node = await jawari.instrumentNode(context, jawari.data, { exact: true, events });
  node.connect(context.destination);
  return texts(await context.startRendering());
}
"""
TEXTS = """
window.texts = (sound) => {
  const bytes = [0, 1].map((side) => new Uint8Array(sound.getChannelData(side).buffer));
  return bytes.map((part) => {
    let text = "";
    for (let at = 0; at < part.length; at += 30000) text += String.fromCharCode(...part.subarray(at, at + 30000));
    return btoa(text);
  });
};
"""


DESIGNED = """
async ([events, frames, rate, turns]) => {
  const context = new OfflineAudioContext(2, frames, rate);
  const followed = [];
  let brought = null;
  const told = (word, frame) => {
    if (word === "designed") brought();
    if (word === "followed") followed.push(frame);
  };
  const node = await jawari.instrumentNode(context, jawari.data, { exact: true, events, told });
  node.connect(context.destination);
  for (const [at, number, value] of turns)
    context.suspend(at / rate).then(async () => {
      const there = new Promise((done) => (brought = done));
      node.design(number, value);
      await there;
      context.resume();
    });
  const sound = await context.startRendering();
  return { followed, sides: texts(sound) };
}
"""


SPY = """
window.told = [];
const post = MessagePort.prototype.postMessage;
MessagePort.prototype.postMessage = function (words, ...more) {
  window.told.push(words);
  post.call(this, words, ...more);
};
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("page")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as made:
        yield made


class Opened:
    """A page that is open, whose console must stay empty, and which asks nobody else."""

    def __init__(self, browser: Any, file: Path, script: str = "", **how: Any) -> None:
        self.context = browser.new_context(viewport=SIZE, **how)
        self.context.add_init_script(TEXTS + script)
        self.page = self.context.new_page()
        self.page.set_default_timeout(10_000)
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(file.as_uri())

    def __enter__(self) -> Any:
        return self.page

    def __exit__(self, *_: object) -> None:
        self.context.close()
        assert self.said == []
        assert [url for url in self.asked if not OWN.match(url)] == []


def turned_on(page: Any) -> None:
    page.locator("#begin").click()
    until(lambda: page.locator("#begin").inner_text() == "Sound is on", "no sound begins")


def most(page: Any) -> int:
    """Strings that the page draws now."""
    return int(page.locator("#focus option").count()) - 1


def heard(sides: list[str]) -> Any:
    """Out of a browser: [frames, 2]."""
    return np.stack([np.frombuffer(base64.b64decode(side), np.float32) for side in sides], axis=1)


@pytest.mark.parametrize("names", [("sitar-string",), ("slap-bass",), (NETWORK,)], ids=str)
def test_the_browser_plays_the_same_bits(names: tuple[str, ...], folder: Path, browser: Any) -> None:
    told = [[at, data[:2] if data[0] & 0xE0 == 0xC0 else data] for at, data in events(names)]
    with Opened(browser, page_of(folder, *names) / "index.html") as page:
        sides = page.evaluate(RENDERED, [told, FRAMES, RATE])
    assert np.array_equal(heard(sides), expected(*names))


@NEEDS_C
@pytest.mark.parametrize(("name", "rate"), [("sitar-string", 44_100), ("sitar-string", 48_000), ("sitar", 48_000)])
def test_a_knob_that_designs_anew_is_heard_in_the_browser(name: str, rate: int, folder: Path, browser: Any) -> None:
    """From a page that is a file: in a worker, while the sound goes on; each design a few blocks after its knob."""
    names, made = (name,), order(name, rates=())
    bent = next(dial for dial in made.designs if dial.key == "barrier.curvature")
    turns = [(2560, bent.number, bent.high), (6400, bent.number, bent.own)]
    told = [[at, data] for at, data in events(names)]
    with Opened(browser, page_of(folder, *names, rates=()) / "index.html") as page:
        found = page.evaluate(DESIGNED, [told, SHORT // 2, rate, turns])
    assert [0 < late - at <= 20 * 128 for (at, *_), late in zip(turns, found["followed"], strict=True)] == [True, True]
    values = [[bent.high if dial is bent else None for dial in made.designs], [None] * len(made.designs)]
    wanted, _ = native(folder, made.image, rate, names, list(zip(found["followed"], values)), SHORT // 2)
    assert np.array_equal(heard(found["sides"]), wanted)


def test_a_browser_without_vectors_fetches_the_plain_code(folder: Path, browser: Any) -> None:
    names = ("sitar-string",)
    without = (
        "const all = WebAssembly.validate; let asked = 0; WebAssembly.validate = (code) => asked++ > 0 && all(code);"
    )
    opened = Opened(browser, page_of(folder, *names) / "index.html", without)
    with opened as page:
        assert not any(url.endswith("plain.js") for url in opened.asked)
        sides = page.evaluate(RENDERED, [events(names), SHORT, RATE])
        assert any(url.endswith("plain.js") for url in opened.asked)
    assert np.array_equal(heard(sides), expected(*names)[:SHORT])


def test_a_note_is_heard_and_seen(folder: Path, browser: Any) -> None:
    with Opened(browser, page_of(folder, "sitar-string") / "index.html") as page:
        assert page.evaluate("document.body.dataset.sound") == "none"  # until a gesture
        still = page.locator("#whole").screenshot()
        press(page, 54, 400)  # which is one
        until(lambda: page.locator("#begin").inner_text() == "Sound is on", "no sound begins")
        press(page, 57, 400)
        until(lambda: most(page) > 0, "no string is seen")
        assert page.locator("#whole").screenshot() != still
        before = count(page)
        page.wait_for_timeout(500)
        assert count(page) > before + 5
        page.locator("#film").click()
        press(page, 50, 300)
        until(lambda: page.locator("#scrub").is_visible(), "no film")
        page.locator("#live").click()
        page.locator("#silence").click()
        until(lambda: most(page) == 0, "it goes on")


def test_a_knob_turns_and_goes_back(folder: Path, browser: Any) -> None:
    """What it does to the renderer is tested where there is no page."""
    with Opened(browser, page_of(folder, "sitar-string") / "index.html", SPY) as page:
        slider = page.get_by_role("slider", name="Barrier height")
        own = page.locator("#dials output").first.inner_text()
        slider.focus()
        page.keyboard.press("ArrowLeft")
        assert page.locator("#dials output").first.inner_text() != own
        turned_on(page)
        page.keyboard.down("a")  # a button that has the focus does not keep the keys from playing
        until(lambda: page.evaluate("told.some(([word, data]) => word === 'midi' && data[1] === 48)"), "no note")
        page.keyboard.up("a")
        first = page.evaluate("told.filter(([word]) => word === 'turn')")
        assert [words[1] for words in first] == [0]  # moved before there was any sound, and heard of all the same
        slider.dblclick()
        until(lambda: page.locator("#dials output").first.inner_text() == own, "it does not go back")


def test_what_is_drawn_follows_a_knob_that_designs_anew(folder: Path, browser: Any) -> None:
    with Opened(browser, page_of(folder, "sitar-string", rates=()) / "index.html") as page:
        slider = page.get_by_role("slider", name="Barrier curvature")
        slider.focus()
        before = page.locator("#loupe").screenshot()
        for _ in range(9):
            page.keyboard.press("PageUp")
        until(lambda: page.locator("#loupe").screenshot() != before, "the barrier stays as it was")
        assert page.evaluate("document.body.dataset.designs") is None
        press(page, 57, 600)  # sound begins
        until(lambda: page.evaluate("document.body.dataset.designs") == "1", "what was turned before is not designed")
        page.keyboard.press("Tab")
        slider.focus()
        page.keyboard.press("PageDown")
        until(lambda: page.evaluate("document.body.dataset.designs") == "2", "no other design is heard")
        until(lambda: most(page) > 0, "no string is seen")


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("Worker = class { constructor() { throw new Error('none here'); } }", "none here"),
        ("Worker = class { postMessage() { this.onerror({ message: 'lost' }); } }", "lost"),
    ],
)
def test_a_page_that_cannot_design_says_so(script: str, words: str, folder: Path, browser: Any) -> None:
    with Opened(browser, page_of(folder, "sitar-string", rates=()) / "index.html", script) as page:
        turned_on(page)
        page.get_by_role("slider", name="Barrier curvature").press("PageUp")
        until(lambda: words in page.locator("#said").inner_text(), "nothing is said")
        press(page, 57)
        until(lambda: most(page) > 0, "no string is seen")


def test_programs_change_the_string(folder: Path, browser: Any) -> None:
    with Opened(browser, page_of(folder, "sitar-string", "slap-bass") / "index.html") as page:
        assert "Sitar" in page.locator("#name").inner_text()
        turned_on(page)
        page.locator("#program").select_option(label="Slap bass")
        assert page.locator("#name").inner_text() == "Slap bass"

        def struck() -> bool:  # again and again: one that comes before the other program is open is nobody's
            page.keyboard.press("a")
            return bool(most(page) > 0)

        until(struck, "no string of the other program is seen", 60.0)
        assert page.locator("#name").inner_text() == "Slap bass"


def test_one_file_plays_too(folder: Path, browser: Any) -> None:
    file = folder / "single.html"
    web.write_single(order("prepared"), file)
    with Opened(browser, file) as page:
        turned_on(page)
        press(page, 60)
        until(lambda: most(page) > 0, "no string is seen")


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("delete window.AudioWorkletNode", "no AudioWorklet"),
        ("delete window.AudioContext", "no Web Audio"),
        ("delete window.DecompressionStream", "cannot unpack"),
        ("delete window.WebAssembly", "no WebAssembly"),
    ],
)
def test_a_browser_that_cannot_is_told_why(script: str, words: str, folder: Path, browser: Any) -> None:
    with Opened(browser, page_of(folder, "sitar-string") / "index.html", script) as page:
        assert words in page.locator("#lost").inner_text()
        assert page.locator("#begin").is_disabled()


def test_where_there_are_no_vectors_the_plain_code_plays(folder: Path, browser: Any) -> None:
    """The browser is made to refuse code with vectors: the first of the two."""
    script = "let asked = 0; WebAssembly.validate = () => asked++ > 0;"
    with Opened(browser, page_of(folder, "sitar-string") / "index.html", script) as page:
        sides = page.evaluate(RENDERED, [[[at, data] for at, data in events(("sitar-string",))], SHORT // 4, RATE])
    assert np.array_equal(
        np.frombuffer(base64.b64decode(sides[0]), np.float32), expected("sitar-string")[: SHORT // 4, 0]
    )


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_it_is_accessible(theme: str, folder: Path, browser: Any) -> None:
    how = {"color_scheme": theme, "reduced_motion": "reduce"}  # no colour on its way to another one
    with Opened(browser, page_of(folder, "sitar-string", "slap-bass") / "index.html", **how) as page:
        assert violations(page, preload=False) == []
        for width in (SIZE["width"] // 2, 390):  # 200 %, and a telephone
            page.set_viewport_size({"width": width, "height": SIZE["height"] // 2})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
