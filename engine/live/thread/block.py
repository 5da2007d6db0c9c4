"""One block of live sound: events find their sample, an ensemble plays, gauges are written.

`run_block` is all that the audio thread does. It is given the player's table, a place for the samples and the time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from engine import messages as midi
from engine.compiled import (
    called_by_python,
    floats,
    integer_rows,
    integers,
    native,
    now,
    pasted,
    single_rows,
    store_release,
    touch_stack,
)
from engine.live.thread.clock import advance, follow, place
from engine.live.thread.fields import *
from engine.live.thread.inlet import late_of, ring_of
from engine.live.thread.tape import run_along
from engine.synth import fields as f
from engine.synth.mixing import mix
from engine.synth.mts import TUNING
from engine.synth.output import limit_block
from engine.synth.ring import NEVER, flagged, flagged_since, head, take
from engine.synth.routing import Desk, choose, desk, offer, part_of, program, room, welcome

UNDERFLOW = 0x4  # PortAudio's flag: the card ran dry before this block
STALE = 500_000_000  # ns after which a note is not begun any more


class Player(NamedTuple):
    """Everything that a live session is made of."""

    settings: Any
    numbers: Any
    ensemble: Any  # its address
    inlets: Any
    wishes: Any
    journal: Any
    log: Any
    gauges: Any
    tape: Any


@pasted
def player(address: Any) -> Any:
    """The arrays behind the table at `address`."""
    t = integers(address, PLAYER)
    return Player(
        integers(t[P_SETTINGS], X_SETTINGS),
        floats(t[P_NUMBERS], W_NUMBERS),
        t[P_ENSEMBLE],
        integer_rows(t[P_INLETS], INLETS, INLET_INTS),
        integers(t[P_WISHES], WISHES),
        integers(t[P_JOURNAL], ROWS + 2 * JOURNAL_SIZE),
        integers(t[P_LOG], ROWS + LOG_COLUMNS * LOG_SIZE),
        integers(t[P_GAUGES], GAUGES),
        t[P_TAPE],
    )


@called_by_python
def run_block(table: Any, frames: Any, out: Any, flags: Any, begun: Any) -> None:
    """The next `frames` samples, float32 [frames, channels] at `out`; `begun` is the time of `now()`."""
    if frames <= 0:
        return
    p = player(table)
    d = desk(p.ensemble)
    if p.settings[X_ORIGIN] == 0:  # the first on this thread
        touch_stack()
    late = follow(p.settings, p.numbers, p.gauges, begun, frames)
    welcome(d)
    fulfil_wishes(p, d)
    hand_over(p, d, begun, frames)
    sound(p, d, frames, out)
    run_along(p.tape, frames, p.settings[X_CHANNELS], out)
    advance(p.settings, p.numbers, frames)
    note_block(p, frames, flags, begun, late)


@native
def fulfil_wishes(p: Player, d: Desk) -> None:
    """Programs that were asked for and have come since are changed to now, and only now written down."""
    for channel in range(f.CHANNELS):
        number = p.wishes[channel]
        if number < 0 or not choose(d, channel, number):
            continue
        p.wishes[channel] = -1
        clock, change = p.settings[X_CLOCK], midi.packed(midi.PROGRAM | channel, number & 0x7F)
        before = program(d, change) >> 7
        select(p, d, channel, before, number >> 7)  # another bank may have been selected meanwhile
        write_down(p, clock, change)
        select(p, d, channel, number >> 7, before)


@native
def select(p: Player, d: Desk, channel: Any, before: Any, bank: Any) -> None:
    """Have a channel's bank selected, as far as it is not."""
    for number, old, new in ((midi.BANK, before >> 7, bank >> 7), (midi.BANK_FINE, before & 0x7F, bank & 0x7F)):
        if new != old:
            message = midi.packed(midi.CONTROL | channel, number, new)
            offer(d, p.settings[X_CLOCK], message)
            write_down(p, p.settings[X_CLOCK], message)


