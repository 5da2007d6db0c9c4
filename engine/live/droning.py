"""A drone played live: on exact samples by its own tempo, or by the MIDI clock of another machine once one comes in.

Strokes are sent ahead of their time, so a busy interpreter does not make them stumble: half a second by the own tempo,
little where a clock may be stopped or slowed down.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from engine.compiled import now
from engine.live.ahead import AHEAD, PLAYED, SECOND
from engine.live.player import Player
from engine.music.figure import FIRST, Figure, by_tempo
from engine.music.midi_clock import TICKS, MidiClock
from engine.preset.drone import Drone

EXACT = 2  # the inlet of what is played on exact samples
LEAD = 0.2  # s until it begins
LED_AHEAD = SECOND // 10  # ns, while a clock leads: so long a stroke still comes after a stop
HEARD = TICKS // 2  # ticks until a clock that nobody has started leads


class Droning:
    """Plays a drone while `tick` is called some fifty times a second."""

    def __init__(self, player: Player, drone: Drone, channels: Sequence[int] = FIRST) -> None:
        self._player, self._drone = player, drone
        self._figure, self._place = Figure(drone, channels), by_tempo(drone)
        self._unsent: deque[tuple[int, tuple[int, int, int]]] = deque()  # what an inlet had no room for
        self.start = self._sample + round(LEAD * player.sample_rate)
        self._until = 0.0  # s from the start on: what is sent, while nobody leads
        self._clock, self._inlet, self._led = MidiClock(60.0 * SECOND / drone.tempo), -1, False

    @property
    def _sample(self) -> int:
        return int(self._player.stage.clock.sample)

    @property
    def led(self) -> bool:
        """Whether a clock says when strokes come."""
        return self._led

    def tick(self) -> None:
        """Hear what clocks have sent, and send what is due soon."""
        for inlet, at, status in self._player.new_pulses("drone"):
            if inlet != self._inlet and not self._clock.alive(at):  # one clock leads; another only when it is gone
                self._inlet = inlet
            if inlet == self._inlet:
                self._hear(at, status)
        if self._led:
            self._follow()
        else:
            self._go_on()

    def _go_on(self) -> None:
        rate = self._player.sample_rate
        self._until = (self._sample - self.start) / rate + AHEAD / SECOND
        due = self._figure.due(self._place, self._until)
        self._unsent += ((self.start + round(at * rate), data) for at, data in due)
        while self._unsent and self._player.send_exactly(self._unsent[0][1], self._unsent[0][0], EXACT):
            self._unsent.popleft()

    def _hear(self, at: int, status: int) -> None:
        clock, starts, ran = self._clock, self._clock.starts, self._clock.running
        clock.hear(at, status)
        if clock.starts > starts:
            self._let_go()
            self._figure.rewind()
        elif ran and not clock.running:
            self._let_go()
        elif not clock.running and not self._led and clock.heard == HEARD:
            self._join(clock)
        self._led |= clock.running

    def _join(self, clock: MidiClock) -> None:
        """From the last stroke on that is on its way, beats last as long as the clock's."""
        ahead = self._until - (self._sample - self.start) / self._player.sample_rate
        clock.join(self._until * self._drone.tempo / 60.0 - ahead * SECOND / clock.beat)
        self._figure.take_back()  # placed by samples, so far

    def _let_go(self) -> None:
        """What is held ends, what is due later waits."""
        self._figure.take_back()
        self._unsent.clear()
        for data in self._figure.let_go():
            self._player.send(data, 0, PLAYED)

    def _follow(self) -> None:
        if self._clock.running and self._clock.placed:
            until = now() + LED_AHEAD
            self._unsent += ((round(at), data) for at, data in self._figure.due(self._due, until))
        delay = round(self._player.stage.clock.delay / self._player.sample_rate * SECOND)  # that every event has
        while self._unsent and self._player.send(self._unsent[0][1], self._unsent[0][0] - delay, PLAYED):
            self._unsent.popleft()

    def _due(self, beat: float, more: float) -> float:
        return self._clock.time_of(beat) + SECOND * more
