"""An editing session: what `jawari play` opens, without its terminal, and the page around it."""

from __future__ import annotations

import os
import sys
import time
import webbrowser
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine import cache
from engine import messages as midi
from engine.edit import frames, guard
from engine.edit.cardless import BLOCK, Cardless
from engine.edit.phrases import Phrases
from engine.edit.requests import Request
from engine.edit.server import Page, Server
from engine.edit.studio import INPUTS, Studio
from engine.interrupts import Stopped
from engine.live.audio.cards import Card
from engine.live.audio.locked import lock_memory
from engine.live.audio.portaudio import JACK
from engine.live.audio.stream import Stream
from engine.live.audio.watch import Watch
from engine.live.helper import Helper
from engine.live.meter import Meter
from engine.live.midi.inputs import Inputs
from engine.live.player import Player
from engine.live.thread.inlet import offer
from engine.synth import decimate
from engine.synth.ensemble import Seats
from engine.terminal import tell

TURN, LOOK = 0.02, 0.25  # s
TOKEN = "edit/token"  # in the cache: a page that is open comes back after a restart


@dataclass(frozen=True)
class Outset:
    """What an editing session is begun with."""

    path: Path  # the preset
    card: Card | None  # None: the page plays
    no_card: str  # why
    sample_rate: float
    block_size: int
    latency: float | str
    midi: Sequence[str] | None
    virtual: bool
    cores: int  # 2: a second one performs some of the voices
    port: int
    browser: bool