@native
def hand_over(p: Player, d: Desk, begun: Any, frames: Any) -> None:
    """Give the instruments every event that is due in this block, the earliest first; what they cannot hold waits."""
    sample, end = p.settings[X_CLOCK], p.settings[X_CLOCK] + frames
    for _ in range(f.RING_SIZE):
        first, due = -1, NEVER
        for i in range(INLETS):
            stamp = head(ring_of(p.inlets[i]))
            if stamp < due:
                first, due = i, stamp
        at = place(p.settings, p.numbers, due)
        if first < 0 or at >= end:
            break
        sample = max(sample, at)
        obey_flags(p, d, first, sample)  # if there are any, they were up before this event came
        if not room(d):
            break
        obey(p, d, sample, take(ring_of(p.inlets[first])), begun - due > STALE)
        p.gauges[Q_EVENTS] += 1
    for i in range(INLETS):
        obey_flags(p, d, i, sample)


@native
def obey_flags(p: Player, d: Desk, i: Any, sample: Any) -> None:
    """End the notes whose end found the inlet full."""
    late = late_of(p.inlets[i])
    seen = flagged_since(ring_of(p.inlets[i]), late)
    if seen < 0:
        return
    for channel in range(f.CHANNELS):
        for end in range(f.ENDS):
            message = flagged(late, seen, channel, end)
            if message >= 0:
                obey(p, d, sample, message, False)


@native
def obey(p: Player, d: Desk, sample: Any, message: Any, stale: Any) -> None:
    """What is heard goes to the instruments, and is written down with the sample on which they obey it."""
    kind, channel, begins = midi.kind(message), midi.channel(message), midi.begins_note(message)
    ends = midi.ends_note(message) or (kind == midi.CONTROL and midi.first(message) >= midi.MODES)
    if not ends and kind != TUNING and p.settings[X_LISTEN] >> channel & 1 == 0:
        return
    if begins and stale:
        p.gauges[Q_STALE] += 1
        return
    if kind != midi.PROGRAM:
        offer(d, sample, message)
        write_down(p, sample, message)
    elif choose(d, channel, program(d, message)):
        p.wishes[channel] = -1
        write_down(p, sample, message)
    else:
        wish(p, d, channel, program(d, message))


@native
def wish(p: Player, d: Desk, channel: Any, number: Any) -> None:
    """Ask Python for a program that is not here; until it is, the channel keeps the one that it has."""
    if part_of(d, number) >= 0:
        p.wishes[channel] = number
    else:
        p.wishes[UNKNOWN] = number
    store_release(p.wishes, WISHED, p.wishes[WISHED] + 1)


@native
def write_down(p: Player, sample: Any, message: Any) -> None:
    """Keep what was obeyed."""
    row = ROWS + 2 * (p.journal[WRITTEN] & (JOURNAL_SIZE - 1))
    p.journal[row], p.journal[row + 1] = sample, message
    store_release(p.journal, WRITTEN, p.journal[WRITTEN] + 1)


@native
def sound(p: Player, d: Desk, frames: Any, out: Any) -> None:
    """The ensemble's samples are those of an offline render. What would be too loud is bent by the limiter, once."""
    channels = p.settings[X_CHANNELS]
    mix(d, frames, out)
    target = single_rows(out, frames, channels)
    for c in range(min(channels, 2)):
        peak = 0.0
        for n in range(frames):
            peak = max(peak, abs(target[n, c]))
        p.numbers[W_PEAK + c] = max(p.numbers[W_PEAK + c], peak)
    p.gauges[Q_BENT] += limit_block(out, frames, channels)


@native
def note_block(p: Player, frames: Any, flags: Any, begun: Any, late: Any) -> None:
    """Gauges and log for whoever looks on."""
    took, g = now() - begun, p.gauges
    g[Q_BLOCKS] += 1
    g[Q_LONG] += took > frames * p.numbers[W_FRAME]
    g[Q_UNDERFLOWS] += flags & UNDERFLOW != 0
    g[Q_WORST], g[Q_WORST_LATE] = max(g[Q_WORST], took), max(g[Q_WORST_LATE], late)
    g[Q_BUSY] += took
    g[Q_SEEN] = begun
    row = ROWS + LOG_COLUMNS * (p.log[WRITTEN] & (LOG_SIZE - 1))
    p.log[row], p.log[row + 1], p.log[row + 2], p.log[row + 3] = begun, took, frames, late
    store_release(p.log, WRITTEN, p.log[WRITTEN] + 1)
