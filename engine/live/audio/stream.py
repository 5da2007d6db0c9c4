"""The way out: a PortAudio stream whose thread calls compiled code only.

Callback and what it is told are plain addresses: no Python is wrapped around.
"""

from __future__ import annotations

import atexit
from typing import Any

import numpy as np

from engine.live.audio.cards import Card, refused
from engine.live.audio.libportaudio import OutputStream, PortAudioError
from engine.live.audio.portaudio import JACK, Errand, give_up, leave, library, quiet
from engine.live.player import Player

PATIENCE = 2.0  # s in which a living card closes


class Stream:
    """A player's sound on one card: exactly its samples, float32, in blocks of `block_size`.

    `latency` is "low" or "high", as the card defines it, or seconds; a sound server may have its own mind.
    """

    def __init__(self, player: Player, card: Card, block_size: int, latency: str | float = "low") -> None:
        from engine.live.thread import callback  # compiles, or loads from the cache

        audio: Any = callback.audio
        self.card, self._player = card, player
        self._post = np.array([player.address], np.int64)  # whom the callback plays
        portaudio = library()
        try:
            with quiet():
                self._output: OutputStream | None = portaudio.open_output(
                    card.index,
                    player.channels,
                    player.sample_rate,
                    block_size,
                    {"low": card.low, "high": card.high}.get(str(latency), latency),  # type: ignore[arg-type]
                    audio.address,
                    self._post.ctypes.data,
                )
        except PortAudioError as error:
            raise refused(error, card) from None
        self._alive, self._running = (player, self._post, audio), False
        self._latency = self._output.latency

    @property
    def latency(self) -> float:
        """Seconds from a block's computation to its sound, as the card reports them."""
        return self._latency

    @property
    def active(self) -> bool:
        """Whether the card is asking for sound. Our callback never ends a stream: if it is not active, it is lost."""
        output = self._output
        try:
            return output is not None and output.active
        except PortAudioError:
            return False

    @property
    def cpu_load(self) -> float:
        """The share of its time that PortAudio's thread works."""
        output = self._output
        return output.cpu_load if output is not None and self.active else 0.0

    def start(self) -> None:
        """Let sound begin."""
        self._player.pause_over(self.latency)
        atexit.register(self.close)  # compiled code must not be called while the interpreter takes itself apart
        self._running = True
        try:
            with quiet():
                self._start()
        except PortAudioError as error:
            raise refused(error, self.card) from None

    def _start(self) -> None:
        output = self._output
        assert output is not None, "closed"
        # ALSA is the only one where the program has to ask that its audio thread comes before all others.
        hurried = self.card.host_api == "ALSA" and output.come_first(True)
        try:
            output.start()
        except PortAudioError:
            if not hurried:
                raise
            output.come_first(False)  # it is not permitted, and some PortAudio minds
            output.start()

    def stop(self) -> None:
        """Play what is computed, then be silent until start()."""
        output = self._output
        if output is not None and self.active:
            self._running = not Errand(output.stop).done(PATIENCE)

    def close(self, lost: bool = False) -> None:
        """End the stream, and PortAudio; one that is `lost`, or does not end, is left behind with all that it uses."""
        atexit.unregister(self.close)
        lost |= self._running and not self.active
        output, self._output = self._output, None
        if output is None:
            return
        on_jack = self.card.host_api.startswith(JACK)
        if (on_jack and lost) or not Errand(output.close).done(PATIENCE):
            # Should it come to life again, with a server that was only asleep, it will play for nobody.
            nobody = Player(self._player.sample_rate, self._player.block_size, self._player.channels)
            self._post[0] = nobody.address
            give_up(nobody, *self._alive)
        leave(jack_lives=on_jack)
