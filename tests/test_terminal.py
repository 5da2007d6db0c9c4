"""The line that is rewritten in place, and who may write to a terminal at all."""

from __future__ import annotations

import ast
import ctypes
import io
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from live.screen import Screen, Stream

from engine import terminal as module
from engine.terminal import Line, bare, cells, coloured, last_words, obeys_escapes, redrawn, tell, write

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streams with a screen are terminals of its size."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(module, "size", lambda stream: (stream.screen.columns, stream.screen.rows))


def test_it_is_rewritten_wiped_and_left() -> None:
    screen = Screen()
    stream: Any = Stream(screen)
    line = Line(stream)
    for text in ("a long text", "short", "", "another"):
        line.show(text)
        assert screen.lines == [text]
    line.clear()
    write(stream, "a report\n")
    line.show("half")
    line.show("all")
    line.end()
    assert screen.lines == ["a report", "all", ""]


@given(st.lists(st.text(max_size=40), max_size=5))
def test_whatever_it_is_told_it_stays_one_line(texts: list[str]) -> None:
    screen = Screen(30)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TERM", "xterm")
        patch.setattr(module, "size", lambda stream: (screen.columns, screen.rows))
        line = Line(Stream(screen))  # type: ignore[arg-type]
        for text in [*texts, "\x1b[2J\r\n" * 20]:
            line.show(text)
            assert len(screen.lines) == 1
            assert cells(screen.lines[0]) < 30
        line.clear()
    assert screen.lines == [""]


def test_elsewhere_it_is_silent_or_goes_on() -> None:
    for goes_on, said in ((False, ""), (True, "one\ntwo\\n\n")):
        stream: Any = Stream()
        line = Line(stream, goes_on)
        line.show("one")
        line.show("two\n")
        line.clear()
        line.end()
        assert stream.getvalue() == said


class Odd(io.StringIO):
    """A stream that says it is a terminal, and takes nothing."""

    def __init__(self, trouble: Exception, number: int | None) -> None:
        super().__init__()
        self._trouble, self._number, self.screen = trouble, number, Screen()

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        if self._number is None:
            raise io.UnsupportedOperation
        return self._number

    def write(self, text: str) -> int:
        raise self._trouble


@pytest.mark.parametrize("trouble", [OSError(28, "full"), BrokenPipeError(), ValueError("closed file")])
@pytest.mark.parametrize("number", [1, None])
def test_a_dead_stream_ends_nothing(trouble: Exception, number: int | None) -> None:
    for stream in (Odd(trouble, number), None):
        line = Line(stream, goes_on=True)
        line.show("words")
        line.clear()
        line.end()


def test_a_window_without_a_terminal_behind_it_gets_no_escapes() -> None:
    """IDLE's says that it is one."""
    assert not obeys_escapes(Odd(OSError(), None))
    assert obeys_escapes(Odd(OSError(), 1))
    assert not obeys_escapes(None)


def test_a_dumb_terminal_gets_no_escapes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    screen = Screen()
    stream: Any = Stream(screen)
    Line(stream).show("words")
    assert screen.lines == [""]


class Kernel:
    """Windows' console, as far as it is asked; a mode of None is no console at all."""

    def __init__(self, mode: int | None, old: bool = False) -> None:
        self.mode, self._old = mode, old
        self.GetConsoleMode, self.SetConsoleMode = self._Get(self), self._Set(self)

    class _Get:
        def __init__(self, kernel: Kernel) -> None:
            self._kernel = kernel

        def __call__(self, handle: int, mode: Any) -> int:
            assert handle == 1001
            if self._kernel.mode is None:
                return 0
            mode._obj.value = self._kernel.mode
            return 1

    class _Set(_Get):
        def __call__(self, handle: int, mode: int) -> int:
            assert handle == 1001
            if self._kernel._old:
                return 0
            self._kernel.mode = mode
            return 1


