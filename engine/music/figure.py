"""What a drone plays: strokes at their beats become notes at their moments, in order, for hours without drift.

Whoever plays says when a beat is: offline by the tempo in seconds, live by the card's samples or by a MIDI clock. The
same strokes come at the same beats, so what is played live is what is rendered, sample by sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush

from engine import messages as midi
from engine.music.errors import ScoreError
from engine.music.score import Score, score_of_rows
from engine.preset.complaints import shown
from engine.preset.drone import Drone
from engine.preset.files import shipped
from engine.preset.loader import Preset, load_preset
from engine.preset.rack import Rack
from engine.synth.shaping import Shaped

String = tuple[int, int]  # channel, key
Place = Callable[[float, float], float]  # the moment of a beat, and so many seconds later
FIRST = (0,)
Sent = tuple[float, tuple[int, int, int]]  # moment, bytes


class Figure:
    """Strokes of a drone, from the first one on, handed out as they fall due.

    An instrument has a string for each key of each channel, so strings of one pitch are on channels of their own.
    """

    def __init__(self, drone: Drone, channels: Sequence[int] = FIRST) -> None:
        self.drone, self._channels = drone, channels
        self._number = 0  # of strokes so far
        self._waiting: list[tuple[float, int, int, String, int]] = []  # moment, stroke, place in it, string, velocity
        self._held: set[String] = set()

    def due(self, place: Place, until: float) -> Iterator[Sent]:
        """What falls due before a moment. A key that is still held is let go as it is struck again."""
        while place(self.drone.begins(self._number), -self.drone.loose) < until:
            self._queue(place)
        while self._waiting and self._waiting[0][0] < until:
            moment, _, _, (channel, key), velocity = heappop(self._waiting)
            if (channel, key) in self._held:
                yield moment, (midi.NOTE_OFF | channel, key, 64)
            self._held.add((channel, key))
            yield moment, (midi.NOTE_ON | channel, key, velocity)

    def _queue(self, place: Place) -> None:
        stroke = self.drone.order[self._number % len(self.drone.order)]
        beat, late = self.drone.begins(self._number), self.drone.loose * _uneven(self._number)
        for n, key in enumerate(stroke.keys):
            velocity = self.drone.velocity if stroke.velocity is None else stroke.velocity
            moment = max(place(beat, late + n * self.drone.spread), place(0.0, 0.0))  # nothing before the beginning
            one = stroke.strings[n] if stroke.strings else 0
            channel = self._channels[min(one, len(self._channels) - 1)]
            heappush(self._waiting, (moment, self._number, n, (channel, key), velocity))
        self._number += 1

    def let_go(self) -> list[tuple[int, int, int]]:
        """The messages that let go what is held."""
        held, self._held = sorted(self._held), set()
        return [(midi.NOTE_OFF | channel, key, 64) for channel, key in held]

    def take_back(self) -> None:
        """Strokes that have been placed and not handed out are to be placed anew."""
        self._number = min((stroke for _, stroke, *_ in self._waiting), default=self._number)
        self._waiting = []

    def rewind(self) -> None:
        """Back to the first stroke."""
        self._number, self._waiting = 0, []


def _uneven(number: int) -> float:
    """-1 to 1, the same for the same stroke: a hash (splitmix64, Steele, Lea and Flood 2014) in place of chance."""
    word = (number + 1) * 0x9E3779B97F4A7C15 % 2**64
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        word = (word ^ word >> shift) * factor % 2**64
    return (word ^ word >> 31) / 2.0**63 - 1.0


def by_tempo(drone: Drone) -> Place:
    """Seconds of a beat by the drone's own tempo."""
    return lambda beat, more: beat * 60.0 / drone.tempo + more


def score_of_drone(drone: Drone, seconds: float, channels: Sequence[int] = FIRST) -> Score:
    """So much of it; what sounds at the end is let go."""
    figure = Figure(drone, channels)
    found = list(figure.due(by_tempo(drone), seconds))
    found += [(seconds, data) for data in figure.let_go()]
    return score_of_rows([at for at, _ in found], [data for _, data in found])


def drone_of(preset: Preset | Rack | Shaped) -> tuple[Drone, tuple[int, ...]]:
    """The drone of a preset, or of the first part of a rack that has one; and the channels that it may be played on."""
    if isinstance(preset, Rack):
        for number, part in enumerate(preset.parts):
            if part.preset.drone and number in preset.routes:
                return part.preset.drone, tuple(c for c, routed in enumerate(preset.routes) if routed == number)
    elif isinstance(preset, Preset) and preset.drone:
        return preset.drone, tuple(range(midi.CHANNELS))
    having = ", ".join(name for name in shipped() if load_preset(name).drone) or "none"
    example = "drone: {order: [G2, C3, C3, C2]}"
    name = shown(preset.parts[max(preset.routes[0], 0)].preset.name if isinstance(preset, Rack) else preset.name)
    raise ScoreError(f"{name} has no drone to play; add {example}, or take a preset that has one (shipped: {having})")
