"""`jawari edit` with what it cannot use: one line, what to do, an exit code of its own."""

from __future__ import annotations

import builtins
import socket
import sys
import webbrowser
from pathlib import Path
from typing import Any

import pytest
from edit.editing import Editing

from engine import cli
from engine.errors import Exit

pytest.importorskip("aiohttp", reason="needs aiohttp: pip install 'jawari[edit]'")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--port", "70000"], Exit.USAGE, "--port = 70000: must be 0 to 65535; 0 takes any that is free"),
        (["--block-size", "4"], Exit.USAGE, "--block-size = 4: must be 8 to 8192 frames; try 128"),
        (["--cores", "3"], Exit.USAGE, "--cores = 3: must be 1 or 2"),
        (["--latency", "soon"], Exit.USAGE, "--latency = soon: must be low, high, or a time"),
        (["sitarr"], Exit.PRESET, "did you mean sitar?"),
        (["nowhere/mine.yaml"], Exit.PRESET, "nowhere/mine.yaml: there is no such file"),
        (["--device", "no such card"], (Exit.CARD, Exit.LIBRARY), "no"),
    ],
)
def test_arguments_that_are_wrong(
    arguments: list[str], code: Any, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = cli.main(["edit", "--no-browser", *arguments])
    assert found in (code if isinstance(code, tuple) else (code,))
    said = capsys.readouterr().err
    assert words in said
    assert "Traceback" not in said


def test_a_rack_is_no_preset(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rack = tmp_path / "duo.yaml"
    rack.write_text("rack: Duo\nparts: [{preset: sitar-string}]\n", encoding="utf-8")
    assert cli.main(["edit", str(rack)]) == Exit.USAGE
    assert "is a rack; edit one of its presets" in capsys.readouterr().err


def test_without_the_server_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = builtins.__import__

    def without(name: str, *more: Any) -> Any:
        if name == "aiohttp":
            raise ImportError(name)
        return known(name, *more)

    monkeypatch.setattr(builtins, "__import__", without)
    assert cli.main(["edit", "plain", "--device", "none"]) == Exit.LIBRARY
    assert "pip install 'jawari[edit]'" in capsys.readouterr().err


def test_a_port_that_is_taken_and_a_machine_without_a_display(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(AssertionError, match=f"--port {port}: is taken by another program; take another one, or 0"):
            Editing(tmp_path, "plain", "--device", "none", "--port", str(port))
    editing = Editing(tmp_path, "plain", "--device", "none")
    assert "Ctrl-C ends it" in editing.said or not editing.end()
    assert editing.end() in (0, Exit.INTERRUPTED)


def test_where_no_browser_can_be_opened_the_address_is_all_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.edit import session

    def never(_: str) -> bool:
        raise webbrowser.Error("there is none")

    monkeypatch.setattr(webbrowser, "open", never)
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert not session._opened("http://127.0.0.1:1/")  # nobody could see it: none is asked
    monkeypatch.setenv("DISPLAY", ":0")
    assert not session._opened("http://127.0.0.1:1/")  # asked, and not there
    monkeypatch.setattr(webbrowser, "open", lambda _: True)
    assert session._opened("http://127.0.0.1:1/")
