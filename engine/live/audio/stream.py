"""The way out: a PortAudio stream whose thread calls compiled code only.

sounddevice opens it in its expert mode: callback and user data are plain addresses, and no Python is wrapped around.
"""

from __future__ import annotations

import atexit
import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.live.audio.cards import Card, refused
from engine.live.audio.portaudio import JACK, Errand, function, give_up, leave, library, quiet
from engine.live.player import Player
from engine.live.thread.fields import PLAYER

PATIENCE = 2.0  # s in which a living card closes


class Stream:
    """A player's sound on one card: exactly its samples, float32, in blocks of `block_size`.

    `latency` is "low" or "high", as the card defines it, or seconds; a sound server may have its own mind.
    """

    def __init__(self, player: Player, card: Card, block_size: int, latency: str | float = "low") -> None:
        from engine.live.thread import callback  # compiles, or loads from the cache

        audio: Any = callback.audio
        self.card, self._player, self._sounddevice = card, player, library()
        self._table = _table_of(player).copy()
        ffi = self._sounddevice._ffi
        try:
            with quiet():
                self._stream: Any = self._sounddevice._StreamBase(
                    kind="output",
                    samplerate=player.sample_rate,
                    blocksize=block_size,
                    device=card.index,
                    channels=player.channels,
                    dtype="float32",
                    latency=latency,
                    callback=ffi.cast("PaStreamCallback*", audio.address),
                    userdata=ffi.cast("void*", int(self._table.ctypes.data)),
                    clip_off=True,  # the player's own ceiling is below full scale
                    dither_off=True,
                )
        except self._sounddevice.PortAudioError as error:
            raise refused(error, card) from None
        self._alive, self._running = (player, self._table, audio), False
        self._latency = float(self._stream.latency)

    @property
    def latency(self) -> float:
        """Seconds from a block's computation to its sound, as the card reports them."""
        return self._latency

    @property
    def active(self) -> bool:
        """Whether the card is asking for sound. Our callback never ends a stream: if it is not active, it is lost."""
        try:
            return self._stream is not None and bool(self._stream.active)
        except self._sounddevice.PortAudioError:
            return False

    @property
    def cpu_load(self) -> float:
        """The share of its time that PortAudio's thread works."""
        return float(self._stream.cpu_load) if self.active else 0.0

    def start(self) -> None:
        """Let sound begin."""
        self._player.pause_over(self.latency)
        atexit.register(self.close)  # compiled code must not be called while the interpreter takes itself apart
        self._running = True
        try:
            with quiet():
                self._start()
        except self._sounddevice.PortAudioError as error:
            raise refused(error, self.card) from None

    def _start(self) -> None:
        hurried = self.card.host_api == "ALSA" and self._ask_for_real_time(1)
        try:
            self._stream.start()
        except self._sounddevice.PortAudioError:
            if not hurried:
                raise
            self._ask_for_real_time(0)  # it is not permitted, and some PortAudio minds
            self._stream.start()

    def _ask_for_real_time(self, wish: int) -> bool:
        """ALSA is the only one where the program has to ask that its audio thread comes before all others."""
        ask = function("PaAlsa_EnableRealtimeScheduling")
        address = int(self._sounddevice._ffi.cast("intptr_t", self._stream._ptr))
        return ask is not None and ask(ctypes.c_void_p(address), ctypes.c_int(wish)) == 0

    def stop(self) -> None:
        """Play what is computed, then be silent until start()."""
        if self.active:
            self._running = not Errand(self._stream.stop).done(PATIENCE)

    def close(self, lost: bool = False) -> None:
        """End the stream, and PortAudio; one that is `lost`, or does not end, is left behind with all that it uses."""
        atexit.unregister(self.close)
        lost |= self._running and not self.active
        stream, self._stream = self._stream, None
        if stream is None:
            return
        on_jack = self.card.host_api.startswith(JACK)
        if (on_jack and lost) or not Errand(stream.close).done(PATIENCE):
            # Should it come to life again, with a server that was only asleep, it will play for nobody.
            nobody = Player(self._player.sample_rate, self._player.block_size, self._player.channels)
            self._table[:] = _table_of(nobody)
            give_up(stream, nobody, *self._alive)
        leave(jack_lives=on_jack)


def _table_of(player: Player) -> NDArray[np.int64]:
    return np.ctypeslib.as_array((ctypes.c_int64 * PLAYER).from_address(player.address))
