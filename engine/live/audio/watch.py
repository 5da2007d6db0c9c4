"""Looks after the stream: notices that sound has stopped, and brings it back when there is a card to play on.

A cable pulled out, a sound server that ended or began again, a computer that slept: here they are all the same.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress

from engine import messages as midi
from engine.compiled import now
from engine.errors import EngineError
from engine.live.audio.cards import Card, cards, default_of
from engine.live.audio.portaudio import Errand, rest
from engine.live.audio.stream import Stream
from engine.live.player import Player

SECOND = 1_000_000_000  # ns
SILENT = SECOND  # without a block: the stream is lost
SLOW_START = 5 * SECOND  # until a card's first block
TICKS = 3  # that must have seen no block: after a pause of the whole program the blocks come late as well
AGAIN = SECOND  # from one attempt to the next
LOYAL = 3 * SECOND  # during which the lost card is awaited before another one is taken
STUCK = 10 * SECOND  # of one attempt, after which somebody should be told
ENDS = tuple(
    (midi.CONTROL | channel, number, 0)
    for number in (*midi.HOLDING_PEDALS, midi.ALL_NOTES_OFF)
    for channel in range(midi.CHANNELS)
)


class Watch:
    """Keeps a player heard. `tick` it about four times a second; it says one line at each change.

    `open_stream` makes a stream on a card, which is started here. The first one is opened at once: its errors are the
    caller's. Whatever happens later is waited for; `before_search` is told which card was lost, before one is sought.
    """

    def __init__(
        self,
        card: Card,
        open_stream: Callable[[Card], Stream],
        player: Player,
        say: Callable[[str], None],
        before_search: Callable[[Card], None] = lambda card: None,
    ) -> None:
        self._before_search = before_search
        self._wanted, self._open, self._player, self._say = card, open_stream, player, say
        self._longest = max(SILENT, round(3 * SECOND * player.block_size / player.sample_rate))
        self._search: Errand[Stream | None] | None = None
        self._lost_at, self._tried_at, self._said, self._ended = 0, 0, "", False
        self.stream = open_stream(card)
        self.stream.start()
        self._begin_to_listen()

    @property
    def lost(self) -> bool:
        """Whether there is no sound just now."""
        return self._search is not None

    def tick(self) -> None:
        """Look whether sound still comes, or whether it is back. Never raises, never waits."""
        try:
            if self._search is None:
                self._listen()
            else:
                self._ask(self._search)
        except Exception:
            logging.getLogger("jawari").debug("looking after the stream", exc_info=True)

    def close(self) -> None:
        """End the stream, or the search for one."""
        self._ended = True
        if self._search is not None and self._search.done(wait=2.0):
            with suppress(Exception):
                self.stream = self._search.answer() or self.stream
        self.stream.close()

    def _begin_to_listen(self) -> None:
        self._search = None
        self._blocks, self._moved_at, self._still, self._allowed = self._player.gauges.blocks, now(), 0, SLOW_START

    def _listen(self) -> None:
        blocks = self._player.gauges.blocks
        if blocks != self._blocks:
            self._blocks, self._moved_at, self._still, self._allowed = blocks, now(), 0, self._longest
        else:
            self._still += 1
        silent = self._still >= TICKS and now() - self._moved_at > self._allowed
        if silent or not self.stream.active:
            self._lose()

    def _lose(self) -> None:
        for message in ENDS:  # obeyed when sound is back: keys may have been let go meanwhile, unheard
            self._player.send(message)
        self._lost_at, self._said = now(), ""
        self._before_search(self.stream.card)
        self._try()
        self._tell(f"no sound from {self.stream.card} any more; waiting for it")

    def _try(self) -> None:
        self._tried_at, self._search = now(), Errand(self._seek)

    def _seek(self) -> Stream | None:
        """A stream on the card that was lost, or later on another one; None if there is none yet.

        PortAudio is at rest between attempts, so that no server can die while it is connected with it.
        """
        self.stream.close(lost=True)
        with ExitStack() as undo:
            undo.callback(rest)
            card = self._find(cards())
            if card is None or self._ended:
                return None
            stream = self._open(card)
            undo.callback(stream.close)
            stream.start()
            undo.pop_all()
            return stream

    def _find(self, found: Sequence[Card]) -> Card | None:
        same = [card for card in found if (card.name, card.host_api) == (self._wanted.name, self._wanted.host_api)]
        if same:
            return same[0]
        return default_of(found) if found and now() - self._lost_at > LOYAL else None

    def _ask(self, search: Errand[Stream | None]) -> None:
        """See how far the search is."""
        if not search.done():
            if now() - self._tried_at > STUCK:
                self._tell("the sound system does not answer; waiting for it")
            return
        try:
            stream = search.answer()
        except EngineError as error:
            self._tell(str(error))
            stream = None
        except Exception:
            logging.getLogger("jawari").debug("looking for a card", exc_info=True)
            stream = None
        if stream is not None:
            self.stream = stream
            self._begin_to_listen()
            self._tell(f"sound again, from {stream.card}")
        elif now() - self._tried_at > AGAIN:
            self._try()

    def _tell(self, text: str) -> None:
        if text != self._said:
            self._said = text
            self._say(text)
