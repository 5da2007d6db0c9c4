"""One editor and one browser for all tests of a file, the editor under the guard of the sound thread, if that is on;
and studios without either."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from edit.browsing import SIZE, launched, ready
from edit.editing import Editing
from edit.rooms import SEVERAL, Room
from live import guard
from live.jack import MISSING, jack_server

from engine.preset.files import OWN_FOLDER


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editing]:
    """On the virtual card where there is one; else the page plays."""
    folder = tmp_path_factory.mktemp("page")
    if MISSING:
        running = Editing(folder, "sitar-string", "--device", "none")
        yield running
        running.end()
        return
    with jack_server(folder, period=128) as server:
        watched = {"LD_PRELOAD": str(guard.library())} if guard.ON and not guard.missing() else {}
        running = Editing(folder, "sitar-string", environment={**server.environment, **watched})
        yield running
        ended = running.end()
        assert ended == 0, f"{ended}: {running.said}"  # under the guard, no page made the sound card's thread wait


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as made:
        yield made


@pytest.fixture
def page(program: Editing, browser: Any) -> Iterator[Any]:
    """A page that is open, whose console must stay empty, and which asks nobody else."""
    context = browser.new_context(viewport=SIZE, color_scheme="dark")
    opened = context.new_page()
    opened.set_default_timeout(10_000)
    said: list[str] = []
    asked: list[str] = []
    opened.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto(program.address)
    opened.said = said
    ready(opened)
    yield opened
    context.close()
    assert [line for line in said if "WebSocket" not in line and "ERR_CONNECTION" not in line] == []
    own = re.compile(rf"^(http|ws)://127\.0\.0\.1:{program.port}/|^blob:|^data:")
    assert [url for url in asked if not own.match(url)] == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("edit")


@pytest.fixture
def room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    monkeypatch.setenv(OWN_FOLDER, str(folder / "own" / "presets"))
    made = Room(folder)
    yield made
    made.studio.close()
    made.ended.set()
    made.thread.join()


@pytest.fixture
def hall(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    """A room with an instrument of several strings."""
    monkeypatch.setenv(OWN_FOLDER, str(folder / "own" / "presets"))
    made = Room(folder, SEVERAL)
    yield made
    made.studio.close()
    made.ended.set()
    made.thread.join()
