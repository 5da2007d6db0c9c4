"""The phrases of presets on the shelf, rendered piece by piece as the page plays them: the first is heard at once."""

from __future__ import annotations

import base64
import threading
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import numpy as np

from engine.edit import shelf
from engine.music.sources import phrase
from engine.offline.job import Manner, make_player
from engine.offline.stream import stream

RATE, BLOCK = 44_100, 1024
FIRST, PIECE = 0.25, 1.0  # s
LONGEST, TAIL = 20.0, 1.0  # s that is heard of a preset, and after its last note
KEPT = 4  # presets


class Phrase:
    """One, as far as it has been rendered."""

    def __init__(self, name: str) -> None:
        self._pieces: list[str] = []
        self._rest = _rendered(name)
        self._ended = False

    def piece(self, at: int) -> dict[str, Any]:
        """A piece as base64 of int16, in turns left and right; and whether it is the last one."""
        while len(self._pieces) <= at + 1 and not self._ended:  # the next one tells whether this is the last
            sound = next(self._rest, None)
            self._ended = sound is None
            if sound is not None:
                self._pieces.append(base64.b64encode(sound.tobytes()).decode())
        last = self._ended and at + 1 >= len(self._pieces)
        return {"sound": self._pieces[at] if at < len(self._pieces) else "", "rate": RATE, "last": last}


class Phrases:
    """Those that were heard last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, int], Phrase] = OrderedDict()
        self._rendering = threading.Lock()

    def piece(self, name: str, at: int) -> dict[str, Any]:
        """A piece of a preset's phrase; what was saved anew in the meantime is rendered anew."""
        with self._rendering:
            key = name, shelf.find(name).stat().st_mtime_ns
            if key not in self._kept:
                self._kept[key] = Phrase(name)
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return self._kept[key].piece(at)


def _rendered(name: str) -> Iterator[Any]:
    preset = shelf.loaded(shelf.find(name))
    score = phrase(preset)
    player = make_player(preset, Manner(RATE, BLOCK, None, None, None, False, score.strings))
    parts, size, total = [], 0, 0
    for block in stream(player, score, TAIL):
        parts.append((np.clip(block, -1.0, 1.0) * 32767.0).astype(np.int16))
        size += len(block)
        if size >= (PIECE if total else FIRST) * RATE:
            total += size
            yield np.concatenate(parts)
            parts, size = [], 0
        if total > LONGEST * RATE:
            return
    if parts:
        yield np.concatenate(parts)
