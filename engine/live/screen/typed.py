"""Characters from the terminal as they are typed, without waiting for a line and without showing them."""

from __future__ import annotations

import codecs
import os
import re
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

from engine.live.screen import job_control
from engine.terminal import descriptor, in_foreground

ESCAPE = "\x1b"
# Keys without a character (arrows, F1, Alt with a letter) send several after an escape; they mean nothing here.
_SEQUENCE = re.compile(r"\x1b{1,2}(?:\[[0-?]*[ -/]*[@-~]|O[ -~]|[^\[O\x1b])")
_BEGUN = re.compile(r"\x1b{1,2}(?:\[[0-?]*[ -/]*|O)?\Z")
_ALONE = 0.025  # s after which an escape will not become a sequence any more


class Typed:
    """No terminal: nobody types. The others read one in a `with` block, and leave it as they found it.

    Its settings change with the first `take`, so that no interrupt can come between the change and the block.
    """

    live = False

    def __enter__(self) -> Typed:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def take(self, wait: float = 0.0) -> str:
        """What has been typed; if nothing was, wait up to so many seconds for it."""
        time.sleep(wait)
        return ""


def typed(stream: IO[str] | None) -> Typed:
    """The right way to read this stream."""
    number = descriptor(stream)
    if number < 0:
        return Typed()
    return Console() if sys.platform == "win32" else Terminal(number, getattr(stream, "encoding", None) or "utf-8")


class Terminal(Typed):
    """A POSIX terminal."""

    live = True

    def __init__(self, number: int, encoding: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._number, self._clock = number, clock
        self._found: list[Any] = []  # the settings to go back to
        self._ours: list[Any] = []
        self._settled = self._away = False
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._begun, self._begun_at = "", 0.0

    def take(self, wait: float = 0.0) -> str:
        import select

        if self._away or not in_foreground(self._number):
            time.sleep(wait)
            return ""
        self._settle()
        ready, _, _ = select.select([self._number], [], [], wait)
        data = b""
        if ready and self._settled:  # not if the process was stopped meanwhile: reading could wait for a line
            with suppress(OSError):  # hung up: nothing will come any more, and yet it is always ready
                data = os.read(self._number, 4096)
            if not data:
                time.sleep(wait)
        return self._characters(self._decoder.decode(data))

    def _characters(self, text: str) -> str:
        """Without the sequences; an escape waits until it is clear that it is none."""
        alone = ""
        if self._begun and self._clock() - self._begun_at > _ALONE:
            alone, self._begun = self._begun if set(self._begun) == {ESCAPE} else "", ""
        before, rest = self._begun, _SEQUENCE.sub("", self._begun + text)
        match = _BEGUN.search(rest)
        self._begun, rest = (match.group(), rest[: match.start()]) if match else ("", rest)
        if self._begun != before:
            self._begun_at = self._clock()
        return alone + rest

    def _settle(self) -> None:
        """Character by character, unseen; Ctrl-C still interrupts, Ctrl-S must not hold up the display."""
        if self._settled:
            return
        import termios

        with suppress(termios.error):
            found = termios.tcgetattr(self._number)
            if found != self._ours:
                self._found = found
            ours = [*found[:6], list(found[6])]
            ours[0] &= ~termios.IXON
            ours[3] &= ~(termios.ICANON | termios.ECHO)
            ours[6][termios.VMIN], ours[6][termios.VTIME] = 1, 0
            self._settled = True  # first, lest an interrupt comes between
            termios.tcsetattr(self._number, termios.TCSANOW, ours)
            self._ours = termios.tcgetattr(self._number)

    def __enter__(self) -> Terminal:
        job_control.move_in(self)
        return self

    def __exit__(self, *_: object) -> None:
        job_control.move_out(self)
        self.leave()

    def leave(self) -> None:
        """Give the terminal back for now."""
        import termios

        self._away = True
        if self._settled and in_foreground(self._number):
            with suppress(termios.error):
                termios.tcflush(self._number, termios.TCIFLUSH)  # notes still on their way are not for the shell
                termios.tcsetattr(self._number, termios.TCSANOW, self._found)
        self._settled = False

    def come_back(self) -> None:
        """Take it again when it is next read."""
        self._settled = self._away = False


class Console(Typed):
    """A Windows console, which needs no settings."""

    live = True

    def take(self, wait: float = 0.0) -> str:
        import msvcrt

        console: Any = msvcrt
        until, found = time.monotonic() + wait, ""
        while not console.kbhit() and time.monotonic() < until:
            time.sleep(0.005)
        while console.kbhit():
            character = console.getwch()
            if character in "\x00\xe0" and console.kbhit():  # a key without a character: its code follows
                console.getwch()
            else:
                found += character
        return found
