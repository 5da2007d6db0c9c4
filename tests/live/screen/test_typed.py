"""The terminal gives characters as they are typed, and is as it was before: after errors, Ctrl-Z, and a hang-up."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from live.pseudo_terminal import POSIX, terminal

from engine.live.screen.typed import Console, Terminal, Typed, typed

ROOT = Path(__file__).parents[3]


def settings(stream: Any) -> Any:
    import termios

    return termios.tcgetattr(stream.fileno())


def collect(source: Typed, until: str, seconds: float = 5.0) -> str:
    found, end = "", time.monotonic() + seconds
    while until not in found and time.monotonic() < end:
        found += source.take(0.01)
    return found


@POSIX
def test_the_terminal_is_as_before_even_after_an_error() -> None:
    import termios

    with terminal() as (_, stream):
        before = settings(stream)

        def fail() -> None:
            with typed(stream) as source:
                assert source.live
                assert source.take() == ""
                assert not settings(stream)[3] & (termios.ICANON | termios.ECHO)
                assert settings(stream)[3] & termios.ISIG  # Ctrl-C still interrupts
                raise RuntimeError

        with pytest.raises(RuntimeError):
            fail()
        assert settings(stream) == before


@POSIX
def test_going_on_without_a_stop_forgets_nothing() -> None:
    with terminal() as (ours, stream):
        before = settings(stream)
        with typed(stream) as source:
            source.come_back()
            os.write(ours, b"x")
            assert collect(source, "x") == "x"
            source.leave()
            assert settings(stream) == before
            assert source.take() == ""
            source.come_back()
            source.take()
            assert settings(stream) != before
        assert settings(stream) == before


@POSIX
def test_characters_come_at_once_and_are_not_shown() -> None:
    with terminal() as (ours, stream), typed(stream) as source:
        assert source.take() == ""
        os.write(ours, "aé鍵".encode())
        assert collect(source, "鍵") == "aé鍵"
        assert source.take() == ""
        assert select.select([ours], [], [], 0.05)[0] == []
        started = time.monotonic()
        assert source.take(0.05) == ""
        assert 0.04 < time.monotonic() - started < 10.0


@POSIX
def test_a_terminal_that_is_gone_types_nothing() -> None:
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "r", encoding="utf-8") as stream, typed(stream) as source:
        os.close(ours)
        assert source.take(0.01) == ""
        assert source.take() == ""


@POSIX
def test_signals_are_handled_only_while_somebody_wants_it() -> None:
    import signal

    def handlers() -> list[Any]:
        return [signal.getsignal(number) for number in (signal.SIGTSTP, signal.SIGCONT)]

    before = handlers()
    with terminal() as (_, stream), typed(stream):
        with typed(stream):
            assert all(callable(handler) for handler in handlers())
        assert all(callable(handler) for handler in handlers())
    assert handlers() == before


def parsed(pieces: list[str], pause: float = 0.0) -> str:
    clock = SimpleNamespace(at=0.0)
    source, found = Terminal(-1, "utf-8", lambda: clock.at), ""
    for piece in pieces:
        found += source._characters(piece)
        clock.at += pause
    clock.at += 1.0
    return found + source._characters("")


SEQUENCES = ["a", "s", "[", "O", "\x1b[A", "\x1b[1;5C", "\x1bOP", "\x1b[15~", "\x1bx", "\x1b\x1b[A"]


@given(st.lists(st.sampled_from(SEQUENCES)), st.data())
def test_keys_without_characters_are_ignored_however_they_come(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    at = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
    pieces = [text[a:b] for a, b in zip([0, *at], [*at, len(text)], strict=True)]
    assert parsed(pieces) == "".join(part for part in parts if "\x1b" not in part)


def test_an_escape_alone_is_one() -> None:
    assert parsed(["a\x1b"]) == "a\x1b"
    assert parsed(["\x1b", "", "", "a"], pause=0.03) == "\x1ba"
    assert parsed(["\x1b", "a"], pause=0.03) == "\x1ba"
    assert parsed(["\x1b\x1b\x1b"]) == "\x1b\x1b\x1b"
    assert parsed(["\x1b["], pause=0.03) == ""


def test_a_windows_console_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = list("a\x00Hs\xe0Kq")
    monkeypatch.setitem(
        sys.modules, "msvcrt", SimpleNamespace(kbhit=lambda: bool(waiting), getwch=lambda: waiting.pop(0))
    )
    with Console() as source:
        assert source.live
        assert source.take(0.1) == "asq"
        started = time.monotonic()
        assert source.take(0.03) == ""
        assert time.monotonic() - started >= 0.03


# A shell in small: it has a terminal and one job, which it stops looking at when the job is stopped.
SHELL = """
import fcntl, os, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
before = termios.tcgetattr(0)
job = os.fork()
if job == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.executable, [sys.executable, "-c", sys.argv[1]])
def wait():
    status = os.waitpid(job, os.WUNTRACED)[1]
    os.tcsetpgrp(0, os.getpgrp())
    print("stopped" if os.WIFSTOPPED(status) else f"ended {status}", termios.tcgetattr(0) == before, flush=True)
wait()
os.kill(job, signal.SIGCONT)  # bg
sys.stdin.readline()
os.tcsetpgrp(0, job)  # fg
os.kill(job, signal.SIGCONT)
wait()
"""
JOB = """
import signal, sys
signal.alarm(60)
from engine.live.screen.computer_keys import ComputerKeys
from engine.live.screen.key_table import Command
class Player:
    def send(self, data):
        print("sent", *data, flush=True)
with ComputerKeys(Player(), stream=sys.stdin) as keys:
    print("ready", flush=True)
    while Command.QUIT not in keys.poll(0.02):
        pass
"""


@POSIX
def test_ctrl_z_leaves_the_terminal_in_order() -> None:
    ours, theirs = os.openpty()
    child = subprocess.Popen(
        [sys.executable, "-c", SHELL, JOB],
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    os.close(theirs)
    heard, everything = "", ""

    def expect(text: str) -> None:
        nonlocal heard, everything
        end = time.monotonic() + 20.0
        while text not in heard:
            assert select.select([ours], [], [], end - time.monotonic())[0], f"{text!r} is not in {heard!r}"
            new = os.read(ours, 1024).decode()
            heard, everything = heard + new, everything + new
        heard = heard.split(text, 1)[1]

    try:
        expect("ready")
        os.write(ours, b"a")
        expect("sent 144 48 100")
        os.write(ours, b"\x1a")
        expect("stopped True")
        os.write(ours, b"fg\n")  # typed while the job runs in the background: not for us
        expect("fg")
        time.sleep(0.1)
        os.write(ours, b"s")
        expect("sent 144 50 100")
        os.write(ours, b"q")
        expect("ended 0 True")
        assert [everything.count(off) for off in ("sent 128 48 64", "sent 128 50 64")] == [1, 1]
        assert child.wait(10) == 0
    finally:
        child.kill()
        child.wait()
        os.close(ours)
