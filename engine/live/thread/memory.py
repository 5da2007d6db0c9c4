"""A live session's memory, declared once: what the audio thread reads and changes, by the names that Python uses, too.

It lies in one block (engine/layout.py), with a `Stage` at its start; the audio thread is given its address.
"""

from __future__ import annotations

from engine.layout import IntegerRows, Integers, Rows, Singles, Vector, inside, record
from engine.opened import at
from engine.synth.memory import CHANNELS, KEYS, Late, Ring

INLETS = 32  # ways in for events, each with one producer at a time
JOURNAL_SIZE = 16384  # events as they were obeyed
LOG_SIZE = 65536  # blocks
LOG_COLUMNS = 4  # start ns, duration ns, frames, ns late
PULSES = 256  # of a clock, the last ones: two seconds of a fast one
GAPS = 64  # of a tape
PEDALS, WHEEL, BREATH = 0, 16, 32  # bits of `moved`, of channel 0: pedals, wheel, pressure
KEY_WORDS = KEYS // 32
UNASKED = -1  # where a program could be wished for


@record
class Clock:
    """The sound card's clock, as clock.py finds it."""

    sample: int  # since the player was made
    delay: int  # samples between an event's arrival and its place; Python may write it while a stream runs
    origin: int  # ns: zero of `next`; 0 until a stream has begun
    seen: int  # blocks of the present window
    span: int  # their frames
    windows: int  # that the line remembers
    fresh: int  # 1 while the line is only as good as the blocks of this window
    unsure: int  # 1 if that was so when the last window ended
    frame: float  # ns of one sample, as the card's clock has it
    nominal: float  # ns of one sample, by the sample rate
    next: float  # ns after the origin at which the next block is due
    slack: float  # ns by which a block may begin late before sound is lost
    earliest: float  # ns: least lateness of the present window
    moved: float  # ns by which `next` has jumped in it
    rest: float  # blocks that the last count left over


@record
class Gauges:
    """Counts since the player was made, times in ns; only the audio thread writes them."""

    blocks: int
    lost: int  # blocks that came too late to be heard, by the clock; known some blocks later
    long: int  # blocks that took longer than they last
    underflows: int  # as the host reports them
    worst: int  # the longest block
    worst_late: int  # the latest
    busy: int  # in all
    seen: int  # when the last block began
    events: int  # taken from the inlets
    stale: int  # notes not begun because they had waited through a pause of the stream
    bent: int  # frames in which the limiter bent a sample


@record
class Pulses:
    """A clock's last messages: a count, then rows of (ns, status)."""

    written: Integers = inside(8)
    rows: IntegerRows = inside(PULSES, 2)


@record
class Inlet:
    """A way in: a ring of (ns, message), what a full ring may not lose, and what its port holds for the moment when it
    is unplugged.
    """

    exact: int  # 1: the ring's times are samples, on which events sound whatever the clock says
    ring: Ring
    late: Late
    lost: int  # events that found no room
    moved: int  # bits of what has been moved
    keys: IntegerRows = inside(CHANNELS, KEY_WORDS)  # bits of keys
    pulses: Pulses


@record
class Wishes:
    """Programs that were asked for and are not here yet."""

    of_channel: Integers = inside(CHANNELS)
    unknown: int  # a program that nobody knows, which was asked for last
    count: Integers = inside(1)  # how often any was asked for that is not here, or not known


@record
class Journal:
    """Events on the samples on which they were obeyed: a count, then rows of (sample, message)."""

    written: Integers = inside(8)
    rows: IntegerRows = inside(JOURNAL_SIZE, 2)


@record
class BlockLog:
    """Blocks: a count, then rows of LOG_COLUMNS."""

    written: Integers = inside(8)
    rows: IntegerRows = inside(LOG_SIZE, LOG_COLUMNS)


@record
class Stage:
    """Everything that a live session is made of."""

    outputs: int
    listen: int  # bit c: MIDI channel c is heard; Python may write it while a stream runs
    ensemble: int  # the address of the instruments' Desk
    tape: int  # the address of a Tape, or 0 if the sound is not recorded
    crew: int  # the address of a Crew, or 0 if no second core helps
    capture: int  # the address of a Capture, or 0 if nobody can watch
    peak: Vector = inside(2)  # largest sound of two channels, before the limiter, since somebody set it to zero
    clock: Clock
    gauges: Gauges
    wishes: Wishes
    inlets: Rows[Inlet] = inside(INLETS)
    journal: Journal
    log: BlockLog


@record
class TapeRing:
    """What the card was given, on its way to the disk: a ring of frames; rows of (frame, count) for what was lost."""

    written: Integers = inside(8)  # frames, by the audio thread
    read: Integers = inside(8)  # frames, by whoever empties it; another cache line
    lost: int  # frames for which there was no room
    gaps: Integers = inside(1)  # rows of these
    frames: int  # that the ring holds, a power of two
    rows: IntegerRows = inside(GAPS, 2)
    samples: Singles


stage, inlet_at, tape_at = at(Stage), at(Inlet), at(TapeRing)
