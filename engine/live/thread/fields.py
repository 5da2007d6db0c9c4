"""The player's memory, by name: columns of its tables as plain numbers, which compiled code sees as constants."""

from __future__ import annotations

INLETS = 32  # ways in for events, each with one producer at a time

# The player's table of addresses.
P_SETTINGS, P_NUMBERS, P_ENSEMBLE, P_INLETS, P_WISHES, P_JOURNAL, P_LOG, P_GAUGES, P_TAPE, PLAYER = range(10)
# P_TAPE is 0 if the sound is not recorded.

# P_SETTINGS: integers. While a stream runs, Python writes only X_DELAY and X_LISTEN.
# From X_ORIGIN on they are the clock's, as are W_FRAME to W_SLACK, W_EARLIEST and W_MOVED.
(
    X_CHANNELS,
    X_DELAY,  # samples between an event's arrival and its place
    X_LISTEN,  # bit c: MIDI channel c is heard
    X_CLOCK,  # samples since the player was made
    X_ORIGIN,  # ns: zero of W_NEXT; 0 until a stream has begun
    X_SEEN,  # blocks of the present window
    X_SPAN,  # their frames
    X_WINDOWS,  # that the line remembers
    X_FRESH,  # 1 while the line is only as good as the blocks of this window
    X_SETTINGS,
) = range(10)

# P_NUMBERS: floats.
W_FRAME = 0  # ns of one sample, as the sound card's clock has it
W_NOMINAL = 1  # ns of one sample, by the sample rate
W_NEXT = 2  # ns after the origin at which the next block is due
W_SLACK = 3  # ns by which a block may begin late before sound is lost
W_PEAK = 4  # largest sound of two channels, before the limiter, since somebody set it to zero
W_EARLIEST = 6  # ns: least lateness of the present window
W_MOVED = 7  # ns by which W_NEXT has jumped in it
W_NUMBERS = 8

# P_ENSEMBLE: the address of the instruments' common table, which synth/fields.py describes.

# P_WISHES: for each channel the program that was asked for and is not here yet, or -1; then a program that nobody
# knows, which was asked for last; and how often any was asked for that is not here, or not known.
UNKNOWN, WISHED, WISHES = 16, 17, 18

# P_INLETS: [INLETS, INLET_INTS], addresses of a ring of (ns, message), of what a full ring may not lose (both as the
# renderer's own), and of what is held.
I_RING, I_LATE, I_HELD, INLET_INTS = range(4)
# What an inlet's port holds, for the moment when it is unplugged.
H_LOST, H_MOVED, H_KEYS = 0, 1, 2  # events that found no room; bits of what has been moved; bits of keys
PEDALS, WHEEL, PRESSURE = 0, 16, 32  # of channel 0 in H_MOVED
HELD_WORDS = 4  # of 32 keys each, for each channel
HELD = H_KEYS + 16 * HELD_WORDS

# The journal: a count, then rows of (sample, message) as they were obeyed.
JOURNAL_SIZE = 16384
# The log of blocks: a count, then rows of (start ns, duration ns, frames, ns late).
LOG_SIZE = 65536
LOG_COLUMNS = 4
WRITTEN, ROWS = 0, 8

# P_GAUGES: integers that only the audio thread writes.
(
    Q_BLOCKS,
    Q_LOST,  # blocks that came too late to be heard, by the clock; known some blocks later
    Q_LONG,  # blocks that took longer than they last
    Q_UNDERFLOWS,  # as the host reports them
    Q_WORST,  # ns: the longest block
    Q_WORST_LATE,  # ns: the latest
    Q_BUSY,  # ns in all
    Q_SEEN,  # ns: when the last block began
    Q_EVENTS,  # taken from the inlets
    Q_STALE,  # notes not begun because they had waited through a pause of the stream
    Q_BENT,  # frames in which the limiter bent a sample
    GAUGES,
) = range(12)

# A tape: what the card was given, on its way to the disk. Integers, then rows of (frame, count) for what was lost.
(
    T_WRITTEN,  # frames, by the audio thread
    T_LOST,  # frames for which there was no room
    T_GAPS,  # rows of these
    T_RING,  # the address of its samples
    T_FRAMES,  # that the ring holds, a power of two
    _,
    _,
    _,
    T_READ,  # frames, by whoever empties it; another cache line
) = range(9)
T_ROWS, GAPS = 16, 64
TAPE = T_ROWS + 2 * GAPS
