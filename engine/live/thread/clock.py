"""The sound card's clock, found behind the moments at which its blocks begin.

A block never begins before the card asks for it, only later: by a slow wake-up, or by others of the same burst. So the
earliest of a window of blocks tells the time, and a straight line through such times is the card's clock. Measured from
that line every event is placed the same time after its arrival, and one block after is always soon enough: who misses
a block came after the line said that it was due.
"""

from __future__ import annotations

from math import floor
from typing import Any

from engine.compiled import native
from engine.live.thread.fields import *

WINDOW = 32  # blocks
TRUSTED = 3  # windows that the nominal sample rate is worth to begin with
MEMORY = 48  # windows
MOST_DRIFT = 0.01  # by which a sound card's clock may be wrong


@native
def follow(x: Any, w: Any, gauges: Any, begun: Any, frames: Any) -> Any:
    """Bring W_NEXT to the time when the block was due, and return by how many ns it is late."""
    if x[X_ORIGIN] == 0:
        x[X_ORIGIN], x[X_WINDOWS], x[X_FRESH] = begun, 0, 1
        w[W_NEXT], w[W_FRAME] = 0.0, w[W_NOMINAL]
        open_window(x, w)
    arrived, period = float(begun - x[X_ORIGIN]), frames * w[W_FRAME]
    late = arrived - w[W_NEXT]
    lost = late > max(w[W_SLACK], period)
    if lost or (x[X_FRESH] and late < 0.0):  # the line begins anew, or began with a block that was late itself
        w[W_NEXT], w[W_EARLIEST], x[X_FRESH] = arrived, 0.0, 1
        w[W_MOVED] += late
    w[W_EARLIEST] = min(w[W_EARLIEST], arrived - w[W_NEXT])
    x[X_SEEN] += 1
    x[X_SPAN] += frames
    if x[X_SEEN] == WINDOW:
        close_window(x, w, gauges)
        open_window(x, w)
    return int(late)


@native
def open_window(x: Any, w: Any) -> None:
    x[X_SEEN], x[X_SPAN] = 0, 0
    w[W_EARLIEST], w[W_MOVED] = 1e300, 0.0


@native
def close_window(x: Any, w: Any, gauges: Any) -> None:
    """Count the blocks that were lost, and bend the line towards the earliest.

    What is lost moves the line for good: a block that is only late is followed by others that catch up. The fit's
    memory grows, then fades (E. Brookner, "Tracking and Kalman Filtering Made Easy", 1998: growing-memory g-h filter).
    """
    earliest, period = w[W_EARLIEST], x[X_SPAN] * w[W_FRAME] / WINDOW
    unheard = max(floor(earliest / period + 0.25), 0.0) * period  # within the slack, but all blocks are late since
    if x[X_WINDOWS] > 0:  # a stream that starts by fits loses nothing
        gauges[Q_LOST] += max(int((w[W_MOVED] + unheard) / period + 0.5), 0)
    if x[X_FRESH] or unheard > 0.0 or earliest < -0.5 * period:
        w[W_NEXT] += earliest
        x[X_WINDOWS], x[X_FRESH] = max(x[X_WINDOWS], TRUSTED), 0
        return
    x[X_WINDOWS] = n = min(x[X_WINDOWS] + 1, MEMORY)
    w[W_NEXT] += 2.0 * (2.0 * n - 1.0) / (n * (n + 1.0)) * earliest
    frame = w[W_FRAME] + 6.0 / (n * (n + 1.0)) * earliest / x[X_SPAN]
    w[W_FRAME] = min(max(frame, w[W_NOMINAL] * (1.0 - MOST_DRIFT)), w[W_NOMINAL] * (1.0 + MOST_DRIFT))


@native
def place(x: Any, w: Any, stamp: Any) -> Any:
    """The sample on which an event sounds that came at `stamp`: always the same time later."""
    since = (float(stamp - x[X_ORIGIN]) - w[W_NEXT]) / w[W_FRAME]  # this block was due
    return x[X_CLOCK] + floor(since) + x[X_DELAY]


@native
def advance(x: Any, w: Any, frames: Any) -> None:
    """On to the next block."""
    x[X_CLOCK] += frames
    w[W_NEXT] += frames * w[W_FRAME]
