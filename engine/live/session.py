"""A live session: card, MIDI, keys and display around a player, and the loop that looks after them.

Nothing here is in a hurry: sound and native MIDI go on in threads of their own while this loop sleeps, draws, notices
unplugged devices, and has other presets designed.
"""

from __future__ import annotations

import logging
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from engine.live.cards import Card
from engine.live.changes import Programs, Selector
from engine.live.computer_keys import Command, ComputerKeys, help_lines
from engine.live.demo import Demo
from engine.live.display import Display
from engine.live.meter import Meter, Reading
from engine.live.midi.inputs import Inputs
from engine.live.news import report
from engine.live.player import Player
from engine.live.portaudio import JACK
from engine.live.stream import Stream
from engine.live.take import Take
from engine.live.watch import Watch
from engine.preset.loader import Preset
from engine.rendering.score import Score
from engine.synth.instrument import Instrument
from engine.synth.silence import told

TURN = 0.02  # s: a turn of the loop
LOOK = 0.25  # s from one look at the devices to the next


@dataclass(frozen=True)
class Plan:
    """What is to be played, and with what."""

    presets: Sequence[tuple[str, Callable[[], Preset]]]  # the first is played, the others are its programs
    card: Card
    sample_rate: float
    block_size: int
    channels: int
    latency: float | str
    delay: int | None  # samples from a note's arrival to its sound
    oversample: int | None
    polyphony: int | None
    tuning: str | None
    midi: Sequence[str] | None  # fragments of port names; none given: every input; None: no input at all
    virtual: bool
    listen: Sequence[int]  # MIDI channels, from 0
    keys: bool
    score: Score | None  # of the demo
    seconds: float | None
    take: Path | None
    force: bool

    def instrument(self, number: int) -> Instrument:
        """One of the presets, designed for the card."""
        return Instrument(
            self.presets[number][1](),
            sample_rate=self.sample_rate,
            block_size=self.block_size,
            oversample=self.oversample,
            polyphony=self.polyphony,
            tuning=self.tuning,
            mono=self.channels == 1,
        )


class Session:
    """Opens everything in order, and closes it in the other."""

    def __init__(self, plan: Plan, quiet: bool = False) -> None:
        self._plan = plan
        self._take = Take(plan.take, plan.sample_rate, plan.force) if plan.take else None
        self._player = Player(plan.sample_rate, plan.block_size, plan.channels, plan.delay)
        self._player.listen(plan.listen)
        first = plan.instrument(0)
        self._silent = told(first.silent_keys)
        self._player.change(first)
        self._programs = Programs([name for name, _ in plan.presets], plan.instrument)
        self._selector, self._meter = Selector(), Meter(self._player)
        self._display = Display.for_stream(sys.stdout, quiet)
        self._demo: Demo | None = None
        self._inputs: Inputs | None = None

    def run(self) -> None:
        """Play until somebody quits, the demo is over, or the time is up; report at the end."""
        try:
            self._play()
        finally:
            if self._player.gauges.blocks:
                self._tell_how_it_went()

    def _play(self) -> None:
        with ExitStack() as undo:
            undo.enter_context(self._display)
            undo.enter_context(_heard(lambda text: self._display.say(f"note: {text}", problem=True)))
            if self._silent:
                self._display.say(f"note: {self._silent}")
            if self._plan.midi is not None:
                self._inputs = Inputs(self._player, self._plan.midi, self._plan.virtual, self._display.say)
                undo.callback(self._inputs.close)
            watch = Watch(self._plan.card, self._stream, self._player, self._say_problem, self._part_from_jack)
            undo.callback(watch.close)
            keys = undo.enter_context(ComputerKeys(self._player, self._plan.keys, min(self._plan.listen)))
            if self._plan.keys and not keys.live:
                self._display.say("note: --keys hears nothing: there is no terminal to type in", problem=True)
            if self._plan.score is not None:
                events = self._plan.score.events(self._plan.sample_rate)
                self._demo = Demo(self._player, ((at / self._plan.sample_rate, data) for at, data in events))
            with suppress(KeyboardInterrupt):
                self._loop(watch, keys)

    def _stream(self, card: Card) -> Stream:
        return Stream(self._player, card, self._plan.block_size, self._plan.latency)

    def _part_from_jack(self, card: Card) -> None:
        """JACK's library crashes if a client of a dead server is closed beside a living one's: close before anew."""
        if self._inputs and card.host_api.startswith(JACK):
            self._inputs.pause()

    def _loop(self, watch: Watch, keys: ComputerKeys) -> None:
        began = looked = time.monotonic()
        limit = self._plan.seconds
        while limit is None or time.monotonic() - began < limit:
            if not keys.live:
                time.sleep(TURN)
            if Command.QUIT in [self._obey(command) for command in keys.poll(TURN)]:
                return
            if self._demo:
                self._demo.tick()
                if self._demo.over:
                    return
            self._follow_events()
            self._programs.tick(self._player, self._display.say)
            if time.monotonic() - looked > LOOK:
                looked = time.monotonic()
                if self._inputs:
                    self._inputs.tick(may_begin=not watch.lost)
                watch.tick()
            if self._display.due:
                self._display.show(self._read(watch, keys))

    def _read(self, watch: Watch, keys: ComputerKeys) -> Reading:
        device = "" if watch.lost else str(watch.stream.card)
        return self._meter.read(device, watch.stream.latency, self._inputs.names if self._inputs else (), keys.hint)

    def _obey(self, command: Command) -> Command:
        if command is Command.NEXT:
            self._programs.step(1)
        elif command is Command.PREVIOUS:
            self._programs.step(-1)
        elif command is Command.SILENCE:
            self._demo = None
        elif command is Command.HELP:
            self._display.say("\n".join(help_lines(self._plan.keys)))
        return command

    def _follow_events(self) -> None:
        """Keep what was played, and change the preset if a message asked for another."""
        events = self._player.new_events("session")
        if self._take:
            self._take.add(events)
        for message in events[:, 1].tolist():
            program = self._selector.program(message)
            if program is not None:
                self._programs.want(program)

    def _tell_how_it_went(self) -> None:
        self._follow_events()
        for line in report(self._meter.read()):
            print(line)
        if self._take:
            self._take.write()
            print(f"wrote {self._take.path}; rendered at {self._plan.sample_rate:g} Hz it gives the same samples")

    def _say_problem(self, text: str) -> None:
        self._display.say(text, problem=True)


@contextmanager
def _heard(say: Callable[[str], None]) -> Iterator[None]:
    """What the engine warns of and logs is said above the panel, which it would be written through otherwise."""
    handler = logging.Handler()
    handler.emit = lambda record: say(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("jawari")
    logger.addHandler(handler)
    logger.propagate = False
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: say(str(message))
            yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = True
