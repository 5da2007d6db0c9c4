"""Chords that one hand strikes string after string (`strum`): which key of them is struck when.

The first key of a chord is struck at once, those that come soon after it in their turn, and what is let go before its
turn lasts as long as it was held. Turns are counted in samples of the absolute clock: blocks decide nothing. Keys of
one sample are put in order before the first of them is struck.
"""

from __future__ import annotations

from engine.compiled import native
from engine.synth.memory import ALTERNATE, AT_HAND, UP, Hand, Machine, Waiting
from engine.synth.movable import TO_SPREAD
from engine.synth.ring import NEVER
from engine.synth.voices import asked

STRUCK = 0  # in the place of a chord's number: its string has sounded, and waits for its end
NOT_YET = -1  # let go
UPWARDS, DOWNWARDS = 1, -1  # in pitch: a hand that goes down begins with the lowest string
PAUSE = 1.0  # s after which a hand that goes to and fro begins with a stroke down again


@native
def enter(m: Machine, channel: int, key: int, velocity: int) -> bool:
    """A key comes down, to be struck in its turn; not if nobody strums, it is silent, or too many wait."""
    h = m.hand
    if h.strums == 0 or h.waiting == AT_HAND or m.keys[key].ready == 0:
        return False
    if h.chord == STRUCK or m.clock - h.first > h.window:
        begin_chord(m, h)
    row = m.waiting[h.waiting]
    h.waiting += 1
    row.key, row.channel, row.velocity, row.chord = key, channel, velocity, h.chord
    row.arrived, row.released = m.clock, NOT_YET
    take_turns(m, h, between(m, channel))
    return True


@native
def begin_chord(m: Machine, h: Hand) -> None:
    """Another stroke; what still waits of the one before keeps the turns it has."""
    h.chord += 1
    h.first, h.struck, h.latest = m.clock, 0, m.clock
    h.way = DOWNWARDS if h.order == UP else UPWARDS
    paused = m.clock - h.swung > PAUSE * m.rate / m.oversample
    if h.order == ALTERNATE and h.turned != 0 and not paused:
        h.way = -h.turned


@native
def between(m: Machine, channel: int) -> float:
    """Samples from one string to the next."""
    return max(m.hand.spread + asked(m, channel, 0, TO_SPREAD), 0.0) * m.rate / m.oversample


@native
def take_turns(m: Machine, h: Hand, spread: float) -> None:
    """Put in order what waits of the present chord, behind what has been struck of it."""
    for r in range(h.waiting):
        row = m.waiting[r]
        if row.chord != h.chord:
            continue
        before = 0
        for other in range(h.waiting):
            before += m.waiting[other].chord == h.chord and precedes(m, h, other, r)
        row.turn = h.struck + before
        row.due = max(h.latest + int((before + (h.struck > 0)) * spread + 0.5), m.clock)


@native
def precedes(m: Machine, h: Hand, r: int, other: int) -> bool:
    """Whether the hand comes to one key before the other."""
    way = (m.waiting[other].key - m.waiting[r].key) * h.way
    return way > 0 or (way == 0 and r < other)


@native
def next_due(m: Machine) -> int:
    """When the next key is to be struck, or let go, or NEVER."""
    at = NEVER
    for r in range(m.hand.waiting):
        at = min(at, m.waiting[r].due)
    return at


@native
def whose_turn(m: Machine) -> int:
    """The row of what is due now and comes first, or -1."""
    found = -1
    for r in range(m.hand.waiting):
        row = m.waiting[r]
        if row.due <= m.clock and (found < 0 or is_earlier(row, m.waiting[found])):
            found = r
    return found


@native
def is_earlier(row: Waiting, other: Waiting) -> bool:
    """Of two that are due: by time, and then by turn, ends before all."""
    if row.due != other.due:
        return row.due < other.due
    if row.chord != other.chord:
        return row.chord < other.chord
    return row.turn < other.turn


@native
def strike(m: Machine, r: int) -> int:
    """A key's turn has come: the velocity that it is struck with. Whoever strikes it has read its row before."""
    h, row = m.hand, m.waiting[r]
    loud = min(max(row.velocity - h.accent * row.turn, 1), 127)
    if row.chord == h.chord:
        h.struck += 1
        h.latest = m.clock
        if h.struck == 2:
            h.turned, h.swung = h.way, h.first
    if row.released == NOT_YET:
        forget(m, r)
    else:
        row.due, row.chord = m.clock + row.released - row.arrived, STRUCK
    return loud


@native
def forget_ends(m: Machine, channel: int, key: int) -> None:
    """A key's string sounds anew: the end of its note before is over."""
    r = 0
    while r < m.hand.waiting:
        row = m.waiting[r]
        if row.chord == STRUCK and row.key == key and row.channel == channel:
            forget(m, r)
        else:
            r += 1


@native
def let_go(m: Machine, channel: int, key: int, velocity: int) -> bool:
    """A key comes up; whether it has to wait for its string to be struck."""
    for r in range(m.hand.waiting):
        row = m.waiting[r]
        if row.chord != STRUCK and row.released == NOT_YET and row.key == key and row.channel == channel:
            row.released, row.lifted = m.clock, velocity
            return True
    return False


@native
def forget(m: Machine, r: int) -> None:
    """A row is free again, and the last one takes its place."""
    m.hand.waiting -= 1
    row, last = m.waiting[r], m.waiting[m.hand.waiting]
    row.key, row.channel, row.velocity, row.lifted = last.key, last.channel, last.velocity, last.lifted
    row.arrived, row.due, row.released = last.arrived, last.due, last.released
    row.turn, row.chord = last.turn, last.chord


@native
def drop(m: Machine, lowest: int, highest: int) -> None:
    """All that waits of some channels is over."""
    r = 0
    while r < m.hand.waiting:
        if lowest <= m.waiting[r].channel <= highest:
            forget(m, r)
        else:
            r += 1
