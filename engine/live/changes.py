"""Another preset while playing: designed in a thread of its own, then handed to the audio thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from textwrap import wrap

from engine.errors import EngineError
from engine.live.player import Player
from engine.synth.instrument import Instrument


@dataclass
class Programs:
    """The presets that programs 0, 1, ... stand for, and how to make an instrument of each."""

    names: Sequence[str]
    make: Callable[[int], Instrument]
    played: int = 0
    wanted: int = 0
    _ready: dict[int, Instrument] = field(default_factory=dict)
    _trouble: list[str] = field(default_factory=list)
    _thread: threading.Thread | None = None

    @property
    def name(self) -> str:
        """The preset that is played."""
        return self.names[self.played]

    def listing(self) -> list[str]:
        """All of them with the number of their program, the one that is played marked."""
        entries = (f"{'*' if n == self.played else ''}{n + 1} {name}" for n, name in enumerate(self.names))
        return wrap("   ".join(entries), 78, break_long_words=False, break_on_hyphens=False)

    def want(self, number: int) -> None:
        """Change to a preset as soon as it is designed; of several wishes the last counts."""
        if 0 <= number < len(self.names):
            self.wanted = number
        else:
            self._trouble.append(f"program {number + 1}: there are {len(self.names)} presets; name more when you start")

    def step(self, by: int) -> None:
        """The next or the previous preset."""
        self.want((self.wanted + by) % len(self.names))

    def tick(self, player: Player, say: Callable[[str], None]) -> None:
        """Begin a design that is wanted, hand over one that is done."""
        while self._trouble:
            say(self._trouble.pop(0))
        busy = self._thread is not None and self._thread.is_alive()
        if self.wanted == self.played:
            self._ready.clear()
        elif self.wanted in self._ready:
            if player.change(self._ready[self.wanted]):
                self.played = self.wanted
                self._ready.clear()
                say(f"{self.name}: playing")
        elif not busy:
            say(f"{self.names[self.wanted]}: being designed")
            self._thread = threading.Thread(target=self._design, args=(self.wanted,), daemon=True)
            self._thread.start()

    def _design(self, number: int) -> None:
        try:
            self._ready[number] = self.make(number)
        except EngineError as error:
            self._trouble.append(f"{self.names[number]}: {error}")
            if self.wanted == number:
                self.wanted = self.played


@dataclass
class Selector:
    """Program change and bank select, from the messages that were obeyed."""

    banks: dict[int, int] = field(default_factory=dict)

    def program(self, message: int) -> int | None:
        """The program a message asks for, if it is one that does."""
        status, channel, first, second = message & 0xF0, message & 0x0F, message >> 8 & 0x7F, message >> 16 & 0x7F
        bank = self.banks.get(channel, 0)
        if status == 0xB0 and first == 0:
            self.banks[channel] = bank & 0x7F | second << 7
        elif status == 0xB0 and first == 32:
            self.banks[channel] = bank & ~0x7F | second
        elif status == 0xC0:
            return bank << 7 | first
        return None
