"""The sound card's clock, found behind the moments at which its blocks begin.

A block never begins before the card asks for it, only later: by a slow wake-up, or by others of the same burst. So the
earliest of a window of blocks tells the time, and a straight line through such times is the card's clock. Measured from
that line every event is placed the same time after its arrival, and one block after is always soon enough: who misses
a block came after the line said that it was due.
"""

from __future__ import annotations

from math import floor

from engine.compiled import native
from engine.live.thread.memory import Clock, Gauges

WINDOW = 32  # blocks
TRUSTED = 3  # windows that the nominal sample rate is worth to begin with
MEMORY = 48  # windows
MOST_DRIFT = 0.01  # by which a sound card's clock may be wrong


@native
def follow(c: Clock, gauges: Gauges, begun: int, frames: int) -> int:
    """Bring `next` to the time when the block was due, and return by how many ns it is late."""
    if c.origin == 0:
        c.origin, c.windows, c.fresh = begun, 0, 1
        c.next, c.frame = 0.0, c.nominal
        open_window(c)
    arrived, period = float(begun - c.origin), frames * c.frame
    late = arrived - c.next
    lost = late > max(c.slack, period)
    if lost or (c.fresh and late < 0.0):  # the line begins anew, or began with a block that was late itself
        c.next, c.earliest, c.fresh = arrived, 0.0, 1
        c.moved += late
    c.earliest = min(c.earliest, arrived - c.next)
    c.seen += 1
    c.span += frames
    if c.seen == WINDOW:
        close_window(c, gauges)
        open_window(c)
    return int(late)


@native
def open_window(c: Clock) -> None:
    c.seen, c.span = 0, 0
    c.earliest, c.moved = 1e300, 0.0


@native
def close_window(c: Clock, gauges: Gauges) -> None:
    """Count the blocks that were lost, and bend the line towards the earliest.

    What is lost moves the line for good: a block that is only late is followed by others that catch up. The fit's
    memory grows, then fades (E. Brookner, "Tracking and Kalman Filtering Made Easy", 1998: growing-memory g-h filter).
    """
    earliest, period = c.earliest, c.span * c.frame / WINDOW
    unheard = max(floor(earliest / period + 0.25), 0.0) * period  # within the slack, but all blocks are late since
    if c.windows > 0:  # a stream that starts by fits loses nothing
        gauges.lost += max(int((c.moved + unheard) / period + 0.5), 0)
    if c.fresh or unheard > 0.0 or earliest < -0.5 * period:
        c.next += earliest
        c.windows, c.fresh = max(c.windows, TRUSTED), 0
        return
    c.windows = n = min(c.windows + 1, MEMORY)
    c.next += 2.0 * (2.0 * n - 1.0) / (n * (n + 1.0)) * earliest
    frame = c.frame + 6.0 / (n * (n + 1.0)) * earliest / c.span
    c.frame = min(max(frame, c.nominal * (1.0 - MOST_DRIFT)), c.nominal * (1.0 + MOST_DRIFT))


@native
def place(c: Clock, stamp: int) -> int:
    """The sample on which an event sounds that came at `stamp`: always the same time later."""
    since = (float(stamp - c.origin) - c.next) / c.frame  # this block was due
    return c.sample + floor(since) + c.delay


@native
def advance(c: Clock, frames: int) -> None:
    """On to the next block."""
    c.sample += frames
    c.next += frames * c.frame
