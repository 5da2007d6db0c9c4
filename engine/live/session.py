"""A live session: card, MIDI, keys and display around a player, and the loop that looks after them.

Nothing here is in a hurry: sound and native MIDI go on in threads of their own while this loop sleeps, draws, notices
unplugged devices, and has other presets designed.
"""

from __future__ import annotations

import logging
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.interrupts import Stopped
from engine.live.ahead import Ahead
from engine.live.audio.cards import Card
from engine.live.audio.locked import lock_memory
from engine.live.audio.portaudio import JACK
from engine.live.audio.stream import Stream
from engine.live.audio.watch import Watch
from engine.live.changes import Programs
from engine.live.droning import Droning
from engine.live.helper import Helper
from engine.live.meter import Meter, Reading
from engine.live.midi.inputs import Inputs
from engine.live.player import Player
from engine.live.recorder import Recorder
from engine.live.screen.computer_keys import ComputerKeys
from engine.live.screen.display import Display
from engine.live.screen.key_table import Command, help_lines
from engine.live.screen.news import report
from engine.music.score import Score
from engine.preset.drone import Drone
from engine.preset.rack import Rack
from engine.synth.ensemble import Seats, design_part
from engine.synth.instrument import Instrument
from engine.synth.silence import told

TURN = 0.02  # s: a turn of the loop
LEAD = 0.2  # s until a demo begins
LOOK = 0.25  # s from one look at the devices to the next


@dataclass(frozen=True)
class Plan:
    """What is to be played, and with what."""

    rack: Rack
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
    drone: tuple[Drone, Sequence[int]] | None  # what plays by itself, and on which channels
    seconds: float | None
    record: Sequence[Path]  # a MIDI file, an audio file, or both
    facts: Mapping[str, Any]  # what is to be remembered with the take
    force: bool
    cores: int = 1  # 2: a second one performs some of the voices

    def instrument(self, number: int) -> Instrument:
        """One of the rack's parts, designed for the card."""
        mono, part = self.channels == 1, self.rack.parts[number]
        return design_part(part, self.sample_rate, self.block_size, self.oversample, self.polyphony, self.tuning, mono)


class Session:
    """Opens everything in order, and closes it in the other."""

    def __init__(self, plan: Plan, quiet: bool = False) -> None:
        self._plan = plan
        seats = Seats.of(plan.rack, plan.sample_rate, plan.channels, plan.oversample)
        self._player = Player(plan.sample_rate, plan.block_size, plan.channels, plan.delay, seats)
        self._player.listen(plan.listen)
        for number in sorted({plan.rack.routes[channel] for channel in plan.listen} - {-1}):
            self._player.put_on(number, plan.instrument(number))
        self._silent = [told(instrument.silent_keys) for instrument in self._player.instruments()]
        names = {program: plan.rack.parts[number].label for program, number in plan.rack.programs.items()}
        self._programs, self._meter = Programs(self._player, names, plan.instrument), Meter(self._player)
        self._display = Display.for_stream(sys.stdout, quiet)
        self._recorder = Recorder(self._player, plan.record, plan.force, dict(plan.facts), self._say_problem)
        self._demo: Ahead | None = None
        self._drone: Droning | None = None
        self._inputs: Inputs | None = None
        self._helper: Helper | None = None

    def run(self) -> None:
        """Play until somebody quits, the demo is over, or the time is up; report when what was recorded is safe."""
        try:
            with self._recorder:
                self._play()
        finally:
            if self._player.gauges.blocks:
                self._tell_how_it_went()
        if self._recorder.error:
            raise self._recorder.error

    def _play(self) -> None:
        with ExitStack() as undo:
            undo.enter_context(self._display)
            undo.enter_context(_heard(lambda text: self._display.say(f"note: {text}", problem=True)))
            for text in filter(None, self._silent):
                self._display.say(f"note: {text}")
            if self._plan.midi is not None:
                self._inputs = Inputs(self._player, self._plan.midi, self._plan.virtual, self._display.say)
                undo.callback(self._inputs.close)
            if self._plan.cores > 1:
                self._helper = Helper(self._player, lambda text: self._display.say(f"note: {text}"))
                undo.callback(self._helper.close)
            watch = Watch(self._plan.card, self._stream, self._player, self._say_problem, self._part_from_jack)
            undo.callback(watch.close)
            keys = undo.enter_context(ComputerKeys(self._player, self._plan.keys, min(self._plan.listen)))
            if self._plan.keys and not keys.live:
                self._display.say("note: --keys hears nothing: there is no terminal to type in", problem=True)
            if self._plan.score is not None:
                self._demo = Ahead(self._player, self._plan.score.events(self._plan.sample_rate), LEAD)
            if self._plan.drone is not None:
                self._drone = Droning(self._player, *self._plan.drone)
            if refusal := lock_memory():
                self._display.say(f"note: {refusal}")
            with suppress(KeyboardInterrupt, Stopped):
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
            if self._drone:
                self._drone.tick()
            self._programs.tick(self._display.say)
            if time.monotonic() - looked > LOOK:
                looked = time.monotonic()
                if self._inputs:
                    self._inputs.tick(may_begin=not watch.lost)
                watch.tick()
                if self._helper:
                    self._helper.tick()
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
            self._demo = self._drone = None
        elif command is Command.LIST:
            self._display.say("\n".join(self._programs.listing()))
        elif command is Command.HELP:
            self._display.say("\n".join(help_lines(self._plan.keys)))
        return command

    def _tell_how_it_went(self) -> None:
        with suppress(OSError, ValueError):  # nobody listens any more
            for line in [*report(self._meter.read()), *self._recorder.said]:
                print(line, flush=True)

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