class EditSession:
    """Opens everything in order, and closes it in the other."""

    def __init__(self, desk: Outset) -> None:
        self._desk = desk
        block = desk.block_size if desk.card else BLOCK
        channels = 1 if desk.card is not None and desk.card.channels == 1 else 2
        latency = max(decimate.design(desk.sample_rate, factor).latency for factor in decimate.FACTORS)
        self._player = Player(desk.sample_rate, block, channels, None, Seats(channels, latency))
        self._studio = Studio(desk.path, self._player, self._tell)
        self._meter, self._spectrum = Meter(self._player), frames.Spectrum(desk.sample_rate)
        studio = self._studio
        self._server = Server(desk.port, _token(), self._answer, self._hello, self._pictures, studio.come, studio.gone)
        self._device, self._latency = desk.no_card, 0.0
        self._ports: tuple[str, ...] = ()
        self._count, self._phrases = 0, Phrases()
        offer(self._player.inlet(INPUTS), 0, 0, 0)  # compiled or loaded before it matters

    def run(self) -> None:
        """Until somebody ends it."""
        with ExitStack() as undo, suppress(KeyboardInterrupt, Stopped):
            undo.callback(self._studio.close)
            undo.callback(self._server.close)
            watch = self._sound(undo)
            helper = None
            if self._desk.cores > 1 and watch is not None:
                helper = Helper(self._player, self._say)
                undo.callback(helper.close)
            elif self._desk.cores > 1:
                tell("note: no second core: it helps a sound card's thread, and there is none")
            inputs = None
            if self._desk.midi is not None:
                inputs = Inputs(self._player, self._desk.midi, self._desk.virtual, self._say, first=INPUTS)
                undo.callback(inputs.close)
            if refusal := lock_memory():
                tell(f"note: {refusal}")
            self._server.start()
            tell(f"the page is at {self._server.address}")
            tell("Ctrl-C ends it")
            if self._desk.browser and not _opened(self._server.address):
                tell("note: no browser could be opened; open this address in one on this machine")
            self._loop(watch, inputs, helper)

    def _sound(self, undo: ExitStack) -> Watch | None:
        card = self._desk.card
        if card is None:
            cardless = Cardless(
                self._player, lambda sound: self._server.tell(np.float32(frames.SOUND).tobytes() + sound)
            )
            undo.callback(cardless.close)
            cardless.start()
            return None
        before = self._before_search

        def stream(on: Card) -> Stream:
            return Stream(self._player, on, self._desk.block_size, self._desk.latency)

        watch = Watch(card, stream, self._player, self._say, before)
        undo.callback(watch.close)
        return watch

    def _before_search(self, card: Card) -> None:
        if self._inputs is not None and card.host_api.startswith(JACK):
            self._inputs.pause()

    _inputs: Inputs | None = None

    def _loop(self, watch: Watch | None, inputs: Inputs | None, helper: Helper | None) -> None:
        self._inputs, looked = inputs, 0.0
        while True:
            time.sleep(TURN)
            self._studio.takes.tick()
            self._hear_controllers()
            if time.monotonic() - looked > LOOK:
                looked = time.monotonic()
                if inputs is not None:
                    inputs.tick(may_begin=watch is None or not watch.lost)
                    self._ports = tuple(inputs.names)
                if helper is not None:
                    helper.tick()
                if watch is not None:
                    watch.tick()
                    self._device = "" if watch.lost else str(watch.stream.card)
                    self._latency = watch.stream.latency
                self._tell({"event": "around", **self._around()})

    def _hear_controllers(self) -> None:
        """What was played from anywhere: pages show it, and a key that learns takes the first that moves."""
        told: dict[str, Any] = {}
        for _, message in self._player.new_events("edit").tolist():
            kind, channel = midi.kind(message), midi.channel(message)
            first, second = midi.first(message), midi.second(message)
            if kind == midi.CONTROL and first < midi.MODES:
                told.setdefault("controllers", {})[f"{channel}:{first}"] = second
                if first not in midi.PEDALS and first not in (midi.BANK, midi.BANK_FINE, *midi.PARAMETERS):
                    self._studio.moved(first)
            elif kind == midi.WHEEL:
                told.setdefault("bends", {})[str(channel)] = midi.bend(message)
            elif kind == midi.PRESSURE:
                told.setdefault("pressures", {})[str(channel)] = first
            elif midi.begins_note(message) or midi.ends_note(message):
                told.setdefault("notes", []).append([first, second if midi.begins_note(message) else 0])
        if told:
            self._tell({"event": "played", **told})

    # --- for the server, in its thread --------------------------------------------------------------------------------

    def _answer(self, request: Request, page: Page) -> dict[str, Any]:
        if request.word == "sound":
            page.hears = request.fields["on"]
            return {
                "rate": self._player.sample_rate,
                "channels": self._player.channels,
                "block": self._player.block_size,
            }
        if request.word == "hear":
            return self._phrases.piece(**request.fields)
        return self._studio.answer(request, page.number)

    def _hello(self) -> dict[str, Any]:
        return {**self._studio.hello(), "around": self._around()}

    def _around(self) -> dict[str, Any]:
        return {
            "device": self._device,
            "card": self._desk.card is not None,
            "rate": self._player.sample_rate,
            "block": self._player.block_size,
            "latency": self._latency,
            "ports": list(self._ports),
        }

    def _pictures(self) -> list[bytes]:
        self._count += 1
        watcher = self._studio.watcher
        found = [frames.pictures(frames.LOOK, look) for look in watcher.looks()]
        film = watcher.film()
        if film is not None:
            found.append(frames.pictures(frames.FILM, film))
        if self._count % 2 == 0:
            sound = watcher.sound(frames.WINDOW)
            column = None if sound is None else self._spectrum.column(sound)
            loads = frames.loads(self._player.new_blocks("edit"), self._player.sample_rate)
            found.append(frames.meter(self._meter.read(), column, loads))
        return found

    def _say(self, text: str) -> None:
        tell(text)
        self._tell({"event": "said", "text": text})

    def _tell(self, what: dict[str, Any] | bytes) -> None:
        server = getattr(self, "_server", None)
        if server is not None:
            server.tell(what)


def _token() -> str:
    """The user's, so that a page that is open comes back after a restart; a new one where nothing can be kept."""
    kept = cache.read(TOKEN)
    if kept and len(kept) >= 24 and kept.decode("ascii", "replace").isprintable():
        return kept.decode("ascii")
    token = guard.new_token()
    cache.write(TOKEN, token.encode())
    return token


def _opened(address: str) -> bool:
    """Whether a browser took it; without a display there is none that anybody could see."""
    seen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if sys.platform == "linux" and not seen:
        return False
    try:
        return webbrowser.open(address)
    except (OSError, webbrowser.Error):
        return False
