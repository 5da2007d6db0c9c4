"""What a page calls besides what all hosts do: frames as they are heard from its loudspeakers, with pictures taken."""

from __future__ import annotations

from typing import Any

from engine.compiled import INT, POINTER, address_of, singles
from engine.export.doors import DOORS
from engine.export.memory import exported
from engine.opened import address
from engine.synth.capture import play_watched
from engine.synth.memory import MIXED
from engine.synth.output import limit_block


def perform(memory: Any, frames: Any, left: Any, right: Any) -> None:
    """The next frames, limited as live play is, with pictures taken while somebody watches."""
    where = address_of(memory)
    p = exported(where)
    both, one, other = p.both, singles(address_of(left), frames), singles(address_of(right), frames)
    pictures = where + p.pictures if p.pictures else 0
    done = 0
    while done < frames:
        span = min(MIXED, frames - done)
        play_watched(where + p.desk, pictures, span, address(both))
        limit_block(address(both), span, 2)
        for n in range(span):
            one[done + n], other[done + n] = both[2 * n], both[2 * n + 1]
        done += span


WEB_DOORS = {**DOORS, "jawari_perform": (perform, (POINTER, INT, POINTER, POINTER), None)}
