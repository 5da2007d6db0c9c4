"""Programs while playing: an instrument that is asked for is designed in a thread of its own, then joins the others.

The audio thread does the rest: who changes to an instrument that is there changes on that very sample, who has to wait
for it changes when it has come.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from textwrap import wrap

from engine import messages as midi
from engine.errors import EngineError
from engine.live.player import Player
from engine.synth.instrument import Instrument
from engine.synth.memory import CHANNELS


@dataclass
class Programs:
    """The presets that programs stand for (from 0), and how to make an instrument of a part."""

    player: Player
    names: Mapping[int, str]
    make: Callable[[int], Instrument]
    _asked: int = 0
    _wanted: int | None = None  # what the terminal's keys have asked for last
    _failed: set[int] = field(default_factory=set)
    _ready: dict[int, Instrument] = field(default_factory=dict)
    _trouble: list[str] = field(default_factory=list)
    _thread: threading.Thread | None = None

    def listing(self) -> list[str]:
        """All of them with their numbers, the one that is played or coming marked."""
        numbers = sorted(self.names)
        now = self._now(numbers) if numbers else None
        entries = (f"{'*' if n == now else ''}{n + 1} {self.names[n]}" for n in numbers)
        return wrap("   ".join(entries), 78, break_long_words=False, break_on_hyphens=False)

    def step(self, by: int) -> None:
        """The next or the previous program, on all channels."""
        numbers = sorted(self.names)
        if not numbers:
            self._trouble.append("there are no programs to choose from; name presets when you start")
            return
        self._wanted = numbers[(numbers.index(self._now(numbers)) + by) % len(numbers)]
        for channel in range(CHANNELS):
            for number, value in ((midi.BANK, self._wanted >> 14), (midi.BANK_FINE, self._wanted >> 7 & 0x7F)):
                if max(self.names) > 0x7F:
                    self.player.send([midi.CONTROL | channel, number, value])
            self.player.send([midi.PROGRAM | channel, self._wanted & 0x7F])

    def _now(self, numbers: list[int]) -> int:
        """The program from which one steps on: the one that is coming, or that is played."""
        if self._wanted in self.player.wishes():
            return self._wanted  # type: ignore[return-value]
        latest = int(self.player.seats.desk.latest)
        return next((n for n in numbers if self.player.seats.desk.programs[n] == latest), numbers[0])

    def tick(self, say: Callable[[str], None]) -> None:
        """Begin a design that is wanted, hand over one that is done."""
        self._listen()
        while self._trouble:
            say(self._trouble.pop(0))
        for number in list(self._ready):
            chosen = number in self.player.wishes()  # not, if another was asked for meanwhile
            self.player.put_on(int(self.player.seats.desk.programs[number]), self._ready.pop(number))
            say(f"{self.names[number]}: {'playing' if chosen else 'ready'}")
        busy = self._thread is not None and self._thread.is_alive()
        wanted = [n for n, part in self.player.wishes().items() if not self.player.has(part) and n not in self._failed]
        if wanted and not busy and not self._ready:
            say(f"{self.names[wanted[0]]}: being designed")
            self._thread = threading.Thread(target=self._design, args=(wanted[0],), daemon=True)
            self._thread.start()

    def _listen(self) -> None:
        """Find out what was asked for: what failed before is tried again, and what nobody knows is told."""
        asked, unknown = self.player.wished
        if asked != self._asked:
            self._asked = asked
            self._failed.clear()
            if unknown >= 0:
                known = f"there are {len(self.names)} presets; name more when you start"
                self._trouble.append(f"program {unknown + 1}: {known}")
                self.player.forget_unknown()

    def _design(self, number: int) -> None:
        try:
            self._ready[number] = self.make(int(self.player.seats.desk.programs[number]))
        except EngineError as error:
            self._failed.add(number)
            self._trouble.append(f"{self.names[number]}: {error}")
