"""The computer's keys in the terminal: two rows of letters are a piano, the others are commands.

A terminal tells what was typed, never that a key came up. So a pluck is let go after a while, and the characters that a
held key sends by itself keep it down. Note-offs are sent when they are due and not stamped ahead: one that waits in an
inlet would hold up everything behind it, and could not be put off.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from math import inf
from typing import IO

from engine import messages as midi
from engine.live.player import Player
from engine.live.screen.key_table import COMMANDS, LOUDNESS, OCTAVES, PEDAL, PIANO, Command, hint
from engine.live.screen.typed import Typed, typed
from engine.units import key_to_note

HOLD = 0.5  # s for which a pluck is held
STILL = 0.15  # s after the last repeat at which a held key has come up
LOWEST, HIGHEST = 0, 120  # the keys that "a" may be


class Repeats:
    """Tells the characters that a held key sends by itself from those of another touch.

    They come after a first wait, always the same, and then faster than a finger moves. The wait is learned from the
    first key that is held, and forgotten if what came after it proves to have been a touch: nothing fast followed.
    """

    FASTEST = 0.12  # s between two touches of one finger
    NEAR = 0.04  # s: how well the wait is kept
    LONGEST = 1.2  # s that any system lets one wait

    def __init__(self) -> None:
        self.wait: float | None = None
        self._character, self._at, self._gap, self._expected = "", -inf, inf, False

    def repeated(self, character: str, at: float) -> bool:
        """Whether the character came by itself; to be asked for each, with its time in seconds."""
        gap = at - self._at if character == self._character else inf
        fast = gap <= self.FASTEST
        if fast and self.FASTEST < self._gap <= self.LONGEST:
            self.wait = self._gap
        elif self._expected and self.FASTEST < gap < inf:
            self.wait = None
        self._expected = not fast and self.wait is not None and abs(gap - self.wait) <= self.NEAR
        self._character, self._at, self._gap = character, at, gap
        return fast or self._expected


class ComputerKeys:
    """Plucks and commands from a terminal, in a `with` block; without a terminal nothing is ever typed.

    `poll` is to be called some fifty times a second, from one thread, by the main loop: it may wait on its behalf.
    """

    def __init__(
        self,
        player: Player,
        plucking: bool = True,
        channel: int = 0,
        hold: float = HOLD,
        stream: IO[str] | Typed | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._player, self._plucking, self._channel, self._hold, self._clock = player, plucking, channel, hold, clock
        self._typed = stream if isinstance(stream, Typed) else typed(stream or sys.stdin)
        self._repeats = Repeats()
        self._due: dict[int, float] = {}  # when each key that is down comes up
        self._latest = -1  # the key that the last character plucked
        self._pedal = False
        self.lowest, self.velocity = 48, 100

    def __enter__(self) -> ComputerKeys:
        self._typed.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._typed.__exit__()
        self.release()

    @property
    def live(self) -> bool:
        """Somebody can type."""
        return self._typed.live

    @property
    def hint(self) -> str:
        """One line for the panel: the state of the keys, and how to learn more."""
        if not self.live:
            return ""
        keys = f"keys from {key_to_note(self.lowest)}, velocity {self.velocity}" if self._plucking else ""
        parts = [keys, "pedal down" if self._pedal else "", hint()]
        return ", ".join(part for part in parts if part)

    def poll(self, wait: float = 0.0) -> list[Command]:
        """Play what was typed and return what was asked for; wait up to `wait` seconds if nothing was."""
        if self._due:
            wait = max(min(wait, min(self._due.values()) - self._clock()), 0.0)
        commands = []
        for character in self._typed.take(wait).lower():
            command = self._obey(character, self._clock())
            commands += [] if command is None else [command]
        self._let_go(self._clock())
        return commands

    def _obey(self, character: str, at: float) -> Command | None:
        if self._repeats.repeated(character, at):
            if self._latest in self._due:
                self._due[self._latest] = max(self._due[self._latest], at + STILL)
            return None
        self._let_go(at)  # before a new pluck of the same string
        self._latest = -1
        command = COMMANDS.get(character)
        if command is Command.SILENCE:
            self.silence()
        elif command is None and self._plucking:
            self._play(character, at)
        return command

    def _play(self, character: str, at: float) -> None:
        if character in PIANO:
            self._pluck(self.lowest + PIANO.index(character), at)
        elif character in OCTAVES:
            self.lowest = min(max(self.lowest + (12 if character == OCTAVES[1] else -12), LOWEST), HIGHEST)
        elif character in LOUDNESS:
            tens = self.velocity // 10 + 1 if character == LOUDNESS[1] else -(-self.velocity // 10) - 1
            self.velocity = min(max(10 * tens, 10), 127)
        elif character == PEDAL:
            self._set_pedal(not self._pedal)

    def _pluck(self, key: int, at: float) -> None:
        """Begin a note; Ctrl-C may interrupt anywhere, so its end is noted first."""
        if key <= 127:
            # Longer than the wait before a held key speaks up again, or the note would end in between.
            self._due[key] = at + max(self._hold, (self._repeats.wait or 0.0) + STILL)
            self._latest = key
            self._send(midi.NOTE_ON, key, self.velocity)

    def _let_go(self, at: float) -> None:
        for key in [key for key, due in self._due.items() if due <= at]:
            self._send(midi.NOTE_OFF, key, 64)
            del self._due[key]

    def _set_pedal(self, down: bool) -> None:
        self._pedal |= down
        self._send(midi.CONTROL, midi.SUSTAIN, 127 * down)
        self._pedal = down

    def release(self) -> None:
        """Let every key and the pedal up."""
        self._let_go(inf)
        if self._pedal:
            self._set_pedal(False)

    def silence(self) -> None:
        """End all sound, on every channel."""
        self.release()
        for channel in range(midi.CHANNELS):
            self._player.send([midi.CONTROL | channel, midi.ALL_SOUND_OFF, 0])

    def _send(self, status: int, first: int, second: int) -> None:
        self._player.send([status | self._channel, first, second])
