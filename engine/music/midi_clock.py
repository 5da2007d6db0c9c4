"""MIDI's clock, 24 ticks a beat: when each beat is, while another machine says so.

A tick comes when it can, late by its cable and by its sender's moods; a straight line through the last beat of them
tells when later beats are due. One that is far from the line means that the tempo has jumped.
"""

from __future__ import annotations

from collections import deque

from engine import messages as midi

TICKS = 24  # a beat
REMEMBERED = TICKS  # ticks that the line goes through
SUDDEN, CHANCE = 0.25, 3e6  # share of a tick, and ns, that a tick must be off for it
GAP = 2.5  # ticks without one after which a start waits for the next
PAUSE = 1_000_000_000  # ns without a tick after which the line begins anew; a beat lasts a minute at most then


class MidiClock:
    """Follows what comes in, stamped in ns. Beats count from a start on, or from where `join` says."""

    def __init__(self, beat: float) -> None:
        """`beat` is how long one is thought to last before two ticks have come, ns."""
        self.running = False
        self.starts = 0  # how often a start has come
        self.heard = 0  # ticks in a row
        self._count = 0  # ticks so far
        self._zero = 0.0  # the tick of beat 0
        self._stopped = 0.0  # ticks after beat 0, when it was stopped
        self._last = 0  # ns
        self._ticks: deque[tuple[int, int]] = deque(maxlen=REMEMBERED)
        self._line = (0.0, 0.0, beat / TICKS)  # a tick, its ns, ns a tick

    @property
    def placed(self) -> bool:
        """Whether it is known when beats are."""
        return bool(self._ticks)

    @property
    def beat(self) -> float:
        """How long one lasts, ns."""
        return TICKS * self._line[2]

    def join(self, beat: float) -> None:
        """The last tick that came was at this beat: a clock that was running before anybody listened."""
        self.running, self._zero = True, self._count - 1 - TICKS * beat

    def hear(self, at: int, status: int) -> None:
        """A message of the clock that came at this time."""
        if status == midi.CLOCK:
            self._tick(at)
        elif status == midi.START or (status == midi.CONTINUE and not self.running):
            self.running, self.starts = True, self.starts + (status == midi.START)
            # The tick that follows is beat 0, or that on which it was stopped.
            self._zero = self._count - (0.0 if status == midi.START else self._stopped)
            if at - self._last > GAP * self._line[2]:  # nobody knows when that will be
                self._ticks.clear()
        elif status == midi.STOP and self.running:
            self.running, self._stopped = False, self._count - self._zero

    def _tick(self, at: int) -> None:
        if at - self._last > PAUSE:
            if self.running and self._ticks:  # its beats have gone on meanwhile
                self._zero = self._count - TICKS * self.beat_at(at)
            self._ticks.clear()
            self.heard = 0
        self.heard += 1
        count, due, each = self._line
        if self._ticks and abs(at - due - (self._count - count) * each) > max(SUDDEN * each, CHANCE):
            self._ticks = deque([self._ticks[-1]], REMEMBERED)
        self._ticks.append((self._count, at))
        self._count, self._last = self._count + 1, at
        self._line = self._fitted()

    def _fitted(self) -> tuple[float, float, float]:
        """Least squares through the ticks; through one alone, as fast as before."""
        n = len(self._ticks)
        first, began = self._ticks[0]
        mean, at = (n - 1) / 2.0, sum(time - began for _, time in self._ticks) / n
        if n == 1:
            return float(first), float(began), self._line[2]
        across = sum((i - mean) * (time - began) for i, (_, time) in enumerate(self._ticks))
        return first + mean, began + at, across * 12.0 / (n * (n * n - 1.0))

    def time_of(self, beat: float) -> float:
        """ns of a beat."""
        tick, at, each = self._line
        return at + (self._zero + TICKS * beat - tick) * each

    def beat_at(self, time: float) -> float:
        """The beat at a time, ns."""
        tick, at, each = self._line
        return (tick + (time - at) / each - self._zero) / TICKS

    def alive(self, time: int) -> bool:
        """Whether ticks come."""
        return bool(self._ticks) and time - self._last <= PAUSE
