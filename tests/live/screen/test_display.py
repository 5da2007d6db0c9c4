"""On a terminal one panel stays in place, whatever happens around it; elsewhere there are plain lines."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from live.readings import READING
from live.screen import Screen, Stream

from engine.live.meter import Reading
from engine.live.screen import display as module
from engine.live.screen.display import Display, Lines, Panel
from engine.live.screen.panel import Look, draw


class Clock:
    at = 100.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streams with a screen are terminals of its size."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(module, "size", lambda stream: (stream.screen.columns, stream.screen.rows))
    monkeypatch.setattr(module, "in_foreground", lambda number: True)


def panel(columns: int = 80, rows: int = 24, encoding: str = "utf-8") -> tuple[Panel, Screen, Stream]:
    screen = Screen(columns, rows)
    stream = Stream(screen, encoding)
    shown = Display.for_stream(stream)  # type: ignore[arg-type]
    assert isinstance(shown, Panel)
    return shown, screen, stream


def expected(reading: Reading, columns: int = 80, blocks: bool = True) -> list[str]:
    return [*draw(reading, Look(columns - 1, blocks, colours=False)), ""]


def test_it_is_redrawn_in_place_in_one_write() -> None:
    shown, screen, stream = panel()
    screen.feed("$ jawari play sitar-string\r\n")
    for blocks in range(5):
        reading = replace(READING, lost=blocks, watchdog=blocks % 2)  # the faults' line comes and goes
        shown.show(reading)
        assert stream.writes == blocks + 1
        assert screen.lines == ["$ jawari play sitar-string", *expected(reading)]
        assert screen.cursor
    shown.show(reading)
    assert stream.writes == 5  # nothing new, nothing written
    shown.close()
    assert screen.lines == ["$ jawari play sitar-string", ""]


@given(st.lists(st.sampled_from(["show", "say", "sick", "widen", "narrow", "lines"]), max_size=30))
def test_what_is_said_stays_above_whatever_happens(steps: list[str]) -> None:
    shown, screen, _ = panel(80, 40)
    said: list[str] = []
    reading, number = READING, count()
    shown.show(reading)
    for step in steps:
        if step == "say":
            said.append(f"message {next(number)}")
            shown.say(said[-1], problem=True)
        elif step == "lines":
            said += ["one\\two", "three"]
            shown.say("one\\two\nthree")
        elif step == "sick":
            reading = replace(reading, watchdog=1 - reading.watchdog, blocks=next(number))
        elif step in ("widen", "narrow"):
            screen.resize(max(screen.columns + (7 if step == "widen" else -13), 20))
        if step != "say":
            shown.show(reading)
        if step not in ("say", "lines") or screen.columns == 80:
            assert screen.lines == [*said, *expected(reading, screen.columns)]
    shown.close()
    assert screen.lines == [*said, ""]


def test_a_low_terminal_shows_the_first_lines() -> None:
    for rows in range(1, 16):
        shown, screen, _ = panel(80, rows)
        for lost in range(3):
            shown.show(replace(READING, lost=lost))
            assert len(screen.text) <= rows
        assert screen.lines == [*expected(replace(READING, lost=2))[: rows - 1][:12], ""]
        shown.close()


def test_after_a_stop_it_is_drawn_below() -> None:
    shown, screen, _ = panel()
    shown.show(READING)
    shown.leave()
    screen.feed("[1]+  Stopped\r\n$ fg\r\n")
    shown.come_back()
    shown.show(READING)
    assert screen.lines == [*expected(READING)[:-1], "[1]+  Stopped", "$ fg", *expected(READING)]
    shown.close()


def test_in_the_background_it_does_not_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, screen, _ = panel()
    shown.show(READING)
    monkeypatch.setattr(module, "in_foreground", lambda number: False)
    shown.show(replace(READING, lost=1))
    shown.say("a keyboard was plugged in")
    assert screen.lines == [*expected(READING)[:-1], "a keyboard was plugged in", ""]
    monkeypatch.setattr(module, "in_foreground", lambda number: True)
    shown.show(READING)
    assert screen.lines == [*expected(READING)[:-1], "a keyboard was plugged in", *expected(READING)]
    shown.close()


def test_colours_only_where_they_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, _, stream = panel()
    shown.show(replace(READING, lost=1))
    assert "\x1b[31m" in stream.getvalue()
    shown.close()
    monkeypatch.setenv("NO_COLOR", "1")
    shown, _, stream = panel()
    shown.show(replace(READING, lost=1))
    assert not re.search(r"\x1b\[[0-9;]*m", stream.getvalue())
    shown.close()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "cp437", "koi8-r"])
def test_poor_encodings_get_poor_bars(encoding: str) -> None:
    shown, screen, _ = panel(encoding=encoding)
    reading = replace(READING, device="ピアノ")
    shown.show(reading)  # the stream would refuse what it cannot write
    assert screen.lines == expected(replace(reading, device="???"), blocks=False)
    shown.say("ピアノ is there")
    assert screen.lines[0] == "??? is there"
    shown.close()


def test_nothing_that_a_terminal_obeys_gets_through() -> None:
    shown, screen, stream = panel()
    shown.show(replace(READING, device="\x1b[2Jcard\r\n", ports=("\x9bport\x07",)))
    shown.say("\x1b]0;title\x07 hello")
    assert screen.lines[0] == r"\x1b]0;title\x07 hello"
    assert "\x07" not in stream.getvalue()
    assert "\x9b" not in stream.getvalue()
    shown.close()


def test_it_is_due_ten_times_a_second() -> None:
    clock = Clock()
    for shown in (Display.for_stream(Stream(Screen()), clock=clock), Lines(io.StringIO(), clock=clock)):  # type: ignore[arg-type]
        assert shown.due
        shown.show(READING)
        clock.at += 0.09
        assert not shown.due
        clock.at += 0.02
        assert shown.due
        shown.close()


def test_a_dumb_terminal_and_the_quiet_get_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(Display.for_stream(Stream(Screen()), quiet=True), Lines)  # type: ignore[arg-type]
    assert isinstance(Display.for_stream(Stream()), Lines)  # type: ignore[arg-type]
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(Display.for_stream(Stream(Screen())), Lines)  # type: ignore[arg-type]


def session(quiet: bool, stream: io.StringIO) -> None:
    clock = Clock()
    with Display.for_stream(stream, quiet, clock) as shown:
        for tenth in range(251):
            clock.at = 100.0 + 0.1 * tenth + 1e-6
            sick = {"lost": tenth // 100, "watchdog": tenth // 200}
            shown.show(replace(READING, underflows=0, blocks=tenth, strings=READING.strings[: tenth % 3], **sick))
        shown.say("keyboard \x1b[1munplugged")
        shown.say("MIDI port is gone", problem=True)


def test_lines_tell_what_matters_and_every_ten_seconds_how_it_stands() -> None:
    stream = io.StringIO()
    session(False, stream)
    assert "\x1b" not in stream.getvalue()
    assert stream.getvalue().splitlines() == [
        "playing sitar-string on USB Audio: 48000 Hz, 128 frames, latency 5.3 ms",
        "1 block lost (load up to 50%)",
        "load 12%, p99 25%, max 50%; 1 voice; -30.0 dBFS; 1 block lost, no underflows",
        "1 block lost (load up to 50%)",
        "1 string silenced by the watchdog",
        "load 12%, p99 25%, max 50%; 2 voices; -30.0 dBFS; 2 blocks lost, no underflows",
        r"keyboard \x1b[1munplugged",
        "MIDI port is gone",
    ]


def test_the_quiet_hear_of_trouble_only() -> None:
    stream = io.StringIO()
    session(True, stream)
    assert stream.getvalue().splitlines() == [
        "1 block lost (load up to 50%)",
        "1 block lost (load up to 50%)",
        "1 string silenced by the watchdog",
        "MIDI port is gone",
    ]


def test_a_file_gets_lines(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w", encoding="ascii") as stream, Display.for_stream(stream) as shown:
        shown.show(replace(READING, device="ピアノ"))
    assert (tmp_path / "log").read_text().splitlines()[0].startswith("playing sitar-string on ???: 48000 Hz")


class Dead(io.StringIO):
    """A stream that takes nothing."""

    def __init__(self, trouble: Exception, terminal: bool) -> None:
        super().__init__()
        self._trouble, self._terminal, self.screen = trouble, terminal, Screen(80, 24)

    def write(self, text: str) -> int:
        raise self._trouble

    def isatty(self) -> bool:
        return self._terminal


@pytest.mark.parametrize("trouble", [OSError(28, "full"), BrokenPipeError(), ValueError("closed file"), None])
@pytest.mark.parametrize("make", [Lines, Panel])
def test_what_cannot_be_said_is_not_said(trouble: Exception | None, make: type[Lines] | type[Panel]) -> None:
    stream = None if trouble is None else Dead(trouble, make is Panel)
    if stream is None and make is Panel:
        assert isinstance(Display.for_stream(None), Lines)
        return
    with make(stream) as shown:
        shown.show(READING)
        shown.say("words", problem=True)