@pytest.mark.parametrize(
    ("kernel", "listens", "mode"),
    [
        (Kernel(0x2), True, 0x7),
        (Kernel(0x7), True, 0x7),
        (Kernel(0x3, old=True), False, 0x3),
        (Kernel(None), False, None),
    ],
)
def test_windows_console_is_woken_up(
    kernel: Kernel, listens: bool, mode: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "WinDLL", {"kernel32": kernel}.get, raising=False)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(get_osfhandle=lambda number: 1000 + number))
    screen = Screen()
    stream: Any = Stream(screen)
    Line(stream).show("words")
    assert screen.lines == ["words" if listens else ""]
    assert kernel.mode == mode


def test_what_is_told_takes_the_place_of_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    stream: Any = Stream(screen)
    monkeypatch.setattr(sys, "stderr", stream)
    line = Line(stream)
    line.show("12 %")
    tell("note: a bell\a")
    assert screen.lines == [r"jawari: note: a bell\x07", ""]
    line.show("13 %")
    line.end()
    tell("done")
    assert screen.lines == [r"jawari: note: a bell\x07", "13 %", "jawari: done", ""]


def test_a_standard_error_that_is_full_or_closed_changes_neither_exit_code_nor_output() -> None:
    code = "import sys; from engine.terminal import tell; tell('one'); tell('two'); sys.exit(3)"
    command = [sys.executable, "-c", code]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    closed = [sys.executable, "-c", f"import os; os.close(2); os.execv({sys.executable!r}, {command!r})"]
    for how in [command, closed] if sys.platform != "win32" else [command]:
        done = subprocess.run(how, env=environment, capture_output=True, text=True)
        said = "jawari: one\njawari: two\n" if how is command else ""
        assert (done.returncode, done.stdout, done.stderr) == (3, "", said)
    if Path("/dev/full").is_char_device():
        with open("/dev/full", "w") as full:
            assert subprocess.run(command, env=environment, stderr=full).returncode == 3


def test_last_words_pass_all_buffers(capfd: pytest.CaptureFixture[str]) -> None:
    last_words("interrupted")
    assert capfd.readouterr().err == "jawari: interrupted\n"


def test_last_words_wipe_what_was_there_and_need_nobody() -> None:
    code = "import os, sys; from engine.terminal import last_words; {}; last_words('words')"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"}
    if sys.platform != "win32":
        ours, theirs = os.openpty()
        subprocess.run([sys.executable, "-c", code.format("os.write(2, b'12%')")], env=environment, stderr=theirs)
        assert os.read(ours, 100) == b"12%\r\x1b[Kjawari: words\r\n"
        os.close(ours)
        os.close(theirs)
    done = subprocess.run([sys.executable, "-c", code.format("os.close(2)")], env=environment, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


def test_what_is_redrawn_takes_the_place_of_what_was_there() -> None:
    screen = Screen()
    screen.feed("said\r\n")
    screen.feed(redrawn(["one", coloured("two", "31"), "three"], 0))
    assert screen.lines == ["said", "one", "two", "three", ""]
    screen.feed(redrawn(["four"], 3))
    assert screen.lines == ["said", "four", ""]
    assert screen.cursor
    assert bare(coloured("two", "31") + coloured("", "1")) == "two"


def constants(file: Path) -> set[str]:
    found = {node.value for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Constant)}
    return {
        value.decode("latin-1") if isinstance(value, bytes) else value
        for value in found
        if isinstance(value, str | bytes)
    }


def test_nobody_else_writes_an_escape_or_a_carriage_return() -> None:
    sources = [file for room in ("engine", "scripts") for file in (ROOT / room).rglob("*.py")]
    escapes = {file.stem for file in sources if any("\x1b" in text for text in constants(file))}
    returns = {file.stem for file in sources if any("\r" in text for text in constants(file))}
    assert escapes == {"terminal", "typed"}, "what is typed is read"
    assert returns == {"terminal", "scala", "splice"}, "files from Windows are read, and changed in their own lines"
